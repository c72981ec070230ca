//! In front of the real Nomad: passes everything on but the registration of jobs, which it refuses. Nomad itself refuses
//! one only when something happens between its plan and the registration.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{TcpListener, TcpStream};

/// Its address. It ends with the program.
pub fn in_front_of(nomad: &str) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = format!("http://{}", listener.local_addr().unwrap());
    let nomad = nomad.trim_start_matches("http://").to_owned();
    std::thread::spawn(move || {
        for client in listener.incoming().flatten() {
            let nomad = nomad.clone();
            // A client that goes away early is its own business.
            std::thread::spawn(move || answer(client, &nomad));
        }
    });
    address
}

/// One request a connection.
fn answer(mut client: TcpStream, nomad: &str) -> std::io::Result<()> {
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
    if head.starts_with("PUT /v1/jobs?") || head.starts_with("PUT /v1/jobs ") {
        return client.write_all(
            b"HTTP/1.1 400 Bad Request\r\nContent-Length: 13\r\nConnection: close\r\n\r\nnot this time",
        );
    }
    let mut server = TcpStream::connect(nomad)?;
    server.write_all(format!("{head}Connection: close\r\n\r\n").as_bytes())?;
    server.write_all(&body)?;
    std::io::copy(&mut server, &mut client).map(drop)
}
