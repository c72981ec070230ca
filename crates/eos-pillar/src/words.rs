//! Texts that become words of URLs, commands and states: addresses, nodes, folders, volume groups and jobs. What a person
//! types at a flag and what stands in a pillar are held against the same rules.

use std::net::{Ipv4Addr, Ipv6Addr};

use eos_model::{Diagnostic, codes, folder};

/// What is wrong with a text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Misfit {
    pub problem: &'static str,
    pub why: &'static str,
    /// One that would do.
    pub instead: String,
}

impl Misfit {
    /// As it is said of something that is called `what`.
    pub fn told(&self, what: &str, text: &str) -> Diagnostic {
        Diagnostic::error(codes::BAD_VALUE, format!("{what}: {text:?} {}", self.problem)).why(self.why)
    }
}

type Fits = Result<(), Misfit>;

fn misfit(problem: &'static str, why: &'static str, instead: &str) -> Fits {
    Err(Misfit { problem, why, instead: instead.to_owned() })
}

const PLAIN: &str = "may hold letters, digits, '.', '_', ':' and '-' only";
const IN_COMMANDS: &str = "it becomes part of URLs, constraints and commands";

fn is_plain(text: &str, more: &str) -> bool {
    !text.is_empty() && text.chars().all(|c| c.is_ascii_alphanumeric() || more.contains(c))
}

/// Where a host is reached: an address of IP, or a name.
pub fn address(text: &str) -> Fits {
    const INSTEAD: &str = "10.0.0.5, or a name such as db1.example.org";
    if !is_plain(text, "._:-") {
        return misfit(PLAIN, IN_COMMANDS, INSTEAD);
    }
    let numbers = text.chars().all(|c| c.is_ascii_digit() || c == '.');
    let is_name = text.len() <= 253 && text.split('.').all(is_label);
    let fits = match (numbers, text.contains(':')) {
        (true, _) => text.parse::<Ipv4Addr>().is_ok(),
        (_, true) => text.parse::<Ipv6Addr>().is_ok(),
        _ => is_name,
    };
    if fits { Ok(()) } else { misfit("is no address", "nothing could be reached there", INSTEAD) }
}

/// A part of the name of a host between dots.
fn is_label(text: &str) -> bool {
    !text.is_empty() && text.len() <= 63 && !text.starts_with('-') && !text.ends_with('-')
}

/// A node of Nomad.
pub fn node(text: &str) -> Fits {
    if is_plain(text, "._:-") { Ok(()) } else { misfit(PLAIN, IN_COMMANDS, "db1") }
}

/// How Salt reaches a host.
pub fn connection(text: &str) -> Fits {
    let known = ["masterless", "minion"];
    if known.contains(&text) {
        return Ok(());
    }
    misfit("is no connection", "Salt reaches a host in one of two ways", "minion, or masterless")
}

/// A volume group, as LVM names them.
pub fn volume_group(text: &str) -> Fits {
    let fits =
        is_plain(text, "+_.-") && !text.starts_with('-') && ![".", ".."].contains(&text) && text.len() <= 127;
    let why = "LVM's names have letters, digits, '+', '_', '.' and '-', and no '-' in front";
    if fits { Ok(()) } else { misfit("is no name of a volume group", why, "vg0") }
}

/// A folder of a host, written in the one way that there is: two that are the same are the same text.
pub fn folder(text: &str) -> Fits {
    let Some(normal) = folder::written(text) else {
        let why = "it may hold letters, digits, '/', '.', '_' and '-', and no '..'";
        return misfit("is not a plain path from / on", why, "/srv/eos");
    };
    let is_root = normal == "/";
    if text == normal && !is_root {
        return Ok(());
    }
    let instead = if is_root { "/srv/eos".to_owned() } else { normal };
    let why = "one folder is written in one way, so that nobody keeps data in it twice";
    Err(Misfit { problem: "is not written the shortest way", why, instead })
}

/// A folder that holds a volume and nothing else.
pub fn volume_folder(text: &str) -> Fits {
    if folder::is_of_the_system(text) {
        let why = "a volume gets an owner of its own, and goes with all that is in it";
        return misfit("is a folder of the system", why, "/srv/eos/crm/data");
    }
    folder(text)
}

/// The id of a Nomad job, which is a part of paths.
pub fn job(text: &str) -> Fits {
    let is_odd = |c: char| c.is_whitespace() || c.is_control();
    let is_part = |part: &str| !part.is_empty() && part != "." && part != "..";
    if !text.contains(is_odd) && text.len() <= 128 && text.split('/').all(is_part) {
        return Ok(());
    }
    misfit("is no id of a job", "it becomes part of paths in Nomad, and has no blanks", "production-crm")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_fits_and_what_does_not() {
        type Case<'t> = (fn(&str) -> Fits, &'t [&'t str], &'t [&'t str]);
        let cases: &[Case<'_>] = &[
            (
                address,
                &["10.0.0.5", "fd00::5", "db1", "db_1.example.org"],
                &["", "10.0.0.300", "10.0.0.300/x y", "a..b", "-a", "db1:22", "a b"],
            ),
            (node, &["n1", "web-1.example"], &["a,b ${x}", ""]),
            (connection, &["masterless", "minion"], &["ssh", ""]),
            (
                volume_group,
                &["vg0", "data-vg", "a+b_c.d"],
                &["", ".", "..", "-vg", "vg; touch x", "a/b", "a:b"],
            ),
            (
                folder,
                &["/srv", "/srv/eos", "/tank/apps-1"],
                &["", "/", "//", "srv", "/srv/", "/srv//x", "/srv/./x", "/a/../b", "/a b"],
            ),
            (
                volume_folder,
                &["/srv/crm", "/data", "/srv/eos/production/a/data"],
                &["/", "//", "/.", "/etc", "/var/lib", "/srv", "/dev/x", "/srv//x"],
            ),
            (
                job,
                &["production-crm", "team/web", "a.b_c~d"],
                &["", "we ird/../job\n", "a b", "/a", "a//b", "../a"],
            ),
        ];
        for (fits, good, bad) in cases {
            good.iter().for_each(|text| assert_eq!(fits(text), Ok(()), "{text}"));
            bad.iter().for_each(|text| assert!(fits(text).is_err(), "{text:?}"));
        }
        assert_eq!(folder("/srv/./x//y/").unwrap_err().instead, "/srv/x/y");
    }
}
