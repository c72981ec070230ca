//! What a client is told when the store did not take a change.

use eos_store::StoreError;
use hive_api::ApiError;

pub fn store_failed(error: StoreError) -> ApiError {
    match error {
        StoreError::Conflict { .. } => {
            ApiError::unavailable("Another gateway changed this resource; try again")
        }
        // Not a code that clients take for throttling: trying again would not help.
        StoreError::TooLarge { .. } => ApiError::client(
            "ResourceCountExceeded",
            "The store cannot take this change in one piece; ask for less at once",
        ),
        StoreError::Unknown { .. } => ApiError::unavailable(
            "The store fell silent during the change; whether it was made will show when it is back",
        ),
        _ => ApiError::unavailable("The store does not accept changes"),
    }
}
