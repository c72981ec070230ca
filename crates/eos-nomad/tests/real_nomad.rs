//! The client against a real Nomad with TLS on both sides, tokens, and a server that is killed and comes back.
#![allow(clippy::unwrap_used)]

use std::path::Path;

use eos_nomad::{
    Client, Connection, Error, Goal, Limits, Outcome, Patience, Progress, Stop, Tls, Variable, watch,
};
use rcgen::{BasicConstraints, CertificateParams, ExtendedKeyUsagePurpose, IsCa, Issuer, KeyPair};
use serde_json::{Value as Json, json};
use test_tools::{Nomad, runs_as, tool};
use ureq::tls::{Certificate, ClientCert, PrivateKey, RootCerts, TlsConfig};

/// An authority, and certificates by it for Nomad and for its clients.
fn certificates(folder: &Path) {
    let key = KeyPair::generate().unwrap();
    let mut authority = CertificateParams::new(Vec::new()).unwrap();
    authority.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    let certificate = authority.self_signed(&key).unwrap();
    std::fs::write(folder.join("ca.pem"), certificate.pem()).unwrap();
    let issuer = Issuer::new(authority, key);
    for (name, host) in [("server", "server.global.nomad"), ("client", "client.global.nomad")] {
        let key = KeyPair::generate().unwrap();
        // Not for 127.0.0.1: only who knows the name gets through.
        let mut wanted = CertificateParams::new([host.to_owned()]).unwrap();
        wanted.extended_key_usages =
            vec![ExtendedKeyUsagePurpose::ServerAuth, ExtendedKeyUsagePurpose::ClientAuth];
        let certificate = wanted.signed_by(&key, &issuer).unwrap();
        std::fs::write(folder.join(format!("{name}.pem")), certificate.pem()).unwrap();
        std::fs::write(folder.join(format!("{name}.key")), key.serialize_pem()).unwrap();
    }
}

fn job(id: &str, script: &str) -> Json {
    json!({
        "ID": id, "Name": id, "Type": "service", "Datacenters": ["*"],
        "Update": {"MinHealthyTime": 100_000_000, "HealthyDeadline": 20_000_000_000_u64,
                   "ProgressDeadline": 40_000_000_000_u64, "HealthCheck": "task_states"},
        "TaskGroups": [{"Name": "main", "Count": 1, "Tasks": [{
            "Name": "main", "Driver": "raw_exec", "Config": {"command": "/bin/sh", "args": ["-c", script]},
            "Resources": {"CPU": 10, "MemoryMB": 16},
        }]}],
    })
}

#[test]
fn with_tls_tokens_and_a_server_that_comes_back() {
    let Some(program) = tool("nomad", "with_tls_tokens_and_a_server_that_comes_back") else { return };
    let files = tempfile::tempdir().unwrap();
    certificates(files.path());
    let file = |name: &str| files.path().join(name);
    let mut more = runs_as("n1");
    let secured = json!({
        "tls": {"http": true, "rpc": true, "verify_server_hostname": false, "verify_https_client": true,
                "ca_file": file("ca.pem"), "cert_file": file("server.pem"), "key_file": file("server.key")},
        "acl": {"enabled": true},
    });
    more.as_object_mut().unwrap().extend(secured.as_object().unwrap().clone());
    let pem = |name: &str| std::fs::read(file(name)).unwrap();
    let agent = Nomad::start(program.as_std_path(), more, {
        TlsConfig::builder()
            .root_certs(RootCerts::new_with_certs(&[Certificate::from_pem(&pem("ca.pem")).unwrap()]))
            .client_cert(Some(ClientCert::new_with_certs(
                &[Certificate::from_pem(&pem("client.pem")).unwrap()],
                PrivateKey::from_pem(&pem("client.key")).unwrap(),
            )))
            // The test's own eyes; the client under test looks closely.
            .disable_verification(true)
            .build()
    });
    let boot = agent.request("POST", "/v1/acl/bootstrap", Some(&json!({}))).unwrap();
    let token = boot["SecretID"].as_str().unwrap();
    agent.use_token(token);
    agent.until_ready();

    let connection = Connection {
        address: Some(agent.address().to_owned()),
        token: Some(token.to_owned().into()),
        tls: Tls {
            ca_certificate: Some(file("ca.pem")),
            client_certificate: Some(file("client.pem")),
            client_key: Some(file("client.key")),
            server_name: Some("server.global.nomad".to_owned()),
        },
        ..Connection::default()
    };
    who_gets_in(&connection);
    let client = Client::new(&connection, Patience::LONG, Stop::new()).unwrap();
    assert!(client.nodes().unwrap()[0].takes_work());
    index_and_versions(&client);
    variables(&client);
    what_cannot_start_is_not_waited_for(&client);
    a_server_that_comes_back(&client, &agent);
    stopping(&connection, &client);
    for id in ["doomed", "plain", "revived", "slow"] {
        client.deregister(id, true).unwrap();
    }
    assert!(client.job("plain").unwrap().is_none());
    client.deregister("plain", true).unwrap();
}

fn who_gets_in(connection: &Connection) {
    let ask =
        |connection: &Connection| Client::new(connection, Patience::SHORT, Stop::new()).unwrap().nodes();
    let without = |change: &dyn Fn(&mut Connection)| {
        let mut connection = connection.clone();
        change(&mut connection);
        ask(&connection).unwrap_err()
    };
    assert!(matches!(without(&|c| c.token = None), Error::PermissionDenied { .. }));
    assert!(matches!(
        without(&|c| c.token = Some("00000000-0000-0000-0000-000000000000".to_owned().into())),
        Error::PermissionDenied { .. }
    ));
    assert!(without(&|c| c.tls.server_name = None).is_unreachable());
    assert!(without(&|c| c.tls.ca_certificate = None).is_unreachable());
    assert!(without(&|c| (c.tls.client_certificate, c.tls.client_key) = (None, None)).is_unreachable());
    ask(connection).unwrap();
}

fn index_and_versions(client: &Client) {
    let spec = job("plain", "exec sleep 1000");
    let plan = client.plan_job("plain", &spec).unwrap();
    assert_eq!((plan.job_modify_index, plan.annotations.desired["main"].place), (0, 1));
    let registered = client.register("plain", &spec, 0).unwrap();
    assert!(matches!(client.register("plain", &spec, 0).unwrap_err(), Error::Conflict { .. }));
    let found = client.job("plain").unwrap().unwrap();
    assert_eq!(found.job_modify_index, registered.job_modify_index);
    let mut heard: Vec<Progress> = Vec::new();
    let outcome = watch(
        client,
        &found,
        Some(&registered.evaluation),
        Goal::Healthy,
        Limits::SERVICE,
        &mut |progress| heard.push(progress.clone()),
    );
    assert_eq!(outcome.unwrap(), Outcome::Reached);
    assert!(heard.iter().all(|progress| progress.desired == 1), "{heard:?}");
    assert!(client.plan_job("plain", &spec).unwrap().diff.is_empty());
    let mut changed = spec.clone();
    changed["TaskGroups"][0]["Count"] = json!(2);
    let plan = client.plan_job("plain", &changed).unwrap();
    assert_eq!(
        plan.diff.lines(&|_, value| value.to_owned()),
        ["~ group main", "  ~ Count: 1 -> 2 (forces create)"]
    );
    client.register("plain", &changed, plan.job_modify_index).unwrap();
    let versions = client.job_versions("plain").unwrap();
    assert_eq!(versions.iter().map(|job| job.version).collect::<Vec<_>>(), [1, 0]);
}

fn variables(client: &Client) {
    let path = "nomad/jobs/plain";
    assert!(client.variable(path).unwrap().is_none() && client.variable_index(path).unwrap().is_none());
    let mut variable = Variable::default();
    variable.items.insert("key".to_owned(), "value".to_owned().into());
    let index = client.put_variable(path, &variable).unwrap();
    assert!(matches!(client.put_variable(path, &variable).unwrap_err(), Error::Conflict { .. }));
    assert_eq!(client.variable_index(path).unwrap(), Some(index));
    let read = client.variable(path).unwrap().unwrap();
    assert_eq!((read.modify_index, read.items["key"].as_str()), (index, "value"));
    assert!(matches!(client.delete_variable(path, index - 1).unwrap_err(), Error::Conflict { .. }));
    client.delete_variable(path, index).unwrap();
    assert!(client.variable(path).unwrap().is_none());
}

/// Its restarts are used up long before its deadline.
fn what_cannot_start_is_not_waited_for(client: &Client) {
    let mut spec = job("doomed", "echo no such luck >&2; exit 3");
    spec["TaskGroups"][0]["RestartPolicy"] = json!({
        "Attempts": 1, "Interval": 3_600_000_000_000_u64, "Delay": 100_000_000_u64, "Mode": "delay"
    });
    let registered = client.register("doomed", &spec, 0).unwrap();
    let found = client.job("doomed").unwrap().unwrap();
    let outcome =
        watch(client, &found, Some(&registered.evaluation), Goal::Healthy, Limits::SERVICE, &mut |_| {});
    let Outcome::Failed(failure) = outcome.unwrap() else { panic!("it cannot become healthy") };
    assert!(failure.reason.contains("used up their restarts"), "{failure:?}");
    assert!(failure.details.iter().any(|line| line.contains("no such luck")), "{failure:?}");
    client.deregister("doomed", true).unwrap();
}

/// The only server is killed while a job is being watched, and started again.
fn a_server_that_comes_back(client: &Client, agent: &Nomad) {
    let mut spec = job("revived", "exec sleep 1000");
    spec["Update"]["MinHealthyTime"] = json!(3_000_000_000_u64);
    let registered = client.register("revived", &spec, 0).unwrap();
    let found = client.job("revived").unwrap().unwrap();
    let outcome = std::thread::scope(|scope| {
        scope.spawn(|| {
            agent.until("all tasks run", || {
                let all = agent.get("/v1/allocations");
                all.as_array().is_some_and(|all| all.iter().all(|one| one["ClientStatus"] == "running"))
            });
            agent.kill();
            agent.revive();
        });
        watch(client, &found, Some(&registered.evaluation), Goal::Healthy, Limits::SERVICE, &mut |_| {})
    });
    assert_eq!(outcome.unwrap(), Outcome::Reached);
    agent.until_ready();
}

fn stopping(connection: &Connection, client: &Client) {
    let mut spec = job("slow", "exec sleep 1000");
    spec["Update"]["MinHealthyTime"] = json!(15_000_000_000_u64);
    client.register("slow", &spec, 0).unwrap();
    let stop = Stop::new();
    let stoppable = Client::new(connection, Patience::LONG, stop.clone()).unwrap();
    let found = stoppable.job("slow").unwrap().unwrap();
    let outcome = watch(&stoppable, &found, None, Goal::Healthy, Limits::SERVICE, &mut |_| stop.stop());
    assert!(matches!(outcome.unwrap_err(), Error::Stopped { .. }));
}
