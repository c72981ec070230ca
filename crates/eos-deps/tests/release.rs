//! Official releases, from a server on loopback.
#![allow(clippy::unwrap_used)] // a failed fixture fails its test

mod support;

use eos_deps::{Settings, Silent, Source, Table, Tools};
use eos_model::codes::{BAD_CHECKSUM, NO_SOURCE};
use support::server::{Answer, Server};
use support::*;

fn answers(zip: &[u8], sum: &str, cut_at: Option<usize>) -> Vec<(String, Answer)> {
    let sums = format!("{sum}  {}\n", tofu_zip_file());
    vec![
        (
            format!("{TOFU_RELEASE}tofu_1.12.6_SHA256SUMS"),
            Answer { body: sums.into_bytes(), ..Answer::default() },
        ),
        (
            TOFU_RELEASE.to_owned() + &tofu_zip_file(),
            Answer { body: zip.to_vec(), cut_at, ..Answer::default() },
        ),
    ]
}

fn tools(place: &Place, server: &Server) -> Tools {
    without_sums(Settings { release_base: Some(server.base()), ..place.settings() })
}

#[test]
fn a_release_is_fetched_verified_and_cached() {
    let place = Place::new();
    let zip = zip_with("tofu", &tofu_script("1.12.6"));
    let server = Server::start(answers(&zip, &sum(&zip), None));
    let tools = tools(&place, &server);
    assert_eq!(tools.find("tofu").unwrap(), None);

    let mut bytes = Vec::new();
    let found = tools
        .install("tofu", &mut |step: eos_deps::Step<'_>| {
            if let eos_deps::Step::Bytes { done, total } = step {
                bytes.push((done, total));
            }
        })
        .unwrap();
    assert_runs(&found, Source::Release, "OpenTofu");
    assert_eq!(found.path, place.join("cache/tools/tofu/1.12.6/bin/tofu"));
    assert_eq!(found.verified_by.as_deref(), Some("the release's own SHA256SUMS"));
    assert_eq!(bytes.last(), Some(&(zip.len() as u64, Some(zip.len() as u64))));
    assert_eq!(place.cached("tofu"), ["1.12.6"]);

    // From now on no network is needed.
    drop(server);
    assert_eq!(tools.install("tofu", &mut Silent).unwrap(), found);
    assert_eq!(tools.path("tofu").unwrap(), found.path);
    assert_eq!(tools.verify("tofu").unwrap(), found);
}

#[test]
fn a_wrong_checksum_installs_nothing() {
    let place = Place::new();
    let zip = zip_with("tofu", &tofu_script("1.12.6"));
    let server = Server::start(answers(&zip, &sum(b"something else"), None));
    // Go would be the next source: it must not be asked.
    place.program("go", "touch \"$0.ran\"; exit 1");
    let error = tools(&place, &server).install("tofu", &mut Silent).unwrap_err();
    let (codes, text) = codes(&error);
    assert_eq!(codes, [BAD_CHECKSUM], "{text}");
    assert!(text.contains(&sum(&zip)) && text.contains("nothing was installed"), "{text}");
    assert!(place.cached("tofu").is_empty());
    assert!(!place.join("path/go.ran").exists());
}

#[test]
fn a_sum_of_the_table_is_used_before_the_release_s_own() {
    let place = Place::new();
    let zip = zip_with("tofu", &tofu_script("1.12.6"));
    let table = |pinned: &str| {
        let platform = tofu_zip_file().replace("tofu_1.12.6_", "").replace(".zip", "").replace('_', "-");
        let text = format!(
            "[tofu]\nsummary = \"s\"\nversion = \"1.12.6\"\naccepts = \">=1.11\"\nexecutable = \"tofu\"\n\
             read = {{ arguments = [], text = \"OpenTofu v{{version}}\" }}\n[[tofu.sources]]\nkind = \"release\"\n\
             host = \"https://example.invalid\"\nsums = \"absent\"\n\
             file = \"opentofu/opentofu/releases/download/v{{version}}/tofu_{{version}}_{{os}}_{{arch}}.zip\"\n\
             sha256 = {{ \"{platform}\" = \"{pinned}\" }}\n"
        );
        Table::parse(&text).unwrap()
    };
    // The server's own list agrees with its zip in both cases; only the table's sum differs.
    let server = Server::start(answers(&zip, &sum(&zip), None));
    let settings = Settings { release_base: Some(server.base()), ..place.settings() };
    let error =
        Tools::with_table(settings.clone(), table(&sum(b"other"))).install("tofu", &mut Silent).unwrap_err();
    assert_eq!(codes(&error).0, [BAD_CHECKSUM]);
    let found = Tools::with_table(settings, table(&sum(&zip))).install("tofu", &mut Silent).unwrap();
    assert_eq!(found.verified_by.as_deref(), Some("eos's own table"));
    assert!(!server.asked().iter().any(|path| path.ends_with("SUMS") || path.ends_with("absent")));
}

#[test]
fn a_broken_off_download_and_an_absent_release_lead_to_the_next_source() {
    let zip = zip_with("tofu", &tofu_script("1.12.6"));
    for answers in [answers(&zip, &sum(&zip), Some(zip.len() / 2)), Vec::new()] {
        let place = Place::new();
        let server = Server::start(answers);
        let tools = tools(&place, &server);
        let expected = ["offline bundle", "!offline bundle", "official release", "!official release"];
        assert_eq!(tried(&tools, "tofu")[..4], expected);
        assert_eq!(tried(&tools, "tofu")[4..], ["Go module", "!Go module"]);
        assert!(place.cached("tofu").is_empty());
    }
}

#[test]
fn all_failures_are_told_together() {
    let place = Place::new();
    let server = Server::start([]);
    place.program("tofu", "echo OpenTofu v1.6.0");
    let error = tools(&place, &server).install("tofu", &mut Silent).unwrap_err();
    let (codes, text) = codes(&error);
    assert_eq!(codes, [NO_SOURCE]);
    for part in [
        "search path: ",
        "is 1.6.0, not >=1.11, <2",
        "offline bundle: ",
        "official release: ",
        "answers 404",
        "Go module: needs `go`",
        "EOS_TOOLS_BUNDLE",
    ] {
        assert!(text.contains(part), "{part} is not in {text}");
    }
}

#[test]
fn a_release_without_the_executable_or_of_another_version_is_refused() {
    for zip in [zip_with("other", "x"), zip_with("tofu", &tofu_script("1.11.9")), b"no zip".to_vec()] {
        let place = Place::new();
        let server = Server::start(answers(&zip, &sum(&zip), None));
        let error = tools(&place, &server).install("tofu", &mut Silent).unwrap_err();
        assert_eq!(codes(&error).0, [NO_SOURCE]);
        assert!(place.cached("tofu").is_empty());
    }
}

#[test]
fn a_provider_is_installed_under_the_name_tofu_looks_for() {
    let place = Place::new();
    let zip = zip_with("terraform-provider-aws_v6.48.0_x5", "binary");
    let file = tofu_zip_file().replace("tofu_1.12.6", "terraform-provider-aws_6.48.0");
    let sums = format!("{} *{file}\n", sum(&zip));
    let folder = "/terraform-provider-aws/6.48.0/";
    let server = Server::start([
        (
            format!("{folder}terraform-provider-aws_6.48.0_SHA256SUMS"),
            Answer { body: sums.into_bytes(), ..Answer::default() },
        ),
        (format!("{folder}{file}"), Answer { body: zip, ..Answer::default() }),
    ]);
    let found = tools(&place, &server).install("terraform-provider-aws", &mut Silent).unwrap();
    assert!(found.path.ends_with("terraform-provider-aws/6.48.0/bin/terraform-provider-aws_v6.48.0"));
    assert_eq!(fs_err::read_to_string(&found.path).unwrap(), "binary");
}
