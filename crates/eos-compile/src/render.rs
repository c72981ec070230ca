//! Rendering catalogue data: every text's references are looked up in a [`Scope`], the result goes through a sink.

use std::rc::Rc;

use eos_catalog::reference::{self, Filter, Reference, Segment};
use eos_model::{Duration, SecretRef, Size};
use serde_json::Value as Json;

use crate::origin::Origin;
use crate::scope::Scope;
use crate::traced::Traced;

/// A rendered text: its pieces, and where they come from.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Rendered {
    pub pieces: Vec<Piece>,
    /// Set when the text was one reference and nothing else: the value with its type.
    pub typed: Option<Json>,
    pub origins: Vec<Origin>,
}

/// A piece of a rendered text, kept apart because each target quotes them differently.
#[derive(Debug, Clone, PartialEq)]
pub enum Piece {
    /// The catalogue's own words.
    Literal(String),
    /// What a user typed or eos chose.
    Value(String),
    /// A secret, resolved by whoever runs the artifact. `url`: escaped for use in a URL.
    Secret { reference: SecretRef, url: bool },
    /// A variable of Nomad's at run time.
    Nomad(String),
    /// An output of another unit that exists only once it is applied: the tofu variable that carries it.
    Input(String),
}

/// Turns a rendered text into what its target writes, or says why it cannot.
pub type Sink<'s> = dyn FnMut(&Rendered) -> Result<Json, String> + 's;

impl Rendered {
    pub fn value(value: &Json, origins: Vec<Origin>) -> Rendered {
        Rendered { pieces: vec![Piece::Value(plain(value))], typed: Some(value.clone()), origins }
    }

    pub fn piece(piece: Piece, origins: Vec<Origin>) -> Rendered {
        Rendered { pieces: vec![piece], typed: None, origins }
    }

    pub fn has_secret(&self) -> bool {
        self.pieces.iter().any(|piece| matches!(piece, Piece::Secret { .. }))
    }
}

/// A value as text: a string as it is, anything else as JSON.
fn plain(value: &Json) -> String {
    match value {
        Json::String(text) => text.clone(),
        Json::Null => String::new(),
        // 80 and not 80.0: figures of thresholds are floats.
        Json::Number(number) => match number.as_f64() {
            Some(float) if number.is_f64() && float.fract() == 0.0 => format!("{float:.0}"),
            _ => number.to_string(),
        },
        other => other.to_string(),
    }
}

/// Renders one text.
pub fn text(scope: &Rc<Scope<'_, '_>>, text: &str) -> Result<Rendered, String> {
    let segments = reference::parse(text).map_err(|bad| bad.to_string())?;
    if let [Segment::Reference(reference)] = segments.as_slice() {
        return lookup(scope, reference);
    }
    let mut rendered = Rendered::default();
    for segment in segments {
        match segment {
            Segment::Text(text) => rendered.pieces.push(Piece::Literal(text)),
            Segment::Reference(reference) => {
                let found = lookup(scope, &reference)?;
                rendered.pieces.extend(found.pieces);
                rendered.origins.extend(found.origins);
            }
        }
    }
    bracket_addresses(&mut rendered.pieces);
    Ok(rendered)
}

/// An IPv6 address before a port or at the start of a URL stands in brackets; by itself it does not.
fn bracket_addresses(pieces: &mut [Piece]) {
    for at in 0..pieces.len() {
        let literal = |at: Option<usize>| {
            at.and_then(|at| pieces.get(at))
                .map_or("", |piece| if let Piece::Literal(text) = piece { text } else { "" })
        };
        let joined =
            literal(at.checked_add(1)).starts_with(':') || literal(at.checked_sub(1)).ends_with("://");
        if let Piece::Value(address) = &pieces[at]
            && joined
            && address.parse::<std::net::Ipv6Addr>().is_ok()
        {
            pieces[at] = Piece::Value(format!("[{address}]"));
        }
    }
}

/// Renders data: texts go through the sink, keys may hold references too, everything else stays.
pub fn data(scope: &Rc<Scope<'_, '_>>, json: &Json, sink: &mut Sink<'_>) -> Result<Traced, String> {
    match json {
        Json::String(template) => {
            let rendered = text(scope, template)?;
            let value = sink(&rendered)?;
            let mut traced = Traced::from(value);
            traced.origins = rendered.origins;
            traced.origins.dedup();
            Ok(traced)
        }
        Json::Array(items) => {
            Ok(Traced::list(items.iter().map(|item| data(scope, item, sink)).collect::<Result<_, _>>()?))
        }
        Json::Object(fields) => entries(scope, fields.iter(), sink),
        scalar => Ok(Traced::scalar(scalar.clone(), Vec::new())),
    }
}

/// Renders the entries of a mapping.
pub fn entries<'j>(
    scope: &Rc<Scope<'_, '_>>,
    entries: impl Iterator<Item = (&'j String, &'j Json)>,
    sink: &mut Sink<'_>,
) -> Result<Traced, String> {
    let mut map = Traced::map();
    for (key, value) in entries {
        let key = if key.contains("@{") { plain(&sink(&text(scope, key)?)?) } else { key.clone() };
        map.set(key, data(scope, value, sink)?);
    }
    Ok(map)
}

fn lookup(scope: &Rc<Scope<'_, '_>>, reference: &Reference) -> Result<Rendered, String> {
    let found = scope.lookup(reference)?;
    match &reference.filter {
        None => Ok(found),
        Some(filter) => apply(filter, found).map_err(|problem| format!("{reference}: {problem}")),
    }
}

fn apply(filter: &Filter, mut rendered: Rendered) -> Result<Rendered, String> {
    if let Filter::Url = filter {
        for piece in &mut rendered.pieces {
            match piece {
                Piece::Literal(text) | Piece::Value(text) => *text = url_escape(text),
                Piece::Secret { url, .. } => *url = true,
                Piece::Nomad(_) | Piece::Input(_) => return Err("cannot be escaped for a URL".to_owned()),
            }
        }
        rendered.typed = None;
        return Ok(rendered);
    }
    let value = rendered.typed.take().ok_or("a filter needs a plain value")?;
    let text = || value.as_str().ok_or_else(|| format!("{value} is not a text"));
    let size = || text()?.parse::<Size>().map_err(|e| e.to_string());
    let result = match filter {
        Filter::Bytes => Json::from(size()?.0),
        Filter::Megabytes => Json::from(size()?.0 >> 20),
        Filter::Seconds => Json::from(text()?.parse::<Duration>().map_err(|e| e.to_string())?.0),
        Filter::Json => Json::from(value.to_string()),
        Filter::Join(separator) => {
            let items = value.as_array().ok_or_else(|| format!("{value} is not a list"))?;
            Json::from(items.iter().map(plain).collect::<Vec<_>>().join(separator))
        }
        Filter::Url => unreachable!("handled above"),
    };
    Ok(Rendered::value(&result, rendered.origins))
}

fn url_escape(text: &str) -> String {
    let keep = |byte: u8| byte.is_ascii_alphanumeric() || b"-._~".contains(&byte);
    text.bytes()
        .map(|byte| if keep(byte) { char::from(byte).to_string() } else { format!("%{byte:02X}") })
        .collect()
}
