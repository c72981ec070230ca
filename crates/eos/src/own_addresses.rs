//! The addresses of this machine that others may reach it by, for hints in which one has to be typed.

use std::collections::BTreeSet;
use std::net::{Ipv4Addr, UdpSocket};

use eos_model::{Diagnostics, codes};

/// What stands in a hint where the compiler, which looks at no machine, cannot say more.
const PLACEHOLDER: &str = "<address>";

/// More would not be read.
const MOST: usize = 3;

/// Hints about a host at a loopback address name what it could have instead. Such a host is the machine one is at.
pub fn offer(mut found: Diagnostics) -> Diagnostics {
    for one in found.0.iter_mut().filter(|one| one.code == codes::LOOPBACK) {
        let Some(fix) = one.fix.as_mut().filter(|fix| fix.contains(PLACEHOLDER)) else { continue };
        let own = own();
        let Some((first, others)) = own.split_first() else { continue };
        *fix = fix.replace(PLACEHOLDER, first);
        if !others.is_empty() {
            fix.push_str(&format!(" (this machine also has {})", others.join(", ")));
        }
    }
    found
}

/// The address that leads out of this machine first. `EOS_OWN_ADDRESSES` says them where looking is not wanted.
fn own() -> Vec<String> {
    if let Ok(said) = std::env::var("EOS_OWN_ADDRESSES") {
        return said.split(',').map(str::to_owned).collect();
    }
    let table = std::fs::read_to_string("/proc/net/fib_trie").unwrap_or_default();
    let outwards = leads_out();
    let others = local(&table).into_iter().filter(|address| Some(*address) != outwards);
    outwards.into_iter().chain(others).take(MOST).map(|address| address.to_string()).collect()
}

/// What a packet to somewhere else would come from. Nothing is sent: connecting a datagram socket only looks up the route.
fn leads_out() -> Option<Ipv4Addr> {
    let socket = UdpSocket::bind((Ipv4Addr::UNSPECIFIED, 0)).ok()?;
    // An address that is for documentation and nobody's.
    socket.connect((Ipv4Addr::new(192, 0, 2, 1), 9)).ok()?;
    match socket.local_addr().ok()?.ip() {
        std::net::IpAddr::V4(address) => Some(address).filter(|address| is_reachable(*address)),
        std::net::IpAddr::V6(_) => None,
    }
}

/// The machine's own in the kernel's table of routes: a line with an address, and below it `/32 host LOCAL`.
fn local(table: &str) -> BTreeSet<Ipv4Addr> {
    let mut last = None;
    let mut found = BTreeSet::new();
    for line in table.lines().map(str::trim) {
        if let Some(address) = line.strip_prefix("|-- ") {
            last = address.parse().ok();
        } else if line == "/32 host LOCAL" {
            found.extend(last.filter(|address| is_reachable(*address)));
        }
    }
    found
}

fn is_reachable(address: Ipv4Addr) -> bool {
    !address.is_loopback() && !address.is_link_local() && !address.is_unspecified()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn own_addresses_are_told_from_networks_and_loopback() {
        let table = "Main:\n  +-- 0.0.0.0/0 3 0 5\n     |-- 0.0.0.0\n        /0 universe UNICAST\n     +-- 10.0.0.0/24 2 0 2\n        |-- 10.0.0.0\n           /24 link UNICAST\n        |-- 10.0.0.5\n           /32 host LOCAL\n        |-- 10.0.0.255\n           /32 link BROADCAST\n     +-- 127.0.0.0/8 2 0 2\n        |-- 127.0.0.1\n           /32 host LOCAL\n";
        let found: Vec<String> = local(table).iter().map(ToString::to_string).collect();
        assert_eq!(found, ["10.0.0.5"]);
    }
}
