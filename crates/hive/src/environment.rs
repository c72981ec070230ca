//! What a client must have in its environment to speak to a gateway.

use std::path::Path;

use crate::control;
use crate::credentials::Credentials;
use crate::data_directory::DataDirectory;
use crate::error::HiveError;
use crate::tls::CA_FILE;

/// Variables and values for the first access key.
pub fn variables(data: &Path) -> Result<Vec<(&'static str, String)>, HiveError> {
    variables_of(data, None)
}

/// Those for the first key of an account. The gateway must be running: only it knows its port.
pub fn variables_of(data: &Path, account: Option<&str>) -> Result<Vec<(&'static str, String)>, HiveError> {
    let running = control::running(data)?;
    let directory = DataDirectory::open(data)?;
    let keys = Credentials::read(&directory)?.map(|credentials| credentials.keys).unwrap_or_default();
    let mut keys = keys.into_iter().filter(|key| account.is_none_or(|account| *key.account == *account));
    let key = keys.next().ok_or_else(|| match account {
        Some(account) => HiveError::UnknownAccount(account.to_owned()),
        None => HiveError::Unreadable {
            path: directory.path().to_owned(),
            reason: "there is no access key".to_owned(),
        },
    })?;
    // With keys that are refused nobody is helped: the account could not be prepared, or the gateway is an earlier
    // version, which looks at the keys when it starts.
    if !running.keys.is_empty() && !running.keys.contains(&key.access_key_id) {
        return Err(HiveError::NotLetIn(key.account.to_string()));
    }
    let mut variables = vec![
        ("AWS_ENDPOINT_URL", running.endpoint.clone()),
        ("AWS_ACCESS_KEY_ID", key.access_key_id),
        ("AWS_SECRET_ACCESS_KEY", key.secret_access_key),
        ("AWS_REGION", running.region.clone()),
        ("AWS_DEFAULT_REGION", running.region),
        // The machine's own metadata service is not ours.
        ("AWS_EC2_METADATA_DISABLED", "true".to_owned()),
    ];
    if running.endpoint.starts_with("https:") {
        variables.push(("AWS_CA_BUNDLE", directory.file(CA_FILE).display().to_string()));
    }
    Ok(variables)
}

/// What would win over the variables, or not fit to them.
pub const IN_THE_WAY: &[&str] = &[
    "AWS_SESSION_TOKEN",
    "AWS_PROFILE",
    "AWS_DEFAULT_PROFILE",
    "AWS_ENDPOINT_URL_EC2",
    "AWS_ENDPOINT_URL_STS",
    "AWS_IGNORE_CONFIGURED_ENDPOINT_URLS",
];

/// The same as lines for a shell's `eval`.
pub fn shell(variables: &[(&'static str, String)]) -> String {
    let line = |(name, value): &(&str, String)| format!("export {name}='{}'\n", value.replace('\'', "'\\''"));
    format!("unset {}\n", IN_THE_WAY.join(" ")) + &variables.iter().map(line).collect::<String>()
}
