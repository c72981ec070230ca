//! The canonical request: the one text that both sides hash.

use http::HeaderMap;
use sha2::{Digest, Sha256};

use super::authorization::incomplete;
use crate::error::ApiResult;
use crate::form::encode;
use crate::hex;

pub(super) fn sha256_hex(bytes: &[u8]) -> String {
    hex(&Sha256::digest(bytes))
}

/// Every service but S3 encodes the path once more and resolves `.` and `..`.
fn canonical_path(path: &str) -> String {
    let mut segments: Vec<&str> = Vec::new();
    for segment in path.split('/') {
        match segment {
            "" | "." => {}
            ".." => {
                segments.pop();
            }
            other => segments.push(other),
        }
    }
    let mut text = String::from("/");
    for (index, segment) in segments.iter().enumerate() {
        if index > 0 {
            text.push('/');
        }
        encode(segment, &mut text);
    }
    if path.ends_with('/') && text.len() > 1 {
        text.push('/');
    }
    text
}

fn canonical_query(query: &[(String, String)]) -> String {
    let mut encoded: Vec<(String, String)> = query
        .iter()
        .filter(|(name, _)| name != "X-Amz-Signature")
        .map(|(name, value)| {
            let (mut n, mut v) = (String::new(), String::new());
            encode(name, &mut n);
            encode(value, &mut v);
            (n, v)
        })
        .collect();
    encoded.sort();
    encoded.iter().map(|(name, value)| format!("{name}={value}")).collect::<Vec<_>>().join("&")
}

/// Header values trimmed, inner runs of spaces folded, repeated headers joined by a comma.
fn canonical_header(headers: &HeaderMap, name: &str) -> ApiResult<String> {
    let mut values = Vec::new();
    for value in headers.get_all(name) {
        let text =
            value.to_str().map_err(|_| incomplete(&format!("The signed header {name} is not plain text")))?;
        values.push(text.split(' ').filter(|part| !part.is_empty()).collect::<Vec<_>>().join(" "));
    }
    if values.is_empty() {
        return Err(incomplete(&format!("The signed header {name} is not in the request")));
    }
    Ok(format!("{name}:{}\n", values.join(",").trim()))
}

pub(super) fn canonical_request(
    method: &str,
    path: &str,
    query: &[(String, String)],
    headers: &HeaderMap,
    signed: &[String],
    body_hash: &str,
) -> ApiResult<String> {
    let mut text = format!("{method}\n{}\n{}\n", canonical_path(path), canonical_query(query));
    for name in signed {
        text.push_str(&canonical_header(headers, name)?);
    }
    text.push('\n');
    text.push_str(&signed.join(";"));
    text.push('\n');
    text.push_str(body_hash);
    Ok(text)
}
