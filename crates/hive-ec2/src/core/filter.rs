//! Filters: `Filter.N.Name` and `Filter.N.Value.M`, matched the same way for every Describe.
//!
//! All filters must match, any value of a filter may. `*` and `?` are wildcards, a backslash takes their
//! meaning away. `tag:KEY`, `tag-key` and `tag-value` work on everything that has tags. A filter that a
//! Describe does not know is an error, never ignored: ignoring it would answer with too much, and one on tags that
//! nothing can have would answer with nothing.

use hive_api::pattern::matches;
use hive_api::{ApiError, ApiResult};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::call::Call;
use super::index::Field;
use super::table::{Listed, TagFilters};
use crate::data::filters;
use crate::model::account::Account;

#[derive(Debug, Clone, Deserialize)]
#[serde(rename_all = "PascalCase")]
pub struct Filter {
    pub name: String,
    #[serde(default)]
    pub value: Vec<String>,
}

/// The filters of one Describe: the fields of what it lists, which are indexed, and what follows from more than that.
pub struct Filters<T: 'static> {
    rows: &'static [(&'static str, FilterRow<T>)],
    /// Of the fields only these.
    only: Option<&'static [&'static str]>,
    /// The action whose filters look at the answer, and what it answers of an item.
    shown: Option<(&'static str, Shown<T>)>,
}

type Shown<T> = fn(&T, &Call<'_>) -> Value;

/// What an answer says of an item, for filters to look at.
pub fn shown(view: impl Serialize) -> Value {
    serde_json::to_value(view).unwrap_or_default()
}

/// Where the values of an item under a filter come from.
pub enum FilterRow<T> {
    /// Every item has the same.
    Same(fn(&Account) -> String),
    /// Each has its own: every item is looked at.
    Of(ValuesOf<T>),
    /// Each has its own, and other resources tell which items have one value: their keys.
    Through(ValuesOf<T>, fn(&Account, &str) -> Vec<String>),
}

type ValuesOf<T> = fn(&T, &Account) -> Vec<String>;

impl<T: Listed> Filters<T> {
    pub const fn of(rows: &'static [(&'static str, FilterRow<T>)]) -> Self {
        Self { rows, only: None, shown: None }
    }

    pub const fn only(
        fields: &'static [&'static str],
        rows: &'static [(&'static str, FilterRow<T>)],
    ) -> Self {
        Self { rows, only: Some(fields), shown: None }
    }

    /// Also those that `data/shown-filters.txt` has for an action.
    pub const fn shown(self, action: &'static str, view: Shown<T>) -> Self {
        Self { shown: Some((action, view)), ..self }
    }

    /// Sorted.
    pub fn names(&self) -> Vec<&'static str> {
        let fields = T::FIELDS.iter().flat_map(|field| field.filters).copied();
        let fields = fields.filter(|name| self.has_field(name));
        let shown = self.shown.iter().flat_map(|(action, _)| filters::shown(action)).map(|(name, _)| name);
        let rows = self.rows.iter().map(|(name, _)| *name);
        let mut names: Vec<_> = fields.chain(rows).chain(shown).collect();
        names.sort_unstable();
        names
    }

    fn has_field(&self, name: &str) -> bool {
        Field::<T>::is_a_filter(name) && self.only.is_none_or(|only| only.contains(&name))
    }

    fn field(&self, name: &str) -> Option<Field<T>> {
        T::FIELDS.iter().find(|field| field.filters.contains(&name)).filter(|_| self.has_field(name)).copied()
    }

    pub fn row(&self, name: &str) -> Option<&FilterRow<T>> {
        self.rows.iter().find(|(known, _)| *known == name).map(|(_, row)| row)
    }
}

/// The values of a filter on something that is always there.
pub fn one(value: impl ToString) -> Vec<String> {
    vec![value.to_string()]
}

/// The values of a filter on something that may be absent.
pub fn maybe(value: Option<impl ToString>) -> Vec<String> {
    value.map(|value| value.to_string()).into_iter().collect()
}

/// What a filter looks at.
enum Subject<T: 'static> {
    Tag(String),
    TagKey,
    TagValue,
    Field(Field<T>),
    Row(ValuesOf<T>),
    Same(String),
    /// A place in what is answered of an item.
    Shown(Shown<T>, String),
}

/// The filters of one request, checked and looked up once for all items.
pub struct Matcher<'a, T: 'static>(Vec<(Subject<T>, &'a [String])>);

impl<'a, T: Listed> Matcher<'a, T> {
    pub fn new(filters: &'a [Filter], known: &Filters<T>, account: &Account) -> ApiResult<Self> {
        let invalid = |message: String| ApiError::client("InvalidParameterValue", message);
        let mut subjects = Vec::with_capacity(filters.len());
        for Filter { name, value } in filters {
            let all = T::TAG_FILTERS == TagFilters::All;
            let key = name.strip_prefix("tag:").filter(|_| T::TAG_FILTERS != TagFilters::None);
            let subject = match (name.as_str(), key) {
                ("tag-key", _) if all => Subject::TagKey,
                ("tag-value", _) if all => Subject::TagValue,
                (_, Some(key)) => Subject::Tag(key.to_owned()),
                (name, None) => match (known.field(name), known.row(name)) {
                    (Some(field), _) => Subject::Field(field),
                    (_, Some(FilterRow::Same(value))) => Subject::Same(value(account)),
                    (_, Some(FilterRow::Of(values) | FilterRow::Through(values, _))) => Subject::Row(*values),
                    (None, None) => {
                        let shown = known.shown.and_then(|(action, view)| {
                            let (_, place) = filters::shown(action).find(|(shown, _)| *shown == name)?;
                            let place = place.map_or_else(|| filters::place(name), str::to_owned);
                            Some(Subject::Shown(view, place))
                        });
                        shown.ok_or_else(|| invalid(format!("The filter '{name}' is invalid")))?
                    }
                },
            };
            if value.is_empty() {
                return Err(invalid(format!("The filter '{name}' has no values")));
            }
            subjects.push((subject, value.as_slice()));
        }
        Ok(Self(subjects))
    }

    /// Whether one of them follows from more than the resource itself, so that no index has it.
    pub fn looks_at_everything(&self) -> bool {
        self.0.iter().any(|(subject, _)| matches!(subject, Subject::Row(_) | Subject::Shown(..)))
    }

    /// The values that such a filter looks at.
    pub fn each_value(&self, item: &T, call: &Call<'_>, each: &mut dyn FnMut(&str)) {
        for (subject, _) in &self.0 {
            match subject {
                Subject::Row(values) => values(item, call.account).iter().for_each(|value| each(value)),
                Subject::Shown(view, place) => each_at_place(&view(item, call), place, each),
                _ => {}
            }
        }
    }

    /// Whether nothing can match, whatever it is.
    pub fn matches_nothing(&self) -> bool {
        self.0.iter().any(|(subject, patterns)| match subject {
            Subject::Same(value) => !patterns.iter().any(|pattern| matches(pattern, value)),
            _ => false,
        })
    }

    pub fn matches(&self, item: &T, call: &Call<'_>) -> bool {
        self.0.iter().all(|(subject, patterns)| {
            let any = |value: &str| patterns.iter().any(|pattern| matches(pattern, value));
            let mut tags = item.tags().into_iter().flat_map(|tags| tags.iter());
            match subject {
                Subject::TagKey => tags.any(|(key, _)| any(key)),
                Subject::TagValue => tags.any(|(_, value)| any(value)),
                Subject::Tag(key) => item.tag(key).is_some_and(any),
                Subject::Same(value) => any(value),
                Subject::Field(field) => {
                    let mut found = false;
                    (field.values)(item, &mut |value| found = found || any(value));
                    found
                }
                Subject::Row(values) => values(item, call.account).iter().any(|value| any(value)),
                Subject::Shown(view, place) => {
                    let mut found = false;
                    each_at_place(&view(item, call), place, &mut |value| found = found || any(value));
                    found
                }
            }
        })
    }
}

/// Every value at a place in an answer, of which lists count with each of their items.
fn each_at_place(value: &Value, place: &str, each: &mut dyn FnMut(&str)) {
    match value {
        Value::Array(items) => items.iter().for_each(|item| each_at_place(item, place, each)),
        Value::Object(fields) => {
            let (name, rest) = place.split_once('.').unwrap_or((place, ""));
            if let Some(value) = fields.get(name) {
                each_at_place(value, rest, each);
            }
        }
        Value::String(text) if place.is_empty() => each(text),
        Value::Bool(_) | Value::Number(_) if place.is_empty() => each(&value.to_string()),
        _ => {}
    }
}
