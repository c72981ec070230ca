//! The protocol's service: each request goes to a thread of its own, and whatever it comes to is an answer.

use std::sync::Arc;

use eos_model::{Diagnostics, codes};
use eos_nomad::Stop;
use tokio::sync::watch;
use tonic::{Request, Response, Status};

use crate::call::Call;
use crate::diagnostics::all_to_wire;
use crate::guard::guarded;
use crate::protocol::plugin::Empty;
use crate::protocol::plugin::grpc_controller_server::GrpcController;
use crate::protocol::provider_server::Provider;
use crate::protocol::*;
use crate::settings::Settings;
use crate::side_socket::Phase;
use crate::{handlers, schema};

pub struct Service {
    settings: Arc<Settings>,
    stop: Stop,
    /// Says the same to who waits for a thread's work.
    stopped: watch::Sender<bool>,
}

/// An answer that can carry findings.
trait Answer: Default + Send + 'static {
    fn diagnostics(&mut self) -> &mut Vec<Diagnostic>;
}

macro_rules! answers {
    ($($message:ident),*) => {
        $(impl Answer for $message::Response {
            fn diagnostics(&mut self) -> &mut Vec<Diagnostic> {
                &mut self.diagnostics
            }
        })*
    };
}

use crate::protocol::{
    apply_resource_change, import_resource_state, move_resource_state, plan_resource_change, read_resource,
    upgrade_resource_state, validate_resource_config,
};
answers!(
    apply_resource_change,
    import_resource_state,
    move_resource_state,
    plan_resource_change,
    read_resource,
    upgrade_resource_state,
    validate_resource_config
);

fn refusal<A: Answer>(found: &Diagnostics) -> A {
    let mut answer = A::default();
    answer.diagnostics().extend(all_to_wire(found));
    answer
}

impl Service {
    pub fn new(settings: Arc<Settings>, stop: Stop) -> Service {
        Service { settings, stop, stopped: watch::Sender::new(false) }
    }

    async fn answer<A: Answer>(
        &self,
        phase: Phase,
        work: impl FnOnce(&Call) -> Result<A, Diagnostics> + Send + 'static,
    ) -> Result<Response<A>, Status> {
        let (settings, stop) = (self.settings.clone(), self.stop.clone());
        let answer = tokio::task::spawn_blocking(move || {
            let call = Call::new(&settings, &stop, phase);
            let result = guarded(|| work(&call)).and_then(|result| result);
            let mut answer: A = result.unwrap_or_else(|found| refusal(&found));
            answer.diagnostics().extend(call.into_warnings());
            answer
        });
        let mut stopped = self.stopped.subscribe();
        let answer = tokio::select! {
            answer = answer => answer.map_err(|error| Status::internal(error.to_string()))?,
            // A server that is asked may be silent. Whoever only looks leaves nothing undone: tofu need not wait, and lets go
            // of the state.
            _ = stopped.wait_for(|stopped| *stopped), if phase == Phase::Plan => {
                refusal(&eos_model::Diagnostic::error(codes::STOPPED, "stopped before there was an answer").into())
            }
        };
        Ok(Response::new(answer))
    }
}

#[tonic::async_trait]
impl Provider for Service {
    async fn get_metadata(
        &self,
        _request: Request<get_metadata::Request>,
    ) -> Result<Response<get_metadata::Response>, Status> {
        let resources = schema::resources().into_keys();
        Ok(Response::new(get_metadata::Response {
            server_capabilities: Some(handlers::capabilities()),
            diagnostics: Vec::new(),
            resources: resources.map(|type_name| get_metadata::ResourceMetadata { type_name }).collect(),
        }))
    }

    async fn get_provider_schema(
        &self,
        _request: Request<get_provider_schema::Request>,
    ) -> Result<Response<get_provider_schema::Response>, Status> {
        Ok(Response::new(get_provider_schema::Response {
            provider: Some(schema::provider()),
            resource_schemas: schema::resources(),
            diagnostics: Vec::new(),
            server_capabilities: Some(handlers::capabilities()),
        }))
    }

    async fn validate_provider_config(
        &self,
        _request: Request<validate_provider_config::Request>,
    ) -> Result<Response<validate_provider_config::Response>, Status> {
        Ok(Response::new(Default::default()))
    }

    async fn validate_resource_config(
        &self,
        request: Request<validate_resource_config::Request>,
    ) -> Result<Response<validate_resource_config::Response>, Status> {
        self.answer(Phase::Plan, move |_| handlers::validate(request.into_inner())).await
    }

    async fn upgrade_resource_state(
        &self,
        request: Request<upgrade_resource_state::Request>,
    ) -> Result<Response<upgrade_resource_state::Response>, Status> {
        self.answer(Phase::Plan, move |_| handlers::upgrade(request.into_inner())).await
    }

    async fn configure_provider(
        &self,
        _request: Request<configure_provider::Request>,
    ) -> Result<Response<configure_provider::Response>, Status> {
        Ok(Response::new(Default::default()))
    }

    async fn read_resource(
        &self,
        request: Request<read_resource::Request>,
    ) -> Result<Response<read_resource::Response>, Status> {
        self.answer(Phase::Plan, move |call| handlers::read(call, request.into_inner())).await
    }

    async fn plan_resource_change(
        &self,
        request: Request<plan_resource_change::Request>,
    ) -> Result<Response<plan_resource_change::Response>, Status> {
        self.answer(Phase::Plan, move |call| handlers::plan(call, request.into_inner())).await
    }

    async fn apply_resource_change(
        &self,
        request: Request<apply_resource_change::Request>,
    ) -> Result<Response<apply_resource_change::Response>, Status> {
        self.answer(Phase::Apply, move |call| Ok(handlers::apply(call, request.into_inner()))).await
    }

    async fn import_resource_state(
        &self,
        request: Request<import_resource_state::Request>,
    ) -> Result<Response<import_resource_state::Response>, Status> {
        self.answer(Phase::Plan, move |call| handlers::import(call, request.into_inner())).await
    }

    async fn move_resource_state(
        &self,
        request: Request<move_resource_state::Request>,
    ) -> Result<Response<move_resource_state::Response>, Status> {
        self.answer(Phase::Plan, move |_| handlers::move_state(request.into_inner())).await
    }

    async fn get_functions(
        &self,
        _request: Request<get_functions::Request>,
    ) -> Result<Response<get_functions::Response>, Status> {
        Ok(Response::new(Default::default()))
    }

    async fn stop_provider(
        &self,
        _request: Request<stop_provider::Request>,
    ) -> Result<Response<stop_provider::Response>, Status> {
        self.stop.stop();
        self.stopped.send_replace(true);
        Ok(Response::new(Default::default()))
    }
}

/// Ends the process when the client is done with it.
pub struct Controller(watch::Sender<bool>);

impl Controller {
    pub fn new(ask_to_end: watch::Sender<bool>) -> Controller {
        Controller(ask_to_end)
    }
}

#[tonic::async_trait]
impl GrpcController for Controller {
    async fn shutdown(&self, _request: Request<Empty>) -> Result<Response<Empty>, Status> {
        self.0.send_replace(true);
        Ok(Response::new(Default::default()))
    }
}
