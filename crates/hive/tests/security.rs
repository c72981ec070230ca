//! What a hostile or broken client sends: the right code, bounded work, and the gateway goes on.

#![allow(clippy::unwrap_used)]

#[path = "../../hive-ec2/tests/support/everything.rs"]
mod everything;
mod support;

use std::collections::BTreeSet;

use support::Gateway;
use support::client::Client;

fn gateway(dir: &tempfile::TempDir) -> Gateway {
    Gateway::start(&dir.path().join("data"), &["--plain-http"])
}

#[test]
fn malformed_requests_get_their_code() {
    let dir = tempfile::tempdir().unwrap();
    let gateway = gateway(&dir);
    let deep = format!("Action=DescribeVpcs&{}=1", vec!["a"; 200].join("."));
    let many = format!("Action=DescribeVpcs&{}", vec!["x=1"; 10_000].join("&"));
    let cases: [(&[u8], u16, &str); 13] = [
        (b"Action=NoSuchAction", 400, "InvalidAction"),
        (b"Action=DescribeVpcs&Version=2099-01-01", 400, "NoSuchVersion"),
        (b"Action=DescribeVpcs&Version=banana", 400, "NoSuchVersion"),
        (b"Action=Describe%3CVpcs%3E", 400, "InvalidAction"),
        (b"VpcId.1=vpc-12345678", 400, "MissingAction"),
        (b"Action=DescribeVpcs&VpcId.1=%00", 400, "MalformedQueryString"),
        (b"Action=DescribeVpcs&VpcId.1=%ff%fe", 400, "MalformedQueryString"),
        (b"Action=DescribeVpcs&VpcId.1=%4", 400, "MalformedQueryString"),
        (b"Action=DescribeVpcs&Action=DeleteVpc", 400, "MalformedQueryString"),
        (deep.as_bytes(), 400, "MalformedQueryString"),
        (many.as_bytes(), 400, "MalformedQueryString"),
        (b"Action=DescribeVpcs&MaxResults=99999999999999999999", 400, "InvalidParameterValue"),
        (
            b"Action=RunInstances&MinCount=4000000000&MaxCount=4000000000&ImageId=ami-x",
            400,
            "InvalidParameterValue",
        ),
    ];
    for (body, status, code) in cases {
        let mut client = Client::connect(&gateway.data, gateway.port(), 0).unwrap();
        let answer = client.post(body).unwrap();
        let shown = String::from_utf8_lossy(&body[..body.len().min(60)]);
        assert_eq!((answer.status, answer.element("Code")), (status, code), "{shown}");
        // The same connection still works.
        assert_eq!(client.action("DescribeVpcs").unwrap().status, 200, "{shown}");
    }
}

/// A number in a request costs what can be done with it, not what it says.
#[test]
fn large_numbers_are_refused_before_anything_is_reserved() {
    let dir = tempfile::tempdir().unwrap();
    let gateway = gateway(&dir);
    let mut client = Client::connect(&gateway.data, gateway.port(), 0).unwrap();
    let vpc = client.action("CreateVpc&CidrBlock=10.0.0.0/16").unwrap().element("vpcId").to_owned();
    let subnet = format!("CreateSubnet&VpcId={vpc}&CidrBlock=10.0.0.0/28");
    let subnet = client.action(&subnet).unwrap().element("subnetId").to_owned();
    let make = format!("CreateNetworkInterface&SubnetId={subnet}");
    let interface = client.action(&make).unwrap().element("networkInterfaceId").to_owned();
    let assign = format!("AssignPrivateIpAddresses&NetworkInterfaceId={interface}");
    let run = "RunInstances&ImageId=ami-00000000000000d01";
    let card =
        format!("&NetworkInterface.1.DeviceIndex=0&NetworkInterface.1.SubnetId={subnet}&NetworkInterface.1");
    let count = "SecondaryPrivateIpAddressCount";
    let (limit, full) = ("PrivateIpAddressLimitExceeded", "InsufficientFreeAddressesInSubnet");
    let launch = "InvalidInterface.IpAddressLimitExceeded";
    let cards: String = (0..900).map(|n| format!("&NetworkInterface.{}.DeviceIndex={n}", n + 1)).collect();
    for (query, code) in [
        (format!("{make}&{count}=4294967295"), limit),
        (format!("{make}&{count}=2147483647"), limit),
        (format!("{make}&{count}=51"), limit),
        (format!("{make}&{count}=12"), full),
        (format!("{assign}&{count}=2147483647"), limit),
        (format!("{assign}&{count}=12"), full),
        (format!("{run}&MinCount=1&MaxCount=1{card}.{count}=2147483647"), launch),
        (format!("{run}&MinCount=1&MaxCount=1000{card}.{count}=2147483647"), launch),
        (format!("{run}&MinCount=1&MaxCount=1000{card}.{count}=30"), full),
        (format!("{run}&MinCount=1&MaxCount=1000{cards}"), "AttachmentLimitExceeded"),
        (format!("{run}&MinCount=1&MaxCount=4294967295"), "InvalidParameterValue"),
        (
            "CreatePlacementGroup&GroupName=g&Strategy=partition&PartitionCount=4294967295".to_owned(),
            "InvalidParameterValue",
        ),
        ("CreateVolume&AvailabilityZone=us-east-1a&Size=4294967295".to_owned(), "InvalidParameterValue"),
    ] {
        for dry in ["", "&DryRun=true"] {
            let answer = client.action(&format!("{query}{dry}")).unwrap();
            assert_eq!((answer.status, answer.element("Code")), (400, code), "{query}{dry}");
        }
    }
    let peak = most_memory(&gateway);
    assert!(peak < 100 * 1024, "the gateway needed {peak} kB");
    let left = client.action(&format!("DescribeSubnets&SubnetId.1={subnet}")).unwrap();
    assert_eq!(left.element("availableIpAddressCount"), "10");
}

/// A list that is shorter than what was asked for may mean everything.
#[test]
fn what_a_misspelt_list_says_is_never_left_out() {
    let dir = tempfile::tempdir().unwrap();
    for mode in [&["--plain-http"][..], &["--plain-http", "--strict"]] {
        let gateway = Gateway::start(&dir.path().join(mode.len().to_string()), mode);
        let mut client = Client::connect(&gateway.data, gateway.port(), 0).unwrap();
        let vpc = client.action("CreateVpc&CidrBlock=10.0.0.0/16").unwrap().element("vpcId").to_owned();
        let tags = "Tag.1.Key=a&Tag.1.Value=1&Tag.2.Key=b&Tag.2.Value=2";
        assert_eq!(client.action(&format!("CreateTags&ResourceId.1={vpc}&{tags}")).unwrap().status, 200);
        let filter = |name: &str| format!("DescribeVpcs&{name}.Name=vpc-id&{name}.Value.1={vpc}");
        for (query, code) in [
            (format!("DeleteTags&ResourceId.1={vpc}&Tag.x.Key=a"), "MalformedQueryString"),
            (format!("DeleteTags&ResourceId.1={vpc}&Tag.Key=a"), "MalformedQueryString"),
            (format!("DeleteTags&ResourceId.1={vpc}&Tags.1.Key=a"), "UnknownParameter"),
            (format!("DeleteTags&ResourceId.1={vpc}&tag.1.Key=a"), "UnknownParameter"),
            (filter("Filter.x"), "MalformedQueryString"),
            (filter("Filter.0"), "MalformedQueryString"),
            (filter("Filter"), "MalformedQueryString"),
            (format!("{}&Filter.01.Name=tag:a", filter("Filter.1")), "MalformedQueryString"),
            (filter("Filters.1"), "UnknownParameter"),
            (format!("DescribeVpcs&VpcId.x={vpc}"), "MalformedQueryString"),
            (format!("DescribeVpcs&VpcIds.1={vpc}"), "UnknownParameter"),
            (
                "CreateLaunchTemplate&LaunchTemplateName=template&LaunchTemplateData.SecurityGroupId.x=sg-1"
                    .to_owned(),
                "MalformedQueryString",
            ),
        ] {
            let answer = client.action(&query).unwrap();
            assert_eq!((answer.status, answer.element("Code")), (400, code), "{query}");
        }
        let answer = client.action(&format!("DescribeTags&Filter.1.Name=resource-id&Filter.1.Value.1={vpc}"));
        assert_eq!(answer.unwrap().body.matches("<key>").count(), 2, "no tag is gone");
    }
}

#[test]
fn a_hundred_megabytes_are_refused_without_being_read() {
    let dir = tempfile::tempdir().unwrap();
    let gateway = gateway(&dir);
    let mut client = Client::connect(&gateway.data, gateway.port(), 0).unwrap();
    let body = vec![b'a'; 100 * 1024 * 1024];
    // Of this much the connection may end while we still send, and its answer be lost with it.
    if let Ok(answer) = client.post(&body) {
        assert_eq!((answer.status, answer.element("Code")), (413, "RequestEntityTooLarge"));
    }
    // Of less the rest is let in, so that the answer is found.
    let mut client = Client::connect(&gateway.data, gateway.port(), 0).unwrap();
    let answer = client.post(&body[..20 * 1024 * 1024]).unwrap();
    assert_eq!((answer.status, answer.element("Code")), (413, "RequestEntityTooLarge"));
    // What only says how much will come is answered before any of it does.
    let mut client = Client::connect(&gateway.data, gateway.port(), 0).unwrap();
    let answer =
        client.raw(b"POST / HTTP/1.1\r\nhost: localhost\r\ncontent-length: 104857600\r\n\r\n").unwrap();
    assert_eq!((answer.status, answer.element("Code")), (413, "RequestEntityTooLarge"));
    let peak = most_memory(&gateway);
    assert!(peak < 60 * 1024, "the gateway needed {peak} kB");
    let mut client = Client::connect(&gateway.data, gateway.port(), 0).unwrap();
    assert_eq!(client.action("DescribeVpcs").unwrap().status, 200);
}

/// The same by way of TLS and a client that reads nothing before it has sent everything.
#[test]
fn what_is_too_large_is_answered_over_tls_too() {
    let Some(python) = support::python("security::large_bodies") else { return };
    let dir = tempfile::tempdir().unwrap();
    let gateway = Gateway::start(&dir.path().join("data"), &[]);
    let said = support::succeed(gateway.command(&python).arg(support::script("large_bodies.py")));
    let lines: Vec<_> = said.lines().collect();
    assert_eq!(
        lines,
        [
            "own key, 1.2 MB: 413 RequestEntityTooLarge",
            "own key, 20 MB: 413 RequestEntityTooLarge",
            "unknown key, 0.1 MB: 401 AuthFailure",
            "unknown key, 0.9 MB: 401 AuthFailure",
            "in chunks, unsigned, 20 MB: 403",
        ]
    );
}

/// As Python does by itself from 3.13 on.
#[test]
fn a_client_that_is_strict_about_certificates_is_content() {
    let Some(python) = support::python("security::strict_certificates") else { return };
    let dir = tempfile::tempdir().unwrap();
    let gateway = Gateway::start(&dir.path().join("data"), &[]);
    let ask = "import os, ssl, urllib.error, urllib.request
trusted = ssl.create_default_context(cafile=os.environ['AWS_CA_BUNDLE'])
trusted.verify_flags |= ssl.VERIFY_X509_STRICT
try:
    urllib.request.urlopen(os.environ['AWS_ENDPOINT_URL'], context=trusted)
except urllib.error.HTTPError as answer:
    print(answer.code)";
    let said = support::succeed(gateway.command(&python).env("NO_PROXY", "localhost").args(["-c", ask]));
    assert_eq!(said, "403\n");
}

/// In kB.
fn most_memory(gateway: &Gateway) -> u64 {
    let status = std::fs::read_to_string(format!("/proc/{}/status", process(gateway))).unwrap();
    let mut lines = status.lines();
    let peak = lines.find_map(|line| line.strip_prefix("VmHWM:")?.trim().strip_suffix(" kB"));
    peak.unwrap().trim().parse().unwrap()
}

#[test]
fn strangers_on_many_connections_take_little_memory() {
    use std::io::Write as _;
    let dir = tempfile::tempdir().unwrap();
    let gateway = gateway(&dir);
    // As many as this process may open files, a few aside.
    let limits = std::fs::read_to_string("/proc/self/limits").unwrap();
    let mut words =
        limits.lines().find_map(|line| line.strip_prefix("Max open files")).unwrap().split_whitespace();
    let allowed: usize = words.next().unwrap().parse().unwrap_or(usize::MAX);
    let most = 4_000.min(allowed.saturating_sub(200));
    let part = [b'a'; 65_000];
    let connections: Vec<_> = (0..most)
        .map_while(|_| {
            let address = ([127, 0, 0, 1], gateway.port()).into();
            // Where more wait than the system keeps, connecting takes a second at least, or for ever.
            let patience = std::time::Duration::from_secs(5);
            let mut stream = std::net::TcpStream::connect_timeout(&address, patience).ok()?;
            stream.set_nonblocking(true).unwrap();
            let head = b"POST / HTTP/1.1\r\nhost: localhost\r\ncontent-length: 900000\r\n\r\n";
            let _ = stream.write_all(head).and_then(|()| stream.write_all(&part));
            Some(stream)
        })
        .collect();
    assert!(connections.len() >= most.min(1_000), "{} connections", connections.len());
    std::thread::sleep(std::time::Duration::from_secs(2));
    let peak = most_memory(&gateway);
    assert!(peak < 220 * 1024, "{} connections: the gateway needed {peak} kB", connections.len());
    drop(connections);
    let mut client = Client::connect(&gateway.data, gateway.port(), 0).unwrap();
    assert_eq!(client.action("DescribeVpcs").unwrap().status, 200);
}

fn process(gateway: &Gateway) -> u32 {
    hive::control::running(&gateway.data).unwrap().process
}

#[test]
fn a_stranger_with_a_large_body_holds_up_nobody() {
    use std::io::{Read as _, Write as _};
    let dir = tempfile::tempdir().unwrap();
    let gateway = gateway(&dir);
    // One byte more than is read of anybody, and then nothing: the answer does not wait for the rest.
    let strangers: Vec<_> = (0..40)
        .map(|_| {
            let mut stream = std::net::TcpStream::connect(("127.0.0.1", gateway.port())).unwrap();
            let head = "POST / HTTP/1.1\r\nhost: localhost\r\ncontent-length: 900000\r\n\r\n";
            stream.write_all(&[head.as_bytes(), &[b'a'; 16 * 1024 + 1]].concat()).unwrap();
            stream
        })
        .collect();
    for mut stream in strangers {
        let mut said = String::new();
        let _ = stream.read_to_string(&mut said);
        assert!(said.contains("MissingAuthenticationToken"), "{said}");
    }
    // Who has a key is heard to the end.
    let mut client = Client::connect(&gateway.data, gateway.port(), 0).unwrap();
    let large = format!("Action=DescribeVpcs&Version=2016-11-15&VpcId.1={}", "a".repeat(20_000));
    let answer = client.post(large.as_bytes()).unwrap();
    assert!(answer.body.contains("InvalidVpcID"), "{} {}", answer.status, answer.body);
}

#[test]
fn nobody_without_a_good_signature_gets_anything() {
    let dir = tempfile::tempdir().unwrap();
    let gateway = gateway(&dir);
    let mut client = Client::connect(&gateway.data, gateway.port(), 0).unwrap();
    let raw = |headers: &str, body: &str| {
        format!("POST / HTTP/1.1\r\nhost: localhost\r\n{headers}content-length: {}\r\n\r\n{body}", body.len())
    };
    let cases = [
        ("", "Action=DescribeVpcs", 403, "MissingAuthenticationToken"),
        ("authorization: Basic eDp5\r\n", "Action=DescribeVpcs", 400, "IncompleteSignature"),
        (
            "authorization: AWS4-HMAC-SHA256 Credential=AKIDNOBODY/20261116/us-east-1/ec2/aws4_request, \
             SignedHeaders=host, Signature=00\r\nx-amz-date: 20261116T000000Z\r\n",
            "Action=DescribeVpcs",
            403,
            "SignatureDoesNotMatch",
        ),
        (
            "authorization: AWS4-HMAC-SHA256 Credential=AKIDNOBODY/20200101/us-east-1/ec2/aws4_request, \
             SignedHeaders=host;x-amz-date, Signature=00\r\nx-amz-date: 20200101T000000Z\r\n",
            "Action=DescribeVpcs",
            400,
            "RequestExpired",
        ),
    ];
    for (headers, body, status, code) in cases {
        let answer = client.raw(raw(headers, body).as_bytes()).unwrap();
        assert_eq!((answer.status, answer.element("Code")), (status, code), "{headers}");
        assert!(answer.body.contains("<RequestID>"));
    }
    let answer = client.raw(raw("", "Action=GetCallerIdentity&Version=2011-06-15").as_bytes()).unwrap();
    assert!(answer.body.starts_with("<ErrorResponse"), "{}", answer.body);
}

/// Signed as it should be, with a key that nobody has or a secret that is not the key's.
#[test]
fn a_good_signature_with_a_wrong_key_or_secret_is_refused() {
    let dir = tempfile::tempdir().unwrap();
    let gateway = gateway(&dir);
    let connect = || Client::connect(&gateway.data, gateway.port(), 0).unwrap();
    let nobody = Some("AKIAIOSFODNN7EXAMPLE");
    for (mut client, status, code) in [
        (connect().with_key(nobody, "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY"), 401, "AuthFailure"),
        (connect().with_key(None, "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY"), 403, "SignatureDoesNotMatch"),
        (connect().with_key(None, ""), 403, "SignatureDoesNotMatch"),
    ] {
        for query in ["DescribeVpcs", "CreateVpc&CidrBlock=10.0.0.0/16", "NoSuchAction"] {
            let answer = client.action(query).unwrap();
            assert_eq!((answer.status, answer.element("Code")), (status, code), "{query}");
        }
    }
    let vpcs = connect().action("DescribeVpcs").unwrap();
    assert_eq!(vpcs.body.matches("<vpcId>").count(), 1, "only the default VPC: {}", vpcs.body);
}

/// Every id in an answer: a prefix and seventeen digits.
fn ids(text: &str) -> BTreeSet<String> {
    let is_id = |word: &&str| {
        word.rsplit_once('-').is_some_and(|(prefix, digits)| {
            !prefix.is_empty() && digits.len() == 17 && digits.bytes().all(|digit| digit.is_ascii_hexdigit())
        })
    };
    text.split(['<', '>', '/', ':', ' ', '&', '(', ')', ',']).filter(is_id).map(str::to_owned).collect()
}

/// What those need to be asked at all.
const NEEDED: &[(&str, &str)] = &[
    ("DescribeImageAttribute", "&Attribute=description"),
    ("DescribeInstanceAttribute", "&Attribute=userData"),
    ("DescribeNetworkInterfaceAttribute", "&Attribute=description"),
    ("DescribeSnapshotAttribute", "&Attribute=createVolumePermission"),
    ("DescribeVolumeAttribute", "&Attribute=autoEnableIO"),
    ("DescribeVpcAttribute", "&Attribute=enableDnsSupport"),
];

/// The parameter that names what is asked for, and how its ids begin.
const NAMES: &[(&str, &str)] = &[
    ("AllocationId", "eipalloc"),
    ("AssociationId", "iip-assoc"),
    ("DhcpOptionsId", "dopt"),
    ("EgressOnlyInternetGatewayId", "eigw"),
    ("GroupId", "sg"),
    ("ImageId", "ami"),
    ("InstanceId", "i"),
    ("InternetGatewayId", "igw"),
    ("KeyPairId", "key"),
    ("LaunchTemplateId", "lt"),
    ("NatGatewayId", "nat"),
    ("NetworkAclId", "acl"),
    ("NetworkInterfaceId", "eni"),
    ("RouteTableId", "rtb"),
    ("SecurityGroupRuleId", "sgr"),
    ("SnapshotId", "snap"),
    ("SubnetId", "subnet"),
    ("VolumeId", "vol"),
    ("VpcEndpointId", "vpce"),
    ("VpcId", "vpc"),
    ("VpcPeeringConnectionId", "pcx"),
];

/// What is in the codes for what is not there.
const NOT_FOUND: &[&str] = &["NotFound", "NoSuchAssociation", "InvalidPlacementGroup.Unknown"];

/// What EC2 answers with an empty list, where others are not found.
const LISTS_NOTHING: &[(&str, &str)] =
    &[("DescribeEgressOnlyInternetGateways", "EgressOnlyInternetGatewayId")];

/// With one of everything in one account: no Describe and no Get of another has any of it, asked for or not. What everyone
/// sees (images with their snapshots, prefix lists, services) has ids that the other knows before.
#[test]
fn an_account_never_sees_anothers_resources() {
    let dir = tempfile::tempdir().unwrap();
    let data = dir.path().join("data");
    hive::Credentials::add_account(&data, "200000000002", "other").unwrap();
    let gateway = Gateway::start(&data, &["--plain-http"]);
    let mut first = Client::connect(&data, gateway.port(), 0).unwrap();
    let mut other = Client::connect(&data, gateway.port(), 1).unwrap();
    let reads: Vec<_> = hive_ec2::ACTIONS.iter().filter(|entry| entry.is_read_only()).collect();
    // Whatever the other has or sees by itself.
    let known: BTreeSet<String> =
        reads.iter().flat_map(|entry| ids(&other.action(entry.name).unwrap().body)).collect();
    let mut made = everything::Everything::default();
    let mut secret = BTreeSet::new();
    for step in everything::steps() {
        let query = made.request(&step);
        let mut answer = first.action(&query).unwrap();
        while everything::is_too_early(answer.element("Code")) {
            answer = first.action(&query).unwrap();
        }
        assert_eq!(answer.status, 200, "{query}: {}", answer.body);
        made.learn(&step, &answer.body);
        secret.extend(ids(&answer.body));
    }
    for entry in &reads {
        secret.extend(ids(&first.action(entry.name).unwrap().body));
    }
    let secret: BTreeSet<_> = secret.difference(&known).cloned().collect();
    assert!(secret.len() > 60, "too little to say anything: {secret:?}");
    let owner = first.action("DescribeVpcs").unwrap().element("ownerId").to_owned();
    let (mut asked, mut nothing_listed) = (BTreeSet::new(), BTreeSet::new());
    for entry in &reads {
        let needed = NEEDED.iter().find(|(action, _)| *action == entry.name).map_or("", |(_, needed)| needed);
        let answer = other.action(&format!("{}{needed}", entry.name)).unwrap();
        let seen: Vec<_> = ids(&answer.body).into_iter().filter(|id| secret.contains(id)).collect();
        assert!(
            seen.is_empty() && !answer.body.contains(&owner),
            "{}: {seen:?}\n{}",
            entry.name,
            answer.body
        );
        let names = (entry.parameters)();
        for (parameter, prefix) in NAMES.iter().filter(|(parameter, _)| names.contains(parameter)) {
            // Groups of two kinds have the same parameter.
            let prefix = if entry.name == "DescribePlacementGroups" { &"pg" } else { prefix };
            let begins = |id: &&String| id.rsplit_once('-').is_some_and(|(own, _)| own == *prefix);
            let id = secret.iter().find(begins).unwrap_or_else(|| panic!("no {prefix}"));
            let forms = [format!("{parameter}={id}"), format!("{parameter}.1={id}")];
            let codes = forms.map(|form| {
                let answer = other.action(&format!("{}{needed}&{form}", entry.name)).unwrap();
                let shown = answer.status == 200 && ids(&answer.body).iter().any(|id| secret.contains(id));
                assert!(!shown, "{} {form}: {}", entry.name, answer.body);
                answer.element("Code").to_owned()
            });
            if !codes.iter().any(|code| NOT_FOUND.iter().any(|end| code.contains(end))) {
                nothing_listed.insert((entry.name, *parameter));
            }
            asked.insert(*parameter);
        }
    }
    assert_eq!(asked.len(), NAMES.len(), "{asked:?}");
    assert_eq!(nothing_listed.into_iter().collect::<Vec<_>>(), LISTS_NOTHING);
    let vpc = made.get("vpc");
    for query in [
        format!("DeleteVpc&VpcId={vpc}"),
        format!("CreateSubnet&VpcId={vpc}&CidrBlock=10.0.0.0/24"),
        format!("CreateTags&ResourceId.1={vpc}&Tag.1.Key=a&Tag.1.Value=b"),
    ] {
        let answer = other.action(&query).unwrap();
        assert_eq!((answer.status, answer.element("Code")), (400, "InvalidVpcID.NotFound"), "{query}");
    }
    assert_eq!(first.action(&format!("DescribeVpcs&VpcId.1={vpc}")).unwrap().status, 200);
}

#[test]
fn strict_mode_refuses_unknown_parameters_and_the_other_counts_them() {
    let dir = tempfile::tempdir().unwrap();
    let strict = Gateway::start(&dir.path().join("strict"), &["--plain-http", "--strict"]);
    let answer = Client::connect(&strict.data, strict.port(), 0)
        .unwrap()
        .action("CreateVpc&CidrBlock=10.0.0.0/16&Colour=red")
        .unwrap();
    assert_eq!((answer.status, answer.element("Code")), (400, "UnknownParameter"));
    let lenient = Gateway::start(&dir.path().join("lenient"), &["--plain-http"]);
    let mut client = Client::connect(&lenient.data, lenient.port(), 0).unwrap();
    for _ in 0..2 {
        assert_eq!(client.action("DescribeVpcs&Colour.1.Deep=red").unwrap().status, 200);
    }
    let counted = hive::control::unknown_parameters(&lenient.data).unwrap();
    assert_eq!(counted.len(), 1);
    assert_eq!(
        (counted[0].action.as_str(), counted[0].parameter.as_str(), counted[0].count),
        ("DescribeVpcs", "Colour", 2)
    );
}

#[test]
fn what_aws_would_do_and_hive_does_not_is_refused() {
    let dir = tempfile::tempdir().unwrap();
    let gateway = Gateway::start(&dir.path().join("data"), &["--plain-http"]);
    let mut client = Client::connect(&gateway.data, gateway.port(), 0).unwrap();
    let run = "RunInstances&MinCount=1&MaxCount=1&ImageId=ami-00000000000000d01";
    for (query, code) in [
        (format!("{run}&InstanceMarketOptions.MarketType=spot"), "UnsupportedOperation"),
        (format!("{run}&Placement.HostId=h-1"), "UnsupportedOperation"),
        (format!("{run}&Ipv6AddressCount=1"), "UnsupportedOperation"),
        (format!("{run}&SecurityGroup.1=nobody"), "InvalidGroup.NotFound"),
        ("AllocateAddress&Address=203.0.113.7".to_owned(), "UnsupportedOperation"),
    ] {
        let answer = client.action(&query).unwrap();
        assert_eq!((answer.status, answer.element("Code")), (400, code), "{query}");
    }
    // What asks for nothing is nothing to refuse.
    assert_eq!(
        client.action(&format!("{run}&Ipv6AddressCount=0&SecurityGroup.1=default")).unwrap().status,
        200
    );
}

#[test]
fn secrets_are_for_the_owner_only() {
    use std::os::unix::fs::PermissionsExt;
    let dir = tempfile::tempdir().unwrap();
    let gateway = Gateway::start(&dir.path().join("data"), &[]);
    let mode = |name: &str| std::fs::metadata(gateway.data.join(name)).unwrap().permissions().mode() & 0o777;
    assert_eq!(mode(""), 0o700);
    for name in ["credentials.json", "ca.key", "ca.pem"] {
        assert_eq!(mode(name), 0o600, "{name}");
    }
}
