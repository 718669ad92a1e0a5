//! Style sheet, scripts and icon. Their addresses contain a hash of their content, so that browsers keep them for ever.

use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::sync::LazyLock;

use maud::{Markup, html};
use tillgate_net::page_headers::integrity_value;

use crate::BASE;

/// A file that is a part of the program.
pub(super) struct Asset {
    /// The last part of its address.
    pub(super) name: String,
    /// Its `Content-Type`.
    pub(super) media_type: &'static str,
    /// The content.
    pub(super) content: &'static str,
}

/// The style sheet of all pages.
const STYLE: &str = include_str!("../../assets/office.css");
/// The script of all pages.
const SCRIPT: &str = include_str!("../../assets/office.js");
/// The script of the pages with passkeys.
const PASSKEYS: &str = include_str!("../../assets/passkey.js");
/// The icon of the browser's tab.
const ICON: &str = include_str!("../../assets/icon.svg");

/// The style sheet of the payment form, which the preview of its look shows, with the tiles of marks.
const CARD_STYLE: &str = concat!(
    include_str!("../../../../../widget/style/card.css"),
    include_str!("../../../../../widget/style/marks.css"),
);
/// The style sheet of the page around the forms of the preview.
const PREVIEW_STYLE: &str = include_str!("../../assets/preview.css");

/// The files, in the order of the functions below.
static ASSETS: LazyLock<[Asset; 6]> = LazyLock::new(|| {
    [
        Asset::new("office", "css", "text/css; charset=utf-8", STYLE),
        Asset::new("office", "js", "text/javascript; charset=utf-8", SCRIPT),
        Asset::new("office", "svg", "image/svg+xml", ICON),
        Asset::new("passkey", "js", "text/javascript; charset=utf-8", PASSKEYS),
        Asset::new("card", "css", "text/css; charset=utf-8", CARD_STYLE),
        Asset::new("preview", "css", "text/css; charset=utf-8", PREVIEW_STYLE),
    ]
});

impl Asset {
    fn new(name: &str, ending: &str, media_type: &'static str, content: &'static str) -> Self {
        // The hash distinguishes versions of our own files, so it need not be a cryptographic one.
        let mut hasher = DefaultHasher::new();
        content.hash(&mut hasher);
        Self { name: format!("{name}-{:016x}.{ending}", hasher.finish()), media_type, content }
    }

    /// Finds a file by the last part of its address.
    pub(super) fn find(name: &str) -> Option<&'static Self> {
        ASSETS.iter().find(|asset| asset.name == name)
    }

    fn address(&self) -> String {
        format!("{BASE}/assets/{}", self.name)
    }

    /// Renders the tag of a script, with its hash and with CORS, as the pages' `Integrity-Policy` requires.
    fn script_tag(&self) -> Markup {
        let integrity = integrity_value(self.content.as_bytes());
        html! { script src=(self.address()) integrity=(integrity) crossorigin="anonymous" defer {} }
    }
}

/// Returns the address of the style sheet.
pub(super) fn style_address() -> String {
    let [style, ..] = &*ASSETS;
    style.address()
}

/// Renders the tag of the script of all pages.
pub(super) fn script_tag() -> Markup {
    let [_, script, ..] = &*ASSETS;
    script.script_tag()
}

/// Returns the address of the icon.
pub(super) fn icon_address() -> String {
    let [_, _, icon, ..] = &*ASSETS;
    icon.address()
}

/// Renders the tag of the script of the pages with passkeys.
pub(super) fn passkey_script_tag() -> Markup {
    let [_, _, _, script, ..] = &*ASSETS;
    script.script_tag()
}

/// Returns the addresses of the style sheets of the preview: of the payment form, and of the page around it.
pub(super) fn preview_style_addresses() -> [String; 2] {
    let [.., card, preview] = &*ASSETS;
    [card.address(), preview.address()]
}
