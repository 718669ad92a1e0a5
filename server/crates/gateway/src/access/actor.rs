//! The person who acts, for the entries of the audit log.

use std::net::IpAddr;

use jiff::Timestamp;
use tillgate_domain::access::audit::AuditEntry;
use tillgate_domain::access::user::User;
use tillgate_domain::id::UserId;
use tillgate_os::process;

use crate::access::found_session::FoundSession;

/// A person who acts, and the place from which.
#[derive(Debug, Clone)]
pub struct Actor {
    /// The user of the back office, or the user who runs a command.
    name: String,
    /// The client's address. `None` for a command.
    address: Option<IpAddr>,
    /// The number of the user's session. `None` without one.
    session: Option<i64>,
    /// The user of the back office. `None` for a command or a link.
    user: Option<UserId>,
}

impl Actor {
    /// Returns the actor of a user at an address. Entries are kept for ever, so they have the id and no mail address.
    pub fn of_user(user: &UserId, address: IpAddr) -> Self {
        Self { name: format!("user {user}"), address: Some(address), session: None, user: Some(user.clone()) }
    }

    /// Returns the user of a session. Acts check the session again when they are decided.
    pub fn of_session(found: &FoundSession, address: IpAddr) -> Self {
        Self { session: Some(found.session.number), ..Self::of_user(&found.user.id, address) }
    }

    /// Returns the name for the audit log.
    pub(crate) fn name(&self) -> &str {
        &self.name
    }

    /// Returns the client's address, `None` for a command.
    pub(crate) fn address(&self) -> Option<IpAddr> {
        self.address
    }

    /// Returns the number of the session, if there is one.
    pub(crate) fn session(&self) -> Option<i64> {
        self.session
    }

    /// Returns the user who runs this program.
    pub fn of_process() -> Self {
        Self::of_operator(process::describe_user())
    }

    /// Returns somebody at the gateway's machine, by the name for the audit log.
    pub fn of_operator(name: String) -> Self {
        Self { name, address: None, session: None, user: None }
    }

    /// Returns somebody at an address whose only credential is a link.
    pub fn of_link(address: IpAddr) -> Self {
        Self { name: "invitation".to_owned(), address: Some(address), session: None, user: None }
    }

    /// Returns the user of the back office, if it is one.
    pub(super) fn user(&self) -> Option<&UserId> {
        self.user.as_ref()
    }

    /// Begins an entry of the actor about a user.
    pub(super) fn entry(&self, now: Timestamp, action: &str, user: &User) -> AuditEntry {
        self.entry_about(now, action, user.id.as_str())
    }

    /// Begins an entry of the actor about something.
    pub fn entry_about(&self, now: Timestamp, action: &str, subject: &str) -> AuditEntry {
        let entry = AuditEntry::new(now, action, subject).by(&*self.name);
        match self.address {
            Some(address) => entry.with_detail("address", address.to_string()),
            None => entry,
        }
    }
}
