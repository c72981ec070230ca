//! The provider under the real tofu, against a real Nomad.
//!
//! This program is two things: the runner of the scenarios, and, when tofu starts it, the provider itself. The scenarios
//! share one agent and run side by side; each has its own folder, jobs and state. Words on the command line select.
#![allow(clippy::unwrap_used, clippy::print_stdout, clippy::print_stderr)]

#[path = "real_tofu/batch.rs"]
mod batch;
#[path = "real_tofu/drift.rs"]
mod drift;
#[path = "real_tofu/failing.rs"]
mod failing;
#[path = "real_tofu/import.rs"]
mod import;
#[path = "real_tofu/interrupt.rs"]
mod interrupt;
#[path = "real_tofu/kinds.rs"]
mod kinds;
#[path = "real_tofu/lifecycle.rs"]
mod lifecycle;
#[path = "real_tofu/owner.rs"]
mod owner;
#[path = "real_tofu/refusing.rs"]
mod refusing;
#[path = "real_tofu/secrets.rs"]
mod secrets;
#[path = "real_tofu/side_socket.rs"]
mod side_socket;
#[path = "real_tofu/socket.rs"]
mod socket;
#[path = "real_tofu/unit.rs"]
mod unit;
#[path = "real_tofu/unreachable.rs"]
mod unreachable;

use std::process::ExitCode;

use test_tools::{Nomad, Scenario, run_scenarios, tool};
use unit::Bench;

/// Long ones first: they run side by side.
const SCENARIOS: &[Scenario<Bench>] = &[
    ("a_new_secret_reaches_the_job_and_nothing_else", secrets::whole_life),
    ("an_update_that_fails_goes_back_and_keeps_the_old_spec", failing::auto_revert),
    ("what_was_changed_by_hand_is_found_and_put_right", drift::by_hand),
    ("a_job_lives_from_create_to_destroy", lifecycle::with_tofu),
    ("jobs_without_deployments_are_waited_for_too", kinds::without_deployments),
    ("a_failing_job_says_why_and_can_be_tried_again", failing::says_why),
    ("an_interrupt_ends_cleanly_and_keeps_the_state", interrupt::sigint_to_the_group),
    ("a_killed_provider_leaves_a_job_that_is_adopted", interrupt::killed_provider),
    ("a_provider_ends_when_tofu_was_killed", interrupt::killed_tofu),
    ("terraform_can_do_it_too", lifecycle::with_terraform),
    ("a_job_that_runs_can_be_imported", import::by_id),
    ("a_batch_job_is_waited_for", batch::complete),
    ("a_failed_batch_job_is_an_error_and_runs_again", batch::failed),
    ("a_lost_state_adopts_what_is_there", owner::lost_state),
    ("a_foreign_job_is_refused", owner::foreign),
    ("a_plan_that_others_have_overtaken_is_refused", owner::overtaken),
    ("eos_hears_previews_and_progress", side_socket::messages),
    ("a_spec_of_several_megabytes_passes", lifecycle::large),
    ("placement_failures_are_shown_before_apply", lifecycle::cannot_be_placed),
    ("a_spec_may_be_known_later", lifecycle::not_known_yet),
    ("mistakes_in_a_spec_are_told_by_validate", lifecycle::mistakes),
    ("an_unreachable_nomad_is_told_apart", unreachable::at_plan_and_apply),
    ("only_the_client_with_the_certificate_gets_in", socket::certificate),
];
/// Mostly they wait for Nomad.
const SIDE_BY_SIDE: usize = 5;

fn main() -> ExitCode {
    let variable = |name: &str| std::env::var(name).ok();
    if let Some(given) = variable(socket::STRANGER) {
        socket::stranger(&given);
        return ExitCode::SUCCESS;
    }
    if eos_provider::is_plugin(variable) {
        let settings = eos_provider::Settings::from_environment(variable);
        return match eos_provider::serve(settings, &mut std::io::stdout()) {
            Ok(()) => ExitCode::SUCCESS,
            Err(error) => {
                eprintln!("{error}");
                ExitCode::FAILURE
            }
        };
    }
    run_scenarios(SCENARIOS, SIDE_BY_SIDE, || {
        let (nomad, tofu) = (tool("nomad", "real_tofu")?, tool("tofu", "real_tofu")?);
        Some(Bench::new(Nomad::runner(nomad.as_std_path(), "n1"), tofu.into()))
    })
}
