//! The way in: TLS on a unix socket, HTTP/2 on that, and the services behind it by the path of the request.

use std::convert::Infallible;
use std::sync::Arc;

use hyper::server::conn::http2;
use hyper::service::service_fn;
use hyper_util::rt::{TokioExecutor, TokioIo};
use tokio::net::{UnixListener, UnixStream};
use tokio_rustls::TlsAcceptor;
use tokio_rustls::rustls::ServerConfig;
use tonic::codegen::Service as _;
use tonic::server::NamedService;

use crate::protocol::plugin::grpc_controller_server::GrpcControllerServer;
use crate::protocol::provider_server::ProviderServer;
use crate::service::{Controller, Service};

/// Enough for a job spec in one go.
const WINDOW: u32 = 16 << 20;

/// The services; cheap to clone.
#[derive(Clone)]
pub struct Services {
    pub provider: ProviderServer<Service>,
    pub controller: GrpcControllerServer<Controller>,
}

/// Lets clients in for as long as the process runs. One that does not get through TLS is dropped, and holds up no other.
pub async fn accept(listener: UnixListener, config: ServerConfig, services: Services) {
    let acceptor = TlsAcceptor::from(Arc::new(config));
    while let Ok((stream, _)) = listener.accept().await {
        tokio::spawn(converse(stream, acceptor.clone(), services.clone()));
    }
}

async fn converse(stream: UnixStream, acceptor: TlsAcceptor, services: Services) {
    let Ok(stream) = acceptor.accept(stream).await else { return };
    let answer = service_fn(move |request: http::Request<hyper::body::Incoming>| {
        let Services { mut provider, mut controller } = services.clone();
        async move {
            let named = request.uri().path().split('/').nth(1);
            if named == Some(GrpcControllerServer::<Controller>::NAME) {
                controller.call(request).await
            } else {
                // It says "unimplemented" to whatever it does not know.
                provider.call(request).await as Result<_, Infallible>
            }
        }
    });
    // A connection that breaks is the client's affair.
    let _ = http2::Builder::new(TokioExecutor::new())
        .initial_stream_window_size(WINDOW)
        .initial_connection_window_size(WINDOW)
        .serve_connection(TokioIo::new(stream), answer)
        .await;
}
