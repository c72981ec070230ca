//! New key pairs: RSA in PKCS#1 PEM, ED25519 in OpenSSH's format, with the fingerprints that EC2 gives to keys it
//! made itself (SHA-1 of the private key's PKCS#8 form for RSA, SHA-256 of the public key for ED25519).

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use hive_api::{ApiError, ApiResult};
use ring::signature::{Ed25519KeyPair, KeyPair as _};
use rsa::pkcs1::{EncodeRsaPrivateKey as _, LineEnding};
use rsa::pkcs8::EncodePrivateKey as _;
use rsa::rand_core::{CryptoRng, RngCore};
use rsa::traits::PublicKeyParts as _;
use sha1::{Digest as _, Sha1};
use sha2::Sha256;

use crate::core::call::Entropy;
use crate::core::text::colon_hex;
use crate::model::key_pair::KeyType;

/// Both halves; the private one is answered once and never stored.
#[derive(Clone)]
pub struct KeyMaterial {
    pub key_type: KeyType,
    pub private_pem: String,
    pub public_key: String,
    pub fingerprint: String,
}

const RSA_BITS: usize = 2048;

pub fn generate(key_type: KeyType, entropy: &Entropy) -> ApiResult<KeyMaterial> {
    match key_type {
        KeyType::Rsa => rsa(entropy),
        KeyType::Ed25519 => ed25519(entropy),
    }
}

/// Randomness from outside in the form that the rsa crate wants.
struct Source<'a>(&'a Entropy);

impl RngCore for Source<'_> {
    fn next_u32(&mut self) -> u32 {
        let mut bytes = [0; 4];
        self.fill_bytes(&mut bytes);
        u32::from_be_bytes(bytes)
    }

    fn next_u64(&mut self) -> u64 {
        let mut bytes = [0; 8];
        self.fill_bytes(&mut bytes);
        u64::from_be_bytes(bytes)
    }

    fn fill_bytes(&mut self, bytes: &mut [u8]) {
        (self.0)(bytes);
    }

    fn try_fill_bytes(&mut self, bytes: &mut [u8]) -> Result<(), rsa::rand_core::Error> {
        self.fill_bytes(bytes);
        Ok(())
    }
}

impl CryptoRng for Source<'_> {}

fn rsa(entropy: &Entropy) -> ApiResult<KeyMaterial> {
    let failed = |_| ApiError::internal("The key could not be made");
    let key = rsa::RsaPrivateKey::new(&mut Source(entropy), RSA_BITS)
        .map_err(|_| ApiError::internal("The key could not be made"))?;
    let pkcs8 = key.to_pkcs8_der().map_err(|_| ApiError::internal("The key could not be written"))?;
    let pem = key.to_pkcs1_pem(LineEnding::LF).map_err(failed)?;
    let mut blob = Vec::new();
    field(&mut blob, b"ssh-rsa");
    field(&mut blob, &mpint(&key.e().to_bytes_be()));
    field(&mut blob, &mpint(&key.n().to_bytes_be()));
    Ok(KeyMaterial {
        key_type: KeyType::Rsa,
        private_pem: pem.trim_end().to_owned(),
        public_key: format!("ssh-rsa {}", STANDARD.encode(blob)),
        fingerprint: colon_hex(&Sha1::digest(pkcs8.as_bytes())),
    })
}

fn ed25519(entropy: &Entropy) -> ApiResult<KeyMaterial> {
    let mut seed = [0; 32];
    entropy(&mut seed);
    let key = Ed25519KeyPair::from_seed_unchecked(&seed)
        .map_err(|_| ApiError::internal("The key could not be made"))?;
    let public = key.public_key().as_ref();
    let mut blob = Vec::new();
    field(&mut blob, b"ssh-ed25519");
    field(&mut blob, public);
    Ok(KeyMaterial {
        key_type: KeyType::Ed25519,
        private_pem: openssh_pem(&seed, public, &blob, entropy),
        public_key: format!("ssh-ed25519 {}", STANDARD.encode(&blob)),
        fingerprint: STANDARD.encode(Sha256::digest(&blob)),
    })
}

/// `openssh-key-v1` without a passphrase.
fn openssh_pem(seed: &[u8], public: &[u8], blob: &[u8], entropy: &Entropy) -> String {
    let mut check = [0; 4];
    entropy(&mut check);
    let mut secret = Vec::new();
    // The same number twice tells a reader that it decrypted well.
    secret.extend_from_slice(&check);
    secret.extend_from_slice(&check);
    field(&mut secret, b"ssh-ed25519");
    field(&mut secret, public);
    field(&mut secret, &[seed, public].concat());
    field(&mut secret, b"");
    for padding in 1u8.. {
        if secret.len() % 8 == 0 {
            break;
        }
        secret.push(padding);
    }
    let mut file = b"openssh-key-v1\0".to_vec();
    for text in [&b"none"[..], b"none", b""] {
        field(&mut file, text);
    }
    file.extend_from_slice(&1u32.to_be_bytes());
    field(&mut file, blob);
    field(&mut file, &secret);
    let mut pem = String::from("-----BEGIN OPENSSH PRIVATE KEY-----\n");
    for line in STANDARD.encode(file).as_bytes().chunks(70) {
        pem.extend(line.iter().map(|byte| *byte as char));
        pem.push('\n');
    }
    pem.push_str("-----END OPENSSH PRIVATE KEY-----");
    pem
}

fn field(out: &mut Vec<u8>, bytes: &[u8]) {
    out.extend_from_slice(&(bytes.len() as u32).to_be_bytes());
    out.extend_from_slice(bytes);
}

/// A positive integer: a leading zero keeps the first bit from being read as a sign.
fn mpint(bytes: &[u8]) -> Vec<u8> {
    let sign = bytes.first().filter(|byte| **byte >= 0x80).map(|_| 0);
    sign.into_iter().chain(bytes.iter().copied()).collect()
}
