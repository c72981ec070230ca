//! How tofu finds providers: eos itself as `eos.local/eos/eos` from a mirror of links, others offline where they are at
//! hand, the rest from their registry.

use std::collections::{BTreeMap, BTreeSet};

use camino::{Utf8Path, Utf8PathBuf};

use crate::files::{identity, link, private_folder, put};
use crate::{Places, TofuError};

/// The registries that a provider without a host in its source belongs to: tofu's and terraform's.
const REGISTRIES: [&str; 2] = ["registry.opentofu.org", "registry.terraform.io"];

/// What an installation is made of.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct InstallationSettings {
    /// The binary that serves as the eos provider; none when no unit needs it.
    pub eos_binary: Option<Utf8PathBuf>,
    /// Single provider programs at hand, such as those of the tool cache.
    pub providers: Vec<OfflineProvider>,
    /// Further filesystem mirrors: folders with `<registry host>/<namespace>/<type>/<version>/<platform>/`. A provider
    /// that is found there is offered to tofu and to terraform alike, and is never looked for at its registry.
    pub mirrors: Vec<Utf8PathBuf>,
    /// The minimal PATH of a child.
    pub search_path: String,
    /// Variables that `init` alone gets: how registries are reached from here.
    pub network: BTreeMap<String, String>,
}

/// A provider's program: `hetznercloud/hcloud`, 1.68.0, and where it is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OfflineProvider {
    pub namespace: String,
    pub kind: String,
    pub version: String,
    pub binary: Utf8PathBuf,
}

/// A mirror, a CLI configuration and a plugin cache that are in place.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Installation {
    pub(crate) places: Places,
    pub(crate) search_path: String,
    pub(crate) network: BTreeMap<String, String>,
    /// Changes when a provider may resolve to something else.
    pub(crate) stamp: String,
}

impl Installation {
    /// Writes what is missing or different; may be called by several processes at once.
    pub fn write(places: &Places, settings: &InstallationSettings) -> Result<Installation, TofuError> {
        let staging = places.staging();
        for folder in [&staging, &places.mirror(), &places.plugin_cache(), &places.home()] {
            private_folder(folder)?;
        }
        let links = links(settings)?;
        let mirror = places.mirror();
        remove_strays(&mirror, Utf8Path::new(""), &links)?;
        for (path, target) in &links {
            let path = mirror.join(path);
            if let Some(folder) = path.parent() {
                private_folder(folder)?;
            }
            link(&path, target, &staging)?;
        }
        let offered: BTreeSet<String> =
            links.keys().map(|path| path.iter().take(3).collect::<Vec<_>>().join("/")).collect();
        let config = cli_config(&mirror, &offered);
        put(&places.cli_config(), config.as_bytes(), &staging)?;
        let targets: Vec<String> = links.values().map(|target| identity(target)).collect();
        let stamp = format!("{config}\n{}", targets.join("\n"));
        let InstallationSettings { search_path, network, .. } = settings.clone();
        Ok(Installation { places: places.clone(), search_path, network, stamp })
    }

    pub fn cli_config(&self) -> Utf8PathBuf {
        self.places.cli_config()
    }

    pub fn mirror(&self) -> Utf8PathBuf {
        self.places.mirror()
    }

    pub fn root(&self) -> &Utf8Path {
        self.places.root()
    }
}

/// Every link of the mirror, by its path below it.
fn links(settings: &InstallationSettings) -> Result<BTreeMap<Utf8PathBuf, Utf8PathBuf>, TofuError> {
    let mut links = BTreeMap::new();
    for mirror in &settings.mirrors {
        for host in folders_of(mirror)? {
            let offered: &[&str] = match REGISTRIES.iter().position(|registry| *registry == host) {
                Some(_) => &REGISTRIES,
                None => &[host.as_str()],
            };
            for namespace in folders_of(&mirror.join(&host))? {
                for kind in folders_of(&mirror.join(&host).join(&namespace))? {
                    let below = Utf8Path::new(&namespace).join(&kind);
                    // A version's folder, or an archive in the packed layout.
                    for entry in entries_of(&mirror.join(&host).join(&below))? {
                        for registry in offered {
                            let target = mirror.join(&host).join(&below).join(&entry);
                            links.insert(Utf8Path::new(registry).join(&below).join(&entry), target);
                        }
                    }
                }
            }
        }
    }
    for provider in &settings.providers {
        for registry in REGISTRIES {
            let folder = Utf8Path::new(registry).join(&provider.namespace).join(&provider.kind);
            let name = format!("terraform-provider-{}_v{}", provider.kind, provider.version);
            let path = folder.join(&provider.version).join(platform()).join(name);
            // A mirror that has this version offers its whole folder: nothing may be put inside of that.
            if !path.ancestors().any(|above| links.contains_key(above)) {
                links.insert(path, provider.binary.clone());
            }
        }
    }
    if let Some(binary) = &settings.eos_binary {
        let schema = eos_model::provider_schema::provider_schema();
        let source = schema["source"].as_str().unwrap_or("eos.local/eos/eos");
        let version = schema["version"].as_str().unwrap_or("0.1.0");
        let path = format!("{source}/{version}/{}/terraform-provider-eos_v{version}", platform());
        links.insert(path.into(), binary.clone());
    }
    Ok(links)
}

/// Takes away links of an earlier installation, before anything is made: a new link must not be put inside an old one.
fn remove_strays(
    mirror: &Utf8Path,
    below: &Utf8Path,
    links: &BTreeMap<Utf8PathBuf, Utf8PathBuf>,
) -> Result<(), TofuError> {
    for name in entries_of(&mirror.join(below))? {
        let path = below.join(name);
        let full = mirror.join(&path);
        let Ok(found) = std::fs::symlink_metadata(&full) else { continue };
        if found.is_dir() {
            remove_strays(mirror, &path, links)?;
        } else if !links.contains_key(&path) {
            match std::fs::remove_file(&full) {
                Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
                    return Err(TofuError::io(format!("remove {full}"))(error));
                }
                _ => {}
            }
        }
    }
    Ok(())
}

/// This machine's kind as Go names it: `linux_amd64`.
pub fn platform() -> String {
    let system = std::env::consts::OS;
    let machine = match std::env::consts::ARCH {
        "x86_64" => "amd64",
        "aarch64" => "arm64",
        other => other,
    };
    format!("{system}_{machine}")
}

fn entries_of(folder: &Utf8Path) -> Result<Vec<String>, TofuError> {
    let failed = || TofuError::io(format!("read the provider mirror {folder}"));
    let entries = folder.read_dir_utf8().map_err(failed())?;
    entries.map(|entry| Ok(entry.map_err(failed())?.file_name().to_owned())).collect()
}

fn folders_of(folder: &Utf8Path) -> Result<Vec<String>, TofuError> {
    let entries = entries_of(folder)?;
    Ok(entries.into_iter().filter(|name| folder.join(name).is_dir()).collect())
}

/// The CLI configuration. Excluding what the mirror offers keeps an offline machine from asking the registry; excluding our
/// own host always keeps a missing provider from becoming a question to a host that does not exist.
pub fn cli_config(mirror: &Utf8Path, offered: &BTreeSet<String>) -> String {
    let list =
        |names: &BTreeSet<String>| names.iter().map(|name| quoted(name)).collect::<Vec<_>>().join(", ");
    let mut excluded = offered.clone();
    excluded.insert("eos.local/*/*".to_owned());
    let mut text = String::from("# Written by eos for the tofu it runs.\nprovider_installation {\n");
    if !offered.is_empty() {
        text += &format!(
            "  filesystem_mirror {{\n    path    = {}\n    include = [{}]\n  }}\n",
            quoted(mirror.as_str()),
            list(offered)
        );
    }
    text += &format!("  direct {{\n    exclude = [{}]\n  }}\n}}\n", list(&excluded));
    text
}

/// A string of this old form of HCL, in which `${` would start an expression.
fn quoted(text: &str) -> String {
    let escaped = text.replace('\\', "\\\\").replace('"', "\\\"").replace("${", "$${");
    format!("\"{escaped}\"")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mirror_and_single_programs_are_offered_under_both_registries_and_old_links_go() {
        let temporary = tempfile::tempdir().unwrap();
        let root = Utf8PathBuf::try_from(temporary.path().to_owned()).unwrap();
        let given = root.join("given");
        std::fs::create_dir_all(given.join("registry.opentofu.org/hashicorp/aws/6.48.0/linux_amd64"))
            .unwrap();
        std::fs::create_dir_all(given.join("example.org/me/mine/1.0.0/linux_amd64")).unwrap();
        let program = |version: &str| OfflineProvider {
            namespace: "hetznercloud".into(),
            kind: "hcloud".into(),
            version: version.into(),
            binary: root.join("hcloud"),
        };
        let inside =
            OfflineProvider { namespace: "hashicorp".into(), kind: "aws".into(), ..program("6.48.0") };
        let places = Places::new(root.join("estate"));
        let mut settings = InstallationSettings {
            eos_binary: Some(root.join("eos")),
            providers: vec![program("1.67.0")],
            ..InstallationSettings::default()
        };
        let first = Installation::write(&places, &settings).unwrap();
        settings.providers = vec![program("1.68.0"), inside];
        settings.mirrors = vec![given.clone()];
        let second = Installation::write(&places, &settings).unwrap();
        assert_ne!(first.stamp, second.stamp);
        assert_eq!(second, Installation::write(&places, &settings).unwrap());
        let mirror = places.mirror();
        let target = |path: &str| std::fs::read_link(mirror.join(path)).unwrap();
        let platform = platform();
        for registry in REGISTRIES {
            let aws = target(&format!("{registry}/hashicorp/aws/6.48.0"));
            assert_eq!(aws, given.join("registry.opentofu.org/hashicorp/aws/6.48.0"));
            let folder = format!("{registry}/hetznercloud/hcloud");
            let name =
                |version| format!("{folder}/{version}/{platform}/terraform-provider-hcloud_v{version}");
            assert_eq!(target(&name("1.68.0")), root.join("hcloud"));
            assert!(std::fs::symlink_metadata(mirror.join(name("1.67.0"))).is_err());
        }
        assert_eq!(target("example.org/me/mine/1.0.0"), given.join("example.org/me/mine/1.0.0"));
        assert_eq!(
            target(&format!("eos.local/eos/eos/0.1.0/{platform}/terraform-provider-eos_v0.1.0")),
            root.join("eos")
        );
        let below = given.join("registry.opentofu.org/hashicorp/aws/6.48.0/linux_amd64");
        assert_eq!(entries_of(&below).unwrap(), Vec::<String>::new(), "nothing is put into a foreign mirror");
        let config = std::fs::read_to_string(places.cli_config()).unwrap();
        assert!(config.contains("\"registry.terraform.io/hetznercloud/hcloud\""), "{config}");
        assert!(config.contains("exclude = [\"eos.local/*/*\""), "{config}");
    }

    #[test]
    fn a_path_cannot_leave_its_quotes() {
        assert_eq!(quoted("/a\"b\\c${d}"), "\"/a\\\"b\\\\c$${d}\"");
    }
}
