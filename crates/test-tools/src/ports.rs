//! Ports for servers that cannot choose one themselves.

use std::net::TcpListener;
use std::sync::atomic::{AtomicU32, Ordering};

/// Ports that were free a moment ago, each another, and never the same twice: from where neither the system takes one for a
/// connection nor Nomad for a job that names none. Test programs that run at the same time begin at different places.
pub fn free_ports<const COUNT: usize>() -> [u16; COUNT] {
    static GIVEN: AtomicU32 = AtomicU32::new(0);
    let next = || 10_000 + (std::process::id() * 97 + GIVEN.fetch_add(1, Ordering::Relaxed)) % 10_000;
    std::array::from_fn(|_| {
        let mut drawn = std::iter::repeat_with(|| next() as u16).take(10_000);
        drawn.find(|port| TcpListener::bind(("127.0.0.1", *port)).is_ok()).unwrap()
    })
}
