//! The seam to machines: every lifecycle change is an order that a node accepts at once and reports on later.
//!
//! An order is given only after the change that asks for it is durable, and again at every start until its
//! report is durable too: carrying one out twice must be harmless.

use std::future::Future;
use std::pin::Pin;

use tokio::sync::mpsc::UnboundedSender;

use crate::core::id::Id;
use crate::model::account::AccountId;
use crate::model::image::Image;
use crate::model::instance::Instance;
use crate::model::nat_gateway::NatGateway;
use crate::model::snapshot::Snapshot;
use crate::model::volume::Volume;
use crate::model::vpc::Vpc;
use crate::model::vpc_endpoint::VpcEndpoint;
use crate::model::vpc_peering_connection::VpcPeeringConnection;

/// The machine that a record belongs to: part of every key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NodeId(String);

impl NodeId {
    pub fn new(name: impl Into<String>) -> Self {
        NodeId(name.into())
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Order {
    StartInstance(Id<Instance>),
    StopInstance(Id<Instance>),
    RebootInstance(Id<Instance>),
    TerminateInstance(Id<Instance>),
    CreateVolume(Id<Volume>),
    DeleteVolume(Id<Volume>),
    AttachVolume(Id<Volume>, Id<Instance>),
    DetachVolume(Id<Volume>, Id<Instance>),
    CreateSnapshot(Id<Snapshot>),
    CreateImage(Id<Image>),
    CreateNatGateway(Id<NatGateway>),
    DeleteNatGateway(Id<NatGateway>),
    CreateEndpoint(Id<VpcEndpoint>),
    DeleteEndpoint(Id<VpcEndpoint>),
    CreatePeering(Id<VpcPeeringConnection>),
    DeletePeering(Id<VpcPeeringConnection>),
    /// Something in this VPC changed that packets notice: subnets, routes, groups, ACLs, interfaces, addresses,
    /// gateways. The records say how it shall be; a VPC that is gone shall not be.
    ApplyNetwork(Id<Vpc>),
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Work {
    pub account: AccountId,
    pub order: Order,
}

/// What became of an order; the reason is shown to the owner.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Report {
    pub work: Work,
    pub result: Result<(), String>,
}

pub type Reports = UnboundedSender<Report>;

pub trait Node: Send + Sync {
    fn id(&self) -> &NodeId;

    /// Said in every instance's StateReason when what the node does is less than a machine.
    fn notice(&self) -> Option<&'static str>;

    /// Takes the order; the report comes through `reports`, now or much later.
    fn accept<'a>(
        &'a self,
        work: Work,
        reports: &'a Reports,
    ) -> Pin<Box<dyn Future<Output = ()> + Send + 'a>>;
}

/// Keeps records only: every order is done as soon as it is given, and nothing happens (D34).
pub struct RecordsNode {
    id: NodeId,
}

impl RecordsNode {
    pub const NOTICE: &'static str = "records only: no machine starts, no rule is enforced";

    pub fn new(id: NodeId) -> Self {
        Self { id }
    }
}

impl Node for RecordsNode {
    fn id(&self) -> &NodeId {
        &self.id
    }

    fn notice(&self) -> Option<&'static str> {
        Some(Self::NOTICE)
    }

    fn accept<'a>(
        &'a self,
        work: Work,
        reports: &'a Reports,
    ) -> Pin<Box<dyn Future<Output = ()> + Send + 'a>> {
        Box::pin(async move {
            // A closed channel means that the gateway is ending; the order is given again at its next start.
            let _ = reports.send(Report { work, result: Ok(()) });
        })
    }
}
