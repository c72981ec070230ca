//! Embeds `catalog/` as a sorted table of folders and their files.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::{env, fs};

fn files_below(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).expect("the catalogue can be read") {
        let path = entry.expect("the catalogue can be read").path();
        if path.is_dir() { found.extend(files_below(&path)) } else { found.push(path) }
    }
    found.sort();
    found
}

fn main() {
    let manifest = PathBuf::from(env::var("CARGO_MANIFEST_DIR").expect("cargo sets it"));
    let catalog = manifest.join("../../catalog");
    println!("cargo:rerun-if-changed={}", catalog.display());
    let mut table = String::from("pub static BUILT_IN: &[(&str, BuiltInFiles)] = &[\n");
    let mut kinds: Vec<_> = fs::read_dir(&catalog).expect("catalog/ exists").flatten().collect();
    kinds.sort_by_key(|entry| entry.file_name());
    for kind in kinds.iter().filter(|entry| entry.path().join("component.yaml").is_file()) {
        let folder = kind.path();
        println!("cargo:rerun-if-changed={}", folder.display());
        let _ = writeln!(table, "    ({:?}, &[", kind.file_name().to_string_lossy());
        for file in files_below(&folder) {
            println!("cargo:rerun-if-changed={}", file.display());
            let relative = file.strip_prefix(&folder).expect("it is below").to_string_lossy().into_owned();
            let full = file.canonicalize().expect("it exists");
            let _ =
                writeln!(table, "        ({relative:?}, include_bytes!({:?})),", full.display().to_string());
        }
        table.push_str("    ]),\n");
    }
    table.push_str("];\n");
    let out = PathBuf::from(env::var("OUT_DIR").expect("cargo sets it")).join("built_in.rs");
    fs::write(out, table).expect("the table can be written");
}
