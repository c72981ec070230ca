//! AWS Signature Version 4, verified in full: the header form and the presigned form, body hash, credential
//! scope, clock skew, session tokens, constant-time comparison.
//!
//! There is no nonce in SigV4: within the skew window a repeated request is accepted, as AWS does (D37).

mod authorization;
mod canonical;
mod secret_key;
mod verify;

pub use authorization::Scope;
pub use secret_key::SecretKey;
pub use verify::{Credential, MAX_SKEW_SECONDS, SignedRequest, Verified, verify};

/// `AWS4-HMAC-SHA256`, the only algorithm spoken here.
pub(crate) const ALGORITHM: &str = "AWS4-HMAC-SHA256";
