//! The sprite sheet of brand marks to which merchants' style sheets refer. It has neutral tiles with the brands'
//! names; no artwork of a card scheme is copied.

use std::fmt::Write as _;
use std::sync::LazyLock;

use axum::http::{HeaderName, HeaderValue, header};
use axum::response::IntoResponse;
use tillgate_shared::brand::Brand;

/// Width and height of a tile in CSS pixels. The brands are below each other in the order of their codes.
const TILE: (usize, usize) = (60, 38);

static SHEET: LazyLock<String> = LazyLock::new(|| {
    let ((width, height), brands) = (TILE, Brand::cards());
    let mut sheet = format!(
        r##"<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{}" font-family="Arial,sans-serif" font-weight="700" text-anchor="middle">"##,
        height * brands.len()
    );
    for (index, brand) in brands.iter().enumerate() {
        let top = index * height;
        // The largest size that the name allows: a capital is about 0.7 of its font size wide.
        let size = (72 / brand.name.chars().count().max(1)).clamp(6, 15);
        let _ = write!(
            sheet,
            r##"<rect x="1" y="{}" width="{}" height="{}" rx="4" fill="#f4f5f7" stroke="#5b6475"/><text x="{}" y="{}" font-size="{size}" fill="#1d2433">{}</text>"##,
            top + 1,
            width - 2,
            height - 2,
            width / 2,
            top + height / 2 + size / 3,
            brand.name.replace('&', "&amp;").replace('<', "&lt;"),
        );
    }
    sheet + "</svg>"
});

/// Serves `/v1/paymentWidgets/img/brand.png` and its newer address. The name says PNG but the content type says SVG:
/// browsers use the type, and a vector image is sharp on every screen.
pub(crate) async fn serve_sheet() -> impl IntoResponse {
    let headers: [(HeaderName, HeaderValue); 2] = [
        (header::CONTENT_TYPE, HeaderValue::from_static("image/svg+xml")),
        (header::CACHE_CONTROL, HeaderValue::from_static("public, max-age=86400")),
    ];
    (headers, SHEET.as_str())
}
