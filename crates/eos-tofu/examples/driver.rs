//! A process of its own for the tests: one that tofu asks for a key, and one that is killed while tofu applies.
//!
//! `driver state-key FILE` prints the answer to tofu's request for a key, which stands in FILE.
//! `driver apply ROOT TOFU PLAN announce|wait` applies a saved plan of `production/web`, printing the child's identity; with
//! `announce` it stays in the announcement for ever.
#![allow(clippy::print_stdout)]

use std::io::{Read, Write};

use camino::{Utf8Path, Utf8PathBuf};
use eos_model::UnitId;
use eos_tofu::{
    Backend, ChildEnvironment, Children, Installation, InstallationSettings, Places, Session, Tofu,
    UnitFiles, WorkFolder, state_key_response,
};

type Outcome = Result<(), Box<dyn std::error::Error>>;

fn main() -> Outcome {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    match arguments[..] {
        ["state-key", file] => state_key(file),
        ["apply", root, tofu, plan, until] => apply(root, tofu, plan, until),
        _ => Err("usage: driver state-key FILE | apply ROOT TOFU PLAN announce|wait".into()),
    }
}

fn state_key(file: &str) -> Outcome {
    let key: [u8; 32] = std::fs::read(file)?.try_into().map_err(|_| "the key must have 32 bytes")?;
    let mut input = Vec::new();
    std::io::stdin().read_to_end(&mut input)?;
    std::io::stdout().write_all(state_key_response(&key, &input)?.as_bytes())?;
    Ok(())
}

fn apply(root: &str, tofu: &str, plan: &str, until: &str) -> Outcome {
    let places = Places::new(root);
    let unit = UnitId { env: "production".parse()?, name: "web".parse()? };
    let mut files = UnitFiles::new();
    let main = places.work(&unit).join("main.tf.json");
    files.insert("main.tf.json".into(), std::fs::read(main)?);
    let folder = WorkFolder::fill(&places, &unit, &files)?;
    let settings =
        InstallationSettings { search_path: "/usr/bin:/bin".into(), ..InstallationSettings::default() };
    let installation = Installation::write(&places, &settings)?;
    let tofu = Tofu::detect(Utf8Path::new(tofu))?;
    let backend = Backend::Local { path: places.local_state("shop", &unit) };
    let environment = ChildEnvironment::new(tofu.flavor(), &folder, &installation, &backend, None);
    let session = Session { tofu, folder, environment, children: Children::new() };
    let mut announce = |identity| {
        println!("{}", serde_json::to_string(&identity)?);
        if until == "announce" {
            loop {
                std::thread::park();
            }
        }
        Ok(())
    };
    let applying = session.start_apply(&Utf8PathBuf::from(plan), &mut announce)?;
    applying.wait(&mut |_| ())?;
    Ok(())
}
