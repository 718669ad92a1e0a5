//! The routes of the back office with the permission that each needs: one table for each subject. The guard refuses a
//! route without a row, so nobody can add a page and forget its permission.

use axum::http::Method;
use tillgate_domain::access::role::Permission;

/// Condition under which a route is served.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Need {
    /// None: pages of the sign-in, and files that everybody may read.
    Nothing,
    /// A user with a second factor.
    SignedIn,
    /// A user with a second factor who has the permission on some entity. The handler checks the entity itself.
    Permission(Permission),
    /// A user with a second factor who has one of the permissions on some entity. The handler checks which, and where.
    AnyOf(&'static [Permission]),
}

/// A route.
#[derive(Debug, Clone, Copy)]
pub struct OfficeRoute {
    /// The method. GET includes HEAD.
    pub method: &'static str,
    /// The path below [`crate::BASE`], as the router has it.
    pub path: &'static str,
    /// The condition.
    pub need: Need,
    /// True if the user must have given a second factor in the last minutes.
    pub needs_factor: bool,
}

impl OfficeRoute {
    /// Returns the row of a route that needs a fresh second factor.
    pub(crate) const fn after_factor(self) -> Self {
        Self { needs_factor: true, ..self }
    }
}

/// Creates a row of a table of routes.
pub(crate) const fn row(method: &'static str, path: &'static str, need: Need) -> OfficeRoute {
    OfficeRoute { method, path, need, needs_factor: false }
}

/// The tables of all subjects.
const TABLES: &[&[OfficeRoute]] = &[
    super::ROUTES,
    crate::administration::ROUTES,
    crate::approval::ROUTES,
    crate::customer::ROUTES,
    crate::delivery::ROUTES,
    crate::home::ROUTES,
    crate::layout::ROUTES,
    crate::money::ROUTES,
    crate::payment::ROUTES,
    crate::review::ROUTES,
    crate::risk::ROUTES,
    crate::search::ROUTES,
];

/// Iterates over every route.
pub fn all_routes() -> impl Iterator<Item = &'static OfficeRoute> {
    TABLES.iter().copied().flatten()
}

/// Finds a route. `path` is the pattern below [`crate::BASE`]. Returns `None` for a route without a row.
pub(super) fn find_route(method: &Method, path: &str) -> Option<&'static OfficeRoute> {
    let method = if method == Method::HEAD { "GET" } else { method.as_str() };
    all_routes().find(|route| route.method == method && route.path == path)
}
