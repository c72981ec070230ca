//! Tables that ship with the program: instance types and the images every account can see.

pub mod endpoint_services;
pub mod filters;
pub mod images;
pub mod instance_types;
pub mod parameters;
pub mod refused;
pub mod template_shape;
