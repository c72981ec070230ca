//! Folders of a host: the one way to write each, and those that are the system's own.

/// The system's own.
const SYSTEM: &[&str] = &[
    "/bin",
    "/boot",
    "/dev",
    "/etc",
    "/home",
    "/lib",
    "/lib32",
    "/lib64",
    "/libx32",
    "/media",
    "/mnt",
    "/opt",
    "/proc",
    "/root",
    "/run",
    "/sbin",
    "/srv",
    "/sys",
    "/tmp",
    "/usr",
    "/var",
    "/usr/bin",
    "/usr/lib",
    "/usr/local",
    "/usr/sbin",
    "/usr/share",
    "/var/cache",
    "/var/lib",
    "/var/lib/dpkg",
    "/var/log",
    "/var/spool",
    "/var/tmp",
];
/// Where no folder is anybody's to keep data in.
const NEVER_IN: &[&str] = &["/boot/", "/dev/", "/proc/", "/sys/"];

/// A plain path from / on, written the shortest way: two that are the same are the same text. None for what is no such path.
pub fn written(text: &str) -> Option<String> {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "/._-".contains(c);
    if !text.starts_with('/') || !text.chars().all(is_plain) {
        return None;
    }
    let parts: Vec<&str> = text.split('/').filter(|part| !part.is_empty() && *part != ".").collect();
    (!parts.contains(&"..")).then(|| format!("/{}", parts.join("/")))
}

/// Whether a folder, however it is written, is not for anybody's data: what is put there takes the place of the system's.
pub fn is_of_the_system(text: &str) -> bool {
    written(text).is_some_and(|folder| {
        folder == "/"
            || SYSTEM.contains(&folder.as_str())
            || NEVER_IN.iter().any(|system| folder.starts_with(system))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_of_the_system_is_one_however_it_is_written() {
        for folder in ["/", "//", "/.", "/etc", "/etc/", "/usr//lib", "/./var", "/dev/shm", "/home"] {
            assert!(is_of_the_system(folder), "{folder}");
        }
        for folder in ["/data", "/home/kim", "/mnt/cephfs", "/srv/db", "/etcetera", "/var/lib/crm", "etc", ""]
        {
            assert!(!is_of_the_system(folder), "{folder}");
        }
        assert_eq!(written("/srv/./x//y/").as_deref(), Some("/srv/x/y"));
        assert_eq!((written("/a/../b"), written("srv"), written("/a b")), (None, None, None));
    }
}
