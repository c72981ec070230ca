//! A state server on loopback: keeps states in memory, locks as tofu's http backend expects, asks for a password.

use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;

use base64::Engine;
use eos_tofu::Backend;
use zeroize::Zeroizing;

pub const PASSWORD: &str = "open-sesame-for-the-state";

#[derive(Default)]
pub struct Kept {
    pub states: BTreeMap<String, Vec<u8>>,
    pub locks: BTreeMap<String, Vec<u8>>,
    /// Requests without the right name and password.
    pub strangers: usize,
}

pub struct HttpServer {
    address: SocketAddr,
    pub kept: Arc<Mutex<Kept>>,
    stop: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl HttpServer {
    pub fn start() -> HttpServer {
        HttpServer::start_with("127.0.0.1:0".parse().unwrap(), Arc::default())
    }

    fn start_with(address: SocketAddr, kept: Arc<Mutex<Kept>>) -> HttpServer {
        let listener = TcpListener::bind(address).unwrap();
        let address = listener.local_addr().unwrap();
        let stop = Arc::new(AtomicBool::new(false));
        let (inner, ended) = (kept.clone(), stop.clone());
        let thread = std::thread::spawn(move || {
            for stream in listener.incoming() {
                if ended.load(Ordering::SeqCst) {
                    return;
                }
                let kept = inner.clone();
                std::thread::spawn(move || {
                    let _ = answer(stream.unwrap(), &kept);
                });
            }
        });
        HttpServer { address, kept, stop, thread: Some(thread) }
    }

    pub fn backend(&self, unit: &str) -> Backend {
        let address = format!("http://{}/state/{unit}", self.address);
        Backend::Http {
            lock_address: Some(address.clone()),
            unlock_address: Some(address.clone()),
            address,
            username: Some("kim".into()),
            password: Some(Zeroizing::new(PASSWORD.into())),
        }
    }

    /// Nobody answers at its address from now on.
    pub fn stop(&mut self) {
        if let Some(thread) = self.thread.take() {
            self.stop.store(true, Ordering::SeqCst);
            let _ = TcpStream::connect(self.address);
            thread.join().unwrap();
        }
    }

    /// Again at the same address, with what it had.
    pub fn restart(&mut self) {
        self.stop();
        *self = HttpServer::start_with(self.address, self.kept.clone());
    }
}

impl Drop for HttpServer {
    fn drop(&mut self) {
        self.stop();
    }
}

/// One request: method, path without its query, `Authorization`, body.
pub struct Request {
    pub method: String,
    pub path: String,
    pub authorization: String,
    pub body: Vec<u8>,
    stream: TcpStream,
}

impl Request {
    pub fn read(stream: TcpStream) -> std::io::Result<Request> {
        let mut reader = BufReader::new(stream);
        let mut first = String::new();
        reader.read_line(&mut first)?;
        let mut words = first.split_whitespace();
        let (method, target) = (words.next().unwrap_or("").to_owned(), words.next().unwrap_or(""));
        let path = target.split('?').next().unwrap_or("").to_owned();
        let (mut length, mut authorization) = (0, String::new());
        loop {
            let mut line = String::new();
            if reader.read_line(&mut line)? == 0 || line.trim().is_empty() {
                break;
            }
            let (name, value) = line.split_once(':').unwrap_or((&line, ""));
            match name.to_ascii_lowercase().as_str() {
                "content-length" => length = value.trim().parse().unwrap_or(0),
                "authorization" => authorization = value.trim().to_owned(),
                _ => {}
            }
        }
        let mut body = vec![0; length];
        reader.read_exact(&mut body)?;
        Ok(Request { method, path, authorization, body, stream: reader.into_inner() })
    }

    pub fn answer(mut self, code: u16, body: &[u8]) -> std::io::Result<()> {
        let head = format!(
            "HTTP/1.1 {code} x\r\nContent-Type: application/json\r\nContent-Length: {}\r\nConnection: close\r\n\r\n",
            body.len()
        );
        self.stream.write_all(head.as_bytes())?;
        self.stream.write_all(body)
    }
}

fn answer(stream: TcpStream, kept: &Mutex<Kept>) -> std::io::Result<()> {
    let mut request = Request::read(stream)?;
    let given = base64::engine::general_purpose::STANDARD.encode(format!("kim:{PASSWORD}"));
    let known = request.authorization == format!("Basic {given}");
    let (path, body) = (request.path.clone(), std::mem::take(&mut request.body));
    let mut kept = kept.lock().unwrap();
    if !known {
        kept.strangers += 1;
    }
    let (code, body) = match request.method.as_str() {
        _ if !known => (401, Vec::new()),
        "GET" => kept.states.get(&path).map_or((404, Vec::new()), |state| (200, state.clone())),
        "POST" => {
            kept.states.insert(path, body);
            (200, Vec::new())
        }
        "DELETE" => {
            kept.states.remove(&path);
            (200, Vec::new())
        }
        "LOCK" => match kept.locks.get(&path) {
            Some(holder) => (423, holder.clone()),
            None => {
                kept.locks.insert(path, body);
                (200, Vec::new())
            }
        },
        "UNLOCK" => {
            kept.locks.remove(&path);
            (200, Vec::new())
        }
        _ => (405, Vec::new()),
    };
    drop(kept);
    request.answer(code, &body)
}
