//! Being let in: passwords, tokens, certificates; and what is said when one is not.

#![allow(clippy::unwrap_used)]

mod support;

use eos_store::lease::NatsLeases;
use eos_store::{Credentials, Nats, NatsAccess, NatsRecords, NatsSettings, Records, StoreError};
use rcgen::{
    BasicConstraints, CertificateParams, ExtendedKeyUsagePurpose, IsCa, Issuer, KeyPair, KeyUsagePurpose,
};
use test_tools::NatsServer;

fn with(credentials: Credentials) -> NatsAccess {
    NatsAccess { credentials, ..NatsAccess::default() }
}

fn refused(url: &str, access: &NatsAccess) -> String {
    let error = Nats::connect(url, access).map(drop).unwrap_err();
    assert!(matches!(error, StoreError::Unreachable { .. }), "{error}");
    error.to_string()
}

#[test]
fn a_password_lets_in_and_is_never_told() {
    let more = "authorization { user: kim, password: \"open-sesame\" }".to_owned();
    let settings = test_tools::NatsSettings { more, ..test_tools::NatsSettings::default() };
    let Some(server) = NatsServer::start_with("passwords of NATS", settings) else { return };
    let user = |password: &str| with(Credentials::UserAndPassword("kim".to_owned(), password.to_owned()));
    let nats = Nats::connect(&server.url(), &user("open-sesame")).unwrap();
    // One connection for both.
    let records = NatsRecords::open(&nats, "records", &NatsSettings::default()).unwrap();
    assert!(records.all().unwrap().is_empty());
    NatsLeases::open(&nats, "leases", 1).unwrap();
    assert!(refused(&server.url(), &NatsAccess::default()).to_lowercase().contains("authorization"));
    let told = refused(&server.url(), &user("sesame-street"));
    assert!(!told.contains("sesame"), "{told}");
    let in_address = |password: &str| server.url().replace("nats://", &format!("nats://kim:{password}@"));
    Nats::connect(&in_address("open-sesame"), &NatsAccess::default()).unwrap();
    let told = refused(&in_address("sesame-street"), &NatsAccess::default());
    assert!(!told.contains("sesame") && told.contains("127.0.0.1"), "{told}");
}

#[test]
fn a_token_lets_in() {
    let settings = test_tools::NatsSettings {
        more: "authorization { token: abc123 }".to_owned(),
        ..test_tools::NatsSettings::default()
    };
    let Some(server) = NatsServer::start_with("tokens of NATS", settings) else { return };
    Nats::connect(&server.url(), &with(Credentials::Token("abc123".to_owned()))).unwrap();
    refused(&server.url(), &with(Credentials::Token("other".to_owned())));
    let in_address = |token: &str| server.url().replace("nats://", &format!("nats://{token}@"));
    Nats::connect(&in_address("abc123"), &NatsAccess::default()).unwrap();
    refused(&in_address("other"), &NatsAccess::default());
    let in_environment = |name: &str| (name == "NATS_TOKEN").then(|| "abc123".to_owned());
    Nats::connect(&server.url(), &NatsAccess::from_environment(in_environment)).unwrap();
    let missing = with(Credentials::File("/no/such/file.creds".into()));
    assert!(refused(&server.url(), &missing).contains("/no/such/file.creds"));
}

#[test]
fn both_sides_show_certificates() {
    let dir = tempfile::tempdir().unwrap();
    let write = |name: &str, text: &str| {
        let path = dir.path().join(name);
        std::fs::write(&path, text).unwrap();
        path
    };
    let authority_key = KeyPair::generate().unwrap();
    let mut authority = CertificateParams::new(Vec::new()).unwrap();
    authority.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    authority.key_usages = vec![KeyUsagePurpose::KeyCertSign];
    let authority_file = write("ca.pem", &authority.self_signed(&authority_key).unwrap().pem());
    let issuer = Issuer::new(authority, authority_key);
    let signed = |name: &str, usage| {
        let key = KeyPair::generate().unwrap();
        let mut params = CertificateParams::new(vec!["127.0.0.1".to_owned()]).unwrap();
        params.extended_key_usages = vec![usage];
        let certificate = params.signed_by(&key, &issuer).unwrap().pem();
        (write(&format!("{name}.pem"), &certificate), write(&format!("{name}.key"), &key.serialize_pem()))
    };
    let (certificate, key) = signed("server", ExtendedKeyUsagePurpose::ServerAuth);
    let more = format!(
        "tls {{ cert_file: {certificate:?}, key_file: {key:?}, ca_file: {authority_file:?}, verify: true }}"
    );
    let settings = test_tools::NatsSettings { more, ..test_tools::NatsSettings::default() };
    let Some(server) = NatsServer::start_with("certificates of NATS", settings) else { return };
    let url = server.url().replace("nats://", "tls://");
    let access = NatsAccess {
        certificate_authority: Some(authority_file),
        client_certificate: Some(signed("client", ExtendedKeyUsagePurpose::ClientAuth)),
        ..NatsAccess::default()
    };
    let nats = Nats::connect(&url, &access).unwrap();
    NatsRecords::open(&nats, "records", &NatsSettings::default()).unwrap();
    refused(&url, &NatsAccess { client_certificate: None, ..access.clone() });
    refused(&url, &NatsAccess { certificate_authority: None, ..access });
    refused("not an address", &NatsAccess::default());
}
