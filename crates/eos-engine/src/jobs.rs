//! The Nomad jobs that a unit's own module describes, as far as its files and its inputs tell.

use std::collections::BTreeMap;

use camino::Utf8Path;
use serde_json::Value as Json;

use crate::unit::Unit;

/// Jobs by address, each as Nomad takes it. One whose spec only tofu can work out is not among them.
pub fn described(unit: &Unit, inputs: &BTreeMap<String, Json>) -> Vec<(String, Json)> {
    let main = unit.main();
    let resources = main["resource"]["eos_nomad_job"].as_object().into_iter().flatten();
    let one = |body: &&Json| body.get("count").is_none() && body.get("for_each").is_none();
    resources
        .filter(|(_, body)| one(body))
        .filter_map(|(name, body)| Some((format!("eos_nomad_job.{name}"), job(unit, body, inputs)?)))
        .collect()
}

/// Whether eos gives secrets to a job.
pub fn reads_secrets(job: &Json) -> bool {
    let meta = job["Meta"].as_object().into_iter().flatten();
    meta.into_iter().any(|(key, _)| key.starts_with("eos.secret."))
}

fn job(unit: &Unit, body: &Json, inputs: &BTreeMap<String, Json>) -> Option<Json> {
    let text = body["spec"].as_str()?;
    let file = text.strip_prefix("${file(\"${path.module}/").and_then(|rest| rest.strip_suffix("\")}"));
    let document: Json = match file {
        Some(path) => serde_json::from_slice(unit.files.get(Utf8Path::new(path))?).ok()?,
        None => serde_json::from_str(&written_out(text, inputs)?).ok()?,
    };
    let mut job = match document {
        Json::Object(mut outer) if outer.contains_key("Job") => outer.remove("Job")?,
        other => other,
    };
    job["ID"].as_str()?;
    if let Some(namespace) = body["namespace"].as_str() {
        job["Namespace"] = namespace.into();
    }
    Some(job)
}

/// A text of tofu's with the values of the unit's variables in it; none where it says more than that.
fn written_out(text: &str, inputs: &BTreeMap<String, Json>) -> Option<String> {
    let mut out = String::new();
    let mut rest = text;
    while let Some(at) = rest.find("${").into_iter().chain(rest.find("%{")).min() {
        let (before, from) = rest.split_at(at);
        let sign = &from[..1];
        // Written twice it stands for itself.
        if let Some(before) = before.strip_suffix(sign) {
            out.push_str(before);
            out.push_str(&from[..2]);
            rest = &from[2..];
            continue;
        }
        let (expression, after) = from.strip_prefix("${")?.split_once('}')?;
        out.push_str(before);
        match inputs.get(expression.trim().strip_prefix("var.")?)? {
            Json::String(value) => out.push_str(value),
            value @ (Json::Number(_) | Json::Bool(_)) => out.push_str(&value.to_string()),
            _ => return None,
        }
        rest = after;
    }
    out.push_str(rest);
    Some(out)
}

#[cfg(test)]
mod tests {
    use eos_tofu::UnitFiles;
    use serde_json::json;

    use super::*;

    #[test]
    fn specs_are_read_from_a_file_and_from_the_resource_itself() {
        let main = json!({"resource": {"eos_nomad_job": {
            "filed": {"spec": "${file(\"${path.module}/job.nomad.json\")}", "namespace": "apps"},
            "inline": {"spec": "{\"ID\": \"a-${var.name}\", \"Meta\": {\"port\": \"$${NOMAD_PORT_http}\", \"n\": \"${ var.n }\"}}"},
            "computed": {"spec": "{\"ID\": \"${terraform_data.x.id}\"}"},
            "conditional": {"spec": "{\"ID\": \"%{ if true }a%{ endif }\"}"},
            "several": {"count": 2, "spec": "{\"ID\": \"b\"}"},
        }}});
        let manifest =
            json!({"format": 1, "unit": "test/web", "kind": "web", "needs": [], "inputs": {}, "volumes": []});
        let files = UnitFiles::from([
            ("main.tf.json".into(), main.to_string().into_bytes()),
            ("manifest.json".into(), manifest.to_string().into_bytes()),
            ("job.nomad.json".into(), json!({"Job": {"ID": "web"}}).to_string().into_bytes()),
        ]);
        let unit = Unit::new(&"test".parse().unwrap(), "web".parse().unwrap(), files).unwrap();
        let inputs = BTreeMap::from([("name".to_owned(), json!("x")), ("n".to_owned(), json!(7))]);
        let inline = json!({"ID": "a-x", "Meta": {"port": "${NOMAD_PORT_http}", "n": "7"}});
        assert_eq!(
            described(&unit, &inputs),
            [
                ("eos_nomad_job.filed".to_owned(), json!({"ID": "web", "Namespace": "apps"})),
                ("eos_nomad_job.inline".to_owned(), inline),
            ]
        );
        assert_eq!(described(&unit, &BTreeMap::new()).len(), 1, "what it takes from others is not known");
    }
}
