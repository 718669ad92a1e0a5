//! Content Security Policies of a page, by the rules of CSP Level 3: the directives, their fallbacks, and the sources
//! that match an address.

use base64::Engine as _;
use base64::engine::general_purpose::{STANDARD, URL_SAFE};
use sha2::{Digest as _, Sha256, Sha384, Sha512};
use url::Url;

/// Content of a script element or its attributes, as far as policies look at it.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct ScriptAccess<'a> {
    /// Attribute `nonce`.
    pub(super) nonce: Option<&'a str>,
    /// Attribute `integrity` of an external script.
    pub(super) integrity: Option<&'a str>,
}

/// A policy: its directives with their values.
#[derive(Debug, Clone)]
pub(super) struct Policy {
    /// The policy's place, for messages: the header or a `meta`.
    pub(super) place: &'static str,
    directives: Vec<(String, Vec<String>)>,
}

impl Policy {
    /// Parses a header's value, which may hold several policies. All of them are enforced. Empty ones are left out.
    pub(super) fn parse_list(value: &str, place: &'static str) -> Vec<Self> {
        value
            .split(',')
            .map(|policy| Self::parse(policy, place))
            .filter(|policy| !policy.directives.is_empty())
            .collect()
    }

    /// Parses one policy. The first of several directives with the same name counts.
    fn parse(value: &str, place: &'static str) -> Self {
        let mut directives: Vec<(String, Vec<String>)> = Vec::new();
        for directive in value.split(';') {
            let mut words = directive.split_ascii_whitespace();
            let Some(name) = words.next().map(str::to_ascii_lowercase) else { continue };
            if !directives.iter().any(|(known, _)| *known == name) {
                directives.push((name, words.map(str::to_owned).collect()));
            }
        }
        Self { place, directives }
    }

    /// Returns the values of a directive.
    pub(super) fn find(&self, name: &str) -> Option<&[String]> {
        self.directives.iter().find(|(known, _)| known == name).map(|(_, values)| &values[..])
    }

    /// Returns the first of these directives that the policy has, with its values: a directive and its fallbacks.
    pub(super) fn find_first<'a>(&'a self, names: &[&'a str]) -> Option<SourceList<'a>> {
        names.iter().find_map(|name| self.find(name).map(|values| SourceList { directive: name, values }))
    }
}

/// The sources of a directive.
#[derive(Debug, Clone, Copy)]
pub(super) struct SourceList<'a> {
    /// Name of the directive.
    pub(super) directive: &'a str,
    values: &'a [String],
}

impl SourceList<'_> {
    /// Returns true if the list has a keyword, such as `'unsafe-inline'`.
    pub(super) fn has_keyword(&self, keyword: &str) -> bool {
        self.values.iter().any(|value| value.eq_ignore_ascii_case(keyword))
    }

    /// Returns the directive as it has to be written so that it also allows `source`. `'none'` must stand alone.
    pub(super) fn with_source(&self, source: &str) -> String {
        let kept = self.values.iter().filter(|value| !value.eq_ignore_ascii_case("'none'")).map(String::as_str);
        let values: Vec<&str> = kept.chain([source]).collect();
        format!("{} {}", self.directive, values.join(" "))
    }

    /// Returns true if the list allows an address, for a page at `page`.
    pub(super) fn allows_url(&self, url: &Url, page: &Url) -> bool {
        self.values.iter().any(|source| matches_source(source, url, page))
    }

    /// Returns true if the list allows the script element that loads `url`.
    pub(super) fn allows_script(&self, url: &Url, page: &Url, access: ScriptAccess<'_>) -> bool {
        // Under 'strict-dynamic', hosts do not count.
        let by_address = !self.has_keyword("'strict-dynamic'") && self.allows_url(url, page);
        by_address || self.allows_nonce(access.nonce) || self.allows_integrity(access.integrity)
    }

    /// Returns true if the list allows a script element with this text.
    pub(super) fn allows_inline_script(&self, text: &str, nonce: Option<&str>) -> bool {
        let is_strict = self.has_keyword("'strict-dynamic'")
            || self.values.iter().any(|value| hash_of(value).is_some() || nonce_of(value).is_some());
        // 'unsafe-inline' does not count beside a nonce or a hash.
        (!is_strict && self.has_keyword("'unsafe-inline'"))
            || self.allows_nonce(nonce)
            || self.values.iter().filter_map(|value| hash_of(value)).any(|hash| hash.matches(text.as_bytes()))
    }

    fn allows_nonce(&self, nonce: Option<&str>) -> bool {
        let given = nonce.filter(|nonce| !nonce.is_empty());
        given.is_some_and(|given| self.values.iter().filter_map(|value| nonce_of(value)).any(|nonce| nonce == given))
    }

    /// Returns true if every hash of the attribute is in the list (CSP 3, 8.4).
    fn allows_integrity(&self, integrity: Option<&str>) -> bool {
        let given: Vec<Hash> = integrity.map(read_integrity).unwrap_or_default();
        let is_listed = |hash: &Hash| self.values.iter().filter_map(|value| hash_of(value)).any(|known| known == *hash);
        !given.is_empty() && given.iter().all(is_listed)
    }
}

/// A hash of a script: an algorithm of Subresource Integrity and the digest.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Hash {
    bits: u16,
    digest: Vec<u8>,
}

impl Hash {
    /// Parses `sha384-…`, without quotes. `None` for another algorithm or a digest that is no base64.
    fn parse(text: &str) -> Option<Self> {
        let (algorithm, digest) = text.split_once('-')?;
        let bits = match algorithm.to_ascii_lowercase().as_str() {
            "sha256" => 256,
            "sha384" => 384,
            "sha512" => 512,
            _ => return None,
        };
        let digest = STANDARD.decode(digest).or_else(|_| URL_SAFE.decode(digest)).ok()?;
        Some(Self { bits, digest })
    }

    /// Returns true if the content has this hash.
    fn matches(&self, content: &[u8]) -> bool {
        match self.bits {
            256 => Sha256::digest(content)[..] == self.digest,
            384 => Sha384::digest(content)[..] == self.digest,
            _ => Sha512::digest(content)[..] == self.digest,
        }
    }
}

/// Reads the hashes of an attribute `integrity`. Other words in it are ignored, as browsers do.
fn read_integrity(attribute: &str) -> Vec<Hash> {
    let words = attribute.split_ascii_whitespace();
    words.filter_map(|word| Hash::parse(word.split_once('?').map_or(word, |(hash, _)| hash))).collect()
}

/// Returns true if a browser accepts the content for an attribute `integrity`: one of the hashes of the strongest
/// algorithm has to match. `None` if the attribute has no hash, so that the browser checks nothing.
pub(super) fn accepts_content(attribute: &str, content: &[u8]) -> Option<bool> {
    let hashes = read_integrity(attribute);
    let strongest = hashes.iter().map(|hash| hash.bits).max()?;
    Some(hashes.iter().filter(|hash| hash.bits == strongest).any(|hash| hash.matches(content)))
}

/// Returns the word between the quotes of a keyword source.
fn unquote(source: &str) -> Option<&str> {
    source.strip_prefix('\'')?.strip_suffix('\'')
}

fn hash_of(source: &str) -> Option<Hash> {
    Hash::parse(unquote(source)?)
}

fn nonce_of(source: &str) -> Option<&str> {
    let word = unquote(source)?;
    let is_nonce = word.get(..6).is_some_and(|start| start.eq_ignore_ascii_case("nonce-"));
    is_nonce.then(|| word.get(6..)).flatten()
}

/// Returns true if a source matches an address (CSP 3, 6.7.2.8).
fn matches_source(source: &str, url: &Url, page: &Url) -> bool {
    if source == "*" {
        return matches!(url.scheme(), "http" | "https" | "ws" | "wss") || url.scheme() == page.scheme();
    }
    if source.eq_ignore_ascii_case("'self'") {
        return matches_self(url, page);
    }
    if source.starts_with('\'') {
        return false;
    }
    if let Some(scheme) = source.strip_suffix(':') {
        return matches_scheme(scheme, url.scheme());
    }
    let (scheme, rest) = source.split_once("://").map_or((None, source), |(scheme, rest)| (Some(scheme), rest));
    if !matches_scheme(scheme.unwrap_or(page.scheme()), url.scheme()) {
        return false;
    }
    let (authority, path) = rest.find('/').map_or((rest, ""), |at| rest.split_at(at));
    let is_port = |port: &str| port == "*" || port.bytes().all(|byte| byte.is_ascii_digit());
    let (host, port) = match authority.rsplit_once(':') {
        Some((host, port)) if is_port(port) => (host, port),
        _ => (authority, ""),
    };
    matches_host(host, url.host_str().unwrap_or_default()) && matches_port(port, url) && matches_path(path, url.path())
}

/// Returns true if an address has the page's origin, or the same host after an upgrade to https.
fn matches_self(url: &Url, page: &Url) -> bool {
    let has_usual_ports = url.port().is_none() && page.port().is_none();
    let is_upgrade = page.scheme() == "http" && url.scheme() == "https" && has_usual_ports;
    url.host_str() == page.host_str() && (url.origin() == page.origin() || is_upgrade)
}

/// Returns true for the same scheme, and for its encrypted form.
fn matches_scheme(source: &str, scheme: &str) -> bool {
    let source = source.to_ascii_lowercase();
    source == scheme
        || match source.as_str() {
            "http" => scheme == "https",
            "ws" => matches!(scheme, "wss" | "http" | "https"),
            "wss" => scheme == "https",
            _ => false,
        }
}

/// Returns true for the same host. `*.shop.example` matches every host below, and not `shop.example`. No source names
/// an IPv6 address.
fn matches_host(source: &str, host: &str) -> bool {
    if source == "*" {
        return true;
    }
    if host.starts_with('[') {
        return false;
    }
    let (source, host) = (source.to_ascii_lowercase(), host.to_ascii_lowercase());
    match source.strip_prefix('*') {
        Some(ending) if ending.starts_with('.') => host.len() > ending.len() && host.ends_with(ending),
        Some(_) => false,
        None => source == host,
    }
}

/// Returns true for the same port. A source without a port matches that of the scheme; 80 also matches 443 of https.
fn matches_port(source: &str, url: &Url) -> bool {
    match (source, url.port()) {
        ("*", _) | ("", None) => true,
        ("", Some(_)) => false,
        (port, _) => {
            let actual = url.port_or_known_default().unwrap_or_default().to_string();
            port == actual || (port == "80" && actual == "443")
        }
    }
}

/// Returns true for every path below a source that ends with a slash, and otherwise for the same path.
fn matches_path(source: &str, path: &str) -> bool {
    match source {
        "" | "/" => true,
        folder if folder.ends_with('/') => path.starts_with(folder),
        file => path == file,
    }
}

#[cfg(test)]
#[path = "source_list_tests.rs"]
mod tests;
