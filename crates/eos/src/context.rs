//! What the process brings along: where it runs, who runs it, when, and how output should look.

use std::collections::BTreeMap;
use std::io::{IsTerminal as _, Write as _};
use std::time::{SystemTime, UNIX_EPOCH};

use camino::Utf8PathBuf;
use eos_model::{Diagnostic, Diagnostics, codes};

use crate::secret_lines;
use crate::views::{diagnostics, table};

/// The words of a variable that says yes or no.
const YES: [&str; 4] = ["yes", "1", "true", "on"];
const NO: [&str; 4] = ["no", "0", "false", "off"];

/// Read once at the start; nothing below reads the environment again.
pub struct Context {
    pub directory: Utf8PathBuf,
    /// What was read as the value of `-C` before the arguments were parsed for good.
    pub said_directory: Option<String>,
    pub json: bool,
    pub color_stdout: bool,
    pub color_stderr: bool,
    /// Somebody is there to answer.
    pub interactive: bool,
    pub stderr_is_terminal: bool,
    /// Columns of the terminal, at most 100.
    pub width: usize,
    /// Columns for tables: the whole terminal, or [`table::IN_A_PIPE`], where a cell is never cut.
    pub table_width: usize,
    pub user: String,
    pub machine: String,
    /// What tells this machine from all others, as far as it has such a thing.
    pub machine_id: String,
    /// Seconds since 1970, UTC.
    pub now: i64,
    /// For an estate that is made, in place of a random one; "none" for none.
    pub estate_id: Option<String>,
    pub cache_folder: Utf8PathBuf,
    pub data_folder: Utf8PathBuf,
    pub tools_bundle: Option<Utf8PathBuf>,
    /// Stands in for the official releases, as a mirror does.
    pub release_base: Option<String>,
    /// EOS_OFFLINE=yes: tools come from the PATH, the cache and the bundle only. Whoever says another word than a no wanted
    /// the network left alone, too.
    pub offline: bool,
    pub search_path: Vec<Utf8PathBuf>,
    pub identity_file: Utf8PathBuf,
    /// This program, which is its own provider and key program.
    pub binary: Utf8PathBuf,
    /// EOS_APPLY: with no, record and compile only, as `--no-apply` says for one command.
    pub apply: Option<String>,
    /// EOS_TEST_STOP_AFTER: the record of the journal after which this process stops itself, so that a test can kill at that
    /// very moment. Debug builds only.
    pub stop_after: Option<u32>,
    /// Addresses and credentials for providers; each child gets what its own providers read.
    pub given: BTreeMap<String, String>,
    /// How the network is reached from here; for getting providers alone.
    pub network: BTreeMap<String, String>,
}

impl Context {
    /// Prints data before the command is over: a plan is read before it is agreed to.
    pub fn say(&self, text: &str) {
        if !self.json {
            let mut stdout = std::io::stdout();
            let _ = stdout.write_all(text.as_bytes());
            let _ = stdout.flush();
        }
    }

    /// Whether commands apply what they record, by EOS_APPLY. Another word than those known may mean either: nothing is done.
    pub fn applies(&self) -> Result<bool, Diagnostic> {
        let Some(word) = &self.apply else { return Ok(true) };
        match (is_one_of(&YES, word), is_one_of(&NO, word)) {
            (true, _) => Ok(true),
            (_, true) => Ok(false),
            _ => {
                let message = format!("EOS_APPLY is {word:?}, a word that eos does not know");
                let (yes, no) = (YES[1..].join(", "), NO[1..].join(", "));
                Err(Diagnostic::error(codes::USAGE, message)
                    .why("it says whether commands apply what they record, which eos does not guess")
                    .fix(format!("export EOS_APPLY=no (or {no}); or export EOS_APPLY=yes (or {yes})")))
            }
        }
    }

    /// What is done in a folder without a name as text would be done in another one.
    pub fn refuse_unnamed_directory(&self) -> Result<(), Diagnostic> {
        if self.directory.is_absolute() {
            return Ok(());
        }
        Err(Diagnostic::error(
            codes::NOT_UTF8,
            "the folder that eos runs in has a name that is not UTF-8 text",
        )
        .why("eos could not speak of it, nor write it down")
        .fix("rename it (ls -b .. shows it), or say which folder is meant: eos -C <folder>"))
    }

    /// Says what was noticed before the command is over, as it is said at its end.
    pub fn tell(&self, found: &Diagnostics) {
        if !self.json {
            let mut found = found.clone();
            secret_lines::blank(self, &mut found);
            let text = diagnostics::render(&found, self.width, self.color_stderr);
            let _ = std::io::stderr().write_all(text.as_bytes());
        }
    }

    pub fn from_process(words: &[String]) -> Context {
        let variable = |name: &str| std::env::var(name).ok().filter(|value| !value.is_empty());
        let home = variable("HOME").unwrap_or_else(|| "/".to_owned());
        let folder = |name: &str, below: &str| {
            Utf8PathBuf::from(variable(name).unwrap_or_else(|| format!("{home}/{below}"))).join("eos")
        };
        let start =
            Utf8PathBuf::from_path_buf(std::env::current_dir().unwrap_or_default()).unwrap_or_default();
        let said = value_of(words, &["-C", "--directory"], |folder| start.join(folder).is_dir());
        let said_directory = said.map(str::to_owned);
        let directory = said.map_or_else(|| start.clone(), |other| resolved(start.join(other)));
        let colorful = variable("NO_COLOR").is_none() && variable("TERM").is_none_or(|term| term != "dumb");
        let stdout_is_terminal = std::io::stdout().is_terminal();
        let stderr_is_terminal = std::io::stderr().is_terminal();
        let name = rustix::system::uname();
        let config_folder = folder("XDG_CONFIG_HOME", ".config");
        Context {
            json: words.iter().take_while(|word| *word != "--").any(|word| word == "--json"),
            color_stdout: colorful && stdout_is_terminal,
            color_stderr: colorful && stderr_is_terminal,
            interactive: std::io::stdin().is_terminal() && stderr_is_terminal,
            stderr_is_terminal,
            table_width: if stdout_is_terminal {
                terminal_width().unwrap_or(100).max(40)
            } else {
                table::IN_A_PIPE
            },
            width: terminal_width().unwrap_or(100).clamp(40, 100),
            user: variable("SUDO_USER")
                .or_else(|| variable("USER"))
                .or_else(|| variable("LOGNAME"))
                .unwrap_or_else(account_name),
            machine_id: machine_id(&name.nodename().to_string_lossy()),
            machine: name.nodename().to_string_lossy().into_owned(),
            now: variable("EOS_TIME").and_then(|text| text.parse().ok()).unwrap_or_else(now),
            estate_id: variable("EOS_ESTATE_ID"),
            identity_file: variable("EOS_IDENTITY")
                .map_or_else(|| config_folder.join("identity.txt"), Utf8PathBuf::from),
            cache_folder: folder("XDG_CACHE_HOME", ".cache"),
            data_folder: folder("XDG_DATA_HOME", ".local/share"),
            tools_bundle: variable("EOS_TOOLS_BUNDLE").map(Utf8PathBuf::from),
            release_base: variable("EOS_RELEASE_BASE"),
            offline: variable("EOS_OFFLINE").is_some_and(|word| !is_one_of(&NO, &word)),
            search_path: variable("PATH").unwrap_or_default().split(':').map(Utf8PathBuf::from).collect(),
            binary: std::env::current_exe()
                .ok()
                .and_then(|path| Utf8PathBuf::from_path_buf(path).ok())
                .unwrap_or_else(|| "eos".into()),
            apply: variable("EOS_APPLY"),
            stop_after: variable("EOS_TEST_STOP_AFTER")
                .filter(|_| cfg!(debug_assertions))
                .and_then(|text| text.parse().ok()),
            given: eos_secrets::credentials::variables()
                .filter_map(|name| Some((name.to_owned(), variable(name)?)))
                .collect(),
            network: network(variable),
            directory,
            said_directory,
        }
    }
}

/// The folder as `cd` would have it, without `..` and links: an estate is looked for above it by its name. One that is not
/// there keeps its name, to be told; one without a name as text has none.
fn resolved(said: Utf8PathBuf) -> Utf8PathBuf {
    match fs_err::canonicalize(&said) {
        Ok(folder) => Utf8PathBuf::from_path_buf(folder).unwrap_or_default(),
        Err(_) => said,
    }
}

/// How the person's programs get to the network: through which proxies, and whose certificates count. Nothing secret: a
/// proxy with a password in its address is not among them.
fn network(variable: impl Fn(&str) -> Option<String>) -> BTreeMap<String, String> {
    const PROXIES: [&str; 6] =
        ["HTTPS_PROXY", "HTTP_PROXY", "NO_PROXY", "http_proxy", "https_proxy", "no_proxy"];
    const AUTHORITIES: [&str; 2] = ["SSL_CERT_DIR", "SSL_CERT_FILE"];
    let said =
        PROXIES.iter().chain(&AUTHORITIES).filter_map(|name| Some(((*name).to_owned(), variable(name)?)));
    said.filter(|(name, value)| AUTHORITIES.contains(&name.as_str()) || !value.contains('@')).collect()
}

fn is_one_of(known: &[&str], word: &str) -> bool {
    known.contains(&word.to_lowercase().as_str())
}

/// systemd's id where there is one; a name must do elsewhere.
fn machine_id(name: &str) -> String {
    let id = fs_err::read_to_string("/etc/machine-id").unwrap_or_default();
    if id.trim().is_empty() { name.to_owned() } else { id.trim().to_owned() }
}

fn now() -> i64 {
    SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .map_or(0, |since| since.as_secs().try_into().unwrap_or(i64::MAX))
}

/// The account's name, or its number.
fn account_name() -> String {
    eos_engine::account_name().unwrap_or_else(|| format!("uid-{}", rustix::process::getuid().as_raw()))
}

fn terminal_width() -> Option<usize> {
    rustix::termios::tcgetwinsize(std::io::stderr())
        .ok()
        .map(|size| usize::from(size.ws_col))
        .filter(|width| *width > 0)
}

/// The value of a flag in either form, before arguments are parsed for good. What stands behind another flag may be that
/// one's value, a secret even: it counts where it is `known`.
pub fn value_of<'w>(words: &'w [String], flags: &[&str], known: impl Fn(&str) -> bool) -> Option<&'w str> {
    let mut words = words.iter().take_while(|word| *word != "--");
    let mut before = "";
    while let Some(word) = words.next() {
        let may_be_a_value =
            before.starts_with("--") && !before.contains('=') && !STAND_ALONE.contains(&before);
        for flag in flags {
            if word == flag {
                return words.next().map(String::as_str);
            }
            let Some(rest) = word.strip_prefix(flag) else { continue };
            // `--env=staging`; of a short flag also `-estaging`.
            let value = match rest.strip_prefix('=') {
                None if flag.starts_with("--") => continue,
                value => value.unwrap_or(rest),
            };
            if !may_be_a_value || known(value) {
                return Some(value);
            }
        }
        before = word;
    }
    None
}

/// Flags without a value that other flags often stand behind.
const STAND_ALONE: [&str; 6] = ["--dry-run", "--help", "--json", "--no-apply", "--version", "--yes"];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_value_of_a_flag_is_not_that_of_another() {
        let words = |line: &str| line.split(' ').map(str::to_owned).collect::<Vec<_>>();
        let env = |line: &str| {
            let is_known = |env: &str| env == "staging";
            value_of(&words(line), &["-e", "--env"], is_known).map(str::to_owned)
        };
        for line in ["list -estaging", "update x --sso -estaging", "list --env=staging", "-e staging list"] {
            assert_eq!(env(line).as_deref(), Some("staging"), "{line}");
        }
        assert_eq!(env("update x --password -e5xyzSECRET"), None);
        assert_eq!(env("update x --password --env=SECRET -e staging").as_deref(), Some("staging"));
        assert_eq!(env("list --json -eother").as_deref(), Some("other"), "a wrong one is told");
        assert_eq!(env("list -- -estaging"), None);
    }
}
