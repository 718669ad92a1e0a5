//! Servers of merchants to which reconciliation files are pushed.

use jiff::civil::Date;
use tillgate_domain::access::approval::act::KeyAct;
use tillgate_domain::delivery::file_push::{HostKeyFingerprint, PushAddress, PushProtocol};
use tillgate_domain::id::EntityId;
use tillgate_net::outgoing::Ports;
use tillgate_store::delivery::file_delivery::DeliveryStatus;
use tillgate_store::delivery::file_push::{PushTarget, PushTargetInfo};
use zeroize::Zeroizing;

use super::ftp_user::check_has_files;
use crate::administration::{ActError, Administration};

/// The address of a server to set, and the kinds of credentials that are given with it.
#[derive(Debug)]
pub struct NewPushTarget {
    /// The entity whose files are pushed.
    pub entity: EntityId,
    /// The address of the folder.
    pub url: String,
    /// The fingerprint of the server's host key.
    pub host_key: Option<String>,
    /// True if a private key is given.
    pub has_private_key: bool,
    /// True if certificates are given.
    pub has_ca: bool,
}

/// A server that was checked, and can be stored with its credentials.
#[derive(Debug)]
pub struct CheckedPushTarget(NewPushTarget);

/// The credentials of a server.
pub struct PushCredentials {
    /// The password or the private key, in its stored form.
    pub secret: Zeroizing<Vec<u8>>,
    /// Certificates in PEM, one of which has issued the server's certificate.
    pub ca: Option<String>,
}

impl Administration {
    /// Checks the address of a server and if the credentials fit its protocol. Connects to nothing, and stores nothing.
    ///
    /// # Errors
    /// If the entity has no files, files may not be sent to the address, or the credentials do not fit.
    pub fn check_push_target(&self, new: NewPushTarget, ports: &Ports) -> Result<CheckedPushTarget, ActError> {
        let entity = self.load_entity(&new.entity)?;
        // The address is not repeated, because it may contain a password.
        let address =
            PushAddress::parse(&new.url).map_err(|error| ActError::refuse("url", format!("the address {error}")))?;
        check_has_files(&entity)?;
        if entity.live && address.protocol == PushProtocol::Ftp {
            let message = format!("the address is plain ftp, and {} is live: use ftps or sftp", entity.id);
            return Err(ActError::refuse("url", message));
        }
        let port = address.port;
        if port != address.protocol.usual_port() && !ports.allows(port) {
            let message =
                format!("the address has the port {port}, which is not allowed unless the operator allows it");
            return Err(ActError::refuse("url", message));
        }
        check_credentials(&new, address.protocol)?;
        Ok(CheckedPushTarget(new))
    }

    /// Stores a server, in place of the one before. With a day, the complete files from that day on are sent, also
    /// files that were sent before. Returns the number of files that are sent at once.
    ///
    /// # Errors
    /// If a second person is needed, the vault cannot be opened, or the store cannot be written.
    pub fn set_push_target(
        &self,
        checked: CheckedPushTarget,
        credentials: PushCredentials,
        from: Option<Date>,
    ) -> Result<u64, ActError> {
        let CheckedPushTarget(NewPushTarget { entity, url, host_key, has_private_key, .. }) = checked;
        let PushCredentials { secret, ca } = credentials;
        let (address, key) = (url.clone(), host_key.clone());
        let replaces = self.store.load_push_target(&entity)?.map(|target| target.url);
        let act = KeyAct::FilePush { url: address, host_key: key, ca: ca.clone(), from, has_private_key, replaces };
        self.check_key_approval(&self.load_entity(&entity)?, act)?;
        let vault = self.open_vault()?;
        let record = PushTarget::record_name(&entity, &url, host_key.as_deref(), ca.as_deref());
        let sealed = vault.seal(&record, &secret)?;
        let target = PushTarget { sealed, entity, url, host_key, ca, changed: self.now() };
        Ok(self.store.set_push_target(&target, from)?)
    }

    /// Removes the server of an entity, with its credentials and its deliveries.
    ///
    /// # Errors
    /// If the entity has no server.
    pub fn remove_push_target(&self, entity: &EntityId) -> Result<(), ActError> {
        if self.store.remove_push_target(entity)? {
            return Ok(());
        }
        Err(ActError::refuse("entity", format!("no files of {entity} are pushed")))
    }

    /// Loads the servers of an entity, or of all, without their credentials.
    pub fn load_push_targets(&self, entity: Option<&EntityId>) -> Result<Vec<PushTargetInfo>, ActError> {
        Ok(self.store.load_push_targets(entity)?)
    }

    /// Loads the latest deliveries of an entity's files, the latest day first.
    ///
    /// # Errors
    /// If the entity has no server.
    pub fn load_push_deliveries(&self, entity: &EntityId, limit: u32) -> Result<Vec<DeliveryStatus>, ActError> {
        if self.store.load_push_target(entity)?.is_none() {
            let message = format!("no files of {entity} are pushed: set a server first");
            return Err(ActError::refuse("entity", message));
        }
        Ok(self.store.load_push_deliveries(entity, limit)?)
    }

    /// Queues files to be sent at once by a running server: the file of one day, or all that wait or were given up.
    /// Returns the number of files.
    ///
    /// # Errors
    /// If there is no such file.
    pub fn retry_pushes(&self, entity: &EntityId, day: Option<Date>) -> Result<usize, ActError> {
        let files = self.store.retry_pushes(entity, day, self.now())?;
        if files > 0 {
            return Ok(files);
        }
        let message = format!("{entity} has no such file to send");
        Err(ActError::refuse("day", message))
    }
}

/// Checks that the credentials fit the protocol.
fn check_credentials(new: &NewPushTarget, protocol: PushProtocol) -> Result<(), ActError> {
    let is_sftp = protocol == PushProtocol::Sftp;
    let refuse = |parameter, message| Err(ActError::refuse(parameter, message));
    if !is_sftp && new.has_private_key {
        return refuse("private-key-file", "a private key is for sftp only");
    }
    if !is_sftp && new.host_key.is_some() {
        return refuse("host-key", "a fingerprint of the host key is for sftp only");
    }
    if protocol != PushProtocol::Ftps && new.has_ca {
        return refuse("ca-file", "certificates of issuers are for ftps only");
    }
    match &new.host_key {
        Some(key) if HostKeyFingerprint::parse(key).is_none() => {
            refuse("host-key", "the host key is not a fingerprint such as SHA256:…, as `ssh-keygen -l` prints it")
        }
        None if is_sftp => refuse("host-key", "sftp needs the fingerprint of the server's host key, SHA256:…"),
        _ => Ok(()),
    }
}
