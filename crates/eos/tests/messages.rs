//! What each command says when all is well, as people see it, and that `--json` always gives the same three fields.
#![allow(clippy::unwrap_used)]

mod support;

use support::{Run, Sandbox};

/// An estate with a shop's worth of components.
fn shop() -> Sandbox {
    let sandbox = Sandbox::with_estate();
    sandbox.ok(&["create", "nextcloud", "--because", "the team shares files"]);
    sandbox.ok(&["create", "grafana", "--port", "3001"]);
    sandbox.ok(&[
        "create",
        "host",
        "db1",
        "--address",
        "10.0.0.5",
        "--volume-group",
        "data-vg",
        "--env",
        "staging",
    ]);
    sandbox
}

/// Compares with the snapshot `name`, once no line is wider than a terminal.
fn check(sandbox: &Sandbox, name: &str, run: &Run) {
    for line in run.stdout.lines().chain(run.stderr.lines()) {
        let shown = line.replace(sandbox.path().to_str().unwrap(), "/tmp");
        assert!(shown.chars().count() <= 100, "{name}: {} columns: {line}", shown.chars().count());
        assert_eq!(line.trim_end(), line, "{name}: white space at the end of a line");
        assert!(!line.contains('\u{1b}'), "{name}: colours in a pipe");
    }
    snapshot(sandbox, name, run);
}

/// A dry run, whose lines are those of files and may be longer than a terminal is wide.
fn dry(sandbox: &Sandbox, name: &str, args: &[&str]) {
    let before = sandbox.git(&["rev-parse", "HEAD"]);
    let run = sandbox.ok(args);
    assert!(run.stdout.ends_with("Nothing was written.\n"), "{}", run.stdout);
    assert_eq!(
        (sandbox.git(&["rev-parse", "HEAD"]), sandbox.git(&["status", "--porcelain"])),
        (before, String::new())
    );
    snapshot(sandbox, name, &run);
}

fn snapshot(sandbox: &Sandbox, name: &str, run: &Run) {
    let mut settings = insta::Settings::clone_current();
    settings.set_snapshot_path("snapshots");
    settings.set_prepend_module_to_snapshot(false);
    settings.set_omit_expression(true);
    settings.add_filter(&sandbox.path().to_str().unwrap().replace('.', r"\."), "[SANDBOX]");
    settings.add_filter(r"\b[0-9a-f]{40}\b", "[COMMIT]");
    settings.add_filter(r"\b[0-9a-f]{10}\b", "[SHORT]");
    settings.add_filter(r"sha256:[0-9a-f]{64}", "sha256:[DIGEST]");
    settings.add_filter(r"kim on \S+", "kim on [MACHINE]");
    settings.add_filter(r"age1[0-9a-z]{20,}", "age1[KEY]");
    settings.add_filter(r"(?m)((?:[a-z_-]+/[a-z_]+ |The new value:) +)[A-Za-z0-9]{24,}$", "$1[SECRET]");
    let said = if run.stderr.is_empty() { String::new() } else { format!("--- stderr\n{}", run.stderr) };
    settings.bind(|| {
        insta::assert_snapshot!(format!("ok_{name}"), format!("exit {}\n{}{said}", run.code, run.stdout))
    });
}

fn happy(sandbox: &Sandbox, name: &str, args: &[&str]) {
    let run = sandbox.run(args);
    assert_eq!(run.code, 0, "{args:?}: {}{}", run.stdout, run.stderr);
    assert!(!run.stdout.is_empty(), "{args:?} says nothing");
    check(sandbox, name, &run);
}

#[test]
fn commands_that_look() {
    let sandbox = shop();
    happy(&sandbox, "list", &["list"]);
    happy(&sandbox, "list_hosts", &["list", "hosts"]);
    happy(&sandbox, "list_of_nothing", &["list", "--env", "staging"]);
    happy(&sandbox, "show", &["show", "nextcloud"]);
    happy(&sandbox, "history", &["history"]);
    happy(&sandbox, "history_of_one", &["history", "grafana"]);
    happy(&sandbox, "secret_list", &["secret", "list"]);
    happy(&sandbox, "secret_list_of_nothing", &["secret", "list", "--env", "staging"]);
    happy(&sandbox, "secret_recipients", &["secret", "recipients"]);
    happy(&sandbox, "graph_mermaid", &["graph", "--format", "mermaid"]);
    happy(&sandbox, "explain", &["explain", "E0404"]);
    happy(&sandbox, "explain_all", &["explain"]);
}

#[test]
fn why_names_file_setting_commit_and_command() {
    let sandbox = shop();
    let job = sandbox
        .files("build/production/grafana/jobs")
        .into_iter()
        .find(|path| path.ends_with(".nomad.json"))
        .unwrap();
    let line = sandbox.read(&job).lines().position(|line| line.contains("3001")).unwrap() + 1;
    let run = sandbox.ok(&["why", &format!("{job}:{line}")]);
    assert!(run.stdout.contains("pillar/infrastructure/production/grafana.sls"), "{}", run.stdout);
    assert!(run.stdout.contains("eos create grafana --port 3001"), "{}", run.stdout);
    check(&sandbox, "why", &run);
    let mut from_below = sandbox.command(&["why", &format!("../{job}:{line}")]);
    let below = Run::from(from_below.current_dir(sandbox.estate().join("pillar")).output().unwrap());
    assert_eq!(below.stdout, run.stdout, "the same file by another path: {}", below.stderr);
}

#[test]
fn commands_that_change() {
    let sandbox = Sandbox::new();
    happy(&sandbox, "init", &["init", "shop"]);
    happy(
        &sandbox,
        "create_host",
        &["create", "host", "local", "--nomad-node", "n1", "--volume-group", "data-vg"],
    );
    happy(&sandbox, "create", &["create", "grafana"]);
    happy(&sandbox, "update", &["update", "grafana", "--port", "3001"]);
    happy(&sandbox, "update_to_the_same", &["update", "grafana", "--port", "3001"]);
    happy(&sandbox, "secret_rotate", &["secret", "rotate", "grafana/admin_password"]);
    happy(&sandbox, "resize", &["resize", "lvm", "database_volume", "+50G"]);
    happy(&sandbox, "resize_again", &["resize", "lvm", "database_volume", "+50G"]);
    dry(&sandbox, "resize_dry_run", &["resize", "lvm", "database_volume", "+10G", "--dry-run"]);
    dry(&sandbox, "host_dry_run", &["update", "host", "local", "--address", "10.0.0.5", "--dry-run"]);
    let rotate = ["secret", "rotate", "grafana/admin_password", "--dry-run"];
    dry(&sandbox, "secret_rotate_dry_run", &rotate);
    sandbox.applied_elsewhere();
    dry(&sandbox, "delete_dry_run", &["delete", "grafana", "--dry-run"]);
    happy(&sandbox, "delete", &["delete", "grafana"]);
    happy(&sandbox, "catalog_new", &["catalog", "new", "wiki"]);
    happy(&sandbox, "catalog_check_own", &["catalog", "check", "wiki"]);
}

/// Of files that go away a person reads the names; a machine gets every line.
#[test]
fn a_dry_run_of_a_delete_names_what_goes() {
    let sandbox = shop();
    let said = sandbox.ok(&["delete", "nextcloud", "--dry-run"]).stdout;
    let document = sandbox.json(&["delete", "nextcloud", "--dry-run"]);
    let mut gone = 0;
    for file in ["pillar", "artifacts"].iter().flat_map(|part| document[part].as_array().unwrap()) {
        let (path, diff) = (file["path"].as_str().unwrap(), file["diff"].as_str().unwrap());
        if sandbox.files("").iter().any(|there| there == path) && diff.contains("+++ /dev/null") {
            let lines = diff.lines().filter(|line| line.starts_with('-')).count() - 1;
            let counted = if lines == 1 { "1 line".to_owned() } else { format!("{lines} lines") };
            assert!(said.contains(&format!("{path} would be removed ({counted})\n")), "{path}: {said}");
            assert_eq!(lines, sandbox.read(path).lines().count());
            gone += 1;
        }
    }
    assert!(gone > 5, "{document:#}");
    assert!(said.lines().count() < 60, "{said}");
}

#[test]
fn create_without_a_volume_group() {
    happy(&Sandbox::with_estate(), "create_without_a_volume_group", &["create", "grafana"]);
}

#[test]
fn compile_and_its_check() {
    let sandbox = shop();
    happy(&sandbox, "compile_up_to_date", &["compile"]);
    happy(&sandbox, "compile_check_up_to_date", &["compile", "--check"]);
    let job = sandbox.files("build/production/grafana/jobs").remove(0);
    std::fs::remove_file(sandbox.estate().join(&job)).unwrap();
    sandbox.write("build/production/grafana/main.tf.json", "{}\n");
    sandbox.write("build/production/gone/main.tf.json", "{}\n");
    let run = sandbox.run(&["compile", "--check"]);
    assert_eq!(run.code, 2, "{}{}", run.stdout, run.stderr);
    check(&sandbox, "compile_check", &run);
    assert!(!sandbox.estate().join(&job).exists(), "--check writes nothing");
    happy(&sandbox, "compile", &["compile"]);
    assert_eq!(sandbox.run(&["compile", "--check"]).code, 0);
}

#[test]
fn doctor_without_tools() {
    let sandbox = shop();
    // An empty PATH and cache: the tools of this machine are no part of the message, nor is its Nomad.
    let mut command = sandbox.command(&["doctor"]);
    command.env("NOMAD_ADDR", "http://127.0.0.1:1");
    let run = Run::from(command.env("PATH", sandbox.path().join("home")).output().unwrap());
    check(&sandbox, "doctor", &run);
}

#[test]
fn doctor_says_where_a_mistake_is() {
    let sandbox = shop();
    sandbox
        .write("pillar/infrastructure/production/mine.sls", "eos:\n  components:\n    x: {kind: nonsense}\n");
    sandbox.commit_by_hand();
    let said = sandbox.run(&["doctor"]).stdout.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(said.contains("at pillar/infrastructure/production/mine.sls:3:"), "{said}");
}

#[test]
fn the_catalogue() {
    let sandbox = Sandbox::new();
    let catalog = eos_catalog::Catalog::built_in();
    // A few rows stand for all, so that a new kind changes no snapshot.
    let some = |args: &[&str], name: &str| {
        let mut run = sandbox.ok(args);
        let mut kinds = sandbox.json(&["catalog", "list"])["kinds"].as_array().unwrap().clone();
        // What only acts is there to be looked at, and not to be made.
        let only_acts = |kind: &str| catalog.component(kind).unwrap().only_acts();
        kinds.retain(|kind| args[0] == "catalog" || !only_acts(kind["kind"].as_str().unwrap()));
        let row_of = |line: &str| {
            kinds
                .iter()
                .filter_map(|kind| kind["kind"].as_str())
                .find(|kind| line.split_whitespace().next() == Some(kind))
                .map(str::to_owned)
        };
        let rows: Vec<String> = run.stdout.lines().filter_map(row_of).collect();
        assert_eq!(rows.len(), kinds.len(), "{args:?} leaves out a kind, or has one twice");
        run.stdout = run
            .stdout
            .lines()
            .filter(|line| {
                row_of(line)
                    .is_none_or(|kind| ["azure_llm", "hecate", "load_balancer"].contains(&kind.as_str()))
            })
            .map(|line| format!("{line}\n"))
            .collect();
        check(&sandbox, name, &run);
    };
    some(&["catalog", "list"], "catalog_list");
    some(&["create", "--help"], "create_help");
    happy(&sandbox, "catalog_show", &["catalog", "show", "nextcloud"]);
    happy(&sandbox, "catalog_check", &["catalog", "check", "grafana"]);
    let all = sandbox.ok(&["catalog", "check"]).stdout;
    assert!(all.contains("nothing wrong") && all.contains("Unknown: digest of "), "{all}");
    assert!(all.lines().count() <= 6, "a line for each sort of thing: {all}");
    let unknown = sandbox.json(&["catalog", "check", "zabbix"])["unknown"].clone();
    let images: Vec<&str> =
        unknown.as_array().unwrap().iter().map(|one| one["of"].as_str().unwrap()).collect();
    assert!(images.contains(&"zabbix/zabbix-web-nginx-pgsql"), "{unknown}");
    happy(&sandbox, "create_grafana_help", &["create", "grafana", "--help"]);
    happy(&sandbox, "help", &["--help"]);
}

/// Every kind can be shown and its help fits.
#[test]
fn every_kind_s_page_fits_a_terminal() {
    let sandbox = Sandbox::new();
    for kind in sandbox.json(&["catalog", "list"])["kinds"].as_array().unwrap() {
        let kind = kind["kind"].as_str().unwrap();
        for args in [&["catalog", "show", kind], &["create", kind, "--help"]] {
            for line in sandbox.ok(args).stdout.lines() {
                assert!(line.chars().count() <= 100, "{args:?}: {} columns: {line}", line.chars().count());
            }
        }
    }
}

/// The verbs that `eos --help` lists, from the table of them.
fn verbs(sandbox: &Sandbox) -> Vec<String> {
    let help = sandbox.ok(&["--help"]).stdout;
    let listed = help.lines().skip_while(|line| *line != "Commands:").skip(1);
    let words = listed.take_while(|line| !line.is_empty()).filter_map(|line| line.split_whitespace().next());
    words.map(str::to_owned).collect()
}

/// Verbs that cannot succeed in an estate that is recorded and compiled only, and who looks at their documents.
const JSON_ELSEWHERE: &[(&str, &str)] = &[
    ("adopt", "needs a job in Nomad: real_runs"),
    ("apply", "runs tofu: runs"),
    ("destroy", "runs tofu: runs"),
    ("doctor", "may find this machine wanting: below"),
    ("drift", "runs tofu: runs"),
    ("init", "there is an estate already: json"),
    ("plan", "runs tofu: runs"),
    ("purge", "needs something that was applied: runs"),
    ("rollback", "runs tofu: runs"),
    ("sync", "needs another side: sync"),
    ("tofu", "runs tofu: runs"),
];

#[test]
fn every_command_speaks_json() {
    let sandbox = shop();
    let job = sandbox.files("build/production/grafana/jobs").remove(0);
    let commands: &[&[&str]] = &[
        &["list"],
        &["list", "hosts"],
        &["show", "nextcloud"],
        &["history"],
        &["why", &job],
        &["secret", "list"],
        &["secret", "show", "grafana/admin_password"],
        &["secret", "recipients"],
        &["graph"],
        &["graph", "--format", "mermaid"],
        &["compile"],
        &["compile", "--check"],
        &["catalog", "list"],
        &["catalog", "show", "grafana"],
        &["catalog", "check", "grafana"],
        &["catalog", "schema"],
        &["explain"],
        &["explain", "E0404"],
        &["completion", "bash"],
        &["upgrade", "--dry-run"],
        &["create", "redis", "--dry-run"],
        &["create", "redis"],
        &["update", "redis", "--port", "6400"],
        &["secret", "rotate", "redis/password"],
        &["resize", "lvm", "database_volume", "+50G"],
        &["delete", "grafana"],
        &["--help"],
        &["create", "grafana", "--help"],
        &["tools", "list"],
        &["status"],
        &["locks"],
        &["unlock", "redis", "--because", "its holder is gone"],
        &["resume"],
        &["undo"],
        &["eject", "../ejected"],
        &["hive", "down", "--data", "../hive"],
    ];
    let tried = |verb: &str| {
        let elsewhere = JSON_ELSEWHERE.iter().any(|(known, _)| *known == verb);
        elsewhere != commands.iter().any(|args| args[0] == verb)
    };
    let verbs = verbs(&sandbox);
    assert!(verbs.len() > 30, "{verbs:?}");
    let untried: Vec<&String> = verbs.iter().filter(|verb| !tried(verb)).collect();
    assert!(untried.is_empty(), "tried in one place and only one: {untried:?}");
    let page = std::fs::read_to_string(format!("{TESTS}/../../../docs/json.md")).unwrap();
    let headings: Vec<&str> = page.lines().filter(|line| line.starts_with("## ")).collect();
    let is_named = |verb: &str| {
        headings.iter().any(|line| line.split([' ', ',']).any(|word| word == verb))
            || page.contains(&format!("`{verb}`"))
    };
    let unnamed: Vec<&String> = verbs.iter().filter(|verb| !is_named(verb)).collect();
    assert!(unnamed.is_empty(), "docs/json.md says nothing of {unnamed:?}");
    for args in commands {
        let run = sandbox.run(&[args as &[&str], &["--json"]].concat());
        let document: serde_json::Value = serde_json::from_str(&run.stdout)
            .unwrap_or_else(|e| panic!("{args:?}: {e}: {}{}", run.stdout, run.stderr));
        let mut fields: Vec<&str> = document.as_object().unwrap().keys().map(String::as_str).collect();
        fields.sort_unstable();
        assert_eq!(fields, ["diagnostics", "ok", "result"], "{args:?}");
        assert_eq!(document["ok"], true, "{args:?}: {document:#}");
        assert!(!document["result"].is_null(), "{args:?} has no result");
        assert!(document["diagnostics"].is_array(), "{args:?}");
        assert_eq!(run.code, 0, "{args:?}: {document:#}");
    }
    // The doctor may find this machine wanting, and says so in the same form.
    let run = sandbox.run(&["doctor", "--json"]);
    let document: serde_json::Value = serde_json::from_str(&run.stdout).unwrap();
    assert!(
        document["result"].is_object() && document["diagnostics"].is_array() && document["ok"].is_boolean(),
        "{document:#}"
    );
}

/// Messages that are their own reason: what was said is not there, or the system said why. A part of each will do.
const OWN_REASON: &[(&str, &str)] = &[
    ("E0101", "there is no"),
    ("E0102", "is an estate already"),
    ("E0104", "has format "),
    ("E0105", "cannot record the change: "),
    ("E0106", "cannot write "),
    ("E0107", ""),
    ("E0108", "nothing came"),
    ("E0111", "eos.lock: "),
    ("E0111", "eos.toml: "),
    ("E0111", "has prices without "),
    ("E0111", "which eos cannot run"),
    ("E0211", "has only a part of "),
    ("E0301", "there is no kind "),
    ("E0302", "has no setting "),
    ("E0305", " cannot be a flag: "),
    ("E0305", " has no field "),
    ("E0305", " is not allowed there"),
    ("E0305", " is not of type "),
    ("E0305", " is taken: "),
    ("E0305", " lacks the field "),
    ("E0305", " refers to nothing there is"),
    ("E0305", " would be a flag twice: "),
    ("E0305", "]: setting "),
    ("E0305", "]: states_on names "),
    ("E0305", "]: update: "),
    ("E0305", "]: volume "),
    ("E0306", "has no feature "),
    ("E0307", "does not run as "),
    ("E0310", "cannot be told to "),
    ("E0408", " already"),
    ("E0409", ""),
    ("E0411", " is not a name: "),
    ("E0412", "has no environment "),
    ("E0503", ""),
    ("E0903", ""),
    ("E0907", "is not a plan of eos: "),
    ("E0911", "tofu plan failed: "),
    ("E0918", "does not answer: "),
];

const TESTS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests");

/// A code, the place, why, and what to type: of every error in every snapshot.
#[test]
fn every_refusal_says_why_and_what_to_type() {
    let folders = ["snapshots", "runs/snapshots"].map(|folder| format!("{TESTS}/{folder}"));
    let snapshots = folders.iter().flat_map(|folder| std::fs::read_dir(folder).unwrap());
    let mut used: Vec<&(&str, &str)> = Vec::new();
    let mut wrong = Vec::new();
    for path in snapshots.map(|entry| entry.unwrap().path()) {
        let text = std::fs::read_to_string(&path).unwrap();
        for block in text.split("\n\n").filter_map(|block| Some(&block[block.find("error[E")?..])) {
            let said = block.split_whitespace().collect::<Vec<_>>().join(" ");
            let own = OWN_REASON.iter().find(|(code, part)| {
                said.starts_with(&format!("error[{code}]")) && said.contains(part.trim())
            });
            let explains = block.contains("\n  why: ");
            if !block.contains("\n  try: ") || (!explains && own.is_none()) {
                wrong.push(format!("{}\n{block}", path.file_name().unwrap().display()));
            }
            used.extend(own.filter(|_| !explains));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n\n"));
    let unused: Vec<_> = OWN_REASON.iter().filter(|own| !used.contains(own)).collect();
    assert!(unused.is_empty(), "no message is like these any more: {unused:?}");
}
