//! What an action is, and its row in the table.

use std::borrow::Cow;

use hive_api::{ApiError, ApiResult, Params, coverage, decode, xml};
use serde::Serialize;
use serde::de::DeserializeOwned;

use super::call::{Call, Entropy, Prepared};
use super::common::Accepts;
use crate::data::parameters;

pub trait Action {
    const NAME: &'static str;
    const ACCEPTS: Accepts = Accepts::NONE;
    /// Parameters that are taken and kept but change nothing yet; coverage says so.
    const WITHOUT_EFFECT: &'static [&'static str] = &[];
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
    parameters::refuse(A::NAME, &decoded.unknown, &params)?;
    decoded.unknown.extend(foreign);
    let response = A::run(decoded.request, call)?;
    decoded.unknown.append(&mut call.common.unknown);
    let content = xml::to_content(&response).map_err(|error| ApiError::internal(error.to_string()))?;
    Ok(Outcome { content, unknown: decoded.unknown })
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
}
