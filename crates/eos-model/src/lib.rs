//! What every crate of eos shares: validated names, quantities with units, and diagnostics.
//!
//! Nothing here touches a file, the clock or the environment.

mod ancestry;
pub mod article;
mod ask_each;
pub mod codes;
pub mod date;
pub mod diagnostic;
pub mod folder;
pub mod name;
pub mod nearest;
pub mod provider_schema;
pub mod quantity;
pub mod secret_ref;

pub use ancestry::Ancestry;
pub use ask_each::ask_each;
pub use codes::{Code, CodePage};
pub use diagnostic::{Diagnostic, Diagnostics, Place, Severity};
pub use name::{EnvName, HostName, Kind, Name, UnitId};
pub use quantity::{Duration, Size};
pub use secret_ref::SecretRef;
