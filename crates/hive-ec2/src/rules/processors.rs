//! How many cores and threads an instance has: what its type allows, at launch and later.

use hive_api::{ApiError, ApiResult};

use crate::data::instance_types::InstanceType;

/// Cores and threads of each; what was not asked for is as it is.
pub fn check(
    kind: &InstanceType,
    asked: (Option<u32>, Option<u32>),
    otherwise: (u32, u32),
) -> ApiResult<(u32, u32)> {
    if asked == (None, None) {
        return Ok(otherwise);
    }
    if kind.valid_cores().is_empty() {
        return Err(ApiError::client(
            "UnsupportedOperation",
            format!("The {} instance type does not support specifying CpuOptions.", kind.name),
        ));
    }
    let (cores, threads) = (asked.0.unwrap_or(otherwise.0), asked.1.unwrap_or(otherwise.1));
    let list = |numbers: &[u32]| numbers.iter().map(u32::to_string).collect::<Vec<_>>().join(", ");
    for (name, number, valid) in
        [("CoreCount", cores, kind.valid_cores()), ("ThreadsPerCore", threads, kind.valid_threads_per_core())]
    {
        if !valid.contains(&number) {
            let why = format!("Valid for {}: {}.", kind.name, list(&valid));
            return Err(ApiError::invalid_value(name, &number.to_string(), &why));
        }
    }
    Ok((cores, threads))
}
