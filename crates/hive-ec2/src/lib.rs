//! EC2 as a model and a table of actions.
//!
//! - `model/` holds the resources, `rules/` what one resource means for another, `action/` one file an action,
//!   `view/` the XML shapes that several actions share, `core/` what is done once for all of them.
//! - An action is a pure function of its request and the account; time, randomness and nodes come from outside.
//! - Success is answered only after the change is durable, and a Describe only sees what is durable.

pub mod action;
pub mod core;
pub mod data;
pub mod model;
pub mod node;
pub mod rules;
pub mod view;

pub use action::ACTIONS;
pub use core::engine::{Engine, EngineConfig, EngineError};
pub use core::environment::Environment;
pub use core::leftovers::Leftover;
pub use core::log::Log;
pub use core::shared::EVERYONE;
pub use data::filters::of as filters_of;
pub use data::parameters::of as parameters_of;
pub use data::refused::REFUSED;
pub use model::account::AccountId;
pub use node::{Node, NodeId, RecordsNode};
pub use rules::limits::Limits;
