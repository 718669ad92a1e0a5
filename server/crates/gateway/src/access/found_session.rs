//! The session of a request.

use tillgate_domain::access::session::SessionStage;
use tillgate_domain::access::user::User;
use tillgate_store::access::user_session::StoredSession;

/// A session of a request.
#[derive(Debug, Clone)]
pub struct FoundSession {
    /// The user.
    pub user: User,
    /// The session.
    pub session: StoredSession,
    /// The stage. Never over.
    pub stage: SessionStage,
}
