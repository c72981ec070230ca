//! How values look in EC2's answers.

use jiff::Timestamp;

/// `2026-11-16T04:04:15.000Z`
pub fn moment(time: Timestamp) -> String {
    time.strftime("%Y-%m-%dT%H:%M:%S.000Z").to_string()
}

pub use hive_api::hex;

/// `ab:cd:ef`, as fingerprints of RSA keys and MAC addresses are written.
pub fn colon_hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect::<Vec<_>>().join(":")
}
