//! Who may speak to the provider: the one client whose certificate came with the environment, compared byte for byte.
//!
//! go-plugin's client certificates are on curve P-521, which ring does not verify; that one signature is verified by the
//! `p521` crate. Everything else is ring's, as in the rest of eos: enabling a second provider in rustls would make each
//! user of its default panic.

use std::sync::Arc;

use p521::ecdsa::{DerSignature, VerifyingKey, signature::Verifier};
use p521::pkcs8::DecodePublicKey;
use rcgen::{CertificateParams, ExtendedKeyUsagePurpose, IsCa, KeyPair, KeyUsagePurpose};
use tokio_rustls::rustls::client::danger::HandshakeSignatureValid;
use tokio_rustls::rustls::crypto::{CryptoProvider, ring, verify_tls13_signature};
use tokio_rustls::rustls::pki_types::pem::PemObject;
use tokio_rustls::rustls::pki_types::{CertificateDer, PrivatePkcs8KeyDer, UnixTime};
use tokio_rustls::rustls::server::ParsedCertificate;
use tokio_rustls::rustls::server::danger::{ClientCertVerified, ClientCertVerifier};
use tokio_rustls::rustls::{
    CertificateError, DigitallySignedStruct, DistinguishedName, Error, ServerConfig, SignatureScheme, version,
};

#[derive(Debug, thiserror::Error)]
pub enum TlsError {
    #[error("reading the client's certificate from PLUGIN_CLIENT_CERT: {0}")]
    ClientCertificate(tokio_rustls::rustls::pki_types::pem::Error),
    #[error("making a certificate for the provider: {0}")]
    OwnCertificate(#[from] rcgen::Error),
    #[error("setting up TLS: {0}")]
    Setup(#[from] Error),
}

/// The server's side of TLS, and its certificate in DER for the client to expect.
pub fn server_side(client_certificate: &str) -> Result<(ServerConfig, CertificateDer<'static>), TlsError> {
    let pinned =
        CertificateDer::from_pem_slice(client_certificate.as_bytes()).map_err(TlsError::ClientCertificate)?;
    let key = KeyPair::generate()?;
    // As go-plugin makes its own: the client takes the certificate for a root and for the host localhost.
    let mut wanted = CertificateParams::new(["localhost".to_owned()])?;
    wanted.is_ca = IsCa::Ca(rcgen::BasicConstraints::Unconstrained);
    wanted.key_usages = vec![KeyUsagePurpose::DigitalSignature, KeyUsagePurpose::KeyCertSign];
    wanted.extended_key_usages = vec![ExtendedKeyUsagePurpose::ServerAuth];
    let certificate = wanted.self_signed(&key)?.der().clone();
    let provider = Arc::new(ring::default_provider());
    let verifier = Arc::new(PinnedClient { pinned, provider: provider.clone() });
    let mut config = ServerConfig::builder_with_provider(provider)
        .with_protocol_versions(&[&version::TLS13])?
        .with_client_cert_verifier(verifier)
        .with_single_cert(vec![certificate.clone()], PrivatePkcs8KeyDer::from(key.serialize_der()).into())?;
    config.alpn_protocols = vec![b"h2".to_vec()];
    Ok((config, certificate))
}

#[derive(Debug)]
struct PinnedClient {
    pinned: CertificateDer<'static>,
    provider: Arc<CryptoProvider>,
}

impl ClientCertVerifier for PinnedClient {
    fn root_hint_subjects(&self) -> &[DistinguishedName] {
        &[]
    }

    fn verify_client_cert(
        &self,
        end_entity: &CertificateDer<'_>,
        _intermediates: &[CertificateDer<'_>],
        _now: UnixTime,
    ) -> Result<ClientCertVerified, Error> {
        if end_entity.as_ref() == self.pinned.as_ref() {
            Ok(ClientCertVerified::assertion())
        } else {
            Err(Error::InvalidCertificate(CertificateError::ApplicationVerificationFailure))
        }
    }

    fn verify_tls12_signature(
        &self,
        _message: &[u8],
        _certificate: &CertificateDer<'_>,
        _signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        Err(Error::General("TLS 1.3 is required".to_owned()))
    }

    /// Whoever shows the certificate must also have its key.
    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        if signature.scheme == SignatureScheme::ECDSA_NISTP521_SHA512 {
            return verify_p521(message, certificate, signature.signature());
        }
        verify_tls13_signature(
            message,
            certificate,
            signature,
            &self.provider.signature_verification_algorithms,
        )
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        let mut schemes = self.provider.signature_verification_algorithms.supported_schemes();
        schemes.push(SignatureScheme::ECDSA_NISTP521_SHA512);
        schemes
    }
}

fn verify_p521(
    message: &[u8],
    certificate: &CertificateDer<'_>,
    signature: &[u8],
) -> Result<HandshakeSignatureValid, Error> {
    let parsed = ParsedCertificate::try_from(certificate)?;
    let key = VerifyingKey::from_public_key_der(&parsed.subject_public_key_info())
        .map_err(|_| Error::InvalidCertificate(CertificateError::BadEncoding))?;
    let bad = |_| Error::InvalidCertificate(CertificateError::BadSignature);
    let signature = DerSignature::try_from(signature).map_err(bad)?;
    key.verify(message, &signature).map_err(bad)?;
    Ok(HandshakeSignatureValid::assertion())
}

#[cfg(test)]
mod tests {
    use base64::Engine;
    use base64::engine::general_purpose::STANDARD;

    use super::*;

    /// A certificate on the curve go-plugin uses, and a signature by its key, which is kept nowhere.
    const CERTIFICATE: &str = include_str!("tls-p521-example.pem");
    const SIGNATURE: &str = "MIGHAkIAqNmk4uq/EsJegQAQYx5+o7PZZHrozm+uZnR9n7mrzzjtmjidhpxw2Ko6/kFOZkvF2nDviNKH6apEaoGR/gG6PxwC\
                             QWkDePX7H525lc9vpKgMAeUA/GwGZ//Yj0xQOJ4PE05vCTeNgmeAbHvCVLrsL4l/plWOpnq7rRzc54veHhkdDS1e";

    #[test]
    fn only_the_holder_of_the_key_signs_for_a_certificate_on_p521() {
        let certificate = CertificateDer::from_pem_slice(CERTIFICATE.as_bytes()).unwrap();
        let signature = STANDARD.decode(SIGNATURE).unwrap();
        verify_p521(b"signed words", &certificate, &signature).unwrap();
        assert!(verify_p521(b"other words", &certificate, &signature).is_err());
        for at in [0, 10, 60, signature.len() - 1] {
            let mut forged = signature.clone();
            forged[at] ^= 1;
            assert!(verify_p521(b"signed words", &certificate, &forged).is_err(), "byte {at}");
        }
        assert!(verify_p521(b"signed words", &certificate, &[]).is_err());
    }

    #[test]
    fn a_certificate_that_is_none_is_refused() {
        for text in ["", "hello", "-----BEGIN CERTIFICATE-----\n!\n-----END CERTIFICATE-----\n"] {
            assert!(matches!(server_side(text), Err(TlsError::ClientCertificate(_))), "{text}");
        }
    }
}
