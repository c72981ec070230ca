//! Nomad Variables, where a job's secrets are. Values are wiped when dropped and printed by nothing.

use std::collections::BTreeMap;
use std::fmt;

use serde::{Deserialize, Serialize};
use ureq::http::Method;
use zeroize::Zeroizing;

use crate::client::{Ask, Client, escape};
use crate::error::Error;

/// A variable with its values.
#[derive(Clone, Default)]
pub struct Variable {
    /// For check-and-set; zero when there is none yet.
    pub modify_index: u64,
    pub items: BTreeMap<String, Zeroizing<String>>,
}

/// The keys alone.
impl fmt::Debug for Variable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Variable({}, {:?})", self.modify_index, self.items.keys())
    }
}

#[derive(Deserialize, Default)]
#[serde(rename_all = "PascalCase", default)]
struct Read {
    path: String,
    modify_index: u64,
    items: BTreeMap<String, String>,
}

#[derive(Serialize)]
#[serde(rename_all = "PascalCase")]
struct Write<'a> {
    path: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    namespace: Option<&'a str>,
    items: BTreeMap<&'a str, &'a str>,
}

impl Client {
    /// None when there is no such variable.
    pub fn variable(&self, path: &str) -> Result<Option<Variable>, Error> {
        let operation = format!("reading the variable {path}");
        match self.get::<Read>(format!("/v1/var/{}", escape(path)), &[], operation) {
            Ok(read) => Ok(Some(Variable {
                modify_index: read.modify_index,
                items: read.items.into_iter().map(|(key, value)| (key, Zeroizing::new(value))).collect(),
            })),
            Err(error) if error.is_not_found() => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// When a variable was last changed, without reading its values; none when there is no such variable.
    pub fn variable_index(&self, path: &str) -> Result<Option<u64>, Error> {
        let query = [("prefix", path.to_owned())];
        let all: Vec<Read> =
            self.get("/v1/vars".to_owned(), &query, format!("looking for the variable {path}"))?;
        Ok(all.into_iter().find(|read| read.path == path).map(|read| read.modify_index))
    }

    /// Writes the items if the variable is still as it was read, and gives its new index.
    pub fn put_variable(&self, path: &str, variable: &Variable) -> Result<u64, Error> {
        let items = variable.items.iter().map(|(key, value)| (key.as_str(), value.as_str())).collect();
        let operation = format!("writing the variable {path}");
        let body = serde_json::to_vec(&Write { path, namespace: self.namespace(), items })
            .map_err(|error| Error::Answer { operation: operation.clone(), reason: error.to_string() })?;
        let ask = Ask {
            method: Method::PUT,
            path: format!("/v1/var/{}", escape(path)),
            query: vec![("cas", variable.modify_index.to_string())],
            body: Some(Zeroizing::new(body)),
            repeatable: false,
            operation,
        };
        self.send::<Read>(ask).map(|written| written.modify_index)
    }

    /// Removes the variable if it is still as it was read.
    pub fn delete_variable(&self, path: &str, modify_index: u64) -> Result<(), Error> {
        let ask = Ask {
            method: Method::DELETE,
            path: format!("/v1/var/{}", escape(path)),
            query: vec![("cas", modify_index.to_string())],
            body: None,
            repeatable: false,
            operation: format!("removing the variable {path}"),
        };
        self.ask(&ask).map(|_| ())
    }
}
