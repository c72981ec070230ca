//! Filters: `Filter.N.Name` and `Filter.N.Value.M`, matched the same way for every Describe.
//!
//! All filters must match, any value of a filter may. `*` and `?` are wildcards, a backslash takes their
//! meaning away. `tag:KEY`, `tag-key` and `tag-value` work on everything that has tags. A filter that a
//! Describe does not know is an error, never ignored: ignoring it would answer with too much, and one on tags that
//! nothing can have would answer with nothing.

use hive_api::pattern::{is_pattern, literal_beginning, matches};
use hive_api::{ApiError, ApiResult};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::call::Call;
use super::index::{Field, Found, found_by_tag};
use super::table::{Listed, Resource, Table, TagFilters};
use crate::data::filters::{self, ShownFilter};
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
    /// Where all stands that such a filter can match, by its name and a pattern.
    narrow: fn(&Call<'_>, &str, &str) -> Option<Found>,
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
    /// Each has its own, and something else tells where all stand that can match a pattern; None if they may be anywhere.
    Through(ValuesOf<T>, fn(&Call<'_>, &str) -> Option<Found>),
}

type ValuesOf<T> = fn(&T, &Account) -> Vec<String>;

impl<T: Listed> Filters<T> {
    pub const fn of(rows: &'static [(&'static str, FilterRow<T>)]) -> Self {
        Self { rows, only: None, shown: None, narrow: |_, _, _| None }
    }

    pub const fn only(
        fields: &'static [&'static str],
        rows: &'static [(&'static str, FilterRow<T>)],
    ) -> Self {
        Self { only: Some(fields), ..Self::of(rows) }
    }

    /// Also those that `data/shown-filters.txt` has for an action.
    pub const fn shown(self, action: &'static str, view: Shown<T>) -> Self {
        Self { shown: Some((action, view)), ..self }
    }

    /// Where to look for what is shown, so that not every item is: whatever can match has to be there.
    pub const fn narrowed(self, narrow: fn(&Call<'_>, &str, &str) -> Option<Found>) -> Self {
        Self { narrow, ..self }
    }

    /// Sorted.
    pub fn names(&self) -> Vec<&'static str> {
        let fields = T::FIELDS.iter().flat_map(|field| field.filters).copied();
        let fields = fields.filter(|name| self.has_field(name));
        let shown = self.shown.iter().flat_map(|(action, _)| filters::shown(action)).map(|shown| shown.name);
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

    fn row(&self, name: &str) -> Option<&FilterRow<T>> {
        self.rows.iter().find(|(known, _)| *known == name).map(|(_, row)| row)
    }

    fn shown_as(&self, name: &str) -> Option<(Shown<T>, ShownFilter)> {
        let (action, view) = self.shown?;
        filters::shown(action).find(|shown| shown.name == name).map(|filter| (view, filter))
    }
}

impl<T: Resource> Filters<T> {
    /// Where all of a table stands that a filter can match with one of its values; None if that may be anywhere.
    pub fn found(&self, table: &Table<T>, call: &Call<'_>, name: &str, pattern: &str) -> Option<Found> {
        if let Some(found) = found_by_tag(name, pattern) {
            return Some(found);
        }
        match (self.field(name), self.row(name)) {
            (Some(field), _) if field.is_key => table.keys_like(pattern),
            (Some(field), _) => field.found(pattern),
            (_, Some(FilterRow::Same(value))) => found_if(matches(pattern, &value(call.account)), || None),
            (_, Some(FilterRow::Through(_, narrow))) => narrow(call, pattern),
            (_, Some(FilterRow::Of(_))) => None,
            (None, None) => match self.shown_as(name) {
                Some((view, filter)) if filter.is_alike => {
                    let mut found = false;
                    for item in table.iter().take(1) {
                        let is_it = &mut |value: &str| found |= matches(pattern, value);
                        each_at_place(&view(item, call), &filter.place, is_it);
                    }
                    found_if(found, || None)
                }
                _ => (self.narrow)(call, name, pattern),
            },
        }
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

/// Nothing, unless it can match.
pub fn found_if(can_match: bool, found: impl FnOnce() -> Option<Found>) -> Option<Found> {
    if can_match { found() } else { Some(Found::nothing()) }
}

/// Where all stands whose value is a beginning that all have, and behind it what `found` looks for.
pub fn found_behind(
    beginning: &str,
    pattern: &str,
    found: impl FnOnce(&str) -> Option<Found>,
) -> Option<Found> {
    let literal = literal_beginning(pattern).unwrap_or(pattern);
    match pattern.strip_prefix(beginning).filter(|_| literal.starts_with(beginning)) {
        Some(rest) => found(rest),
        // A shorter pattern can match anything.
        None => found_if(is_pattern(pattern) && beginning.starts_with(literal), || None),
    }
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
                        let shown =
                            known.shown_as(name).map(|(view, shown)| Subject::Shown(view, shown.place));
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
