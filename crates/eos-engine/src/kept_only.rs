//! A unit of which nothing is left but data that was kept: what it takes to get that back into tofu's hands, and no more.

use std::collections::BTreeSet;

use camino::Utf8Path;
use eos_model::Diagnostic;
use serde_json::{Map, Value as Json, json};

use crate::agreed::without_keys;
use crate::applied::Kept;
use crate::unit::{MAIN, MANIFEST, Unit};

impl Unit {
    /// The unit with the kept resources alone: no jobs, no outputs, and no inputs where they take none.
    pub fn with_only(&self, kept: &Kept) -> Result<Unit, Diagnostic> {
        let addresses: BTreeSet<String> =
            kept.objects.iter().map(|object| without_keys(&object.address)).collect();
        let mut main = self.main();
        let mut found = Map::new();
        for (kind, resources) in main["resource"].as_object().into_iter().flatten() {
            for (name, body) in resources.as_object().into_iter().flatten() {
                if addresses.contains(&format!("{kind}.{name}")) {
                    let mut body = body.clone();
                    if let Some(body) = body.as_object_mut() {
                        body.remove("depends_on");
                    }
                    let all = found.entry(kind).or_insert_with(|| json!({}));
                    all[name.as_str()] = body;
                }
            }
        }
        let text = Json::Object(found.clone()).to_string();
        let takes_inputs = text.contains("var.");
        let mut files = self.files.clone();
        files.retain(|path, _| !path.starts_with("jobs") || text.contains(path.as_str()));
        if let Some(main) = main.as_object_mut() {
            main.insert("resource".to_owned(), Json::Object(found));
            main.remove("output");
            let module = |call: &str| addresses.iter().any(|a| a.starts_with(&format!("module.{call}.")));
            if let Some(calls) = main.get_mut("module").and_then(Json::as_object_mut) {
                calls.retain(|call, _| module(call));
            }
            if !takes_inputs {
                main.remove("variable");
            }
        }
        let mut manifest: Json = serde_json::from_slice(&files[Utf8Path::new(MANIFEST)]).unwrap_or_default();
        manifest["needs"] = json!([]);
        if !takes_inputs {
            manifest["inputs"] = json!({});
        }
        files.insert(MAIN.into(), format!("{main:#}\n").into_bytes());
        files.insert(MANIFEST.into(), format!("{manifest:#}\n").into_bytes());
        Unit::new(&self.id.env, self.id.name.clone(), files)
    }
}
