//! An engine on a store of its own, and how to ask it.

#![allow(clippy::unwrap_used, dead_code)]

pub mod elements;
mod everything;
pub mod requests;

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use eos_store::{Durability, EmbeddedRecords};
use hive_api::{ApiError, Params, form};
use hive_ec2::model::cidr::Ipv4Cidr;
use hive_ec2::{AccountId, Engine, EngineConfig, Environment, Node, NodeId, RecordsNode};
use jiff::Timestamp;

pub const ACCOUNT: &str = "100000000001";

pub fn runtime() -> tokio::runtime::Runtime {
    tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build().unwrap()
}

pub async fn engine(dir: &std::path::Path) -> Arc<Engine> {
    let node = Arc::new(RecordsNode::new(NodeId::new("test")));
    engine_with(dir, node, Arc::new(Timestamp::now)).await
}

/// With a node and a clock from outside.
pub async fn engine_with(
    dir: &std::path::Path,
    node: Arc<dyn Node>,
    clock: Arc<dyn Fn() -> Timestamp + Send + Sync>,
) -> Arc<Engine> {
    engine_in(dir, node, clock, 15).await
}

/// With a pool of public addresses of another size.
pub async fn engine_in(
    dir: &std::path::Path,
    node: Arc<dyn Node>,
    clock: Arc<dyn Fn() -> Timestamp + Send + Sync>,
    public_prefix: u8,
) -> Arc<Engine> {
    let mut environment = Environment::new("us-east-1", node.id().clone());
    environment.public_addresses = Ipv4Cidr::new(u32::from_be_bytes([198, 18, 0, 0]), public_prefix);
    environment.limits.set("all=none").unwrap();
    engine_of(dir, node, clock, environment).await
}

pub async fn engine_of(
    dir: &std::path::Path,
    node: Arc<dyn Node>,
    clock: Arc<dyn Fn() -> Timestamp + Send + Sync>,
    environment: Environment,
) -> Arc<Engine> {
    let counter = AtomicU64::new(Timestamp::now().as_nanosecond() as u64);
    Engine::start(EngineConfig {
        environment,
        records: Arc::new(EmbeddedRecords::open(&dir.join("store.redb"), Durability::Relaxed).unwrap()),
        node,
        // Distinct is enough here.
        entropy: Arc::new(move |bytes: &mut [u8]| {
            for chunk in bytes.chunks_mut(8) {
                let next = counter.fetch_add(0x9e37_79b9_7f4a_7c15, Ordering::Relaxed);
                chunk.copy_from_slice(&next.to_be_bytes()[..chunk.len()]);
            }
        }),
        clock,
        accounts: vec![AccountId::new(ACCOUNT)],
        strict: true,
        log: hive_ec2::Log::default(),
    })
    .await
    .unwrap()
}

/// `Action&Name=Value&…`
pub async fn call(engine: &Arc<Engine>, query: &str) -> Result<String, ApiError> {
    call_as(engine, ACCOUNT, query).await
}

pub async fn call_as(engine: &Arc<Engine>, account: &str, query: &str) -> Result<String, ApiError> {
    let mut params = Params::from_pairs(form::parse(format!("Action={query}").as_bytes()).unwrap()).unwrap();
    let action = params.take_value("Action").unwrap();
    let answer = engine.call(&AccountId::new(account), &action, params).await;
    if let Err(error) = &answer {
        assert!(error.status < 500, "{query}: {error}");
    }
    answer
}

/// What the first element of a name says in an answer that has to come.
pub async fn first(engine: &Arc<Engine>, query: &str, element: &str) -> String {
    let answer = call(engine, query).await.unwrap_or_else(|error| panic!("{query}: {error}"));
    texts(&answer, element).into_iter().next().unwrap_or_else(|| panic!("{query}: {answer}"))
}

/// One or a few of everything, by name.
pub async fn everything(engine: &Arc<Engine>) -> everything::Everything {
    let mut made = everything::Everything::default();
    for step in everything::steps() {
        let query = made.request(&step);
        let mut answer = call(engine, &query).await;
        while answer.as_ref().is_err_and(|error| everything::is_too_early(&error.code)) {
            settled(engine).await;
            answer = call(engine, &query).await;
        }
        let answer = answer.unwrap_or_else(|error| panic!("{query}: {error}"));
        made.learn(&step, &answer);
    }
    made
}

/// Orders are reported in the background: waits until every one of them is in the records.
pub async fn settled(engine: &Arc<Engine>) {
    const MOVING: &[&str] = &[
        "attaching",
        "creating",
        "deleting",
        "detaching",
        "modifying",
        "optimizing",
        "pending",
        "provisioning",
        "shutting-down",
        "stopping",
    ];
    for _ in 0..1000 {
        let mut all = String::new();
        for kind in ["Images", "Instances", "NatGateways", "Snapshots", "Volumes", "VolumesModifications"]
            .into_iter()
            .chain(["VpcEndpoints", "VpcPeeringConnections"])
        {
            all += &call(engine, &format!("Describe{kind}")).await.unwrap();
        }
        if !MOVING.iter().any(|state| all.contains(&format!(">{state}<"))) {
            return;
        }
        tokio::time::sleep(std::time::Duration::from_millis(1)).await;
    }
    panic!("the orders were never reported");
}

/// The text of every element of a name.
pub fn texts(xml: &str, element: &str) -> Vec<String> {
    let (open, close) = (format!("<{element}>"), format!("</{element}>"));
    let pieces = xml.split(&open).skip(1);
    pieces.filter_map(|piece| Some(piece.split_once(&close)?.0.to_owned())).collect()
}
