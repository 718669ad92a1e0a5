//! Uploaded files between their preview and their import: kept in memory, each for one user and a short time.
//!
//! The bytes that are imported are those that were previewed. They are never written to the disk, because a broken line
//! may have a card number. A restart forgets them, and nothing was promised: the user chooses the file again.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use jiff::{SignedDuration, Timestamp};
use tillgate_domain::id::{EntityId, UserId, to_hex};
use zeroize::Zeroizing;

use super::user_act::UploadedFile;
use crate::{Failure, random_bytes};

/// Largest size of an uploaded file, in bytes.
pub const MAX_UPLOAD: usize = 4 * 1024 * 1024;
/// Largest number of files that are kept at a time, so that uploads take a bounded part of the memory.
const MAX_KEPT: usize = 8;
/// Time for which a file is kept.
pub const KEPT_FOR: SignedDuration = SignedDuration::from_mins(15);

/// A file that a user has uploaded, with the values of its form.
#[derive(Debug)]
pub struct KeptFile {
    /// The bytes.
    pub content: Zeroizing<Vec<u8>>,
    /// Name of the file, as the browser sent it.
    pub name: String,
    /// Name of the institute.
    pub institute: String,
    /// The entity whose payments it settles.
    pub entity: EntityId,
    /// Text of the mapping. Empty for the documented format.
    pub mapping: String,
}

impl KeptFile {
    /// Returns the file as an act takes it.
    pub fn as_upload(&self, skips_broken: bool) -> UploadedFile<'_> {
        UploadedFile {
            content: &self.content,
            institute: &self.institute,
            entity: &self.entity,
            mapping: &self.mapping,
            skips_broken,
        }
    }
}

/// A kept file with its key and its end.
struct KeptEntry {
    key: String,
    until: Timestamp,
    file: Arc<KeptFile>,
}

/// The files that are kept, at most one for each user.
#[derive(Default)]
pub struct KeptUploads(Mutex<HashMap<UserId, KeptEntry>>);

impl KeptUploads {
    /// Keeps a file of a user in place of an earlier one. Returns its key, or `None` if other users have as many files
    /// as can be kept.
    ///
    /// # Errors
    /// If the system provides no random bytes.
    pub fn keep(&self, user: &UserId, file: Arc<KeptFile>, now: Timestamp) -> Result<Option<String>, Failure> {
        let key = to_hex(&random_bytes::<16>()?);
        let until = now.checked_add(KEPT_FOR).unwrap_or(now);
        let mut kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        kept.retain(|owner, entry| entry.until > now && owner != user);
        if kept.len() >= MAX_KEPT {
            return Ok(None);
        }
        kept.insert(user.clone(), KeptEntry { key: key.clone(), until, file });
        Ok(Some(key))
    }

    /// Finds the file of a user by its key. `None` if the user has no such file, or its time has ended.
    pub fn find(&self, user: &UserId, key: &str, now: Timestamp) -> Option<Arc<KeptFile>> {
        let mut kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        kept.retain(|_, entry| entry.until > now);
        kept.get(user).filter(|entry| entry.key == key).map(|entry| Arc::clone(&entry.file))
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    fn file() -> Arc<KeptFile> {
        Arc::new(KeptFile {
            content: Zeroizing::new(vec![1]),
            name: "payout.csv".to_owned(),
            institute: "Acme".to_owned(),
            entity: EntityId::parse("8a000000000000000000000000000001").unwrap(),
            mapping: String::new(),
        })
    }

    #[test]
    fn a_file_is_found_by_its_owner_and_key_until_its_end() {
        let (kept, now) = (KeptUploads::default(), Timestamp::UNIX_EPOCH);
        let user = |number| UserId::new(now, [number; 9]);
        let key = kept.keep(&user(1), file(), now).unwrap().unwrap();
        assert!(kept.find(&user(1), &key, now).is_some());
        assert!(kept.find(&user(2), &key, now).is_none(), "the file of somebody else");
        assert!(kept.find(&user(1), "", now).is_none());
        assert!(kept.find(&user(1), &key, now + KEPT_FOR).is_none(), "after its end");
        let first = kept.keep(&user(1), file(), now).unwrap().unwrap();
        let second = kept.keep(&user(1), file(), now).unwrap().unwrap();
        assert!(kept.find(&user(1), &first, now).is_none() && kept.find(&user(1), &second, now).is_some());
    }

    #[test]
    fn a_bounded_number_of_files_is_kept() {
        let (kept, now) = (KeptUploads::default(), Timestamp::UNIX_EPOCH);
        let user = |number: usize| UserId::new(now, [u8::try_from(number).unwrap(); 9]);
        for number in 0..MAX_KEPT {
            assert!(kept.keep(&user(number), file(), now).unwrap().is_some());
        }
        assert!(kept.keep(&user(MAX_KEPT), file(), now).unwrap().is_none());
        assert!(kept.keep(&user(0), file(), now).unwrap().is_some(), "in place of the own file");
        assert!(kept.keep(&user(MAX_KEPT), file(), now + KEPT_FOR).unwrap().is_some());
    }
}
