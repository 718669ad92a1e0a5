//! Logins: names and passwords of FTP users, with limits for guessing.

use std::net::IpAddr;
use std::sync::Arc;

use tillgate_domain::access::entity::Entity;
use tillgate_store::StoreError;
use tillgate_vault::password::{self, SALT};

use super::server::FtpServer;

/// A user who is logged in.
#[derive(Clone)]
pub(super) struct LoggedIn {
    /// The user's name.
    pub(super) name: String,
    /// The entity whose files the user reads.
    pub(super) entity: Arc<Entity>,
    /// True if data connections have to resume the TLS session of the control connection.
    pub(super) requires_resumption: bool,
}

/// Reason why a login is refused.
#[derive(Debug)]
pub(super) enum LoginRefusal {
    /// The name or the password is wrong, or the entity does not allow the connection.
    Wrong,
    /// There were too many wrong passwords from the address. Nothing was checked.
    TooMany,
    /// The store cannot be read.
    Unavailable,
}

impl From<StoreError> for LoginRefusal {
    fn from(error: StoreError) -> Self {
        tracing::warn!(%error, "an FTP user cannot be loaded");
        Self::Unavailable
    }
}

impl FtpServer {
    /// Checks a name and a password. An unknown name takes the same time as a wrong password.
    pub(super) async fn log_in(
        &self,
        name: &str,
        password: &str,
        address: IpAddr,
        is_encrypted: bool,
    ) -> Result<LoggedIn, LoginRefusal> {
        // The check waits here, so that an attacker with many connections does not use all processors.
        let _permit = self.checks.acquire().await.map_err(|_| LoginRefusal::Unavailable)?;
        // Counted again after the wait, because others from the address may have guessed meanwhile.
        if self.wrong_passwords.is_reached(address, self.app.gateway.now()) {
            return Err(LoginRefusal::TooMany);
        }
        let user = self.app.gateway.store.load_ftp_user(name)?;
        let (salt, hash) =
            user.as_ref().map_or((vec![0; SALT], Vec::new()), |user| (user.salt.clone(), user.hash.clone()));
        let given = zeroize::Zeroizing::new(password.as_bytes().to_vec());
        let checked = tokio::task::spawn_blocking(move || password::is_password_of(&given, &salt, &hash));
        let is_right = checked.await.unwrap_or(false);
        let requires_resumption = user.as_ref().is_none_or(|user| user.requires_resumption);
        let entity = user.filter(|_| is_right).and_then(|user| self.app.gateway.directory.find_entity(&user.entity));
        // Files of live entities never travel unencrypted.
        match entity.filter(|entity| is_encrypted || !entity.live) {
            Some(entity) => Ok(LoggedIn { name: name.to_owned(), entity, requires_resumption }),
            None => {
                let _ = self.wrong_passwords.record_attempt(address, self.app.gateway.now());
                Err(LoginRefusal::Wrong)
            }
        }
    }

    /// Returns the entity of a user as it is now. `None` if the user has been revoked, or the entity is gone.
    pub(super) fn reload_entity(&self, user: &LoggedIn) -> Result<Option<Arc<Entity>>, StoreError> {
        let stored = self.app.gateway.store.load_ftp_user(&user.name)?;
        Ok(stored.and_then(|stored| self.app.gateway.directory.find_entity(&stored.entity)))
    }
}
