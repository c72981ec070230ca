//! What `eos doctor` hears from a real Nomad: what its node cannot start, and why.

use std::os::unix::fs::PermissionsExt as _;

use crate::shop::{Shop, has};

#[test]
fn doctor_says_what_nomad_cannot_start_before_anybody_tries() {
    let shop = Shop::new();
    let folder = shop.nomad.folder();
    let open = |mode| std::fs::set_permissions(folder, std::fs::Permissions::from_mode(mode)).unwrap();
    open(0o700);
    shop.ok(&["create", "redis", "boxed", "--no-apply"]);
    shop.ok(&["create", "prometheus", "figures", "--runtime", "host", "--no-apply"]);
    // A container on a machine without docker.
    let doctor = flat(&shop.exits(1, &["doctor"]).stdout);
    has(&doctor, "Nomad's node n1 cannot start boxed: its docker driver: ");
    has(
        &doctor,
        "install docker on n1 and start it, Nomad finds it by itself; or without docker: eos update boxed --runtime host",
    );
    assert!(!doctor.contains("raw_exec"), "that driver is there: {doctor}");
    // The agent lies in a folder of root's own, and prometheus runs under an account of its own.
    let closed = format!(
        "figures cannot start: {} is closed to the account it runs as (prometheus)",
        folder.display()
    );
    has(&doctor, &closed);
    has(&doctor, &format!("chmod o+x {}", folder.display()));
    let plan = shop.exits(2, &["plan", "--only", "figures"]);
    has(&flat(&plan.stderr), &format!("warning[E0811]: {closed}"));
    // What is typed helps.
    open(0o711);
    let doctor = flat(&shop.exits(1, &["doctor"]).stdout);
    let plan = shop.exits(2, &["plan", "--only", "figures"]);
    assert!(!doctor.contains("E0811") && !plan.stderr.contains("E0811"), "{doctor}{}", plan.stderr);
    shop.ok(&["update", "boxed", "--runtime", "host", "--no-apply"]);
    assert!(!shop.run(&["doctor"]).stdout.contains("docker driver"));
    // A node that Nomad does not have.
    shop.ok(&["update", "host", "local", "--nomad-node", "elsewhere", "--no-apply"]);
    let doctor = flat(&shop.exits(1, &["doctor"]).stdout);
    has(&doctor, "Nomad has no node elsewhere, which boxed, figures must run on; it has: n1");
    assert!(!doctor.contains("E0811"), "it says nothing of another machine: {doctor}");
}

fn flat(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}
