//! Where Nomad is and who asks it.

use std::fmt;
use std::path::{Path, PathBuf};

use ureq::config::Config;
use ureq::http::Uri;
use ureq::tls::{Certificate, ClientCert, PemItem, PrivateKey, RootCerts, TlsConfig, parse_pem};
use ureq::unversioned::resolver::{DefaultResolver, ResolvedSocketAddrs, Resolver};
use ureq::unversioned::transport::{DefaultConnector, NextTimeout};
use zeroize::Zeroizing;

use crate::error::Error;

/// Where an agent listens when nobody has said otherwise.
pub const DEFAULT_ADDRESS: &str = "http://127.0.0.1:4646";

#[derive(Clone, Default)]
pub struct Connection {
    /// `http://` or `https://`, host and port; [`DEFAULT_ADDRESS`] when absent.
    pub address: Option<String>,
    pub token: Option<Zeroizing<String>>,
    pub namespace: Option<String>,
    pub region: Option<String>,
    pub tls: Tls,
}

/// Files in PEM, as Nomad's own command line takes them.
#[derive(Debug, Clone, Default)]
pub struct Tls {
    /// The authorities that may vouch for Nomad; the system's when absent.
    pub ca_certificate: Option<PathBuf>,
    pub client_certificate: Option<PathBuf>,
    pub client_key: Option<PathBuf>,
    /// The name in Nomad's certificate where it is not that in the address, such as `server.global.nomad`.
    pub server_name: Option<String>,
}

impl fmt::Debug for Connection {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Connection").field("address", &self.address).finish_non_exhaustive()
    }
}

impl Connection {
    pub fn address(&self) -> &str {
        self.address.as_deref().unwrap_or(DEFAULT_ADDRESS).trim_end_matches('/')
    }

    /// The agent that speaks HTTP, and the address it is to be given.
    pub(crate) fn open(&self, config: Config) -> Result<(ureq::Agent, String), Error> {
        let bad = |reason: &str| Error::Setting {
            what: format!("Nomad's address {}", self.address()),
            reason: reason.to_owned(),
        };
        let real: Uri = self.address().parse().map_err(|_| bad("not an address"))?;
        if !matches!(real.scheme_str(), Some("http" | "https")) || real.host().is_none() {
            return Err(bad("expected http://host:port or https://host:port"));
        }
        let mut presented = self.address().to_owned();
        if let (Some(name), Some("https")) = (&self.tls.server_name, real.scheme_str()) {
            // TLS expects the name of the address asked for: ask for the name, and resolve it to the real host.
            let port = real.port_u16().unwrap_or(443);
            presented = format!("https://{name}:{port}");
        }
        let resolver = ToHost { real, inner: DefaultResolver::default() };
        Ok((ureq::Agent::with_parts(config, DefaultConnector::default(), resolver), presented))
    }

    pub(crate) fn tls_config(&self) -> Result<TlsConfig, Error> {
        let mut builder = TlsConfig::builder();
        if let Some(path) = &self.tls.ca_certificate {
            builder = builder.root_certs(RootCerts::new_with_certs(&certificates(path)?));
        }
        match (&self.tls.client_certificate, &self.tls.client_key) {
            (Some(certificate), Some(key)) => {
                let client = ClientCert::new_with_certs(&certificates(certificate)?, private_key(key)?);
                builder = builder.client_cert(Some(client));
            }
            (None, None) => {}
            _ => {
                return Err(Error::Setting {
                    what: "Nomad's client certificate".to_owned(),
                    reason: "certificate and key belong together, one of them is missing".to_owned(),
                });
            }
        }
        Ok(builder.build())
    }
}

fn read(path: &Path) -> Result<Zeroizing<Vec<u8>>, Error> {
    std::fs::read(path).map(Zeroizing::new).map_err(|error| unusable(path, &error.to_string()))
}

fn unusable(path: &Path, reason: &str) -> Error {
    Error::Setting { what: format!("reading {}", path.display()), reason: reason.to_owned() }
}

fn certificates(path: &Path) -> Result<Vec<Certificate<'static>>, Error> {
    let pem = read(path)?;
    let found: Vec<_> = parse_pem(&pem)
        .filter_map(|item| match item {
            Ok(PemItem::Certificate(certificate)) => Some(certificate),
            _ => None,
        })
        .collect();
    if found.is_empty() { Err(unusable(path, "no certificate in it")) } else { Ok(found) }
}

fn private_key(path: &Path) -> Result<PrivateKey<'static>, Error> {
    PrivateKey::from_pem(&read(path)?).map_err(|_| unusable(path, "no private key in it"))
}

/// Whatever name is asked for is at one host.
#[derive(Debug)]
struct ToHost {
    real: Uri,
    inner: DefaultResolver,
}

impl Resolver for ToHost {
    fn resolve(
        &self,
        _uri: &Uri,
        config: &Config,
        timeout: NextTimeout,
    ) -> Result<ResolvedSocketAddrs, ureq::Error> {
        self.inner.resolve(&self.real, config, timeout)
    }
}
