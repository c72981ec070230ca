//! Which variables of the environment are credentials of which provider.
//!
//! A tofu child gets an environment built from nothing; of what the caller was given, only what the unit's own
//! providers read. So the token of one cloud is never in the environment of another's plugin. What other providers read is
//! said by the estate.

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

/// Of `given`, what the providers with these sources and the backend read. `named` is what the estate says of further
/// variables, by the provider's source.
pub fn scoped<'a>(
    sources: impl IntoIterator<Item = &'a str>,
    named: &BTreeMap<String, Vec<String>>,
    given: &BTreeMap<String, String>,
) -> BTreeMap<String, String> {
    let mut scoped = BTreeMap::new();
    let mut take = |name: &str| {
        if let Some(value) = given.get(name) {
            scoped.insert(name.to_owned(), value.clone());
        }
    };
    BACKEND.iter().for_each(|name| take(name));
    for source in sources.into_iter().map(without_registry) {
        let known = READS.iter().filter(|(known, _)| *known == source);
        known.flat_map(|(_, names)| names.iter()).for_each(|name| take(name));
        let more = named.iter().filter(|(named, _)| without_registry(named) == source);
        more.flat_map(|(_, names)| names).for_each(|name| take(name));
    }
    scoped
}

/// tofu's and terraform's registries have the same providers.
fn without_registry(source: &str) -> &str {
    source.trim_start_matches("registry.opentofu.org/").trim_start_matches("registry.terraform.io/")
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
            scoped(["registry.opentofu.org/hetznercloud/hcloud"], &BTreeMap::new(), &given())
                .into_keys()
                .collect();
        assert_eq!(names, ["HCLOUD_ENDPOINT", "HCLOUD_TOKEN", "TF_HTTP_PASSWORD", "TF_HTTP_USERNAME"]);
        let else_given = scoped(["somebody/else"], &BTreeMap::new(), &given());
        assert!(else_given.keys().all(|name| name.starts_with("TF_HTTP_")));
    }

    #[test]
    fn an_estate_says_what_further_providers_read() {
        let named = |source: &str| BTreeMap::from([(source.to_owned(), vec!["EDITOR".to_owned()])]);
        let names = |sources: [&str; 1], named| -> Vec<String> {
            let scoped = scoped(sources, &named, &given()).into_keys();
            scoped.filter(|name| !name.starts_with("TF_HTTP_")).collect()
        };
        assert_eq!(names(["somebody/else"], named("registry.opentofu.org/somebody/else")), ["EDITOR"]);
        assert_eq!(names(["registry.terraform.io/somebody/else"], named("somebody/else")), ["EDITOR"]);
        assert_eq!(names(["somebody/other"], named("somebody/else")), [""; 0]);
        let both = names(["hetznercloud/hcloud"], named("hetznercloud/hcloud"));
        assert_eq!(both, ["EDITOR", "HCLOUD_ENDPOINT", "HCLOUD_TOKEN"]);
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
