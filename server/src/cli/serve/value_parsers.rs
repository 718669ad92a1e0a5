//! Parsers of option values: addresses, node names, durations and keys.

use jiff::SignedDuration;
use tillgate_domain::delivery::target_url::TargetUrl;
use tillgate_domain::id::is_node_name;

/// The public key that verifies signed builds of the form.
#[derive(Debug, Clone)]
pub(super) struct FormKey(pub(super) [u8; 32]);

/// Decodes the base64 of a key of 32 bytes.
pub(super) fn parse_form_key(text: &str) -> Result<FormKey, String> {
    use base64::Engine as _;
    let bytes = base64::engine::general_purpose::STANDARD.decode(text).unwrap_or_default();
    bytes.try_into().map(FormKey).map_err(|_| "a key is 32 bytes in base64, 44 characters".to_owned())
}

/// Checks an address with http or https, a host, no query and no fragment, and ends it with one slash.
pub(in crate::cli) fn parse_public_url(text: &str) -> Result<String, String> {
    let target = TargetUrl::parse(text).map_err(|fault| format!("the address {fault}, such as https://pay.example"))?;
    if text.contains(['?', '#']) {
        return Err("an address looks like https://pay.example, without a query and a fragment".to_owned());
    }
    Ok(format!("{}/", target.uri().to_string().trim_end_matches('/')))
}

/// Checks a node's name.
pub(super) fn parse_node(text: &str) -> Result<String, String> {
    if is_node_name(text) {
        Ok(text.to_owned())
    } else {
        Err("1 to 15 lowercase letters, digits and hyphens".to_owned())
    }
}

/// Reads a duration that is not negative.
pub(super) fn parse_duration(text: &str) -> Result<SignedDuration, String> {
    let duration: SignedDuration = text.parse().map_err(|error| format!("{error}; examples: 24h, 90m, 30s"))?;
    if duration.is_negative() { Err("a duration is not negative".to_owned()) } else { Ok(duration) }
}

#[cfg(test)]
mod tests {
    use super::parse_public_url;

    #[test]
    fn a_public_url_has_neither_a_query_nor_a_fragment() {
        for (text, parsed) in [
            ("https://pay.example", Some("https://pay.example/")),
            ("https://pay.example/x//", Some("https://pay.example/x/")),
            ("https://pay.example/#x/", None),
            ("https://pay.example#", None),
            ("https://pay.example/?x", None),
            ("https://pay.example?", None),
            ("pay.example", None),
            ("ftp://pay.example", None),
            ("https://user@pay.example", None),
            ("https://Bücher.example/zahlung für", None),
            ("https://Bücher.example/für", Some("https://xn--bcher-kva.example/f%C3%BCr/")),
        ] {
            assert_eq!(parse_public_url(text).ok().as_deref(), parsed, "{text}");
        }
    }
}
