//! `docs/orchestration.md` as it is written: a Salt master's orchestration applies an environment, without eos being typed.
//! No master runs; the steps are the runner's, which need none.

use std::path::PathBuf;
use std::process::{Command, Stdio};

use crate::place::{Place, text};
use crate::support::{Run, tool};

/// The configuration, caches and programs of a master that is not started.
struct Master {
    place: Place,
    folder: PathBuf,
}

impl Master {
    fn new(place: Place) -> Master {
        let folder = place.outside("salt");
        std::fs::create_dir_all(folder.join("etc")).unwrap();
        // A master makes this folder when it is started.
        std::fs::create_dir_all(folder.join("root/var/cache/salt/master/proc")).unwrap();
        let config = format!("root_dir: {}\nid: master\n", folder.join("root").display());
        std::fs::write(folder.join("etc/master"), config).unwrap();
        Master { place, folder }
    }

    /// The page's code blocks with their language, its folders replaced by those of the test.
    fn blocks(&self) -> Vec<(String, String)> {
        let page = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/orchestration.md");
        let mut page = std::fs::read_to_string(page).unwrap();
        for (from, to) in [
            ("/srv/shop", self.place.path("")),
            ("/srv/salt", self.folder.join("files")),
            ("/usr/local/bin/eos", env!("CARGO_BIN_EXE_eos").into()),
        ] {
            assert!(page.contains(from), "the page has no {from}");
            page = page.replace(from, text(&to).trim_end_matches('/'));
        }
        let blocks = page.split("```").skip(1).step_by(2);
        blocks
            .map(|block| block.split_once('\n').unwrap())
            .map(|(a, b)| (a.to_owned(), b.to_owned()))
            .collect()
    }

    fn shell(&self, script: &str) -> Run {
        let salt_run = tool("salt").with_file_name("salt-run");
        let config = self.folder.join("etc");
        let function = format!(
            "salt-run() {{ '{}' --config-dir '{}' \"$@\"; }}\n",
            salt_run.display(),
            config.display()
        );
        let mut shell = Command::new("bash");
        shell.args(["-euo", "pipefail", "-c", &format!("{function}{script}")]).stdin(Stdio::null());
        // The environment of eos's own tests: a home with an identity, the cache of tools.
        let eos = self.place.command(&[]);
        shell.env_clear().envs(eos.get_envs().filter_map(|(name, value)| Some((name, value?))));
        // The first command is one in eos's sources.
        shell.current_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/../.."));
        Run::from(shell.output().unwrap())
    }

    #[track_caller]
    fn ok(&self, script: &str) -> Run {
        let run = self.shell(script);
        assert_eq!(run.code, 0, "{script}\n{}{}", run.stdout, run.stderr);
        run
    }
}

#[test]
fn the_page_on_orchestration_runs_and_a_unit_that_fails_fails_it() {
    let place = Place::new();
    let (log, broken) = (place.outside("log"), place.outside("broken"));
    place.ok(&["create", "lamp", "--log", text(&log), "--no-apply"]);
    place.ok(&["update", "desk", "--log", text(&log), "--broken-by", text(&broken), "--no-apply"]);
    let master = Master::new(place);
    let blocks = master.blocks();
    assert_eq!(blocks.len(), 4);
    for (language, block) in &blocks {
        match language.as_str() {
            "yaml" => {
                let path = master.folder.join("etc/master");
                let before = std::fs::read_to_string(&path).unwrap();
                std::fs::write(path, format!("{before}{block}")).unwrap();
            }
            "sh" => {
                master.ok(block);
            }
            other => panic!("what is {other}?"),
        }
    }
    master.place.is_settled();
    assert_eq!(master.place.lines("log"), ["desk brown", "lamp"], "each after what it needs, once");

    // The desk cannot be made: the lamp that stands on it is not begun, and salt-run says so with its exit code.
    master.place.ok(&["update", "desk", "--color", "red", "--no-apply"]);
    std::fs::write(&broken, "").unwrap();
    let failed = master.shell("salt-run state.orchestrate production.orchestrate");
    assert_ne!(failed.code, 0, "{}", failed.stdout);
    let said = failed.stdout + &failed.stderr;
    assert!(
        said.contains("ended with exit code 1") && said.contains("One or more requisite failed"),
        "{said}"
    );
    assert_eq!(master.place.lines("log"), ["desk brown", "lamp", "desk red"]);

    // An estate that is not where it is said to be is told, not passed over.
    let wrong =
        master.shell("salt-run infrastructure.apply unit=desk environment=production estate=/nowhere");
    assert!((wrong.stdout + &wrong.stderr).contains("there is no estate at '/nowhere'"));
}
