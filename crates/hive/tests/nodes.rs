//! Two gateways' nodes on one NATS server: each is told of every network, whoever changes it, until it is made.

#![allow(clippy::unwrap_used)]

mod support;

use std::future::Future;
use std::pin::Pin;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use eos_store::{
    Batch, FolderRecords, Nats, NatsAccess, NatsRecords, NatsSettings, Pending, Record, Records, StoreError,
    Watch,
};
use hive_api::{Params, form};
use hive_ec2::node::{Report, Reports, Work};
use hive_ec2::{AccountId, Engine, EngineConfig, Environment, Log, Node, NodeId};
use test_tools::NatsServer;

const ACCOUNT: &str = "100000000001";

/// Notes what it is given; carries out no network while it is told not to.
struct Recording {
    id: NodeId,
    given: Mutex<Vec<String>>,
    refuses: AtomicBool,
}

impl Recording {
    fn take(&self) -> Vec<String> {
        std::mem::take(&mut *self.given.lock().unwrap())
    }

    /// Waits until the order was given as often.
    async fn until_given(&self, order: &str, times: usize) {
        for _ in 0..2_000 {
            let given = self.given.lock().unwrap().iter().filter(|given| given.contains(order)).count();
            if given >= times {
                return;
            }
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
        panic!("{} was not given {order} {times} times: {:?}", self.id.as_str(), self.given);
    }
}

impl Node for Recording {
    fn id(&self) -> &NodeId {
        &self.id
    }

    fn notice(&self) -> Option<&'static str> {
        None
    }

    fn accept<'a>(
        &'a self,
        work: Work,
        reports: &'a Reports,
    ) -> Pin<Box<dyn Future<Output = ()> + Send + 'a>> {
        Box::pin(async move {
            let order = format!("{:?}", work.order);
            let refused = self.refuses.load(Ordering::Relaxed) && order.starts_with("ApplyNetwork");
            self.given.lock().unwrap().push(order);
            let result = if refused { Err("no bridge".to_owned()) } else { Ok(()) };
            let _ = reports.send(Report { work, result });
        })
    }
}

type Lines = Arc<Mutex<Vec<String>>>;

/// Writes, and at times keeps the answer to itself, as a server does that goes away in between.
struct Silent {
    records: NatsRecords,
    silent: Arc<AtomicBool>,
    /// Takes nothing: its folder is a file.
    broken: FolderRecords,
}

impl Records for Silent {
    fn all(&self) -> Result<Vec<Record>, StoreError> {
        self.records.all()
    }

    fn get(&self, key: &str) -> Result<Option<Record>, StoreError> {
        self.records.get(key)
    }

    fn submit(&self, batch: Batch) -> Pending {
        if self.silent.load(Ordering::Relaxed) {
            drop(self.records.submit(batch));
            let mut nothing = Batch::default();
            nothing.put("key".to_owned(), 0, Vec::new());
            return self.broken.submit(nothing);
        }
        self.records.submit(batch)
    }

    fn watch(&self) -> Result<Option<Watch>, StoreError> {
        self.records.watch()
    }

    fn last_sequence(&self) -> Pending<u64> {
        self.records.last_sequence()
    }

    fn caught_up(&self, within: Duration) -> Pending<u64> {
        self.records.caught_up(within)
    }
}

async fn gateway(server: &NatsServer, name: &str) -> (Arc<Engine>, Arc<Recording>, Lines) {
    gateway_on(Arc::new(records(server).await), name).await
}

async fn records(server: &NatsServer) -> NatsRecords {
    let url = server.url();
    let opening = tokio::task::spawn_blocking(move || {
        let nats = Nats::connect(&url, &NatsAccess::default()).unwrap();
        NatsRecords::open(&nats, "hive-us-east-1", &NatsSettings::default()).unwrap()
    });
    opening.await.unwrap()
}

async fn gateway_on(records: Arc<dyn Records>, name: &str) -> (Arc<Engine>, Arc<Recording>, Lines) {
    let node = Arc::new(Recording {
        id: NodeId::new(name),
        given: Mutex::default(),
        refuses: AtomicBool::new(false),
    });
    let lines: Lines = Arc::default();
    let log = Arc::clone(&lines);
    let engine = Engine::start(EngineConfig {
        environment: Environment::new("us-east-1", node.id.clone()),
        records,
        node: Arc::clone(&node) as Arc<dyn Node>,
        entropy: Arc::new(|bytes: &mut [u8]| getrandom::fill(bytes).unwrap()),
        clock: Arc::new(jiff::Timestamp::now),
        accounts: vec![AccountId::new(ACCOUNT)],
        strict: true,
        log: Log::to(move |line| log.lock().unwrap().push(line.to_owned())),
    });
    (engine.await.unwrap(), node, lines)
}

async fn call(engine: &Arc<Engine>, query: &str) -> String {
    let mut params = Params::from_pairs(form::parse(format!("Action={query}").as_bytes()).unwrap()).unwrap();
    let action = params.take_value("Action").unwrap();
    engine.call(&AccountId::new(ACCOUNT), &action, params).await.unwrap()
}

fn text<'a>(xml: &'a str, element: &str) -> &'a str {
    let (_, rest) = xml.split_once(&format!("<{element}>")).unwrap();
    rest.split_once("</").unwrap().0
}

#[tokio::test(flavor = "multi_thread")]
async fn every_node_is_told_of_a_network_until_it_is_made() {
    let Some(server) = NatsServer::start("every_node_is_told_of_a_network_until_it_is_made") else { return };
    let (a, node_a, _) = gateway(&server, "a").await;
    let (_b, node_b, log_b) = gateway(&server, "b").await;
    let answer = call(&a, "CreateVpc&CidrBlock=10.0.0.0/16").await;
    let vpc = text(&answer, "vpcId");
    // Nobody asks the other gateway anything: it takes in what others do by itself.
    node_b.until_given(vpc, 1).await;
    let answer = call(&a, &format!("CreateSecurityGroup&GroupName=g&GroupDescription=g&VpcId={vpc}")).await;
    let group = text(&answer, "groupId");
    node_b.until_given(vpc, 2).await;
    node_a.take();
    node_b.take();
    // A rule of the group, and the other's node cannot make it.
    node_b.refuses.store(true, Ordering::Relaxed);
    let rule = "IpPermissions.1.IpProtocol=tcp&IpPermissions.1.FromPort=22&IpPermissions.1.ToPort=22";
    let rule = format!("{rule}&IpPermissions.1.IpRanges.1.CidrIp=10.0.0.0/8");
    call(&a, &format!("AuthorizeSecurityGroupIngress&GroupId={group}&{rule}")).await;
    node_b.until_given(vpc, 3).await;
    node_b.refuses.store(false, Ordering::Relaxed);
    let given = node_b.given.lock().unwrap().len();
    node_b.until_given(vpc, given + 1).await;
    // Whoever changed it told its own node once, and following itself adds nothing.
    assert_eq!(node_a.take().iter().filter(|given| given.contains(vpc)).count(), 1);
    call(&a, &format!("DeleteSecurityGroup&GroupId={group}")).await;
    node_b.take();
    call(&a, &format!("DeleteVpc&VpcId={vpc}")).await;
    node_b.until_given(vpc, 1).await;
    // It failed more often than it was said.
    let lines = log_b.lock().unwrap().clone();
    assert_eq!(lines.iter().filter(|line| line.contains("no bridge")).count(), 1, "{lines:?}");
    assert!(lines.iter().any(|line| line.contains("is done after all")), "{lines:?}");
}

/// A change that is in although nobody said so: its own gateway finds out by following, and tells its node.
#[tokio::test(flavor = "multi_thread")]
async fn a_node_is_told_of_a_change_whose_answer_was_lost() {
    let Some(server) = NatsServer::start("a_node_is_told_of_a_change_whose_answer_was_lost") else { return };
    let dir = tempfile::tempdir().unwrap();
    let broken = FolderRecords::open(&dir.path().join("file")).unwrap();
    std::fs::write(dir.path().join("file"), "").unwrap();
    let silent = Arc::new(AtomicBool::new(false));
    let store = Silent { records: records(&server).await, silent: Arc::clone(&silent), broken };
    let (engine, node, _) = gateway_on(Arc::new(store), "a").await;
    let answer = call(&engine, "CreateVpc&CidrBlock=10.0.0.0/16").await;
    let vpc = text(&answer, "vpcId");
    node.take();
    silent.store(true, Ordering::Relaxed);
    let mut params = form::parse(format!("VpcId={vpc}&CidrBlock=10.0.0.0/24").as_bytes()).unwrap();
    let params = Params::from_pairs(std::mem::take(&mut params)).unwrap();
    let refused = engine.call(&AccountId::new(ACCOUNT), "CreateSubnet", params).await.unwrap_err();
    assert_eq!(refused.status, 503, "{refused}");
    silent.store(false, Ordering::Relaxed);
    // At once, since it may be in already, and when it is seen.
    node.until_given(vpc, 2).await;
    let subnets =
        call(&engine, &format!("DescribeSubnets&Filter.1.Name=vpc-id&Filter.1.Value.1={vpc}")).await;
    assert!(subnets.contains("10.0.0.0/24"), "{subnets}");
}
