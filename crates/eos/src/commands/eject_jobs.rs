//! Ejected jobs are the very jobs that run: `nomad job plan` of one shows no change. A job whose start had to be repeated
//! bears a mark that only Nomad knows of; it is asked here.

use eos_model::{Diagnostic, codes};
use eos_nomad::Client;
use serde_json::Value as Json;

use super::Call;
use crate::loaded::Loaded;
use crate::run::surroundings;

pub struct Running {
    /// None once it has not answered.
    client: Option<Client>,
    pub unanswered: Option<Diagnostic>,
}

impl Running {
    pub fn new(call: &Call<'_>, loaded: &Loaded) -> Running {
        Running { client: surroundings::nomad(call.context, &loaded.estate), unanswered: None }
    }

    /// A file of a unit that is applied, as it is to be written.
    pub fn as_it_runs(&mut self, path: &str, bytes: Vec<u8>) -> Vec<u8> {
        if !path.ends_with(".nomad.json") {
            return bytes;
        }
        let job = serde_json::from_slice::<Json>(&bytes).map(|mut document| document["Job"].take());
        let (Some(client), Ok(job)) = (&self.client, job) else { return bytes };
        let client = match job["Namespace"].as_str() {
            Some(namespace) => client.in_namespace(Some(namespace)),
            None => client.clone(),
        };
        match client.job(job["ID"].as_str().unwrap_or_default()) {
            Ok(Some(there)) => {
                let marked = std::str::from_utf8(&bytes)
                    .ok()
                    .and_then(|spec| eos_provider::as_registered(spec, &there.meta));
                marked.map_or(bytes, String::into_bytes)
            }
            Ok(None) => bytes,
            Err(error) => {
                self.unanswered = Some(
                    Diagnostic::warning(codes::NOMAD, format!("Nomad could not be asked: {error}"))
                        .why("a job whose start had to be repeated bears Meta[eos.attempt], which nomad job plan then shows as a change")
                        .fix("it starts such a job once more and does no other harm; or eject again when Nomad answers"),
                );
                self.client = None;
                bytes
            }
        }
    }
}
