//! Which hosts are one machine: it has a name in each environment that it serves.

use std::collections::BTreeMap;

use eos_model::HostName;
use eos_pillar::HostEntry;

/// Tells machines apart; it means nothing outside of one [`Machines`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Machine(usize);

/// The machines behind the hosts of an estate, those of every environment.
#[derive(Debug, Default)]
pub struct Machines<'e> {
    by_host: BTreeMap<&'e str, Machine>,
}

impl<'e> Machines<'e> {
    pub fn new(hosts: &'e BTreeMap<HostName, HostEntry>) -> Machines<'e> {
        let mut by_host: BTreeMap<&str, Machine> = BTreeMap::new();
        let mut by_node: BTreeMap<&str, Machine> = BTreeMap::new();
        let mut by_address: BTreeMap<&str, Machine> = BTreeMap::new();
        for (number, host) in hosts.values().enumerate() {
            let by_its_node = by_node.get(host.nomad_node.as_str()).copied();
            let by_its_address = by_address.get(host.address.as_str()).copied();
            let machine = by_its_node.or(by_its_address).unwrap_or(Machine(number));
            if let Some(other) = by_its_address.filter(|other| *other != machine) {
                // Taken for two until this host showed that they are one.
                for found in [&mut by_host, &mut by_node, &mut by_address] {
                    found.values_mut().filter(|one| **one == other).for_each(|one| *one = machine);
                }
            }
            by_host.insert(host.name.as_str(), machine);
            by_node.insert(&host.nomad_node, machine);
            by_address.insert(&host.address, machine);
        }
        Machines { by_host }
    }

    /// The machine of a host; none where nobody declared it.
    pub fn of(&self, host: &str) -> Option<Machine> {
        self.by_host.get(host).copied()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hosts(all: &[(&str, &str, &str)]) -> BTreeMap<HostName, HostEntry> {
        let mark = eos_yaml::Mark { line: 1, column: 1 };
        let value = eos_yaml::Value::Null;
        let node = eos_yaml::Node { value, mark, file: eos_yaml::FileId::default() };
        let host = |(name, nomad_node, address): &(&str, &str, &str)| HostEntry {
            name: name.parse().unwrap(),
            node: node.clone(),
            environment: "production".to_owned(),
            address: (*address).to_owned(),
            connection: "minion".to_owned(),
            nomad_node: (*nomad_node).to_owned(),
            volume_group: None,
            data_folder: None,
        };
        all.iter().map(host).map(|host| (host.name.clone(), host)).collect()
    }

    #[test]
    fn a_node_or_an_address_tells_a_machine() {
        let hosts = hosts(&[
            ("a", "n1", "10.0.0.1"),
            ("b", "n1", "10.0.0.2"),
            ("c", "n3", "10.0.0.2"),
            ("d", "n4", "10.0.0.4"),
        ]);
        let machines = Machines::new(&hosts);
        assert_eq!(machines.of("a"), machines.of("b"));
        assert_eq!(machines.of("a"), machines.of("c"), "by way of b");
        assert_ne!(machines.of("a"), machines.of("d"));
        assert_eq!(machines.of("e"), None);
    }

    #[test]
    fn a_host_may_show_that_two_are_one() {
        let hosts = hosts(&[("a", "n1", "10.0.0.1"), ("b", "n2", "10.0.0.2"), ("c", "n1", "10.0.0.2")]);
        let machines = Machines::new(&hosts);
        assert!(machines.of("a") == machines.of("b") && machines.of("b") == machines.of("c"));
    }
}
