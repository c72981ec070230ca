//! Jobs that a killed tofu registered and did not write into its state. Going forward finds them again by their mark; going
//! back, tofu has to know of them before it can take them away.

use camino::Utf8Path;
use eos_model::Name;
use serde_json::Value as Json;

use crate::one_unit::{Conduct, Journaled, Target};
use crate::outputs;
use crate::problems::cannot_plan;
use crate::record::Goal;
use crate::treatment::Treatment;
use crate::unit::Unit;

/// What the provider says of a job that is not there, or not ours.
const MISSING: &str = "there is no job";

impl Conduct<'_> {
    /// Takes the jobs of a half-done unit into its state, those that bear its mark and that the state does not have.
    pub fn reclaim(&self, name: &Name, made: &Unit) -> Journaled<()> {
        let jobs = jobs(made);
        // Without its inputs it was never applied.
        let Ok(inputs) = outputs::inputs(name, &made.manifest.inputs, &self.applied()) else { return Ok(()) };
        if jobs.is_empty() {
            return Ok(());
        }
        let treatment = Treatment::default();
        let desk = self.desk(
            name,
            &Target { unit: made, goal: Goal::Present, treatment: &treatment, inputs: &inputs },
        )?;
        self.recover(name, &desk.session)?;
        let state = self.unlocking(name, &desk.session, || desk.session.state())?;
        for (address, id) in jobs {
            if state.instances().any(|instance| instance.address == address) {
                continue;
            }
            match desk.session.import(&address, &id) {
                Err(error) if !format!("{error} {error:?}").contains(MISSING) => {
                    return Err(self.fail(name, cannot_plan(name, &error)));
                }
                _ => {}
            }
        }
        Ok(())
    }
}

/// The unit's jobs by address, each by the id under which only one that is its own is imported.
fn jobs(unit: &Unit) -> Vec<(String, String)> {
    let main = unit.main();
    let resources = main["resource"]["eos_nomad_job"].as_object().into_iter().flatten();
    let id = |body: &Json| {
        let path = body["spec"].as_str()?.strip_prefix("${file(\"${path.module}/")?.strip_suffix("\")}")?;
        let spec: Json = serde_json::from_slice(unit.files.get(Utf8Path::new(path))?).ok()?;
        let job = spec["Job"]["ID"].as_str()?;
        let owner = spec["Job"]["Meta"]["eos.unit"].as_str()?;
        let space = body["namespace"].as_str().or(spec["Job"]["Namespace"].as_str());
        let space = space.map(|space| format!("{space}/")).unwrap_or_default();
        Some(format!("eos.unit={owner};{space}{job}"))
    };
    resources.filter_map(|(name, body)| Some((format!("eos_nomad_job.{name}"), id(body)?))).collect()
}
