//! The offline bundle.
#![allow(clippy::unwrap_used)] // a failed fixture fails its test

mod support;

use eos_deps::{Settings, Silent, Source, Tools};
use eos_model::codes::{BAD_CHECKSUM, NO_SOURCE};
use support::*;

#[test]
fn a_bundle_serves_a_machine_without_a_network() {
    let place = Place::new();
    let sum = place.bundle(&tofu_bundle_file(), &tofu_script("1.12.6"));
    place.bundle_sums(&[(&sum, &tofu_bundle_file())]);
    let tools = Tools::new(Settings { offline: true, ..place.settings() }).unwrap();
    let found = tools.install("tofu", &mut Silent).unwrap();
    assert_runs(&found, Source::Bundle, "OpenTofu");
    assert_eq!(tools.find("tofu").unwrap(), Some(found));
}

#[test]
fn a_wrong_sum_stops_and_an_unlisted_file_is_not_trusted() {
    let place = Place::new();
    let sum = place.bundle(&tofu_bundle_file(), &tofu_script("1.12.6"));
    place.bundle_sums(&[(&"0".repeat(64), &tofu_bundle_file())]);
    let error = place.tools().install("tofu", &mut Silent).unwrap_err();
    let (found, text) = codes(&error);
    assert_eq!(found, [BAD_CHECKSUM], "{text}");
    assert!(text.contains(&sum), "{text}");

    place.bundle_sums(&[(&sum, "another-file.xz")]);
    let error = place.tools().install("tofu", &mut Silent).unwrap_err();
    let (found, text) = codes(&error);
    assert_eq!(found, [NO_SOURCE], "{text}");
    assert!(text.contains("does not list"), "{text}");
    assert!(place.cached("tofu").is_empty());
}

#[test]
fn a_file_that_is_no_xz_is_told() {
    let place = Place::new();
    let path = place.join("bundle").join(tofu_bundle_file());
    fs_err::write(&path, "plain").unwrap();
    place.bundle_sums(&[(&sum(b"plain"), &tofu_bundle_file())]);
    let error = place.tools().install("tofu", &mut Silent).unwrap_err();
    assert!(codes(&error).1.contains("cannot unpack tofu-1.12.6"), "{error:#?}");
    assert!(place.cached("tofu").is_empty());
}

#[test]
fn offline_tries_nothing_else() {
    let place = Place::new();
    place.program("go", "touch \"$0.ran\"; exit 1");
    let tools = Tools::new(Settings { offline: true, ..place.settings() }).unwrap();
    let error = tools.install("tofu", &mut Silent).unwrap_err();
    let (found, text) = codes(&error);
    assert_eq!(found, [NO_SOURCE]);
    assert_eq!(text.matches("not tried: offline").count(), 2, "{text}");
    assert!(text.contains("unset EOS_OFFLINE"), "{text}");
    assert!(!place.join("path/go.ran").exists());
}

#[test]
fn the_only_way_out_is_not_one_of_several() {
    let place = Place::new();
    let tools = Tools::new(Settings { offline: true, ..place.settings() }).unwrap();
    let fix = tools.install("salt", &mut Silent).unwrap_err().0[0].fix.clone().unwrap();
    assert_eq!(fix, "unset EOS_OFFLINE, so that eos may fetch it");
}
