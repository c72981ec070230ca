//! Mistakes in pillar files that somebody wrote or edited by hand.

use crate::case::refused;
use crate::support::Sandbox;

pub const FILE: &str = "pillar/infrastructure/production/init.sls";

/// An estate whose hand-written pillar has this content, committed.
pub fn with_pillar(content: impl AsRef<[u8]>) -> Sandbox {
    let sandbox = Sandbox::with_estate();
    sandbox.write(FILE, content);
    sandbox.write("secrets/production/grafana/admin_password.v1.age", "");
    sandbox.commit_by_hand();
    sandbox
}

pub fn compile_refused(name: &str, content: impl AsRef<[u8]>) {
    refused(&with_pillar(content), name, 3, &["compile"]);
}

/// A grafana as eos would write it, with some lines more.
pub fn grafana(more: &str) -> String {
    let head = "#!yaml\neos:\n components:\n  grafana:\n    kind: grafana\n    host: local\n    runtime: container\n    version: 11.2.0\n";
    let volumes =
        "    volumes:\n      data: {backing: directory, path: /srv/eos/production/grafana/data, size: 5G}\n";
    let password = if more.contains("admin_password") {
        ""
    } else {
        "admin_password: 'secret://production/grafana/admin_password?v=1', "
    };
    let more = match more.split_once("settings: {") {
        Some((before, after)) => format!("{before}settings: {{{password}{after}"),
        None => format!("    settings: {{{password}}}\n{more}"),
    };
    format!("{head}{volumes}{more}")
}

#[test]
fn a_good_one_is_not_refused() {
    let run = with_pillar(grafana("")).run(&["compile"]);
    assert_eq!(run.code, 0, "the cases below would be refused for another reason: {}", run.stderr);
}

#[test]
fn tabs() {
    compile_refused("tabs", "#!yaml\neos:\n\tgrafana:\n\t\tkind: grafana\n");
}

#[test]
fn duplicate_keys() {
    compile_refused("duplicate_keys", grafana("    host: local\n"));
}

#[test]
fn ten_megabytes() {
    compile_refused("ten_megabytes", format!("#!yaml\nnotes: \"{}\"\n", "x".repeat(10_000_000)));
}

#[test]
fn invalid_utf8() {
    compile_refused("invalid_utf8", b"#!yaml\nnotes: caf\xe9\n");
}

#[test]
fn broken_yaml() {
    compile_refused("broken_yaml", "#!yaml\ncomponents: {grafana: {kind: grafana\n");
}

#[test]
fn nul_and_other_control_characters() {
    compile_refused("nul_in_a_file", b"#!yaml\nnotes: \"a\0b\"\n");
    compile_refused("escape_in_a_file", b"#!yaml\nnotes: \"a\x1b[2Jb\"\n");
    compile_refused("escape_in_a_value", grafana("    settings: {hostname: \"a\\e[2Jb\"}\n"));
}

#[test]
fn jinja() {
    compile_refused(
        "jinja",
        "components:\n  {% for name in ['a', 'b'] %}\n  {{ name }}: {kind: grafana}\n  {% endfor %}\n",
    );
}

#[test]
fn a_link_out_of_the_estate() {
    let sandbox = Sandbox::with_estate();
    std::fs::write(sandbox.path().join("outside.sls"), "#!yaml\n{}\n").unwrap();
    std::os::unix::fs::symlink(
        "../../../../outside.sls",
        sandbox.estate().join("pillar/infrastructure/production/stolen.sls"),
    )
    .unwrap();
    sandbox.commit_by_hand();
    refused(&sandbox, "a_link_out_of_the_estate", 3, &["compile"]);
}

#[test]
fn a_link_to_a_folder_outside() {
    let sandbox = Sandbox::with_estate();
    std::os::unix::fs::symlink("/etc", sandbox.estate().join("pillar/infrastructure/production/etc"))
        .unwrap();
    sandbox.commit_by_hand();
    refused(&sandbox, "a_link_to_a_folder_outside", 3, &["compile"]);
}

/// Opening one waits for somebody to write into it, which nobody does.
#[test]
fn a_pipe() {
    let sandbox = Sandbox::with_estate();
    let pipe = sandbox.estate().join("pillar/infrastructure/production/pipe.sls");
    assert!(std::process::Command::new("mkfifo").arg(&pipe).status().unwrap().success());
    refused(&sandbox, "a_pipe_in_the_pillar", 1, &["list"]);
    // Nor does whoever looks for what is to be committed wait.
    refused(&sandbox, "a_pipe_in_the_pillar_created", 1, &["create", "redis"]);
}

#[test]
fn unknown_things() {
    compile_refused(
        "pillar_unknown_kind",
        "#!yaml\neos:\n components:\n  graphs: {kind: grafanna, host: local}\n",
    );
    compile_refused("pillar_unknown_setting", grafana("    settings: {prot: 3001}\n"));
    compile_refused("pillar_unknown_key", grafana("    setings: {port: 3001}\n"));
    compile_refused("pillar_unknown_feature", grafana("    features: [ssso]\n"));
    compile_refused("pillar_undeclared_host", grafana("").replace("host: local", "host: web9"));
    compile_refused("pillar_unknown_runtime", grafana("").replace("runtime: container", "runtime: kvm"));
}

#[test]
fn wrong_values() {
    compile_refused("pillar_value_out_of_range", grafana("    settings: {port: 70000}\n"));
    compile_refused("pillar_size_without_unit", grafana("    settings: {size: 5}\n"));
    compile_refused("pillar_wrong_shape", "#!yaml\neos: {components: [grafana, postgres]}\n");
    compile_refused(
        "pillar_name_with_traversal",
        "#!yaml\neos:\n components:\n  ../../x: {kind: grafana, host: local}\n",
    );
    compile_refused("pillar_not_a_mapping", "#!yaml\n- grafana\n");
}

/// What a flag would refuse is refused where somebody wrote it.
#[test]
fn words_that_a_flag_would_refuse() {
    let host = "#!yaml\neos:\n hosts:\n  db1:\n    environment: production\n    address: 10.0.0.300/x y\n    connection: ssh\n    nomad_node: a,b ${x}\n    volume_group: vg; touch x\n    data_folder: srv/../x\n";
    compile_refused("pillar_odd_host", host);
    let volume = "{backing: directory, path: /srv/eos/production/grafana/data, size: 5G}";
    let with = |choice: &str| grafana("").replace(volume, choice);
    compile_refused(
        "pillar_odd_volume_group",
        with("{backing: lvm, path: /srv/g, size: 5G, group: vg; touch x}"),
    );
    compile_refused("pillar_volume_of_the_system", with("{backing: directory, path: /, size: 5G}"));
    compile_refused(
        "pillar_volume_written_twice_as_long",
        with("{backing: directory, path: /srv//g/./data, size: 5G}"),
    );
    compile_refused("pillar_odd_size", with("{backing: directory, path: /srv/g, size: 5 gigs}"));
    compile_refused(
        "pillar_odd_numbers",
        grafana("    cpu: -5\n    memory: 0\n    replicas: -3\n    job: \"we ird/../job\\n\"\n"),
    );
    compile_refused(
        "pillar_unknown_needs",
        grafana(
            "    needs: {databse: db1}\n    secrets: {whatever: 'secret://production/grafana/whatever?v=1'}\n",
        ),
    );
}

/// The same rules for the flag.
#[test]
fn words_that_a_flag_refuses() {
    let sandbox = Sandbox::with_estate();
    let words = ["--volume-group", ".", "--data-folder", "/srv//x/"];
    refused(&sandbox, "flags_of_a_host", 3, &[&["update", "host", "local"] as &[&str], &words].concat());
}

#[test]
fn port_taken_by_hand() {
    let second = grafana("")
        .replace("#!yaml\neos:\n components:\n", "")
        .replace("grafana:", "second:")
        .replace("grafana/data", "second/data");
    compile_refused("pillar_port_taken", grafana("") + &second);
}

#[test]
fn a_need_without_a_provider() {
    let text = "#!yaml\neos:\n components:\n  umami: {kind: umami, host: local, runtime: container}\n";
    compile_refused("pillar_need_without_provider", text);
}

#[test]
fn a_cycle() {
    let sandbox = Sandbox::with_estate();
    for (kind, other) in [("chicken", "egg"), ("egg", "chicken")] {
        let text = format!(
            "#!yaml\nformat: 1\nkind: {kind}\nsummary: A {kind}\nproof: validates\nruntimes: {{container: {{image: example/{kind}, version: '1'}}}}\n\
             needs: {{before: {{offer: {other}, create: {other}, help: what came first}}}}\n\
             offers: {{{kind}: {{help: A {kind}, outputs: {{}}}}}}\ntasks: {{server: {{env: {{A: b}}, resources: {{production: {{cpu: 100, memory: 64}}}}}}}}\n"
        );
        sandbox.write(&format!("catalog/{kind}/component.yaml"), text);
    }
    sandbox.commit_by_hand();
    refused(&sandbox, "a_cycle_asked_for", 3, &["create", "chicken"]);
    sandbox.write(
        FILE,
        "#!yaml\neos:\n components:\n  chicken: {kind: chicken, version: '1', host: local, runtime: container, needs: {before: egg}}\n  egg: {kind: egg, version: '1', host: local, runtime: container, needs: {before: chicken}}\n",
    );
    sandbox.commit_by_hand();
    refused(&sandbox, "a_cycle", 3, &["compile"]);
}

#[test]
fn several_mistakes_in_two_files_are_all_reported() {
    let sandbox = with_pillar(grafana("    settings: {prot: 3001, size: 5}\n"));
    sandbox.write("pillar/infrastructure/common/init.sls", "#!yaml\neos:\n components:\n  postgres: {kind: postgres, host: local, runtime: container, settings: {max_connections: 5}}\n");
    sandbox.commit_by_hand();
    let run = sandbox.run(&["compile", "--env", "production", "--json"]);
    let document: serde_json::Value = serde_json::from_str(&run.stdout).unwrap();
    let found = document["diagnostics"].as_array().unwrap();
    for (file, message) in
        [(FILE, "prot"), (FILE, "size"), ("pillar/infrastructure/common/init.sls", "max_connections")]
    {
        assert!(
            found
                .iter()
                .any(|d| d["place"]["file"] == file && d["message"].as_str().unwrap().contains(message)),
            "{message} in {file}: {found:#?}"
        );
    }
    refused(&sandbox, "several_mistakes", 3, &["compile", "--env", "production"]);
}

#[test]
fn mistakes_of_every_pass_are_told_together() {
    let sandbox = Sandbox::with_estate();
    for words in [&["grafana"][..], &["jenkins"], &["redis"], &["redis", "r2"], &["postgres"], &["gitea"]] {
        sandbox.ok(&[&["create"], words].concat());
    }
    for i in ["+1G", "+2G"] {
        sandbox.ok(&["resize", "lvm", "data", i]);
    }
    let file = |name: &str| format!("pillar/infrastructure/production/{name}.sls");
    let change = |path: &str, from: &str, to: &str| {
        let before = sandbox.read(path);
        assert!(before.contains(from), "{before}");
        sandbox.write(path, before.replace(from, to));
    };
    change(&file("grafana"), "port:", "prot:");
    change(&file("jenkins"), "host: local", "host: web9");
    change(&file("r2"), "6380", "6379");
    change(&file("r2"), "production/r2/data", "production/redis/data");
    // Whoever needs it has no mistake of its own.
    change(&file("postgres"), "kind: postgres", "kind: postgras");
    for operation in sandbox.files("pillar/operations/production") {
        change(&operation, "host: local", "host: gone");
    }
    sandbox.commit_by_hand();
    refused(&sandbox, "mistakes_of_every_pass", 3, &["compile", "--env", "production"]);
    // Each can be mended by itself, in any order.
    let run = sandbox.run(&["update", "r2", "--port", "6381"]);
    assert_eq!(run.code, 0, "{}{}", run.stdout, run.stderr);
}

#[test]
fn several_broken_files_are_all_reported() {
    let sandbox = with_pillar("#!yaml\na: 1\na: 2\n");
    sandbox.write("pillar/infrastructure/common/init.sls", "#!yaml\n\tx: 1\n");
    sandbox.commit_by_hand();
    refused(&sandbox, "several_broken_files", 3, &["compile", "--env", "production"]);
}

/// Whoever is sent what eos said about another part of the line would be told it.
#[test]
fn a_secret_in_clear_is_in_no_other_message() {
    let entry = |settings: &str| {
        let volumes = "{data: {backing: directory, path: /srv/eos/production/a/data}}";
        format!(
            "eos: {{components: {{a: {{kind: redis, host: local, runtime: container, version: 7.4.1, settings: {{{settings}}}, volumes: {volumes}}}}}}}\n"
        )
    };
    let silent = |sandbox: &Sandbox, args: &[&str], code: &str| {
        for args in [args, &[args, &["--json"]].concat()] {
            let run = sandbox.run(args);
            assert!(run.code != 0 && !(run.stdout.clone() + &run.stderr).contains("hunter2"), "{args:?}");
            assert!((run.stdout + &run.stderr).contains(code), "{args:?}: {}", run.stderr);
        }
    };
    let sandbox = with_pillar(entry("prot: 6400, password: hunter2pw"));
    silent(&sandbox, &["compile"], "E0302");
    refused(&sandbox, "a_secret_beside_a_mistake", 3, &["compile"]);
    let sandbox = with_pillar(entry("port: 6400, password: hunter2pw"));
    silent(&sandbox, &["delete", "a"], "E0209");
    silent(&sandbox, &["update", "a", "--port", "6401"], "E0209");
    silent(&sandbox, &["create", "redis", "a"], "E0408");
    silent(&with_pillar(entry("admin_pasword: hunter2pw")), &["compile"], "E0302");
    silent(&with_pillar("eos:\n  components:\n    admin_password: hunter2pw: x\n"), &["compile"], "E0201");
    // A line without one is shown as it is.
    let shown = with_pillar(entry("prot: 6400")).run(&["compile"]).stderr;
    assert!(shown.contains("prot: 6400"), "{shown}");
}

#[test]
fn a_secret_in_clear() {
    let sandbox = with_pillar(grafana("    settings: {admin_password: hunter2hunter2}\n"));
    let run = sandbox.run(&["compile", "--json"]);
    assert!(!run.stdout.contains("hunter2"), "{}", run.stdout);
    assert!(!sandbox.run(&["compile"]).stderr.contains("hunter2"));
    for args in
        [&["show", "grafana"] as &[&str], &["show", "grafana", "--json"], &["doctor"], &["list", "--json"]]
    {
        let run = sandbox.run(args);
        assert!(!(run.stdout + &run.stderr).contains("hunter2"), "{args:?}");
    }
    refused(&sandbox, "a_secret_in_clear", 3, &["compile"]);
    // What the message says to do leads out of it.
    sandbox.write(FILE, grafana(""));
    std::fs::remove_dir_all(sandbox.estate().join("secrets/production")).unwrap();
    sandbox.commit_by_hand();
    let mut set = sandbox.command(&["secret", "set", "grafana/admin_password"]);
    let mut running =
        set.stdin(std::process::Stdio::piped()).stdout(std::process::Stdio::null()).spawn().unwrap();
    std::io::Write::write_all(&mut running.stdin.take().unwrap(), b"hunter3hunter3\n").unwrap();
    assert!(running.wait().unwrap().success());
    assert_eq!(sandbox.ok(&["secret", "show", "grafana/admin_password"]).stdout, "hunter3hunter3\n");
    sandbox.ok(&["compile"]);
}

#[test]
fn a_password_in_an_address() {
    let sandbox = Sandbox::with_estate();
    let given = "rest:https://bob:pass99@backup.example.org/";
    refused(&sandbox, "a_password_in_an_address", 3, &["create", "backups", "--target", given]);
    sandbox.ok(&["create", "backups", "--target", "rest:https://backup.example.org/"]);
    let file = "pillar/infrastructure/production/backups.sls";
    sandbox.write(file, sandbox.read(file).replace("https://", "https://bob:pass99@"));
    sandbox.commit_by_hand();
    refused(&sandbox, "a_password_in_a_written_address", 3, &["compile"]);
}

#[test]
fn a_file_whose_name_is_no_text() {
    use std::os::unix::ffi::OsStrExt as _;
    let sandbox = Sandbox::with_estate();
    let name = std::ffi::OsStr::from_bytes(b"x\xff.sls");
    let folder = sandbox.estate().join("pillar/infrastructure/production");
    std::fs::write(folder.join(name), "#!yaml\n{}\n").unwrap();
    refused(&sandbox, "a_file_whose_name_is_no_text", 3, &["compile"]);
}

#[test]
fn an_environment_called_common() {
    let sandbox = Sandbox::with_estate();
    sandbox.write("eos.toml", sandbox.read("eos.toml") + "\n[environments.common]\n");
    sandbox.commit_by_hand();
    refused(&sandbox, "an_environment_called_common", 3, &["compile"]);
}

#[test]
fn a_volume_inside_another() {
    let sandbox = Sandbox::with_estate();
    sandbox.ok(&["create", "postgres"]);
    sandbox.ok(&["create", "redis"]);
    let file = "pillar/infrastructure/production/redis.sls";
    let inside = sandbox.read(file).replace("production/redis/data", "production/postgres/data/redis");
    sandbox.write(file, inside);
    sandbox.commit_by_hand();
    refused(&sandbox, "a_volume_inside_another", 3, &["compile"]);
}

/// A machine has a name in each environment, and one set of disks.
#[test]
fn a_device_of_two_environments() {
    let sandbox = Sandbox::with_estate();
    let more = "[environments.eu]\ntier = \"production\"\n\n[environments.eu-west]\ntier = \"production\"\n";
    sandbox.write("eos.toml", format!("{}\n{more}", sandbox.read("eos.toml")));
    let target = |env: &str| {
        format!(
            "  'environment:{env}':\n    - match: grain\n    - ignore_missing: True\n    - infrastructure.{env}.*\n"
        )
    };
    let top = format!("{}{}{}", sandbox.read("pillar/top.sls"), target("eu"), target("eu-west"));
    sandbox.write("pillar/top.sls", top);
    sandbox.commit_by_hand();
    for (host, env) in [("a", "eu"), ("b", "eu-west")] {
        let place = ["--address", "10.0.0.9", "--nomad-node", "n9", "--volume-group", "vg0"];
        sandbox.ok(&[&["create", "host", host, "--env", env], &place[..]].concat());
    }
    sandbox.ok(&["create", "postgres", "west_db", "--env", "eu"]);
    let words = ["create", "postgres", "db", "--env", "eu-west", "--port", "5499"];
    refused(&sandbox, "a_device_of_two_environments", 3, &words);
}

#[test]
fn names_of_one_service() {
    let sandbox = Sandbox::with_estate();
    sandbox.ok(&["create", "redis", "c.d"]);
    refused(&sandbox, "names_of_one_service", 3, &["create", "redis", "c-d"]);
}

/// An entry of somebody's own has to say what eos would have chosen; the message says how.
#[test]
fn what_an_entry_of_ones_own_leaves_out() {
    let sandbox = Sandbox::with_estate();
    sandbox.ok(&["create", "postgres"]);
    let own = "#!yaml\neos:\n components:\n  gitea:\n    kind: gitea\n    host: local\n    runtime: container\n    version: 1.22.3\n    needs: {database: postgres}\n    settings: {secret_key: 'secret://production/gitea/secret_key?v=1'}\n";
    sandbox.write(FILE, own);
    sandbox.write("secrets/production/gitea/secret_key.v1.age", "");
    sandbox.commit_by_hand();
    refused(&sandbox, "own_yaml_without_volumes_and_secrets", 3, &["compile"]);
    // What it says to write, and to type then.
    let run = sandbox.run(&["compile", "--json"]);
    let document: serde_json::Value = serde_json::from_str(&run.stdout).unwrap();
    let mut text = own.to_owned();
    let mut typed = Vec::new();
    for found in document["diagnostics"].as_array().unwrap().iter().filter(|one| one["severity"] == "error") {
        let fix = found["fix"].as_str().unwrap();
        let rest = fix.strip_prefix("write into gitea: ").unwrap();
        let (line, then) = rest.split_once(", git commit it, then ").unwrap_or((rest, ""));
        text.push_str(&format!("    {line}\n"));
        typed.extend((!then.is_empty()).then(|| then.to_owned()));
    }
    sandbox.write(FILE, text);
    sandbox.commit_by_hand();
    typed.iter().for_each(|line| sandbox.type_in(line));
    sandbox.ok(&["compile"]);
}
