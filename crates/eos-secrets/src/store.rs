//! Where secrets lie in an estate. Reads only; what is to be written is returned.

use std::fs;
use std::io::{Error, ErrorKind};

use camino::{Utf8Path, Utf8PathBuf};
use eos_model::{Diagnostic, Diagnostics, EnvName, Name, Place, SecretRef, codes};

use crate::crypt::{decrypt, encrypt};
use crate::file;
use crate::identity::Identity;
use crate::recipients::Recipients;
use crate::secret::Secret;
use crate::state_key::{self, STATE_KEY_FILE};

/// The estate's folder of secrets.
pub const FOLDER: &str = "secrets";
/// Relative to the estate's root.
pub const RECIPIENTS_FILE: &str = "secrets/recipients.txt";

/// `secrets/production/grafana/admin_password.v3.age`, relative to the estate's root.
pub fn file_of(secret: &SecretRef) -> Utf8PathBuf {
    let SecretRef { env, name, key, version } = secret;
    Utf8PathBuf::from(format!("secrets/{env}/{name}/{key}.v{version}.age"))
}

/// Every secret of the estate with all its versions, sorted. Files that are none are passed over, and so are
/// symbolic links, which could lead out of the estate.
pub fn list(estate_root: &Utf8Path) -> Result<Vec<SecretRef>, Diagnostics> {
    let mut all = Vec::new();
    for env in folders(estate_root, FOLDER)? {
        let Ok(env_name) = env.parse::<EnvName>() else { continue };
        for name in folders(estate_root, &format!("secrets/{env}"))? {
            let Ok(name) = name.parse::<Name>() else { continue };
            let files = entries(estate_root, &format!("secrets/{env}/{name}"), fs::FileType::is_file)?;
            all.extend(files.iter().filter_map(|file| secret_of(&env_name, &name, file)));
        }
    }
    all.sort();
    Ok(all)
}

/// The secret that a path of the estate is the file of.
pub fn at(path: &Utf8Path) -> Option<SecretRef> {
    let mut parts = path.strip_prefix(FOLDER).ok()?.components().map(|part| part.as_str());
    let (env, name, file) = (parts.next()?.parse().ok()?, parts.next()?.parse().ok()?, parts.next()?);
    secret_of(&env, &name, file).filter(|secret| file_of(secret) == path)
}

/// The reference with the highest version of one secret.
pub fn newest<'a>(all: &'a [SecretRef], env: &EnvName, name: &Name, key: &Name) -> Option<&'a SecretRef> {
    let same = |secret: &&SecretRef| (&secret.env, &secret.name, &secret.key) == (env, name, key);
    all.iter().filter(same).max_by_key(|secret| secret.version)
}

fn secret_of(env: &EnvName, name: &Name, file: &str) -> Option<SecretRef> {
    let (key, version) = file.strip_suffix(".age")?.rsplit_once(".v")?;
    let (key, version) = (key.parse().ok()?, version.parse().ok().filter(|version| *version > 0)?);
    let secret = SecretRef { env: env.clone(), name: name.clone(), key, version };
    // One secret has one file: `x.v03.age` is not version 3.
    (file_of(&secret).file_name() == Some(file)).then_some(secret)
}

fn folders(root: &Utf8Path, folder: &str) -> Result<Vec<String>, Diagnostics> {
    entries(root, folder, fs::FileType::is_dir)
}

/// Names in a folder of the estate; none when the folder is missing.
fn entries(
    root: &Utf8Path,
    folder: &str,
    wanted: fn(&fs::FileType) -> bool,
) -> Result<Vec<String>, Diagnostics> {
    let read = || -> std::io::Result<Vec<String>> {
        let mut names = Vec::new();
        for entry in fs::read_dir(root.join(folder))? {
            let entry = entry?;
            if let (true, Ok(name)) = (wanted(&entry.file_type()?), entry.file_name().into_string()) {
                names.push(name);
            }
        }
        Ok(names)
    };
    match read() {
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(Vec::new()),
        result => result.map_err(|error| file::cannot_read(Utf8Path::new(folder), &error).into()),
    }
}

/// The value of a secret.
pub fn read(estate_root: &Utf8Path, secret: &SecretRef, identity: &Identity) -> Result<Secret, Diagnostics> {
    let path = file_of(secret);
    let bytes = file::read(estate_root, &path)?.ok_or_else(|| unknown(estate_root, secret, &path))?;
    decrypt(&bytes, identity).map_err(|found| at_file(found, &path))
}

fn unknown(estate_root: &Utf8Path, secret: &SecretRef, file: &Utf8Path) -> Diagnostics {
    let SecretRef { env, name, key, .. } = secret;
    let all = list(estate_root).unwrap_or_default();
    let (why, fix) = match newest(&all, env, name, key) {
        Some(newest) => (
            format!("{file} is not there; the newest version is {}", newest.version),
            format!("refer to {newest}"),
        ),
        None => (
            format!("{file} is not there"),
            format!("eos secret set {name}/{key} --env {env}, or eos secret rotate for a random one"),
        ),
    };
    Diagnostic::error(codes::UNKNOWN_SECRET, format!("there is no {secret}")).why(why).fix(fix).into()
}

fn at_file(found: Diagnostics, file: &Utf8Path) -> Diagnostics {
    Diagnostics(found.0.into_iter().map(|diagnostic| diagnostic.at(Place::file(file))).collect())
}

/// The recipients of the estate; none when the file is missing.
pub fn read_recipients(estate_root: &Utf8Path) -> Result<Recipients, Diagnostics> {
    let path = Utf8Path::new(RECIPIENTS_FILE);
    let Some(bytes) = file::read(estate_root, path)? else { return Ok(Recipients::default()) };
    let text = String::from_utf8(bytes).map_err(|error| file::cannot_read(path, &Error::other(error)))?;
    Recipients::parse(path, &text)
}

/// Every file of every secret encrypted anew, for the caller to commit; or everything that cannot be read.
pub fn reencrypt_all(
    estate_root: &Utf8Path,
    identity: &Identity,
    recipients: &Recipients,
) -> Result<Vec<(Utf8PathBuf, Vec<u8>)>, Diagnostics> {
    let mut files = Vec::new();
    let mut found = Diagnostics::new();
    for secret in list(estate_root)? {
        match read(estate_root, &secret, identity).and_then(|value| encrypt(&value, recipients)) {
            Ok(bytes) => files.push((file_of(&secret), bytes)),
            Err(problems) => found.extend(problems),
        }
    }
    match state_key::read_text(estate_root, identity) {
        Ok(Some(key)) => files.push((STATE_KEY_FILE.into(), encrypt(&key, recipients)?)),
        Ok(None) => {}
        Err(problems) => found.extend(problems),
    }
    if found.is_empty() { Ok(files) } else { Err(found) }
}
