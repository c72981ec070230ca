//! Sinks: how a rendered text is written for Nomad, for Salt and for OpenTofu.
//!
//! Each target quotes by its own rules; a piece that a target cannot hold is an error, never a guess.

use eos_model::SecretRef;
use serde_json::Value as Json;

use crate::render::{Piece, Rendered};
use crate::secret_keys::SecretKeys;

/// For a task's `Config`, which Nomad reads as a template of HCL: `${…}` and `%{…}` are its own there.
pub fn nomad_config(rendered: &Rendered) -> Result<Json, String> {
    nomad(rendered, escape_tofu)
}

/// For a task's `Env`: Nomad replaces `${…}` there and knows no way to write one that stays; see [`stays_in_env`].
pub fn nomad_env(rendered: &Rendered) -> Result<Json, String> {
    nomad(rendered, str::to_owned)
}

/// Whether a text survives in `Env`; what does not has to go through a template.
pub fn stays_in_env(rendered: &Rendered) -> bool {
    rendered
        .pieces
        .iter()
        .all(|piece| !matches!(piece, Piece::Literal(text) | Piece::Value(text) if text.contains("${")))
}

fn nomad(rendered: &Rendered, quoted: fn(&str) -> String) -> Result<Json, String> {
    if let Some(typed) = rendered.typed.as_ref().filter(|typed| !typed.is_string()) {
        return Ok(typed.clone());
    }
    let mut out = String::new();
    for piece in &rendered.pieces {
        match piece {
            Piece::Literal(text) | Piece::Value(text) => out.push_str(&quoted(text)),
            Piece::Nomad(variable) => out.push_str(&format!("${{{variable}}}")),
            Piece::Secret { .. } => return Err("a secret may only be in env and files".to_owned()),
            Piece::Input(variable) => return Err(not_yet(variable)),
        }
    }
    Ok(Json::from(out))
}

/// For Salt states: a secret or a variable of Nomad's means nothing there.
pub fn salt(rendered: &Rendered) -> Result<Json, String> {
    if let Some(typed) = &rendered.typed {
        return Ok(typed.clone());
    }
    let mut out = String::new();
    for piece in &rendered.pieces {
        match piece {
            Piece::Literal(text) | Piece::Value(text) => out.push_str(text),
            Piece::Secret { .. } => return Err("a secret may only be in a task's env and files".to_owned()),
            Piece::Nomad(_) => return Err("Nomad's variables exist in tasks only".to_owned()),
            Piece::Input(variable) => return Err(not_yet(variable)),
        }
    }
    Ok(Json::from(out))
}

/// For OpenTofu: the catalogue's `${…}` is an expression, what a user typed is not.
pub fn tofu(rendered: &Rendered) -> Result<Json, String> {
    if let Some(typed) = rendered.typed.as_ref().filter(|typed| !typed.is_string()) {
        return Ok(escape_all(typed));
    }
    let mut out = String::new();
    for piece in &rendered.pieces {
        match piece {
            Piece::Literal(text) => out.push_str(text),
            Piece::Value(text) => out.push_str(&escape_tofu(text)),
            Piece::Input(variable) => out.push_str(&format!("${{var.{variable}}}")),
            Piece::Secret { .. } => return Err("a secret may only be in a task's env and files".to_owned()),
            Piece::Nomad(_) => return Err("Nomad's variables exist in tasks only".to_owned()),
        }
    }
    Ok(Json::from(out))
}

fn escape_all(json: &Json) -> Json {
    match json {
        Json::String(text) => Json::from(escape_tofu(text)),
        Json::Array(items) => Json::Array(items.iter().map(escape_all).collect()),
        Json::Object(entries) => {
            Json::Object(entries.iter().map(|(k, v)| (k.clone(), escape_all(v))).collect())
        }
        other => other.clone(),
    }
}

/// Text that OpenTofu reads back as itself.
pub fn escape_tofu(text: &str) -> String {
    text.replace("${", "$${").replace("%{", "%%{")
}

fn not_yet(variable: &str) -> String {
    format!("{variable} is known only once another unit is applied; a job or a state cannot wait for it")
}

/// Renders texts into a Nomad template: plain text with actions for secrets and variables.
#[derive(Debug)]
pub struct TemplateSink<'k> {
    /// What the job's variable calls them.
    keys: &'k SecretKeys,
    /// The secrets the template reads.
    pub secrets: Vec<SecretRef>,
    /// What stands where a value is known only on the host.
    actions: Vec<Action>,
    has_variables: bool,
    /// Tells placeholders apart from those of an attempt before.
    attempt: usize,
}

/// A placeholder in the content and the action that takes its place.
#[derive(Debug)]
struct Action {
    placeholder: String,
    action: String,
    /// The action brings quotes of its own: those that a data format put around the placeholder go.
    is_quoted: bool,
    /// Between quotes that stay, the value's own quotes and backslashes are escaped.
    escapes: bool,
}

/// For a value between quotes: `\` and `"` get a `\` before them.
const ESCAPE: &str = r#" | replaceAll "\\" "\\\\" | replaceAll "\"" "\\\"""#;

/// For a value in a URL, as [`crate::render`] escapes one that is known: Go's `urlquery` writes a space as forms do, and
/// outside of a query a `+` is a plus.
const URL_ESCAPE: &str = r#" | urlquery | replaceAll "+" "%20""#;

/// How often a content is made with other placeholders.
const ATTEMPTS: usize = 100;

/// Left and right delimiters, the first pair that the content itself does not use.
const DELIMITERS: [(&str, &str); 4] = [("{{", "}}"), ("[[", "]]"), ("<%", "%>"), ("<<<", ">>>")];

impl<'k> TemplateSink<'k> {
    /// Makes a content. Should some text in it happen to be a placeholder, it is made again with others.
    pub fn render(
        keys: &'k SecretKeys,
        mut content: impl FnMut(&mut TemplateSink<'k>) -> Result<String, String>,
    ) -> Result<(TemplateSink<'k>, String), String> {
        for attempt in 0..ATTEMPTS {
            let (secrets, actions) = (Vec::new(), Vec::new());
            let mut sink = TemplateSink { keys, secrets, actions, has_variables: false, attempt };
            let made = content(&mut sink)?;
            if sink.actions.iter().all(|action| sink.is_unmistakable(&action.placeholder, &made)) {
                return Ok((sink, made));
            }
        }
        Err("the content uses every placeholder there is".to_owned())
    }

    /// Whether a placeholder stands where it was put and nowhere else.
    fn is_unmistakable(&self, placeholder: &str, content: &str) -> bool {
        content.matches(placeholder).count() <= 1
            && self.actions.iter().all(|action| !action.action.contains(placeholder))
    }

    pub fn needs_template(&self) -> bool {
        !self.secrets.is_empty() || self.has_variables
    }

    /// For json and yaml: the whole value becomes a placeholder that [`TemplateSink::finish`] replaces by an action
    /// which quotes it at run time.
    pub fn data(&mut self, rendered: &Rendered) -> Result<Json, String> {
        let dynamic =
            rendered.pieces.iter().any(|piece| matches!(piece, Piece::Secret { .. } | Piece::Nomad(_)));
        if !dynamic {
            return salt(rendered);
        }
        let action = format!("{} | toJSON", self.print(rendered)?);
        Ok(Json::from(self.placeholder(action, true, false)))
    }

    /// For text: each secret and variable becomes an action in place.
    pub fn text(&mut self, rendered: &Rendered) -> Result<Json, String> {
        let mut out = String::new();
        for piece in &rendered.pieces {
            match piece {
                Piece::Literal(text) | Piece::Value(text) => out.push_str(text),
                Piece::Secret { .. } | Piece::Nomad(_) => {
                    let action = self.expression(piece)?;
                    let escapes = matches!(piece, Piece::Secret { url: false, .. });
                    out.push_str(&self.placeholder(action, false, escapes));
                }
                Piece::Input(variable) => return Err(not_yet(variable)),
            }
        }
        Ok(Json::from(out))
    }

    /// A line `KEY=<action>` of an env template, quoted as Nomad's env parser wants it.
    pub fn env_line(&mut self, key: &str, rendered: &Rendered) -> Result<String, String> {
        let action = format!("{} | toJSON", self.print(rendered)?);
        Ok(format!("{key}={}\n", self.placeholder(action, true, false)))
    }

    fn print(&mut self, rendered: &Rendered) -> Result<String, String> {
        let mut arguments = String::new();
        for piece in &rendered.pieces {
            let argument = match piece {
                Piece::Literal(text) | Piece::Value(text) => go_string(text),
                other => format!("({})", self.expression(other)?),
            };
            arguments.push(' ');
            arguments.push_str(&argument);
        }
        Ok(format!("printf {}{arguments}", go_string(&"%s".repeat(rendered.pieces.len()))))
    }

    fn expression(&mut self, piece: &Piece) -> Result<String, String> {
        match piece {
            Piece::Secret { reference, url } => {
                if !self.secrets.contains(reference) {
                    self.secrets.push(reference.clone());
                }
                let value = format!("printf \"%s\" $secrets.{}", self.keys.key(reference));
                Ok(if *url { format!("{value}{URL_ESCAPE}") } else { value })
            }
            Piece::Nomad(variable) => {
                self.has_variables = true;
                Ok(format!("env {}", go_string(variable)))
            }
            Piece::Input(variable) => Err(not_yet(variable)),
            Piece::Literal(text) | Piece::Value(text) => Ok(go_string(text)),
        }
    }

    fn placeholder(&mut self, action: String, is_quoted: bool, escapes: bool) -> String {
        let placeholder = format!("EOSx{}x{}xACTION", self.actions.len(), self.attempt);
        self.actions.push(Action { placeholder: placeholder.clone(), action, is_quoted, escapes });
        placeholder
    }

    /// The template's text and its delimiters; `job` is the job whose variable holds the secrets.
    pub fn finish(&self, job: &str, content: &str) -> Result<(String, (&'static str, &'static str)), String> {
        let free = |(left, right): &&(&str, &str)| {
            !content.contains(left) && (self.actions.is_empty() || !content.contains(right))
        };
        let (left, right) =
            DELIMITERS.iter().find(free).ok_or("the content uses every kind of delimiter there is")?;
        let mut out = String::new();
        if !self.secrets.is_empty() {
            out.push_str(&format!("{left} with $secrets := nomadVar \"nomad/jobs/{job}\" {right}"));
        }
        let mut body = content.to_owned();
        for Action { placeholder, action, is_quoted, escapes } in self.actions.iter().rev() {
            let escape = if *escapes && stands_in_quotes(content, placeholder) { ESCAPE } else { "" };
            let action = format!("{left} {action}{escape} {right}");
            if *is_quoted {
                body = body.replace(&format!("\"{placeholder}\""), &action);
            }
            body = body.replace(placeholder, &action);
        }
        out.push_str(&body);
        if !self.secrets.is_empty() {
            out.push_str(&format!("{left} end {right}"));
        }
        Ok((out, (left, right)))
    }
}

/// Whether a quote is open on the placeholder's line before it.
fn stands_in_quotes(content: &str, placeholder: &str) -> bool {
    let Some(at) = content.find(placeholder) else { return false };
    let line = content[..at].rsplit('\n').next().unwrap_or_default();
    line.replace("\\\\", "").replace("\\\"", "").matches('"').count() % 2 == 1
}

/// A string literal of Go templates; JSON's quoting is a subset of Go's.
fn go_string(text: &str) -> String {
    Json::from(text).to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_that_is_a_placeholder_stays_a_text() {
        let reference: SecretRef = "secret://production/a/b?v=1".parse().unwrap();
        let keys = SecretKeys::of(std::slice::from_ref(&reference));
        let secret =
            || Rendered::piece(Piece::Secret { reference: reference.clone(), url: false }, Vec::new());
        let odd = "EOSx0x0xACTION EOSx0x1xACTION";
        let (sink, content) = TemplateSink::render(&keys, |sink| {
            let known = sink.text(&Rendered::value(&Json::from(odd), Vec::new()))?;
            let text = sink.text(&secret())?;
            Ok(format!("{}\n{}", known.as_str().unwrap(), text.as_str().unwrap()))
        })
        .unwrap();
        let (text, _) = sink.finish("job", &content).unwrap();
        assert_eq!(text.matches(odd).count(), 1, "{text}");
        assert_eq!(text.matches("$secrets.a_b").count(), 1, "{text}");
        // Beside a secret a text is inside of the action.
        let mut beside = secret();
        beside.pieces.push(Piece::Value(odd.to_owned()));
        let (sink, content) = TemplateSink::render(&keys, |sink| {
            Ok([sink.env_line("A", &secret())?, sink.env_line("B", &beside)?].concat())
        })
        .unwrap();
        let (text, _) = sink.finish("job", &content).unwrap();
        assert_eq!(text.matches(odd).count(), 1, "{text}");
    }
}
