//! Under which keys the Nomad variable of a job holds its secrets.
//!
//! A key is letters, digits and `_`, as a template reads it. Usually it is name and key of the secret; where two secrets of
//! one job would share that, each gets one that spells out its whole reference. Whatever else the job reads, a key
//! depends on its own reference and on whether it is shared: jobs that read no such pair keep theirs.

use std::collections::{BTreeMap, BTreeSet};

use eos_model::SecretRef;

#[derive(Debug, Default)]
pub struct SecretKeys {
    /// Usual keys that more than one secret would have.
    shared: BTreeSet<String>,
}

impl SecretKeys {
    /// For a job that reads these; one may be there several times.
    pub fn of(references: &[SecretRef]) -> SecretKeys {
        let mut owners: BTreeMap<String, BTreeSet<&SecretRef>> = BTreeMap::new();
        for reference in references {
            owners.entry(usual(reference)).or_default().insert(reference);
        }
        let shared = owners.into_iter().filter(|(_, owners)| owners.len() > 1).map(|(key, _)| key);
        SecretKeys { shared: shared.collect() }
    }

    /// Whether every secret has its usual key.
    pub fn are_usual(&self) -> bool {
        self.shared.is_empty()
    }

    pub fn key(&self, reference: &SecretRef) -> String {
        let usual = usual(reference);
        if self.shared.contains(&usual) { spelled_out(reference) } else { usual }
    }
}

fn usual(reference: &SecretRef) -> String {
    let key = format!("{}_{}", reference.name, reference.key).replace(['-', '.'], "_");
    // A template reads it as a field, whose name cannot start with a digit.
    if key.starts_with(|c: char| c.is_ascii_digit()) { format!("n{key}") } else { key }
}

/// Names have no capitals: here they stand for what a key cannot hold, so that no two references give the same, and none
/// gives another's usual key.
fn spelled_out(reference: &SecretRef) -> String {
    let SecretRef { env, name, key, version } = reference;
    format!("E{env}S{name}S{key}V{version}").replace('-', "D").replace('.', "P")
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use proptest::prelude::*;

    use super::*;

    fn reference(text: &str) -> SecretRef {
        text.parse().unwrap()
    }

    #[test]
    fn only_those_that_share_a_key_get_another() {
        let redis = reference("secret://production/nextcloud_database/password?v=1");
        let own = reference("secret://production/nextcloud/database_password?v=1");
        let other = reference("secret://production/nextcloud/admin_password?v=1");
        let alone = SecretKeys::of(&[own.clone(), other.clone(), own.clone()]);
        assert!(alone.are_usual());
        assert_eq!(alone.key(&own), "nextcloud_database_password");
        let both = SecretKeys::of(&[redis.clone(), own.clone(), other.clone()]);
        assert_eq!(both.key(&redis), "EproductionSnextcloud_databaseSpasswordV1");
        assert_eq!(both.key(&own), "EproductionSnextcloudSdatabase_passwordV1");
        assert_eq!(both.key(&other), alone.key(&other));
    }

    /// Few letters, so that many are alike.
    fn any_reference() -> impl Strategy<Value = SecretRef> {
        let part = || "[an1]([-._]?[an1]){0,3}";
        (part(), part(), part(), 1..3_u32).prop_map(|(env, name, key, version)| {
            reference(&format!("secret://{env}/{name}/{key}?v={version}"))
        })
    }

    proptest! {
        #[test]
        fn two_secrets_of_a_job_have_two_keys(references in prop::collection::vec(any_reference(), 1..40)) {
            let keys = SecretKeys::of(&references);
            let mut owners: BTreeMap<String, &SecretRef> = BTreeMap::new();
            for reference in &references {
                let key = keys.key(reference);
                prop_assert!(key.starts_with(|c: char| c.is_ascii_alphabetic()), "{key}");
                prop_assert!(key.chars().all(|c| c.is_ascii_alphanumeric() || c == '_'), "{key}");
                let other = owners.insert(key.clone(), reference).unwrap_or(reference);
                prop_assert_eq!(other, reference, "both are {}", key);
            }
        }
    }
}
