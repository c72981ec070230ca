//! A network such as `10.0.0.0/16`, IPv4 or IPv6.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::str::FromStr;

/// Named by its first address.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Network {
    first: IpAddr,
    bits: u8,
}

impl Network {
    /// Whether all of the other is a part of it.
    pub fn holds(&self, other: &Network) -> bool {
        self.first.is_ipv4() == other.first.is_ipv4()
            && self.bits <= other.bits
            && first_address(other.first, self.bits) == self.first
    }
}

impl FromStr for Network {
    type Err = String;
    fn from_str(text: &str) -> Result<Network, String> {
        let wrong = || format!("{text:?} is not a network such as 10.0.0.0/16");
        let (address, bits) = text.split_once('/').ok_or_else(wrong)?;
        let address: IpAddr = address.parse().map_err(|_| wrong())?;
        let bits: u8 = bits.parse().map_err(|_| wrong())?;
        if bits > if address.is_ipv4() { 32 } else { 128 } {
            return Err(wrong());
        }
        let first = first_address(address, bits);
        if first != address {
            let is_inside = format!("{text:?} is an address inside of a network");
            return Err(format!("{is_inside}; the network is {first}/{bits}"));
        }
        Ok(Network { first, bits })
    }
}

/// The first address of the network that has an address and so many bits: those behind them are none.
fn first_address(address: IpAddr, bits: u8) -> IpAddr {
    let behind = |width: u32| width.saturating_sub(u32::from(bits));
    match address {
        IpAddr::V4(address) => {
            let kept = u32::MAX.checked_shl(behind(32)).unwrap_or(0);
            IpAddr::V4(Ipv4Addr::from_bits(address.to_bits() & kept))
        }
        IpAddr::V6(address) => {
            let kept = u128::MAX.checked_shl(behind(128)).unwrap_or(0);
            IpAddr::V6(Ipv6Addr::from_bits(address.to_bits() & kept))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_network_is_named_by_its_first_address() {
        for good in ["10.0.0.0/16", "10.0.0.1/32", "0.0.0.0/0", "fd00::/8", "::/0", "::1/128"] {
            assert!(good.parse::<Network>().is_ok(), "{good}");
        }
        for bad in ["10.0.0.0", "10.0.0.0/33", "1.0.0.0/0", "fd00::1/8", "fd00::/129", "x/8"] {
            assert!(bad.parse::<Network>().is_err(), "{bad}");
        }
        let inside = "10.0.0.1/16".parse::<Network>().unwrap_err();
        assert!(inside.contains("the network is 10.0.0.0/16"), "{inside}");
    }

    #[test]
    fn a_part_lies_within_the_whole() {
        let holds = |whole: &str, part: &str| {
            whole.parse::<Network>().unwrap().holds(&part.parse::<Network>().unwrap())
        };
        assert!(holds("10.0.0.0/16", "10.0.1.0/24") && holds("10.0.0.0/16", "10.0.0.0/16"));
        assert!(holds("0.0.0.0/0", "10.0.0.0/8") && holds("fd00::/8", "fd00:1::/32"));
        assert!(!holds("192.168.0.0/16", "10.0.1.0/24") && !holds("10.0.1.0/24", "10.0.0.0/16"));
        assert!(!holds("0.0.0.0/0", "::/0"));
    }
}
