//! Failures and refusals as diagnostics: what happened, what was tried, what to do next.

use eos_model::{Diagnostic, Diagnostics, codes, nearest};

use crate::failure::Failure;
use crate::found::Source;
use crate::record::Refusal;
use crate::table::{Table, Tool};

pub(crate) fn unknown(name: &str, table: &Table) -> Diagnostics {
    let names: Vec<&str> = table.tools.keys().map(String::as_str).collect();
    let fix = match nearest::nearest(name, names.iter().copied()) {
        Some(near) => format!("did you mean `{near}`?"),
        None => format!("the tools are {}", names.join(", ")),
    };
    Diagnostic::error(codes::UNKNOWN_TOOL, format!("there is no tool `{name}`")).fix(fix).into()
}

pub(crate) fn not_installed(tool: &Tool, problems: &[String]) -> Diagnostics {
    let message = format!("{} {} is not installed", tool.name, tool.accepts);
    let diagnostic =
        Diagnostic::error(codes::NO_SOURCE, message).fix(format!("eos tools install {}", tool.name));
    if problems.is_empty() { diagnostic.into() } else { diagnostic.why(problems.join("\n")).into() }
}

/// Every source failed.
pub(crate) fn no_source(
    tool: &Tool,
    problems: &[String],
    failures: &[(Source, Failure)],
    offline: bool,
    stand_in: bool,
) -> Diagnostics {
    let mut diagnostics = Diagnostics::new();
    for (source, failure) in failures {
        if failure.is_space() {
            let message = format!("{} {} needs more room on the disk", tool.name, tool.version);
            let fix = "free some room, or put the cache on another disk (XDG_CACHE_HOME)";
            diagnostics.push(
                Diagnostic::error(codes::NO_SPACE, message).why(format!("{source}: {failure}")).fix(fix),
            );
        }
    }
    let tried = problems.iter().map(|problem| format!("{}: {problem}", Source::SearchPath));
    let tried = tried.chain(failures.iter().map(|(source, failure)| format!("{source}: {failure}")));
    let tried: Vec<String> = tried.collect();
    diagnostics.push(
        Diagnostic::error(
            codes::NO_SOURCE,
            format!("no source could provide {} {}", tool.name, tool.version),
        )
        .why(tried.join("\n"))
        .fix(ways_out(tool, failures, offline, stand_in)),
    );
    diagnostics
}

/// What makes an estate that tofu applies one of terraform's.
pub const TERRAFORM_INSTEAD: &str =
    "let terraform apply this estate: executor = \"terraform\" in eos.toml (state is then not encrypted)";

fn ways_out(tool: &Tool, failures: &[(Source, Failure)], offline: bool, stand_in: bool) -> String {
    let mut ways = Vec::new();
    if stand_in {
        ways.push(TERRAFORM_INSTEAD.to_owned());
    }
    if offline {
        ways.push("unset EOS_OFFLINE, so that eos may fetch it".to_owned());
    }
    if tool.search_path {
        ways.push(format!("put {} {} on the PATH", tool.name, tool.accepts));
    }
    if !tool.is_venv() {
        ways.push(format!("set EOS_TOOLS_BUNDLE to a directory with {} and SHA256SUMS", tool.bundle_file()));
    }
    // What builds helps only where nothing but that was missing.
    let lacks = |source: Source| {
        failures.iter().any(|(of, failure)| *of == source && matches!(failure, Failure::Absent(_)))
    };
    if lacks(Source::Pypi) {
        ways.push("install python3 with its venv module".to_owned());
    }
    if lacks(Source::GoModule) {
        ways.push("install Go".to_owned());
    }
    match ways.as_slice() {
        [only] => only.clone(),
        several => format!("one of: {}", several.join("; ")),
    }
}

/// Bytes that are not the promised ones end an installation.
pub(crate) fn checksum(tool: &Tool, source: Source, failure: &Failure) -> Diagnostics {
    let message = format!("{} {} from the {source} does not match its checksum", tool.name, tool.version);
    Diagnostic::error(codes::BAD_CHECKSUM, message)
        .why(format!("{failure}; nothing was installed"))
        .fix("fetch the file anew; if it stays so, somebody changed it: do not use it")
        .into()
}

/// The copy in the cache cannot be used.
pub(crate) fn refused(tool: &Tool, refusal: &Refusal) -> Diagnostics {
    let message = format!("the cached {} cannot be used", tool.name);
    let code = match refusal {
        Refusal::Newer(_) => codes::NEWER_FORMAT,
        Refusal::Changed { .. } => codes::BAD_CHECKSUM,
        _ => codes::TOOL_BROKEN,
    };
    let fix = match refusal {
        Refusal::Newer(_) => "use the newer eos, or another cache (XDG_CACHE_HOME)".to_owned(),
        Refusal::Changed { .. } => {
            format!("find out who changed it, delete it, then: eos tools install {}", tool.name)
        }
        _ => format!("eos tools install {}", tool.name),
    };
    Diagnostic::error(code, message).why(refusal.to_string()).fix(fix).into()
}

/// The cache directory itself cannot be used.
pub(crate) fn cannot_write(tool: &Tool, error: &std::io::Error) -> Diagnostics {
    let message = format!("{} cannot be installed into the cache", tool.name);
    Diagnostic::error(codes::CANNOT_WRITE, message).why(error.to_string()).into()
}
