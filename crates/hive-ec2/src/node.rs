//! The seam to machines: every lifecycle change is an order that a node accepts at once and reports on later.
//!
//! An order is given only after the change that asks for it is durable, and again, at every start and after pauses,
//! until a report that it is done is durable too: carrying one out twice must be harmless.

use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;

use tokio::sync::mpsc::UnboundedSender;

use crate::core::id::Id;
use crate::model::account::AccountId;
use crate::model::image::Image;
use crate::model::instance::Instance;
use crate::model::nat_gateway::NatGateway;
use crate::model::network_interface::NetworkInterface;
use crate::model::snapshot::Snapshot;
use crate::model::volume::Volume;
use crate::model::vpc::Vpc;
use crate::model::vpc_endpoint::VpcEndpoint;
use crate::model::vpc_peering_connection::VpcPeeringConnection;

/// The node that a record belongs to, whichever gateway changes it: part of every record and key.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct NodeId(Arc<str>);

impl NodeId {
    /// Of what belongs to an account as a whole.
    pub const NONE: &'static str = "none";

    pub fn new(name: impl Into<Arc<str>>) -> Self {
        NodeId(name.into())
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }
}

#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum Order {
    StartInstance(Id<Instance>),
    StopInstance(Id<Instance>),
    RebootInstance(Id<Instance>),
    TerminateInstance(Id<Instance>),
    CreateVolume(Id<Volume>),
    DeleteVolume(Id<Volume>),
    AttachVolume(Id<Volume>, Id<Instance>),
    DetachVolume(Id<Volume>, Id<Instance>),
    ModifyVolume(Id<Volume>),
    AttachInterface(Id<NetworkInterface>, Id<Instance>),
    DetachInterface(Id<NetworkInterface>, Id<Instance>),
    CreateSnapshot(Id<Snapshot>),
    DeleteSnapshot(Id<Snapshot>),
    CreateImage(Id<Image>),
    DeleteImage(Id<Image>),
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
    /// The node that the resource belongs to. A gateway gives its node also the orders that another did not live to
    /// see done: a node that cannot carry out another's leaves them alone.
    pub node: NodeId,
    pub order: Order,
}

/// What became of an order; the reason is shown to the owner.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Report {
    pub work: Work,
    pub result: Result<(), String>,
}

pub type Reports = UnboundedSender<Report>;

/// What a node answers when it is done with it.
pub type Answer<'a, T> = Pin<Box<dyn Future<Output = T> + Send + 'a>>;

pub trait Node: Send + Sync {
    fn id(&self) -> &NodeId;

    /// Said in every instance's StateReason when what the node does is less than a machine.
    fn notice(&self) -> Option<&'static str>;

    /// The networks that it has something of, whatever became of their VPCs. Asked at every start: of those that the
    /// records know it is told anyway, of the others now.
    fn networks(&self) -> Answer<'_, Vec<(AccountId, Id<Vpc>)>> {
        Box::pin(async { Vec::new() })
    }

    /// Takes the order; the report comes through `reports`, now or much later.
    fn accept<'a>(&'a self, work: Work, reports: &'a Reports) -> Answer<'a, ()>;
}

/// Keeps records only: every order is done as soon as it is given, and nothing happens (D34).
pub struct RecordsNode {
    id: NodeId,
}

impl RecordsNode {
    pub const NOTICE: &'static str = "records only: no machine starts, no rule is enforced";
    /// The code that goes with a notice.
    pub const REASON: &'static str = "Server.RecordsOnly";

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

    fn accept<'a>(&'a self, work: Work, reports: &'a Reports) -> Answer<'a, ()> {
        Box::pin(async move {
            // A closed channel means that the gateway is ending; the order is given again at its next start.
            let _ = reports.send(Report { work, result: Ok(()) });
        })
    }
}
