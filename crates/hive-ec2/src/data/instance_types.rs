//! Instance types, read once from `instance-types.txt`.

use std::sync::LazyLock;

use crate::core::table::{Listed, TagFilters};

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct InstanceType {
    pub name: &'static str,
    pub architecture: &'static str,
    pub vcpus: u32,
    pub cores: u32,
    pub memory_mib: u64,
    pub burstable: bool,
    /// How many network interfaces it has room for, and how many IPv4 addresses each of them.
    pub interfaces: u32,
    pub addresses: u32,
}

impl Listed for InstanceType {
    const TAG_FILTERS: TagFilters = TagFilters::None;

    fn key(&self) -> &str {
        self.name
    }
}

impl InstanceType {
    pub fn threads_per_core(&self) -> u32 {
        self.vcpus / self.cores.max(1)
    }

    /// An ARM type has any number of its cores; one with threads all of them or an even number.
    pub fn valid_cores(&self) -> Vec<u32> {
        let even = |cores: &u32| self.threads_per_core() == 1 || cores.is_multiple_of(2);
        (1..=self.cores).filter(|cores| *cores == self.cores || even(cores)).collect()
    }

    pub fn valid_threads_per_core(&self) -> Vec<u32> {
        (1..=self.threads_per_core()).collect()
    }

    /// EC2 has enclaves on Nitro with four processors and more, but for burstable types and the second Graviton.
    pub fn has_enclaves(&self) -> bool {
        let graviton2 = self.name.split('.').next().is_some_and(|family| family.contains("6g"));
        self.hypervisor() == "nitro" && self.vcpus >= 4 && !self.burstable && !graviton2
    }

    /// Xen for the second generation, Nitro for all later ones.
    pub fn hypervisor(&self) -> &'static str {
        if self.name.starts_with("t2.") { "xen" } else { "nitro" }
    }
}

static ALL: LazyLock<Vec<InstanceType>> =
    LazyLock::new(|| include_str!("instance-types.txt").lines().filter_map(parse).collect());

fn parse(line: &'static str) -> Option<InstanceType> {
    let mut words = line.split(' ').filter(|_| !line.starts_with('#'));
    Some(InstanceType {
        name: words.next()?,
        architecture: words.next()?,
        vcpus: words.next()?.parse().ok()?,
        cores: words.next()?.parse().ok()?,
        memory_mib: words.next()?.parse().ok()?,
        burstable: words.next()? == "burstable",
        interfaces: words.next()?.parse().ok()?,
        addresses: words.next()?.parse().ok()?,
    })
}

pub fn all() -> &'static [InstanceType] {
    &ALL
}

pub fn find(name: &str) -> Option<&'static InstanceType> {
    ALL.binary_search_by(|known| known.name.cmp(name)).ok().and_then(|at| ALL.get(at))
}

#[cfg(test)]
mod tests {
    #[test]
    fn every_line_is_read_and_sorted() {
        let lines = include_str!("instance-types.txt").lines().filter(|line| !line.starts_with('#')).count();
        assert_eq!(super::all().len(), lines);
        assert!(super::all().is_sorted_by(|a, b| a.name < b.name));
        assert_eq!(super::find("t3.micro").map(|t| t.threads_per_core()), Some(2));
    }
}
