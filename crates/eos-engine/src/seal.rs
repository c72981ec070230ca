//! What only somebody with the key can make of some bytes.

use hmac::{Hmac, KeyInit as _, Mac as _};

/// `purpose` keeps the seals of different things apart.
pub fn of(key: &[u8; 32], purpose: &str, bytes: &[u8]) -> [u8; 32] {
    let mut mac = Hmac::<sha2::Sha256>::new_from_slice(key).expect("a key of any length will do");
    mac.update(purpose.as_bytes());
    mac.update(bytes);
    mac.finalize().into_bytes().into()
}
