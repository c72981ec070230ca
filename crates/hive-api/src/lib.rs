//! The wire contract of EC2 and STS: the query protocol in, XML out, SigV4 verified, errors in each
//! service's own envelope.
//!
//! Invariants: no resource, no store and nothing of eos is known here; every function is pure (time and
//! credentials are arguments); input is bounded before it is parsed.

pub mod coverage;
pub mod decode;
pub mod envelope;
pub mod error;
pub mod form;
mod hex;
mod number;
pub mod params;
pub mod pattern;
pub mod sigv4;
mod tree;
pub mod xml;

pub use decode::{Decoded, decode};
pub use envelope::Service;
pub use error::{ApiError, ApiResult};
pub use hex::hex;
pub use number::plain_number;
pub use params::{Params, list_index, not_an_element};
pub use tree::Tree;
