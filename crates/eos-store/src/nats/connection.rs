//! The connection, with the threads it runs on.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use async_nats::connection::State;
use async_nats::{Client, ConnectOptions, Event, ServerAddr};
use tokio::runtime::Runtime;
use tokio::sync::watch;

use crate::error::StoreError;

const CONNECT_WITHIN: Duration = Duration::from_secs(5);
/// The first server that writes several messages as one (and keeps the promise over a crash).
const OLDEST: (i64, i64, i64) = (2, 12, 0);

/// How to be let in. A secret in here is never part of a message.
#[derive(Clone, Default)]
pub enum Credentials {
    #[default]
    None,
    Token(String),
    UserAndPassword(String, String),
    /// A `.creds` file as NATS' own tools write it.
    File(PathBuf),
}

#[derive(Clone, Default)]
pub struct NatsAccess {
    pub credentials: Credentials,
    /// Trusted beside the machine's own, PEM.
    pub certificate_authority: Option<PathBuf>,
    /// Certificate and key of this client, PEM.
    pub client_certificate: Option<(PathBuf, PathBuf)>,
}

/// A connection, shared by whoever has a copy. It comes back by itself when the server does.
#[derive(Clone)]
pub struct Nats {
    inner: Arc<Inner>,
}

struct Inner {
    client: Client,
    place: String,
    /// Counts connections made: a change means that what the server kept for the old one is gone.
    connections: watch::Receiver<u64>,
    /// Taken when the last copy goes; a runtime must not be dropped inside another one's task.
    runtime: Option<Runtime>,
}

impl Drop for Inner {
    fn drop(&mut self) {
        if let Some(runtime) = self.runtime.take() {
            runtime.shutdown_background();
        }
    }
}

impl Nats {
    /// `url`: `nats://host:port` or `tls://…`, several separated by commas. Credentials may stand in the first:
    /// `user:password@` or `token@`.
    pub fn connect(url: &str, access: &NatsAccess) -> Result<Nats, StoreError> {
        let servers = url
            .split(',')
            .map(|one| one.trim().parse::<ServerAddr>())
            .collect::<Result<Vec<_>, _>>()
            .map_err(|e| unreachable("nats://…", format!("this is not an address: {e}")))?;
        // Built from the parts: a password in the address stays out of messages.
        let place = servers
            .iter()
            .map(|server| format!("nats://{}:{}", server.host(), server.port()))
            .collect::<Vec<_>>()
            .join(",");
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(1)
            .thread_name("nats")
            .enable_all()
            .build()
            .map_err(|e| unreachable(&place, e.to_string()))?;
        let mut access = access.clone();
        if matches!(access.credentials, Credentials::None) {
            access.credentials = servers.first().map(in_address).unwrap_or_default();
        }
        let (counter, connections) = watch::channel(0);
        let counter = Arc::new(counter);
        let mut first = connections.clone();
        let connecting = async move {
            let options = options(&access).await?.event_callback(move |event| {
                let counter = Arc::clone(&counter);
                async move {
                    if event == Event::Connected {
                        counter.send_modify(|count| *count += 1);
                    }
                }
            });
            let client = options.connect(servers).await.map_err(|e| e.to_string())?;
            // Told on another path; counted before anyone compares.
            let _ = first.wait_for(|count| *count > 0).await;
            Ok(client)
        };
        let connected = run_on(&runtime, async move {
            tokio::time::timeout(CONNECT_WITHIN, connecting)
                .await
                .unwrap_or_else(|_| Err(format!("no answer for {} s", CONNECT_WITHIN.as_secs())))
        });
        let client = match connected {
            Ok(client) => client,
            Err(reason) => {
                runtime.shutdown_background();
                return Err(unreachable(&place, reason));
            }
        };
        let inner = Arc::new(Inner { client, place, connections, runtime: Some(runtime) });
        let nats = Nats { inner };
        nats.check_version()?;
        Ok(nats)
    }

    fn check_version(&self) -> Result<(), StoreError> {
        let (major, minor, patch) = OLDEST;
        if self.inner.client.is_server_compatible(major, minor, patch) {
            return Ok(());
        }
        let found = self.inner.client.server_info().version;
        let reason = format!("it is nats-server {found}; {major}.{minor} or newer is needed");
        Err(StoreError::Io { operation: "use", place: self.inner.place.clone(), reason })
    }

    /// Where it is, for messages.
    pub fn place(&self) -> &str {
        &self.inner.place
    }

    pub(crate) fn client(&self) -> &Client {
        &self.inner.client
    }

    pub(crate) fn connections(&self) -> watch::Receiver<u64> {
        self.inner.connections.clone()
    }

    pub(crate) fn is_connected(&self) -> bool {
        self.inner.client.connection_state() == State::Connected
    }

    pub(crate) fn handle(&self) -> Option<&tokio::runtime::Handle> {
        self.inner.runtime.as_ref().map(Runtime::handle)
    }

    /// Blocks the calling thread, also inside another runtime, until the work is done on our own threads.
    pub(crate) fn run<T: Send + 'static>(
        &self,
        work: impl Future<Output = Result<T, StoreError>> + Send + 'static,
    ) -> Result<T, StoreError> {
        match &self.inner.runtime {
            Some(runtime) => run_on(runtime, work),
            None => Err(StoreError::Closed),
        }
    }
}

trait Closed {
    fn closed() -> Self;
}

impl<T> Closed for Result<T, StoreError> {
    fn closed() -> Self {
        Err(StoreError::Closed)
    }
}

impl<T> Closed for Result<T, String> {
    fn closed() -> Self {
        Err("the connection's threads have ended".to_owned())
    }
}

fn run_on<T: Closed + Send + 'static>(
    runtime: &Runtime,
    work: impl Future<Output = T> + Send + 'static,
) -> T {
    let (answer, answered) = std::sync::mpsc::sync_channel(1);
    runtime.spawn(async move {
        let _ = answer.send(work.await);
    });
    answered.recv().unwrap_or_else(|_| T::closed())
}

/// The client library does not look at them there.
fn in_address(server: &ServerAddr) -> Credentials {
    match (server.username(), server.password()) {
        (Some(user), Some(password)) => Credentials::UserAndPassword(user.to_owned(), password.to_owned()),
        (Some(token), None) if !token.is_empty() => Credentials::Token(token.to_owned()),
        _ => Credentials::None,
    }
}

/// As NATS' own command names them: `NATS_USER` and `NATS_PASSWORD`, `NATS_TOKEN`, `NATS_CREDS`, `NATS_CA`, `NATS_CERT` and
/// `NATS_KEY`. An environment is for its owner's eyes, the words of a command are for everyone's.
impl NatsAccess {
    pub fn from_environment(variable: impl Fn(&str) -> Option<String>) -> NatsAccess {
        let credentials = match (variable("NATS_CREDS"), variable("NATS_TOKEN"), variable("NATS_USER")) {
            (Some(file), ..) => Credentials::File(file.into()),
            (None, Some(token), _) => Credentials::Token(token),
            (None, None, Some(user)) => {
                Credentials::UserAndPassword(user, variable("NATS_PASSWORD").unwrap_or_default())
            }
            (None, None, None) => Credentials::None,
        };
        NatsAccess {
            credentials,
            certificate_authority: variable("NATS_CA").map(PathBuf::from),
            client_certificate: variable("NATS_CERT")
                .map(PathBuf::from)
                .zip(variable("NATS_KEY").map(PathBuf::from)),
        }
    }
}

async fn options(access: &NatsAccess) -> Result<ConnectOptions, String> {
    let mut options = ConnectOptions::new()
        .name("eos")
        .connection_timeout(CONNECT_WITHIN)
        .ping_interval(Duration::from_secs(5))
        .reconnect_delay_callback(|attempts| {
            Duration::from_millis(50 * u64::try_from(attempts).unwrap_or(20).min(20))
        });
    options = match &access.credentials {
        Credentials::None => options,
        Credentials::Token(token) => options.token(token.clone()),
        Credentials::UserAndPassword(user, password) => {
            options.user_and_password(user.clone(), password.clone())
        }
        Credentials::File(path) => options
            .credentials_file(path)
            .await
            .map_err(|e| format!("the credentials in {} cannot be used: {e}", path.display()))?,
    };
    if let Some(authority) = &access.certificate_authority {
        options = options.add_root_certificates(authority.clone());
    }
    if let Some((certificate, key)) = &access.client_certificate {
        options = options.add_client_certificate(certificate.clone(), key.clone());
    }
    Ok(options)
}

fn unreachable(place: &str, reason: String) -> StoreError {
    StoreError::Unreachable { operation: "connect", place: place.to_owned(), reason }
}
