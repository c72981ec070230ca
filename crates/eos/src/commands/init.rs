//! `eos init`: an estate with its environments, its recipients and its first commit.

use std::collections::BTreeMap;

use camino::{Utf8Component, Utf8Path, Utf8PathBuf};
use clap::parser::ValueSource;
use clap::{Arg, ArgMatches, Command};
use eos_compile::COMPILER;
use eos_model::{Diagnostic, Diagnostics, Name, codes};
use eos_pillar::estate_file::ESTATE_FILE;
use eos_pillar::{Change, Estate, EstateFile, LockFile};
use eos_secrets::{Identity, Recipients};
use serde_json::json;

use super::{Call, tools};
use crate::args::spoken::quoted;
use crate::context::Context;
use crate::identity_place;
use crate::outcome::Outcome;
use crate::recording::Message;

pub fn command(command: Command, _: &Call<'_>) -> Result<Command, Diagnostics> {
    Ok(command
        .arg(Arg::new("folder").value_name("FOLDER").default_value(".").help("Folder to make it in"))
        .arg(
            Arg::new("name")
                .long("name")
                .value_name("NAME")
                .help("Name of the estate; the folder's if not given"),
        )
        .arg(Arg::new("executor").long("executor").value_parser(["tofu", "terraform"]).help(
            "What applies units; tofu, unless only terraform is here. terraform keeps their state in clear",
        ))
        .after_help("Examples:\n  eos init shop\n  eos init . --name shop --executor terraform"))
}

/// Tells an estate apart from others of its name.
pub fn new_id(context: &Context) -> Option<String> {
    match context.estate_id.as_deref() {
        Some("none") => None,
        Some(given) => Some(given.to_owned()),
        None => {
            let mut random = [0; 5];
            getrandom::fill(&mut random).expect("the operating system gives random bytes");
            Some(random.iter().map(|byte| format!("{byte:02x}")).collect())
        }
    }
}

pub fn run(call: &Call<'_>, matches: &ArgMatches) -> Result<Outcome, Diagnostics> {
    let context = call.context;
    context.refuse_unnamed_directory()?;
    let folder = matches.get_one::<String>("folder").map_or(".", String::as_str);
    let root =
        plain(if folder == "." { &context.directory } else { Utf8Path::new(folder) }, &context.directory);
    refuse_system_folder(&root)?;
    if matches.value_source("folder") == Some(ValueSource::DefaultValue) && !matches.contains_id("name") {
        refuse_full_folder(&root)?;
    }
    let wanted =
        matches.get_one::<String>("name").map(String::as_str).or(root.file_name()).unwrap_or("estate");
    let name: Name = wanted.parse().map_err(|problem: eos_model::name::BadName| {
        Diagnostic::error(codes::BAD_NAME, problem.to_string())
            .fix("give it one: eos init <folder> --name shop")
    })?;
    if let Some(outer) = root.parent().and_then(|parent| Estate::find_root(parent).ok()) {
        return Err(Diagnostic::error(codes::ESTATE_EXISTS, format!("{root} is inside the estate {outer}"))
            .why("its files would be part of both, and git of neither")
            .fix("make it beside that one, or eos create in the one that is there")
            .into());
    }
    identity_place::refuse_inside(&root, context)?;
    let said = matches.get_one::<String>("executor");
    let executor = match said {
        Some(said) => said.clone(),
        None => tools::tools(context)?.executor()?.to_owned(),
    };
    let in_place = said.is_none() && executor != "tofu";
    let mut lock = LockFile::new(COMPILER, tools::pinned_versions(context, &executor));
    lock.estate = new_id(context);
    lock.state_key = lock.estate.as_ref().map(|id| format!("{name}-{id}"));
    let file = EstateFile::new(name.as_str(), &executor);
    Estate::make_folder(&root, &file, &lock, Change::default())?;
    let (identity, made) = identity(context)?;
    let mut recipients = Recipients::default();
    recipients.add(identity.public(), &format!("{} on {}", context.user, context.machine))?;
    let mut first = Change::default();
    first.write(eos_secrets::RECIPIENTS_FILE, recipients.format());
    // Terraform encrypts no state; kept plans are encrypted by eos.
    let key = eos_secrets::encrypt(&eos_secrets::new_state_key(), &recipients)?;
    first.write(eos_secrets::STATE_KEY_FILE, key);
    let subject = format!("make the estate {name}");
    let said = Message::new(call, matches, subject).trailers(context, None);
    let estate = Estate::init(&root, &file, &lock, first, &said)?;
    let environments: BTreeMap<_, _> = estate
        .file
        .environments
        .iter()
        .map(|(name, settings)| (name.as_str(), settings.tier.as_str()))
        .collect();
    let is_there = context.directory.join(folder).is_dir();
    let folder = if is_there { folder } else { root.as_str() };
    let mut text = format!("Estate {name} made in {}.\n", if folder == "." { "this folder" } else { folder });
    if made {
        text.push_str(&format!(
            "Your identity for secrets is {}\n  Back it up: without it nobody reads them.\n",
            context.identity_file
        ));
    }
    let clear = match (executor.as_str(), in_place) {
        ("terraform", true) => ", which is here while tofu is not; its state is not encrypted",
        ("terraform", false) => "; its state is not encrypted",
        _ => "",
    };
    text.push_str(&format!("Units will be applied by {executor}{clear}.\n"));
    text.push_str("Next:\n");
    if folder != "." {
        text.push_str(&format!("  cd {}\n", quoted(folder)));
    }
    text.push_str("  eos create host local      this machine may be configured; without it, never\n  eos catalog list           what can be created\n");
    Ok(Outcome::new(
        text,
        json!({"estate": name, "folder": root, "environments": environments, "executor": executor, "identity": context.identity_file, "identity_made": made}),
    ))
}

/// Folders right below the root of a machine that are nobody's own.
const OF_THE_SYSTEM: &[&str] = &[
    "bin", "boot", "dev", "etc", "home", "lib", "lib64", "media", "mnt", "opt", "proc", "root", "run",
    "sbin", "srv", "sys", "tmp", "usr", "var",
];

/// Whatever lies below an estate is inside it, and git looks at all of it.
fn refuse_system_folder(root: &Utf8Path) -> Result<(), Diagnostic> {
    let is_top = root.parent().is_none_or(|parent| parent == "/");
    let is_of_the_system = root.file_name().is_none_or(|name| OF_THE_SYSTEM.contains(&name));
    if !(is_top && is_of_the_system) {
        return Ok(());
    }
    Err(Diagnostic::error(codes::USAGE, format!("{root} belongs to the system: no estate is made of it"))
        .why("everything below it would be inside the estate")
        .fix(format!("give it a folder of its own: eos init {}", root.join("shop"))))
}

/// Whoever names no folder may not know which one it would be: a full one that is no repository needs a word more.
fn refuse_full_folder(root: &Utf8Path) -> Result<(), Diagnostic> {
    let is_full = root.read_dir_utf8().is_ok_and(|mut entries| entries.next().is_some());
    if !is_full || root.join(".git").exists() || root.join(ESTATE_FILE).exists() {
        return Ok(());
    }
    Err(Diagnostic::error(codes::USAGE, format!("{root} is not empty: no estate is made of it unasked"))
        .why("an estate is a git repository, and what is in the folder would lie in it")
        .fix("eos init shop makes a folder of its own; eos init . takes this one all the same"))
}

/// A path below `start` without `.` and `..`. What is not there is not made on the way to something else.
fn plain(path: &Utf8Path, start: &Utf8Path) -> Utf8PathBuf {
    let mut whole = Utf8PathBuf::new();
    for part in start.join(path).components() {
        match part {
            Utf8Component::ParentDir => {
                // The folder above the one that a link leads to.
                whole = whole.canonicalize_utf8().unwrap_or(whole);
                whole.pop();
            }
            Utf8Component::CurDir => {}
            part => whole.push(part),
        }
    }
    let (Some(parent), Some(name)) = (whole.parent(), whole.file_name()) else { return whole };
    parent.canonicalize_utf8().map_or_else(|_| whole.clone(), |parent| parent.join(name))
}

/// The person's identity, made on first use.
pub fn identity(context: &Context) -> Result<(Identity, bool), Diagnostics> {
    if context.identity_file.exists() {
        return Ok((Identity::load(&context.identity_file)?, false));
    }
    Ok((Identity::create(&context.identity_file)?, true))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_estate_has_a_folder_of_its_own() {
        for folder in ["/", "/etc", "/home", "/tmp"] {
            let refused = refuse_system_folder(Utf8Path::new(folder)).unwrap_err();
            assert!(refused.fix.unwrap().ends_with("/shop"), "{folder}");
        }
        for folder in ["/shop", "/srv/shop", "/home/kim", "/root/etc"] {
            assert!(refuse_system_folder(Utf8Path::new(folder)).is_ok(), "{folder}");
        }
    }
}
