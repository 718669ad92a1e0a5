//! Uploaded files between their preview and their import: kept in memory, each for one user and a short time.
//!
//! The bytes that are imported are those that were previewed. They are never written to the disk, because a broken line
//! may have a card number. A restart forgets them, and nothing was promised: the user chooses the file again.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use jiff::{SignedDuration, Timestamp};
use tillgate_domain::id::{EntityId, UserId, to_hex};
use zeroize::Zeroizing;

use super::user_act::UploadedFile;
use crate::{Failure, random_bytes};

/// Largest size of an uploaded file, in bytes.
pub const MAX_UPLOAD: usize = 4 * 1024 * 1024;
/// Largest size of all kept files together, in bytes, so that uploads take a bounded part of the memory.
const MAX_KEPT_BYTES: usize = 8 * MAX_UPLOAD;
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

/// Result of looking for an uploaded file.
#[derive(Debug)]
pub enum KeptUpload {
    /// The file waits for its import.
    Waiting(Arc<KeptFile>),
    /// The file was imported, and is not kept any more.
    Imported,
}

/// The upload of a user with its key and its end.
struct KeptEntry {
    key: String,
    until: Timestamp,
    /// The file. `None` once it is imported: a form that is sent twice then learns that.
    file: Option<Arc<KeptFile>>,
}

impl KeptEntry {
    /// Returns the size of the entry in memory, in bytes. The name counts as well, because a browser sends it.
    fn size(&self) -> usize {
        self.file
            .as_ref()
            .map_or(0, |file| file.content.len() + file.name.len() + file.institute.len() + file.mapping.len())
    }
}

/// The files that are kept, at most one for each user.
#[derive(Default)]
pub struct KeptUploads(Mutex<HashMap<UserId, KeptEntry>>);

impl KeptUploads {
    /// Keeps a file of a user in place of an earlier one, and returns its key. The oldest files of other users end
    /// early if there is no room, so that nobody keeps the others from importing.
    ///
    /// # Errors
    /// If the system provides no random bytes.
    pub fn keep(&self, user: &UserId, file: Arc<KeptFile>, now: Timestamp) -> Result<String, Failure> {
        let key = to_hex(&random_bytes::<16>()?);
        let entry = KeptEntry { key: key.clone(), until: now.checked_add(KEPT_FOR).unwrap_or(now), file: Some(file) };
        let mut kept = self.lock();
        kept.retain(|owner, entry| entry.until > now && owner != user);
        let mut size = kept.values().map(KeptEntry::size).sum::<usize>().saturating_add(entry.size());
        while size > MAX_KEPT_BYTES {
            let waiting = kept.iter().filter(|(_, entry)| entry.file.is_some());
            let Some(oldest) = waiting.min_by_key(|(_, entry)| entry.until).map(|(owner, _)| owner.clone()) else {
                break;
            };
            size = size.saturating_sub(kept.remove(&oldest).map_or(0, |entry| entry.size()));
        }
        kept.insert(user.clone(), entry);
        Ok(key)
    }

    /// Finds the file of a user by its key. `None` if the user has no such file, or its time has ended.
    pub fn find(&self, user: &UserId, key: &str, now: Timestamp) -> Option<KeptUpload> {
        let mut kept = self.lock();
        kept.retain(|_, entry| entry.until > now);
        let entry = kept.get(user).filter(|entry| entry.key == key)?;
        Some(entry.file.as_ref().map_or(KeptUpload::Imported, |file| KeptUpload::Waiting(Arc::clone(file))))
    }

    /// Drops the file of a user that was imported. Does nothing if another file has replaced it.
    pub fn drop_imported(&self, user: &UserId, key: &str) {
        if let Some(entry) = self.lock().get_mut(user).filter(|entry| entry.key == key) {
            entry.file = None;
        }
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<UserId, KeptEntry>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    fn file(bytes: usize) -> Arc<KeptFile> {
        Arc::new(KeptFile {
            content: Zeroizing::new(vec![1; bytes]),
            name: String::new(),
            institute: "Acme".to_owned(),
            entity: EntityId::parse("8a000000000000000000000000000001").unwrap(),
            mapping: String::new(),
        })
    }

    fn user(number: usize) -> UserId {
        UserId::new(Timestamp::UNIX_EPOCH, [u8::try_from(number).unwrap(); 9])
    }

    #[test]
    fn a_file_is_found_by_its_owner_and_key_until_its_end() {
        let (kept, now) = (KeptUploads::default(), Timestamp::UNIX_EPOCH);
        let key = kept.keep(&user(1), file(1), now).unwrap();
        assert!(kept.find(&user(1), &key, now).is_some());
        assert!(kept.find(&user(2), &key, now).is_none(), "the file of somebody else");
        assert!(kept.find(&user(1), "", now).is_none());
        assert!(kept.find(&user(1), &key, now + KEPT_FOR).is_none(), "after its end");
        let first = kept.keep(&user(1), file(1), now).unwrap();
        let second = kept.keep(&user(1), file(1), now).unwrap();
        assert!(kept.find(&user(1), &first, now).is_none() && kept.find(&user(1), &second, now).is_some());
    }

    #[test]
    fn many_users_with_small_files_keep_nobody_out_and_large_files_end_the_oldest_ones() {
        let (kept, now) = (KeptUploads::default(), Timestamp::UNIX_EPOCH);
        let at = |number: usize| now + SignedDuration::from_secs(i64::try_from(number).unwrap());
        let keys: Vec<_> = (0..100).map(|number| kept.keep(&user(number), file(1), at(number)).unwrap()).collect();
        for (number, key) in keys.iter().enumerate() {
            assert!(kept.find(&user(number), key, at(100)).is_some(), "{number}");
        }
        let large: Vec<_> =
            (100..109).map(|number| kept.keep(&user(number), file(MAX_UPLOAD - 4), at(number)).unwrap()).collect();
        assert!(kept.find(&user(0), &keys[0], at(109)).is_none());
        assert!(kept.find(&user(100), &large[0], at(109)).is_none(), "the oldest large file");
        assert!(kept.find(&user(101), &large[1], at(109)).is_some());
        assert!(kept.lock().values().map(KeptEntry::size).sum::<usize>() <= MAX_KEPT_BYTES);
    }

    #[test]
    fn an_imported_file_takes_no_room_and_its_second_form_learns_that_it_is_imported() {
        let (kept, now) = (KeptUploads::default(), Timestamp::UNIX_EPOCH);
        let key = kept.keep(&user(1), file(MAX_UPLOAD), now).unwrap();
        kept.drop_imported(&user(1), "another key");
        assert!(matches!(kept.find(&user(1), &key, now), Some(KeptUpload::Waiting(_))));
        kept.drop_imported(&user(1), &key);
        assert!(matches!(kept.find(&user(1), &key, now), Some(KeptUpload::Imported)));
        assert_eq!(kept.lock().values().map(KeptEntry::size).sum::<usize>(), 0);
        assert!(kept.find(&user(2), &key, now).is_none());
    }
}
