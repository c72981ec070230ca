//! HTTP: a file streamed to disk and hashed on the way, or a short text.
//!
//! An `https` address never follows a redirection to plain `http`. Certificates are checked as this machine does it, so
//! that a company's own authority works.

use std::io::{Read, Write};
use std::time::Duration;

use camino::Utf8Path;
use ureq::Agent;
use ureq::tls::{RootCerts, TlsConfig};

use crate::digest::HashingWriter;
use crate::failure::Failure;
use crate::progress::{Progress, Step};

/// A list of sums is some kilobytes.
const TEXT_LIMIT: u64 = 1 << 20;

/// Fetches from one host.
pub(crate) struct Downloader {
    agent: Agent,
    base: String,
}

impl Downloader {
    pub fn new(base: &str) -> Downloader {
        let config = Agent::config_builder()
            .https_only(base.starts_with("https://"))
            .tls_config(TlsConfig::builder().root_certs(RootCerts::PlatformVerifier).build())
            .timeout_resolve(Some(Duration::from_secs(15)))
            .timeout_connect(Some(Duration::from_secs(15)))
            .timeout_recv_response(Some(Duration::from_secs(60)))
            .timeout_recv_body(Some(Duration::from_secs(30 * 60)))
            .user_agent(concat!("eos/", env!("CARGO_PKG_VERSION")))
            .build();
        Downloader { agent: config.into(), base: base.trim_end_matches('/').to_owned() }
    }

    /// A small text file.
    pub fn text(&self, path: &str) -> Result<String, Failure> {
        let url = self.url(path);
        let mut response = self.agent.get(&url).call().map_err(|error| failure(&url, &error))?;
        response
            .body_mut()
            .with_config()
            .limit(TEXT_LIMIT)
            .read_to_string()
            .map_err(|error| failure(&url, &error))
    }

    /// A file, written to `target`; returns its sum.
    pub fn file(
        &self,
        path: &str,
        target: &Utf8Path,
        progress: &mut dyn Progress,
    ) -> Result<String, Failure> {
        let url = self.url(path);
        let response = self.agent.get(&url).call().map_err(|error| failure(&url, &error))?;
        let body = response.into_body();
        let total = body.content_length();
        let mut reader = body.into_reader();
        let mut writer = HashingWriter::new(fs_err::File::create(target)?);
        let mut buffer = vec![0; 1 << 16];
        let mut done = 0;
        loop {
            let length = reader
                .read(&mut buffer)
                .map_err(|error| Failure::Network { url: url.clone(), reason: error.to_string() })?;
            if length == 0 {
                break;
            }
            writer.write_all(&buffer[..length])?;
            done += length as u64;
            progress.step(Step::Bytes { done, total });
        }
        if total.is_some_and(|total| total != done) {
            let reason = format!("ended after {done} of {} bytes", total.unwrap_or_default());
            return Err(Failure::Network { url, reason });
        }
        Ok(writer.finish().1)
    }

    pub fn url(&self, path: &str) -> String {
        format!("{}/{path}", self.base)
    }
}

fn failure(url: &str, error: &ureq::Error) -> Failure {
    match error {
        ureq::Error::StatusCode(status) => Failure::Absent(format!("{url} answers {status}")),
        other => Failure::Network { url: url.to_owned(), reason: other.to_string() },
    }
}
