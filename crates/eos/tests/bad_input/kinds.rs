//! Components of the estate's own with mistakes in them.

use crate::case::refused;
use crate::support::Sandbox;

const FILE: &str = "catalog/wiki/component.yaml";

/// An estate with a kind of its own, in which some text was replaced.
fn with_kind(from: &str, to: &str) -> Sandbox {
    let sandbox = Sandbox::with_estate();
    sandbox.ok(&["catalog", "new", "wiki"]);
    let before = sandbox.read(FILE);
    let after = before.replacen(from, to, 1);
    assert!(from.is_empty() || before != after, "the template has no {from:?}");
    sandbox.write(FILE, after);
    sandbox.commit_by_hand();
    sandbox
}

#[test]
fn a_good_one_is_not_refused() {
    let sandbox = with_kind("", "");
    sandbox.ok(&["catalog", "check", "wiki"]);
    sandbox.ok(&["create", "wiki", "--version", "1.0"]);
}

#[test]
fn a_broken_reference() {
    let sandbox = with_kind("@{listen.http.port}", "@{listen.htpp.port}");
    refused(&sandbox, "kind_with_a_broken_reference", 3, &["catalog", "check", "wiki"]);
    refused(&sandbox, "kind_with_a_broken_reference_created", 3, &["create", "wiki", "--version", "1.0"]);
}

#[test]
fn a_reference_to_what_a_need_does_not_tell() {
    let needs = "needs:\n  database: {offer: database, create: postgres, help: Pages}\ntasks:";
    let sandbox = with_kind("tasks:", needs);
    let text = sandbox.read(FILE).replace("@{listen.http.port}", "@{need.database.hots}");
    sandbox.write(FILE, text);
    sandbox.commit_by_hand();
    refused(&sandbox, "kind_with_an_unknown_output_of_a_need", 3, &["catalog", "check", "wiki"]);
    let create = ["create", "wiki", "--version", "1.0"];
    refused(&sandbox, "kind_with_an_unknown_output_of_a_need_created", 3, &create);
}

/// With all features at once there is what the one alone lacks.
#[test]
fn a_feature_that_needs_another() {
    let features = "features:\n  shouts: {help: Shouts, add: {tasks: {wiki: {env: {LOUD: \"@{setting.loud}\"}}}}}\n  has: {help: Has it, add: {settings: {loud: {type: int, default: 3, help: How loud}}}}\ntasks:";
    refused(
        &with_kind("tasks:", features),
        "kind_with_a_feature_that_needs_another",
        3,
        &["catalog", "check", "wiki"],
    );
}

#[test]
fn a_wrong_type() {
    refused(
        &with_kind("{cpu: 500, memory: 512}", "{cpu: lots, memory: 512}"),
        "kind_with_a_wrong_type",
        3,
        &["catalog", "check", "wiki"],
    );
    refused(&with_kind("{type: port,", "{type: prot,"), "kind_with_an_unknown_type", 3, &["create", "wiki"]);
}

#[test]
fn an_unknown_field() {
    refused(
        &with_kind("proof: validates", "profe: validates"),
        "kind_with_an_unknown_field",
        3,
        &["catalog", "check", "wiki"],
    );
    refused(&with_kind("mounts:", "mount:"), "kind_with_an_unknown_field_deep_down", 3, &["create", "wiki"]);
}

#[test]
fn a_newer_format() {
    refused(
        &with_kind("format: 1", "format: 7\nsurprise: 1"),
        "kind_of_a_newer_format",
        3,
        &["catalog", "check", "wiki"],
    );
}

#[test]
fn a_default_that_its_own_range_forbids() {
    refused(
        &with_kind("default: 5G, min: 1G", "default: 5G, min: 10G"),
        "kind_with_a_bad_default",
        3,
        &["catalog", "check", "wiki"],
    );
    let added = "{add: {settings: {keep: {type: duration, default: 5d, help: How long, example: 5 days}}}, help: Keeps}";
    refused(
        &with_kind("storage:", &format!("features: {{keeps: {added}}}\nstorage:")),
        "kind_with_a_bad_example_in_a_feature",
        3,
        &["catalog", "check", "wiki"],
    );
}

/// Two on one directory is data loss: how many at a time is not for a kind to say.
#[test]
fn an_update_with_canaries() {
    refused(
        &with_kind("storage:", "update: {canary: 1, max_parallel: 2}\nstorage:"),
        "kind_with_canaries",
        3,
        &["catalog", "check", "wiki"],
    );
}

#[test]
fn what_its_parts_cannot_mean() {
    let settings = "  first: {type: port, default: 50, range_to: last, help: First of some}\n  last: {type: port, default: 40, help: Last of some}\n  odd: {type: port, default: 60, range_to: size, help: Of no range}\nstorage:\n  scratch: {class: cache, filesystem: xfs, help: May be lost}";
    let sandbox = with_kind("storage:", settings);
    let rest =
        "update: {stagger: soon, min_healthy_time: 10m, healthy_deadline: 5m}\nstates_on: port\ntasks:";
    sandbox.write(FILE, sandbox.read(FILE).replace("tasks:", rest));
    sandbox.commit_by_hand();
    refused(&sandbox, "kind_with_parts_that_mean_nothing", 3, &["catalog", "check", "wiki"]);
}

#[test]
fn another_name_than_its_folder() {
    refused(
        &with_kind("kind: wiki", "kind: wikki"),
        "kind_with_another_name",
        3,
        &["catalog", "check", "wiki"],
    );
}

#[test]
fn broken_yaml() {
    refused(&with_kind("storage:", "storage: ["), "kind_with_broken_yaml", 3, &["catalog", "check", "wiki"]);
    refused(&with_kind("  port:", "\tport:"), "kind_with_tabs", 3, &["catalog", "check", "wiki"]);
}

#[test]
fn no_version() {
    refused(&with_kind("", ""), "kind_without_a_version", 3, &["create", "wiki"]);
}

#[test]
fn a_broken_kind_does_not_spoil_the_others() {
    let sandbox = with_kind("proof: validates", "profe: validates");
    sandbox.ok(&["create", "grafana"]);
    refused(&sandbox, "catalog_list_with_a_broken_kind", 3, &["catalog", "list"]);
}

#[test]
fn a_kind_that_is_there() {
    refused(&with_kind("", ""), "kind_that_is_there", 3, &["catalog", "new", "wiki"]);
    refused(&with_kind("", ""), "kind_with_a_bad_name", 3, &["catalog", "new", "My Wiki"]);
}

#[test]
fn a_flag_that_a_feature_adds_twice() {
    let feature = "features:\n  wide:\n    help: More\n    add:\n      settings:\n        wide: {type: bool, default: true, help: How wide}\n";
    let sandbox = Sandbox::with_estate();
    sandbox.ok(&["catalog", "new", "wiki"]);
    let text = sandbox.read(FILE);
    sandbox.write(FILE, format!("{text}{feature}"));
    sandbox.commit_by_hand();
    refused(&sandbox, "kind_with_a_flag_twice", 3, &["catalog", "check", "wiki"]);
}

/// Each would make two flags of one name, with which the command cannot even be built.
#[test]
fn words_that_are_taken() {
    let sandbox = with_kind(
        "settings:\n",
        "settings:\n  because: {type: string, default: a, help: A}\n  dry_run: {type: bool, default: true, help: B}\n  NAME: {type: string, default: a, help: C}\n  help: {type: string, default: a, help: D}\n",
    );
    let text = sandbox.read(FILE);
    sandbox.write(FILE, format!("{text}features:\n  apply: {{help: E, add: {{}}}}\n"));
    sandbox.commit_by_hand();
    refused(&sandbox, "kind_with_taken_words", 3, &["catalog", "check", "wiki"]);
    refused(&sandbox, "kind_with_taken_words_created", 3, &["create", "wiki", "--version", "1.0"]);
}

/// Both would be given the same role, each with a password of its own: the last one wins.
#[test]
fn two_needs_for_one_database() {
    let needs = "needs:\n  database: {offer: database, create: postgres, help: Pages}\n  archive: {offer: database, create: postgres, help: Old pages}\ntasks:";
    let sandbox = with_kind("tasks:", needs);
    refused(&sandbox, "two_needs_for_one_database", 3, &["create", "wiki", "--version", "1.0"]);
    sandbox.ok(&["create", "postgres"]);
    sandbox.ok(&["create", "postgres", "old"]);
    sandbox.ok(&["create", "wiki", "--version", "1.0", "--archive", "old", "--database", "postgres"]);
}
