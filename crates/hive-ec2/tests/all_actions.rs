//! What means the same on every action, asked of every action of the table: filters, pages, dry runs, client tokens.

#![allow(clippy::unwrap_used)]

mod support;

use std::collections::BTreeSet;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use hive_api::ApiError;
use hive_ec2::node::{Answer, Reports, Work};
use hive_ec2::{ACTIONS, AccountId, Engine, Node, NodeId, RecordsNode};
use support::requests::{Made, requests};
use support::{call, engine_with, first, runtime, settled, texts};

/// Counts the orders that it takes.
struct Counting(RecordsNode, AtomicUsize);

impl Node for Counting {
    fn id(&self) -> &NodeId {
        self.0.id()
    }

    fn notice(&self) -> Option<&'static str> {
        self.0.notice()
    }

    fn accept<'a>(&'a self, work: Work, reports: &'a Reports) -> Answer<'a, ()> {
        self.1.fetch_add(1, Ordering::SeqCst);
        self.0.accept(work, reports)
    }
}

/// An account with everything in it.
struct Estate {
    engine: Arc<Engine>,
    node: Arc<Counting>,
    made: Made,
    /// What some Describes cannot do without.
    needed: Vec<(&'static str, String)>,
    _dir: tempfile::TempDir,
}

impl Estate {
    async fn new() -> Estate {
        let dir = tempfile::tempdir().unwrap();
        let node = Arc::new(Counting(RecordsNode::new(NodeId::new("test")), AtomicUsize::new(0)));
        let engine =
            engine_with(dir.path(), Arc::clone(&node) as Arc<dyn Node>, Arc::new(jiff::Timestamp::now)).await;
        let everything = support::everything(&engine).await;
        settled(&engine).await;
        let of = |name: &str, more: &str| format!("={}{more}", everything.get(name));
        let needed = vec![
            ("DescribeVpcAttribute", format!("&VpcId{}", of("vpc", "&Attribute=enableDnsSupport"))),
            ("DescribeImageAttribute", format!("&ImageId{}", of("image", "&Attribute=description"))),
            ("DescribeInstanceAttribute", format!("&InstanceId{}", of("machine", "&Attribute=instanceType"))),
            (
                "DescribeNetworkInterfaceAttribute",
                format!("&NetworkInterfaceId{}", of("interface", "&Attribute=description")),
            ),
            (
                "DescribeSnapshotAttribute",
                format!("&SnapshotId{}", of("snapshot", "&Attribute=createVolumePermission")),
            ),
            ("DescribeVolumeAttribute", format!("&VolumeId{}", of("volume", "&Attribute=autoEnableIO"))),
            ("GetManagedPrefixListEntries", "&PrefixListId=pl-00000000000000501".to_owned()),
            ("DescribeLaunchTemplateVersions", format!("&LaunchTemplateId{}", of("template", ""))),
            ("GetConsoleOutput", format!("&InstanceId{}", of("machine", ""))),
            ("GetLaunchTemplateData", format!("&InstanceId{}", of("machine", ""))),
            ("GetPasswordData", format!("&InstanceId{}", of("machine", ""))),
        ];
        let mut estate = Estate { engine, node, made: Made::default(), needed, _dir: dir };
        estate.made.learn(&estate.seen().await);
        // A block of which no subnet has a part yet.
        let third = format!("DescribeVpcs&VpcId.1={}", everything.get("third"));
        estate.made.learn(&call(&estate.engine, &third).await.unwrap());
        estate
    }

    fn request(&self, action: &str) -> String {
        let more = self.needed.iter().find(|(name, _)| *name == action).map(|(_, more)| more.as_str());
        format!("{action}{}", more.unwrap_or_default())
    }

    async fn code(&self, query: &str) -> String {
        match call(&self.engine, query).await {
            Ok(_) => "answered".to_owned(),
            Err(ApiError { code, .. }) => code.into_owned(),
        }
    }

    /// All that any Describe says, and how many orders were given.
    async fn seen(&self) -> String {
        let mut all = self.node.1.load(Ordering::SeqCst).to_string();
        for entry in
            ACTIONS.iter().filter(|entry| entry.is_read_only() && !NOT_OF_THE_ACCOUNT.contains(&entry.name))
        {
            let query = self.request(entry.name);
            all += &call(&self.engine, &query).await.unwrap_or_else(|error| panic!("{query}: {error}"));
        }
        all
    }

    /// Nothing changed.
    async fn is_as(&self, before: &str, query: &str) {
        let now = self.seen().await;
        if now != before {
            let same = now.bytes().zip(before.bytes()).take_while(|(now, before)| now == before).count();
            let around = |text: &str| {
                text.get(same.saturating_sub(200)..).unwrap_or_default().chars().take(300).collect::<String>()
            };
            panic!("{query} changed\n{}\nto\n{}", around(before), around(&now));
        }
    }

    /// A request of the table that would succeed now, dry: with every id in every place until one does.
    async fn that_succeeds(&self, action: &str) -> Option<String> {
        // From 200 on a number picks any id, and not only a young one.
        let numbers = || 200..=u8::MAX;
        for (_, request) in requests().filter(|(_, what)| what.split('&').next() == Some(action)) {
            let mut tried = BTreeSet::new();
            for (a, b) in numbers().flat_map(|a| numbers().map(move |b| (a, b))) {
                let query = self.made.query(request, a, b);
                if tried.insert(query.clone()) && self.code(&format!("{query}&DryRun=true")).await == DRY {
                    return Some(query);
                }
            }
        }
        None
    }
}

const DRY: &str = "DryRunOperation";
const ANOTHER: &str = "200000000002";

/// Tables that ship with the program, and are long; and what says the time.
const NOT_OF_THE_ACCOUNT: &[&str] =
    &["DescribeInstanceTypes", "DescribeInstanceTypeOfferings", "GetConsoleOutput", "GetPasswordData"];

#[test]
fn a_filter_that_is_not_known_is_never_left_out() {
    runtime().block_on(async {
        let estate = Estate::new().await;
        for entry in ACTIONS.iter().filter(|entry| entry.is_read_only()) {
            let Some(names) = entry.accepts.filters else { continue };
            let query = estate.request(entry.name);
            let unknown = |number: u32| format!("&Filter.{number}.Name=colour&Filter.{number}.Value.1=red");
            // Also behind one that leaves nothing to look at, without a value, and of an account that has nothing.
            let known = names().first().map(|name| format!("&Filter.1.Name={name}&Filter.1.Value.1=nothing"));
            let behind = format!("{}{}", known.unwrap_or_default(), unknown(2));
            for more in [unknown(1), behind, "&Filter.1.Name=colour".to_owned(), unknown(1) + "&DryRun=true"]
            {
                assert_eq!(
                    estate.code(&format!("{query}{more}")).await,
                    "InvalidParameterValue",
                    "{query}{more}"
                );
            }
            // What is asked for by an id is not there.
            if query == entry.name {
                let asked = format!("{query}{}", unknown(1));
                let refused = support::call_as(&estate.engine, ANOTHER, &asked).await;
                assert_eq!(refused.unwrap_err().code, "InvalidParameterValue", "{query}: nothing there");
            }
        }
    });
}

#[test]
fn pages_are_the_whole_and_their_tokens_are_their_own() {
    runtime().block_on(async {
        let estate = Estate::new().await;
        for entry in ACTIONS.iter().filter(|entry| entry.accepts.pages) {
            let query = estate.request(entry.name);
            let mut paged = String::new();
            let mut token = String::new();
            loop {
                let page = call(&estate.engine, &format!("{query}&MaxResults=5{token}")).await.unwrap();
                let next = texts(&page, "nextToken");
                paged += &page;
                let Some(next) = next.first() else { break };
                // Opaque: an id would be used as one.
                assert!(estate.made.ids().iter().all(|id| !next.contains(id.as_str())), "{query}: {next}");
                // Asked again it is the same page, and no other action's.
                let again = format!("{query}&MaxResults=5&NextToken={next}");
                assert_eq!(
                    call(&estate.engine, &again).await.unwrap(),
                    call(&estate.engine, &again).await.unwrap()
                );
                let other = if entry.name == "DescribeVpcs" { "DescribeSubnets" } else { "DescribeVpcs" };
                assert_eq!(estate.code(&format!("{other}&NextToken={next}")).await, "InvalidNextToken");
                token = format!("&NextToken={next}");
            }
            let whole = call(&estate.engine, &query).await.unwrap();
            let ids = |text: &str| {
                let mut made = Made::default();
                made.learn(text);
                made.ids().iter().cloned().collect::<BTreeSet<_>>()
            };
            if !NOT_OF_THE_ACCOUNT.contains(&entry.name) {
                assert_eq!(ids(&paged), ids(&whole), "{query}");
            }
            for (more, code) in [
                ("&MaxResults=0", "InvalidParameterValue"),
                ("&MaxResults=1001", "InvalidParameterValue"),
                ("&NextToken=nonsense", "InvalidNextToken"),
            ] {
                assert_eq!(estate.code(&format!("{query}{more}")).await, code, "{query}{more}");
            }
        }
    });
}

#[test]
fn a_dry_run_of_any_action_would_succeed_and_changes_nothing() {
    runtime().block_on(async {
        let estate = Estate::new().await;
        for entry in ACTIONS.iter().filter(|entry| entry.is_read_only()) {
            let query = estate.request(entry.name);
            assert_eq!(estate.code(&format!("{query}&DryRun=true")).await, DRY, "{query}");
        }
        let before = estate.seen().await;
        let mut never = Vec::new();
        for entry in ACTIONS.iter().filter(|entry| !entry.is_read_only()) {
            match estate.that_succeeds(entry.name).await {
                None => never.push(entry.name),
                Some(query) => estate.is_as(&before, &format!("{query}&DryRun=true")).await,
            }
        }
        // There is a default VPC already, in which much is.
        assert_eq!(
            never,
            ["CreateDefaultSubnet", "CreateDefaultVpc"],
            "others have nothing to do: add to support/everything.txt"
        );
        estate.engine.prepare(&AccountId::new(ANOTHER)).await.unwrap();
        let of_another = async |query: &str| support::call_as(&estate.engine, ANOTHER, query).await;
        let ids = async |what: &str, element| texts(&of_another(what).await.unwrap(), element);
        let vpc = ids("DescribeVpcs", "vpcId").await.remove(0);
        let gateway = ids("DescribeInternetGateways", "internetGatewayId").await.remove(0);
        of_another(&format!("DetachInternetGateway&InternetGatewayId={gateway}&VpcId={vpc}")).await.unwrap();
        for subnet in ids("DescribeSubnets", "subnetId").await {
            of_another(&format!("DeleteSubnet&SubnetId={subnet}")).await.unwrap();
        }
        let subnet = "CreateDefaultSubnet&AvailabilityZone=us-east-1b&DryRun=true";
        assert_eq!(of_another(subnet).await.unwrap_err().code, DRY);
        assert_eq!(ids("DescribeSubnets", "subnetId").await, Vec::<String>::new());
        of_another(&format!("DeleteVpc&VpcId={vpc}")).await.unwrap();
        assert_eq!(of_another("CreateDefaultVpc&DryRun=true").await.unwrap_err().code, DRY);
        assert_eq!(ids("DescribeVpcs", "vpcId").await, Vec::<String>::new());
    });
}

#[test]
fn a_client_token_makes_one_of_each() {
    runtime().block_on(async {
        let estate = Estate::new().await;
        for entry in ACTIONS.iter().filter(|entry| entry.accepts.client_token) {
            let query = estate.that_succeeds(entry.name).await.unwrap_or_else(|| panic!("{}", entry.name));
            // The table has some with a token of their own.
            let query = query.split("&ClientToken=").next().unwrap_or_default();
            let again = format!("{query}&ClientToken=again");
            // A dry run uses no token up.
            assert_eq!(
                estate.code(&format!("{again}&DryRun=true&Other=1")).await,
                "UnknownParameter",
                "{again}"
            );
            assert_eq!(estate.code(&format!("{again}&DryRun=true")).await, DRY, "{again}");
            let answer = call(&estate.engine, &again).await.unwrap();
            settled(&estate.engine).await;
            let before = estate.seen().await;
            assert_eq!(call(&estate.engine, &again).await.unwrap(), answer, "{again}");
            let (rest, last) = query.rsplit_once('=').unwrap();
            for other in [format!("{again}&DryRun=true"), format!("{rest}=1{last}&ClientToken=again")] {
                let code = if other.contains("DryRun") { DRY } else { "IdempotentParameterMismatch" };
                assert_eq!(estate.code(&other).await, code, "{other}");
            }
            estate.is_as(&before, &format!("{again}, twice,")).await;
        }
        // The same word on another action is another token.
        let made = first(&estate.engine, "CreateVpc&CidrBlock=10.77.0.0/16", "vpcId").await;
        call(&estate.engine, &format!("CreateNetworkAcl&VpcId={made}&ClientToken=shared")).await.unwrap();
        call(&estate.engine, &format!("CreateRouteTable&VpcId={made}&ClientToken=shared")).await.unwrap();
    });
}
