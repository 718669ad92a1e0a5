//! Users who read reconciliation files by FTP.

use tillgate_domain::access::approval::act::KeyAct;
use tillgate_domain::access::entity::Entity;
use tillgate_domain::id::{EntityId, to_hex};
use tillgate_store::delivery::ftp_user::{FtpUser, FtpUserInfo};
use tillgate_vault::password::{SALT, hash_password};

use crate::administration::{ActError, Administration};
use crate::random_bytes;
use crate::settlement::reconciliation::has_files;

/// A user that was created. The password is known only then.
pub struct CreatedFtpUser {
    /// The user's name.
    pub user: String,
    /// The password.
    pub password: String,
}

impl Administration {
    /// Creates a user who reads the files of a division or merchant. Without a name, the user gets a random one.
    ///
    /// # Errors
    /// If there is no such entity, it has no files, the name is or was taken, or a second person is needed.
    pub fn create_ftp_user(
        &self,
        entity: &EntityId,
        name: Option<String>,
        requires_resumption: bool,
    ) -> Result<CreatedFtpUser, ActError> {
        let entity = self.load_entity(entity)?;
        check_has_files(&entity)?;
        self.check_key_approval(&entity, KeyAct::FtpUser { name: name.clone(), requires_resumption })?;
        let user = match name {
            Some(name) => name,
            None => format!("ftp-{}", to_hex(&random_bytes::<6>()?)),
        };
        let (password, salt) = (to_hex(&random_bytes::<16>()?), random_bytes::<SALT>()?);
        let hash = hash_password(password.as_bytes(), &salt)
            .ok_or_else(|| ActError::refuse("name", "there is no memory for the hash"))?;
        let stored = FtpUser { entity: entity.id, salt: salt.to_vec(), hash: hash.to_vec(), requires_resumption };
        if self.store.add_ftp_user(&user, &stored, self.now())? {
            return Ok(CreatedFtpUser { user, password });
        }
        Err(ActError::refuse("name", format!("there is or was a user {user}: choose another name")))
    }

    /// Loads the users of an entity, or of all, including revoked ones.
    pub fn load_ftp_users(&self, entity: Option<&EntityId>) -> Result<Vec<FtpUserInfo>, ActError> {
        Ok(self.store.load_ftp_users(entity)?)
    }

    /// Revokes a user.
    ///
    /// # Errors
    /// If there is no valid user with this name.
    pub fn revoke_ftp_user(&self, name: &str) -> Result<(), ActError> {
        if self.store.revoke_ftp_user(name, self.now())? {
            return Ok(());
        }
        Err(ActError::refuse("name", format!("there is no valid FTP user {name}")))
    }
}

/// Checks that an entity has reconciliation files.
pub(super) fn check_has_files(entity: &Entity) -> Result<(), ActError> {
    if has_files(entity.level) {
        return Ok(());
    }
    let (id, level) = (&entity.id, entity.level.display_name());
    Err(ActError::refuse("entity", format!("{id} is a {level}: divisions and merchants have reconciliation files")))
}

/// Checks a user's name.
///
/// # Errors
/// A message about the name.
pub fn parse_user_name(text: &str) -> Result<String, String> {
    let is_allowed = |byte: u8| matches!(byte, b'a'..=b'z' | b'0'..=b'9' | b'-');
    if (1..=32).contains(&text.len()) && text.bytes().all(is_allowed) {
        Ok(text.to_owned())
    } else {
        Err("1 to 32 lowercase letters, digits and hyphens".to_owned())
    }
}
