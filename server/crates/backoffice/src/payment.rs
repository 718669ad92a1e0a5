//! Pages of the subject "payment".

use std::sync::Arc;

use axum::Router;

use crate::OfficeState;

/// Builds the routes of the subject.
pub fn build_routes() -> Router<Arc<OfficeState>> {
    Router::new()
}
