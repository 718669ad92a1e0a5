//! Users of the back office.

use crate::access::role::Permissions;
use crate::id::UserId;

/// A user of the back office, without any secret.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct User {
    /// The id.
    pub id: UserId,
    /// The mail address, in lower case. It is the user's name at sign-in.
    pub mail: String,
    /// The name, as other users see it.
    pub name: String,
    /// The roles.
    pub permissions: Permissions,
}
