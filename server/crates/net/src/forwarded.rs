//! Headers in which a proxy reports the request that it got: `X-Forwarded-For`, `X-Forwarded-Proto` and
//! `X-Forwarded-Host`, or else `Forwarded` (RFC 7239). A header with the prefix `X-` decides alone if it is there: a
//! proxy that writes only those passes on a `Forwarded` of the client.

use std::net::IpAddr;

use axum::http::HeaderMap;
use tillgate_domain::ip_text;

/// The standard header.
const FORWARDED: &str = "forwarded";

/// Sender of a request, as a proxy reports it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Hop {
    /// Its address.
    Address(IpAddr),
    /// The proxy hides it.
    Hidden,
    /// The text is no address.
    Unreadable(String),
}

/// Returns the senders of a request, the nearest first: proxies append at the right end.
pub fn read_hops(headers: &HeaderMap) -> Vec<Hop> {
    let mut hops = Vec::new();
    for value in headers.get_all("x-forwarded-for") {
        match value.to_str() {
            Ok(text) => hops.extend(text.split(',').filter_map(|hop| read_hop(strip_quotes(hop.trim())))),
            Err(_) => hops.push(Hop::Unreadable(format!("{value:?}"))),
        }
    }
    if !headers.contains_key("x-forwarded-for") {
        for value in headers.get_all(FORWARDED) {
            match value.to_str().ok().and_then(parse_elements) {
                Some(elements) => hops.extend(elements.iter().filter_map(|element| read_hop(element.find("for")?))),
                None => hops.push(Hop::Unreadable(format!("{value:?}"))),
            }
        }
    }
    hops.reverse();
    hops
}

/// Returns the scheme of the client's request, as the nearest proxy reports it.
pub fn read_scheme(headers: &HeaderMap) -> Option<String> {
    read_last(headers, "x-forwarded-proto", "proto").map(|scheme| scheme.to_ascii_lowercase())
}

/// Returns the host that the client asked for, as the nearest proxy reports it.
pub fn read_host(headers: &HeaderMap) -> Option<String> {
    read_last(headers, "x-forwarded-host", "host")
}

/// Returns the last value of a header, or else the parameter with this name in the last element of `Forwarded`.
fn read_last(headers: &HeaderMap, header: &str, name: &str) -> Option<String> {
    let last = |header: &str| headers.get_all(header).iter().next_back()?.to_str().ok();
    let value = if headers.contains_key(header) {
        let values = last(header)?.rsplit(',').map(str::trim);
        strip_quotes(values.into_iter().find(|value| !value.is_empty())?).to_owned()
    } else {
        parse_elements(last(FORWARDED)?)?.pop()?.find(name)?.to_owned()
    };
    Some(value).filter(|value| !value.is_empty())
}

/// Reads a hop. Returns `None` for an empty one, as behind a comma at the end.
fn read_hop(text: &str) -> Option<Hop> {
    match ip_text::parse_node(text) {
        Some(address) => Some(Hop::Address(address)),
        None if text.is_empty() => None,
        None if ip_text::is_hidden_node(text) => Some(Hop::Hidden),
        None => Some(Hop::Unreadable(text.to_owned())),
    }
}

/// Removes quotes around a text, which some proxies write around every address.
fn strip_quotes(text: &str) -> &str {
    text.strip_prefix('"').and_then(|text| text.strip_suffix('"')).unwrap_or(text).trim()
}

/// An element of `Forwarded`: what one proxy reports, as names in lowercase letters with their values.
#[derive(Debug, Default, PartialEq, Eq)]
struct ForwardedElement(Vec<(String, String)>);

impl ForwardedElement {
    fn find(&self, name: &str) -> Option<&str> {
        self.0.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_str())
    }
}

/// Parses the value of a `Forwarded` header. Returns `None` if it is malformed, such as a quote without an end.
fn parse_elements(text: &str) -> Option<Vec<ForwardedElement>> {
    let mut elements = Vec::new();
    for element in split_unquoted(text, ',')? {
        let mut parsed = ForwardedElement::default();
        for pair in split_unquoted(element, ';')?.into_iter().map(str::trim).filter(|pair| !pair.is_empty()) {
            let (name, value) = pair.split_once('=')?;
            parsed.0.push((name.trim().to_ascii_lowercase(), unescape(value.trim())));
        }
        elements.extend((!parsed.0.is_empty()).then_some(parsed));
    }
    Some(elements)
}

/// Splits a text at a separator outside of quoted strings. Returns `None` if a quoted string has no end.
fn split_unquoted(text: &str, separator: char) -> Option<Vec<&str>> {
    let (mut parts, mut start, mut is_quoted, mut is_escaped) = (Vec::new(), 0, false, false);
    for (at, character) in text.char_indices() {
        match character {
            _ if is_escaped => is_escaped = false,
            '\\' if is_quoted => is_escaped = true,
            '"' => is_quoted = !is_quoted,
            _ if character == separator && !is_quoted => {
                parts.push(text.get(start..at)?);
                start = at + character.len_utf8();
            }
            _ => {}
        }
    }
    parts.push(text.get(start..)?);
    (!is_quoted).then_some(parts)
}

/// Returns the text of a token or a quoted string (RFC 9110, 5.6.4).
fn unescape(text: &str) -> String {
    let Some(quoted) = text.strip_prefix('"').and_then(|text| text.strip_suffix('"')) else { return text.to_owned() };
    let mut plain = String::with_capacity(quoted.len());
    let mut characters = quoted.chars();
    while let Some(character) = characters.next() {
        plain.extend(if character == '\\' { characters.next() } else { Some(character) });
    }
    plain
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use axum::http::{HeaderName, HeaderValue};

    use super::*;

    fn build_headers(lines: &[(&str, &str)]) -> HeaderMap {
        let mut headers = HeaderMap::new();
        for (name, value) in lines {
            headers.append(name.parse::<HeaderName>().unwrap(), HeaderValue::from_bytes(value.as_bytes()).unwrap());
        }
        headers
    }

    /// Returns the hops as text, the nearest first.
    fn hops(lines: &[(&str, &str)]) -> String {
        let describe = |hop: Hop| match hop {
            Hop::Address(address) => address.to_string(),
            Hop::Hidden => "hidden".to_owned(),
            Hop::Unreadable(_) => "unreadable".to_owned(),
        };
        read_hops(&build_headers(lines)).into_iter().map(describe).collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn addresses_are_read_as_proxies_write_them() {
        for (value, expected) in [
            ("203.0.113.7:51234", "203.0.113.7"),
            ("198.51.100.4, 203.0.113.7:51234", "203.0.113.7 198.51.100.4"),
            ("\"203.0.113.7\"", "203.0.113.7"),
            ("\"[2001:db8::1]:4711\"", "2001:db8::1"),
            ("203.0.113.7,", "203.0.113.7"),
            ("203.0.113.7, ,\t", "203.0.113.7"),
            ("[2001:db8::1]:4711,2001:db8::2", "2001:db8::2 2001:db8::1"),
            ("::ffff:203.0.113.7", "203.0.113.7"),
            ("fe80::1%eth0", "fe80::1"),
            ("unknown, 203.0.113.7", "203.0.113.7 hidden"),
            ("junk, 203.0.113.7", "203.0.113.7 unreadable"),
            ("203.0.113.7:99999", "unreadable"),
            ("203.0.113.7 198.51.100.4", "unreadable"),
            ("ä", "unreadable"),
            ("", ""),
        ] {
            assert_eq!(hops(&[("x-forwarded-for", value)]), expected, "{value}");
        }
        assert_eq!(
            hops(&[("x-forwarded-for", "198.51.100.4"), ("x-forwarded-for", "203.0.113.7")]),
            "203.0.113.7 198.51.100.4"
        );
    }

    #[test]
    fn the_standard_header_is_read_where_the_other_is_missing() {
        for (value, expected) in [
            ("for=192.0.2.60;proto=http;by=203.0.113.43", "192.0.2.60"),
            ("For=\"[2001:db8:cafe::17]:4711\"", "2001:db8:cafe::17"),
            ("for=192.0.2.43, for=198.51.100.17;by=\"a,b;c\"", "198.51.100.17 192.0.2.43"),
            ("for=\"192.0.2.43:47011\",for=_hidden, for=\"unknown\"", "hidden hidden 192.0.2.43"),
            ("proto=https", ""),
            ("for=192.0.2.43;,", "192.0.2.43"),
            ("for=\"19\\2.0.2.43\"", "192.0.2.43"),
            ("for=\"192.0.2.43", "unreadable"),
            ("192.0.2.43", "unreadable"),
            ("for=junk", "unreadable"),
        ] {
            assert_eq!(hops(&[("forwarded", value)]), expected, "{value}");
            let both = [("forwarded", value), ("x-forwarded-for", "203.0.113.9")];
            assert_eq!(hops(&both), "203.0.113.9", "{value}: the proxy passes on what the client sends");
        }
    }

    #[test]
    fn scheme_and_host_are_those_of_the_nearest_proxy() {
        let scheme = |name, value| read_scheme(&build_headers(&[(name, value)]));
        assert_eq!(scheme("x-forwarded-proto", "http, HTTPS"), Some("https".to_owned()));
        assert_eq!(scheme("x-forwarded-proto", "https,"), Some("https".to_owned()));
        assert_eq!(scheme("forwarded", "proto=https, for=192.0.2.1;Proto=\"http\""), Some("http".to_owned()));
        assert_eq!(scheme("forwarded", "proto=https, for=192.0.2.1"), None, "the nearest proxy says nothing");
        assert_eq!(scheme("x-forwarded-proto", ""), None);
        let both = build_headers(&[("x-forwarded-proto", "http"), ("forwarded", "proto=https;host=evil.example")]);
        assert_eq!(read_scheme(&both), Some("http".to_owned()));
        let host = build_headers(&[("forwarded", "host=\"pay.example:8443\";proto=https")]);
        assert_eq!(read_host(&host), Some("pay.example:8443".to_owned()));
    }
}
