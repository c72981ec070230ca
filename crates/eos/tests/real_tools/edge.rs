//! The edge proxy's configuration in the real Caddy: a client cannot say who is signed in.

use std::io::{Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::{Duration, Instant};

use serde_json::{Value as Json, json};

use crate::support::{Sandbox, program};
use test_tools::free_ports;

/// Ended with the test, whatever happens.
struct Running(Child);

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// A server that answers everything with 200 and these headers, and tells of each request it got.
fn server(headers: &'static str) -> (u16, Receiver<String>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    let (tell, told) = channel();
    std::thread::spawn(move || {
        for mut stream in listener.incoming().flatten() {
            let mut request = Vec::new();
            let mut buffer = [0; 4096];
            while !request.windows(4).any(|end| end == b"\r\n\r\n") {
                match stream.read(&mut buffer) {
                    Ok(count) if count > 0 => request.extend(&buffer[..count]),
                    _ => break,
                }
            }
            let answer =
                format!("HTTP/1.1 200 OK\r\n{headers}Content-Length: 0\r\nConnection: close\r\n\r\n");
            let _ = stream.write_all(answer.as_bytes());
            if tell.send(String::from_utf8_lossy(&request).to_lowercase()).is_err() {
                break;
            }
        }
    });
    (port, told)
}

/// The configuration that eos compiled, with the two upstreams replaced and without certificates.
fn configuration(sandbox: &Sandbox, ports: [u16; 3], app: u16, identity: u16) -> Json {
    let job: Json =
        serde_json::from_str(&sandbox.read("build/production/hecate/jobs/hecate.nomad.json")).unwrap();
    let templates = job["Job"]["TaskGroups"][0]["Tasks"][0]["Templates"].as_array().unwrap();
    let text =
        templates.iter().find(|one| one["DestPath"] == "local/caddy.json").unwrap()["EmbeddedTmpl"].clone();
    let address = |name: &str| {
        let port = &sandbox.json(&["show", name])["settings"]["port"]["value"];
        format!("127.0.0.1:{port}")
    };
    let text = text.as_str().unwrap();
    assert!(text.contains(&address("grafana")) && text.contains(&address("authentik")), "{text}");
    let text = text
        .replace(&format!("\"{}\"", address("grafana")), &format!("\"127.0.0.1:{app}\""))
        .replace(&format!("\"{}\"", address("authentik")), &format!("\"127.0.0.1:{identity}\""));
    let mut document: Json = serde_json::from_str(&text).unwrap();
    document["admin"] = json!({"disabled": true});
    let http = &mut document["apps"]["http"];
    http["http_port"] = json!(ports[0]);
    http["https_port"] = json!(ports[1]);
    http["servers"]["plain"]["listen"] = json!([format!("127.0.0.1:{}", ports[0])]);
    http["servers"]["protected"]["listen"] = json!([format!("127.0.0.1:{}", ports[2])]);
    http["servers"]["protected"]["automatic_https"] = json!({"disable": true});
    document
}

fn ask(port: u16, host: &str, path: &str, headers: &str) -> String {
    let mut stream = TcpStream::connect(("127.0.0.1", port)).unwrap();
    let request = format!("GET {path} HTTP/1.1\r\nHost: {host}\r\n{headers}Connection: close\r\n\r\n");
    stream.write_all(request.as_bytes()).unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    answer
}

#[test]
fn a_sign_on_header_cannot_be_forged_through_the_edge() {
    let caddy = program("usr/bin/caddy", &["caddy"]);
    let sandbox = Sandbox::with_estate();
    sandbox.ok(&["create", "grafana", "--sso"]);
    sandbox.ok(&["create", "nextcloud", "--sso"]);
    let (app, requests) = server("");
    let (identity, asked) = server("X-Authentik-Username: kim\r\n");
    let ports = free_ports();
    let file = sandbox.path().join("caddy.json");
    std::fs::write(&file, configuration(&sandbox, ports, app, identity).to_string()).unwrap();
    let mut command = Command::new(caddy);
    command.args(["run", "--config"]).arg(&file).env_clear().stdin(Stdio::null());
    command.env("HOME", sandbox.path().join("home")).stdout(Stdio::null()).stderr(Stdio::null());
    let _caddy = Running(command.spawn().unwrap());
    let until = Instant::now() + Duration::from_secs(60);
    while TcpStream::connect(("127.0.0.1", ports[2])).is_err() {
        assert!(Instant::now() < until, "caddy does not listen");
        std::thread::sleep(Duration::from_millis(50));
    }
    let host =
        sandbox.json(&["show", "grafana"])["settings"]["hostname"]["value"].as_str().unwrap().to_owned();
    let forged = "X-Authentik-Username: admin\r\nx_authentik_username: admin\r\nX-Authentik-Groups: admins\r\n\
                  X-Authentik-Jwt: forged\r\n";
    let answer = ask(ports[2], &host, "/", forged);
    assert!(answer.starts_with("HTTP/1.1 200"), "{answer}");
    let question = asked.recv_timeout(Duration::from_secs(10)).unwrap();
    assert!(question.starts_with("get /outpost.goauthentik.io/auth/caddy"), "{question}");
    let got = requests.recv_timeout(Duration::from_secs(10)).unwrap();
    assert!(got.contains("x-authentik-username: kim"), "what the outpost says arrives: {got}");
    for text in [&question, &got] {
        assert!(!text.contains("admin") && !text.contains("forged"), "{text}");
    }
}
