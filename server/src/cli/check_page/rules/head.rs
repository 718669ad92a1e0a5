//! Rules for the page itself: mode, language, viewport, encryption.

use crate::cli::check_page::finding::FindingKind::{
    Direction, Doctype, Language, PageWithoutTls, ViewportMissing, ViewportZoom,
};
use crate::cli::check_page::finding::Findings;
use crate::cli::check_page::is_of_this_machine;
use crate::cli::check_page::page::ServedPage;

const VIEWPORT_LINE: &str = "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">";
/// Languages that are written from right to left.
const RIGHT_TO_LEFT: [&str; 7] = ["ar", "dv", "fa", "he", "ps", "ur", "yi"];
/// Smallest maximum scale with which text can be enlarged to 200 % (WCAG 2.2, 1.4.4).
const LEAST_MAXIMUM_SCALE: f64 = 2.0;

/// Checks doctype, language, direction, viewport and encryption of a page.
pub(super) fn check_head(page: &ServedPage, findings: &mut Findings) {
    if !page.document.has_doctype {
        let message = "The page does not begin with the doctype of HTML5, so browsers lay it out by old rules.";
        findings.add(Doctype, message, "<!doctype html>");
    }
    check_language(page, findings);
    check_viewport(page, findings);
    if page.url.scheme() == "http" && !is_of_this_machine(&page.url) {
        let mut encrypted = page.url.clone();
        let _ = encrypted.set_scheme("https");
        encrypted.set_query(None);
        let message = "The page is served without TLS, so anyone on the network can change the form.";
        findings.add(PageWithoutTls, message, encrypted.as_str());
    }
}

fn check_language(page: &ServedPage, findings: &mut Findings) {
    let html = page.document.elements("html").next();
    let attribute = |name| html.and_then(|html| html.attribute(name)).unwrap_or_default().trim().to_ascii_lowercase();
    let language = attribute("lang");
    if language.is_empty() {
        let message = "The page does not name its language, so screen readers read it with the wrong voice.";
        findings.add(Language, message, "<html lang=\"en\">");
        return;
    }
    let is_right_to_left = RIGHT_TO_LEFT.contains(&language.split(['-', '_']).next().unwrap_or_default());
    if is_right_to_left && attribute("dir") != "rtl" {
        let message =
            format!("The language {language} is written from right to left, and the page has another direction.");
        findings.add(Direction, message, format!("<html lang=\"{language}\" dir=\"rtl\">"));
    }
}

fn check_viewport(page: &ServedPage, findings: &mut Findings) {
    let Some(viewport) = page.document.meta("viewport") else {
        let message = "The page has no viewport, so phones show it and the form at the width of a desktop.";
        findings.add(ViewportMissing, message, VIEWPORT_LINE);
        return;
    };
    for setting in viewport.split([',', ';']) {
        let (name, value) = setting.split_once('=').unwrap_or((setting, ""));
        let (name, value) = (name.trim().to_ascii_lowercase(), value.trim().to_ascii_lowercase());
        let forbids_zoom = match name.as_str() {
            "user-scalable" => matches!(value.as_str(), "no" | "0"),
            "maximum-scale" => value.parse::<f64>().is_ok_and(|scale| (0.0..LEAST_MAXIMUM_SCALE).contains(&scale)),
            _ => false,
        };
        if forbids_zoom {
            let message = format!("{name}={value} keeps shoppers from enlarging the page and the form.");
            findings.add(ViewportZoom, message, VIEWPORT_LINE);
        }
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use crate::cli::check_page::page::tests::{kinds, page_with};

    #[test]
    fn each_fault_of_the_head_is_found() {
        for (part, replacement, expected) in [
            ("<!doctype html>", "", "doctype"),
            (" lang=\"en\"", "", "language"),
            (" lang=\"en\"", " lang=\"\"", "language"),
            (" lang=\"en\"", " lang=\"ar-EG\"", "direction"),
            ("<meta name=\"viewport\" content=\"width=device-width\">", "", "viewport-missing"),
            ("width=device-width\"", "width=device-width, user-scalable=no\"", "viewport-zoom"),
            ("width=device-width\"", "width=device-width,maximum-scale = 1.0\"", "viewport-zoom"),
        ] {
            assert_eq!(kinds(&[], &page_with(part, replacement)), [expected], "{replacement}");
        }
        for (part, replacement) in [
            (" lang=\"en\"", " lang=\"he\" dir=\"RTL\""),
            ("width=device-width\"", "width=device-width, maximum-scale=5, user-scalable=yes\""),
        ] {
            assert_eq!(kinds(&[], &page_with(part, replacement)), [""; 0], "{replacement}");
        }
    }
}
