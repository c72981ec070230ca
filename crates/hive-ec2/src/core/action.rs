//! What an action is, and its row in the table.

use std::borrow::Cow;

use hive_api::{ApiError, ApiResult, Params, coverage, decode, xml};
use serde::Serialize;
use serde::de::DeserializeOwned;

use super::call::{Call, Entropy, Prepared};
use super::common::Accepts;
use crate::data::parameters as aws;
use crate::data::template_shape;

pub trait Action {
    const NAME: &'static str;
    const ACCEPTS: Accepts = Accepts::NONE;
    /// Parameters that are taken and kept but change nothing yet; coverage says so.
    const WITHOUT_EFFECT: &'static [&'static str] = &[];
    /// Values that AWS has, that are understood and that a rule refuses (`Name=value`); coverage says so.
    const REFUSED_VALUES: &'static [&'static str] = &[];
    /// Fields of a request type shared with other actions that this one does not have.
    const NOT_OURS: &'static [&'static str] = &[];
    /// Slow work that needs no account, done before the action has its turn: nobody waits for it.
    const PREPARE: Option<Prepare> = None;
    type Request: DeserializeOwned;
    type Response: Serialize;

    /// Other parameters than those that came: what they refer to, filled in.
    fn complete(_params: &Params, _call: &mut Call<'_>) -> ApiResult<Option<Params>> {
        Ok(None)
    }

    fn run(request: Self::Request, call: &mut Call<'_>) -> ApiResult<Self::Response>;
}

/// From the parameters and randomness to whatever the action finds in `Call::prepared`.
pub type Prepare = fn(&Params, &Entropy) -> ApiResult<Prepared>;

/// What came of an action: the content of its response element, and parameters that nothing knew.
pub struct Outcome {
    pub content: String,
    pub unknown: Vec<String>,
}

/// One row of the table; everything that lists or dispatches actions derives from it.
pub struct Entry {
    pub name: &'static str,
    pub accepts: Accepts,
    pub without_effect: &'static [&'static str],
    pub parameters: fn() -> Vec<&'static str>,
    /// What of AWS' own parameters and their values is refused.
    pub refused: fn() -> Vec<String>,
    pub prepare: Option<Prepare>,
    pub run: fn(&Params, &mut Call<'_>) -> ApiResult<Outcome>,
}

impl Entry {
    pub const fn of<A: Action>() -> Entry {
        Entry {
            name: A::NAME,
            accepts: A::ACCEPTS,
            without_effect: A::WITHOUT_EFFECT,
            parameters: parameters::<A>,
            refused: refused::<A>,
            prepare: A::PREPARE,
            run: run::<A>,
        }
    }

    /// In EC2 exactly the actions named Describe… and Get… change nothing.
    pub fn is_read_only(&self) -> bool {
        self.name.starts_with("Describe") || self.name.starts_with("Get")
    }
}

fn parameters<A: Action>() -> Vec<&'static str> {
    let mut names = coverage::parameters::<A::Request>();
    names.retain(|name| !A::NOT_OURS.contains(name));
    names
}

/// What AWS takes and the action does not: parameters at any depth, of which the uppermost stands for what is in it, and
/// values where there is a choice.
fn refused<A: Action>() -> Vec<String> {
    let taken = coverage::taken::<A::Request>();
    let top = |name: &str| name.split('.').next().is_some_and(|top| A::NOT_OURS.contains(&top));
    let knows = |name: &str| {
        let in_tree = |tree: &String| Some(template_shape::knows(name.strip_prefix(tree.as_str())?));
        !top(name)
            && (taken.names.iter().any(|known| known == name)
                || taken.trees.iter().find_map(in_tree) == Some(true))
    };
    let above = |name: &str| name.rsplit_once('.').is_none_or(|(above, _)| knows(above));
    let common = A::ACCEPTS.names();
    let mut refused: Vec<String> = aws::of(A::NAME)
        .filter(|name| !common.contains(name) && !knows(name) && above(name))
        .map(str::to_owned)
        .collect();
    for (name, values) in aws::values(A::NAME) {
        if let Some((_, own)) = taken.values.iter().find(|(own, _)| own == name) {
            let missing = values.filter(|value| !own.contains(value));
            refused.extend(missing.map(|value| format!("{name}={value}")));
        }
    }
    refused.extend(A::REFUSED_VALUES.iter().map(|value| (*value).to_owned()));
    refused
}

fn run<A: Action>(params: &Params, call: &mut Call<'_>) -> ApiResult<Outcome> {
    let mut params = Cow::Borrowed(params);
    let mut foreign = Vec::new();
    for name in A::NOT_OURS {
        if params.has(name) {
            params.to_mut().take(name);
            foreign.push((*name).to_owned());
        }
    }
    if let Some(completed) = A::complete(&params, call)? {
        params = Cow::Owned(completed);
    }
    let mut decoded = decode::<A::Request>(&params)?;
    aws::refuse(A::NAME, &decoded.unknown, &params)?;
    refuse_misspelt::<A>(&decoded.unknown)?;
    decoded.unknown.extend(foreign);
    let response = A::run(decoded.request, call)?;
    decoded.unknown.append(&mut call.common.unknown);
    let content = xml::to_content(&response).map_err(|error| ApiError::internal(error.to_string()))?;
    Ok(Outcome { content, unknown: decoded.unknown })
}

/// A name that differs from one of the action's in case or number only is meant to be it. Counted like other unknown ones
/// it would be left out, and `Filters.1` or `Tags.1` would then mean everything.
fn refuse_misspelt<A: Action>(unknown: &[String]) -> ApiResult<()> {
    if unknown.is_empty() {
        return Ok(());
    }
    let singular = |name: &str| name.strip_suffix(['s', 'S']).unwrap_or(name).to_ascii_lowercase();
    let known: Vec<_> =
        A::ACCEPTS.names().into_iter().chain(parameters::<A>()).map(|name| (singular(name), name)).collect();
    for name in unknown {
        if let Some((_, meant)) = known.iter().find(|(known, _)| *known == singular(name)) {
            let error = ApiError::unknown_parameter(name);
            return Err(ApiError { message: format!("{}: it is {meant}", error.message), ..error });
        }
    }
    Ok(())
}

/// The answer of actions that only say that they did it.
#[derive(Serialize)]
pub struct Done {
    #[serde(rename = "return")]
    done: bool,
}

impl Done {
    pub fn ok() -> ApiResult<Done> {
        Ok(Done { done: true })
    }

    /// Of actions that set one attribute at a time: how many the request has.
    pub fn one(given: usize) -> ApiResult<Done> {
        match given {
            1 => Done::ok(),
            0 => Err(ApiError::missing_parameter("attribute")),
            _ => Err(ApiError::invalid_combination("Only one attribute can be modified at a time")),
        }
    }
}
