//! How values look in EC2's answers.

use jiff::Timestamp;
use sha2::{Digest as _, Sha256};

/// `2026-11-16T04:04:15.000Z`
pub fn moment(time: Timestamp) -> String {
    time.strftime("%Y-%m-%dT%H:%M:%S.000Z").to_string()
}

pub use hive_api::hex;

/// `ab:cd:ef`, as fingerprints of RSA keys and MAC addresses are written.
pub fn colon_hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect::<Vec<_>>().join(":")
}

/// An id as IAM gives them, the same each time for the same thing: `AROA…` for a role, `AIPA…` for an instance profile.
pub fn iam_id(prefix: &str, account: &str, name: &str) -> String {
    const LETTERS: &[u8; 32] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZ234567";
    let digest = Sha256::digest(format!("{account}/{name}"));
    let letters = digest.iter().take(17).map(|byte| char::from(LETTERS[usize::from(byte % 32)]));
    format!("{prefix}{}", letters.collect::<String>())
}
