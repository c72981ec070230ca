//! Secrets in an estate from end to end: who can read what, and what happens to those who cannot.

#![allow(clippy::unwrap_used, reason = "helpers of tests")]

use std::os::unix::fs::PermissionsExt;

use camino::{Utf8Path, Utf8PathBuf};
use eos_model::{Diagnostics, SecretRef};
use eos_secrets::{
    Identity, Recipient, Recipients, Secret, decrypt, encrypt, file_of, list, newest, read, read_recipients,
    reencrypt_all,
};

struct Estate {
    _folder: tempfile::TempDir,
    root: Utf8PathBuf,
}

impl Estate {
    fn new() -> Estate {
        let folder = tempfile::tempdir().unwrap();
        let root = Utf8PathBuf::from_path_buf(folder.path().to_owned()).unwrap();
        Estate { _folder: folder, root }
    }

    fn identity(&self, who: &str) -> Identity {
        Identity::create(&self.root.join("keys").join(who)).unwrap()
    }

    fn put(&self, file: &Utf8Path, bytes: &[u8]) {
        let path = self.root.join(file);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, bytes).unwrap();
    }
}

fn secret_ref(text: &str) -> SecretRef {
    format!("secret://{text}").parse().unwrap()
}

fn recipients(of: &[&Identity]) -> Recipients {
    let mut all = Recipients::default();
    for identity in of {
        all.add(identity.public(), "someone").unwrap();
    }
    all
}

fn code(found: &Diagnostics) -> &'static str {
    let diagnostic = &found.0[0];
    assert!(diagnostic.why.is_some() && diagnostic.fix.is_some(), "{diagnostic:?}");
    diagnostic.code.as_str()
}

fn refused<T>(result: Result<T, Diagnostics>) -> Diagnostics {
    result.map(|_| ()).expect_err("a refusal")
}

#[test]
fn both_recipients_read_and_a_stranger_does_not() {
    let estate = Estate::new();
    let (ann, bob, eve) = (estate.identity("ann"), estate.identity("bob"), estate.identity("eve"));
    let bytes = encrypt(&Secret::new("hunter2 é\n".to_owned()), &recipients(&[&ann, &bob])).unwrap();
    for identity in [&ann, &bob] {
        assert_eq!(decrypt(&bytes, identity).unwrap().expose(), "hunter2 é\n");
    }
    let found = refused(decrypt(&bytes, &eve));
    assert_eq!(code(&found), "E0502");
    assert!(found.0[0].fix.as_ref().unwrap().contains(&eve.public().to_string()));
    assert!(!bytes.windows(7).any(|window| window == b"hunter2"));
    assert_eq!(code(&refused(encrypt(&Secret::new(String::new()), &Recipients::default()))), "E0505");
}

#[test]
fn a_damaged_file_is_refused_wherever_it_is_cut_or_changed() {
    let estate = Estate::new();
    let ann = estate.identity("ann");
    let bytes = encrypt(&Secret::new("hunter2".to_owned()), &recipients(&[&ann])).unwrap();
    for length in 0..bytes.len() {
        assert_eq!(code(&refused(decrypt(&bytes[..length], &ann))), "E0502", "cut at {length}");
    }
    for at in 0..bytes.len() {
        let mut changed = bytes.clone();
        changed[at] ^= 1;
        assert!(decrypt(&changed, &ann).is_err(), "changed at {at}");
    }
}

#[test]
fn a_removed_recipient_cannot_read_what_is_encrypted_anew() {
    let estate = Estate::new();
    let (ann, bob) = (estate.identity("ann"), estate.identity("bob"));
    let mut both = recipients(&[&ann, &bob]);
    let secrets = [
        secret_ref("production/grafana/admin_password?v=1"),
        secret_ref("production/grafana/admin_password?v=2"),
    ];
    for secret in &secrets {
        estate.put(&file_of(secret), &encrypt(&Secret::new(secret.to_string()), &both).unwrap());
    }
    assert_eq!(read(&estate.root, &secrets[1], &bob).unwrap().expose(), secrets[1].to_string());

    both.remove(&bob.public()).unwrap();
    let files = reencrypt_all(&estate.root, &ann, &both).unwrap();
    assert_eq!(files.len(), 2);
    // Nothing is written by the call itself.
    assert!(read(&estate.root, &secrets[1], &bob).is_ok());
    files.iter().for_each(|(file, bytes)| estate.put(file, bytes));
    assert_eq!(read(&estate.root, &secrets[1], &ann).unwrap().expose(), secrets[1].to_string());
    let found = refused(read(&estate.root, &secrets[1], &bob));
    assert_eq!(code(&found), "E0502");
    assert_eq!(found.0[0].place.as_ref().unwrap().file, file_of(&secrets[1]));
    assert_eq!(refused(reencrypt_all(&estate.root, &bob, &both)).0.len(), 2);
}

#[test]
fn secrets_are_listed_in_order_and_other_files_are_not() {
    let estate = Estate::new();
    assert_eq!(list(&estate.root).unwrap(), []);
    for file in [
        "production/grafana/admin_password.v10.age",
        "production/grafana/admin_password.v2.age",
        "production/john.doe/a.v1.v3.age",
        "dev/grafana/key.v1.age",
        "production/grafana/admin_password.v03.age",
        "production/grafana/admin_password.v0.age",
        "production/grafana/notes.txt",
        "production/Bad/key.v1.age",
        "recipients.txt",
    ] {
        estate.put(&Utf8Path::new("secrets").join(file), b"");
    }
    std::os::unix::fs::symlink("grafana", estate.root.join("secrets/production/link")).unwrap();
    let all = list(&estate.root).unwrap();
    let shown: Vec<String> = all.iter().map(ToString::to_string).collect();
    assert_eq!(
        shown,
        [
            "secret://dev/grafana/key?v=1",
            "secret://production/grafana/admin_password?v=2",
            "secret://production/grafana/admin_password?v=10",
            "secret://production/john.doe/a.v1?v=3",
        ]
    );
    let wanted = secret_ref("production/grafana/admin_password?v=1");
    assert_eq!(newest(&all, &wanted.env, &wanted.name, &wanted.key).unwrap().version, 10);
    let found = refused(read(&estate.root, &wanted, &estate.identity("ann")));
    assert_eq!(code(&found), "E0503");
    assert!(found.0[0].why.as_ref().unwrap().ends_with("the newest version is 10"));
}

#[test]
fn an_identity_is_private_whole_and_never_overwritten() {
    let estate = Estate::new();
    let path = estate.root.join("new/folder/identity");
    let made = Identity::create(&path).unwrap();
    let mode = |path: &Utf8Path| std::fs::metadata(path).unwrap().permissions().mode() & 0o777;
    assert_eq!((mode(&path), mode(path.parent().unwrap())), (0o600, 0o700));
    assert_eq!(Identity::load(&path).unwrap().public(), made.public());
    let before = std::fs::read(&path).unwrap();
    assert_eq!(code(&refused(Identity::create(&path))), "E0106");
    assert_eq!(std::fs::read(&path).unwrap(), before);
    assert_eq!(std::fs::read_dir(path.parent().unwrap()).unwrap().count(), 1, "nothing is left beside it");

    let key = String::from_utf8(before).unwrap().lines().last().unwrap().to_owned();
    assert!(key.starts_with("AGE-SECRET-KEY-1"));
    assert_eq!(format!("{made:?}"), format!("Identity({})", made.public()));

    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o644)).unwrap();
    let found = refused(Identity::load(&path));
    assert_eq!(
        (code(&found), found.0[0].fix.as_deref()),
        ("E0501", Some(format!("chmod 600 {path}").as_str()))
    );

    assert_eq!(code(&refused(Identity::load(&estate.root.join("none")))), "E0501");
    let broken = estate.root.join("broken");
    for text in ["", "# only a comment\n", &key[..40], "\u{1}"] {
        std::fs::write(&broken, text).unwrap();
        std::fs::set_permissions(&broken, std::fs::Permissions::from_mode(0o600)).unwrap();
        let found = refused(Identity::load(&broken));
        assert_eq!(code(&found), "E0501", "{text:?}");
        assert!(!format!("{found:?}").contains("AGE-SECRET"), "a damaged key is not shown");
    }
}

#[test]
fn recipients_keep_their_comments_and_report_every_bad_line() {
    let estate = Estate::new();
    let (ann, bob) = (estate.identity("ann").public(), estate.identity("bob").public());
    let file = Utf8Path::new("secrets/recipients.txt");
    let text = format!("# Who may read\n\n# Ann\n{ann}\n");
    let mut all = Recipients::parse(file, &text).unwrap();
    all.add(bob.clone(), "Bob\nfrom accounts").unwrap();
    assert_eq!(all.format(), format!("{text}# Bob from accounts\n{bob}\n"));
    assert_eq!(all.with_owners(), [(&ann, Some("Ann")), (&bob, Some("Bob from accounts"))]);
    assert_eq!(all.add(ann.clone(), "again").unwrap_err().0[0].code.as_str(), "E0505");
    all.remove(&bob).unwrap();
    assert_eq!(all.format(), text);
    assert_eq!(all.remove(&bob).unwrap_err().0[0].code.as_str(), "E0505");
    assert_eq!(all.remove(&ann).unwrap_err().0[0].message, format!("{ann} is the only recipient"));

    let secret = std::fs::read_to_string(estate.root.join("keys/ann")).unwrap();
    let secret = secret.lines().last().unwrap();
    let found = refused(Recipients::parse(file, &format!("age1nonsense\n{ann}\n{secret}\n")));
    let lines: Vec<_> =
        found.0.iter().map(|found| (found.code.as_str(), found.place.as_ref().unwrap().line)).collect();
    assert_eq!(lines, [("E0505", 1), ("E0505", 3)]);
    assert!(!format!("{found:?}").contains(&secret[16..]), "a secret key is not shown");
    assert!("age1".parse::<Recipient>().is_err());

    assert!(read_recipients(&estate.root).unwrap().is_empty());
    estate.put(file, text.as_bytes());
    assert!(read_recipients(&estate.root).unwrap().contains(&ann));
}

/// Whoever can commit could else have secrets encrypted for somebody else, or have a command wait for ever.
#[test]
fn links_and_pipes_are_not_read() {
    let (estate, outside) = (Estate::new(), Estate::new());
    let identity = estate.identity("me");
    let mine = recipients(&[&identity]);
    outside.put("recipients.txt".into(), mine.format().as_bytes());
    outside.put("a.age".into(), &encrypt(&Secret::new("hunter2".to_owned()), &mine).unwrap());
    estate.put("secrets/kept".into(), b"");
    let link = |from: &str, to: &str| {
        std::os::unix::fs::symlink(outside.root.join(from), estate.root.join(to)).unwrap();
    };
    link("recipients.txt", "secrets/recipients.txt");
    assert_eq!(code(&refused(read_recipients(&estate.root))), "E0206");
    let secret = secret_ref("production/db/password?v=1");
    let file = estate.root.join(file_of(&secret));
    std::fs::create_dir_all(file.parent().unwrap()).unwrap();
    link("a.age", file_of(&secret).as_str());
    assert_eq!(code(&refused(read(&estate.root, &secret, &identity))), "E0206");
    std::fs::remove_file(&file).unwrap();
    assert!(std::process::Command::new("mkfifo").arg(&file).status().unwrap().success());
    assert_eq!(code(&refused(read(&estate.root, &secret, &identity))), "E0110");
    // What lies behind a linked folder is not the estate's either; the list passes it over.
    let other = secret_ref("production/other/a?v=1");
    outside.put("folder/a.v1.age".into(), &encrypt(&Secret::new("hunter2".to_owned()), &mine).unwrap());
    link("folder", "secrets/production/other");
    assert_eq!(code(&refused(read(&estate.root, &other, &identity))), "E0206");
    assert!(list(&estate.root).unwrap().is_empty());
}
