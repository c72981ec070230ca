//! Whether masterless states may run here: the pillar has to declare the target as this very machine.
//!
//! Masterless Salt configures whatever machine it runs on. An operator's laptop must never be that by surprise.

use std::net::{IpAddr, SocketAddr, ToSocketAddrs as _, UdpSocket};

use camino::Utf8Path;
use eos_model::{Diagnostic, Diagnostics, EnvName, HostName, codes};
use eos_pillar::Tree;

use super::arguments::Arguments;

/// The environment of the target, which is declared as masterless and is this machine.
pub fn masterless(estate: Option<&Utf8Path>, arguments: &Arguments<'_>) -> Result<String, Diagnostics> {
    let target = arguments.target;
    let refused = |message: String| Diagnostic::error(codes::NOT_THIS_MACHINE, message);
    let Some(estate) = estate else {
        return Err(refused(format!("no estate says what {target} is: no masterless state is run"))
            .why(
                "masterless Salt configures the machine it runs on; the estate's pillar has to name it first",
            )
            .fix("let eos run tofu (eos tofu <unit> -- plan), or set EOS_ESTATE to the estate's folder")
            .into());
    };
    // `production/web/host`: a unit's name begins with its environment.
    let environment: EnvName =
        arguments.name.split('/').next().and_then(|word| word.parse().ok()).ok_or_else(|| {
            refused(format!("{}: the name does not begin with an environment", arguments.name))
        })?;
    let pillar = Tree::read(estate)?.environment(&environment)?;
    let declared = target.parse::<HostName>().ok().and_then(|name| pillar.hosts.get(&name).cloned());
    let Some(host) = declared else {
        return Err(refused(format!("{target} is not declared: no masterless state is run"))
            .why("only a machine that the pillar names may be configured")
            .fix(format!("eos create host {target} --env {environment}"))
            .into());
    };
    if host.connection != "masterless" {
        return Err(refused(format!("{target} is reached through {}, not masterless", host.connection))
            .why("the pillar and the compiled unit disagree")
            .fix("eos compile, then plan again")
            .into());
    }
    if !is_this_machine(&host.address) {
        return Err(refused(format!("{target} at {} is another machine than this one", host.address))
            .why("masterless Salt would configure the machine you are on")
            .fix(format!("run this on {target}, or reach it through its Salt master: eos update host {target} --connection minion"))
            .into());
    }
    Ok(host.environment)
}

/// Whether an address is one of this machine's own: only such a one can be listened at.
pub fn is_this_machine(address: &str) -> bool {
    let own = |ip: IpAddr| ip.is_loopback() || UdpSocket::bind(SocketAddr::new(ip, 0)).is_ok();
    // Everything and nothing: no address of a host.
    let real = |ip: &IpAddr| !ip.is_unspecified() && !ip.is_multicast();
    if let Ok(ip) = address.parse::<IpAddr>() {
        return real(&ip) && own(ip);
    }
    let resolved = (address, 0).to_socket_addrs().into_iter().flatten();
    resolved.map(|resolved| resolved.ip()).filter(real).any(own)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::value::Object;

    /// An estate whose only host is as given.
    fn estate(host: &str) -> tempfile::TempDir {
        let folder = tempfile::tempdir().unwrap();
        std::fs::create_dir_all(folder.path().join("pillar/hosts")).unwrap();
        std::fs::write(
            folder.path().join("pillar/top.sls"),
            "#!yaml\nbase:\n  '*':\n    - ignore_missing: True\n    - hosts.*\n",
        )
        .unwrap();
        std::fs::write(
            folder.path().join("pillar/hosts/web.sls"),
            format!("#!yaml\neos:\n  hosts:\n    {host}\n"),
        )
        .unwrap();
        folder
    }

    fn asked(host: &str, target: &str) -> Result<String, Diagnostics> {
        let folder = estate(host);
        let object = Object::default()
            .with("name", "production/web/host")
            .with("target", target)
            .with("via", "masterless")
            .with("sls", "{}");
        let path = Utf8Path::from_path(folder.path()).unwrap();
        masterless(Some(path), &Arguments::of(&object).unwrap())
    }

    #[test]
    fn only_a_declared_host_that_is_this_machine() {
        let here = "local: {environment: production, address: 127.0.0.1, connection: masterless}";
        assert_eq!(asked(here, "local").unwrap(), "production");
        let by_name = "local: {environment: staging, address: localhost, connection: masterless}";
        assert_eq!(asked(by_name, "local").unwrap(), "staging");
        for (host, target, why) in [
            (here, "other", "other is not declared"),
            (
                "local: {environment: production, address: 127.0.0.1, connection: minion}",
                "local",
                "reached through minion",
            ),
            // Documentation addresses: nobody has them.
            (
                "web1: {environment: production, address: 192.0.2.7, connection: masterless}",
                "web1",
                "web1 at 192.0.2.7 is another machine",
            ),
            (
                "web1: {environment: production, address: '2001:db8::7', connection: masterless}",
                "web1",
                "another machine",
            ),
            (
                "web1: {environment: production, address: 0.0.0.0, connection: masterless}",
                "web1",
                "another machine",
            ),
        ] {
            let found = asked(host, target).unwrap_err();
            assert!(found.to_string().contains(why), "{found}");
            assert_eq!(found.0[0].code, codes::NOT_THIS_MACHINE);
        }
    }

    #[test]
    fn without_an_estate_nothing_is_run() {
        let object = Object::default()
            .with("name", "production/web/host")
            .with("target", "local")
            .with("via", "masterless")
            .with("sls", "{}");
        let found = masterless(None, &Arguments::of(&object).unwrap()).unwrap_err();
        assert_eq!(found.0[0].code, codes::NOT_THIS_MACHINE);
    }
}
