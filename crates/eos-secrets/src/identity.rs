//! The identity file: the key that decrypts, outside of the estate, readable by its owner alone.
//!
//! Its form is age's own, so that `age -i` takes it. It is never overwritten: losing it loses the secrets.

use std::fmt::Write as _;
use std::fs;
use std::io::{ErrorKind, Write as _};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt, PermissionsExt};

use age::secrecy::ExposeSecret;
use age::x25519;
use camino::Utf8Path;
use eos_model::{Diagnostic, Diagnostics, Place, codes};
use zeroize::Zeroizing;

use crate::recipients::Recipient;

/// One or more keys; the first is the one that others encrypt to.
pub struct Identity {
    first: x25519::Identity,
    others: Vec<x25519::Identity>,
}

impl Identity {
    /// Makes a new identity and its file, mode 0600; folders that are missing get 0700.
    pub fn create(path: &Utf8Path) -> Result<Identity, Diagnostics> {
        let identity = Identity { first: x25519::Identity::generate(), others: Vec::new() };
        let mut text = Zeroizing::new(String::with_capacity(256));
        let key = identity.first.to_string();
        // Writing to a string cannot fail.
        let _ = writeln!(
            text,
            "# identity of eos, keep it secret and back it up\n# public key: {}",
            identity.public()
        );
        let _ = writeln!(text, "{}", key.expose_secret());
        write_new(path, text.as_bytes()).map_err(|error| match error.kind() {
            ErrorKind::AlreadyExists => {
                Diagnostic::error(codes::CANNOT_WRITE, format!("{path} is already there"))
                    .at(Place::file(path))
                    .why("an identity is never overwritten: what was encrypted to it could not be read again")
                    .fix("use the identity that is there, or give another path")
            }
            _ => Diagnostic::error(codes::CANNOT_WRITE, format!("the identity {path} cannot be written"))
                .at(Place::file(path))
                .why(error.to_string())
                .fix("give a path in a folder you may write to"),
        })?;
        Ok(identity)
    }

    /// Reads an identity file.
    pub fn load(path: &Utf8Path) -> Result<Identity, Diagnostics> {
        let refuse = |message: String, why: String, fix: String| {
            Diagnostics::from(
                Diagnostic::error(codes::NO_IDENTITY, message).at(Place::file(path)).why(why).fix(fix),
            )
        };
        let ask = "put your identity file back there, or name it: EOS_IDENTITY=<file>. A new one reads nothing \
                   until somebody who can has run: eos secret recipients add <its public key>";
        let text = fs::read(path).map(Zeroizing::new).map_err(|error| {
            refuse(format!("the identity {path} cannot be read"), error.to_string(), ask.to_owned())
        })?;
        let mode = fs::metadata(path).map(|metadata| metadata.permissions().mode() & 0o777).unwrap_or(0);
        if mode & 0o077 != 0 {
            return Err(refuse(
                format!("the identity {path} is open to others (mode {mode:o})"),
                "whoever reads it can read every secret".to_owned(),
                format!("chmod 600 {path}"),
            ));
        }
        let mut keys = Vec::new();
        let lines = std::str::from_utf8(&text).unwrap_or("not UTF-8").lines().map(str::trim);
        for line in lines.filter(|line| !line.is_empty() && !line.starts_with('#')) {
            // The line is not shown: it may be a damaged key.
            keys.push(line.parse::<x25519::Identity>().map_err(|problem| {
                refuse(format!("{path} is not an identity file"), problem.to_owned(), ask.to_owned())
            })?);
        }
        if keys.is_empty() {
            return Err(refuse(
                format!("{path} holds no key"),
                "the file is empty".to_owned(),
                ask.to_owned(),
            ));
        }
        let first = keys.remove(0);
        Ok(Identity { first, others: keys })
    }

    /// What others encrypt to.
    pub fn public(&self) -> Recipient {
        Recipient::of(self.first.to_public())
    }

    pub(crate) fn keys(&self) -> impl Iterator<Item = &dyn age::Identity> {
        std::iter::once(&self.first).chain(&self.others).map(|key| key as &dyn age::Identity)
    }
}

impl std::fmt::Debug for Identity {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Identity({})", self.public())
    }
}

/// Writes beside the path and links: the file is there whole or not at all, and never replaces another.
fn write_new(path: &Utf8Path, bytes: &[u8]) -> std::io::Result<()> {
    let folder = path.parent().filter(|folder| !folder.as_str().is_empty()).unwrap_or(Utf8Path::new("."));
    fs::DirBuilder::new().recursive(true).mode(0o700).create(folder)?;
    let mut random = [0_u8; 8];
    getrandom::fill(&mut random).map_err(std::io::Error::other)?;
    let temporary = folder.join(format!(".identity-{:016x}", u64::from_ne_bytes(random)));
    let written = (|| {
        let mut file = fs::OpenOptions::new().write(true).create_new(true).mode(0o600).open(&temporary)?;
        file.write_all(bytes)?;
        file.sync_all()?;
        fs::hard_link(&temporary, path)
    })();
    let removed = fs::remove_file(&temporary);
    written?;
    removed?;
    fs::File::open(folder)?.sync_all()
}
