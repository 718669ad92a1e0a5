//! Paths to which a browser may be sent after the sign-in.

use crate::BASE;

/// Returns a path of the back office, as it was given. Any other text, such as an address of another host, leads to the
/// first page.
pub(super) fn own_path(text: &str) -> &str {
    let rest = text.strip_prefix(BASE);
    let is_inside = rest.is_some_and(|rest| rest.is_empty() || rest.starts_with(['/', '?']));
    // A browser reads a backslash as a slash, and leaves out tabs and line ends.
    let is_plain = text.len() <= 1000
        && text.bytes().all(|byte| byte.is_ascii_graphic() && !b"\\\"<>#".contains(&byte))
        && !text.contains("//")
        && !text.contains("..");
    // The sign-in itself would lead in a circle.
    let is_sign_in = rest.is_some_and(|rest| rest.starts_with("/sign-"));
    if is_inside && is_plain && !is_sign_in { text } else { BASE }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_paths_of_the_back_office_are_followed() {
        for text in ["/backoffice", "/backoffice/payments/8a01", "/backoffice/payments?result=declined&from=2026-11-01"]
        {
            assert_eq!(own_path(text), text);
        }
        for text in [
            "",
            "/",
            "//evil.example",
            "https://evil.example",
            "/backoffice.evil.example",
            "/backofficex",
            "/\\evil.example",
            "/backoffice//evil.example",
            "/backoffice/..//evil.example",
            "/backoffice/\\evil.example",
            "javascript:alert(1)",
            "/backoffice\r\nSet-Cookie: a=b",
            " /backoffice",
            "/backoffice/sign-in?next=/backoffice",
            "\t//evil.example",
            "/v1/checkouts",
            "/backoffice/../v1/checkouts",
            "/backoffice/%0d\u{e4}",
        ] {
            assert_eq!(own_path(text), BASE, "{text:?}");
        }
    }
}
