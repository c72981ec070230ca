//! `pillar/top.sls`: which files make up an environment's pillar, in Salt's order.
//!
//! eos follows two kinds of targets, the ones `eos init` writes: `'*'` and the grain `environment:<name>`. Others
//! concern single minions; they may be there and do not take part in compiling.

use camino::Utf8Path;
use eos_model::{Diagnostic, EnvName, codes};
use eos_yaml::{Document, Node, Value};

/// The pillar's root in an estate.
pub const PILLAR: &str = "pillar";
/// The top file.
pub const TOP_FILE: &str = "pillar/top.sls";

/// Whether a file is for every environment.
pub fn is_common(file: &Utf8Path) -> bool {
    file.starts_with("pillar/infrastructure/common") || file == "pillar/infrastructure/common.sls"
}

/// What `eos init` writes for the environments.
pub fn top_file<'a>(environments: impl IntoIterator<Item = &'a EnvName>) -> String {
    let mut text = String::from(
        "#!yaml\n# Which pillar files a minion gets. Later files win over earlier ones.\nbase:\n  '*':\n    - ignore_missing: True\n    - infrastructure.common\n    - hosts.*\n",
    );
    for env in environments {
        text.push_str(&format!(
            "  'environment:{env}':\n    - match: grain\n    - ignore_missing: True\n    - infrastructure.{env}\n    - infrastructure.{env}.*\n    - operations.{env}.*\n"
        ));
    }
    text
}

/// The sls patterns that apply to a minion of `env`, in order.
pub fn patterns(top: &Document, env: &EnvName) -> Result<Vec<String>, Diagnostic> {
    let wrong = |node: &Node, message: &str| {
        Diagnostic::error(codes::TOP_FILE, message.to_owned())
            .at(top.place(node.mark))
            .why("what it gives to nobody is never read: everything there would count as deleted")
            .fix("compare with git log -p pillar/top.sls, or with what eos init writes in an empty folder")
    };
    let base = top.root.get("base").ok_or_else(|| wrong(&top.root, "top.sls has no base environment"))?;
    let Value::Map(targets) = &base.value else {
        return Err(wrong(base, "base is not a mapping of targets"));
    };
    let mut found: Vec<String> = Vec::new();
    for (target, list) in targets.iter() {
        let Value::List(items) = &list.value else {
            return Err(wrong(list, "a target's value is not a list"));
        };
        let by_grain = items.iter().any(|item| item.get("match").and_then(Node::as_str) == Some("grain"));
        let text = target.as_str().unwrap_or_default();
        let applies = if by_grain { text == format!("environment:{env}") } else { text == "*" };
        if applies {
            // As in Salt, what several targets name counts where it comes first.
            for pattern in items.iter().filter_map(Node::as_str) {
                if !found.iter().any(|known| known == pattern) {
                    found.push(pattern.to_owned());
                }
            }
        }
    }
    if found.is_empty() {
        // Compiled as it is said, everything of the environment would be taken away.
        return Err(wrong(base, &format!("top.sls gives nothing to the environment {env}")));
    }
    Ok(found)
}

/// Whether an sls name matches a pattern with `*` and `?`, as Python's fnmatch does for these two.
pub fn matches(pattern: &str, name: &str) -> bool {
    fn go(pattern: &[u8], name: &[u8]) -> bool {
        match (pattern.first(), name.first()) {
            (None, None) => true,
            (Some(b'*'), _) => go(&pattern[1..], name) || (!name.is_empty() && go(pattern, &name[1..])),
            (Some(b'?'), Some(_)) => go(&pattern[1..], &name[1..]),
            (Some(a), Some(b)) if a == b => go(&pattern[1..], &name[1..]),
            _ => false,
        }
    }
    go(pattern.as_bytes(), name.as_bytes())
}

/// The sls name of a file below `pillar/`: `a/b.sls` → `a.b`, `a/init.sls` → `a`.
pub fn sls_name(relative: &Utf8Path) -> Option<String> {
    let stem = relative.as_str().strip_suffix(".sls")?;
    let stem = stem.strip_suffix("/init").unwrap_or(stem);
    Some(stem.replace('/', "."))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn init_writes_a_top_file_that_reads_back() {
        let env: EnvName = "staging".parse().unwrap();
        let other: EnvName = "production".parse().unwrap();
        let text = top_file([&other, &env]);
        let top = eos_yaml::parse(Utf8Path::new(TOP_FILE), text.as_bytes()).unwrap();
        assert_eq!(
            patterns(&top, &env).unwrap(),
            [
                "infrastructure.common",
                "hosts.*",
                "infrastructure.staging",
                "infrastructure.staging.*",
                "operations.staging.*"
            ]
        );
    }

    #[test]
    fn names_and_patterns() {
        assert_eq!(sls_name(Utf8Path::new("a/b.sls")).unwrap(), "a.b");
        assert_eq!(sls_name(Utf8Path::new("a/init.sls")).unwrap(), "a");
        assert!(matches("infrastructure.production.*", "infrastructure.production.redis"));
        assert!(!matches("infrastructure.production.*", "infrastructure.production"));
    }
}
