//! The images that every account sees. They have names that clients look for, and no bytes behind them yet:
//! their descriptions say so.

use crate::core::table::Listed;

#[derive(Debug, PartialEq, Eq)]
pub struct Image {
    pub id: &'static str,
    pub name: &'static str,
    pub architecture: &'static str,
    pub root_device_name: &'static str,
    /// GiB
    pub root_size: u32,
    pub description: &'static str,
}

pub const OWNER_ID: &str = "137112412989";
pub const OWNER_ALIAS: &str = "amazon";
pub const CREATED: &str = "2026-01-01T00:00:00.000Z";

impl Listed for Image {
    fn key(&self) -> &str {
        self.id
    }
}

/// Sorted by id.
pub static ALL: &[Image] = &[
    Image {
        id: "ami-00000000000000a01",
        name: "amzn2-ami-minimal-hvm-2.0.0-x86_64-ebs",
        architecture: "x86_64",
        root_device_name: "/dev/xvda",
        root_size: 2,
        description: "records only: a name for clients that look for Amazon Linux 2",
    },
    Image {
        id: "ami-00000000000000a02",
        name: "amzn2-ami-minimal-hvm-2.0.0-arm64-ebs",
        architecture: "arm64",
        root_device_name: "/dev/xvda",
        root_size: 2,
        description: "records only: a name for clients that look for Amazon Linux 2",
    },
    Image {
        id: "ami-00000000000000d01",
        name: "debian-12-amd64",
        architecture: "x86_64",
        root_device_name: "/dev/xvda",
        root_size: 8,
        description: "records only: a name for clients that look for Debian 12",
    },
    Image {
        id: "ami-00000000000000d02",
        name: "debian-12-arm64",
        architecture: "arm64",
        root_device_name: "/dev/xvda",
        root_size: 8,
        description: "records only: a name for clients that look for Debian 12",
    },
];

pub fn find(id: &str) -> Option<&'static Image> {
    ALL.iter().find(|image| image.id == id)
}
