//! Units in the making, of `terraform_data`.

use std::collections::BTreeMap;

use serde_json::{Value as Json, json};

/// From a unit's work folder to the estate's root.
pub const UP: &str = "../../../../..";

/// A unit in the making.
pub struct Spec {
    pub name: String,
    pub needs: Vec<String>,
    pub inputs: BTreeMap<String, (String, String)>,
    pub main: Json,
}

impl Spec {
    /// Two resources one after the other, each of which writes a line when it is made.
    pub fn new(name: &str, version: &str) -> Spec {
        let resource = |key: &str, after: &[&str]| {
            json!({
                "input": version,
                "triggers_replace": [version],
                "depends_on": after,
                "provisioner": [{"local-exec": {"command": format!("echo {name}.{key} {version} >> {UP}/log")}}],
            })
        };
        let main = json!({
            "terraform": {"backend": {"local": {"path": "unset"}}},
            "resource": {"terraform_data": {"one": resource("one", &[]), "two": resource("two", &["terraform_data.one"])}},
            "output": {"id": {"value": "${terraform_data.two.id}"}, "version": {"value": version}},
        });
        Spec { name: name.to_owned(), needs: Vec::new(), inputs: BTreeMap::new(), main }
    }

    pub fn needs(mut self, needs: &[&str]) -> Spec {
        self.needs = needs.iter().map(|need| (*need).to_owned()).collect();
        self
    }

    /// Takes an output of another unit and makes a resource of it.
    pub fn takes(mut self, variable: &str, unit: &str, output: &str) -> Spec {
        if !self.needs.contains(&unit.to_owned()) {
            self.needs.push(unit.to_owned());
        }
        self.inputs.insert(variable.to_owned(), (unit.to_owned(), output.to_owned()));
        self.main["variable"][variable] = json!({"nullable": false});
        self.main["resource"]["terraform_data"][format!("from_{variable}")] =
            json!({"input": format!("${{var.{variable}}}")});
        self
    }

    pub fn resource(mut self, key: &str, body: Json) -> Spec {
        self.main["resource"]["terraform_data"][key] = body;
        self
    }

    /// Fails while it is created, as long as the file `broken` is in the estate.
    pub fn breakable(self) -> Spec {
        let command = format!("test ! -e {UP}/broken");
        let body = json!({
            "depends_on": ["terraform_data.one"],
            "provisioner": [{"local-exec": {"command": command}}],
        });
        self.resource("fragile", body)
    }
}
