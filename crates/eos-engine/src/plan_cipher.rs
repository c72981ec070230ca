//! Tofu's own plans inside a kept one hold what is sensitive in clear, unless tofu encrypted them; terraform never does.
//! So whatever made them, they are encrypted in that file, with a key that comes from the estate's.

use chacha20poly1305::aead::{Aead as _, KeyInit as _};
use chacha20poly1305::{XChaCha20Poly1305, XNonce};

use crate::seal;

/// Drawn anew for each.
const NONCE: usize = 24;

pub fn conceal(key: &[u8; 32], clear: &[u8]) -> Vec<u8> {
    let mut nonce = [0; NONCE];
    getrandom::fill(&mut nonce).expect("the operating system gives random bytes");
    let concealed = cipher(key).encrypt(XNonce::from_slice(&nonce), clear);
    [&nonce[..], &concealed.expect("a plan is shorter than 256 GiB")].concat()
}

/// None when it was concealed with another key, or changed since.
pub fn reveal(key: &[u8; 32], bytes: &[u8]) -> Option<Vec<u8>> {
    let (nonce, concealed) = bytes.split_at_checked(NONCE)?;
    cipher(key).decrypt(XNonce::from_slice(nonce), concealed).ok()
}

/// With a key of its own: one key is for one use.
fn cipher(key: &[u8; 32]) -> XChaCha20Poly1305 {
    XChaCha20Poly1305::new(&seal::of(key, "tofu's plans in a kept plan of eos\n", b"").into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_concealed_is_read_with_its_key_alone_and_only_as_it_was() {
        let concealed = conceal(&[7; 32], b"a password");
        assert!(!concealed.windows(8).any(|part| part == b"password"));
        assert_ne!(concealed, conceal(&[7; 32], b"a password"));
        assert_eq!(reveal(&[7; 32], &concealed).unwrap(), b"a password");
        assert_eq!(reveal(&[8; 32], &concealed), None);
        let mut changed = concealed.clone();
        changed[NONCE] ^= 1;
        assert_eq!(reveal(&[7; 32], &changed), None);
        assert_eq!(reveal(&[7; 32], b"short"), None);
    }
}
