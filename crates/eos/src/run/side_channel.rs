//! Where eos hears what tofu has no place for: Nomad's and Salt's own previews, and how far an apply is.
//!
//! A unix socket in a private folder; one connection a message, one line of JSON in it. Whoever speaks is a provider
//! that this process's tofu started: the folder is closed to everybody else.

use std::collections::BTreeMap;
use std::io::{BufRead as _, BufReader, Read as _};
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use serde::Deserialize;
use serde_json::Value as Json;

/// The longest message that is read: a preview of a very large job.
const LONGEST: u64 = 16 << 20;

/// What the private folders are called, and the socket in them.
const PREFIX: &str = "eos-side-";
const SOCKET: &str = "side";

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Kind {
    Preview,
    Progress,
    Log,
}

#[derive(Debug, Clone, Deserialize)]
pub struct Message {
    /// The resource's name attribute: `production/grafana/job`.
    pub name: String,
    pub kind: Kind,
    pub text: String,
    /// For eos itself; a person is shown the text.
    #[serde(default)]
    pub details: Json,
}

type Listener = Box<dyn Fn(&Message) + Send + Sync>;

#[derive(Default)]
struct Heard {
    previews: Mutex<BTreeMap<String, (String, Json)>>,
    listener: Mutex<Option<Listener>>,
}

pub struct SideChannel {
    path: PathBuf,
    heard: Arc<Heard>,
    private: tempfile::TempDir,
}

impl SideChannel {
    pub fn open() -> std::io::Result<SideChannel> {
        let wanted = std::env::temp_dir();
        let parent = eos_provider::parent_of_sockets(Some(&wanted));
        sweep(parent);
        let folder = tempfile::Builder::new().prefix(PREFIX).tempdir_in(parent)?;
        let path = folder.path().join(SOCKET);
        // It gets its name when it listens: between bind and listen another eos, sweeping, would take it for dead.
        let unnamed = folder.path().join("side.new");
        let listener = UnixListener::bind(&unnamed)?;
        std::fs::rename(&unnamed, &path)?;
        let heard = Arc::new(Heard::default());
        let theirs = Arc::clone(&heard);
        std::thread::Builder::new().name("side-channel".into()).spawn(move || {
            for stream in listener.incoming().flatten() {
                hear(&theirs, stream);
            }
        })?;
        Ok(SideChannel { path, heard, private: folder })
    }

    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The private folder it is in.
    pub fn folder(&self) -> &Path {
        self.private.path()
    }

    /// Previews so far, by the resource's name.
    pub fn previews(&self) -> BTreeMap<String, String> {
        let previews = self.heard.previews.lock().unwrap_or_else(PoisonError::into_inner);
        previews.iter().map(|(name, (text, _))| (name.clone(), text.clone())).collect()
    }

    pub fn preview(&self, name: &str) -> Option<String> {
        let previews = self.heard.previews.lock().unwrap_or_else(PoisonError::into_inner);
        previews.get(name).map(|(text, _)| text.clone())
    }

    /// What a preview says in detail; null when there is none.
    pub fn details(&self, name: &str) -> Json {
        let previews = self.heard.previews.lock().unwrap_or_else(PoisonError::into_inner);
        previews.get(name).map(|(_, details)| details.clone()).unwrap_or_default()
    }

    /// Resources whose server did not answer, and which it was.
    pub fn unreached(&self) -> BTreeMap<String, String> {
        let previews = self.heard.previews.lock().unwrap_or_else(PoisonError::into_inner);
        let silent = |(name, (_, details)): (&String, &(String, Json))| {
            Some((name.clone(), details["unreached"].as_str()?.to_owned()))
        };
        previews.iter().filter_map(silent).collect()
    }

    /// Resources for which Nomad has no place as things are, and why.
    pub fn unplaced(&self) -> BTreeMap<String, Vec<String>> {
        let previews = self.heard.previews.lock().unwrap_or_else(PoisonError::into_inner);
        let lines = |details: &Json| -> Vec<String> {
            let lines = details["placement"].as_array().into_iter().flatten();
            lines.filter_map(|line| line.as_str().map(str::to_owned)).collect()
        };
        let found = previews.iter().map(|(name, (_, details))| (name.clone(), lines(details)));
        found.filter(|(_, lines)| !lines.is_empty()).collect()
    }

    /// Hands over progress as it comes.
    pub fn listen(&self, listener: impl Fn(&Message) + Send + Sync + 'static) {
        *self.heard.listener.lock().unwrap_or_else(PoisonError::into_inner) = Some(Box::new(listener));
    }
}

fn hear(heard: &Heard, stream: UnixStream) {
    // One that connects and says nothing must not keep the others waiting.
    let _ = stream.set_read_timeout(Some(Duration::from_secs(2)));
    let mut line = String::new();
    if BufReader::new(stream.take(LONGEST)).read_line(&mut line).is_err() {
        return;
    }
    let Ok(message) = serde_json::from_str::<Message>(&line) else { return };
    if message.kind == Kind::Preview {
        let mut previews = heard.previews.lock().unwrap_or_else(PoisonError::into_inner);
        previews.insert(message.name.clone(), (message.text.clone(), message.details.clone()));
    }
    if let Some(listener) = &*heard.listener.lock().unwrap_or_else(PoisonError::into_inner) {
        listener(&message);
    }
}

/// Removes the folders of an eos that was killed, but for one in which a Salt still finishes what it had begun.
fn sweep(parent: &Path) {
    eos_provider::sweep_sockets(parent, PREFIX, SOCKET, |folder| {
        eos_salt::sweep(folder);
        let mut inside = std::fs::read_dir(folder).into_iter().flatten().flatten();
        !inside.any(|entry| entry.path().is_dir())
    });
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_killed_eos_left_is_swept() {
        let parent = tempfile::tempdir().unwrap();
        // The second has a folder of a Salt that may be at work.
        for name in ["eos-side-dead", "eos-side-salt"] {
            let folder = parent.path().join(name);
            std::fs::create_dir(&folder).unwrap();
            drop(UnixListener::bind(folder.join(SOCKET)).unwrap());
        }
        std::fs::create_dir(parent.path().join("eos-side-salt/eos-salt-busy")).unwrap();
        sweep(parent.path());
        let left = |name: &str| parent.path().join(name).exists();
        assert_eq!((left("eos-side-dead"), left("eos-side-salt")), (false, true));
    }
}
