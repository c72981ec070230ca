//! An estate whose host is this machine, its data in the sandbox, its jobs in the Nomad that all tests share.

use std::io::{Read as _, Write as _};
use std::net::TcpStream;
use std::path::PathBuf;
use std::process::{Child, Command, Output, Stdio};
use std::sync::{Arc, Mutex, PoisonError, Weak};
use std::time::{Duration, Instant};

use serde_json::Value as Json;

use crate::processes;
use crate::support::{Run, Sandbox, program, tool};
use test_tools::{Nomad, free_ports};

/// The node that the shared Nomad is.
const NODE: &str = "n1";

/// Started by the first test that needs it, ended with the last one that has it.
fn shared_nomad() -> Arc<Nomad> {
    static SHARED: Mutex<Weak<Nomad>> = Mutex::new(Weak::new());
    let mut shared = SHARED.lock().unwrap_or_else(PoisonError::into_inner);
    shared.upgrade().unwrap_or_else(|| {
        let nomad = Arc::new(Nomad::runner(&tool("nomad"), NODE));
        *shared = Arc::downgrade(&nomad);
        nomad
    })
}

pub struct Shop {
    pub sandbox: Sandbox,
    pub nomad: Arc<Nomad>,
    /// More that a person has in the environment.
    pub variables: Vec<(String, String)>,
}

impl Shop {
    pub fn new() -> Shop {
        Shop::applied_by("tofu")
    }

    pub fn applied_by(executor: &str) -> Shop {
        Shop::with_settings(executor, |settings| settings)
    }

    /// With an eos.toml of the test's own.
    pub fn with_settings(executor: &str, change: impl FnOnce(String) -> String) -> Shop {
        let (nomad, sandbox) = (shared_nomad(), Sandbox::new());
        let mut init = sandbox.command(&["init", "shop", "--executor", executor]);
        expect(0, &["init"], Run::from(init.env_remove("EOS_ESTATE_ID").output().unwrap()));
        let settings = change(sandbox.read("eos.toml"));
        sandbox.write("eos.toml", format!("{settings}\n[nomad]\naddress = \"{}\"\n", nomad.address()));
        sandbox.commit_by_hand();
        let data = sandbox.path().join("data");
        std::fs::create_dir(&data).unwrap();
        let folder = data.to_str().unwrap();
        sandbox.ok(&["create", "host", "local", "--nomad-node", NODE, "--data-folder", folder]);
        Shop { sandbox, nomad, variables: Vec::new() }
    }

    /// How the estate marks a unit's job.
    pub fn mark(&self, unit: &str) -> String {
        let lock = self.sandbox.read("eos.lock");
        let id = lock.lines().find_map(|line| line.strip_prefix("estate = ")).expect("the estate has an id");
        format!("shop.{}/production/{unit}", id.trim_matches('"'))
    }

    /// eos as a person runs it: it applies, and it knows what time it is.
    pub fn command(&self, args: &[&str]) -> Command {
        let mut command = self.sandbox.command(args);
        command.env_remove("EOS_APPLY").env_remove("EOS_TIME").env("XDG_CACHE_HOME", cache());
        // A killed eos leaves its socket there; it goes with the sandbox.
        command.env("TMPDIR", self.sandbox.path());
        command.envs(self.variables.iter().map(|(name, value)| (name, value)));
        command
    }

    pub fn run(&self, args: &[&str]) -> Run {
        Run::from(self.command(args).output().unwrap())
    }

    /// Runs and expects this exit code.
    pub fn exits(&self, code: i32, args: &[&str]) -> Run {
        expect(code, args, self.run(args))
    }

    pub fn ok(&self, args: &[&str]) -> Run {
        self.exits(0, args)
    }

    /// With this text at stdin.
    pub fn ok_given(&self, text: &str, args: &[&str]) -> Run {
        let mut child = self
            .command(args)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        child.stdin.take().unwrap().write_all(text.as_bytes()).unwrap();
        expect(0, args, Run::from(child.wait_with_output().unwrap()))
    }

    /// Begins a command in a process group of its own, as a shell does; what it says goes to a file.
    pub fn begin(&self, args: &[&str]) -> Begun {
        use std::os::unix::process::CommandExt as _;
        let log = self.sandbox.path().join(format!("begun-{}.log", args[0]));
        let file = std::fs::File::create(&log).unwrap();
        let mut command = self.command(args);
        command.process_group(0).stdout(file.try_clone().unwrap()).stderr(file);
        Begun { child: command.spawn().unwrap(), log }
    }

    /// The words that create a redis, on a port that is free.
    pub fn redis(&self, name: &str, more: &[&str]) -> (Vec<String>, u16) {
        let [port] = free_ports();
        (self.redis_at(port, name, more), port)
    }

    /// The same on this port.
    pub fn redis_at(&self, port: u16, name: &str, more: &[&str]) -> Vec<String> {
        let program =
            program("usr/bin/redis-server", &["redis-server", "redis-tools", "libjemalloc2", "liblzf1"]);
        let program = program.to_str().unwrap();
        let port_word = port.to_string();
        let words = [
            "redis",
            name,
            "--runtime",
            "host",
            "--tier",
            "dev",
            "--binary",
            program,
            "--port",
            &port_word,
            "--max-memory",
            "64M",
        ];
        words.iter().chain(more).map(|word| (*word).to_owned()).collect()
    }

    /// Creates one and waits until it works.
    pub fn create_redis(&self, name: &str, password: &str) -> (u16, Run) {
        let (words, port) = self.redis(name, &["--password", "-", "--yes"]);
        let words: Vec<&str> = std::iter::once("create").chain(words.iter().map(String::as_str)).collect();
        (port, self.ok_given(password, &words))
    }

    /// Nomad's own command line.
    pub fn nomad_says(&self, args: &[&str]) -> Output {
        let mut command = Command::new(tool("nomad"));
        command.args(args).env_clear().env("NOMAD_ADDR", self.nomad.address());
        command.stdin(Stdio::null()).output().unwrap()
    }

    /// Whether the pillar asks for a name. What it remembers of kept data asks for nothing.
    pub fn is_asked_for(&self, name: &str) -> bool {
        let listed = self.sandbox.json(&["list"]);
        listed["components"].as_array().unwrap().iter().any(|entry| entry["name"] == name)
    }

    /// The versions of a job that Nomad has; none when it has no such job.
    pub fn versions(&self, job: &str) -> usize {
        let answer = self.nomad.get(&format!("/v1/job/{job}/versions"));
        answer["Versions"].as_array().map_or(0, Vec::len)
    }

    pub fn job(&self, job: &str) -> Json {
        self.nomad.get(&format!("/v1/job/{job}"))
    }

    /// Nomad has no job, no variable and no process of this name.
    pub fn nothing_is_left_of(&self, job: &str, port: u16) {
        assert_eq!(self.job(job), Json::Null, "the job is there");
        let variables = self.nomad.get(&format!("/v1/vars?prefix=nomad/jobs/{job}"));
        assert!(variables.as_array().is_none_or(Vec::is_empty), "{variables}");
        self.nomad.until("nobody listens any more", || TcpStream::connect(("127.0.0.1", port)).is_err());
    }

    pub fn data_folder(&self, name: &str) -> PathBuf {
        self.sandbox.path().join("data/production").join(name).join("data")
    }
}

impl Drop for Shop {
    /// A test that failed half-way may have left a tofu at work in its estate.
    fn drop(&mut self) {
        let estate = self.sandbox.path().to_str().unwrap().to_owned();
        for process in processes::all().filter(|process| process.environment.contains(&estate)) {
            process.kill();
        }
    }
}

/// Begins, and kills both once something is so.
pub fn killed_when(shop: &Shop, words: &[&str], what: &str, is_so: impl Fn() -> bool) {
    let mut run = shop.begin(words);
    while !is_so() {
        assert!(run.child.try_wait().unwrap().is_none(), "it ended before {what}: {}", run.said());
        std::thread::sleep(Duration::from_millis(20));
    }
    run.child.kill().unwrap();
    while let Some(tofu) = processes::applying(&shop.sandbox.estate()) {
        tofu.kill();
        std::thread::sleep(Duration::from_millis(20));
    }
    run.end();
}

/// A command that goes on.
pub struct Begun {
    pub child: Child,
    log: PathBuf,
}

impl Begun {
    pub fn said(&self) -> String {
        std::fs::read_to_string(&self.log).unwrap_or_default()
    }

    /// Waits until it has said this, or has ended.
    pub fn until_it_says(&mut self, text: &str) {
        let start = Instant::now();
        while !self.said().contains(text) && self.child.try_wait().unwrap().is_none() {
            assert!(start.elapsed() < Duration::from_secs(180), "no {text:?} in {}", self.said());
            std::thread::sleep(Duration::from_millis(20));
        }
    }

    /// Waits until it has stopped itself, or has ended.
    pub fn until_it_stops(&mut self) {
        let start = Instant::now();
        while !processes::is_stopped(self.child.id()) && self.child.try_wait().unwrap().is_none() {
            assert!(start.elapsed() < Duration::from_secs(180), "it did not stop: {}", self.said());
            std::thread::sleep(Duration::from_millis(5));
        }
    }

    /// Lets it go on, and does something until that is done or it has ended.
    pub fn go_on_and(&mut self, mut done: impl FnMut() -> bool) {
        processes::go_on(self.child.id());
        while !done() && self.child.try_wait().unwrap().is_none() {
            std::thread::sleep(Duration::from_millis(5));
        }
    }

    /// Its exit code, and all it said.
    pub fn end(mut self) -> (Option<i32>, String) {
        let status = self.child.wait().unwrap();
        eprintln!("{}[{status}]", self.said());
        (status.code(), self.said())
    }
}

impl Drop for Begun {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn expect(code: i32, args: &[&str], run: Run) -> Run {
    // Seen when the test fails, or with --nocapture: every word as a person reads it.
    eprintln!("$ eos {}\n{}{}[{}]", args.join(" "), run.stderr, run.stdout, run.code);
    assert_eq!(run.code, code, "eos {args:?}\nstdout: {}\nstderr: {}", run.stdout, run.stderr);
    run
}

/// Where the tools are kept: a sandbox has a home of its own and uses what is there already.
pub fn cache() -> PathBuf {
    let folder = |name| std::env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    folder("XDG_CACHE_HOME").unwrap_or_else(|| folder("HOME").unwrap_or_default().join(".cache"))
}

/// What a redis answers to these commands, sent at once.
pub fn ask_redis(port: u16, password: &str, commands: &[&str]) -> String {
    let mut stream = TcpStream::connect(("127.0.0.1", port)).unwrap();
    let text = format!("AUTH {password}\r\n{}\r\nQUIT\r\n", commands.join("\r\n"));
    stream.write_all(text.as_bytes()).unwrap();
    let mut said = String::new();
    stream.read_to_string(&mut said).unwrap();
    said
}

/// Says where something is missing, with all of the text.
#[track_caller]
pub fn has(text: &str, part: &str) {
    assert!(text.contains(part), "no {part:?} in:\n{text}");
}
