//! What EC2's own actions take, from botocore's model (`tests/python/parameters.py` in the crate hive writes it). What EC2
//! knows and Hive does not is refused, so that nothing that was asked for is dropped in silence.

use hive_api::{ApiError, ApiResult, Params, list_index};

/// A line an action: its name, then its parameters with what is nested in them, without the numbers of lists. Behind one
/// that has a choice of values stand these: `KeyFormat=pem|ppk`.
static PARAMETERS: &str = include_str!("ec2-parameters.txt");

/// The parameters of EC2's action.
pub fn of(action: &str) -> impl Iterator<Item = &'static str> {
    words(action).map(|word| word.split_once('=').map_or(word, |(name, _)| name))
}

/// Those of EC2's parameters that have a choice of values, with these.
pub fn values(action: &str) -> impl Iterator<Item = (&'static str, std::str::Split<'static, char>)> {
    words(action).filter_map(|word| word.split_once('=')).map(|(name, values)| (name, values.split('|')))
}

fn words(action: &str) -> impl Iterator<Item = &'static str> {
    let line = PARAMETERS.lines().find_map(|line| line.strip_prefix(action)?.strip_prefix(' '));
    line.unwrap_or_default().split_whitespace()
}

/// Refuses what EC2 would do and Hive would not.
pub fn refuse(action: &str, unknown: &[String], params: &Params) -> ApiResult<()> {
    match unknown.iter().find(|name| is_asked_for(action, name, params)) {
        None => Ok(()),
        Some(name) => Err(ApiError::client(
            "UnsupportedOperation",
            format!("The parameter {name} is not supported here"),
        )),
    }
}

/// Whether an unknown parameter is one of EC2's that asks for something.
fn is_asked_for(action: &str, path: &str, params: &Params) -> bool {
    let mut node = params;
    for part in path.split('.') {
        match node.children().find(|(name, _)| *name == part) {
            Some((_, child)) => node = child,
            None => return false,
        }
    }
    knows(action, path) && says_something(node)
}

/// Whether EC2's action has a parameter, which may be one of a list's.
pub fn knows(action: &str, path: &str) -> bool {
    let name = path.split('.').filter(|part| list_index(part).is_none()).collect::<Vec<_>>().join(".");
    of(action).any(|known| known == name)
}

/// Nothing, 0 and false ask for nothing.
pub fn says_something(node: &Params) -> bool {
    let own = node.value().is_some_and(|value| !matches!(value, "" | "0" | "false"));
    own || node.children().any(|(_, child)| says_something(child))
}
