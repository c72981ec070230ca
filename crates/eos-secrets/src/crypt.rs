//! One secret to bytes and back, by age with X25519 keys only.

use std::io::{Read, Write};

use age::{DecryptError, Decryptor, Encryptor};
use eos_model::{Diagnostic, Diagnostics, codes};
use zeroize::{Zeroize, Zeroizing};

use crate::identity::Identity;
use crate::recipients::Recipients;
use crate::secret::Secret;

/// Larger values are refused on both ways.
pub const LARGEST_SECRET: usize = 1024 * 1024;

/// The bytes of the file, readable by each of the recipients.
pub fn encrypt(secret: &Secret, recipients: &Recipients) -> Result<Vec<u8>, Diagnostics> {
    let refuse = |why: String| {
        Diagnostics::from(
            Diagnostic::error(codes::BAD_RECIPIENT, "the secret cannot be encrypted")
                .why(why)
                .fix("list the public key of everyone who may read it in secrets/recipients.txt"),
        )
    };
    if recipients.is_empty() {
        return Err(refuse("there is no recipient".to_owned()));
    }
    if secret.expose().len() > LARGEST_SECRET {
        return Err(Diagnostic::error(codes::BAD_VALUE, "the secret is too large")
            .why(format!("eos keeps secrets of up to {LARGEST_SECRET} bytes"))
            .fix("encrypt the file yourself, and make its password the secret")
            .into());
    }
    let keys = recipients.iter().map(|recipient| recipient.key() as &dyn age::Recipient);
    let encryptor = Encryptor::with_recipients(keys).map_err(|error| refuse(error.to_string()))?;
    let mut bytes = Vec::new();
    let mut writer = encryptor.wrap_output(&mut bytes).map_err(|error| refuse(error.to_string()))?;
    let written = writer.write_all(secret.expose().as_bytes()).and_then(|()| writer.finish().map(|_| ()));
    written.map_err(|error| refuse(error.to_string()))?;
    Ok(bytes)
}

/// The secret in the bytes of a file.
pub fn decrypt(bytes: &[u8], identity: &Identity) -> Result<Secret, Diagnostics> {
    let decryptor = Decryptor::new_buffered(bytes).map_err(|error| refused(error, identity))?;
    let reader = decryptor.decrypt(identity.keys()).map_err(|error| refused(error, identity))?;
    // The plain text is never longer than the file: growing would leave copies behind.
    let mut value = Zeroizing::new(Vec::with_capacity(bytes.len().min(LARGEST_SECRET) + 1));
    reader
        .take(LARGEST_SECRET as u64 + 1)
        .read_to_end(&mut value)
        .map_err(|error| damaged(&error.to_string()))?;
    if value.len() > LARGEST_SECRET {
        return Err(damaged("it is larger than any secret that eos writes"));
    }
    String::from_utf8(std::mem::take(&mut *value)).map(Secret::new).map_err(|error| {
        error.into_bytes().zeroize();
        damaged("what it holds is not UTF-8 text")
    })
}

fn refused(error: DecryptError, identity: &Identity) -> Diagnostics {
    match error {
        DecryptError::NoMatchingKeys => {
            let public = identity.public();
            Diagnostic::error(codes::CANNOT_DECRYPT, "the secret is not encrypted to your identity")
                .why(format!("{public} was not among the recipients when it was written"))
                .fix(format!("ask someone who can read it to run: eos secret recipients add {public}"))
                .into()
        }
        other => damaged(&other.to_string()),
    }
}

fn damaged(why: &str) -> Diagnostics {
    Diagnostic::error(codes::CANNOT_DECRYPT, "the file of the secret is damaged or cut short")
        .why(why)
        .fix("bring it back from git (git checkout -- secrets), or set the secret anew")
        .into()
}
