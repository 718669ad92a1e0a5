//! Access: sign-in, second factor, sessions, users and invitations, and the extractor of the signed-in user.

mod signed_in;

use std::sync::Arc;

use axum::Router;

use crate::OfficeState;
pub use signed_in::{OfficeSession, SignedIn};

/// Builds the routes of access.
pub fn build_routes() -> Router<Arc<OfficeState>> {
    Router::new()
}
