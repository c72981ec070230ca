//! A plan as a person sees it before the question, and what was noticed while it was made.

use std::collections::BTreeSet;

use eos_engine::RunPlan;
use eos_model::{Diagnostic, Diagnostics, Name};
use eos_pillar::prices::Prices;
use serde_json::{Value as Json, json};

use crate::context::Context;
use crate::loaded::Loaded;
use crate::views::cost::Cost;
use crate::views::plan as view;
use crate::views::wrap::below;

/// A plan with what Nomad and Salt say about it.
pub struct Shown {
    pub plan: RunPlan,
    pub previews: view::Previews,
    pub cost: Option<Cost>,
    /// What was noticed on the way: said with the plan, before the question; part of the document with --json.
    pub warnings: Diagnostics,
    /// Recorded earlier, not planned here.
    pub left: BTreeSet<Name>,
    /// Another run left a unit half-done that this plan is about: applying it is refused.
    pub blocked: bool,
    /// The change is recorded, and no unit has anything to do with it.
    pub only_recorded: bool,
}

impl Shown {
    pub fn cost_of(loaded: &Loaded, plan: &RunPlan) -> Result<Option<Cost>, Diagnostic> {
        Ok(Cost::of(plan, &Prices::of_estate(&loaded.estate.root)?))
    }

    pub fn text(&self, context: &Context) -> String {
        if self.only_recorded {
            return format!("Only the pillar of {} changes: there is nothing to apply.\n", self.plan.env);
        }
        view::text(&self.plan, &self.previews, self.cost.as_ref(), context.width, context.color_stdout)
    }

    /// Shows the plan and what was noticed, before anybody is asked.
    pub fn say(&self, context: &Context, loaded: &Loaded) {
        context.say(&self.text(context));
        if !self.left.is_empty() {
            let names: Vec<&str> = self.left.iter().map(|name| name.as_str()).collect();
            let said =
                format!("Recorded before and left alone here: {}. eos apply does that.", names.join(", "));
            context.say(&below("", "", &loaded.hint(&self.plan.env, &said), context.width, 2));
        }
        context.tell(&self.warnings);
    }

    /// What was noticed, for a document; on a terminal it was said with the plan.
    pub fn unsaid(&self, context: &Context) -> Diagnostics {
        if context.json { self.warnings.clone() } else { Diagnostics::new() }
    }

    /// Why it was not carried out, with what was noticed where that is not said yet.
    pub fn beside(&self, context: &Context, found: Diagnostics) -> Diagnostics {
        let mut all = self.unsaid(context);
        all.extend(found);
        all
    }

    pub fn document(&self) -> Json {
        let mut document = view::document(&self.plan, &self.previews, self.cost.as_ref());
        if !self.left.is_empty() {
            document["left_alone"] = json!(self.left);
        }
        document
    }
}
