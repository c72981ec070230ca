//! The key that state and plans are encrypted with: one an estate, kept like any secret and read by every recipient.

use camino::Utf8Path;
use eos_model::{Diagnostic, Diagnostics, Place, codes};
use zeroize::Zeroizing;

use crate::crypt::decrypt;
use crate::file;
use crate::identity::Identity;
use crate::secret::Secret;

/// Relative to the estate's root.
pub const STATE_KEY_FILE: &str = "secrets/state.key.age";

/// A new key, as the text that is kept.
pub fn new_state_key() -> Secret {
    let mut bytes = Zeroizing::new([0_u8; 32]);
    getrandom::fill(&mut *bytes).expect("the operating system gives random bytes");
    let mut text = String::with_capacity(64);
    for byte in bytes.iter() {
        for half in [byte >> 4, byte & 15] {
            text.push(char::from_digit(half.into(), 16).unwrap_or('0'));
        }
    }
    Secret::new(text)
}

/// The text that is kept; none when the estate has no key yet.
pub(crate) fn read_text(root: &Utf8Path, identity: &Identity) -> Result<Option<Secret>, Diagnostics> {
    let bytes = file::read(root, Utf8Path::new(STATE_KEY_FILE))?;
    bytes.map(|bytes| decrypt(&bytes, identity)).transpose()
}

/// The key itself; none when the estate has no key yet.
pub fn read_state_key(
    root: &Utf8Path,
    identity: &Identity,
) -> Result<Option<Zeroizing<[u8; 32]>>, Diagnostics> {
    let Some(text) = read_text(root, identity)? else { return Ok(None) };
    let digits: Zeroizing<Vec<u8>> = Zeroizing::new(
        text.expose()
            .trim()
            .chars()
            .filter_map(|c| c.to_digit(16))
            .filter_map(|digit| digit.try_into().ok())
            .collect(),
    );
    let mut key = Zeroizing::new([0_u8; 32]);
    if digits.len() != 64 || text.expose().trim().len() != 64 {
        return Err(Diagnostic::error(codes::CANNOT_READ, "the key of state and plans is damaged")
            .at(Place::file(STATE_KEY_FILE))
            .why("it has to be 64 hexadecimal digits")
            .fix(format!("git log -- {STATE_KEY_FILE} shows the commit that had it whole"))
            .into());
    }
    for (byte, pair) in key.iter_mut().zip(digits.chunks(2)) {
        *byte = pair[0] << 4 | pair[1];
    }
    Ok(Some(key))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use std::fs;

    use super::*;
    use crate::{Recipients, encrypt};

    fn estate(text: &str) -> (tempfile::TempDir, Identity) {
        let folder = tempfile::tempdir().unwrap();
        let root = Utf8Path::from_path(folder.path()).unwrap();
        let identity = Identity::create(&root.join("identity.txt")).unwrap();
        let mut recipients = Recipients::default();
        recipients.add(identity.public(), "me").unwrap();
        fs::create_dir(root.join("secrets")).unwrap();
        let bytes = encrypt(&Secret::new(text.to_owned()), &recipients).unwrap();
        fs::write(root.join(STATE_KEY_FILE), bytes).unwrap();
        (folder, identity)
    }

    #[test]
    fn a_new_key_is_read_back_and_differs_from_the_next() {
        let text = new_state_key();
        let (folder, identity) = estate(text.expose());
        let key = read_state_key(Utf8Path::from_path(folder.path()).unwrap(), &identity).unwrap().unwrap();
        let hex: String = key.iter().map(|byte| format!("{byte:02x}")).collect();
        assert_eq!(hex, text.expose());
        assert_ne!(new_state_key().expose(), text.expose());
    }

    #[test]
    fn a_damaged_key_is_refused() {
        for text in ["abc", &"g".repeat(64), &format!("{}zz", "0".repeat(64))] {
            let (folder, identity) = estate(text);
            assert!(
                read_state_key(Utf8Path::from_path(folder.path()).unwrap(), &identity).is_err(),
                "{text}"
            );
        }
    }
}
