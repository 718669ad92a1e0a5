//! Every route of the back office with the permission that it needs. The guard refuses a route that is not in this
//! table, so nobody can add a page and forget its permission.

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
}

const fn row(method: &'static str, path: &'static str, need: Need) -> OfficeRoute {
    OfficeRoute { method, path, need }
}

/// Every route.
pub const ROUTES: &[OfficeRoute] = &[
    row("GET", "/", Need::SignedIn),
    row("GET", "/assets/{name}", Need::Nothing),
    row("GET", "/components", Need::SignedIn),
    row("GET", "/payments", Need::Permission(Permission::ViewPayments)),
    row("GET", "/payments.csv", Need::Permission(Permission::ViewPayments)),
    row("GET", "/payments/{id}", Need::Permission(Permission::ViewPayments)),
    row("GET", "/search", Need::SignedIn),
    row("GET", "/sign-in", Need::Nothing),
    row("POST", "/sign-in", Need::Nothing),
    row("GET", "/sign-in/factor", Need::Nothing),
    row("POST", "/sign-in/factor", Need::Nothing),
    row("POST", "/sign-out", Need::Nothing),
    row("GET", "/invitation/{token}", Need::Nothing),
    row("POST", "/invitation/{token}", Need::Nothing),
    row("GET", "/account", Need::SignedIn),
    row("POST", "/account/password", Need::SignedIn),
    row("POST", "/account/factor", Need::SignedIn),
    row("POST", "/account/sessions", Need::SignedIn),
    row("GET", "/users", Need::Permission(Permission::ManageUsers)),
    row("POST", "/users", Need::Permission(Permission::ManageUsers)),
    row("GET", "/users/{id}", Need::Permission(Permission::ManageUsers)),
    row("POST", "/users/{id}/invite", Need::Permission(Permission::ManageUsers)),
    row("POST", "/users/{id}/state", Need::Permission(Permission::ManageUsers)),
    row("POST", "/users/{id}/roles", Need::Permission(Permission::ManageUsers)),
];

/// Finds the need of a route. `path` is the pattern below [`crate::BASE`]. Returns `None` for a route without a row.
pub(super) fn find_need(method: &Method, path: &str) -> Option<Need> {
    let method = if method == Method::HEAD { "GET" } else { method.as_str() };
    ROUTES.iter().find(|route| route.method == method && route.path == path).map(|route| route.need)
}
