//! Addresses that the gateway sends HTTP requests to: webhooks, notifications, reminders, review callbacks, and the
//! acquirer's host. All of them are read by one parser, so that each is refused for the same reasons at once, and is
//! sent in the same form: the host in IDNA form, the path percent-encoded.

use std::net::IpAddr;

use http::Uri;
use url::{Host, ParseError, Url};

/// Largest length of an address, in characters (specification, document 2).
const MAX_LENGTH: usize = 2048;
/// Largest length of a host name, and of one of its labels (RFC 1035).
const MAX_HOST: usize = 253;
const MAX_LABEL: usize = 63;

/// A valid address.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TargetUrl {
    url: Url,
    uri: Uri,
}

/// Fault of an address. The text follows the address or its name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum TargetUrlError {
    /// The address is too long.
    #[error("may have {MAX_LENGTH} characters at most")]
    Length,
    /// The address has characters that clients read differently.
    #[error("may not contain spaces, control characters, or a backslash next to the host")]
    Characters,
    /// The scheme is missing or another one.
    #[error("must be an address that starts with https:// or http://")]
    Scheme,
    /// The address contains credentials, which would be shown wherever it is shown.
    #[error("may not name a user or a password")]
    User,
    /// The host is missing or is none.
    #[error("names no valid host")]
    Host,
    /// The port is no number up to 65535.
    #[error("names no valid port")]
    Port,
}

impl TargetUrl {
    /// Parses an address. Its fragment is dropped, because requests have none.
    ///
    /// # Errors
    /// The first fault of the address.
    pub fn parse(text: &str) -> Result<Self, TargetUrlError> {
        // The parser of browsers removes control characters and repairs other faults. Receivers may not do the same.
        if text.chars().any(|c| c.is_control() || c.is_whitespace()) {
            return Err(TargetUrlError::Characters);
        }
        if text.chars().count() > MAX_LENGTH {
            return Err(TargetUrlError::Length);
        }
        let (scheme, rest) = text.split_once("://").ok_or(TargetUrlError::Scheme)?;
        if !["https", "http"].iter().any(|known| scheme.eq_ignore_ascii_case(known)) {
            return Err(TargetUrlError::Scheme);
        }
        let authority = rest.split(['/', '?', '#']).next().unwrap_or_default();
        match authority {
            "" => return Err(TargetUrlError::Host),
            _ if authority.contains('@') => return Err(TargetUrlError::User),
            _ if authority.contains('\\') => return Err(TargetUrlError::Characters),
            // An escaped character would make the host another one than the reader sees.
            _ if authority.contains('%') => return Err(TargetUrlError::Host),
            _ => {}
        }
        let mut url = Url::parse(text).map_err(|fault| match fault {
            ParseError::InvalidPort => TargetUrlError::Port,
            _ => TargetUrlError::Host,
        })?;
        url.set_fragment(None);
        let has_valid_host = url.host().is_some_and(|host| is_valid_host(&host));
        let uri = has_valid_host.then(|| url.as_str().parse().ok()).flatten().ok_or(TargetUrlError::Host)?;
        Ok(Self { url, uri })
    }

    /// Returns true for https.
    pub fn is_https(&self) -> bool {
        self.url.scheme() == "https"
    }

    /// Returns the host in IDNA form, with brackets around an IPv6 address.
    pub fn host(&self) -> &str {
        self.url.host_str().unwrap_or_default()
    }

    /// Returns the host if it is an IP address.
    pub fn ip_address(&self) -> Option<IpAddr> {
        match self.url.host()? {
            Host::Ipv4(address) => Some(address.into()),
            Host::Ipv6(address) => Some(address.into()),
            Host::Domain(_) => None,
        }
    }

    /// Returns the port, also if it is the usual one of the scheme.
    pub fn port(&self) -> u16 {
        self.url.port_or_known_default().unwrap_or_default()
    }

    /// Returns the port if it is not the usual one of the scheme.
    pub fn unusual_port(&self) -> Option<u16> {
        self.url.port()
    }

    /// Returns the address for a request.
    pub fn uri(&self) -> &Uri {
        &self.uri
    }
}

impl From<TargetUrl> for Uri {
    fn from(target: TargetUrl) -> Self {
        target.uri
    }
}

/// Parses a host name or an IP address, which is an IPv6 address in brackets. A name is converted to its IDNA form in
/// lowercase letters. Returns `None` if it is none.
pub fn parse_host(text: &str) -> Option<Host<String>> {
    let host = Host::parse(text).ok().filter(|_| !text.contains('%'))?;
    is_valid_host(&host).then_some(host)
}

fn is_valid_host<S: AsRef<str>>(host: &Host<S>) -> bool {
    let Host::Domain(name) = host else { return true };
    let name = name.as_ref().strip_suffix('.').unwrap_or(name.as_ref());
    name.len() <= MAX_HOST && name.split('.').all(|label| (1..=MAX_LABEL).contains(&label.len()))
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use crate::delivery::target_url::*;
    use proptest::prelude::*;

    #[test]
    fn an_address_is_sent_with_an_idna_host_and_an_encoded_path() {
        for (text, sent) in [
            ("https://shop.example", "https://shop.example/"),
            ("HTTPS://Shop.Example:443/a?b#c", "https://shop.example/a?b"),
            ("http://shop.example:8080/%7Ea", "http://shop.example:8080/%7Ea"),
            ("https://bücher.example/", "https://xn--bcher-kva.example/"),
            ("https://BÜCHER。example/", "https://xn--bcher-kva.example/"),
            ("https://ｓｈｏｐ.example/", "https://shop.example/"),
            ("https://xn--bcher-kva.example/", "https://xn--bcher-kva.example/"),
            ("https://shop.example/grüße?q=ä&x=[1]|{2}", "https://shop.example/gr%C3%BC%C3%9Fe?q=%C3%A4&x=[1]|{2}"),
            ("https://shop.example/a\"b<c>`d", "https://shop.example/a%22b%3Cc%3E%60d"),
            ("https://shop.example/@jane", "https://shop.example/@jane"),
            ("https://shop.example:/", "https://shop.example/"),
            ("http://shop.example:80", "http://shop.example/"),
            ("http://[2001:DB8::1]:8080", "http://[2001:db8::1]:8080/"),
            ("http://0x7f.1/", "http://127.0.0.1/"),
            ("http://2130706433:8080/", "http://127.0.0.1:8080/"),
            ("http://my_host.internal./x", "http://my_host.internal./x"),
        ] {
            assert_eq!(TargetUrl::parse(text).unwrap().uri().to_string(), sent, "{text}");
        }
        let target = TargetUrl::parse("https://shop.example").unwrap();
        assert_eq!((target.port(), target.unusual_port(), target.is_https()), (443, None, true));
        let target = TargetUrl::parse("http://[::1]:9/").unwrap();
        assert_eq!((target.port(), target.unusual_port(), target.is_https()), (9, Some(9), false));
        assert_eq!((target.host(), target.ip_address().unwrap().is_loopback()), ("[::1]", true));
    }

    #[test]
    fn each_fault_is_named() {
        use TargetUrlError::{Characters, Host, Length, Port, Scheme, User};
        for (text, fault) in [
            ("", Scheme),
            ("shop.example", Scheme),
            ("ftp://shop.example/", Scheme),
            ("my.app://done", Scheme),
            ("https:/shop.example", Scheme),
            ("javascript:alert(1)//https://shop.example", Scheme),
            ("http://user:pw@host/", User),
            ("http://user@host/", User),
            ("http://@host/", User),
            ("http://host:80@evil.example:x/", User),
            ("https://shop.example\\@evil.example/", User),
            ("https://shop.example\\.evil.example/", Characters),
            ("https://shop.example/a b", Characters),
            ("https://shop.example/a\r\nX: y", Characters),
            ("https://shop\u{2028}.example/", Characters),
            ("https://", Host),
            ("https:///path", Host),
            ("https://?q", Host),
            ("https://a..b/", Host),
            ("https://.example/", Host),
            ("https://exa%6Dple.com/", Host),
            ("https://a<b>/", Host),
            ("https://1.2.3.256/", Host),
            ("https://[::g]/", Host),
            ("https://[fe80::1%25eth0]/", Host),
            ("https://[::1/", Host),
            ("https://xn--a/", Host),
            ("https://\u{202e}.example/", Host),
            ("https://shop.example:65536/", Port),
            ("https://shop.example:x/", Port),
            ("https://shop.example:+443/", Port),
            ("https://shop.example:443:25/", Port),
            ("https://[::1]:-1/", Port),
        ] {
            assert_eq!(TargetUrl::parse(text).unwrap_err(), fault, "{text}");
        }
        let long = format!("https://shop.example/{}", "x".repeat(MAX_LENGTH));
        assert_eq!(TargetUrl::parse(&long), Err(Length));
        for host in [format!("{}.example", "a".repeat(64)), ["a"; 130].join(".")] {
            assert_eq!(TargetUrl::parse(&format!("https://{host}/")), Err(Host), "{host}");
        }
    }

    proptest! {
        #[test]
        fn what_is_taken_is_visible_ascii_with_the_host_that_was_read(
            text in "https?://[a-zü。.:/@%?#\\[\\]|{}^`\"<>0-9-]{0,30}",
        ) {
            if let Ok(target) = TargetUrl::parse(&text) {
                let sent = target.uri().to_string();
                let again = TargetUrl::parse(&sent).unwrap();
                prop_assert!(sent.bytes().all(|byte| byte.is_ascii_graphic()), "{sent}");
                prop_assert_eq!(target.uri().host(), Some(target.host()));
                prop_assert_eq!(target.uri().port_u16(), target.unusual_port());
                prop_assert_eq!(again.uri(), target.uri());
            }
        }
    }
}
