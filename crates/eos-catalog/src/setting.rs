//! A typed setting: its schema, and the check of a value against it.

use eos_model::{Duration, Name, SecretRef, Size, folder};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value as Json;

use crate::network::Network;
use crate::password_in_address::{PASSWORD_IN_ADDRESS, has_password};

/// What a user may choose about a component. Its flag is the name with dashes.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Setting {
    #[serde(rename = "type")]
    pub kind: SettingType,
    pub help: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub default: Option<Json>,
    /// Must be given: there is no sensible default.
    #[serde(default, skip_serializing_if = "is_false")]
    pub required: bool,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub example: Option<Json>,
    /// Lowest int, or lowest size or duration as text.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub min: Option<Json>,
    /// Highest int, or highest size or duration as text.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max: Option<Json>,
    /// The whole text, or each item of a list, must match: letters, digits and `[]*+?{}|()^$.\-` as in other regular expressions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pattern: Option<String>,
    /// The words an enum allows.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub values: Vec<String>,
    /// The type of a list's items; text when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub of: Option<SettingType>,
    /// For a port that begins a range: the setting with the last port of it. All between belong to it too.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub range_to: Option<String>,
    /// For a network: the setting with the one that it is a part of.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub within: Option<String>,
    /// For a size: the task that holds so much in memory. One above the memory of that task is warned of.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub held_by: Option<String>,
    /// Length of the secret generated when none is given; 0: it must be given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub generate: Option<u16>,
    /// For a secret that the program reads at its first start only: what a person does to change it there. eos refuses
    /// a new value, which would open nothing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub first_start: Option<String>,
    /// Cannot be changed after creation.
    #[serde(default, skip_serializing_if = "is_false")]
    pub fixed: bool,
    /// In operations: given by place, not by flag.
    #[serde(default, skip_serializing_if = "is_false")]
    pub positional: bool,
}

fn is_false(value: &bool) -> bool {
    !value
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum SettingType {
    Bool,
    Cidr,
    Duration,
    Enum,
    /// Of a host, for what is mounted there: none of the system's. Empty where that is the default.
    Folder,
    Host,
    Int,
    List,
    /// The name of a component in the same environment.
    Name,
    Port,
    Secret,
    Size,
    String,
}

/// The length of a generated secret where the schema names none.
pub const SECRET_LENGTH: u16 = 32;

impl SettingType {
    pub fn as_str(self) -> &'static str {
        match self {
            SettingType::Bool => "bool",
            SettingType::Cidr => "cidr",
            SettingType::Duration => "duration",
            SettingType::Enum => "enum",
            SettingType::Folder => "folder",
            SettingType::Host => "host",
            SettingType::Int => "int",
            SettingType::List => "list",
            SettingType::Name => "name",
            SettingType::Port => "port",
            SettingType::Secret => "secret",
            SettingType::Size => "size",
            SettingType::String => "string",
        }
    }
}

impl Setting {
    /// What a text typed at a flag means for this setting; the result still has to pass [`Setting::check`].
    pub fn read_text(&self, text: &str) -> Json {
        read_text_as(self.kind, self.of, text)
    }

    /// Whether it names a host, or several.
    pub fn names_hosts(&self) -> bool {
        [Some(self.kind), self.of].contains(&Some(SettingType::Host))
    }

    /// Why `value` does not fit, if so.
    pub fn check(&self, value: &Json) -> Result<(), String> {
        let is_none = self.kind == SettingType::Folder && value == "" && self.default.as_ref() == Some(value);
        if is_none {
            return Ok(());
        }
        check_as(self.kind, value)?;
        match self.kind {
            SettingType::Enum => {
                let text = value.as_str().unwrap_or_default();
                if !self.values.iter().any(|v| v == text) {
                    return Err(format!("{text:?} is not one of {}", self.values.join(", ")));
                }
            }
            SettingType::List => {
                for item in value.as_array().into_iter().flatten() {
                    check_as(self.of.unwrap_or(SettingType::String), item)?;
                }
            }
            _ => {}
        }
        if has_password(value) {
            return Err(PASSWORD_IN_ADDRESS.to_owned());
        }
        self.check_range(value)?;
        self.check_pattern(value)
    }

    fn check_range(&self, value: &Json) -> Result<(), String> {
        let amount = |v: &Json| amount(self.kind, v);
        let Some(given) = amount(value) else { return Ok(()) };
        let show = |v: &Json| v.as_str().map_or_else(|| v.to_string(), str::to_owned);
        if let Some(min) = &self.min
            && amount(min).is_some_and(|low| given < low)
        {
            return Err(format!("{} is below the lowest allowed, {}", show(value), show(min)));
        }
        if let Some(max) = &self.max
            && amount(max).is_some_and(|high| given > high)
        {
            return Err(format!("{} is above the highest allowed, {}", show(value), show(max)));
        }
        Ok(())
    }

    fn check_pattern(&self, value: &Json) -> Result<(), String> {
        if let Some(items) = value.as_array() {
            return items.iter().try_for_each(|item| self.check_pattern(item));
        }
        let (Some(pattern), Some(text)) = (&self.pattern, value.as_str()) else { return Ok(()) };
        let whole = format!("^(?:{pattern})$");
        match regex_lite::Regex::new(&whole) {
            Ok(regex) if regex.is_match(text) => Ok(()),
            Ok(_) => Err(match self.example.as_ref().and_then(first_text) {
                Some(example) => format!("{text:?} is not of the form of {example}"),
                None => format!("{text:?} does not match {pattern}"),
            }),
            Err(error) => Err(format!("the catalogue's pattern {pattern} cannot be read: {error}")),
        }
    }
}

/// A text, or the first of a list of them.
fn first_text(value: &Json) -> Option<&str> {
    value.as_str().or_else(|| value.as_array()?.first()?.as_str())
}

fn amount(kind: SettingType, value: &Json) -> Option<i128> {
    match kind {
        SettingType::Int | SettingType::Port => value.as_i64().map(i128::from),
        SettingType::Size => value.as_str()?.parse::<Size>().ok().map(|s| i128::from(s.0)),
        SettingType::Duration => value.as_str()?.parse::<Duration>().ok().map(|d| i128::from(d.0)),
        _ => None,
    }
}

fn read_text_as(kind: SettingType, of: Option<SettingType>, text: &str) -> Json {
    match kind {
        SettingType::Bool => match text {
            "true" | "yes" | "on" => Json::Bool(true),
            "false" | "no" | "off" => Json::Bool(false),
            other => Json::from(other),
        },
        SettingType::Int | SettingType::Port => {
            text.parse::<i64>().map_or_else(|_| Json::from(text), Json::from)
        }
        SettingType::List => {
            let item = |part: &str| read_text_as(of.unwrap_or(SettingType::String), None, part.trim());
            Json::Array(text.split(',').filter(|part| !part.trim().is_empty()).map(item).collect())
        }
        SettingType::Size => Json::from(Size::spelled(text)),
        _ => Json::from(text),
    }
}

fn check_as(kind: SettingType, value: &Json) -> Result<(), String> {
    let shown = match value {
        Json::String(text) => format!("{text:?}"),
        other => other.to_string(),
    };
    let text = || value.as_str().ok_or_else(|| format!("{shown} is not a text; put it in quotes"));
    // A bare number lacks its unit, and that is what has to be said about it.
    let with_unit = || if value.is_number() { Ok(value.to_string()) } else { text().map(str::to_owned) };
    match kind {
        SettingType::Bool if value.is_boolean() => Ok(()),
        SettingType::Bool => Err(format!("{shown} is neither true nor false")),
        SettingType::Int if value.is_i64() => Ok(()),
        SettingType::Int => Err(format!("{shown} is not a whole number")),
        SettingType::Port => match value.as_i64() {
            Some(1..=65535) => Ok(()),
            _ => Err(format!("{shown} is not a port; ports are 1 to 65535")),
        },
        SettingType::Size => with_unit()?.parse::<Size>().map(|_| ()).map_err(|e| e.to_string()),
        SettingType::Duration => with_unit()?.parse::<Duration>().map(|_| ()).map_err(|e| e.to_string()),
        SettingType::Host | SettingType::Name => {
            text()?.parse::<Name>().map(|_| ()).map_err(|e| e.to_string())
        }
        SettingType::Cidr => text()?.parse::<Network>().map(|_| ()),
        SettingType::Folder => check_folder(text()?),
        SettingType::Secret => text()?.parse::<SecretRef>().map(|_| ()).map_err(|e| e.to_string()),
        SettingType::List if value.is_array() => Ok(()),
        SettingType::List => Err(format!("{shown} is not a list")),
        SettingType::Enum | SettingType::String => {
            match text()?.chars().find(|c| c.is_control() && !matches!(c, '\n' | '\t')) {
                Some(found) => {
                    Err(format!("a text cannot hold the control character U+{:04X}", u32::from(found)))
                }
                None => Ok(()),
            }
        }
    }
}

fn check_folder(text: &str) -> Result<(), String> {
    match folder::written(text) {
        None => Err(format!("{text:?} is not a plain path from / on")),
        Some(_) if folder::is_of_the_system(text) => {
            Err(format!("{text:?} is a folder of the system; what it has would be hidden"))
        }
        Some(written) if written != text => {
            Err(format!("{text:?} is not written the shortest way, which is {written}"))
        }
        Some(_) => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn setting(fields: Json) -> Setting {
        let mut all = json!({"help": "x"});
        all.as_object_mut().unwrap().extend(fields.as_object().unwrap().clone());
        serde_json::from_value(all).unwrap()
    }

    #[test]
    fn values_are_held_against_type_range_and_pattern() {
        let cases = [
            (json!({"type": "port"}), json!(3000), true),
            (json!({"type": "port"}), json!(0), false),
            (json!({"type": "port"}), json!("3000"), false),
            (json!({"type": "size", "min": "1G"}), json!("100G"), true),
            (json!({"type": "size", "min": "1G"}), json!("10M"), false),
            (json!({"type": "size"}), json!("100"), false),
            (json!({"type": "int", "max": 5}), json!(6), false),
            (json!({"type": "cidr"}), json!("10.0.0.0/16"), true),
            (json!({"type": "cidr"}), json!("10.0.0.0/33"), false),
            (json!({"type": "cidr"}), json!("10.0.0.1/16"), false),
            (json!({"type": "enum", "values": ["a", "b"]}), json!("c"), false),
            (json!({"type": "list", "of": "host"}), json!(["node1", "node2"]), true),
            (json!({"type": "list", "of": "host"}), json!(["no de"]), false),
            (json!({"type": "string", "pattern": "[a-z]+"}), json!("abc1"), false),
            (json!({"type": "list", "pattern": "[a-z]+"}), json!(["sudo", "docker"]), true),
            (json!({"type": "list", "pattern": "[a-z]+"}), json!(["sudo docker"]), false),
            (json!({"type": "secret"}), json!("hunter2"), false),
            (json!({"type": "folder", "default": ""}), json!(""), true),
            (json!({"type": "folder", "default": "/data"}), json!(""), false),
            (json!({"type": "folder"}), json!("/srv/db"), true),
            (json!({"type": "folder"}), json!("/srv/db/"), false),
            (json!({"type": "folder"}), json!("/srv/../etc"), false),
            (json!({"type": "folder"}), json!("/etc"), false),
            (json!({"type": "folder"}), json!("//"), false),
            (json!({"type": "bool"}), json!("maybe"), false),
        ];
        for (schema, value, fits) in cases {
            assert_eq!(setting(schema.clone()).check(&value).is_ok(), fits, "{schema} {value}");
        }
    }

    #[test]
    fn typed_text_becomes_typed_values() {
        assert_eq!(setting(json!({"type": "list", "of": "int"})).read_text("1, 2"), json!([1, 2]));
        assert_eq!(setting(json!({"type": "bool"})).read_text("yes"), json!(true));
        assert_eq!(setting(json!({"type": "port"})).read_text("x"), json!("x"));
        assert_eq!(setting(json!({"type": "size"})).read_text("20 GiB"), json!("20G"));
        assert_eq!(setting(json!({"type": "size"})).read_text("20"), json!("20"));
        assert_eq!(setting(json!({"type": "string"})).read_text("007"), json!("007"));
    }
}
