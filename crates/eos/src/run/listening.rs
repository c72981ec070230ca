//! Who listens on this machine, as /proc tells. Of a process of another account it tells the account alone.

use std::collections::BTreeMap;
use std::fmt;

use eos_catalog::component::Protocol;

/// Somebody who has a port.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Listener {
    pub protocol: Protocol,
    pub port: u16,
    account: u32,
    inode: u64,
    /// Number and name.
    process: Option<(u32, String)>,
}

impl fmt::Display for Listener {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.process {
            Some((pid, name)) => write!(f, "{name} (process {pid})"),
            None => write!(f, "a process of the account {}", self.account),
        }
    }
}

/// Everybody, with the processes that have these ports. What cannot be read is nobody.
pub fn everybody(named: &[(Protocol, u16)]) -> Vec<Listener> {
    let mut all = Vec::new();
    for (file, protocol) in
        [("tcp", Protocol::Tcp), ("tcp6", Protocol::Tcp), ("udp", Protocol::Udp), ("udp6", Protocol::Udp)]
    {
        let table = std::fs::read_to_string(format!("/proc/net/{file}")).unwrap_or_default();
        all.extend(table.lines().skip(1).filter_map(|line| listener(line, protocol)));
    }
    let is_named = |one: &Listener| named.contains(&(one.protocol, one.port));
    let wanted: Vec<u64> = all.iter().filter(|one| is_named(one)).map(|one| one.inode).collect();
    let processes = if wanted.is_empty() { BTreeMap::new() } else { processes_with(&wanted) };
    for one in &mut all {
        one.process = processes.get(&one.inode).cloned();
    }
    all
}

/// A line of /proc/net/tcp or udp, when that socket waits for others: a TCP one that listens, a UDP one without a peer.
fn listener(line: &str, protocol: Protocol) -> Option<Listener> {
    let words: Vec<&str> = line.split_whitespace().collect();
    let waits = match protocol {
        Protocol::Tcp => "0A",
        Protocol::Udp => "07",
    };
    if *words.get(3)? != waits {
        return None;
    }
    let port = u16::from_str_radix(words.get(1)?.rsplit_once(':')?.1, 16).ok()?;
    let (account, inode) = (words.get(7)?.parse().ok()?, words.get(9)?.parse().ok()?);
    Some(Listener { protocol, port, account, inode, process: None })
}

/// The processes that hold sockets, of those that one may look into.
fn processes_with(sockets: &[u64]) -> BTreeMap<u64, (u32, String)> {
    let mut found = BTreeMap::new();
    let folders = std::fs::read_dir("/proc").into_iter().flatten().flatten();
    let pids = folders.filter_map(|entry| entry.file_name().to_str()?.parse::<u32>().ok());
    for pid in pids {
        let open = std::fs::read_dir(format!("/proc/{pid}/fd")).into_iter().flatten().flatten();
        for link in open.filter_map(|entry| std::fs::read_link(entry.path()).ok()) {
            let inode = link.to_str().and_then(|text| text.strip_prefix("socket:[")?.strip_suffix(']'));
            let inode = inode.and_then(|text| text.parse().ok()).filter(|inode| sockets.contains(inode));
            if let Some(inode) = inode {
                let name = std::fs::read_to_string(format!("/proc/{pid}/comm")).unwrap_or_default();
                // A child may have inherited it: the first one made it.
                found.entry(inode).or_insert((pid, name.trim().to_owned()));
            }
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use std::net::{TcpListener, TcpStream, UdpSocket};

    use super::*;

    #[test]
    fn a_listener_is_found_with_its_process_and_a_connection_is_none() {
        let (tcp, udp) = (TcpListener::bind("127.0.0.1:0").unwrap(), UdpSocket::bind("[::1]:0"));
        let port = tcp.local_addr().unwrap().port();
        let connection = TcpStream::connect(("127.0.0.1", port)).unwrap();
        let mut named = vec![(Protocol::Tcp, port)];
        // Not every machine has IPv6.
        named.extend(udp.iter().map(|udp| (Protocol::Udp, udp.local_addr().unwrap().port())));
        let all = everybody(&named);
        let has = |protocol, port| all.iter().find(|one| (one.protocol, one.port) == (protocol, port));
        for (protocol, port) in &named {
            let pid = has(*protocol, *port).and_then(|one| Some(one.process.as_ref()?.0));
            assert_eq!(pid, Some(std::process::id()), "{protocol:?} {port}");
        }
        assert_eq!(has(Protocol::Tcp, connection.local_addr().unwrap().port()), None);
        drop((tcp, connection));
        assert!(!everybody(&named).iter().any(|one| (one.protocol, one.port) == (Protocol::Tcp, port)));
    }

    /// As the kernel writes it, for a socket of another account.
    #[test]
    fn a_line_of_proc_is_read() {
        let line = "   2: 0100007F:18EB 00000000:0000 0A 00000000:00000000 00:00000000 00000000   999        0 4711 1";
        let one = listener(line, Protocol::Tcp).unwrap();
        assert_eq!((one.port, one.account, one.inode), (6379, 999, 4711));
        assert_eq!(one.to_string(), "a process of the account 999");
        assert_eq!(listener(line, Protocol::Udp), None);
        assert_eq!(listener("nonsense", Protocol::Tcp), None);
    }
}
