//! The schemas of the two resources eos adds to tofu, as data: the emitter is tested against them and the
//! provider serves them.

/// `provider-schema.json`, as published.
pub const PROVIDER_SCHEMA: &str = include_str!("../provider-schema.json");

/// The parsed schema.
pub fn provider_schema() -> serde_json::Value {
    serde_json::from_str(PROVIDER_SCHEMA).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    #[test]
    fn the_schema_names_both_resources() {
        let schema = super::provider_schema();
        assert!(schema["resources"]["eos_nomad_job"]["attributes"]["spec"]["required"].as_bool().unwrap());
        assert!(schema["resources"]["eos_salt_state"]["attributes"]["target"]["required"].as_bool().unwrap());
    }
}
