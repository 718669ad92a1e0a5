//! Extractor of the signed-in user.

use std::collections::BTreeMap;
use std::sync::Arc;

use axum::extract::FromRequestParts;
use axum::http::request::Parts;
use axum::response::{IntoResponse as _, Redirect, Response};
use tillgate_domain::access::entity::Entity;
use tillgate_domain::access::role::{Permission, Permissions, Reach};
use tillgate_domain::access::user::User;
use tillgate_domain::id::EntityId;
use tillgate_gateway::access::found_session::FoundSession;

use crate::{BASE, OfficeState};

/// A request of a user with a session and a second factor.
#[derive(Debug, Clone)]
pub struct SignedIn {
    /// The user.
    pub user: User,
    /// The session.
    pub session: FoundSession,
    /// The permissions of the user's roles.
    pub permissions: Permissions,
}

impl SignedIn {
    /// Takes the user of a session that the guard has found.
    pub(super) fn new(found: FoundSession) -> Self {
        Self { user: found.user.clone(), permissions: found.user.permissions.clone(), session: found }
    }

    /// Returns true if the user has the permission on an entity.
    pub fn allows(&self, state: &OfficeState, permission: Permission, entity: &Entity) -> bool {
        let above = state.app.gateway.directory.find_ancestors(entity);
        let lineage = std::iter::once(&entity.id).chain(above.iter().map(|above| &above.id));
        self.permissions.allows_on(permission, lineage)
    }

    /// Returns the entities on which the user has the permission, in the order of their ids. A list must be limited to
    /// them, and an entity that is not among them must look like one that does not exist.
    pub fn entities_with(&self, state: &OfficeState, permission: Permission) -> Vec<Arc<Entity>> {
        let directory = &state.app.gateway.directory;
        let mut found: BTreeMap<EntityId, Arc<Entity>> = BTreeMap::new();
        for reach in self.permissions.reaches(permission) {
            let reached = match reach {
                Reach::Entity(id) => directory.entities_at_and_below(id),
                Reach::Gateway => directory.all_entities(),
            };
            found.extend(reached.into_iter().map(|entity| (entity.id.clone(), entity)));
        }
        found.into_values().collect()
    }
}

impl FromRequestParts<Arc<OfficeState>> for SignedIn {
    type Rejection = Response;

    async fn from_request_parts(parts: &mut Parts, _state: &Arc<OfficeState>) -> Result<Self, Response> {
        // The guard has put the user here. Without one, the route needs none, and the handler must not have it either.
        let found = parts.extensions.get::<Self>().cloned();
        found.ok_or_else(|| Redirect::to(&format!("{BASE}/sign-in")).into_response())
    }
}
