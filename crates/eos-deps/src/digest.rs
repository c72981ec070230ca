//! SHA-256 of files and of trees, and the `SHA256SUMS` format.

use std::io::{self, Read, Write};

use camino::Utf8Path;
use sha2::{Digest, Sha256};

/// Hashes what is written through it.
pub(crate) struct HashingWriter<W> {
    inner: W,
    hasher: Sha256,
}

impl<W: Write> HashingWriter<W> {
    pub fn new(inner: W) -> HashingWriter<W> {
        HashingWriter { inner, hasher: Sha256::new() }
    }

    pub fn finish(self) -> (W, String) {
        (self.inner, hex(&self.hasher.finalize()))
    }
}

impl<W: Write> Write for HashingWriter<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let written = self.inner.write(bytes)?;
        self.hasher.update(&bytes[..written]);
        Ok(written)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.inner.flush()
    }
}

/// The sum of a file, in lower case hexadecimal.
pub(crate) fn of_file(path: &Utf8Path) -> io::Result<String> {
    let mut file = fs_err::File::open(path)?;
    let mut hasher = Sha256::new();
    let mut buffer = vec![0; 1 << 18];
    loop {
        match file.read(&mut buffer)? {
            0 => return Ok(hex(&hasher.finalize())),
            length => hasher.update(&buffer[..length]),
        }
    }
}

/// One sum for a directory: every file's path and content, every link's target.
///
/// Left out are compiled Python files, which Python writes when it runs, and our own record at the top. So it finds
/// damage and meddling with sources, not an attacker who may write to the cache anyway.
pub(crate) fn of_tree(root: &Utf8Path, record: &str) -> io::Result<String> {
    let mut hasher = Sha256::new();
    let mut directories = vec![root.to_owned()];
    let mut files = Vec::new();
    while let Some(directory) = directories.pop() {
        for entry in directory.read_dir_utf8()? {
            let entry = entry?;
            let kind = entry.file_type()?;
            if kind.is_dir() {
                if entry.file_name() != "__pycache__" {
                    directories.push(entry.path().to_owned());
                }
            } else if directory != root || entry.file_name() != record {
                files.push((entry.path().to_owned(), kind.is_symlink()));
            }
        }
    }
    files.sort();
    for (path, is_link) in files {
        let name = path.strip_prefix(root).unwrap_or(&path);
        let content = if is_link { format!("-> {}", path.read_link_utf8()?) } else { of_file(&path)? };
        hasher.update(format!("{content}  {name}\n"));
    }
    Ok(hex(&hasher.finalize()))
}

/// The sum a `SHA256SUMS` text gives for a file: lines of sum, blank, optional `*`, file name.
pub(crate) fn listed<'a>(sums: &'a str, file_name: &str) -> Option<&'a str> {
    sums.lines().find_map(|line| {
        let (sum, name) = line.trim_end().split_once(char::is_whitespace)?;
        let name = name.trim_start().trim_start_matches('*').trim_start_matches("./");
        (name == file_name && is_sum(sum)).then_some(sum)
    })
}

pub(crate) fn is_sum(text: &str) -> bool {
    text.len() == 64 && text.chars().all(|c| c.is_ascii_hexdigit())
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sums_are_listed_by_exact_name() {
        let sum = "ab".repeat(32);
        let text = format!("{sum}  tofu.zip\n{} *./other.zip\nshort  bad.zip\n", sum.to_uppercase());
        assert_eq!(listed(&text, "tofu.zip"), Some(sum.as_str()));
        assert_eq!(listed(&text, "other.zip").unwrap(), sum.to_uppercase());
        assert_eq!(listed(&text, "tofu"), None);
        assert_eq!(listed(&text, "bad.zip"), None);
    }

    #[test]
    fn a_tree_changes_with_any_file_but_not_with_compiled_python() {
        let directory = tempfile::tempdir().unwrap();
        let root = Utf8Path::from_path(directory.path()).unwrap();
        fs_err::create_dir_all(root.join("a/__pycache__")).unwrap();
        fs_err::write(root.join("a/x.py"), "1").unwrap();
        let before = of_tree(root, "installed.json").unwrap();
        fs_err::write(root.join("a/__pycache__/x.pyc"), "compiled").unwrap();
        fs_err::write(root.join("installed.json"), "{}").unwrap();
        assert_eq!(of_tree(root, "installed.json").unwrap(), before);
        fs_err::write(root.join("a/x.py"), "2").unwrap();
        assert_ne!(of_tree(root, "installed.json").unwrap(), before);
    }

    #[test]
    fn the_sum_of_nothing_is_the_known_one() {
        let (_, sum) = HashingWriter::new(io::sink()).finish();
        assert_eq!(sum, "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
    }
}
