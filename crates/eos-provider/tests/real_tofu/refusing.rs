//! In front of the real Nomad: passes everything on but the registration of jobs, which it refuses, or the answer to the
//! writing of a variable, which it loses. Nomad itself does so only when something happens in a certain moment.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{TcpListener, TcpStream};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fault {
    RefusesJobs,
    LosesAnswersOfVariables,
}

/// Its address. It ends with the program.
pub fn in_front_of(nomad: &str, fault: Fault) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = format!("http://{}", listener.local_addr().unwrap());
    let nomad = nomad.trim_start_matches("http://").to_owned();
    std::thread::spawn(move || {
        for client in listener.incoming().flatten() {
            let nomad = nomad.clone();
            // A client that goes away early is its own business.
            std::thread::spawn(move || answer(client, &nomad, fault));
        }
    });
    address
}

/// One request a connection.
fn answer(mut client: TcpStream, nomad: &str, fault: Fault) -> std::io::Result<()> {
    let mut reader = BufReader::new(client.try_clone()?);
    let (mut head, mut length) = (String::new(), 0);
    loop {
        let mut line = String::new();
        reader.read_line(&mut line)?;
        if let Some(value) = line.to_ascii_lowercase().strip_prefix("content-length:") {
            length = value.trim().parse().unwrap();
        }
        if line.trim().is_empty() {
            break;
        }
        head.push_str(&line);
    }
    let mut body = vec![0; length];
    reader.read_exact(&mut body)?;
    let registers = head.starts_with("PUT /v1/jobs?") || head.starts_with("PUT /v1/jobs ");
    if registers && fault == Fault::RefusesJobs {
        return client.write_all(
            b"HTTP/1.1 400 Bad Request\r\nContent-Length: 13\r\nConnection: close\r\n\r\nnot this time",
        );
    }
    let mut server = TcpStream::connect(nomad)?;
    server.write_all(format!("{head}Connection: close\r\n\r\n").as_bytes())?;
    server.write_all(&body)?;
    if head.starts_with("PUT /v1/var/") && fault == Fault::LosesAnswersOfVariables {
        return std::io::copy(&mut server, &mut std::io::sink()).map(drop);
    }
    std::io::copy(&mut server, &mut client).map(drop)
}
