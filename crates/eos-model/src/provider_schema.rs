//! The schemas of the two resources eos adds to tofu, as data: the emitter is tested against them and the
//! provider serves them.

use std::sync::OnceLock;

/// `provider-schema.json`, as published.
pub const PROVIDER_SCHEMA: &str = include_str!("../provider-schema.json");

/// The parsed schema.
pub fn provider_schema() -> &'static serde_json::Value {
    static PARSED: OnceLock<serde_json::Value> = OnceLock::new();
    PARSED.get_or_init(|| serde_json::from_str(PROVIDER_SCHEMA).unwrap_or_default())
}

#[cfg(test)]
mod tests {
    #[test]
    fn the_schema_names_both_resources() {
        let schema = super::provider_schema();
        assert!(schema["resources"]["eos_nomad_job"]["attributes"]["spec"]["required"].as_bool().unwrap());
        assert!(schema["resources"]["eos_salt_state"]["attributes"]["target"]["required"].as_bool().unwrap());
    }

    /// tofu keeps these for itself in every resource: an attribute of that name is a syntax error.
    #[test]
    fn no_attribute_has_a_name_tofu_keeps_for_itself() {
        let schema = super::provider_schema();
        for (kind, resource) in schema["resources"].as_object().unwrap() {
            for kept in
                ["connection", "count", "depends_on", "for_each", "lifecycle", "provider", "provisioner"]
            {
                assert!(resource["attributes"].get(kept).is_none(), "{kind}.{kept}");
            }
        }
    }
}
