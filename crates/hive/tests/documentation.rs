//! The generated page is what the table says.

#![allow(clippy::unwrap_used)]

#[test]
fn the_coverage_page_is_current() {
    let page = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/hive-coverage.md");
    let found = std::fs::read_to_string(page).unwrap_or_default();
    assert!(
        found == hive::coverage::markdown(),
        "run: cargo run -p hive -- --coverage > docs/hive-coverage.md"
    );
}

/// What a terminal is shown fits on it, and says how to see more; each action by itself is what the page says of it.
#[test]
fn the_summary_is_short_and_leads_to_the_rest() {
    use hive::coverage::{Status, rows, summary};
    let text = summary();
    assert!(text.lines().count() < 24, "{text}");
    for service in ["ec2", "sts"] {
        let of_it = |status| rows().iter().filter(|r| r.service == service && r.status == status).count();
        let (done, partial) = (of_it(Status::Done), of_it(Status::Partial));
        let line = text.lines().find(|line| line.starts_with(service)).unwrap();
        let numbers: Vec<usize> = line.split_whitespace().skip(1).map(|word| word.parse().unwrap()).collect();
        assert_eq!(numbers, [done + partial, done, partial], "{text}");
    }
    assert!(text.contains("eos hive coverage RunInstances") && text.contains("--full"), "{text}");
    let page = hive::coverage::markdown();
    for action in hive::coverage::actions() {
        let said = hive::coverage::of(action).unwrap();
        assert!(page.contains(said.trim_end()) || said.contains("refused by name"), "{action}: {said}");
    }
    assert!(hive::coverage::of("AssignIpv6Addresses").unwrap().contains("IPv4 addresses only"));
    assert_eq!(hive::coverage::of("NoSuchAction"), None);
}

/// Every name is one that can be sent: an action of which EC2's list says nothing refuses nothing.
#[test]
fn what_is_refused_has_a_name() {
    for row in hive::coverage::rows() {
        let names = [&row.parameters, &row.without_effect, &row.filters, &row.refused_filters];
        assert!(names.into_iter().flatten().all(|name| !name.is_empty()), "{row:?}");
        assert!(row.refused.iter().all(|name| !name.is_empty()), "{row:?}");
    }
    let done = |action| {
        hive::coverage::rows()
            .iter()
            .any(|row| row.action == action && row.status == hive::coverage::Status::Done)
    };
    assert!(done("CreateInternetGateway") && done("GetCallerIdentity"));
    assert!(!done("RunInstances"));
}

/// What is refused is in the page, however deep it is in another parameter, and so are values.
#[test]
fn what_is_refused_in_part_is_said() {
    let rows = hive::coverage::rows();
    let refused = |action: &str, name: &str| {
        rows.iter().any(|row| {
            row.action == action
                && row.status == hive::coverage::Status::Partial
                && row.refused.iter().any(|refused| refused == name)
        })
    };
    for (action, name) in [
        ("RunInstances", "Placement.AvailabilityZoneId"),
        ("RunInstances", "NetworkInterface.InterfaceType"),
        ("RunInstances", "Placement.Tenancy=host"),
        ("CreateLaunchTemplate", "LaunchTemplateData.NetworkInterface.EnaSrdSpecification"),
        ("CreateKeyPair", "KeyFormat=ppk"),
        ("DescribeImageAttribute", "Attribute=uefiData"),
        (
            "ModifyVpcPeeringConnectionOptions",
            "AccepterPeeringConnectionOptions.AllowEgressFromLocalVpcToRemoteClassicLink",
        ),
    ] {
        assert!(refused(action, name), "{action} {name}");
    }
    assert!(!refused("RunInstances", "Placement.Tenancy"));
    assert!(!refused("RunInstances", "NetworkInterface.SubnetId"));
}

/// A test that joins or leaves the gate is run again: the page has each of the list, marked as the list says, and those of the
/// gate passed.
#[test]
fn the_acceptance_page_is_of_the_list_as_it_is() {
    use std::collections::BTreeSet;
    let read = |path: &str| {
        std::fs::read_to_string(std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join(path)).unwrap()
    };
    let (list, page) = (read("tests/acceptance/tests.txt"), read("../../docs/acceptance.md"));
    let lines = list.lines().filter(|line| !line.starts_with('#')).filter_map(|line| line.split_once(' '));
    let wanted: BTreeSet<(&str, bool)> = lines.map(|(mark, name)| (name, mark == "gate")).collect();
    let rows = page.lines().filter(|line| line.starts_with("| Test")).map(|line| {
        let mut cells = line.split('|').skip(1).map(str::trim);
        let mut cell = || cells.next().unwrap_or_default();
        (cell(), cell() == "gate", cell())
    });
    let rows: Vec<(&str, bool, &str)> = rows.collect();
    let broken: Vec<_> =
        rows.iter().filter(|(_, is_gate, outcome)| *is_gate && *outcome != "passed").collect();
    assert!(broken.is_empty(), "of the gate not passed: {broken:?}");
    let rows: BTreeSet<(&str, bool)> = rows.into_iter().map(|(name, is_gate, _)| (name, is_gate)).collect();
    let differ: Vec<_> = wanted.symmetric_difference(&rows).collect();
    assert!(wanted.len() > 50 && differ.is_empty(), "run: make acceptance\n{differ:?}");
}

/// Who asks for the provider's tests is told when they were not run.
#[test]
fn without_go_the_acceptance_tests_fail_aloud() {
    let dir = tempfile::tempdir().unwrap();
    let path = std::env::var_os("PATH").unwrap();
    let find =
        |tool: &str| std::env::split_paths(&path).map(|folder| folder.join(tool)).find(|tool| tool.is_file());
    // The script needs it to find itself; there is nothing else, and so no Go.
    std::os::unix::fs::symlink(find("dirname").unwrap(), dir.path().join("dirname")).unwrap();
    let done = std::process::Command::new(find("bash").unwrap())
        .arg(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/acceptance/run"))
        .env("PATH", dir.path())
        .env("XDG_CACHE_HOME", dir.path())
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&done.stderr);
    assert!(!done.status.success() && said.contains("no Go compiler"), "{}: {said}", done.status);
}
