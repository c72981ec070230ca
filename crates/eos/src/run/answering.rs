//! Listens whether the servers that tofu depends on answer, for as long as a command is at work.
//!
//! Tofu itself waits without end for a backend that takes its connection and says nothing, and a provider a minute for
//! each question. A server that cannot be reached at all is not judged here: tofu finds that out itself, and says more.

use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::time::{Duration, Instant};

use eos_engine::Units;
use eos_nomad::{Client, Patience, Stop};
use eos_pillar::estate_file::Backend as Kept;
use eos_tofu::{Children, ServerKind, SilentServer};

use super::surroundings::{Here, has_jobs, nomad_connection};

/// Any answer has begun by then.
pub const WITHIN: Duration = Duration::from_secs(10);
const PAUSE: Duration = Duration::from_secs(5);

/// Ends when dropped.
pub struct Answering {
    _listening: Vec<Sender<()>>,
}

impl Answering {
    pub fn watch(here: &Here, units: &[&Units], children: &Children) -> Answering {
        let mut watched = Vec::new();
        if let Kept::Http { address, .. } = &here.estate.backend {
            let agent = ureq::Agent::new_with_config(
                ureq::Agent::config_builder()
                    .http_status_as_error(false)
                    .max_redirects(0)
                    .max_redirects_will_error(false)
                    .timeout_global(Some(WITHIN))
                    .build(),
            );
            let at = address.clone();
            let asked = move || agent.head(&at).call().is_ok();
            watched.extend(listen(ServerKind::Backend, address.clone(), children, asked));
        }
        let has_jobs = units.iter().flat_map(|units| units.units.values()).any(has_jobs);
        let connection = nomad_connection(|name| here.nomad_variable(name));
        if has_jobs && let Ok(client) = Client::new(&connection, Patience::at_once(WITHIN), Stop::new()) {
            let address = client.address().to_owned();
            watched.extend(listen(ServerKind::Nomad, address, children, move || client.leader().is_ok()));
        }
        Answering { _listening: watched }
    }
}

/// Asks again and again. A refusal comes at once; only one who lets us wait is silent.
fn listen(
    kind: ServerKind,
    address: String,
    children: &Children,
    answers: impl Fn() -> bool + Send + 'static,
) -> Option<Sender<()>> {
    let children = children.clone();
    let (guard, over) = channel();
    let listening = move || {
        loop {
            let asked = Instant::now();
            let heard = answers();
            // Over while it waited: there is nobody to be told.
            if over.try_recv() == Err(std::sync::mpsc::TryRecvError::Disconnected) {
                return;
            }
            let waited = asked.elapsed();
            if heard || waited < WITHIN {
                children.hear_from(kind);
            } else {
                children.give_up_on(SilentServer { kind, address: address.clone(), waited });
            }
            if over.recv_timeout(PAUSE) == Err(RecvTimeoutError::Disconnected) {
                return;
            }
        }
    };
    std::thread::Builder::new().name("answering".into()).spawn(listening).ok().map(|_| guard)
}
