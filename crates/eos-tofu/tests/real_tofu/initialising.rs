//! An init happens when something it looks at has changed, and only then.

use eos_tofu::{Backend, Flavor, InitOutcome, Tofu};
use serde_json::json;

use crate::support::{Estate, plan, plan_and_apply, tool, unit, with_each_tool};

#[test]
fn an_init_is_skipped_until_something_it_looks_at_changes() {
    with_each_tool("init", |estate: Estate| {
        let main = |input: &str| json!({"resource": {"terraform_data": {"a": {"input": input}}}});
        let backend = estate.local("web");
        let installation = estate.installation();
        let init = |input: &str, backend: &Backend| {
            estate.filled("web", main(input), backend).init(&installation, backend).unwrap()
        };
        assert_eq!(init("one", &backend), InitOutcome::Done);
        assert_eq!(init("one", &backend), InitOutcome::Skipped);
        assert_eq!(init("two", &backend), InitOutcome::Skipped);
        let other = Backend::Local { path: estate.path("elsewhere.tfstate") };
        assert_eq!(init("two", &other), InitOutcome::Done);
        assert_eq!(init("two", &backend), InitOutcome::Done);
        assert_eq!(init("two", &backend), InitOutcome::Skipped);

        let lock = estate.places.work(&unit("web")).join(".terraform.lock.hcl");
        std::fs::write(&lock, "# changed by hand\n").unwrap();
        assert_eq!(init("two", &backend), InitOutcome::Done);
        std::fs::remove_file(estate.places.data(&unit("web")).join("terraform.tfstate")).unwrap();
        assert_eq!(init("two", &backend), InitOutcome::Done);
        let session = estate.filled("web", main("two"), &backend);
        assert!(plan(&session).changes);
        std::fs::remove_dir_all(estate.root().join(".eos/cache")).unwrap();
        estate.installation();
        assert_eq!(init("two", &backend), InitOutcome::Done);
    });
}

/// Both write a different record of the backend: one does not accept the other's.
#[test]
fn another_tool_initialises_again() {
    let (Some(tofu), Some(terraform)) = (tool("tofu", "two tools"), tool("terraform", "two tools")) else {
        return;
    };
    let mut estate = Estate::new("tofu", "two tools").unwrap();
    let main = json!({"resource": {"terraform_data": {"a": {"input": "one"}}}});
    let session = estate.unit("web", main.clone());
    plan_and_apply(&session);
    estate.tofu = Tofu::detect(&terraform).unwrap();
    assert_eq!(estate.tofu.flavor(), Flavor::Terraform);
    let backend = estate.local("web");
    let session = estate.filled("web", main.clone(), &backend);
    assert_eq!(session.init(&estate.installation(), &backend).unwrap(), InitOutcome::Done);
    assert!(!plan(&session).changes);
    estate.tofu = Tofu::detect_once(&tofu, &estate.places).unwrap();
    assert_eq!(estate.tofu, Tofu::detect_once(&tofu, &estate.places).unwrap());
    assert!(!plan(&estate.unit("web", main)).changes);
}
