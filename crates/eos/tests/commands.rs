//! The way through an estate as the README tells it.

mod support;

use support::Sandbox;

#[test]
fn nextcloud_pulls_in_what_it_needs_and_says_why() {
    let sandbox = Sandbox::with_estate();
    let run = sandbox.ok(&["create", "nextcloud", "--sso", "--distributed-storage"]);
    for pulled in ["postgres", "redis", "authentik", "hecate", "cephfs"] {
        let line = run
            .stdout
            .lines()
            .find(|line| line.starts_with(&format!("Created {pulled} ")))
            .unwrap_or_else(|| panic!("{pulled} is not told of:\n{}", run.stdout));
        assert!(line.contains("nextcloud needs it for") || line.contains("authentik needs it for"), "{line}");
        assert!(sandbox.estate().join(format!("build/production/{pulled}/main.tf.json")).is_file());
    }
}
