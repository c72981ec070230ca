//! A Nomad whose data lies below a folder that only its owner may enter. What runs on the host under an account of its own
//! finds none of its files there, and ends in "Permission denied" over and over.
//!
//! Only the machine that eos runs on can be looked at, and only the agent that answers says where its data is.

use std::collections::BTreeSet;
use std::os::unix::fs::PermissionsExt as _;

use camino::{Utf8Path, Utf8PathBuf};
use eos_engine::{Goal, RunPlan};
use eos_model::{Diagnostic, Diagnostics, Name, codes};
use eos_nomad::{Client, Patience, Stop};
use eos_pillar::Environment;

use super::flow::Wanted;
use super::{Runs, answering, surroundings, this_machine};
use crate::commands::show;
use crate::context::Context;
use crate::loaded::Loaded;

/// Programs of this machine that run under an account other than root's.
struct Program<'a> {
    name: &'a Name,
    account: String,
    node: &'a str,
}

/// What is told before the question, of what the plan is about to start.
pub fn warnings(
    context: &Context,
    loaded: &Loaded,
    runs: &Runs,
    wanted: &Wanted<'_>,
    plan: &RunPlan,
) -> Result<Diagnostics, Diagnostics> {
    let environment = loaded.tree.with(&wanted.change).environment(&plan.env)?;
    let begins =
        |name: &Name| plan.units.get(name).is_some_and(|unit| unit.is_work() && unit.goal == Goal::Present);
    let mut programs = programs(context, loaded, &environment);
    programs.retain(|program| begins(program.name));
    if programs.is_empty() {
        return Ok(Diagnostics::new());
    }
    let connection = surroundings::nomad_connection(|name| runs.here.nomad_variable(name));
    let client = Client::new(&connection, Patience::at_once(answering::WITHIN), Stop::new());
    Ok(client.map(|client| judge(context, &client, &programs)).unwrap_or_default())
}

/// The same of everything that an environment asks for.
pub fn of_environment(
    context: &Context,
    loaded: &Loaded,
    client: &Client,
    environment: &Environment,
) -> Diagnostics {
    let programs = programs(context, loaded, environment);
    if programs.is_empty() { Diagnostics::new() } else { judge(context, client, &programs) }
}

fn programs<'a>(context: &Context, loaded: &Loaded, environment: &'a Environment) -> Vec<Program<'a>> {
    let program = |entry: &'a eos_pillar::ComponentEntry| {
        let host =
            environment.hosts.values().find(|host| Some(host.name.as_str()) == entry.host.as_deref())?;
        let account = show::account(loaded, entry).filter(|account| account != "root")?;
        this_machine::is_it(context, &loaded.estate, host).then_some(Program {
            name: &entry.name,
            account,
            node: &host.nomad_node,
        })
    };
    environment.components.values().filter_map(program).collect()
}

/// Asks the agent where its data is. One that does not say, or is on another machine, leaves nothing to look at.
fn judge(context: &Context, client: &Client, programs: &[Program<'_>]) -> Diagnostics {
    let Ok(agent) = client.agent() else { return Diagnostics::new() };
    let node = if agent.node_name.is_empty() { &context.machine } else { &agent.node_name };
    let ours: Vec<&Program<'_>> = programs.iter().filter(|program| program.node == node).collect();
    let data = Utf8Path::new(&agent.data_folder);
    match closed(data) {
        Some(folder) if !ours.is_empty() => warning(&ours, data, &folder).into(),
        _ => Diagnostics::new(),
    }
}

/// The first folder on the way that others may not enter; what cannot be looked at is not judged.
fn closed(folder: &Utf8Path) -> Option<Utf8PathBuf> {
    let mut way: Vec<&Utf8Path> = folder.ancestors().filter(|one| !one.as_str().is_empty()).collect();
    way.reverse();
    let is_closed =
        |one: &&&Utf8Path| fs_err::metadata(one).is_ok_and(|found| found.permissions().mode() & 0o001 == 0);
    way.iter().find(is_closed).map(|one| (*one).to_owned())
}

fn warning(programs: &[&Program<'_>], data: &Utf8Path, closed: &Utf8Path) -> Diagnostic {
    let names: Vec<&str> = programs.iter().map(|program| program.name.as_str()).collect();
    let accounts: BTreeSet<&str> = programs.iter().map(|program| program.account.as_str()).collect();
    let accounts: Vec<&str> = accounts.into_iter().collect();
    let message = format!(
        "{} cannot start: {closed} is closed to the account it runs as ({})",
        names.join(", "),
        accounts.join(", ")
    );
    Diagnostic::warning(codes::CLOSED_FOLDER, message)
        .why(format!(
            "Nomad keeps a program's files in {data}; whoever cannot get there ends in \"Permission denied\", again and again"
        ))
        .fix(format!(
            "give the agent another data_dir, such as /var/lib/nomad, and start it again; or let others pass: chmod o+x {closed}"
        ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_closed_folder_on_the_way_is_found() {
        let home = tempfile::tempdir().unwrap();
        let home = Utf8Path::from_path(home.path()).unwrap();
        let (middle, data) = (home.join("nomad"), home.join("nomad/data"));
        fs_err::create_dir_all(&data).unwrap();
        let set = |folder: &Utf8Path, mode| {
            fs_err::set_permissions(folder, std::fs::Permissions::from_mode(mode)).unwrap();
        };
        for (folder, mode, expected) in
            [(home, 0o711, None), (&middle, 0o750, Some(&middle)), (&data, 0o700, Some(&middle))]
        {
            set(folder, mode);
            assert_eq!(closed(&data).as_ref(), expected, "{folder} {mode:o}");
        }
        set(&middle, 0o755);
        assert_eq!(closed(&data), Some(data.clone()));
        assert_eq!(closed(Utf8Path::new("/nowhere/at/all")), None);
    }
}
