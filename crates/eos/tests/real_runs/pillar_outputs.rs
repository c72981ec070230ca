//! `docs/salt-outputs.md` as it is written, on an estate in which something was applied.

use std::process::{Command, Stdio};

use crate::lifecycle::NOTE;
use crate::shop::{Shop, has};
use crate::support::tool;

/// The page's code blocks with their language, its folders replaced by those of the test.
fn blocks(replace: &[(&str, String)]) -> Vec<(String, String)> {
    let mut page =
        std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/salt-outputs.md")).unwrap();
    for (from, to) in replace {
        assert!(page.contains(from), "the page has no {from}");
        page = page.replace(from, to);
    }
    let blocks = page.split("```").skip(1).step_by(2);
    blocks.map(|block| block.split_once('\n').unwrap()).map(|(a, b)| (a.to_owned(), b.to_owned())).collect()
}

#[test]
fn the_page_on_outputs_in_salts_pillar_runs() {
    let shop = Shop::new();
    let with_output = format!("{NOTE}outputs:\n  path: \"@{{setting.path}}\"\n");
    shop.sandbox.write("catalog/note/component.yaml", with_output);
    shop.sandbox.commit_by_hand();
    let note = shop.sandbox.path().join("note");
    shop.ok(&["create", "note", "--path", note.to_str().unwrap(), "--yes"]);

    let place = shop.sandbox.path().join("salt");
    let below = |name: &str| place.join(name).display().to_string();
    let config = below("etc");
    std::fs::create_dir_all(place.join("etc")).unwrap();
    // A master makes this folder when it is started.
    std::fs::create_dir_all(place.join("root/var/cache/salt/master/proc")).unwrap();
    let common = format!(
        "root_dir: {}\nfile_roots: {{base: [{}]}}\npillar_roots: {{base: [{}]}}\n",
        below("root"),
        below("files"),
        shop.sandbox.estate().join("pillar").display()
    );
    std::fs::write(place.join("etc/master"), &common).unwrap();
    let minion = format!("{common}id: db1\nfile_client: local\ngrains: {{environment: production}}\n");
    std::fs::write(place.join("etc/minion"), minion).unwrap();
    let bin = place.join("bin");
    std::fs::create_dir(&bin).unwrap();
    for name in ["salt-call", "salt-run"] {
        let program = tool("salt").with_file_name(name);
        let script = format!("#!/bin/sh\nexec '{}' --config-dir '{config}' \"$@\"\n", program.display());
        std::fs::write(bin.join(name), script).unwrap();
        assert!(Command::new("chmod").arg("755").arg(bin.join(name)).status().unwrap().success());
    }
    let replaced = [
        ("/srv/shop", shop.sandbox.estate().display().to_string()),
        ("/srv/salt", below("files")),
        ("/etc/salt", config.clone()),
    ];
    let mut said = Vec::new();
    for (language, text) in blocks(&replaced) {
        if language == "yaml" {
            for file in ["master", "minion"] {
                let path = place.join("etc").join(file);
                let before = std::fs::read_to_string(&path).unwrap();
                std::fs::write(path, format!("{before}{text}")).unwrap();
            }
            continue;
        }
        assert_eq!(language, "sh");
        let mut shell = Command::new("bash");
        shell.args(["-euo", "pipefail", "-c", &text]).env_clear().stdin(Stdio::null());
        shell.env("HOME", &place).env("PATH", format!("{}:/usr/bin:/bin", bin.display()));
        // The first command is one in eos's sources.
        shell.current_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/../.."));
        let output = shell.output().unwrap();
        let text = format!("{text}{}", String::from_utf8_lossy(&output.stdout));
        assert!(output.status.success(), "{text}{}", String::from_utf8_lossy(&output.stderr));
        said.push(text);
    }
    let path = note.to_str().unwrap();
    let shown = said.iter().filter(|text| text.contains(path)).count();
    assert_eq!(shown, 2, "the minion and the master show the output: {said:#?}");
    has(&said.concat(), "note");
}
