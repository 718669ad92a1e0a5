//! Sources of the master keys: a file that only its owner may read, or the environment. The keys are never stored in
//! the data folder, so that a copy of the data alone cannot be decrypted.

use std::fs::{self, File, OpenOptions};
use std::io::{ErrorKind, Write as _};
use std::os::unix::fs::{OpenOptionsExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};

use crate::key::{KeyError, MasterKey};
use zeroize::Zeroizing;

use tillgate_os::text_file::read_text_file;

/// Largest size of a key file, in bytes.
const MAX_FILE: u64 = 1024 * 1024;

/// A source of master keys.
#[derive(Debug, Clone)]
pub enum KeySource {
    /// A file with one key per line. A running server reloads it when the store's keys change.
    File(PathBuf),
    /// The name of an environment variable. A process sees only the value from its start.
    Variable(&'static str),
}

impl KeySource {
    /// Reads the keys. Returns `None` if the file does not exist.
    ///
    /// # Errors
    /// If the text is malformed or contains a key twice, the environment variable is not set, other users may read the
    /// file, or the file cannot be read.
    pub fn read_keys(&self) -> Result<Option<Vec<MasterKey>>, KeyError> {
        match self {
            Self::Variable(name) => {
                let text = Zeroizing::new(std::env::var(name).unwrap_or_default());
                MasterKey::parse_list(&text, name).map(Some)
            }
            Self::File(path) => {
                let file_error = |error| KeyError::File(path.clone(), error);
                let text = match read_text_file(path, MAX_FILE).map_err(std::io::Error::from) {
                    Ok(text) => text,
                    Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
                    Err(error) => return Err(file_error(error)),
                };
                if fs::metadata(path).map_err(file_error)?.permissions().mode() & 0o077 != 0 {
                    return Err(KeyError::Permissions(path.clone()));
                }
                MasterKey::parse_list(&text, &path.display().to_string()).map(Some)
            }
        }
    }

    /// Creates the file, readable only by its owner, with one new random key. Returns that key. Fails if the file
    /// exists.
    ///
    /// # Errors
    /// If the file cannot be created, or there are no random bytes.
    pub fn create_file(path: &Path) -> Result<Vec<MasterKey>, KeyError> {
        let keys = vec![MasterKey::random()?];
        let options = OpenOptions::new().write(true).create_new(true).mode(0o600).clone();
        write_keys(&options, path, &keys).map_err(|error| KeyError::File(path.to_owned(), error))?;
        Ok(keys)
    }

    /// Replaces the file atomically and durably by one with these keys, readable only by its owner: after a crash,
    /// either the old or the new file exists. Writes a file with the suffix `.new` first, which stays after a failure.
    ///
    /// # Errors
    /// If the file cannot be replaced.
    pub fn replace_file(path: &Path, keys: &[MasterKey]) -> Result<(), KeyError> {
        let mut temporary = path.as_os_str().to_owned();
        temporary.push(".new");
        let options = OpenOptions::new().write(true).create(true).truncate(true).mode(0o600).clone();
        let written = write_keys(&options, Path::new(&temporary), keys).and_then(|()| fs::rename(&temporary, path));
        let folder = path.parent().unwrap_or(Path::new("/"));
        written.and_then(|()| File::open(folder)?.sync_all()).map_err(|error| KeyError::File(path.to_owned(), error))
    }
}

impl std::fmt::Display for KeySource {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::File(path) => path.display().fmt(f),
            Self::Variable(name) => f.write_str(name),
        }
    }
}

/// Opens the file with these options, writes one key per line, and makes the content durable.
fn write_keys(options: &OpenOptions, path: &Path, keys: &[MasterKey]) -> std::io::Result<()> {
    let mut file = options.open(path)?;
    for key in keys {
        let line = key.to_hex();
        file.write_all(line.as_bytes())?;
        file.write_all(b"\n")?;
    }
    file.sync_all()
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn a_key_file_is_made_for_its_owner_only_and_replaced_as_a_whole() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("tillgate.key");
        let source = KeySource::File(path.clone());
        assert!(source.read_keys().unwrap().is_none());
        let created = KeySource::create_file(&path).unwrap();
        assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
        assert_eq!(source.read_keys().unwrap().unwrap()[0].id(), created[0].id());
        assert!(KeySource::create_file(&path).is_err(), "an existing key is never overwritten");
        let two = [MasterKey::random().unwrap(), MasterKey::random().unwrap()];
        KeySource::replace_file(&path, &two).unwrap();
        let ids: Vec<_> = source.read_keys().unwrap().unwrap().iter().map(MasterKey::id).collect();
        assert_eq!(ids, [two[0].id(), two[1].id()]);
        assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
    }

    #[test]
    fn a_key_file_that_others_may_read_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("tillgate.key");
        KeySource::create_file(&path).unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o640)).unwrap();
        assert!(matches!(KeySource::File(path).read_keys(), Err(KeyError::Permissions(_))));
    }
}
