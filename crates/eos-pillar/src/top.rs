//! `pillar/top.sls`: which files make up an environment's pillar, in Salt's order.
//!
//! eos follows two kinds of targets, the ones `eos init` writes: `'*'` and the grain `environment:<name>`, which may be a
//! pattern and may be written `G@environment:<name>`. What says something else about that grain is refused. Others concern
//! single minions; they may be there and do not take part in compiling.

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

/// What to do about a file that nobody of an environment is given.
pub fn how_to_give(env: &EnvName, file: &Utf8Path) -> String {
    const LAST_OF_ALL: &str = "    - hosts.*\n";
    let text = top_file([env]);
    let (of_all, own) = text.split_once(LAST_OF_ALL).unwrap_or((&text, ""));
    if is_common(file) || file.starts_with("pillar/hosts") {
        let lines = of_all.split_once("base:\n").map_or(of_all, |(_, lines)| lines);
        let lines = format!("{lines}{LAST_OF_ALL}");
        let lines = lines.trim_end();
        return format!(
            "let '*' in {TOP_FILE} have the lines that eos init writes there, and commit it:\n{lines}"
        );
    }
    let lines = own.trim_end();
    format!("add to {TOP_FILE} what eos init writes for an environment, and commit it:\n{lines}")
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
        let kind = items.iter().rev().find_map(|item| item.get("match")).and_then(Node::as_str);
        let text = target.as_str().unwrap_or_default();
        let Some(applies) = applies(text, kind, env) else {
            return Err(Diagnostic::error(
                codes::TOP_FILE,
                format!("eos cannot tell which environments the target {text:?} is for"),
            )
            .at(top.place(target.mark))
            .why("what it gives would count as deleted where eos took it to be for others")
            .fix("write it as eos init does: 'environment:<name>' with - match: grain below it"));
        };
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

/// Whether a target is for every minion of an environment; none where only Salt can tell. A target by anything else than the
/// grain is for single minions.
fn applies(target: &str, kind: Option<&str>, env: &EnvName) -> Option<bool> {
    // Salt's own is `compound`; a pattern of ids is one.
    let grain = match kind.unwrap_or("compound") {
        "grain" => target,
        "compound" if target.starts_with("G@") && !target.contains([' ', '(']) => &target[2..],
        "compound" | "glob" if !target.contains(GRAIN) => {
            return Some(!target.is_empty() && target.chars().all(|c| c == '*'));
        }
        "compound" | "grain_pcre" if target.contains(GRAIN) => return None,
        _ => return Some(false),
    };
    match grain.strip_prefix(GRAIN) {
        None => Some(false),
        Some(wanted) if wanted.contains('[') => None,
        // Salt compares grains without regard to case.
        Some(wanted) => Some(matches(&wanted.to_lowercase(), &env.as_str().to_lowercase())),
    }
}

/// The grain that says which environment a minion is in, as targets begin with it.
const GRAIN: &str = "environment:";

/// The parts of the pillar that are one environment's own, as sls names begin.
pub fn is_own(sls: &str, env: &EnvName) -> bool {
    ["infrastructure", "operations"].iter().any(|part| {
        let rest = sls.strip_prefix(part).and_then(|rest| rest.strip_prefix('.'));
        let rest = rest.and_then(|rest| rest.strip_prefix(env.as_str()));
        rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
    })
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
    fn targets_by_the_grain_are_followed_as_salt_does() {
        let env: EnvName = "production".parse().unwrap();
        let cases = [
            ("*", None, Some(true)),
            ("*", Some("glob"), Some(true)),
            ("web*", None, Some(false)),
            ("environment:production", Some("grain"), Some(true)),
            ("environment:prod*", Some("grain"), Some(true)),
            ("environment:PROD*", Some("grain"), Some(true)),
            ("environment:staging", Some("grain"), Some(false)),
            ("os:Debian", Some("grain"), Some(false)),
            ("G@environment:production", Some("compound"), Some(true)),
            ("G@environment:production", None, Some(true)),
            ("G@environment:staging", None, Some(false)),
            ("G@os:Debian and web*", None, Some(false)),
            ("G@environment:production and web*", None, None),
            ("not G@environment:staging", None, None),
            ("P@environment:(production|staging)", None, None),
            ("environment:prod.*", Some("grain_pcre"), None),
            ("environment:[ps]*", Some("grain"), None),
            ("web1,web2", Some("list"), Some(false)),
        ];
        for (target, kind, is) in cases {
            assert_eq!(applies(target, kind, &env), is, "{target} {kind:?}");
        }
        assert!(is_own("infrastructure.production.redis", &env) && is_own("operations.production", &env));
        assert!(!is_own("infrastructure.production-eu.redis", &env) && !is_own("hosts.production", &env));
    }

    #[test]
    fn names_and_patterns() {
        assert_eq!(sls_name(Utf8Path::new("a/b.sls")).unwrap(), "a.b");
        assert_eq!(sls_name(Utf8Path::new("a/init.sls")).unwrap(), "a");
        assert!(matches("infrastructure.production.*", "infrastructure.production.redis"));
        assert!(!matches("infrastructure.production.*", "infrastructure.production"));
    }
}
