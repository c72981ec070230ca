//! Instance profiles and the instances that have one. Until there is IAM every profile of one's own account exists.

use hive_api::{ApiError, ApiResult};
use serde::{Deserialize, Serialize};

use crate::core::call::Call;
use crate::core::id::{Id, Kind};
use crate::core::text::iam_id;
use crate::model::account::Account;
use crate::model::instance::{Instance, InstanceState};
use crate::rules::interfaces::incorrect_state;

pub const ASSOCIATION_KIND: Kind = Kind {
    name: "iam-instance-profile-association",
    prefix: "iip-assoc",
    not_found: "NoSuchAssociation",
    malformed: None,
    noun: "association",
};

/// A profile as requests name it.
#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
pub struct Profile {
    pub arn: Option<String>,
    pub name: Option<String>,
}

impl Profile {
    pub fn arn(&self, account: &Account) -> ApiResult<String> {
        let own = format!("arn:aws:iam::{}:instance-profile/", account.id);
        match (&self.arn, &self.name) {
            (Some(arn), _) if arn.starts_with(&own) && arn.len() > own.len() => Ok(arn.clone()),
            (Some(arn), _) => Err(ApiError::invalid_value(
                "iamInstanceProfile.arn",
                arn,
                "Invalid IAM Instance Profile ARN",
            )),
            (None, Some(name)) if !name.is_empty() => Ok(format!("{own}{name}")),
            _ => Err(ApiError::missing_parameter("IamInstanceProfile")),
        }
    }
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub struct AssociationView {
    association_id: String,
    instance_id: String,
    iam_instance_profile: ProfileView,
    state: &'static str,
}

#[derive(Serialize)]
pub struct ProfileView {
    arn: String,
    id: String,
}

/// `arn:aws:iam::ACCOUNT:instance-profile/PATH/NAME`: each profile has its own id, and always the same.
pub fn profile(arn: &str) -> ProfileView {
    let account = arn.split(':').nth(4).unwrap_or_default();
    let name = arn.rsplit('/').next().unwrap_or_default();
    ProfileView { arn: arn.to_owned(), id: iam_id("AIPA", account, name) }
}

/// The association of an instance, if it has one.
pub fn view(instance: &Instance, state: &'static str) -> Option<AssociationView> {
    Some(AssociationView {
        association_id: instance.profile_association_id.clone()?,
        instance_id: instance.id.to_string(),
        iam_instance_profile: profile(instance.options.iam_instance_profile.as_deref()?),
        state,
    })
}

pub fn find<'a>(account: &'a Account, association: &str) -> ApiResult<&'a Instance> {
    let mut found = account.instances.with(Instance::BY_PROFILE_ASSOCIATION, association);
    found.next().ok_or_else(|| ASSOCIATION_KIND.not_found(association))
}

/// Gives an instance a profile, and the association a new id.
pub fn associate(call: &mut Call<'_>, instance: &Id<Instance>, arn: String) -> ApiResult<AssociationView> {
    let found = call.account.instances.find(instance)?;
    if matches!(found.state, InstanceState::ShuttingDown | InstanceState::Terminated) {
        return Err(incorrect_state(found, "given an instance profile"));
    }
    let association = call.random_id(ASSOCIATION_KIND.prefix);
    let edited = call.account.instances.edit(instance)?;
    edited.options.iam_instance_profile = Some(arn);
    edited.profile_association_id = Some(association);
    view(edited, "associated").ok_or_else(|| ApiError::internal("an association without a profile"))
}
