//! Logs of a child: files instead of pipes, because a child that outlives us would die of a broken pipe.

use std::io::{Read, Seek, SeekFrom};

use camino::Utf8Path;
use fs_err::os::unix::fs::OpenOptionsExt as _;

/// As much of stderr as is kept.
const STDERR_KEPT: u64 = 16 * 1024;

/// Makes an empty file that only we may read, whatever stood there.
pub(crate) fn create(path: &Utf8Path) -> std::io::Result<std::fs::File> {
    match fs_err::remove_file(path) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => return Err(error),
        _ => {}
    }
    let file = fs_err::OpenOptions::new().write(true).create_new(true).mode(0o600).open(path)?;
    Ok(file.into_parts().0)
}

/// Follows a log that is being written, line by line. A line without its end is kept until the rest comes.
pub(crate) struct LogReader {
    file: fs_err::File,
    pending: Vec<u8>,
}

impl LogReader {
    pub fn open(path: &Utf8Path) -> std::io::Result<LogReader> {
        Ok(LogReader { file: fs_err::File::open(path)?, pending: Vec::new() })
    }

    /// Hands over every line that is complete by now.
    pub fn read(&mut self, on_line: &mut dyn FnMut(&str)) -> std::io::Result<()> {
        let old = self.pending.len();
        if self.file.read_to_end(&mut self.pending)? == 0 {
            return Ok(());
        }
        // What was pending has no line end in it: only the new part is searched.
        let Some(last) = self.pending[old..].iter().rposition(|byte| *byte == b'\n') else { return Ok(()) };
        let rest = self.pending.split_off(old + last + 1);
        let lines = std::mem::replace(&mut self.pending, rest);
        for line in lines.split(|byte| *byte == b'\n').filter(|line| !line.is_empty()) {
            on_line(&String::from_utf8_lossy(line));
        }
        Ok(())
    }

    /// The rest, when nobody writes any more.
    pub fn finish(mut self, on_line: &mut dyn FnMut(&str)) -> std::io::Result<()> {
        self.read(on_line)?;
        if !self.pending.is_empty() {
            on_line(&String::from_utf8_lossy(&self.pending));
        }
        Ok(())
    }
}

/// The end of a file, from a line start on when it is long.
pub(crate) fn tail(path: &Utf8Path) -> std::io::Result<String> {
    let mut file = fs_err::File::open(path)?;
    let length = file.metadata()?.len();
    file.seek(SeekFrom::Start(length.saturating_sub(STDERR_KEPT)))?;
    let mut bytes = Vec::new();
    file.take(STDERR_KEPT).read_to_end(&mut bytes)?;
    Ok(keep_end(&bytes))
}

/// The same for bytes at hand.
pub(crate) fn keep_end(bytes: &[u8]) -> String {
    let long = bytes.len() as u64 >= STDERR_KEPT;
    let kept = &bytes[bytes.len().saturating_sub(STDERR_KEPT as usize)..];
    let start = match kept.iter().position(|byte| *byte == b'\n') {
        Some(position) if long => position + 1,
        _ => 0,
    };
    String::from_utf8_lossy(&kept[start..]).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use camino::Utf8PathBuf;
    use std::io::Write;

    #[test]
    fn lines_come_whole_however_they_are_written() {
        let folder = tempfile::tempdir().unwrap();
        let path = Utf8PathBuf::try_from(folder.path().join("log")).unwrap();
        let mut writer = create(&path).unwrap();
        let mut reader = LogReader::open(&path).unwrap();
        let mut lines = Vec::new();
        for part in ["on", "e\ntwo\n\nth", "", "ree\nä".as_bytes().escape_ascii().to_string().as_str()] {
            writer.write_all(part.as_bytes()).unwrap();
            reader.read(&mut |line| lines.push(line.to_owned())).unwrap();
        }
        assert_eq!(lines, ["one", "two"]);
        writer.write_all(b"\nlast").unwrap();
        reader.finish(&mut |line| lines.push(line.to_owned())).unwrap();
        assert_eq!(lines[2..], ["three\\n\\xc3\\xa4", "last"]);
    }

    #[test]
    fn only_the_end_of_a_long_stderr_is_kept_and_it_starts_with_a_line() {
        let folder = tempfile::tempdir().unwrap();
        let path = Utf8PathBuf::try_from(folder.path().join("log")).unwrap();
        let mut writer = create(&path).unwrap();
        for number in 0..10_000 {
            writeln!(writer, "line {number}").unwrap();
        }
        let kept = tail(&path).unwrap();
        assert!(
            kept.len() as u64 <= STDERR_KEPT && kept.starts_with("line ") && kept.ends_with("line 9999\n")
        );
        assert_eq!(keep_end(&std::fs::read(&path).unwrap()), kept);
        assert_eq!(keep_end(b"short\n"), "short\n");
    }
}
