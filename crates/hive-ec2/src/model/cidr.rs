//! Address blocks and their arithmetic.

use std::fmt;
use std::net::{Ipv4Addr, Ipv6Addr};
use std::str::FromStr;

use hive_api::{ApiError, ApiResult, plain_number};
use serde::{Deserialize, Serialize, Serializer};

/// An IPv4 block; host bits are always zero.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Deserialize)]
#[serde(try_from = "String")]
pub struct Ipv4Cidr {
    base: u32,
    prefix: u8,
}

impl Ipv4Cidr {
    pub fn new(address: u32, prefix: u8) -> Self {
        let prefix = prefix.min(32);
        Self { base: address & mask(prefix), prefix }
    }

    /// A block that is written down with its network's address.
    pub const fn of(address: [u8; 4], prefix: u8) -> Self {
        Self { base: u32::from_be_bytes(address), prefix }
    }

    /// A parameter's value; host bits are cut off, as EC2 does.
    pub fn parameter(name: &str, text: &str) -> ApiResult<Self> {
        text.parse().map_err(|_| ApiError::invalid_value(name, text, "This is not a valid CIDR block."))
    }

    pub fn prefix(self) -> u8 {
        self.prefix
    }

    pub fn size(self) -> u64 {
        1 << (32 - self.prefix)
    }

    pub fn contains(self, address: Ipv4Addr) -> bool {
        u32::from(address) & mask(self.prefix) == self.base
    }

    pub fn contains_block(self, other: Ipv4Cidr) -> bool {
        other.prefix >= self.prefix && other.base & mask(self.prefix) == self.base
    }

    pub fn overlaps(self, other: Ipv4Cidr) -> bool {
        self.contains_block(other) || other.contains_block(self)
    }

    /// The address at an offset; must be smaller than `size`.
    pub fn address(self, offset: u64) -> Ipv4Addr {
        Ipv4Addr::from(self.base.wrapping_add(offset as u32))
    }

    /// EC2 keeps five addresses of each subnet: network, router, DNS, reserved, broadcast.
    pub fn is_reserved(self, address: Ipv4Addr) -> bool {
        let offset = u64::from(u32::from(address).wrapping_sub(self.base));
        offset < 4 || offset == self.size() - 1
    }

    pub fn usable(self) -> u64 {
        self.size().saturating_sub(5)
    }
}

fn mask(prefix: u8) -> u32 {
    u32::MAX.checked_shl(32 - u32::from(prefix)).unwrap_or(0)
}

#[derive(Debug, thiserror::Error)]
#[error("not an address block")]
pub struct CidrError;

impl FromStr for Ipv4Cidr {
    type Err = CidrError;

    fn from_str(text: &str) -> Result<Self, CidrError> {
        let (address, prefix) = text.split_once('/').ok_or(CidrError)?;
        let address: Ipv4Addr = address.parse().map_err(|_| CidrError)?;
        let prefix: u8 = plain_number(prefix).ok_or(CidrError)?;
        if prefix > 32 { Err(CidrError) } else { Ok(Self::new(address.into(), prefix)) }
    }
}

/// A Describe writes hundreds of these: all digits at once, without a formatter for each number.
impl fmt::Display for Ipv4Cidr {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [a, b, c, d] = self.base.to_be_bytes();
        let (mut text, mut length) = ([0; "255.255.255.255/32".len()], 0);
        let mut push = |byte| {
            text[length] = byte;
            length += 1;
        };
        for (number, behind) in [(a, b'.'), (b, b'.'), (c, b'.'), (d, b'/'), (self.prefix, 0)] {
            if number >= 100 {
                push(b'0' + number / 100);
            }
            if number >= 10 {
                push(b'0' + number / 10 % 10);
            }
            push(b'0' + number % 10);
            if behind != 0 {
                push(behind);
            }
        }
        f.write_str(std::str::from_utf8(&text[..length]).map_err(|_| fmt::Error)?)
    }
}

impl TryFrom<String> for Ipv4Cidr {
    type Error = CidrError;

    fn try_from(text: String) -> Result<Self, CidrError> {
        text.parse()
    }
}

impl Serialize for Ipv4Cidr {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

/// An IPv6 block in its canonical text; host bits are always zero.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Ipv6Cidr {
    base: u128,
    prefix: u8,
}

impl Ipv6Cidr {
    pub fn new(address: u128, prefix: u8) -> Self {
        let mask = u128::MAX.checked_shl(128 - u32::from(prefix.min(128))).unwrap_or(0);
        Self { base: address & mask, prefix: prefix.min(128) }
    }

    pub fn parameter(name: &str, text: &str) -> ApiResult<Self> {
        text.parse().map_err(|_| ApiError::invalid_value(name, text, "This is not a valid IPv6 CIDR block."))
    }

    pub fn prefix(self) -> u8 {
        self.prefix
    }

    pub fn contains_block(self, other: Ipv6Cidr) -> bool {
        other.prefix >= self.prefix && Ipv6Cidr::new(other.base, self.prefix) == self
    }

    pub fn overlaps(self, other: Ipv6Cidr) -> bool {
        self.contains_block(other) || other.contains_block(self)
    }
}

impl FromStr for Ipv6Cidr {
    type Err = CidrError;

    fn from_str(text: &str) -> Result<Self, CidrError> {
        let (address, prefix) = text.split_once('/').ok_or(CidrError)?;
        let address: Ipv6Addr = address.parse().map_err(|_| CidrError)?;
        let prefix: u8 = plain_number(prefix).ok_or(CidrError)?;
        if prefix > 128 { Err(CidrError) } else { Ok(Self::new(address.into(), prefix)) }
    }
}

impl fmt::Display for Ipv6Cidr {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", Ipv6Addr::from(self.base), self.prefix)
    }
}

impl TryFrom<String> for Ipv6Cidr {
    type Error = CidrError;

    fn try_from(text: String) -> Result<Self, CidrError> {
        text.parse()
    }
}

impl From<Ipv6Cidr> for String {
    fn from(cidr: Ipv6Cidr) -> String {
        cidr.to_string()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arithmetic() {
        let vpc: Ipv4Cidr = "10.0.0.9/16".parse().unwrap();
        assert_eq!(vpc.to_string(), "10.0.0.0/16");
        let subnet: Ipv4Cidr = "10.0.255.0/24".parse().unwrap();
        assert!(vpc.contains_block(subnet) && !subnet.contains_block(vpc) && subnet.overlaps(vpc));
        assert!(!"10.1.0.0/16".parse::<Ipv4Cidr>().unwrap().overlaps(vpc));
        assert_eq!((subnet.usable(), subnet.address(4).to_string().as_str()), (251, "10.0.255.4"));
        assert!(subnet.is_reserved(subnet.address(3)) && subnet.is_reserved(subnet.address(255)));
        assert!(!subnet.is_reserved(subnet.address(4)));
        assert_eq!("0.0.0.0/0".parse::<Ipv4Cidr>().unwrap().size(), 1 << 32);
        assert_eq!("::1/0".parse::<Ipv6Cidr>().unwrap().to_string(), "::/0");
        for bad in [
            "10.0.0.0",
            "10.0.0.0/33",
            "10.0.0/8",
            "a/8",
            "::/129",
            "10.0.0.0/+8",
            "10.0.0.0/08",
            "::/+8",
            "::/08",
        ] {
            assert!(bad.parse::<Ipv4Cidr>().is_err() && bad.parse::<Ipv6Cidr>().is_err(), "{bad}");
        }
    }
}
