//! Which variables of the environment are credentials of which provider.
//!
//! A tofu child gets an environment built from nothing; of what the caller was given, only what the unit's own
//! providers read. So the token of one cloud is never in the environment of another's plugin.

use std::collections::BTreeMap;

/// The provider's source, without a registry's host name, and the variables it reads. Sorted.
const READS: &[(&str, &[&str])] = &[
    ("cloudflare/cloudflare", &["CLOUDFLARE_API_TOKEN", "CLOUDFLARE_BASE_URL"]),
    (
        "eos.local/eos/eos",
        &[
            "EOS_SALT_API",
            "EOS_SALT_TOKEN_FILE",
            "NOMAD_ADDR",
            "NOMAD_CACERT",
            "NOMAD_CLIENT_CERT",
            "NOMAD_CLIENT_KEY",
            "NOMAD_NAMESPACE",
            "NOMAD_REGION",
            "NOMAD_TLS_SERVER_NAME",
            "NOMAD_TOKEN",
        ],
    ),
    (
        "hashicorp/aws",
        &[
            "AWS_ACCESS_KEY_ID",
            "AWS_CA_BUNDLE",
            "AWS_CONFIG_FILE",
            "AWS_DEFAULT_REGION",
            "AWS_ENDPOINT_URL",
            "AWS_PROFILE",
            "AWS_REGION",
            "AWS_SECRET_ACCESS_KEY",
            "AWS_SESSION_TOKEN",
            "AWS_SHARED_CREDENTIALS_FILE",
        ],
    ),
    (
        "hashicorp/azurerm",
        &["ARM_CLIENT_ID", "ARM_CLIENT_SECRET", "ARM_ENVIRONMENT", "ARM_SUBSCRIPTION_ID", "ARM_TENANT_ID"],
    ),
    ("hetznercloud/hcloud", &["HCLOUD_ENDPOINT", "HCLOUD_TOKEN"]),
    ("ovh/ovh", &["OVH_APPLICATION_KEY", "OVH_APPLICATION_SECRET", "OVH_CONSUMER_KEY", "OVH_ENDPOINT"]),
];

/// What the http backend reads.
const BACKEND: &[&str] = &["TF_HTTP_PASSWORD", "TF_HTTP_USERNAME"];

/// Every variable that some child may get: all that is to be read of the caller's environment.
pub fn variables() -> impl Iterator<Item = &'static str> {
    READS.iter().flat_map(|(_, names)| names.iter().copied()).chain(BACKEND.iter().copied())
}

/// Of `given`, what the providers with these sources and the backend read.
pub fn scoped<'a>(
    sources: impl IntoIterator<Item = &'a str>,
    given: &BTreeMap<String, String>,
) -> BTreeMap<String, String> {
    let mut scoped = BTreeMap::new();
    let mut take = |names: &[&str]| {
        for name in names {
            if let Some(value) = given.get(*name) {
                scoped.insert((*name).to_owned(), value.clone());
            }
        }
    };
    take(BACKEND);
    for source in sources {
        let bare =
            source.trim_start_matches("registry.opentofu.org/").trim_start_matches("registry.terraform.io/");
        if let Some((_, names)) = READS.iter().find(|(known, _)| *known == bare) {
            take(names);
        }
    }
    scoped
}

#[cfg(test)]
mod tests {
    use super::*;

    fn given() -> BTreeMap<String, String> {
        variables().chain(["HOME", "EDITOR"]).map(|name| (name.to_owned(), "x".to_owned())).collect()
    }

    #[test]
    fn a_unit_sees_the_credentials_of_its_own_providers_and_no_others() {
        let names: Vec<String> =
            scoped(["registry.opentofu.org/hetznercloud/hcloud"], &given()).into_keys().collect();
        assert_eq!(names, ["HCLOUD_ENDPOINT", "HCLOUD_TOKEN", "TF_HTTP_PASSWORD", "TF_HTTP_USERNAME"]);
        assert!(scoped(["somebody/else"], &given()).keys().all(|name| name.starts_with("TF_HTTP_")));
    }

    #[test]
    fn the_table_is_sorted_and_names_no_variable_twice() {
        assert!(READS.is_sorted_by_key(|(source, _)| *source));
        assert!(READS.iter().all(|(_, names)| names.is_sorted()));
        let mut all: Vec<&str> = variables().collect();
        let count = all.len();
        all.sort_unstable();
        all.dedup();
        assert_eq!(all.len(), count);
    }
}
