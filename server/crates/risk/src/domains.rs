//! The operator's list of domains whose e-mail addresses are disposable: one domain a line, `#` begins a comment.

use tillgate_domain::spelling::fold_domain;

use super::TextError;

/// Largest number of domains in a list.
const MAX_DOMAINS: usize = 500_000;
/// Largest length of a domain, in bytes.
const MAX_LENGTH: usize = 253;

/// A list of domains. A domain on it stands for its subdomains, too.
#[derive(Debug, Clone, Default)]
pub struct DomainList {
    /// Domains in one spelling, sorted, each once.
    domains: Vec<Box<str>>,
}

impl DomainList {
    /// Reads a list.
    ///
    /// # Errors
    /// If a line is not a domain, or if there are more than 500,000 domains.
    pub fn parse(text: &str) -> Result<Self, TextError> {
        let mut domains = Vec::new();
        for (index, line) in text.lines().enumerate() {
            let domain = line.split('#').next().unwrap_or_default().trim();
            let make_error = |message: &str| TextError { line: index + 1, column: 1, message: message.to_owned() };
            if domain.is_empty() {
                continue;
            }
            let domain = domain.strip_suffix('.').unwrap_or(domain);
            if !is_domain(domain) {
                return Err(make_error("this is not a domain, such as mail.example"));
            }
            if domains.len() == MAX_DOMAINS {
                return Err(make_error("a list has at most 500000 domains"));
            }
            domains.push(fold_domain(domain).into_boxed_str());
        }
        domains.sort_unstable();
        domains.dedup();
        Ok(Self { domains })
    }

    /// Returns true if the domain, or one that it belongs to, is on the list, in any spelling.
    pub fn contains(&self, domain: &str) -> bool {
        let domain = fold_domain(domain.strip_suffix('.').unwrap_or(domain));
        let mut rest = Some(domain.as_str());
        while let Some(name) = rest {
            if self.domains.binary_search_by(|known| known.as_ref().cmp(name)).is_ok() {
                return true;
            }
            rest = name.split_once('.').map(|(_, parent)| parent);
        }
        false
    }

    /// Returns true if the list has no domains.
    pub fn is_empty(&self) -> bool {
        self.domains.is_empty()
    }
}

fn is_domain(text: &str) -> bool {
    let is_part = |c: char| c.is_alphanumeric() || matches!(c, '-' | '_') || (!c.is_ascii() && !c.is_whitespace());
    let is_label = |label: &str| !label.is_empty() && label.chars().all(is_part);
    // The ideographic full stops separate labels as well (RFC 3490, 3.1).
    let dots = ['.', '\u{3002}', '\u{ff0e}', '\u{ff61}'];
    text.len() <= MAX_LENGTH && text.contains(dots) && text.split(dots).all(is_label)
}
