//! What the state keeps for the provider alone: the indexes an object was last seen at. Nothing in it is secret.

use serde::{Deserialize, Serialize};

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Private {
    /// The job's modify index, zero when there was no job. What differs from it was changed by somebody else.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub seen_index: Option<u64>,
    /// That of the variable with the job's secrets.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub variable_index: Option<u64>,
}

impl Private {
    /// Bytes that cannot be read (none, or another version's) say nothing.
    pub fn read(bytes: &[u8]) -> Private {
        serde_json::from_slice(bytes).unwrap_or_default()
    }

    pub fn write(&self) -> Vec<u8> {
        serde_json::to_vec(self).unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::Private;

    #[test]
    fn it_reads_what_it_wrote_and_forgives_what_it_did_not() {
        let private = Private { seen_index: Some(7), variable_index: None };
        assert_eq!(Private::read(&private.write()), private);
        assert_eq!(Private::read(b""), Private::default());
        assert_eq!(Private::read(b"{\"newer\":1}"), Private::default());
    }
}
