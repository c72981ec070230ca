//! Tools that are on the machine already.
#![allow(clippy::unwrap_used)] // a failed fixture fails its test

mod support;

use eos_deps::{Settings, Silent, Source, Tools};
use eos_model::codes::{NO_SOURCE, UNKNOWN_TOOL};
use support::*;

#[test]
fn an_accepted_version_is_taken_and_nothing_is_installed() {
    let place = Place::new();
    let path = place.program("tofu", "echo OpenTofu v1.11.3");
    let found = place.tools().install("tofu", &mut Silent).unwrap();
    assert_eq!((found.source, found.version.as_str(), found.path), (Source::SearchPath, "1.11.3", path));
    assert_eq!(found.verified_by, None);
    assert!(place.cached("tofu").is_empty());
}

#[test]
fn what_is_out_of_range_or_talks_nonsense_is_passed_over() {
    for (script, problem) in [
        ("echo OpenTofu v1.6.2", "is 1.6.2, not >=1.11, <2"),
        ("echo OpenTofu v1.13.0-beta1", "is 1.13.0-beta1, not"),
        ("echo hello, world", "prints `hello, world`"),
        ("exit 3", "exit status: 3"),
        ("head -c 300000 /dev/zero", "when asked for its version"),
    ] {
        let place = Place::new();
        place.program("tofu", script);
        let status = place.tools().list().into_iter().find(|status| status.name == "tofu").unwrap();
        assert_eq!(status.found, None, "{script}");
        assert!(status.problems[0].contains(problem), "{:?}", status.problems);
        let error = place.tools().path("tofu").unwrap_err();
        let (codes, text) = codes(&error);
        assert_eq!(codes, [NO_SOURCE]);
        assert!(text.contains("eos tools install tofu"), "{text}");
    }
}

#[test]
fn a_later_directory_of_the_search_path_can_have_the_right_one() {
    let place = Place::new();
    place.program("tofu", "echo OpenTofu v1.6.2");
    fs_err::create_dir(place.join("second")).unwrap();
    write_script(&place.join("second/tofu"), "echo OpenTofu v1.12.0");
    let search_path = vec!["relative".into(), place.join("path"), place.join("second")];
    let tools = Tools::new(Settings { search_path, ..place.settings() }).unwrap();
    assert_eq!(tools.path("tofu").unwrap(), place.join("second/tofu"));
}

#[test]
fn terraform_is_accepted_in_place_of_tofu_and_tofu_preferred() {
    let place = Place::new();
    assert_eq!(place.tools().executor().unwrap(), "tofu", "it can be gotten");
    place.program("terraform", "echo Terraform v1.5.7");
    assert_eq!(place.tools().executor().unwrap(), "tofu", "that terraform is too old");
    place.program("terraform", "echo Terraform v1.11.4");
    assert_eq!(place.tools().executor().unwrap(), "terraform");
    let offline = Tools::new(Settings { offline: true, ..place.settings() }).unwrap();
    let error = offline.install("tofu", &mut Silent).unwrap_err();
    assert!(codes(&error).1.contains("let terraform apply this estate: executor = "), "{error:#?}");
    let sum = place.bundle(&tofu_bundle_file(), &tofu_script("1.12.6"));
    place.bundle_sums(&[(&sum, &tofu_bundle_file())]);
    assert_eq!(place.tools().executor().unwrap(), "tofu", "the bundle has it");
    std::fs::remove_file(place.join("bundle").join(tofu_bundle_file())).unwrap();
    place.program("tofu", "echo OpenTofu v1.12.6");
    assert_eq!(place.tools().executor().unwrap(), "tofu");
}

#[test]
fn sets_of_programs_and_providers_are_never_taken_from_the_search_path() {
    let place = Place::new();
    place.program("salt-call", "echo 'salt-call 3008.3 (Argon)'");
    place.program("aws", "echo aws-cli/1.46.2");
    place.program("terraform-provider-hcloud_v1.68.0", "true");
    for tool in ["salt", "aws", "terraform-provider-hcloud"] {
        assert_eq!(place.tools().find(tool).unwrap(), None);
    }
}

#[test]
fn an_unknown_tool_names_the_nearest() {
    let error = Place::new().tools().find("toffu").unwrap_err();
    let (codes, text) = codes(&error);
    assert_eq!(codes, [UNKNOWN_TOOL]);
    assert!(text.contains("did you mean `tofu`?"), "{text}");
}
