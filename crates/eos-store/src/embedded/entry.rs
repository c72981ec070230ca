//! A batch as the log keeps it: for each key its version and value after the batch. Checks are not kept: they held.

use super::waiting::Unwritten;

/// Behind a version: what follows is a value, or the key is gone.
const VALUE: u8 = 1;
const DELETED: u8 = 0;

pub fn encode(rows: &Unwritten) -> Vec<u8> {
    let mut bytes = Vec::new();
    let part = |bytes: &mut Vec<u8>, part: &[u8]| {
        bytes.extend_from_slice(&(part.len() as u64).to_le_bytes());
        bytes.extend_from_slice(part);
    };
    for (key, (version, value)) in rows {
        part(&mut bytes, key.as_bytes());
        bytes.extend_from_slice(&version.to_le_bytes());
        match value {
            Some(value) => {
                bytes.push(VALUE);
                part(&mut bytes, value);
            }
            None => bytes.push(DELETED),
        }
    }
    bytes
}

/// Puts the rows of an entry over `rows`. None: this is no entry.
pub fn decode(mut bytes: &[u8], rows: &mut Unwritten) -> Option<()> {
    while !bytes.is_empty() {
        let (key, rest) = split_part(bytes)?;
        let (version, rest) = rest.split_first_chunk::<8>()?;
        let (value, rest) = match rest.split_first()? {
            (&VALUE, rest) => split_part(rest).map(|(value, rest)| (Some(value.to_vec()), rest))?,
            (&DELETED, rest) => (None, rest),
            _ => return None,
        };
        rows.insert(std::str::from_utf8(key).ok()?.to_owned(), (u64::from_le_bytes(*version), value));
        bytes = rest;
    }
    Some(())
}

fn split_part(bytes: &[u8]) -> Option<(&[u8], &[u8])> {
    let (length, rest) = bytes.split_first_chunk::<8>()?;
    rest.split_at_checked(usize::try_from(u64::from_le_bytes(*length)).ok()?)
}
