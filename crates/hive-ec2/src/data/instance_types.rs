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
    /// How many network interfaces it has room for, and how many IPv4 addresses each of them.
    pub interfaces: u32,
    pub addresses: u32,
    /// `nitro`, `xen`, or none below a machine of one's own.
    pub hypervisor: Option<&'static str>,
    pub burstable: bool,
    /// Whether it can be in a cluster.
    pub clusters: bool,
    pub enclaves: bool,
    ena: bool,
    pub is_current: bool,
    pub free_tier: bool,
    pub recovers: bool,
    /// `default`, `supported` or `unsupported`.
    pub ebs_optimized: &'static str,
    /// `1-4,8-24/4`, or `-`.
    valid_cores: &'static str,
    /// `2x1900ssd/ne`; `-` is none.
    disks: &'static str,
    /// `4xNVIDIA:T4:16384`; `-` is none.
    gpus: &'static str,
}

/// The disks of the machine itself, all alike.
pub struct Disks {
    pub count: u64,
    pub gigabytes: u64,
    pub kind: &'static str,
    pub needs_nvme: bool,
    pub needs_encryption: bool,
}

/// All alike. Of a divided one there is none as a whole, but the part's memory.
pub struct Gpus {
    pub count: u64,
    pub manufacturer: &'static str,
    pub name: String,
    pub mebibytes: u64,
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

    pub fn disks(&self) -> Option<Disks> {
        let (what, needs) = self.disks.split_once('/')?;
        let (count, size) = what.split_once('x')?;
        let (gigabytes, kind) = size.split_at(size.find(|letter: char| !letter.is_ascii_digit())?);
        Some(Disks {
            count: count.parse().ok()?,
            gigabytes: gigabytes.parse().ok()?,
            kind,
            needs_nvme: needs.contains('n'),
            needs_encryption: needs.contains('e'),
        })
    }

    pub fn gpus(&self) -> Option<Gpus> {
        let (count, what) = self.gpus.split_once('x')?;
        let (manufacturer, what) = what.split_once(':')?;
        let (name, mebibytes) = what.split_once(':')?;
        let name = name.replace('_', " ");
        Some(Gpus { count: count.parse().ok()?, manufacturer, name, mebibytes: mebibytes.parse().ok()? })
    }

    /// Whether volumes are NVMe devices to it.
    pub fn nvme(&self) -> &'static str {
        match (self.is_nitro(), self.disks()) {
            (true, _) => "required",
            (false, Some(disks)) if disks.needs_nvme => "supported",
            (false, _) => "unsupported",
        }
    }

    /// How many cores may be asked for; none if that cannot be said.
    pub fn valid_cores(&self) -> Vec<u32> {
        let run = |run: &str| {
            let (range, step) = run.split_once('/').unwrap_or((run, "1"));
            let (first, last) = range.split_once('-').unwrap_or((range, range));
            Some((first.parse().ok()?..=last.parse().ok()?).step_by(step.parse().ok()?))
        };
        self.valid_cores.split(',').filter_map(run).flatten().collect()
    }

    pub fn valid_threads_per_core(&self) -> Vec<u32> {
        if self.valid_cores == "-" { Vec::new() } else { (1..=self.threads_per_core()).collect() }
    }

    /// Of the generation that has disks and networks of one kind only: Nitro, and machines of one's own.
    pub fn is_nitro(&self) -> bool {
        self.hypervisor != Some("xen")
    }

    /// `required`, `supported` or `unsupported`, of the adapter that Nitro has and the last ones on Xen had too.
    pub fn ena_support(&self) -> &'static str {
        match (self.is_nitro(), self.ena) {
            (true, _) => "required",
            (false, true) => "supported",
            (false, false) => "unsupported",
        }
    }

    /// How many volumes it has room for, and whether its interfaces take of the same places. Up to the sixth generation of
    /// Nitro they do; the seventh has places for volumes alone, 32 and more for the large; on Xen EC2 vouches for 40 volumes.
    pub fn volumes(&self) -> (u32, bool) {
        let generation = self.name.chars().find_map(|letter| letter.to_digit(10)).unwrap_or_default();
        match self.is_nitro() {
            false => (40, false),
            true if generation >= 7 => (32, false),
            true => (28, true),
        }
    }

    pub fn placement_strategies(&self) -> &'static [&'static str] {
        let all = &["cluster", "partition", "spread"];
        if self.clusters { all } else { &all[1..] }
    }

    pub fn boot_modes(&self) -> &'static [&'static str] {
        match (self.architecture, self.hypervisor) {
            ("arm64", _) => &["uefi"],
            (_, Some("nitro")) => &["legacy-bios", "uefi"],
            _ => &["legacy-bios"],
        }
    }
}

static ALL: LazyLock<Vec<InstanceType>> =
    LazyLock::new(|| include_str!("instance-types.txt").lines().filter_map(parse).collect());

fn parse(line: &'static str) -> Option<InstanceType> {
    let mut words = line.split(' ').filter(|_| !line.starts_with('#'));
    let mut kind = InstanceType {
        name: words.next()?,
        architecture: words.next()?,
        vcpus: words.next()?.parse().ok()?,
        cores: words.next()?.parse().ok()?,
        memory_mib: words.next()?.parse().ok()?,
        interfaces: words.next()?.parse().ok()?,
        addresses: words.next()?.parse().ok()?,
        hypervisor: words.next().filter(|word| *word != "metal"),
        burstable: false,
        clusters: false,
        enclaves: false,
        ena: false,
        is_current: true,
        free_tier: false,
        recovers: false,
        ebs_optimized: "unsupported",
        valid_cores: "-",
        disks: "-",
        gpus: "-",
    };
    for flag in words.next()?.chars() {
        match flag {
            'b' => kind.burstable = true,
            'c' => kind.clusters = true,
            'e' => kind.enclaves = true,
            'n' => kind.ena = true,
            'f' => kind.free_tier = true,
            'p' => kind.is_current = false,
            'r' => kind.recovers = true,
            '-' => {}
            _ => return None,
        }
    }
    kind.valid_cores = words.next()?;
    (kind.ebs_optimized, kind.disks, kind.gpus) = (words.next()?, words.next()?, words.next()?);
    Some(kind)
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
        let cores = |name| super::find(name).map(|kind| kind.valid_cores());
        assert_eq!(cores("m5.2xlarge"), Some(vec![2, 4]));
        assert_eq!(cores("c5a.12xlarge"), Some(vec![1, 2, 3, 4, 8, 12, 16, 20, 24]));
        assert_eq!(cores("m5.metal"), Some(vec![]));
        for kind in super::all() {
            assert_eq!(kind.disks().is_some(), kind.disks != "-", "{}", kind.name);
            assert_eq!(kind.gpus().is_some(), kind.gpus != "-", "{}", kind.name);
        }
        let current = |name| super::find(name).map(|kind| kind.is_current);
        assert_eq!(
            ["m5.large", "r7g.large", "a1.large", "m4.large"].map(current),
            [true, true, false, false].map(Some)
        );
    }
}
