//! The same pillar and the same catalogue give the same bytes, until [`COMPILER`] says otherwise.
//!
//! `emitted/` is frozen: kinds that use every part of the format, and an estate of them. What they compile to is held
//! against a digest recorded with the compiler's number. `UPDATE_GOLDEN=1` records a new one, and only for a new number.
#![allow(clippy::unwrap_used)]

use camino::{Utf8Path, Utf8PathBuf};
use eos_catalog::{Catalog, Folder, Origin};
use eos_compile::{COMPILER, Input};
use eos_pillar::{EstateFile, Tree};
use sha2::{Digest, Sha256};

fn emitted() -> Utf8PathBuf {
    Utf8Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/emitted")
}

fn digest() -> String {
    let tree = Tree::read(&emitted()).unwrap();
    let environment = tree.environment(&"production".parse().unwrap()).unwrap();
    let catalog =
        Catalog::from_layers([(Origin::Estate, Folder::below(&emitted().join("catalog")).unwrap())]);
    let estate = EstateFile::new("shop", "tofu");
    let input = Input {
        estate: "shop",
        estate_id: None,
        state_key: "shop",
        backend: &estate.backend,
        tier: Default::default(),
        namespace: None,
        environment: &environment,
        catalog: &catalog,
        others: &[],
        secrets: None,
    };
    let compiled = eos_compile::compile(&input).unwrap_or_else(|found| panic!("{found:#?}"));
    let mut digest = Sha256::new();
    for (path, content) in &compiled.files {
        digest.update(format!("{path} {}\n", content.len()));
        digest.update(content);
    }
    digest.finalize().iter().map(|byte| format!("{byte:02x}")).collect()
}

#[test]
fn other_bytes_need_another_number() {
    let file = emitted().join("digest");
    let recorded = std::fs::read_to_string(&file).unwrap_or_default();
    let now = format!("compiler {COMPILER}\nsha256 {}\n", digest());
    if recorded == now {
        return;
    }
    assert!(
        !recorded.starts_with(&format!("compiler {COMPILER}\n")),
        "what the compiler emits has changed: raise COMPILER in src/lib.rs, then UPDATE_GOLDEN=1"
    );
    assert!(std::env::var_os("UPDATE_GOLDEN").is_some(), "UPDATE_GOLDEN=1 records the new digest");
    std::fs::write(file, now).unwrap();
}
