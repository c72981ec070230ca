//! The provider's own door, without tofu: who gets in, and how soon it is open.

use std::io::{BufRead, BufReader, ErrorKind, Read, Write};
use std::os::unix::fs::PermissionsExt;
use std::os::unix::net::UnixStream;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::time::{Duration, Instant};

use base64::Engine;
use rcgen::{CertificateParams, KeyPair};
use tokio_rustls::rustls::client::ResolvesClientCert;
use tokio_rustls::rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use tokio_rustls::rustls::crypto::{ring, verify_tls13_signature};
use tokio_rustls::rustls::pki_types::{CertificateDer, PrivatePkcs8KeyDer, ServerName, UnixTime};
use tokio_rustls::rustls::sign::{CertifiedKey, SigningKey};
use tokio_rustls::rustls::{
    ClientConfig, ClientConnection, DigitallySignedStruct, Error, SignatureScheme, StreamOwned,
};

use crate::unit::Bench;

struct Provider {
    process: Child,
    door: Door,
}

impl Drop for Provider {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

/// Where it listens, and the certificate that it shows.
struct Door {
    socket: String,
    certificate: CertificateDer<'static>,
}

#[derive(Debug, Clone)]
struct Client {
    certificate: CertificateDer<'static>,
    key: Arc<dyn SigningKey>,
    pem: String,
}

/// Shows the certificate whether or not the key fits it.
impl ResolvesClientCert for Client {
    fn resolve(&self, _: &[&[u8]], _: &[SignatureScheme]) -> Option<Arc<CertifiedKey>> {
        Some(Arc::new(CertifiedKey::new(vec![self.certificate.clone()], self.key.clone())))
    }

    fn has_certs(&self) -> bool {
        true
    }
}

fn client() -> Client {
    client_with(&KeyPair::generate().unwrap())
}

fn client_with(key: &KeyPair) -> Client {
    let certificate = CertificateParams::new(["localhost".to_owned()]).unwrap().self_signed(key).unwrap();
    Client {
        certificate: certificate.der().clone(),
        key: ring::sign::any_supported_type(&PrivatePkcs8KeyDer::from(key.serialize_der()).into()).unwrap(),
        pem: certificate.pem(),
    }
}

fn command(temporary: &Path) -> Command {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.env_clear().env("TMPDIR", temporary).env(eos_provider::COOKIE.0, eos_provider::COOKIE.1);
    command
}

fn start(temporary: &Path, allowed: &Client) -> Provider {
    let begin = Instant::now();
    let mut process = command(temporary)
        .env("PLUGIN_PROTOCOL_VERSIONS", "5,6")
        .env("PLUGIN_CLIENT_CERT", &allowed.pem)
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut line = String::new();
    BufReader::new(process.stdout.take().unwrap()).read_line(&mut line).unwrap();
    println!("start to handshake: {:.1} ms", begin.elapsed().as_secs_f64() * 1000.0);
    let fields: Vec<&str> = line.trim().split('|').collect();
    assert_eq!((&fields[..3], fields[4]), (&["1", "6", "unix"][..], "grpc"), "{line}");
    let certificate = base64::engine::general_purpose::STANDARD_NO_PAD.decode(fields[5]).unwrap();
    Provider { process, door: Door { socket: fields[3].to_owned(), certificate: certificate.into() } }
}

/// go-plugin takes the certificate of the handshake for a root; here it is compared.
#[derive(Debug)]
struct Expected(CertificateDer<'static>);

impl ServerCertVerifier for Expected {
    fn verify_server_cert(
        &self,
        certificate: &CertificateDer<'_>,
        _: &[CertificateDer<'_>],
        _: &ServerName<'_>,
        _: &[u8],
        _: UnixTime,
    ) -> Result<ServerCertVerified, Error> {
        assert_eq!(*certificate, self.0);
        Ok(ServerCertVerified::assertion())
    }

    fn verify_tls12_signature(
        &self,
        _: &[u8],
        _: &CertificateDer<'_>,
        _: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        panic!("TLS 1.2 is not spoken");
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        let algorithms = ring::default_provider().signature_verification_algorithms;
        verify_tls13_signature(message, certificate, signature, &algorithms)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        ring::default_provider().signature_verification_algorithms.supported_schemes()
    }
}

/// Speaks TLS and the first words of HTTP/2, and gives what comes back.
fn knock(door: &Door, with: Option<&Client>) -> std::io::Result<Vec<u8>> {
    let builder = ClientConfig::builder_with_provider(Arc::new(ring::default_provider()))
        .with_safe_default_protocol_versions()
        .unwrap()
        .dangerous()
        .with_custom_certificate_verifier(Arc::new(Expected(door.certificate.clone())));
    let mut config = match with {
        Some(client) => builder.with_client_cert_resolver(Arc::new(client.clone())),
        None => builder.with_no_client_auth(),
    };
    config.alpn_protocols = vec![b"h2".to_vec()];
    let stream = UnixStream::connect(&door.socket)?;
    stream.set_read_timeout(Some(Duration::from_secs(20)))?;
    let connection = ClientConnection::new(Arc::new(config), "localhost".try_into().unwrap()).unwrap();
    let mut stream = StreamOwned::new(connection, stream);
    stream.write_all(b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\0\0\0\x04\0\0\0\0\0")?;
    let mut heard = [0; 9];
    stream.read_exact(&mut heard)?;
    Ok(heard.to_vec())
}

/// An alert, unless the door was shut before the first word was written.
fn is_refused(door: &Door, client: Option<&Client>) {
    let error = knock(door, client).unwrap_err();
    assert!(is_shut(&error), "{error}");
}

fn is_shut(error: &std::io::Error) -> bool {
    matches!(error.kind(), ErrorKind::BrokenPipe | ErrorKind::ConnectionReset)
        || error.to_string().contains("received fatal alert")
}

/// What a stranger is given: the socket, and in base64 the server's certificate, that of its client, and maybe its key.
pub const STRANGER: &str = "EOS_TEST_STRANGER";
const NOBODY: u32 = 65534;

/// This program as a process of another user, which tries to get in and says how each try ended.
pub fn stranger(given: &str) {
    let given: Vec<&str> = given.split('|').collect();
    let decoded = |text: &str| base64::engine::general_purpose::STANDARD.decode(text).unwrap();
    let door = Door { socket: given[0].to_owned(), certificate: decoded(given[1]).into() };
    let own = client();
    let thief = Client { certificate: decoded(given[2]).into(), ..own.clone() };
    let mut tries =
        vec![("nothing", None), ("a certificate of his own", Some(own)), ("the certificate", Some(thief))];
    if let Some(key) = given.get(3) {
        let key = PrivatePkcs8KeyDer::from(decoded(key));
        let key = ring::sign::any_supported_type(&key.into()).unwrap();
        let certificate = decoded(given[2]).into();
        tries.push(("the certificate and its key", Some(Client { certificate, key, pem: String::new() })));
    }
    let uid = rustix::process::geteuid().as_raw();
    for (with, client) in tries {
        let ended = match knock(&door, client.as_ref()) {
            Ok(_) => "in".to_owned(),
            Err(error) if error.kind() == ErrorKind::PermissionDenied => "no way to the socket".to_owned(),
            Err(error) if is_shut(&error) => "refused".to_owned(),
            Err(error) => error.to_string(),
        };
        println!("{uid} with {with}: {ended}");
    }
}

/// How each try of a process of another user ends. It may be given the key as well, to see that it can get in at all.
fn tries_of_another_user(door: &Door, allowed: &Client, key: Option<&KeyPair>) -> Vec<String> {
    let encoded = |bytes: &[u8]| base64::engine::general_purpose::STANDARD.encode(bytes);
    let mut given = vec![door.socket.clone(), encoded(&door.certificate), encoded(&allowed.certificate)];
    given.extend(key.map(|key| encoded(&key.serialize_der())));
    // By this name a program runs itself, also where the other user cannot go to its file.
    let mut stranger = Command::new("/proc/self/exe");
    let said = stranger.env_clear().env(STRANGER, given.join("|")).uid(NOBODY).gid(NOBODY).output().unwrap();
    assert!(said.status.success(), "{}", String::from_utf8_lossy(&said.stderr));
    String::from_utf8(said.stdout).unwrap().lines().map(str::to_owned).collect()
}

/// Another user of the machine, who tries: first the folder is shut to him, then, opened up on purpose, only the
/// certificate stands between.
fn another_user_stays_outside(door: &Door, temporary: &Path, allowed: &Client, key: &KeyPair) {
    let open = |path: &Path, mode: u32| {
        std::fs::set_permissions(path, std::fs::Permissions::from_mode(mode)).unwrap();
    };
    // The folder above is private too, and so is the socket where its mode counts: the one between must do alone.
    open(temporary, 0o755);
    open(Path::new(&door.socket), 0o777);
    let ends = |how: [&str; 3]| {
        let tries = ["nothing", "a certificate of his own", "the certificate"];
        let ends = tries.iter().zip(how).map(|(with, how)| format!("{NOBODY} with {with}: {how}"));
        ends.collect::<Vec<_>>()
    };
    assert_eq!(tries_of_another_user(door, allowed, None), ends(["no way to the socket"; 3]));
    open(Path::new(&door.socket).parent().unwrap(), 0o755);
    let mut expected = ends(["refused"; 3]);
    assert_eq!(tries_of_another_user(door, allowed, None), expected);
    // With the key he is the client: it is the certificate that kept him out.
    expected.push(format!("{NOBODY} with the certificate and its key: in"));
    assert_eq!(tries_of_another_user(door, allowed, Some(key)), expected);
}

pub fn certificate(_bench: &Bench) {
    let temporary = tempfile::tempdir().unwrap();
    let key = KeyPair::generate().unwrap();
    let (allowed, other) = (client_with(&key), client());
    let provider = start(temporary.path(), &allowed);
    let door = &provider.door;

    // The right one hears the server's settings frame; nobody else hears anything.
    assert_eq!(knock(door, Some(&allowed)).unwrap()[3], 4);
    for refused in [Some(&other), None] {
        is_refused(door, refused);
    }
    // One with the certificate and without its key.
    let thief =
        Client { certificate: allowed.certificate.clone(), key: other.key.clone(), pem: String::new() };
    is_refused(door, Some(&thief));

    let folder = Path::new(&door.socket).parent().unwrap();
    assert_eq!(std::fs::metadata(folder).unwrap().permissions().mode() & 0o777, 0o700);
    if rustix::process::geteuid().is_root() {
        another_user_stays_outside(door, temporary.path(), &allowed, &key);
    } else {
        println!("SKIPPED: only root can be another user for a moment");
    }
    // Those who were refused have not hurt it.
    assert!(knock(door, Some(&allowed)).is_ok());

    // Without a client to tell from others, or with another protocol, nothing is served.
    let refused = command(temporary.path()).output().unwrap();
    assert!(!refused.status.success() && refused.stdout.is_empty());
    assert!(String::from_utf8_lossy(&refused.stderr).contains("PLUGIN_CLIENT_CERT"));
    let refused = command(temporary.path())
        .env("PLUGIN_CLIENT_CERT", &allowed.pem)
        .env("PLUGIN_PROTOCOL_VERSIONS", "4,5")
        .output()
        .unwrap();
    assert!(String::from_utf8_lossy(&refused.stderr).contains("speaks plugin protocols 4,5"));
}
