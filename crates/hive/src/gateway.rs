//! The server: data directory, store, engine, listener.

use std::future::Future;
use std::net::{Ipv4Addr, Ipv6Addr, SocketAddr};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::server::graceful::GracefulShutdown;
use jiff::Timestamp;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Semaphore;
use tokio_rustls::TlsAcceptor;

use hive_ec2::{Engine, EngineConfig, EngineError, Environment, Log, NodeId, RecordsNode};

use crate::config::{Config, Store};
use crate::control::{self, Control};
use crate::credentials::Credentials;
use crate::data_directory::DataDirectory;
use crate::error::HiveError;
use crate::key_ring::KeyRing;
use crate::lingering::Lingering;
use crate::request::Endpoint;
use crate::{store, tls};

/// How often what was kept for a while only is looked through.
const SWEEP: Duration = Duration::from_secs(60);
/// How long a key may be let in that was taken away.
const LOOK: Duration = Duration::from_secs(1);
/// As many connections are there at once. With what each may hold of a body before it is known who sends it, this is what
/// bounds the memory of a gateway that strangers can reach.
const CONNECTIONS: usize = 1024;
/// The most of a request that waits to be looked at; headers must fit.
const READ_BUFFER: usize = 64 * 1024;
const ACCEPT_PAUSE: Duration = Duration::from_secs(1);
/// A client that does not finish its headers in this time, or asks nothing more, is hung up on.
const HEADER_TIMEOUT: Duration = Duration::from_secs(30);
const HANDSHAKE_TIMEOUT: Duration = Duration::from_secs(10);
/// How long requests under way may take when the gateway ends.
const GRACE: Duration = Duration::from_secs(5);

/// A gateway that is bound and ready; `run` makes it answer.
pub struct Gateway {
    endpoint: Arc<Endpoint>,
    listener: TcpListener,
    /// At the same port of the other loopback address, which `localhost` may be too.
    second: Option<TcpListener>,
    tls: Option<TlsAcceptor>,
    address: SocketAddr,
    control: Control,
    /// Kept as long as the gateway lives.
    lock: std::fs::File,
    log: Log,
}

pub(crate) fn fill_random(bytes: &mut [u8]) {
    // Without randomness ids and keys would be guessable: there is no sensible way on.
    getrandom::fill(bytes).expect("the operating system gives random bytes");
}

/// Opens everything and binds. Must be called inside a tokio runtime.
pub async fn start(config: Config) -> Result<Gateway, HiveError> {
    let data = DataDirectory::open(&config.data)?;
    let (records, lock) = store::open(&data, &config).await?;
    let credentials = Credentials::open(&data)?;
    let node = NodeId::new(config.node.as_str());
    let mut environment = Environment::new(&config.region, node.clone());
    environment.limits = config.limits.clone();
    environment.largest_change = records.largest_batch();
    let engine = Engine::start(EngineConfig {
        environment,
        records,
        node: Arc::new(RecordsNode::new(node)),
        entropy: Arc::new(fill_random),
        clock: Arc::new(Timestamp::now),
        accounts: credentials.accounts(),
        strict: config.strict,
        log: config.log.clone(),
    })
    .await
    .map_err(|error| match error {
        EngineError::Region { found, asked } => {
            HiveError::Region { data: data.path().to_owned(), found, asked }
        }
        error => HiveError::Engine(error),
    })?;
    let tls = if config.plain_http { None } else { Some(tls::acceptor(&data)?) };
    let listen = |source| HiveError::Listen { address: config.listen, source };
    let listener = TcpListener::bind(config.listen).await.map_err(listen)?;
    let address = listener.local_addr().map_err(listen)?;
    let second = second_listener(address, &config.log).await;
    let log = config.log.clone();
    let keys = KeyRing::new(data.clone(), Arc::clone(&engine), &credentials, log);
    let endpoint = Arc::new(Endpoint::new(engine, Arc::new(keys)));
    let scheme = if config.plain_http { "http" } else { "https" };
    let running = control::Running {
        endpoint: format!("{scheme}://localhost:{}", address.port()),
        region: config.region.clone(),
        process: std::process::id(),
        options: Config { listen: address, ..config.clone() }.options(),
        keys: endpoint.keys().ids(),
    };
    let control = Control::open(&data, running)?;
    let log = config.log;
    log.say(format!(
        "{} answers: region {}, node {}, {}",
        control.running().endpoint,
        config.region,
        config.node,
        if config.store == Store::Embedded { "its own store" } else { "a shared store" },
    ));
    Ok(Gateway { endpoint, listener, second, tls, address, control, lock, log })
}

/// `localhost` is 127.0.0.1 to some clients and ::1 to others.
async fn second_listener(first: SocketAddr, log: &Log) -> Option<TcpListener> {
    if first.ip() != Ipv4Addr::LOCALHOST {
        return None;
    }
    match TcpListener::bind((Ipv6Addr::LOCALHOST, first.port())).await {
        Ok(listener) => Some(listener),
        // A machine without IPv6 has no such address, and no client looks for it there.
        Err(error) if error.kind() == std::io::ErrorKind::AddrInUse => {
            log.say(format!(
                "[::1]:{} is somebody else's: a client for which localhost is that address does not come here",
                first.port()
            ));
            None
        }
        Err(_) => None,
    }
}

/// Whoever comes first at either.
async fn accept(first: &TcpListener, second: Option<&TcpListener>) -> std::io::Result<TcpStream> {
    let accepted = match second {
        None => first.accept().await,
        Some(second) => tokio::select! {
            accepted = first.accept() => accepted,
            accepted = second.accept() => accepted,
        },
    };
    accepted.map(|(stream, _)| stream)
}

impl Gateway {
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// `https://localhost:9999`
    pub fn endpoint(&self) -> &str {
        &self.control.running().endpoint
    }

    /// Answers until `shutdown` is done or another process asks it to end; then finishes what is under way.
    pub async fn run(self, shutdown: impl Future<Output = ()>) -> Result<(), HiveError> {
        let Gateway { endpoint, listener, second, tls, control, lock, log, .. } = self;
        let graceful = GracefulShutdown::new();
        let engine = Arc::clone(endpoint.engine());
        let sweeper = tokio::spawn(async move {
            let mut timer = tokio::time::interval(SWEEP);
            loop {
                timer.tick().await;
                // A failing store has told every writer already, and the log.
                let _ = engine.sweep().await;
            }
        });
        let keys = Arc::clone(endpoint.keys());
        let looker = tokio::spawn(async move {
            let mut timer = tokio::time::interval(LOOK);
            loop {
                timer.tick().await;
                keys.look().await;
            }
        });
        tokio::pin!(shutdown);
        let stopped = control.serve(Arc::clone(endpoint.engine()), Arc::clone(endpoint.keys()));
        tokio::pin!(stopped);
        let places = Arc::new(Semaphore::new(CONNECTIONS));
        let why = loop {
            // Whoever comes when all places are taken waits where the system lets them wait.
            let next = async {
                let place = Arc::clone(&places).acquire_owned().await;
                (accept(&listener, second.as_ref()).await, place)
            };
            tokio::select! {
                () = &mut shutdown => break "it was interrupted",
                () = &mut stopped => break "it was asked to",
                accepted = next => match accepted {
                    (Ok(stream), place) => {
                        let connection = serve(stream, tls.clone(), Arc::clone(&endpoint), graceful.watcher());
                        tokio::spawn(async move {
                            connection.await;
                            drop(place);
                        });
                    }
                    // Out of file descriptors, most likely: let others finish first.
                    (Err(error), _) => {
                        log.say(format!("a connection could not be taken: {error}"));
                        tokio::time::sleep(ACCEPT_PAUSE).await;
                    }
                },
            }
        };
        log.say(format!("ends: {why}"));
        drop((listener, second));
        sweeper.abort();
        looker.abort();
        let _ = tokio::time::timeout(GRACE, graceful.shutdown()).await;
        drop(lock);
        Ok(())
    }
}

async fn serve(
    stream: TcpStream,
    tls: Option<TlsAcceptor>,
    endpoint: Arc<Endpoint>,
    watcher: hyper_util::server::graceful::Watcher,
) {
    let _ = stream.set_nodelay(true);
    match tls {
        None => connection(stream, endpoint, watcher).await,
        Some(acceptor) => {
            if let Ok(Ok(stream)) = tokio::time::timeout(HANDSHAKE_TIMEOUT, acceptor.accept(stream)).await {
                connection(stream, endpoint, watcher).await;
            }
        }
    }
}

async fn connection(
    stream: impl AsyncRead + AsyncWrite + Unpin + Send + 'static,
    endpoint: Arc<Endpoint>,
    watcher: hyper_util::server::graceful::Watcher,
) {
    let unread = Arc::new(AtomicBool::new(false));
    let stream = Lingering::new(stream, Arc::clone(&unread));
    let service = service_fn(move |request| {
        let (endpoint, unread) = (Arc::clone(&endpoint), Arc::clone(&unread));
        async move {
            let (response, whole) = endpoint.answer(request).await;
            unread.store(!whole, Ordering::Relaxed);
            Ok::<_, std::convert::Infallible>(response)
        }
    });
    let connection = http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(HEADER_TIMEOUT)
        .max_buf_size(READ_BUFFER)
        .serve_connection(TokioIo::new(stream), service);
    // A client that goes away is no concern of ours.
    let _ = watcher.watch(connection).await;
}
