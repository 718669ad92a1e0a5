//! Headers of the pages that people see on our origin, besides the Content Security Policy, which depends on the page.

use axum::http::{HeaderName, HeaderValue};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use sha2::{Digest as _, Sha384};

/// Name of the header by which a page runs only scripts whose tags have their hash.
pub const INTEGRITY_POLICY: HeaderName = HeaderName::from_static("integrity-policy");
/// Value for a page whose scripts all have their hash.
pub const SCRIPTS_WITH_HASH: &str = "blocked-destinations=(script)";

/// Permissions that none of our pages needs, and that its frames must not get either. Payments and passkeys are left
/// out, because frames of wallets and issuers need them; browsers warn of names that they do not know.
#[macro_export]
macro_rules! refused_permissions {
    () => {
        "accelerometer=(), autoplay=(), camera=(), display-capture=(), encrypted-media=(), fullscreen=(), \
         geolocation=(), gyroscope=(), hid=(), idle-detection=(), local-fonts=(), magnetometer=(), microphone=(), \
         midi=(), picture-in-picture=(), screen-wake-lock=(), serial=(), usb=(), xr-spatial-tracking=()"
    };
}

/// `Permissions-Policy` of pages of shoppers.
pub const PERMISSIONS: (HeaderName, HeaderValue) =
    (HeaderName::from_static("permissions-policy"), HeaderValue::from_static(refused_permissions!()));

/// Returns the value for the attribute `integrity` of a content: `sha384-…`.
pub fn integrity_value(content: &[u8]) -> String {
    format!("sha384-{}", STANDARD.encode(Sha384::digest(content)))
}
