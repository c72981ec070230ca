//! State and plans encrypted by tofu with a key that only the key program tells.

use eos_tofu::TofuError;
use serde_json::json;

use crate::support::{Estate, apply, plan, with_tofu};

const SECRET: &str = "correct-horse-battery-staple";

#[test]
fn state_and_plan_hold_no_secret_and_open_with_the_key_alone() {
    with_tofu("encryption", |mut estate: Estate| {
        let key: [u8; 32] = std::array::from_fn(|index| index as u8 * 7);
        estate.encrypt(key);
        estate.variables.push(("TF_VAR_secret".into(), SECRET.into()));
        let main = json!({
            "variable": {"secret": {"sensitive": true}},
            "resource": {"terraform_data": {"a": {"input": "${var.secret}"}, "b": {"input": "marker-of-the-state"}}},
        });
        let session = estate.unit("web", main.clone());
        plan(&session);
        let plan_file = std::fs::read(session.folder.plan_file()).unwrap();
        assert!(!plan_file.starts_with(b"PK"), "an unencrypted plan is a zip file");
        assert_eq!(session.show_plan(&session.folder.plan_file()).unwrap().resource_changes.len(), 2);
        apply(&session);
        assert!(!plan(&session).changes);
        assert_eq!(session.state().unwrap().resources.len(), 2);
        assert_eq!(estate.files_with(SECRET), Vec::<String>::new());
        let marked = estate.files_with("marker-of-the-state");
        assert_eq!(marked, [".eos/cache/work/production/web/main.tf.json"]);

        // Another key opens nothing, and nothing is overwritten.
        let state = estate.root().join(".eos/state/tofu/shop/production/web.tfstate");
        let before = std::fs::read(&state).unwrap();
        estate.encrypt([1; 32]);
        let session = estate.unit("web", main.clone());
        let out = session.folder.plan_file();
        let error =
            session.plan(&eos_tofu::PlanOptions { out, ..Default::default() }, &mut |_| ()).unwrap_err();
        assert!(matches!(error, TofuError::Failed { .. }), "{error:?}");
        assert_eq!(std::fs::read(&state).unwrap(), before);

        // Nor does a key program that fails.
        std::fs::write(estate.path("key"), "short").unwrap();
        let out = session.folder.plan_file();
        let error =
            session.plan(&eos_tofu::PlanOptions { out, ..Default::default() }, &mut |_| ()).unwrap_err();
        assert!(
            matches!(&error, TofuError::Failed { failure } if !failure.diagnostics.is_empty()),
            "{error:?}"
        );

        // A state that was never encrypted is refused.
        std::fs::write(estate.path("key"), key).unwrap();
        std::fs::write(&state, r#"{"version":4,"serial":1,"lineage":"x","outputs":{},"resources":[]}"#)
            .unwrap();
        assert!(session.state().is_err());
    });
}

#[test]
fn terraform_is_given_no_encryption() {
    if let Some(mut estate) = Estate::new("terraform", "terraform without encryption") {
        estate.encrypt([1; 32]);
        let session = estate.unit("web", json!({"resource": {"terraform_data": {"a": {"input": "x"}}}}));
        assert!(session.environment.names().all(|name| name != "TF_ENCRYPTION"));
        assert!(plan(&session).changes);
    }
}
