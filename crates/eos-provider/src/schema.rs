//! The resources' schemas for the wire, made from the one file that also the compiler is tested against.

use std::collections::HashMap;

use eos_model::provider_schema::provider_schema;
use serde_json::Value as Json;

use crate::protocol::{Schema, schema};
use crate::value::{Object, Value};

/// The attributes of a resource; empty for an unknown one.
fn attributes(type_name: &str) -> impl Iterator<Item = (&'static String, &'static Json)> {
    provider_schema()["resources"][type_name]["attributes"].as_object().into_iter().flatten()
}

/// All resources, by name.
pub fn resources() -> HashMap<String, Schema> {
    let all = provider_schema()["resources"].as_object();
    all.into_iter()
        .flatten()
        .map(|(name, resource)| (name.clone(), resource_schema(name, resource)))
        .collect()
}

/// The provider itself takes no settings: where Nomad and Salt are is said by the environment.
pub fn provider() -> Schema {
    Schema { version: 0, block: Some(schema::Block::default()) }
}

/// The object with exactly the attributes of the schema: tofu takes no other. What is missing is null.
pub fn complete(type_name: &str, mut object: Object) -> Object {
    let take = |(name, _): (&String, _)| (name.clone(), object.0.remove(name).unwrap_or(Value::Null));
    Object(attributes(type_name).map(take).collect())
}

fn resource_schema(name: &str, resource: &Json) -> Schema {
    let text = |value: &Json| value.as_str().unwrap_or_default().to_owned();
    let attribute = |(name, attribute): (&String, &Json)| schema::Attribute {
        name: name.clone(),
        r#type: attribute["type"].to_string().into_bytes(),
        description: text(&attribute["description"]),
        required: attribute["required"] == true,
        optional: attribute["optional"] == true,
        computed: attribute["computed"] == true,
        sensitive: attribute["sensitive"] == true,
        ..schema::Attribute::default()
    };
    let block = schema::Block {
        attributes: attributes(name).map(attribute).collect(),
        description: text(&resource["description"]),
        ..schema::Block::default()
    };
    Schema { version: 0, block: Some(block) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_schema_on_the_wire_is_that_of_the_file() {
        let all = resources();
        assert_eq!(all.len(), 2);
        let block = all["eos_nomad_job"].block.as_ref().unwrap();
        let classes = block.attributes.iter().find(|attribute| attribute.name == "data_classes").unwrap();
        assert_eq!(classes.r#type, br#"["list","string"]"#);
        assert!(classes.optional && !classes.required && !classes.computed);
    }

    #[test]
    fn an_object_gets_what_is_missing_and_loses_what_is_unknown() {
        let object = complete("eos_nomad_job", Object::default().with("name", "a").with("gone", true));
        assert_eq!(object.text("name"), Some("a"));
        assert_eq!(object.0.len(), 8);
        assert_eq!(object.0["in_sync"], Value::Null);
    }
}
