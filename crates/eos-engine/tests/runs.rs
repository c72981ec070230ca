//! Runs on the real tofu, with units of `terraform_data`, which needs no download. A run happens in a process of its own
//! (this test program, started once more), so that it can be killed.
#![allow(clippy::unwrap_used)]

#[path = "runs/data_kept.rs"]
mod data_kept;
#[path = "runs/drifting.rs"]
mod drifting;
#[path = "runs/driver.rs"]
mod driver;
#[path = "runs/estate.rs"]
mod estate;
#[path = "runs/failures.rs"]
mod failures;
#[allow(dead_code)]
#[path = "../../eos-tofu/tests/real_tofu/http_server.rs"]
mod http_server;
#[path = "runs/kills.rs"]
mod kills;
#[path = "runs/lifecycle.rs"]
mod lifecycle;
#[path = "runs/refusals.rs"]
mod refusals;
#[path = "runs/shared_state.rs"]
mod shared_state;
#[path = "runs/spec.rs"]
mod spec;
