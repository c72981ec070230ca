//! The catalogue: what kinds exist and what each of them is, as data.
//!
//! A [`Catalog`] is a stack of folders: the ones built into the binary, the copies an estate has pinned, and the
//! estate's own. Reading a component says everything that is wrong with it at once.

pub mod catalog;
pub mod check;
pub mod component;
pub mod discovery;
mod file_names;
pub mod flags;
pub mod folder;
pub mod layers;
pub mod network;
pub mod overlay;
pub mod password_in_address;
pub mod reference;
pub mod schema;
mod schema_walk;
pub mod setting;
pub mod unknown;

pub use catalog::{Catalog, Origin};
pub use component::Component;
pub use folder::Folder;
pub use network::Network;
pub use reference::{Filter, Reference, Segment};
pub use setting::{Setting, SettingType};
