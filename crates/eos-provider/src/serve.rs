//! The process as a plugin: handshake, server, and the ways it ends.
//!
//! It ends when the client asks for it, and when the client is gone. An interrupt from the terminal reaches every process
//! of the group and is for tofu alone: it is caught and dropped, and tofu then says "stop" in its own words.
//! (It is not ignored: children would inherit that.)

use std::io::Write;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use base64::Engine;
use base64::engine::general_purpose::STANDARD_NO_PAD;
use eos_nomad::Stop;
use tokio::net::UnixListener;
use tokio::signal::unix::{SignalKind, signal};
use tokio::sync::watch;
use tokio_rustls::rustls::ServerConfig;

use crate::connection::{Services, accept};
use crate::protocol::plugin::grpc_controller_server::GrpcControllerServer;
use crate::protocol::provider_server::ProviderServer;
use crate::service::{Controller, Service};
use crate::settings::Settings;
use crate::unix_socket::sweep;
use crate::{guard, tls};

/// go-plugin's handshake and tofu's protocol.
const CORE_VERSION: u32 = 1;
const PROTOCOL_VERSION: &str = "6";
/// What the private folders are called, and the socket in them.
const FOLDER_PREFIX: &str = "eos-provider-";
const SOCKET_NAME: &str = "provider.sock";
/// The longest path a unix socket can have, with room to spare.
const LONGEST_SOCKET_PATH: usize = 100;
/// Time to write the last answer; go-plugin kills what has not ended after two seconds.
const GRACE: Duration = Duration::from_millis(50);
const PARENT_LOOKED_AT_EVERY: Duration = Duration::from_secs(1);

#[derive(Debug, thiserror::Error)]
pub enum ServeError {
    #[error(
        "the client speaks plugin protocols {0}, this provider speaks 6: take tofu or terraform 1.11 or newer"
    )]
    Protocol(String),
    #[error("PLUGIN_CLIENT_CERT is not set: the provider serves nobody it cannot tell from others")]
    NoClientCertificate,
    #[error(transparent)]
    Tls(#[from] tls::TlsError),
    #[error("making the provider's socket in {folder}: {error}")]
    Socket { folder: PathBuf, error: std::io::Error },
    #[error("starting the provider: {0}")]
    Start(std::io::Error),
}

/// Serves until the client is done. `output` is where the client reads the handshake: the process's stdout.
pub fn serve(settings: Settings, output: &mut dyn Write) -> Result<(), ServeError> {
    let versions = &settings.plugin.protocol_versions;
    if !versions.is_empty() && !versions.split(',').any(|version| version.trim() == PROTOCOL_VERSION) {
        return Err(ServeError::Protocol(versions.clone()));
    }
    let pinned = settings.plugin.client_certificate.as_deref().ok_or(ServeError::NoClientCertificate)?;
    let (config, certificate) = tls::server_side(pinned)?;
    let folder = private_folder(settings.plugin.temporary_folder.as_deref())?;
    let path = folder.path().join(SOCKET_NAME);
    guard::install();
    let runtime =
        tokio::runtime::Builder::new_current_thread().enable_all().build().map_err(ServeError::Start)?;
    let result = runtime.block_on(async {
        // Before the handshake: from then on an interrupt can come.
        let mut interrupts = signal(SignalKind::interrupt()).map_err(ServeError::Start)?;
        tokio::spawn(async move { while interrupts.recv().await.is_some() {} });
        // It gets its name when it listens: between bind and listen another provider, sweeping, would take it for dead.
        let unnamed = folder.path().join("new.sock");
        let listener = UnixListener::bind(&unnamed)
            .and_then(|listener| std::fs::rename(&unnamed, &path).map(|()| listener))
            .map_err(|error| ServeError::Socket { folder: folder.path().to_owned(), error })?;
        let certificate = STANDARD_NO_PAD.encode(&certificate);
        writeln!(output, "{CORE_VERSION}|{PROTOCOL_VERSION}|unix|{}|grpc|{certificate}", path.display())
            .and_then(|()| output.flush())
            .map_err(ServeError::Start)?;
        if let Some(parent) = folder.path().parent().map(Path::to_owned) {
            tokio::task::spawn_blocking(move || sweep(&parent, FOLDER_PREFIX, SOCKET_NAME, |_| true));
        }
        run(settings, listener, config).await;
        Ok(())
    });
    // Work that still runs has been told to stop, and nobody is left to hear how it ends.
    runtime.shutdown_background();
    result
}

async fn run(settings: Settings, listener: UnixListener, config: ServerConfig) {
    let stop = Stop::new();
    let (ask_to_end, mut end) = watch::channel(false);
    tokio::spawn(watch_parent(ask_to_end.clone()));
    let provider = ProviderServer::new(Service::new(Arc::new(settings), stop.clone()))
        .max_decoding_message_size(usize::MAX)
        .max_encoding_message_size(usize::MAX);
    let services = Services { provider, controller: GrpcControllerServer::new(Controller::new(ask_to_end)) };
    tokio::spawn(accept(listener, config, services));
    // The sender lives in the services, so that this ends with a wish alone.
    let _ = end.wait_for(|ending| *ending).await;
    stop.stop();
    // The answer to the wish is on its way.
    tokio::time::sleep(GRACE).await;
}

/// A client that was killed cannot say that it is done. Its connection tells nothing either: it is closed and opened
/// again when it was idle for long.
async fn watch_parent(ask_to_end: watch::Sender<bool>) {
    let parent = rustix::process::getppid();
    loop {
        tokio::time::sleep(PARENT_LOOKED_AT_EVERY).await;
        if rustix::process::getppid() != parent {
            ask_to_end.send_replace(true);
            return;
        }
    }
}

/// Where folders for sockets are made: in the one that is wanted, unless a socket's path would be too long there.
pub fn parent_of_sockets(wanted: Option<&Path>) -> &Path {
    let fits = |folder: &&Path| folder.as_os_str().len() + 40 < LONGEST_SOCKET_PATH;
    wanted.filter(fits).unwrap_or(Path::new("/tmp"))
}

/// A new folder that only this user can enter; a socket's own mode does not count everywhere.
fn private_folder(wanted: Option<&Path>) -> Result<tempfile::TempDir, ServeError> {
    let parent = parent_of_sockets(wanted);
    tempfile::Builder::new()
        .prefix(FOLDER_PREFIX)
        .permissions(std::fs::Permissions::from_mode(0o700))
        .tempdir_in(parent)
        .map_err(|error| ServeError::Socket { folder: parent.to_owned(), error })
}
