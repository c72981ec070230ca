//! A tiny HTTP server on a free loopback port: fixed answers by path, and a record of what was asked.

use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;

/// What a path answers with.
#[derive(Clone, Default)]
pub struct Answer {
    pub body: Vec<u8>,
    /// Send only so many bytes of the body, though all are promised.
    pub cut_at: Option<usize>,
    /// Runs before the answer is sent.
    pub before: Option<Arc<dyn Fn() + Send + Sync>>,
}

pub struct Server {
    address: SocketAddr,
    asked: Arc<Mutex<Vec<String>>>,
    stop: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl Server {
    pub fn start(answers: impl IntoIterator<Item = (String, Answer)>) -> Server {
        let answers: Arc<BTreeMap<String, Answer>> = Arc::new(answers.into_iter().collect());
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let asked = Arc::new(Mutex::new(Vec::new()));
        let stop = Arc::new(AtomicBool::new(false));
        let thread = std::thread::spawn({
            let (asked, stop) = (Arc::clone(&asked), Arc::clone(&stop));
            move || {
                for stream in listener.incoming() {
                    if stop.load(Ordering::SeqCst) {
                        return;
                    }
                    let (answers, asked) = (Arc::clone(&answers), Arc::clone(&asked));
                    std::thread::spawn(move || serve(stream.unwrap(), &answers, &asked));
                }
            }
        });
        Server { address, asked, stop, thread: Some(thread) }
    }

    pub fn base(&self) -> String {
        format!("http://{}", self.address)
    }

    pub fn asked(&self) -> Vec<String> {
        self.asked.lock().unwrap().clone()
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::SeqCst);
        let _ = TcpStream::connect(self.address);
        if let Some(thread) = self.thread.take() {
            thread.join().unwrap();
        }
    }
}

fn serve(mut stream: TcpStream, answers: &BTreeMap<String, Answer>, asked: &Mutex<Vec<String>>) {
    let mut lines = BufReader::new(stream.try_clone().unwrap()).lines();
    let request = lines.next().unwrap().unwrap();
    while lines.next().is_some_and(|line| line.is_ok_and(|line| !line.is_empty())) {}
    let path = request.split(' ').nth(1).unwrap().to_owned();
    asked.lock().unwrap().push(path.clone());
    let Some(answer) = answers.get(&path) else {
        let _ = stream.write_all(b"HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\nConnection: close\r\n\r\n");
        return;
    };
    if let Some(before) = &answer.before {
        before();
    }
    let head =
        format!("HTTP/1.1 200 OK\r\nContent-Length: {}\r\nConnection: close\r\n\r\n", answer.body.len());
    let _ = stream.write_all(head.as_bytes());
    let _ = stream.write_all(&answer.body[..answer.cut_at.unwrap_or(answer.body.len())]);
}
