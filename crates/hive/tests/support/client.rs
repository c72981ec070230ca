//! A small signing client over plain HTTP, for tests that need speed or want to send what no SDK would.

#![allow(clippy::unwrap_used)]

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::path::Path;
use std::time::SystemTime;

use aws_credential_types::Credentials;
use aws_sigv4::http_request::{SignableBody, SignableRequest, SigningSettings, sign};
use aws_sigv4::sign::v4;

pub struct Answer {
    pub status: u16,
    pub body: String,
}

impl Answer {
    /// The text of the first element of this name.
    pub fn element(&self, name: &str) -> &str {
        let (open, close) = (format!("<{name}>"), format!("</{name}>"));
        let start = self.body.find(&open).map(|at| at + open.len());
        start
            .and_then(|start| Some(&self.body[start..start + self.body[start..].find(&close)?]))
            .unwrap_or_default()
    }
}

pub struct Client {
    port: u16,
    credentials: Credentials,
    stream: BufReader<TcpStream>,
}

impl Client {
    /// With the access key number `key` of the data directory.
    pub fn connect(data: &Path, port: u16, key: usize) -> std::io::Result<Client> {
        let text = std::fs::read_to_string(data.join("credentials.json"))?;
        let json: serde_json::Value = serde_json::from_str(&text)?;
        let field = |name: &str| json["keys"][key][name].as_str().unwrap().to_owned();
        let credentials =
            Credentials::new(field("access_key_id"), field("secret_access_key"), None, None, "test");
        let stream = TcpStream::connect(("127.0.0.1", port))?;
        stream.set_nodelay(true)?;
        Ok(Client { port, credentials, stream: BufReader::new(stream) })
    }

    /// With a key that the gateway may know otherwise, or not at all; what is none stays as it is.
    pub fn with_key(mut self, id: Option<&str>, secret: &str) -> Client {
        let id = id.unwrap_or(self.credentials.access_key_id()).to_owned();
        self.credentials = Credentials::new(id, secret, None, None, "test");
        self
    }

    /// Signs and sends `body`; the answer, or that the other side is gone.
    pub fn post(&mut self, body: &[u8]) -> std::io::Result<Answer> {
        let identity = self.credentials.clone().into();
        let params = v4::SigningParams::builder()
            .identity(&identity)
            .region("us-east-1")
            .name("ec2")
            .time(SystemTime::now())
            .settings(SigningSettings::default())
            .build()
            .unwrap()
            .into();
        let host = format!("localhost:{}", self.port);
        let uri = format!("http://{host}/");
        let headers = [("host", host.as_str()), ("content-type", "application/x-www-form-urlencoded")];
        let signable =
            SignableRequest::new("POST", uri, headers.into_iter(), SignableBody::Bytes(body)).unwrap();
        let (instructions, _) = sign(signable, &params).unwrap().into_parts();
        let mut head = format!("POST / HTTP/1.1\r\ncontent-length: {}\r\n", body.len());
        for (name, value) in headers.into_iter().chain(instructions.headers()) {
            head.push_str(&format!("{name}: {value}\r\n"));
        }
        head.push_str("\r\n");
        let mut bytes = head.into_bytes();
        bytes.extend_from_slice(body);
        // The server may answer and hang up before it has read everything.
        let _ = self.stream.get_mut().write_all(&bytes);
        self.read()
    }

    /// Sends bytes as they are.
    pub fn raw(&mut self, bytes: &[u8]) -> std::io::Result<Answer> {
        let _ = self.stream.get_mut().write_all(bytes);
        self.read()
    }

    pub fn action(&mut self, query: &str) -> std::io::Result<Answer> {
        self.post(format!("Version=2016-11-15&Action={query}").as_bytes())
    }

    fn read(&mut self) -> std::io::Result<Answer> {
        let gone = || std::io::Error::from(std::io::ErrorKind::UnexpectedEof);
        let mut line = String::new();
        self.stream.read_line(&mut line)?;
        let status = line.split(' ').nth(1).and_then(|code| code.parse().ok()).ok_or_else(gone)?;
        let mut length = 0;
        loop {
            let mut header = String::new();
            if self.stream.read_line(&mut header)? == 0 {
                return Err(gone());
            }
            let header = header.trim().to_ascii_lowercase();
            if header.is_empty() {
                break;
            }
            if let Some(value) = header.strip_prefix("content-length:") {
                length = value.trim().parse().map_err(|_| gone())?;
            }
        }
        let mut body = vec![0; length];
        self.stream.read_exact(&mut body)?;
        Ok(Answer { status, body: String::from_utf8_lossy(&body).into_owned() })
    }
}
