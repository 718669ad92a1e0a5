//! Cookies of the back office: the session, the mark of a known browser, and the challenge of a passkey.
//!
//! Over HTTPS their names begin with `__Host-`: no other host and no plain HTTP response can set them. On the loopback
//! interface, where the demo runs without TLS, they have neither the prefix nor `Secure`: Chromium accepts both there,
//! but Safari does not.

use axum::http::{HeaderMap, HeaderValue, header};

/// Time for which a browser is known, in seconds: a year.
const DEVICE_AGE: u32 = 365 * 24 * 3600;
/// Time for which the challenge of a passkey is kept, in seconds. The gateway refuses a later answer by itself.
const CHALLENGE_AGE: u32 = 300;

/// A cookie.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Cookie {
    /// Token of the session.
    Session,
    /// Mark of a browser in which a user has signed in.
    Device,
    /// Token of the challenge that waits for a passkey.
    Challenge,
}

impl Cookie {
    fn name(self, is_secure: bool) -> &'static str {
        match (self, is_secure) {
            (Self::Session, true) => "__Host-tillgate-session",
            (Self::Session, false) => "tillgate-session",
            (Self::Device, true) => "__Host-tillgate-device",
            (Self::Device, false) => "tillgate-device",
            (Self::Challenge, true) => "__Host-tillgate-challenge",
            (Self::Challenge, false) => "tillgate-challenge",
        }
    }

    /// Reads the cookie of a request.
    pub(super) fn read(self, headers: &HeaderMap, is_secure: bool) -> Option<&str> {
        let texts = headers.get_all(header::COOKIE).iter().filter_map(|value| value.to_str().ok());
        let mut pairs = texts.flat_map(|text| text.split(';')).filter_map(|pair| pair.trim().split_once('='));
        pairs.find(|(name, _)| *name == self.name(is_secure)).map(|(_, value)| value)
    }

    /// Returns the header that sets the cookie. An empty value deletes it. `Lax` lets a link in a mail open a page of a
    /// signed-in user, and every request that changes something is checked to come from our own pages.
    pub(super) fn set(self, value: &str, is_secure: bool) -> HeaderValue {
        let age = match self {
            _ if value.is_empty() => "; Max-Age=0".to_owned(),
            // It ends with the browser.
            Self::Session => String::new(),
            Self::Device => format!("; Max-Age={DEVICE_AGE}"),
            Self::Challenge => format!("; Max-Age={CHALLENGE_AGE}"),
        };
        let secure = if is_secure { "; Secure" } else { "" };
        let text = format!("{}={value}; Path=/; HttpOnly; SameSite=Lax{secure}{age}", self.name(is_secure));
        // The values are hexadecimal digits, so this is always a header.
        HeaderValue::try_from(text).unwrap_or_else(|_| HeaderValue::from_static(""))
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn a_cookie_is_read_by_its_whole_name_and_set_for_this_host_only() {
        let mut headers = HeaderMap::new();
        headers.insert("cookie", "a=b; tillgate-session=1; __Host-tillgate-session=2".parse().unwrap());
        assert_eq!(Cookie::Session.read(&headers, true), Some("2"));
        assert_eq!(Cookie::Session.read(&headers, false), Some("1"));
        assert_eq!(Cookie::Device.read(&headers, true), None);
        assert_eq!(
            Cookie::Session.set("ab", true),
            "__Host-tillgate-session=ab; Path=/; HttpOnly; SameSite=Lax; Secure"
        );
        assert_eq!(Cookie::Session.set("", false), "tillgate-session=; Path=/; HttpOnly; SameSite=Lax; Max-Age=0");
    }
}
