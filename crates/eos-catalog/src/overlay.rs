//! Laying partial components over a component: runtimes and features.

use serde_json::Value as Json;

/// Mappings merge, lists are appended, other values replace.
pub fn lay_over(base: &mut Json, over: &Json) {
    match (base, over) {
        (Json::Object(base), Json::Object(over)) => {
            for (key, value) in over {
                match base.get_mut(key) {
                    Some(slot) => lay_over(slot, value),
                    None => {
                        base.insert(key.clone(), value.clone());
                    }
                }
            }
        }
        (Json::Array(base), Json::Array(over)) => base.extend(over.iter().cloned()),
        (base, over) => *base = over.clone(),
    }
}

#[cfg(test)]
mod tests {
    use super::lay_over;
    use serde_json::json;

    #[test]
    fn mappings_merge_lists_append_values_replace() {
        let mut base = json!({"a": {"x": 1, "y": [1]}, "b": "old"});
        lay_over(&mut base, &json!({"a": {"y": [2], "z": 3}, "b": "new"}));
        assert_eq!(base, json!({"a": {"x": 1, "y": [1, 2], "z": 3}, "b": "new"}));
    }
}
