//! Frame of all pages: texts, style and script, the responses with their policy, and the page of components.

mod assets;
pub mod page;
pub mod response;
pub mod texts;

use std::sync::Arc;

use axum::Router;
use axum::extract::Path;
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse as _, Response};
use axum::routing::get;
use tillgate_domain::access::role::Permission;

use self::assets::Asset;
use self::page::Section;
use crate::OfficeState;
use crate::access::routes::{Need, OfficeRoute, row};
use crate::components::gallery;
use crate::office::Office;

/// Renders the tag of the script of the pages with passkeys.
pub(crate) fn passkey_script_tag() -> maud::Markup {
    assets::passkey_script_tag()
}

/// Returns the addresses of the style sheets of the preview: of the payment form, and of the page around it.
pub(crate) fn preview_style_addresses() -> [String; 2] {
    assets::preview_style_addresses()
}

/// The routes of the subject, with what each needs.
pub(crate) const ROUTES: &[OfficeRoute] = &[
    row("GET", "/assets/{name}", Need::Nothing),
    row("GET", "/components", Need::Permission(Permission::ChangeDeliveries)),
];

/// Builds the routes of the style sheet, the script and the page of components.
pub fn build_routes() -> Router<Arc<OfficeState>> {
    Router::new().route("/assets/{name}", get(send_asset)).route("/components", get(show_gallery))
}

/// Sends the style sheet, the script or the icon. Needs no sign-in, because they are the same for everybody.
async fn send_asset(Path(name): Path<String>) -> Response {
    let Some(asset) = Asset::find(&name) else { return StatusCode::NOT_FOUND.into_response() };
    let headers = [
        (header::CONTENT_TYPE, asset.media_type),
        (header::CACHE_CONTROL, "public, max-age=31536000, immutable"),
        (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
    ];
    (headers, asset.content).into_response()
}

/// Shows every component, to those who integrate shops or administrate.
async fn show_gallery(office: Office) -> Response {
    office.show_page(Section::Other, "Components", gallery::render(office.texts))
}
