//! A CA of our own, made once, and a server certificate signed by it at every start.

use std::sync::Arc;

use rcgen::{
    BasicConstraints, CertificateParams, DnType, ExtendedKeyUsagePurpose, IsCa, Issuer, KeyPair,
    KeyUsagePurpose,
};
use tokio_rustls::TlsAcceptor;
use tokio_rustls::rustls::ServerConfig;
use tokio_rustls::rustls::crypto::ring;
use tokio_rustls::rustls::pki_types::{CertificateDer, PrivateKeyDer, PrivatePkcs8KeyDer};

use crate::data_directory::DataDirectory;
use crate::error::HiveError;

pub const CA_FILE: &str = "ca.pem";
const CA_KEY_FILE: &str = "ca.key";

fn tls(error: impl std::fmt::Display) -> HiveError {
    HiveError::Tls(error.to_string())
}

fn ca_parameters() -> Result<CertificateParams, HiveError> {
    let mut parameters = CertificateParams::new(Vec::new()).map_err(tls)?;
    parameters.distinguished_name.push(DnType::CommonName, "Hive local CA");
    parameters.is_ca = IsCa::Ca(BasicConstraints::Constrained(0));
    parameters.key_usages = vec![KeyUsagePurpose::KeyCertSign, KeyUsagePurpose::CrlSign];
    Ok(parameters)
}

/// The key of the CA; both halves are written the first time. The certificate comes last: whoever sees it has
/// a complete CA.
fn ca(data: &DataDirectory) -> Result<KeyPair, HiveError> {
    if let (Some(_), Some(key)) = (data.read(CA_FILE)?, data.read(CA_KEY_FILE)?) {
        return KeyPair::from_pem(&key).map_err(tls);
    }
    let key = KeyPair::generate().map_err(tls)?;
    let certificate = ca_parameters()?.self_signed(&key).map_err(tls)?.pem();
    data.write_private(CA_KEY_FILE, &key.serialize_pem())?;
    data.write_private(CA_FILE, &certificate)?;
    Ok(key)
}

pub(crate) fn acceptor(data: &DataDirectory) -> Result<TlsAcceptor, HiveError> {
    let ca_key = ca(data)?;
    let issuer = Issuer::new(ca_parameters()?, ca_key);
    let names = ["localhost", "127.0.0.1", "::1"].map(str::to_owned);
    let mut parameters = CertificateParams::new(names).map_err(tls)?;
    parameters.distinguished_name.push(DnType::CommonName, "localhost");
    parameters.key_usages = vec![KeyUsagePurpose::DigitalSignature];
    parameters.extended_key_usages = vec![ExtendedKeyUsagePurpose::ServerAuth];
    // Clients that follow RFC 5280 to the letter, as Python from 3.13 on, refuse a certificate without it.
    parameters.use_authority_key_identifier_extension = true;
    let key = KeyPair::generate().map_err(tls)?;
    let leaf = parameters.signed_by(&key, &issuer).map_err(tls)?;
    let chain = vec![CertificateDer::from(leaf.der().to_vec())];
    let key = PrivateKeyDer::from(PrivatePkcs8KeyDer::from(key.serialize_der()));
    let mut config = ServerConfig::builder_with_provider(Arc::new(ring::default_provider()))
        .with_safe_default_protocol_versions()
        .map_err(tls)?
        .with_no_client_auth()
        .with_single_cert(chain, key)
        .map_err(tls)?;
    config.alpn_protocols = vec![b"http/1.1".to_vec()];
    Ok(TlsAcceptor::from(Arc::new(config)))
}
