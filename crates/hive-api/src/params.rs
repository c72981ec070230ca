//! A request's parameters as a tree: `Filter.1.Value.2=x` is value `x` at Filter → 1 → Value → 2.
//!
//! Invariant: depth and count are bounded when the tree is built, so walking it needs no further care.

use std::collections::BTreeMap;

use crate::error::{ApiError, ApiResult};
use crate::number::plain_number;

const MAX_DEPTH: usize = 12;

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Params {
    pub(crate) value: Option<String>,
    pub(crate) children: BTreeMap<String, Params>,
}

impl Params {
    pub fn from_pairs(pairs: Vec<(String, String)>) -> ApiResult<Self> {
        let mut root = Params::default();
        for (name, value) in pairs {
            if name.split('.').count() > MAX_DEPTH {
                return Err(ApiError::malformed_query(format!("The parameter {name} is nested too deeply")));
            }
            let mut node = &mut root;
            for part in name.split('.') {
                node = node.children.entry(part.to_owned()).or_default();
            }
            if node.value.replace(value).is_some() {
                return Err(ApiError::malformed_query(format!("The parameter {name} is given twice")));
            }
        }
        Ok(root)
    }

    /// A leaf at the top level.
    pub fn get(&self, name: &str) -> Option<&str> {
        self.children.get(name)?.value.as_deref()
    }

    /// Whether a top-level parameter is there, as a leaf or with something below it.
    pub fn has(&self, name: &str) -> bool {
        self.children.contains_key(name)
    }

    /// Takes a whole top-level parameter out, so that what is left can be checked for unknown ones.
    pub fn take(&mut self, name: &str) -> Option<Params> {
        self.children.remove(name)
    }

    /// Takes a top-level leaf out.
    pub fn take_value(&mut self, name: &str) -> Option<String> {
        self.take(name)?.value
    }

    /// Puts a whole top-level parameter in.
    pub fn put(&mut self, name: &str, node: Params) {
        self.children.insert(name.to_owned(), node);
    }

    /// Puts a subtree back under another name: two spellings of one parameter become one. Who writes both means two things.
    pub fn rename(&mut self, from: &str, to: &str) -> ApiResult<()> {
        let Some(node) = self.take(from) else { return Ok(()) };
        if self.has(to) {
            return Err(ApiError::invalid_combination(format!(
                "The parameter {from} cannot be used with the parameter {to}"
            )));
        }
        self.put(to, node);
        Ok(())
    }

    /// What is nested below, by name.
    pub fn children(&self) -> impl Iterator<Item = (&str, &Params)> {
        self.children.iter().map(|(name, child)| (name.as_str(), child))
    }

    /// The elements of a list in the order of their numbers.
    pub fn elements(&self) -> Vec<&Params> {
        let mut elements: Vec<(u32, &Params)> =
            self.children.iter().filter_map(|(name, child)| Some((list_index(name)?, child))).collect();
        elements.sort_by_key(|(number, _)| *number);
        elements.into_iter().map(|(_, child)| child).collect()
    }

    /// The node's own value.
    pub fn value(&self) -> Option<&str> {
        self.value.as_deref()
    }

    /// A text that two requests share exactly when their parameters are the same, whatever their order.
    pub fn canonical(&self) -> String {
        let mut text = String::new();
        self.write_canonical("", &mut text);
        text
    }

    fn write_canonical(&self, path: &str, text: &mut String) {
        if let Some(value) = &self.value {
            // Lengths make the text unambiguous: a value may hold `=` and newlines.
            text.push_str(&format!("{}:{path}={}:{value}\n", path.len(), value.len()));
        }
        for (name, child) in &self.children {
            let path = if path.is_empty() { name.clone() } else { format!("{path}.{name}") };
            child.write_canonical(&path, text);
        }
    }
}

/// The number of a list's element: positive and written in one way, so that `1` and `01` are not two.
pub fn list_index(name: &str) -> Option<u32> {
    plain_number(name).filter(|number| *number > 0)
}

/// What stands in a list beside its elements: left out it would say less than was asked, which may mean everything.
pub fn not_an_element(path: &str) -> ApiError {
    ApiError::malformed_query(format!(
        "The parameter {path} is no element of a list: elements are numbered from 1, without leading zeros"
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn params(pairs: &[(&str, &str)]) -> ApiResult<Params> {
        Params::from_pairs(pairs.iter().map(|(a, b)| (a.to_string(), b.to_string())).collect())
    }

    #[test]
    fn order_does_not_change_the_canonical_text() {
        let one = params(&[("A.1", "x"), ("B", "y")]).unwrap();
        let other = params(&[("B", "y"), ("A.1", "x")]).unwrap();
        assert_eq!(one.canonical(), other.canonical());
        assert_ne!(one.canonical(), params(&[("A.1", "x\n1:B=1:y")]).unwrap().canonical());
    }

    #[test]
    fn refuses_repeated_and_deep_parameters() {
        assert!(params(&[("A", "1"), ("A", "2")]).is_err());
        assert!(params(&[(&vec!["a"; 13].join("."), "1")]).is_err());
    }

    #[test]
    fn a_parameter_has_one_spelling_at_a_time() {
        let mut alone = params(&[("Things.1", "x")]).unwrap();
        alone.rename("Things", "Thing").unwrap();
        assert_eq!(alone, params(&[("Thing.1", "x")]).unwrap());
        let mut both = params(&[("Things.1", "x"), ("Thing.1", "y")]).unwrap();
        assert_eq!(both.rename("Things", "Thing").unwrap_err().code, "InvalidParameterCombination");
    }

    #[test]
    fn an_element_has_one_number() {
        assert_eq!([list_index("1"), list_index("4294967295")], [Some(1), Some(u32::MAX)]);
        // Rust's own numbers may have a sign.
        for wrong in ["", "0", "01", "+1", "-1", " 1", "1.", "4294967296"] {
            assert_eq!(list_index(wrong), None, "{wrong}");
        }
    }
}
