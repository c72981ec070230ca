//! A load generator for `bench/hive`: signs one request, sends it over and over on keep-alive connections, prints what
//! it took as one line of JSON. SigV4 has no nonce, so the same signed bytes are verified anew each time and the
//! generator costs next to nothing beside the server it measures.
//!
//! A lone connection looks for its answer over and over instead of sleeping until it comes: to be woken takes as long as a quick
//! disk's sync, and is not the server's time.
//!
//! `load PORT ACCESS_KEY SECRET_KEY CONNECTIONS SECONDS|xREQUESTS QUERY…`; several queries take turns. `{n}` in a query
//! is the number of the request: such a query is signed each time.

#![allow(clippy::print_stdout, clippy::print_stderr, clippy::exit)]

use std::io::{BufRead, BufReader, ErrorKind, Read, Write};
use std::net::TcpStream;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant, SystemTime};

use aws_credential_types::Credentials;
use aws_sigv4::http_request::{SignableBody, SignableRequest, SigningSettings, sign};
use aws_sigv4::sign::v4;

type Failure = Box<dyn std::error::Error + Send + Sync>;

/// When to stop; always bounded.
#[derive(Clone, Copy)]
struct Bound {
    until: Instant,
    requests: usize,
}

struct Plan {
    port: u16,
    credentials: Credentials,
    queries: Vec<String>,
}

struct Tally {
    /// Of the requests that were served: a refusal is quick, and nothing to count.
    micros: Vec<u32>,
    failed: usize,
    bytes: usize,
    sample: String,
}

fn main() {
    if let Err(error) = run() {
        eprintln!("load: {error}");
        std::process::exit(1);
    }
}

fn run() -> Result<(), Failure> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [port, key, secret, connections, amount, queries @ ..] = arguments.as_slice() else {
        return Err("PORT ACCESS_KEY SECRET_KEY CONNECTIONS SECONDS|xREQUESTS QUERY…".into());
    };
    let plan = Plan {
        port: port.parse()?,
        credentials: Credentials::new(key, secret, None, None, "load"),
        queries: queries.to_vec(),
    };
    let start = Instant::now();
    let bound = match amount.strip_prefix('x') {
        Some(requests) => Bound { until: start + Duration::from_secs(600), requests: requests.parse()? },
        None => Bound { until: start + Duration::from_secs_f64(amount.parse()?), requests: usize::MAX },
    };
    let taken = AtomicUsize::new(0);
    let is_alone = connections == "1";
    let tallies: Vec<Tally> = std::thread::scope(|scope| {
        let threads: Vec<_> = (0..connections.parse::<usize>()?)
            .map(|_| scope.spawn(|| connection(&plan, bound, &taken, is_alone)))
            .collect();
        let joined = threads.into_iter().map(|thread| match thread.join() {
            Ok(tally) => tally,
            Err(_) => Err("a connection's thread panicked".into()),
        });
        joined.collect::<Result<_, Failure>>()
    })?;
    let seconds = start.elapsed().as_secs_f64();
    let mut micros: Vec<u32> = tallies.iter().flat_map(|tally| tally.micros.iter().copied()).collect();
    micros.sort_unstable();
    let at = |share: f64| micros.get((micros.len() as f64 * share) as usize).copied().unwrap_or_default();
    let mean = micros.iter().map(|micros| f64::from(*micros)).sum::<f64>() / micros.len().max(1) as f64;
    let failed: usize = tallies.iter().map(|tally| tally.failed).sum();
    let answer = serde_json::json!({
        "requests": micros.len() + failed,
        "seconds": seconds,
        "per_second": micros.len() as f64 / seconds,
        "mean_us": mean,
        "p50_us": at(0.5),
        "p99_us": at(0.99),
        "failed": failed,
        "bytes": tallies.iter().map(|tally| tally.bytes).sum::<usize>(),
        "sample": tallies.iter().map(|tally| tally.sample.as_str()).find(|text| !text.is_empty()),
    });
    println!("{answer}");
    Ok(())
}

fn connection(plan: &Plan, bound: Bound, taken: &AtomicUsize, is_alone: bool) -> Result<Tally, Failure> {
    let mut stream = connect(plan.port, is_alone)?;
    let mut tally = Tally { micros: Vec::new(), failed: 0, bytes: 0, sample: String::new() };
    let ready = plan
        .queries
        .iter()
        .map(|query| if query.contains("{n}") { Ok(Vec::new()) } else { plan.signed(query) });
    let ready: Vec<Vec<u8>> = ready.collect::<Result<_, Failure>>()?;
    loop {
        let number = taken.fetch_add(1, Ordering::Relaxed);
        if number >= bound.requests || Instant::now() >= bound.until {
            return Ok(tally);
        }
        let which = number % plan.queries.len();
        let fresh = if ready[which].is_empty() {
            plan.signed(&plan.queries[which].replace("{n}", &number.to_string()))?
        } else {
            Vec::new()
        };
        let bytes = if fresh.is_empty() { &ready[which] } else { &fresh };
        let began = Instant::now();
        stream.get_mut().send(bytes)?;
        let (status, body, closes) = read(&mut stream)?;
        let micros = u32::try_from(began.elapsed().as_micros()).unwrap_or(u32::MAX);
        tally.bytes += body.len();
        if closes {
            // A server that cannot keep a connection: making the next one is part of its price.
            stream = connect(plan.port, is_alone)?;
        }
        if status == 200 {
            tally.micros.push(micros);
        } else {
            tally.failed += 1;
            if tally.sample.is_empty() {
                tally.sample = String::from_utf8_lossy(&body).chars().take(300).collect();
            }
        }
    }
}

/// What a server may take for an answer.
const PATIENCE: Duration = Duration::from_secs(60);

fn connect(port: u16, looks: bool) -> Result<BufReader<Connection>, Failure> {
    let stream = TcpStream::connect(("127.0.0.1", port))?;
    stream.set_nodelay(true)?;
    stream.set_read_timeout(Some(PATIENCE))?;
    Ok(BufReader::with_capacity(256 * 1024, Connection { stream, looks }))
}

struct Connection {
    stream: TcpStream,
    /// For its answer instead of sleeping until it comes.
    looks: bool,
}

impl Connection {
    fn send(&mut self, bytes: &[u8]) -> std::io::Result<()> {
        self.stream.set_nonblocking(false)?;
        self.stream.write_all(bytes)?;
        self.stream.set_nonblocking(self.looks)
    }
}

impl Read for Connection {
    fn read(&mut self, into: &mut [u8]) -> std::io::Result<usize> {
        let began = Instant::now();
        loop {
            match self.stream.read(into) {
                Err(error)
                    if self.looks && error.kind() == ErrorKind::WouldBlock && began.elapsed() < PATIENCE =>
                {
                    std::hint::spin_loop();
                }
                read => return read,
            }
        }
    }
}

impl Plan {
    fn signed(&self, query: &str) -> Result<Vec<u8>, Failure> {
        let body = format!("Version=2016-11-15&Action={query}");
        let identity = self.credentials.clone().into();
        let params = v4::SigningParams::builder()
            .identity(&identity)
            .region("us-east-1")
            .name("ec2")
            .time(SystemTime::now())
            .settings(SigningSettings::default())
            .build()?
            .into();
        let host = format!("localhost:{}", self.port);
        let headers = [("host", host.as_str()), ("content-type", "application/x-www-form-urlencoded")];
        let body_bytes = SignableBody::Bytes(body.as_bytes());
        let signable =
            SignableRequest::new("POST", format!("http://{host}/"), headers.into_iter(), body_bytes)?;
        let (instructions, _) = sign(signable, &params)?.into_parts();
        let mut text = format!("POST / HTTP/1.1\r\ncontent-length: {}\r\n", body.len());
        for (name, value) in headers.into_iter().chain(instructions.headers()) {
            text.push_str(&format!("{name}: {value}\r\n"));
        }
        text.push_str("\r\n");
        text.push_str(&body);
        Ok(text.into_bytes())
    }
}

/// Status, body, and whether the server hangs up; servers may send a length or chunks.
fn read(stream: &mut BufReader<Connection>) -> Result<(u16, Vec<u8>, bool), Failure> {
    let mut line = String::new();
    stream.read_line(&mut line)?;
    let status = line.split(' ').nth(1).ok_or("the server hung up")?.parse()?;
    let (mut length, mut chunked, mut closes) = (0, false, false);
    loop {
        line.clear();
        if stream.read_line(&mut line)? == 0 {
            return Err("the server hung up".into());
        }
        let header = line.trim().to_ascii_lowercase();
        match header.split_once(':') {
            None => break,
            Some(("content-length", value)) => length = value.trim().parse()?,
            Some(("transfer-encoding", value)) => chunked = value.trim() == "chunked",
            Some(("connection", value)) => closes = value.trim() == "close",
            Some(_) => {}
        }
    }
    let mut body = Vec::new();
    if !chunked {
        body.resize(length, 0);
        stream.read_exact(&mut body)?;
        return Ok((status, body, closes));
    }
    loop {
        line.clear();
        stream.read_line(&mut line)?;
        let size = usize::from_str_radix(line.trim(), 16)?;
        let start = body.len();
        body.resize(start + size + 2, 0);
        stream.read_exact(&mut body[start..])?;
        body.truncate(start + size);
        if size == 0 {
            return Ok((status, body, closes));
        }
    }
}
