//! Servers that machines share: a real NATS, and a state server that speaks the protocol of the http backend.

use std::collections::BTreeMap;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;
use std::time::Duration;

use serde_json::json;
use test_tools::{NatsServer, NatsSettings, free_ports};

/// A NATS server; the tests of runs are on real tools or not at all.
pub fn nats() -> NatsServer {
    NatsServer::start("runs").unwrap()
}

/// One that asks who comes.
pub fn guarded_nats(user: &str, password: &str) -> NatsServer {
    let more = format!("authorization {{ user: {user:?}, password: {password:?} }}");
    NatsServer::start_with("runs", NatsSettings { more, ..NatsSettings::default() }).unwrap()
}

/// Three that make a cluster.
pub fn nats_cluster() -> [NatsServer; 3] {
    let ports: [u16; 3] = free_ports();
    let routes = ports.map(|port| format!("nats://127.0.0.1:{port}")).join(", ");
    ports.map(|port| {
        let more = format!(
            "server_name: n{port}\ncluster {{ name: shop, listen: \"127.0.0.1:{port}\", routes: [{routes}] }}"
        );
        NatsServer::start_with("runs", NatsSettings { more, ..NatsSettings::default() }).unwrap()
    })
}

type Kept = Arc<Mutex<BTreeMap<String, Vec<u8>>>>;

/// Keeps states and their locks in memory, one connection after another.
pub struct StateServer {
    address: String,
    kept: Kept,
    away: Arc<AtomicBool>,
}

impl StateServer {
    pub fn start() -> StateServer {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = format!("http://{}", listener.local_addr().unwrap());
        let kept = Kept::default();
        let served = Arc::clone(&kept);
        let away = Arc::new(AtomicBool::new(false));
        let is_away = Arc::clone(&away);
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten().filter(|_| !is_away.load(Ordering::SeqCst)) {
                let kept = Arc::clone(&served);
                std::thread::spawn(move || answer(stream, &kept));
            }
        });
        StateServer { address, kept, away }
    }

    /// Whether it hangs up on everybody from now on.
    pub fn is_away(&self, away: bool) {
        self.away.store(away, Ordering::SeqCst);
    }

    /// Locks every state that there is, as a tofu somewhere else would that makes a plan of each; lets go again when the
    /// thread ends.
    pub fn planned_elsewhere(&self, time: Duration) -> JoinHandle<()> {
        let kept = Arc::clone(&self.kept);
        let locks: Vec<String> = kept.lock().unwrap().keys().map(|path| format!("{path}/lock")).collect();
        assert!(!locks.is_empty());
        for path in &locks {
            let lock = json!({
                "ID": "15ce5213-95e5-a762-02ce-1342cdd85cf7", "Operation": "OperationTypePlan", "Info": "",
                "Who": "ann@elsewhere", "Version": "1.12.0", "Created": "2026-11-16T10:18:15Z", "Path": "",
            });
            kept.lock().unwrap().insert(path.clone(), lock.to_string().into_bytes());
        }
        std::thread::spawn(move || {
            std::thread::sleep(time);
            kept.lock().unwrap().retain(|path, _| !locks.contains(path));
        })
    }

    /// The only lock that is held, and where.
    pub fn lock(&self) -> (String, serde_json::Value) {
        let kept = self.kept.lock().unwrap();
        let mut locks = kept.iter().filter(|(path, _)| path.ends_with("/lock"));
        let (path, lock) = locks.next().unwrap();
        assert!(locks.next().is_none(), "one lock is held");
        (path.clone(), serde_json::from_slice(lock).unwrap())
    }

    pub fn put(&self, path: &str, document: &serde_json::Value) {
        self.kept.lock().unwrap().insert(path.to_owned(), document.to_string().into_bytes());
    }

    /// Where states are kept.
    pub fn paths(&self) -> Vec<String> {
        self.kept.lock().unwrap().keys().cloned().collect()
    }

    pub fn address(&self) -> &str {
        &self.address
    }
}

/// One request; the connection is closed after it.
fn answer(stream: TcpStream, kept: &Kept) -> Option<()> {
    let mut reader = BufReader::new(stream.try_clone().ok()?);
    let mut line = String::new();
    reader.read_line(&mut line).ok()?;
    let mut words = line.split(' ');
    let (method, path) = (words.next()?.to_owned(), words.next()?.split('?').next()?.to_owned());
    let mut length = 0;
    loop {
        let mut header = String::new();
        reader.read_line(&mut header).ok()?;
        if header.trim().is_empty() {
            break;
        }
        if let Some(value) = header.to_lowercase().strip_prefix("content-length:") {
            length = value.trim().parse().ok()?;
        }
    }
    let mut body = vec![0; length];
    reader.read_exact(&mut body).ok()?;
    let mut kept = kept.lock().unwrap();
    let (status, said) = match method.as_str() {
        "GET" => kept.get(&path).map_or(("404 Not Found", Vec::new()), |state| ("200 OK", state.clone())),
        "POST" => {
            kept.insert(path, body);
            ("200 OK", Vec::new())
        }
        "LOCK" => match kept.get(&path) {
            Some(holder) => ("423 Locked", holder.clone()),
            None => {
                kept.insert(path, body);
                ("200 OK", Vec::new())
            }
        },
        "DELETE" | "UNLOCK" => {
            kept.remove(&path);
            ("200 OK", Vec::new())
        }
        _ => ("405 Method Not Allowed", Vec::new()),
    };
    drop(kept);
    let head = format!("HTTP/1.1 {status}\r\ncontent-length: {}\r\nconnection: close\r\n\r\n", said.len());
    let mut stream = stream;
    stream.write_all(&[head.as_bytes(), &said].concat()).ok()
}
