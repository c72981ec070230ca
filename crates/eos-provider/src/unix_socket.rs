//! Unix sockets: connecting without ever waiting, and folders that processes which were killed have left.

use std::io::ErrorKind;
use std::os::unix::net::UnixStream;
use std::path::Path;

use rustix::net::{AddressFamily, SocketAddrUnix, SocketFlags, SocketType, connect, socket_with};

/// A connection, or an error at once: a listener that accepts nobody any more would hold up a connection.
pub fn connect_at_once(path: &Path) -> std::io::Result<UnixStream> {
    let flags = SocketFlags::CLOEXEC | SocketFlags::NONBLOCK;
    let socket = socket_with(AddressFamily::UNIX, SocketType::STREAM, flags, None)?;
    connect(&socket, &SocketAddrUnix::new(path)?)?;
    let stream = UnixStream::from(socket);
    stream.set_nonblocking(false)?;
    Ok(stream)
}

/// Removes what processes that are no more have left in `parent`: folders called `prefix…` on whose `socket` nobody
/// listens. Those of other people cannot be entered; one that may not go yet is left for the next time.
pub fn sweep(parent: &Path, prefix: &str, socket: &str, may_go: impl Fn(&Path) -> bool) {
    for entry in std::fs::read_dir(parent).into_iter().flatten().flatten() {
        let folder = entry.path();
        let ours = entry.file_name().to_string_lossy().starts_with(prefix);
        let refused = |error: std::io::Error| error.kind() == ErrorKind::ConnectionRefused;
        if ours && connect_at_once(&folder.join(socket)).is_err_and(refused) && may_go(&folder) {
            // Somebody else may be sweeping too.
            let _ = std::fs::remove_dir_all(&folder);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::net::UnixListener;

    use super::*;

    const SOCKET: &str = "its.sock";

    #[test]
    fn only_folders_nobody_listens_in_are_swept() {
        let parent = tempfile::tempdir().unwrap();
        let folder = |name: &str| {
            let folder = parent.path().join(name);
            std::fs::create_dir(&folder).unwrap();
            folder
        };
        let live = UnixListener::bind(folder("ours-live").join(SOCKET)).unwrap();
        for dead in ["ours-dead", "ours-busy"] {
            drop(UnixListener::bind(folder(dead).join(SOCKET)).unwrap());
        }
        // This one has made its folder, and not its socket yet.
        folder("ours-new");
        drop(UnixListener::bind(folder("other-dead").join(SOCKET)).unwrap());
        sweep(parent.path(), "ours-", SOCKET, |folder| !folder.ends_with("ours-busy"));
        let mut left: Vec<String> = std::fs::read_dir(parent.path())
            .unwrap()
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .collect();
        left.sort();
        assert_eq!(left, ["other-dead", "ours-busy", "ours-live", "ours-new"]);
        drop(live);
    }
}
