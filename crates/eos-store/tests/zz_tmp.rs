#![allow(clippy::unwrap_used)]
mod support;
#[test]
fn plain() {
    for synced in [false, true] {
    let server = support::Server::start_with("x", synced).unwrap();
    let _s = eos_store::NatsRecords::open(&server.connect(), "store", &Default::default()).unwrap();
    let rt = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build().unwrap();
    rt.block_on(async {
        let c = async_nats::connect(server.url()).await.unwrap();
        let js = async_nats::jetstream::new(c.clone());
        let t = std::time::Instant::now();
        for _ in 0..200 { js.publish("$KV.store.x", "x".into()).await.unwrap().await.unwrap(); }
        println!("plain {synced}: {:.2} ms", t.elapsed().as_secs_f64()*5.0);
        for n in [1usize,2,10,100] {
        let t = std::time::Instant::now();
        for i in 0..50 {
            for k in 1..=n {
                let mut h = async_nats::HeaderMap::new();
                h.insert("Nats-Batch-Id", format!("b{synced}{i}-{n}").as_str());
                h.insert("Nats-Batch-Sequence", k.to_string());
                if k==n { h.insert("Nats-Batch-Commit","1"); let m=c.request_with_headers(format!("$KV.store.k{k}"),h,"x".into()).await.unwrap(); assert!(!String::from_utf8_lossy(&m.payload).contains("error"),"{:?}",m.payload); }
                else { c.publish_with_headers(format!("$KV.store.k{k}"),h,"x".into()).await.unwrap(); }
            }
        }
        println!("batch of {n} {synced}: {:.2} ms", t.elapsed().as_secs_f64()*20.0);
        }
    });
    }
}
