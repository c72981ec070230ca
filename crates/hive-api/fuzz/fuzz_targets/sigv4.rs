//! Any header, query and body: verified or refused, never a panic, and never accepted without the secret. In the header's
//! form and in that of a presigned address an input is far enough for the canonical request to be made.
#![no_main]

use hive_api::form;
use hive_api::sigv4::{Credential, SecretKey, SignedRequest, verify};
use http::{HeaderMap, HeaderName, HeaderValue};
use libfuzzer_sys::fuzz_target;

/// All that a presigned address needs but a good signature.
const PRESIGNED: &[(&str, &str)] = &[
    ("X-Amz-Algorithm", "AWS4-HMAC-SHA256"),
    ("X-Amz-Credential", "AKID/20261116/us-east-1/ec2/aws4_request"),
    ("X-Amz-Date", "20261116T040415Z"),
    ("X-Amz-Expires", "900"),
    ("X-Amz-SignedHeaders", "host"),
    ("X-Amz-Signature", "0000000000000000000000000000000000000000000000000000000000000000"),
];

type Input = (Vec<u8>, Vec<u8>, Vec<(String, Vec<u8>)>, Vec<u8>, u8);

fuzz_target!(|input: Input| {
    let (path, query, headers, body, form) = input;
    // Nothing but what the input brings, the header's form, or the presigned one.
    let (in_header, is_presigned) = (form % 3 == 1, form % 3 == 2);
    let mut map = HeaderMap::new();
    if in_header || is_presigned {
        map.insert("host", HeaderValue::from_static("localhost"));
    }
    if in_header {
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
    let Ok(mut query) = form::parse(&query) else { return };
    if is_presigned {
        query.extend(PRESIGNED.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())));
    }
    let path = String::from_utf8_lossy(&path).into_owned();
    let request = SignedRequest { method: "POST", path: &path, query: &query, headers: &map, body: &body };
    let now = jiff::Timestamp::from_second(1_794_801_855).expect("a time");
    let secret = SecretKey::new("a secret that no input knows");
    let verified = verify(&request, now, |_| {
        Some(Credential { secret_access_key: secret, session_token: None, expires: None, principal: () })
    });
    assert!(verified.is_err());
});
