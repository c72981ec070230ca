//! Who beside its owner may use an image or a snapshot.

use std::collections::BTreeSet;

use hive_api::{ApiError, ApiResult};
use serde::Deserialize;

#[derive(Deserialize, Default)]
#[serde(rename_all = "PascalCase", default)]
pub struct Permissions {
    add: Vec<Permission>,
    remove: Vec<Permission>,
}

#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
struct Permission {
    user_id: Option<String>,
    group: Option<String>,
}

#[derive(Deserialize, Clone, Copy, PartialEq)]
#[serde(rename_all = "lowercase")]
pub enum Operation {
    Add,
    Remove,
}

/// What a request asks for, in the two ways that there are to say it.
pub struct Asked {
    pub permissions: Option<Permissions>,
    pub operation: Option<Operation>,
    pub users: Vec<String>,
    pub groups: Vec<String>,
}

impl Asked {
    pub fn says_nothing(&self) -> bool {
        self.permissions.is_none() && self.users.is_empty() && self.groups.is_empty()
    }

    /// Whether anyone shall be let in.
    pub fn adds(&self) -> bool {
        let listed = !(self.users.is_empty() && self.groups.is_empty());
        self.permissions.as_ref().is_some_and(|permissions| !permissions.add.is_empty())
            || (listed && self.operation != Some(Operation::Remove))
    }

    /// `wrong` is the code for who cannot be meant.
    pub fn apply(
        &self,
        public: &mut bool,
        allowed: &mut BTreeSet<String>,
        wrong: &'static str,
    ) -> ApiResult<()> {
        let mut permit = |user: Option<&str>, group: Option<&str>, add: bool| {
            match (user, group) {
                (Some(user), None) if user.len() == 12 && user.bytes().all(|b| b.is_ascii_digit()) => {
                    if add {
                        allowed.insert(user.to_owned());
                    } else {
                        allowed.remove(user);
                    }
                }
                (None, Some("all")) => *public = add,
                (Some(user), None) => {
                    return Err(ApiError::client(wrong, format!("Invalid user id: \"{user}\"")));
                }
                _ => return Err(ApiError::client(wrong, "Give a UserId or the group all")),
            }
            Ok(())
        };
        if let Some(permissions) = &self.permissions {
            let (added, removed) = (permissions.add.iter(), permissions.remove.iter());
            for (permission, add) in added.map(|p| (p, true)).chain(removed.map(|p| (p, false))) {
                permit(permission.user_id.as_deref(), permission.group.as_deref(), add)?;
            }
        }
        let add = self.operation != Some(Operation::Remove);
        self.users.iter().try_for_each(|user| permit(Some(user), None, add))?;
        self.groups.iter().try_for_each(|group| permit(None, Some(group), add))
    }
}
