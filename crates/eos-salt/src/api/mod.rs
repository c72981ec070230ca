//! States on a minion, through its master's salt-api.
//!
//! The minion is asked first whether it is there; the job is started and then looked at until it has a result, so that no
//! connection has to last as long as the states do. A minion that is busy with another state run lets ours wait.

mod credentials;
mod http;

use std::time::{Duration, Instant};

use serde_json::{Value as Json, json};

use crate::error::SaltError;
use crate::high_data::{self, HighData};
use crate::report::Report;
use crate::returned;
use crate::run::{RunsStates, StateRun, Stop};
pub use credentials::Credentials;
use http::Http;

/// Looks at a job: soon at first, then every second.
const FIRST_LOOK: Duration = Duration::from_millis(150);
const LAST_LOOK: Duration = Duration::from_secs(1);
/// How often a minion that has not answered is asked whether it still works on the job.
const ASK_MINION: Duration = Duration::from_secs(10);
/// How long a job may go without salt-api saying anything of it.
const WITHOUT_API: Duration = Duration::from_secs(60);
/// How long a stopped run waits for the job: it cannot be ended without tearing a state apart.
const AFTER_STOP: Duration = Duration::from_secs(5);
/// How many runs may wait for each other on a minion.
const QUEUE: u64 = 64;

pub struct ApiSettings {
    /// `https://salt.example.org:8000`.
    pub address: String,
    pub credentials: Credentials,
    /// PEM of the authority that signed its certificate, when this machine does not know it.
    pub authority: Option<Vec<u8>>,
}

/// Runs states on minions.
pub struct SaltApi {
    http: Http,
}

impl SaltApi {
    pub fn new(settings: ApiSettings) -> Result<SaltApi, SaltError> {
        let ApiSettings { address, credentials, authority } = settings;
        Ok(SaltApi { http: Http::new(&address, credentials, authority.as_deref())? })
    }

    /// Calls a function and waits for its return value; for what takes no time.
    fn call(&self, target: &str, function: &str, arguments: Json) -> Result<Json, SaltError> {
        let mut answer = self.http.post(
            function,
            &json!([{"client": "local", "tgt": [target], "tgt_type": "list", "fun": function, "arg": arguments, "full_return": true}]),
        )?;
        let minions = &mut answer["return"][0];
        let Some(result) = minions.get_mut(target) else {
            return Err(SaltError::UnknownTarget { target: target.to_owned() });
        };
        // Without a return there is no jid: the master speaks for a minion that is silent.
        if result.get("ret").is_none() || result["ret"].as_str().is_some_and(did_not_return) {
            return Err(SaltError::NoReturn { target: target.to_owned() });
        }
        Ok(result["ret"].take())
    }

    fn start(&self, run: &StateRun<'_>, high: &HighData) -> Result<String, SaltError> {
        let mut arguments = json!({"test": run.test, "queue": QUEUE});
        if !run.pillar.is_empty() {
            arguments["pillar"] = Json::Object(run.pillar.expose().clone());
        }
        let answer = self.http.post(
            "state.high",
            &json!([{"client": "local_async", "tgt": [run.target], "tgt_type": "list", "fun": "state.high", "arg": [high.data], "kwarg": arguments}]),
        )?;
        match answer["return"][0]["jid"].as_str() {
            // It becomes part of an address.
            Some(jid) if !jid.is_empty() && jid.bytes().all(|byte| byte.is_ascii_digit()) => {
                Ok(jid.to_owned())
            }
            Some(_) => Err(SaltError::Unexpected {
                target: run.target.to_owned(),
                answer: "a strange jid".to_owned(),
            }),
            None => Err(SaltError::UnknownTarget { target: run.target.to_owned() }),
        }
    }

    /// What the job returned, or None while it runs.
    fn result(&self, target: &str, jid: &str) -> Result<Option<Json>, SaltError> {
        let mut answer = self.http.get("the job's result", &format!("/jobs/{jid}"))?;
        let result = answer["info"][0]["Result"].get_mut(target);
        Ok(result.and_then(|result| result.get_mut("return")).map(Json::take))
    }

    fn wait(&self, target: &str, jid: &str, stop: Stop<'_>) -> Result<Json, SaltError> {
        let lost =
            |reason: String| SaltError::JobLost { target: target.to_owned(), job: jid.to_owned(), reason };
        let mut pause = FIRST_LOOK;
        let (mut answered, mut asked) = (Instant::now(), Instant::now());
        let mut stopped: Option<Instant> = None;
        let mut absent = false;
        loop {
            match self.result(target, jid) {
                Ok(Some(returned)) => return Ok(returned),
                Ok(None) if absent => return Err(lost("the minion no longer works on it".to_owned())),
                Ok(None) => answered = Instant::now(),
                // An api that is restarted in the middle comes back; the job does not mind.
                Err(error) if answered.elapsed() > WITHOUT_API => return Err(lost(error.to_string())),
                Err(_) => {}
            }
            if stopped.is_none() && stop() {
                stopped = Some(Instant::now());
            }
            if stopped.is_some_and(|since| since.elapsed() > AFTER_STOP) {
                let rest = format!(
                    "job {jid} goes on on {target}; on the master, salt-run jobs.lookup_jid {jid} tells its result"
                );
                return Err(SaltError::Stopped { begun: true, rest: Some(rest) });
            }
            if asked.elapsed() > ASK_MINION {
                asked = Instant::now();
                absent = match self.call(target, "saltutil.find_job", json!([jid])) {
                    // Not at work on it any more: one more look for the result, which may be on its way.
                    Ok(job) => job.as_object().is_none_or(|job| job.is_empty()),
                    Err(SaltError::NoReturn { .. } | SaltError::UnknownTarget { .. }) => true,
                    Err(_) => false,
                };
            }
            std::thread::sleep(if absent { LAST_LOOK } else { pause });
            pause = (pause * 2).min(LAST_LOOK);
        }
    }
}

impl RunsStates for SaltApi {
    fn run(&self, run: &StateRun<'_>, stop: Stop<'_>) -> Result<Report, SaltError> {
        let target = run.target;
        if run.pillar.has_secrets() {
            return Err(SaltError::SecretThroughMaster { target: target.to_owned() });
        }
        let high = high_data::of(target, run.sls)?;
        if high.data.is_empty() {
            return Ok(Report::default());
        }
        self.call(target, "test.ping", json!([]))?;
        if stop() {
            return Err(SaltError::Stopped { begun: false, rest: None });
        }
        let jid = self.start(run, &high)?;
        let returned = self.wait(target, &jid, stop)?;
        let report = returned::report(target, returned, run.test, &run.pillar.redactor())?;
        let left_out = high.left_out(&report);
        if left_out.is_empty() {
            Ok(report)
        } else {
            Err(SaltError::LeftOut { target: target.to_owned(), states: left_out })
        }
    }
}

fn did_not_return(text: &str) -> bool {
    text.starts_with("Minion did not return")
}
