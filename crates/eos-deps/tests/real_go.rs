//! The real Go compiler on a small module with an edit and a package of its own, from a module proxy that is a folder.
#![allow(clippy::unwrap_used)] // a failed fixture fails its test

mod support;

use std::io::Write;

use camino::{Utf8Path, Utf8PathBuf};
use eos_deps::{Silent, Source, Table, Tools};
use eos_model::codes::BAD_CHECKSUM;
use support::*;

const MODULE: &str = "example.test/thing";
/// Without the edit of the table, which names another place for it, what it requires is nowhere to be had.
const GO_MOD: &str = "module example.test/thing\n\ngo 1.21\n\nrequire example.test/nowhere v1.0.0\n";
const MAIN: &str = "package main\n\nimport (\n\t\"os\"\n\n\t\"example.test/nowhere\"\n)\n\nvar version = \"unknown\"\n\n\
                    func main() { os.Stdout.WriteString(\"thing \" + version + \" \" + nowhere.Word + \"\\n\") }\n";

/// A version of a module as a proxy has it.
fn publish(proxy: &Utf8Path, module: &str, version: &str, files: &[(&str, &str)]) {
    let folder = proxy.join(module).join("@v");
    fs_err::create_dir_all(&folder).unwrap();
    let mut writer = zip::ZipWriter::new(std::io::Cursor::new(Vec::new()));
    for (path, text) in files {
        let path = format!("{module}@{version}/{path}");
        writer.start_file(path, zip::write::SimpleFileOptions::default()).unwrap();
        writer.write_all(text.as_bytes()).unwrap();
    }
    fs_err::write(folder.join(format!("{version}.zip")), writer.finish().unwrap().into_inner()).unwrap();
    fs_err::write(folder.join(format!("{version}.mod")), files[0].1).unwrap();
    let info = format!("{{\"Version\": \"{version}\", \"Time\": \"2026-01-01T00:00:00Z\"}}");
    fs_err::write(folder.join(format!("{version}.info")), info).unwrap();
}

fn real_go() -> Option<Utf8PathBuf> {
    let path = std::env::var("PATH").unwrap_or_default();
    let found = path.split(':').map(|folder| Utf8Path::new(folder).join("go")).find(|go| go.is_file());
    if found.is_none() {
        // Not eprintln: the test harness would swallow it for a test that passes.
        let _ = writeln!(std::io::stderr(), "SKIPPED real go: no Go compiler is on the PATH");
    }
    found
}

fn table(sum: &str) -> Table {
    let text = format!(
        "[thing]\nsummary = \"s\"\nversion = \"1.0.0\"\naccepts = \"=1.0.0\"\nexecutable = \"thing\"\n\
         search_path = false\nread = {{ arguments = [], text = \"thing {{version}}\" }}\n\
         [[thing.sources]]\nkind = \"go\"\nmodule = \"{MODULE}\"\nmodule_version = \"v{{version}}\"\nsum = \"{sum}\"\n\
         package = \"./cmd/thing\"\nfree_gb = 1\nldflags = \"-X main.version=1.0.0\"\n\
         edits = [\"-replace=example.test/nowhere=example.test/word@v1.2.0\"]\n"
    );
    Table::parse(&text).unwrap()
}

#[test]
fn a_module_is_built_by_the_real_go_and_refused_with_another_sum() {
    let Some(go) = real_go() else { return };
    let place = Place::new();
    let proxy = place.join("proxy");
    publish(&proxy, MODULE, "v1.0.0", &[("go.mod", GO_MOD), ("cmd/thing/main.go", MAIN)]);
    let word = [
        ("go.mod", "module example.test/word\n\ngo 1.21\n"),
        ("word.go", "package nowhere\n\nconst Word = \"made\"\n"),
    ];
    publish(&proxy, "example.test/word", "v1.2.0", &word);
    let own = format!("GOPROXY=file://{proxy} GONOSUMDB='*' GONOSUMCHECK=1 GOTOOLCHAIN=local");
    place.program("go", &format!("export {own}\nexec {go} \"$@\""));

    let refused =
        Tools::with_table(place.settings(), table("h1:AAAA")).install("thing", &mut Silent).unwrap_err();
    let (codes, text) = codes(&refused);
    assert_eq!(codes, [BAD_CHECKSUM], "{text}");
    assert!(place.cached("thing").is_empty());

    // The sum that Go worked out is in the refusal.
    let sum =
        text.split(['`', ' ', '"', ',']).find(|word| word.starts_with("h1:") && word.len() > 20).unwrap();
    let found = Tools::with_table(place.settings(), table(sum)).install("thing", &mut Silent).unwrap();
    assert_eq!(found.source, Source::GoModule);
    let said = std::process::Command::new(&found.path).output().unwrap().stdout;
    assert_eq!(String::from_utf8(said).unwrap(), "thing 1.0.0 made\n");
    assert_eq!(place.cached("thing"), ["1.0.0"]);
}
