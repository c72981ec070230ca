//! The contract with real clients: boto3 over TLS, every action, every answer held against botocore's model.

#![allow(clippy::unwrap_used)]

mod support;

use std::io::Write as _;
use std::path::Path;
use std::process::Command;

use support::{Gateway, python, script, succeed, tool};

#[test]
fn boto3_finds_the_contract_kept() {
    let Some(python) = python("contract::boto3") else { return };
    let dir = tempfile::tempdir().unwrap();
    let gateway = Gateway::start(&dir.path().join("data"), &["--strict"]);
    let rows = hive::coverage::rows();
    let actions: Vec<&str> = rows.iter().map(|row| row.action).collect();
    let mut command = gateway.command(&python);
    command
        .env("HIVE_ACTIONS", actions.join(" "))
        .env("HIVE_COVERAGE", serde_json::to_string(&rows).unwrap());
    let said = succeed(command.arg(script("contract.py")));
    for line in said.lines().filter(|line| line.starts_with("SKIPPED")) {
        // Not eprintln: the test harness would swallow it for a test that passes.
        let _ = writeln!(std::io::stderr(), "{line}");
    }
    assert_eq!(gateway.leftovers(), []);
}

/// What AWS has and Hive refuses is known from these files: an old one would let something pass in silence.
#[test]
fn what_comes_from_botocore_is_what_it_says() {
    let Some(python) = python("contract::generated") else { return };
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    for (generator, file) in [("parameters.py", "ec2-parameters.txt"), ("filters.py", "ec2-filters.txt")] {
        let page = root.join("docs/hive-coverage.md");
        let said = succeed(Command::new(&python).arg(script(generator)).arg(page));
        let file = format!("crates/hive-ec2/src/data/{file}");
        let kept = std::fs::read_to_string(root.join(&file)).unwrap();
        assert!(
            said == kept,
            "run: {} crates/hive/tests/python/{generator} docs/hive-coverage.md > {file}",
            python.display()
        );
    }
}

/// The aws CLI by itself: what it is told, and what it says. `@name` stands for what an earlier line said.
const COMMANDS: &[(&str, &str, &str)] = &[
    ("vpc", "create-vpc --cidr-block 10.7.0.0/16 --query Vpc.VpcId", "vpc-*"),
    ("", "wait vpc-available --vpc-ids @vpc", ""),
    ("", "create-tags --resources @vpc --tags Key=Name,Value=seven Key=team,Value=a", ""),
    ("", "describe-vpcs --filters Name=tag:Name,Values=sev* --query Vpcs[].CidrBlock", "10.7.0.0/16"),
    ("", "describe-vpcs --filters Name=tag:Name,Values=eight --query Vpcs[].VpcId", ""),
    ("", "describe-tags --filters Name=resource-id,Values=@vpc --query Tags[].Value", "seven\ta"),
    ("subnet", "create-subnet --vpc-id @vpc --cidr-block 10.7.1.0/24 --query Subnet.SubnetId", "subnet-*"),
    ("", "wait subnet-available --subnet-ids @subnet", ""),
    (
        "",
        "describe-subnets --filters Name=vpc-id,Values=@vpc --query Subnets[].AvailableIpAddressCount",
        "251",
    ),
    (
        "instance",
        "run-instances --image-id ami-00000000000000d01 --instance-type t3.micro --subnet-id @subnet --query Instances[0].InstanceId",
        "i-*",
    ),
    ("", "wait instance-running --instance-ids @instance", ""),
    ("", "wait instance-status-ok --instance-ids @instance", ""),
    (
        "",
        "describe-instances --filters Name=instance-state-name,Values=running Name=subnet-id,Values=@subnet --query Reservations[].Instances[].[InstanceId,State.Name]",
        "@instance\trunning",
    ),
    ("", "describe-subnets --subnet-ids @subnet --query Subnets[0].AvailableIpAddressCount", "250"),
    (
        "",
        "describe-vpcs --page-size 5 --filters Name=vpc-id,Values=@vpc --query Vpcs[].CidrBlock",
        "10.7.0.0/16",
    ),
    ("", "describe-vpcs --vpc-ids vpc-00000000000000000", "!InvalidVpcID.NotFound"),
    ("", "describe-vpcs --filters Name=colour,Values=red", "!InvalidParameterValue"),
    ("", "create-vpc --cidr-block 10.8.0.0/16 --dry-run", "!DryRunOperation"),
    ("", "delete-vpc --vpc-id @vpc", "!DependencyViolation"),
    (
        "",
        "terminate-instances --instance-ids @instance --query TerminatingInstances[].CurrentState.Name",
        "shutting-down",
    ),
    ("", "wait instance-terminated --instance-ids @instance", ""),
    ("", "delete-subnet --subnet-id @subnet", ""),
    ("", "delete-vpc --vpc-id @vpc", ""),
];

#[test]
fn the_aws_cli_queries_filters_and_waits() {
    let Some(aws) = tool("aws", "contract::aws_cli") else { return };
    let dir = tempfile::tempdir().unwrap();
    let gateway = Gateway::start(&dir.path().join("data"), &["--strict"]);
    let mut known = std::collections::BTreeMap::new();
    let known_as = |known: &std::collections::BTreeMap<&str, String>, text: &str| {
        let put = |text: String, (name, value): (&&str, &String)| text.replace(&format!("@{name}"), value);
        known.iter().fold(text.to_owned(), put)
    };
    for (name, words, expected) in COMMANDS {
        let (words, expected) = (known_as(&known, words), known_as(&known, expected));
        let mut command = gateway.command(&aws);
        let output = command.args(["ec2", "--output", "text"]).args(words.split(' ')).output().unwrap();
        let said = String::from_utf8_lossy(&output.stdout).trim().to_owned();
        let complaint = String::from_utf8_lossy(&output.stderr).into_owned();
        if let Some(code) = expected.strip_prefix('!') {
            assert!(
                !output.status.success() && complaint.contains(&format!("({code})")),
                "{words}: {complaint}"
            );
            continue;
        }
        assert!(output.status.success(), "{words}: {complaint}");
        match expected.strip_suffix('*') {
            Some(beginning) => assert!(said.starts_with(beginning), "{words}: {said}"),
            None => assert_eq!(said, expected, "{words}"),
        }
        if !name.is_empty() {
            known.insert(*name, said);
        }
    }
    assert_eq!(gateway.leftovers(), []);
}

/// `eval "$(eos hive env)"` in a shell that was set up for something else.
#[test]
fn what_env_prints_wins_over_what_was_set() {
    let Some(aws) = tool("aws", "contract::environment") else { return };
    let dir = tempfile::tempdir().unwrap();
    let gateway = Gateway::start(&dir.path().join("data"), &[]);
    let shell = hive::environment::shell(&hive::environment::variables(&gateway.data).unwrap());
    let mut command = std::process::Command::new("sh");
    command.env_clear().env("HOME", dir.path()).env("PATH", std::env::var_os("PATH").unwrap());
    for (name, value) in [
        ("AWS_ENDPOINT_URL_EC2", "http://127.0.0.1:1"),
        ("AWS_ENDPOINT_URL_STS", "http://127.0.0.1:1"),
        ("AWS_IGNORE_CONFIGURED_ENDPOINT_URLS", "true"),
        ("AWS_PROFILE", "elsewhere"),
        ("AWS_SESSION_TOKEN", "old"),
    ] {
        command.env(name, value);
    }
    let script = format!(
        "{shell}\n'{aws}' ec2 describe-vpcs --query 'length(Vpcs)' && '{aws}' sts get-caller-identity --query Account --output text",
        aws = aws.display()
    );
    assert_eq!(succeed(command.arg("-c").arg(script)), "1\n100000000001\n");
}
