//! The gateway's log as lines on standard error.

use std::io::Write as _;

use hive_ec2::Log;
use jiff::{Timestamp, Unit};

/// Each line with its time.
pub fn stderr_log() -> Log {
    Log::to(|line| {
        let now = Timestamp::now().round(Unit::Second).unwrap_or_default();
        // Nobody is left to be told that nobody listens.
        let _ = writeln!(std::io::stderr(), "{now} {line}");
    })
}
