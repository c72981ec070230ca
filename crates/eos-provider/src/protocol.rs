//! The protocol's messages and services, generated from `proto/`.
#![allow(clippy::all, dead_code)]

tonic::include_proto!("tfplugin6");

/// go-plugin's own.
pub mod plugin {
    tonic::include_proto!("plugin");
}
