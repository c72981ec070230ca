//! A place of its own for each test: a folder, a home, an estate, and eos run as a user runs it.
#![allow(dead_code, clippy::unwrap_used)]

pub mod processes;
pub mod seeded;

use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

/// A temporary folder with a home of its own; nothing outside is read or written.
pub struct Sandbox {
    folder: tempfile::TempDir,
}

/// What a run of eos gave.
pub struct Run {
    pub code: i32,
    pub stdout: String,
    pub stderr: String,
}

impl Sandbox {
    pub fn new() -> Sandbox {
        let folder = tempfile::tempdir().unwrap();
        std::fs::create_dir(folder.path().join("home")).unwrap();
        Sandbox { folder }
    }

    /// With an estate named shop and the host local declared in production.
    pub fn with_estate() -> Sandbox {
        let sandbox = Sandbox::new();
        sandbox.ok(&["-C", ".", "init", "shop"]);
        sandbox.ok(&["create", "host", "local", "--nomad-node", "n1"]);
        sandbox
    }

    pub fn path(&self) -> &Path {
        self.folder.path()
    }

    pub fn estate(&self) -> PathBuf {
        self.path().join("shop")
    }

    /// A command for eos in the estate, or in the sandbox before there is one.
    pub fn command(&self, args: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_eos"));
        let directory = if self.estate().is_dir() { self.estate() } else { self.path().to_owned() };
        command.args(args).current_dir(directory).env_clear().stdin(Stdio::null());
        command
            .env("HOME", self.path().join("home"))
            .env("USER", "kim")
            .env("PATH", "/usr/bin:/bin")
            .env("EOS_TIME", "1790000000")
            // The same bytes every time; tests that care have estates with an id.
            .env("EOS_ESTATE_ID", "none")
            // Hints name an address of the machine, which is another one everywhere.
            .env("EOS_OWN_ADDRESSES", "10.0.0.5")
            // Nobody answers there, whatever runs on this machine.
            .env("EOS_OWN_NOMAD", "http://127.0.0.1:1")
            // Tests of runs say otherwise; the others record and compile.
            .env("EOS_APPLY", "no");
        command
    }

    pub fn run(&self, args: &[&str]) -> Run {
        Run::from(self.command(args).output().unwrap())
    }

    /// Runs with a text on stdin.
    pub fn with_stdin(&self, args: &[&str], text: &str) -> Run {
        let mut command = self.command(args);
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().unwrap();
        child.stdin.take().unwrap().write_all(text.as_bytes()).unwrap();
        Run::from(child.wait_with_output().unwrap())
    }

    /// Runs and expects success.
    pub fn ok(&self, args: &[&str]) -> Run {
        let run = self.run(args);
        assert_eq!(run.code, 0, "eos {args:?}\nstdout: {}\nstderr: {}", run.stdout, run.stderr);
        run
    }

    /// Types what was offered to be typed: one command of eos, or several with && between them.
    #[track_caller]
    pub fn type_in(&self, offered: &str) {
        for line in offered.split(" && ") {
            let words: Vec<&str> = line.split_whitespace().collect();
            assert_eq!(words.first(), Some(&"eos"), "{offered}");
            self.ok(&words[1..]);
        }
    }

    /// What a refused command offers to be typed.
    #[track_caller]
    pub fn offered(&self, args: &[&str]) -> String {
        let run = self.run(&[args, &["--json"]].concat());
        assert_ne!(run.code, 0, "eos {args:?} is not refused: {}", run.stdout);
        let document: serde_json::Value = serde_json::from_str(&run.stdout).unwrap();
        document["diagnostics"][0]["fix"].as_str().unwrap().to_owned()
    }

    /// The `result` of a command run with --json.
    pub fn json(&self, args: &[&str]) -> serde_json::Value {
        let mut args = args.to_vec();
        args.push("--json");
        let run = self.run(&args);
        let document: serde_json::Value = serde_json::from_str(&run.stdout).unwrap();
        document["result"].clone()
    }

    pub fn read(&self, path: &str) -> String {
        std::fs::read_to_string(self.estate().join(path)).unwrap_or_else(|e| panic!("{path}: {e}"))
    }

    pub fn write(&self, path: &str, content: impl AsRef<[u8]>) {
        let full = self.estate().join(path);
        std::fs::create_dir_all(full.parent().unwrap()).unwrap();
        std::fs::write(full, content).unwrap();
    }

    /// From here on as if another clone had applied the estate: this one cannot know what was made, and what is fixed once
    /// it is made stays as it is.
    pub fn applied_elsewhere(&self) {
        let lock = self.read("eos.lock");
        let (head, rest) = lock.split_once("\n[tools]").unwrap();
        self.write("eos.lock", format!("{head}state = \"elsewhere\"\n\n[tools]{rest}"));
        self.commit_by_hand();
    }

    /// Commits everything, as a person would after editing by hand.
    pub fn commit_by_hand(&self) {
        self.git(&["add", "-A"]);
        self.git(&[
            "-c",
            "user.name=Kim",
            "-c",
            "user.email=kim@example.org",
            "commit",
            "-q",
            "-m",
            "by hand",
        ]);
    }

    pub fn git(&self, args: &[&str]) -> String {
        let output = Command::new("git")
            .args(args)
            .current_dir(self.estate())
            .env("HOME", self.path().join("home"))
            .env("GIT_CONFIG_NOSYSTEM", "1")
            .output()
            .unwrap();
        assert!(output.status.success(), "git {args:?}: {}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).unwrap()
    }

    /// Every file of the estate below a folder, relative, sorted.
    pub fn files(&self, folder: &str) -> Vec<String> {
        fn walk(root: &Path, folder: &Path, found: &mut Vec<String>) {
            for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
                if entry.path().is_dir() {
                    walk(root, &entry.path(), found);
                } else {
                    found.push(entry.path().strip_prefix(root).unwrap().to_string_lossy().into_owned());
                }
            }
        }
        let mut found = Vec::new();
        walk(&self.estate(), &self.estate().join(folder), &mut found);
        found.sort();
        found
    }
}

impl From<Output> for Run {
    fn from(output: Output) -> Run {
        Run {
            code: output.status.code().unwrap_or(-1),
            stdout: String::from_utf8_lossy(&output.stdout).into_owned(),
            stderr: String::from_utf8_lossy(&output.stderr).into_owned(),
        }
    }
}

/// A command in a terminal, which util-linux's `script` makes; 100 columns wide, as it has no size of its own.
pub fn in_terminal(plain: &Command) -> Option<Command> {
    if !Path::new("/usr/bin/script").exists() {
        let _ = writeln!(
            std::io::stderr(),
            "SKIPPED: /usr/bin/script is not there, so there is no terminal to type at"
        );
        return None;
    }
    // In place of the shell, which a Ctrl-C would reach as well.
    let words: Vec<&str> = plain.get_args().map(|word| word.to_str().unwrap()).collect();
    let line = format!("exec {} {}", plain.get_program().to_str().unwrap(), words.join(" "));
    let mut command = Command::new("/usr/bin/script");
    command.args(["-qec", &line, "/dev/null"]).current_dir(plain.get_current_dir().unwrap()).env_clear();
    command.envs(plain.get_envs().filter_map(|(key, value)| Some((key, value?)))).env("TERM", "dumb");
    Some(command)
}

/// Where `make test` has put a tool. The tests run on real tools or not at all.
pub fn tool(name: &str) -> PathBuf {
    let output = Command::new(env!("CARGO_BIN_EXE_eos")).args(["tools", "path", name]).output().unwrap();
    assert!(
        output.status.success(),
        "{name} is not installed; `make test` installs it: {}",
        String::from_utf8_lossy(&output.stderr)
    );
    PathBuf::from(String::from_utf8(output.stdout).unwrap().trim())
}

/// Where a program of Debian's is, gotten when it is not there yet.
pub fn program(path: &str, packages: &[&str]) -> PathBuf {
    try_program(path, packages).unwrap_or_else(|why| panic!("{why}"))
}

/// The same, or why it cannot be had.
pub fn try_program(path: &str, packages: &[&str]) -> Result<PathBuf, String> {
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/real_tools/debian-program");
    let output = Command::new(script).arg(path).args(packages).output().unwrap();
    if !output.status.success() {
        return Err(format!("{packages:?}: {}", String::from_utf8_lossy(&output.stderr)));
    }
    Ok(PathBuf::from(String::from_utf8(output.stdout).unwrap().trim()))
}

/// Runs eos where no journal can be written: in a mount namespace of its own, that ends with it. None where none can be
/// made. `plain` has the folder and the environment, `runs` is where journals are.
pub fn without_room_for_a_journal(plain: &Command, runs: &Path, words: &str) -> Option<Run> {
    let script = format!(
        "mount -t tmpfs -o size=4k none '{0}'; dd if=/dev/zero of='{0}/filler' bs=4k count=1 2>/dev/null; exec '{1}' {words}",
        runs.display(),
        env!("CARGO_BIN_EXE_eos"),
    );
    let mut command = Command::new("unshare");
    command.args(["-rm", "--propagation", "private", "sh", "-euc", &script]);
    command.current_dir(plain.get_current_dir().unwrap()).env_clear();
    command.envs(plain.get_envs().filter_map(|(key, value)| Some((key, value?))));
    command.env("PATH", "/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin");
    let run = Run::from(command.output().unwrap());
    if run.stderr.contains("mount:") || run.stderr.contains("unshare:") {
        use std::io::Write as _;
        let _ = writeln!(std::io::stderr(), "SKIPPED: no mount can be made here: {}", run.stderr);
        return None;
    }
    assert_eq!(run.code, 1, "{}{}", run.stdout, run.stderr);
    Some(run)
}
