//! Salt on this machine: where its programs are.

use std::path::{Path, PathBuf};

use crate::error::SaltError;

/// Salt's own Python environment.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Installation {
    pub salt_call: PathBuf,
    /// The Python that has Salt's packages, where it lies beside `salt-call`.
    pub python: PathBuf,
}

impl Installation {
    /// From `salt-call` itself, the folder it is in, or the environment whose `bin` it is in.
    pub fn at(path: &Path) -> Result<Installation, SaltError> {
        let candidates = [path.to_owned(), path.join("salt-call"), path.join("bin/salt-call")];
        let salt_call = candidates
            .into_iter()
            .find(|candidate| candidate.is_file())
            .ok_or_else(|| SaltError::NotInstalled { path: path.to_owned() })?;
        let python = salt_call.with_file_name("python3");
        Ok(Installation { salt_call, python })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn found_by_program_folder_or_environment() {
        let folder = tempfile::tempdir().unwrap();
        let program = folder.path().join("bin/salt-call");
        fs_err::create_dir(folder.path().join("bin")).unwrap();
        fs_err::write(&program, "").unwrap();
        for path in [program.as_path(), program.parent().unwrap(), folder.path()] {
            assert_eq!(Installation::at(path).unwrap().salt_call, program);
        }
        let nothing = Installation::at(&folder.path().join("x")).unwrap_err();
        assert!(matches!(nothing, SaltError::NotInstalled { .. }), "{nothing}");
    }
}
