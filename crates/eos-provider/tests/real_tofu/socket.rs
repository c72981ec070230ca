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
    socket: String,
    certificate: CertificateDer<'static>,
}

impl Drop for Provider {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
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
    let key = KeyPair::generate().unwrap();
    let certificate = CertificateParams::new(["localhost".to_owned()]).unwrap().self_signed(&key).unwrap();
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
    Provider { process, socket: fields[3].to_owned(), certificate: certificate.into() }
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
fn knock(provider: &Provider, with: Option<&Client>) -> std::io::Result<Vec<u8>> {
    let builder = ClientConfig::builder_with_provider(Arc::new(ring::default_provider()))
        .with_safe_default_protocol_versions()
        .unwrap()
        .dangerous()
        .with_custom_certificate_verifier(Arc::new(Expected(provider.certificate.clone())));
    let mut config = match with {
        Some(client) => builder.with_client_cert_resolver(Arc::new(client.clone())),
        None => builder.with_no_client_auth(),
    };
    config.alpn_protocols = vec![b"h2".to_vec()];
    let stream = UnixStream::connect(&provider.socket)?;
    stream.set_read_timeout(Some(Duration::from_secs(20)))?;
    let connection = ClientConnection::new(Arc::new(config), "localhost".try_into().unwrap()).unwrap();
    let mut stream = StreamOwned::new(connection, stream);
    stream.write_all(b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\0\0\0\x04\0\0\0\0\0")?;
    let mut heard = [0; 9];
    stream.read_exact(&mut heard)?;
    Ok(heard.to_vec())
}

/// An alert, unless the door was shut before the first word was written.
fn is_refused(provider: &Provider, client: Option<&Client>) {
    let error = knock(provider, client).unwrap_err();
    let shut = matches!(error.kind(), ErrorKind::BrokenPipe | ErrorKind::ConnectionReset);
    assert!(shut || error.to_string().contains("received fatal alert"), "{error}");
}

pub fn certificate(_bench: &Bench) {
    let temporary = tempfile::tempdir().unwrap();
    let (allowed, other) = (client(), client());
    let provider = start(temporary.path(), &allowed);

    // The right one hears the server's settings frame; nobody else hears anything.
    assert_eq!(knock(&provider, Some(&allowed)).unwrap()[3], 4);
    for refused in [Some(&other), None] {
        is_refused(&provider, refused);
    }
    // One with the certificate and without its key.
    let thief =
        Client { certificate: allowed.certificate.clone(), key: other.key.clone(), pem: String::new() };
    is_refused(&provider, Some(&thief));
    // Those who were refused have not hurt it.
    assert!(knock(&provider, Some(&allowed)).is_ok());

    let folder = Path::new(&provider.socket).parent().unwrap();
    assert_eq!(std::fs::metadata(folder).unwrap().permissions().mode() & 0o777, 0o700);
    if rustix::process::geteuid().is_root() {
        // The folder above is private too; the one that counts must do alone.
        std::fs::set_permissions(temporary.path(), std::fs::Permissions::from_mode(0o755)).unwrap();
        let seen = |path: &str| {
            Command::new("/usr/bin/test").args(["-e", path]).uid(65534).gid(65534).status().unwrap().success()
        };
        assert!(seen(folder.to_str().unwrap()), "the test itself can look");
        assert!(!seen(&provider.socket), "another user sees the socket");
    }

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
