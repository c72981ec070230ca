//! Bad input, one test each: the whole command is run, its message is a snapshot, and nothing may have changed.
#![allow(clippy::unwrap_used)]

mod support;

#[path = "bad_input/asked.rs"]
mod asked;
#[path = "bad_input/case.rs"]
mod case;
#[path = "bad_input/disk.rs"]
mod disk;
#[path = "bad_input/estate.rs"]
mod estate;
#[path = "bad_input/kinds.rs"]
mod kinds;
#[path = "bad_input/laid_over.rs"]
mod laid_over;
#[path = "bad_input/pillar.rs"]
mod pillar;
#[path = "bad_input/secrets.rs"]
mod secrets;
