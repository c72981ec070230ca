//! A document held against a JSON Schema: the keywords that the schema of a component has, and no others.

use eos_model::nearest::nearest;
use serde_json::{Map, Value as Json};

/// Something in which a document differs from a schema.
#[derive(Debug, PartialEq, Eq)]
pub struct Mistake {
    /// Where, as a JSON pointer.
    pub pointer: String,
    pub message: String,
    pub fix: Option<String>,
}

/// Everything in which `document` differs from `schema`.
pub fn mistakes(schema: &Json, document: &Json) -> Vec<Mistake> {
    let mut walk = Walk { root: schema, found: Vec::new() };
    walk.value(schema, "", document);
    walk.found
}

struct Walk<'s> {
    root: &'s Json,
    found: Vec<Mistake>,
}

impl<'s> Walk<'s> {
    fn value(&mut self, schema: &'s Json, pointer: &str, value: &Json) {
        // `true` allows everything.
        let Some(schema) = schema.as_object() else { return };
        if let Some(target) = schema.get("$ref").and_then(Json::as_str) {
            let referred = target.strip_prefix('#').and_then(|target| self.root.pointer(target));
            return referred.into_iter().for_each(|schema| self.value(schema, pointer, value));
        }
        if let Some(choices) = ["oneOf", "anyOf"].iter().find_map(|word| schema.get(*word)?.as_array()) {
            return self.choice(choices, pointer, value);
        }
        let types = texts(schema.get("type"));
        if !types.is_empty() && !types.iter().any(|name| is_of_type(value, name)) {
            let wanted = types.iter().find(|name| **name != "null").unwrap_or(&"null");
            return self.wrong(pointer, &format!("{value} is not of type {wanted:?}"));
        }
        if schema.get("enum").and_then(Json::as_array).is_some_and(|words| !words.contains(value))
            || schema.get("const").is_some_and(|word| word != value)
        {
            return self.not_allowed(pointer, value, &words(schema));
        }
        self.range(schema, pointer, value);
        match value {
            Json::Object(fields) => self.fields(schema, pointer, fields),
            Json::Array(items) => {
                for (at, item) in items.iter().enumerate() {
                    schema
                        .get("items")
                        .into_iter()
                        .for_each(|schema| self.value(schema, &format!("{pointer}/{at}"), item));
                }
            }
            _ => {}
        }
    }

    /// A choice between words or shapes. Where null is the only other one, the shape itself says what is wrong.
    fn choice(&mut self, choices: &'s [Json], pointer: &str, value: &Json) {
        let fits = |schema: &&'s Json| {
            let mut walk = Walk { root: self.root, found: Vec::new() };
            walk.value(schema, pointer, value);
            walk.found.is_empty()
        };
        if choices.iter().any(|choice| fits(&choice)) {
            return;
        }
        let is_null = |schema: &&Json| schema.get("type").and_then(Json::as_str) == Some("null");
        let mut shapes = choices.iter().filter(|choice| !is_null(choice));
        match (shapes.next(), shapes.next()) {
            (Some(only), None) => self.value(only, pointer, value),
            _ => {
                let words: Vec<&str> = choices.iter().filter_map(Json::as_object).flat_map(words).collect();
                self.not_allowed(pointer, value, &words);
            }
        }
    }

    fn fields(&mut self, schema: &'s Map<String, Json>, pointer: &str, fields: &Map<String, Json>) {
        let properties = schema.get("properties").and_then(Json::as_object);
        for field in texts(schema.get("required")).into_iter().filter(|field| !fields.contains_key(*field)) {
            self.push(pointer, format!("{} lacks the field {field:?}", whole(pointer)), None);
        }
        for (field, value) in fields {
            let below = format!("{pointer}/{}", escaped(field));
            match (properties.and_then(|known| known.get(field)), schema.get("additionalProperties")) {
                (Some(schema), _) => self.value(schema, &below, value),
                (None, Some(Json::Bool(false))) => {
                    let known = properties.into_iter().flatten().map(|(known, _)| known.as_str());
                    let near = nearest(field, known).map(|near| format!("did you mean {near}?"));
                    self.push(&below, format!("{} has no field {field:?}", whole(pointer)), near);
                }
                (None, schema) => schema.into_iter().for_each(|schema| self.value(schema, &below, value)),
            }
        }
    }

    fn range(&mut self, schema: &Map<String, Json>, pointer: &str, value: &Json) {
        let Some(number) = value.as_f64() else { return };
        let bound = |word| schema.get(word).and_then(Json::as_f64);
        if let Some(low) = bound("minimum").filter(|low| number < *low) {
            self.wrong(pointer, &format!("{value} is less than {low}"));
        }
        if let Some(high) = bound("maximum").filter(|high| number > *high) {
            self.wrong(pointer, &format!("{value} is more than {high}"));
        }
    }

    fn not_allowed(&mut self, pointer: &str, value: &Json, words: &[&str]) {
        let fix = if words.is_empty() { None } else { Some(format!("one of {}", words.join(", "))) };
        self.push(pointer, format!("{}: {value} is not allowed there", whole(pointer)), fix);
    }

    fn wrong(&mut self, pointer: &str, problem: &str) {
        self.push(pointer, format!("{}: {problem}", whole(pointer)), None);
    }

    fn push(&mut self, pointer: &str, message: String, fix: Option<String>) {
        self.found.push(Mistake { pointer: pointer.to_owned(), message, fix });
    }
}

fn whole(pointer: &str) -> &str {
    if pointer.is_empty() { "the component" } else { pointer }
}

/// A field's name as a step of a JSON pointer.
fn escaped(field: &str) -> String {
    field.replace('~', "~0").replace('/', "~1")
}

/// A text, or those in a list.
fn texts(json: Option<&Json>) -> Vec<&str> {
    match json {
        Some(Json::Array(items)) => items.iter().filter_map(Json::as_str).collect(),
        other => other.and_then(Json::as_str).into_iter().collect(),
    }
}

/// The words that a schema allows.
fn words(schema: &Map<String, Json>) -> Vec<&str> {
    texts(schema.get("const")).into_iter().chain(texts(schema.get("enum"))).collect()
}

fn is_of_type(value: &Json, name: &str) -> bool {
    match name {
        "array" => value.is_array(),
        "boolean" => value.is_boolean(),
        "integer" => value.as_f64().is_some_and(|number| number.fract() == 0.0),
        "null" => value.is_null(),
        "number" => value.is_number(),
        "object" => value.is_object(),
        _ => value.is_string(),
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests;
