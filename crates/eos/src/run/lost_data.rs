//! Folders of data on this machine that are gone though something that is applied has its data there: the drift that a revert
//! cannot bring back. Only the machine that eos runs on can be looked at.

use camino::Utf8Path;
use eos_model::{Diagnostic, Diagnostics, EnvName, Name, codes};
use eos_pillar::entry::Backing;

use super::this_machine;
use crate::context::Context;
use crate::loaded::Loaded;

pub fn warnings<'n>(
    context: &Context,
    loaded: &Loaded,
    env: &EnvName,
    drifted: impl IntoIterator<Item = &'n Name>,
) -> Result<Diagnostics, Diagnostics> {
    let environment = loaded.environment(env)?;
    let entries = drifted.into_iter().filter_map(|name| environment.components.get(name));
    let here = entries.filter(|entry| this_machine::has(context, &loaded.estate, &environment, entry));
    let mut found = Diagnostics::new();
    for entry in here {
        let folders = entry.volumes.values().filter(|volume| volume.backing == Backing::Directory);
        let gone = folders.filter(|volume| !Utf8Path::new(&volume.path).exists());
        found.0.extend(gone.map(|volume| warning(&entry.name, &volume.path)));
    }
    Ok(found)
}

fn warning(name: &Name, folder: &str) -> Diagnostic {
    Diagnostic::warning(codes::DATA_AT_RISK, format!("{name}: {folder} is gone, and the data in it"))
        .why("eos drift revert makes an empty folder; a program that runs still writes into the old one, until it ends")
        .fix(format!("stop {name}, bring the data back, eos drift revert, and start it again"))
}
