//! Unix sockets: connecting without ever waiting, and folders that processes which were killed have left.

use std::io::ErrorKind;
use std::os::unix::net::UnixStream;
use std::path::Path;

use rustix::net::{AddressFamily, SocketAddrUnix, SocketFlags, SocketType, connect, socket_with};

/// What the provider's own folders are called.
pub const FOLDER_PREFIX: &str = "eos-provider-";
pub const SOCKET_NAME: &str = "provider.sock";

/// A connection, or an error at once: a listener that accepts nobody any more would hold up a connection.
pub fn connect_at_once(path: &Path) -> std::io::Result<UnixStream> {
    let flags = SocketFlags::CLOEXEC | SocketFlags::NONBLOCK;
    let socket = socket_with(AddressFamily::UNIX, SocketType::STREAM, flags, None)?;
    connect(&socket, &SocketAddrUnix::new(path)?)?;
    let stream = UnixStream::from(socket);
    stream.set_nonblocking(false)?;
    Ok(stream)
}

/// Removes the folders of providers that are no more: on their sockets nobody listens. Others' folders cannot be entered.
pub fn sweep(parent: &Path) {
    for entry in std::fs::read_dir(parent).into_iter().flatten().flatten() {
        let ours = entry.file_name().to_string_lossy().starts_with(FOLDER_PREFIX);
        let refused = |error: std::io::Error| error.kind() == ErrorKind::ConnectionRefused;
        if ours && connect_at_once(&entry.path().join(SOCKET_NAME)).is_err_and(refused) {
            // Somebody else may be sweeping too.
            let _ = std::fs::remove_dir_all(entry.path());
        }
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::net::UnixListener;

    use super::*;

    #[test]
    fn only_folders_nobody_listens_in_are_swept() {
        let parent = tempfile::tempdir().unwrap();
        let folder = |name: &str| {
            let folder = parent.path().join(name);
            std::fs::create_dir(&folder).unwrap();
            folder
        };
        let live = UnixListener::bind(folder("eos-provider-live").join(SOCKET_NAME)).unwrap();
        drop(UnixListener::bind(folder("eos-provider-dead").join(SOCKET_NAME)).unwrap());
        // This one has made its folder, and not its socket yet.
        folder("eos-provider-new");
        drop(UnixListener::bind(folder("other-dead").join(SOCKET_NAME)).unwrap());
        sweep(parent.path());
        let mut left: Vec<String> = std::fs::read_dir(parent.path())
            .unwrap()
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .collect();
        left.sort();
        assert_eq!(left, ["eos-provider-live", "eos-provider-new", "other-dead"]);
        drop(live);
    }
}
