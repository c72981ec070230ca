//! The public half of a key pair; the private half is never kept.

use serde::{Deserialize, Serialize};

use crate::core::id::{Id, Kind};
use crate::core::index::{Field, one};
use crate::core::table::{Listed, Resource};
use crate::core::tags::Tags;
use jiff::Timestamp;

#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct KeyPair {
    pub id: Id<KeyPair>,
    pub name: String,
    pub key_type: KeyType,
    pub fingerprint: String,
    /// As OpenSSH writes it: type, base64, comment.
    pub public_key: String,
    pub created: Timestamp,
    pub tags: Tags,
}

impl Listed for KeyPair {
    const FIELDS: &'static [Field<Self>] = &[
        Field::key(&["key-pair-id"]),
        Self::BY_NAME,
        Field::new(&["fingerprint"], |key, each| one(&key.fingerprint, each)),
    ];

    fn key(&self) -> &str {
        &self.id
    }

    fn tags(&self) -> Option<&Tags> {
        Some(&self.tags)
    }
}

/// What it is looked up by.
impl KeyPair {
    pub const BY_NAME: Field<Self> = Field::new(&["key-name"], |k, each| each(&k.name));
}

impl Resource for KeyPair {
    const KIND: Kind = Kind {
        name: "key-pair",
        prefix: "key",
        not_found: "InvalidKeyPair.NotFound",
        malformed: None,
        noun: "key pair",
    };

    fn tags_mut(&mut self) -> Option<&mut Tags> {
        Some(&mut self.tags)
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum KeyType {
    Rsa,
    Ed25519,
}
