//! The hosts of the card frames (`--fields-url`) and of further pages (`--backoffice-url`), by their names.

/// The address of the card frames.
#[derive(Debug, Clone)]
pub struct FieldsUrl {
    /// The address, with a trailing slash.
    base: String,
    /// Its host name in lower case, without a port.
    pub(super) name: String,
}

impl FieldsUrl {
    /// Checks the address of the frames against the public one: another host name, the same scheme, and only characters
    /// that are safe in a script.
    ///
    /// # Errors
    /// A sentence for the operator that says what is wrong.
    pub fn new(base: &str, public: &str) -> Result<Self, &'static str> {
        let (scheme, name) = scheme_and_host(base);
        let (public_scheme, public_name) = scheme_and_host(public);
        if name == public_name {
            return Err(
                "needs a separate host name, by which browsers and proxies distinguish the frames from other pages",
            );
        }
        if scheme != public_scheme {
            return Err("and --public-url have to begin with the same scheme");
        }
        // The address becomes part of a script.
        if !base.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-._~:/[]%".contains(&byte)) {
            return Err("may consist of letters, digits and -._~:/[]% only");
        }
        Ok(Self { base: base.to_owned(), name })
    }

    /// Returns the address, with a trailing slash.
    pub fn as_str(&self) -> &str {
        &self.base
    }
}

/// Further pages, such as the back office, with a host of their own (`--backoffice-url`).
#[derive(Debug, Clone)]
pub struct PagesHost {
    /// Host name in lower case, without a port.
    pub(super) name: String,
    /// The path of the pages.
    path: &'static str,
}

impl PagesHost {
    /// Takes the host of an address for the pages below a path.
    pub fn new(address: &str, path: &'static str) -> Self {
        let (_, name) = scheme_and_host(address);
        Self { name, path }
    }

    /// Returns true if an address has the same host.
    pub fn is_host_of(&self, address: &str) -> bool {
        scheme_and_host(address).1 == self.name
    }

    /// Returns true if a path is below that of the pages.
    pub(super) fn has_path(&self, path: &str) -> bool {
        let rest = path.strip_prefix(self.path);
        rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
    }
}

/// Returns the scheme of an address, and its host name without port, both in lower case. Both are empty if there is no
/// `://`.
fn scheme_and_host(address: &str) -> (String, String) {
    let (scheme, rest) = address.split_once("://").unwrap_or_default();
    let authority = rest.split('/').next().unwrap_or_default();
    (scheme.to_ascii_lowercase(), host_name(authority))
}

/// Returns the name in `user@name:port`, in lower case. An IPv6 address keeps its brackets.
pub(super) fn host_name(authority: &str) -> String {
    let after_user = authority.rsplit('@').next().unwrap_or_default();
    let end = match after_user.rfind(':') {
        Some(colon) if !after_user[colon..].contains(']') => colon,
        _ => after_user.len(),
    };
    after_user[..end].to_ascii_lowercase()
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn a_host_is_known_by_its_name_whatever_its_case_and_port() {
        for (authority, name) in [
            ("fields.pay.example", "fields.pay.example"),
            ("Fields.PAY.example:8443", "fields.pay.example"),
            ("[::1]:8080", "[::1]"),
            ("[::1]", "[::1]"),
            ("", ""),
        ] {
            assert_eq!(host_name(authority), name);
        }
    }

    #[test]
    fn an_address_that_would_not_separate_the_frames_is_refused() {
        let public = "https://pay.example/";
        assert_eq!(
            FieldsUrl::new("https://fields.pay.example/", public).unwrap().as_str(),
            "https://fields.pay.example/"
        );
        for base in [
            "https://pay.example/",
            "https://PAY.example:8443/",
            "http://fields.pay.example/",
            "https://fields.pay.example/\"+alert(1)+\"/",
            "https://fields.pay.example/'/",
        ] {
            assert!(FieldsUrl::new(base, public).is_err(), "{base}");
        }
    }
}
