//! Any header, query and body: verified or refused, never a panic, and never accepted without the secret.
#![no_main]

use hive_api::form;
use hive_api::sigv4::{Credential, SecretKey, SignedRequest, verify};
use http::{HeaderMap, HeaderName, HeaderValue};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|input: (Vec<u8>, Vec<u8>, Vec<(String, Vec<u8>)>, Vec<u8>, bool)| {
    let (path, query, headers, body, complete) = input;
    let mut map = HeaderMap::new();
    if complete {
        // Far enough for the canonical request to be made.
        map.insert("host", HeaderValue::from_static("localhost"));
        map.insert("x-amz-date", HeaderValue::from_static("20261116T040415Z"));
        map.insert(
            "authorization",
            HeaderValue::from_static(
                "AWS4-HMAC-SHA256 Credential=AKID/20261116/us-east-1/ec2/aws4_request, \
                 SignedHeaders=host;x-amz-date, Signature=00",
            ),
        );
    }
    for (name, value) in headers.iter().take(16) {
        let name = HeaderName::from_bytes(name.as_bytes());
        if let (Ok(name), Ok(value)) = (name, HeaderValue::from_bytes(value)) {
            map.append(name, value);
        }
    }
    let Ok(query) = form::parse(&query) else { return };
    let path = String::from_utf8_lossy(&path).into_owned();
    let request = SignedRequest { method: "POST", path: &path, query: &query, headers: &map, body: &body };
    let now = jiff::Timestamp::from_second(1_794_801_855).expect("a time");
    let secret = SecretKey::new("a secret that no input knows");
    let verified = verify(&request, now, |_| {
        Some(Credential { secret_access_key: secret, session_token: None, expires: None, principal: () })
    });
    assert!(verified.is_err());
});
