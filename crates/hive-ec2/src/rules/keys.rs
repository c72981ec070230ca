//! Public keys: what OpenSSH writes, checked, with the fingerprint that EC2 gives.
//!
//! An imported RSA key's fingerprint is the MD5 of its DER public key; an ED25519 key's is the SHA-256 of the
//! OpenSSH blob in base64.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use hive_api::{ApiError, ApiResult};
use md5::{Digest as _, Md5};
use sha2::Sha256;

use crate::core::text::colon_hex;
use crate::model::key_pair::KeyType;

pub struct PublicKey {
    pub key_type: KeyType,
    pub fingerprint: String,
    pub text: String,
}

/// Reads the base64 parameter PublicKeyMaterial.
pub fn import(material: &str) -> ApiResult<PublicKey> {
    let invalid = || ApiError::client("InvalidKey.Format", "Key is not in valid OpenSSH public key format");
    let bytes = STANDARD.decode(material.split_whitespace().collect::<String>()).map_err(|_| invalid())?;
    let text = String::from_utf8(bytes).map_err(|_| invalid())?.trim().to_owned();
    if text.len() > 16 * 1024 || text.lines().count() != 1 {
        return Err(invalid());
    }
    let mut words = text.split_whitespace();
    let (Some(algorithm), Some(encoded)) = (words.next(), words.next()) else { return Err(invalid()) };
    let blob = STANDARD.decode(encoded).map_err(|_| invalid())?;
    let fields = fields(&blob).ok_or_else(invalid)?;
    if fields.first().is_none_or(|name| *name != algorithm.as_bytes()) {
        return Err(invalid());
    }
    match (algorithm, fields.as_slice()) {
        ("ssh-rsa", [_, exponent, modulus]) if bits(modulus) >= LEAST_RSA_BITS => Ok(PublicKey {
            key_type: KeyType::Rsa,
            fingerprint: colon_hex(&Md5::digest(rsa_der(modulus, exponent))),
            text,
        }),
        ("ssh-ed25519", [_, key]) if key.len() == 32 => Ok(PublicKey {
            key_type: KeyType::Ed25519,
            fingerprint: STANDARD.encode(Sha256::digest(&blob)),
            text,
        }),
        _ => Err(invalid()),
    }
}

/// The shortest that EC2 takes.
const LEAST_RSA_BITS: usize = 1024;

/// How long a number is, without the zeros before it.
fn bits(number: &[u8]) -> usize {
    let digits = &number[number.iter().take_while(|byte| **byte == 0).count()..];
    digits.len() * 8 - digits.first().map_or(0, |first| first.leading_zeros() as usize)
}

/// The length-prefixed fields of an OpenSSH blob.
fn fields(mut blob: &[u8]) -> Option<Vec<&[u8]>> {
    let mut fields = Vec::new();
    while !blob.is_empty() {
        let (length, rest) = blob.split_first_chunk::<4>()?;
        let length = u32::from_be_bytes(*length) as usize;
        fields.push(rest.get(..length)?);
        blob = &rest[length..];
    }
    Some(fields)
}

fn der(tag: u8, content: &[u8]) -> Vec<u8> {
    let mut out = vec![tag];
    match content.len() {
        short @ 0..128 => out.push(short as u8),
        long => {
            let bytes = long.to_be_bytes();
            let significant = &bytes[bytes.iter().take_while(|byte| **byte == 0).count()..];
            out.push(0x80 | significant.len() as u8);
            out.extend_from_slice(significant);
        }
    }
    out.extend_from_slice(content);
    out
}

/// SubjectPublicKeyInfo of an RSA key. OpenSSH's integers are already in DER's two's complement form.
fn rsa_der(modulus: &[u8], exponent: &[u8]) -> Vec<u8> {
    const RSA_ENCRYPTION: &[u8] = &[0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d, 0x01, 0x01, 0x01];
    let key = der(0x30, &[der(2, modulus), der(2, exponent)].concat());
    let algorithm = der(0x30, &[der(6, RSA_ENCRYPTION), der(5, &[])].concat());
    let bits = der(3, &[&[0][..], &key].concat());
    der(0x30, &[algorithm, bits].concat())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn refuses_what_is_no_key() {
        for bad in ["", "!!", "c3NoLXJzYQ==", "c3NoLXJzYSBBQUFB"] {
            assert_eq!(import(bad).err().unwrap().code, "InvalidKey.Format");
        }
    }

    #[test]
    fn a_key_that_anyone_could_factor_is_none() {
        let key = |modulus: &[u8]| {
            let fields = [b"ssh-rsa", &[1, 0, 1][..], modulus];
            let blob: Vec<u8> =
                fields.iter().flat_map(|f| [&(f.len() as u32).to_be_bytes(), *f].concat()).collect();
            import(&STANDARD.encode(format!("ssh-rsa {}", STANDARD.encode(blob))))
        };
        let mut modulus = [0xff; 129];
        modulus[0] = 0;
        assert_eq!(key(&modulus).unwrap().key_type, KeyType::Rsa);
        modulus[1] = 0x7f;
        for short in [&modulus[..], &[0x23], &[0; 200], &[]] {
            assert_eq!(key(short).err().unwrap().code, "InvalidKey.Format");
        }
    }
}
