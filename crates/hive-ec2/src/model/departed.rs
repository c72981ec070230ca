//! What is gone for everyone who asks, and what a node may still have on its disks: kept until the node says that it has not.

use serde::{Deserialize, Serialize};

use super::image::Image;
use super::snapshot::Snapshot;
use crate::core::id::{Id, Kind};
use crate::core::table::{Listed, Resource};
use crate::node::Order;

#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Departed {
    Image(Id<Image>),
    Snapshot(Id<Snapshot>),
}

impl Departed {
    pub fn order(&self) -> Order {
        match self {
            Departed::Image(id) => Order::DeleteImage(id.clone()),
            Departed::Snapshot(id) => Order::DeleteSnapshot(id.clone()),
        }
    }
}

impl Listed for Departed {
    fn key(&self) -> &str {
        match self {
            Departed::Image(id) => id,
            Departed::Snapshot(id) => id,
        }
    }
}

impl Resource for Departed {
    const KIND: Kind = Kind {
        name: "departed",
        prefix: "departed",
        not_found: "InternalError",
        malformed: None,
        noun: "departed resource",
    };
}
