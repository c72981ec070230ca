//! Secrets of an estate, kept in the estate itself: `secrets/<env>/<name>/<key>.v<N>.age`, each encrypted by age
//! to every recipient of `secrets/recipients.txt`. The identity that decrypts lives outside of the estate.
//!
//! The files are plain age (X25519, not armored): `age -d -i identity file` reads them without eos.
//! A [`Secret`] is wiped when dropped, prints as `•••` and cannot be serialised. This crate reads the estate,
//! and writes nothing but the identity file: what changes in the estate is returned, for the caller to commit.

pub mod credentials;
mod crypt;
mod file;
mod generate;
mod identity;
mod recipients;
mod secret;
mod state_key;
mod store;

pub use crypt::{LARGEST_SECRET, decrypt, encrypt};
pub use generate::{generate, generate_with};
pub use identity::Identity;
pub use recipients::{Recipient, Recipients};
pub use secret::Secret;
pub use state_key::{STATE_KEY_FILE, new_state_key, read_state_key};
pub use store::{FOLDER, RECIPIENTS_FILE, at, file_of, list, newest, read, read_recipients, reencrypt_all};
