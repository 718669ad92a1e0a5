//! Reports of browsers about violations of a Content-Security-Policy. Anybody may send one, and what it holds was in a page
//! beside card data, so only what tells a merchant where to look is kept: hosts and paths, without queries and long numbers.

use jiff::SignedDuration;
use serde_json::Value;

/// Retention of a violation that does not happen again.
pub const RETENTION: SignedDuration = SignedDuration::from_hours(90 * 24);
/// Most violations of an entity. Beyond that, reports are counted as [`PolicyReport::others`].
pub const MOST_VIOLATIONS: i64 = 200;

/// Most reports that are read from one request.
const MOST_REPORTS: usize = 20;
/// Most characters of an address that are kept.
const MOST_CHARACTERS: usize = 200;
/// A text with as many digits as the shortest card number has none of its digits kept. Less could complete the shown part of one.
const MOST_DIGITS: usize = 8;

/// A violation, as it is kept. Reports with the same fields are one violation that happened several times.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct PolicyReport {
    /// The directive that was violated, such as `script-src-elem`.
    pub directive: String,
    /// The origin of what was blocked, or a word such as `inline`.
    pub blocked: String,
    /// Origin and path of the page.
    pub document: String,
    /// Origin and path of the script that caused it; empty if unknown.
    pub source: String,
    /// True if the browser stopped it; false for a policy that reports only.
    pub enforced: bool,
}

impl PolicyReport {
    /// The violation as which reports are counted that an entity has no room for.
    pub fn others() -> Self {
        Self {
            directive: "others".to_owned(),
            blocked: String::new(),
            document: String::new(),
            source: String::new(),
            enforced: true,
        }
    }
}

/// Reads the body of a request: `application/csp-report`, one report in an object, or `application/reports+json`, a list.
/// Reports of other types are left out. Returns `None` if it is neither.
pub fn parse(body: &[u8]) -> Option<Vec<PolicyReport>> {
    let document: Value = serde_json::from_slice(body).ok()?;
    if let Some(report) = document.get("csp-report") {
        let names = ["effective-directive", "blocked-uri", "document-uri", "source-file"];
        return Some(
            read(report, names)
                .or_else(|| {
                    // Older browsers know this name only.
                    read(report, ["violated-directive", "blocked-uri", "document-uri", "source-file"])
                })
                .into_iter()
                .collect(),
        );
    }
    let reports = document.as_array()?.iter().filter(|report| report["type"] == "csp-violation").take(MOST_REPORTS);
    let names = ["effectiveDirective", "blockedURL", "documentURL", "sourceFile"];
    Some(reports.filter_map(|report| read(&report["body"], names)).collect())
}

fn read(report: &Value, [directive, blocked, document, source]: [&str; 4]) -> Option<PolicyReport> {
    let text = |name: &str| report.get(name).and_then(Value::as_str).unwrap_or_default();
    // "script-src 'self'" in older browsers.
    let directive = text(directive).split_ascii_whitespace().next()?;
    let is_directive = directive.len() <= 64 && directive.bytes().all(|byte| byte.is_ascii_lowercase() || byte == b'-');
    is_directive.then(|| PolicyReport {
        directive: directive.to_owned(),
        blocked: origin_and_path(text(blocked)).0,
        document: whole(text(document)),
        source: whole(text(source)),
        enforced: text("disposition") != "report",
    })
}

fn whole(address: &str) -> String {
    let (origin, path) = origin_and_path(address);
    origin + &path
}

/// The origin of an address and its path, without user, query, fragment and long numbers. What is no address is a word, such
/// as `inline`, `eval` or `data`.
fn origin_and_path(address: &str) -> (String, String) {
    let address = address.split(['?', '#']).next().unwrap_or_default();
    let Some((scheme, rest)) = address.split_once("://") else {
        // Of `data:…` and `blob:…` the scheme alone.
        let word = address.split(':').next().unwrap_or_default();
        let is_word = word.len() <= 32 && word.bytes().all(|byte| byte.is_ascii_alphabetic() || byte == b'-');
        return (if is_word { word.to_owned() } else { String::new() }, String::new());
    };
    let (authority, path) = rest.find('/').map_or((rest, ""), |at| rest.split_at(at));
    let authority = authority.rsplit('@').next().unwrap_or_default();
    (masked(&format!("{scheme}://{authority}")), masked(path))
}

/// A text of bounded length whose digits are hidden where there are many: however they are separated, encoded or written.
fn masked(text: &str) -> String {
    let decoded = decoded(text);
    let digits = decoded.chars().filter(|character| character.is_numeric()).count();
    let hide = |character: char| if character.is_numeric() && digits > MOST_DIGITS { '*' } else { character };
    decoded.chars().filter(|character| !character.is_control()).map(hide).take(MOST_CHARACTERS).collect()
}

/// A text without percent encoding, however often it was applied.
fn decoded(text: &str) -> String {
    let mut text = text.to_owned();
    for _ in 0..8 {
        let mut bytes = Vec::with_capacity(text.len());
        let mut rest = text.as_bytes();
        while let Some((&byte, after)) = rest.split_first() {
            let value = after.get(..2).and_then(|digits| std::str::from_utf8(digits).ok());
            match value.and_then(|digits| u8::from_str_radix(digits, 16).ok()).filter(|_| byte == b'%') {
                Some(value) => {
                    bytes.push(value);
                    rest = &after[2..];
                }
                None => {
                    bytes.push(byte);
                    rest = after;
                }
            }
        }
        let next = String::from_utf8_lossy(&bytes).into_owned();
        if next == text {
            return text;
        }
        text = next;
    }
    // An address that is encoded so often hides something.
    String::new()
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn report(document: &str, blocked: &str) -> PolicyReport {
        let body = serde_json::json!({ "csp-report": {
            "effective-directive": "script-src-elem", "document-uri": document, "blocked-uri": blocked,
            "source-file": document, "script-sample": document,
        } });
        parse(body.to_string().as_bytes()).unwrap().remove(0)
    }

    #[test]
    fn both_formats_are_read_and_what_is_neither_is_not() {
        let one = report("https://shop.example/pay", "https://evil.example/x.js");
        let list = serde_json::json!([
            { "type": "csp-violation", "body": {
                "effectiveDirective": "script-src-elem", "documentURL": "https://shop.example/pay",
                "blockedURL": "https://evil.example/x.js", "sourceFile": "https://shop.example/pay",
                "disposition": "enforce",
            } },
            { "type": "deprecation", "body": { "id": "x" } },
            { "type": "csp-violation" },
        ]);
        assert_eq!(parse(list.to_string().as_bytes()).unwrap(), [one]);
        let older = br#"{"csp-report":{"violated-directive":"script-src 'self'","blocked-uri":"inline","disposition":"report"}}"#;
        let older = parse(older).unwrap().remove(0);
        assert_eq!((older.directive.as_str(), older.blocked.as_str(), older.enforced), ("script-src", "inline", false));
        for body in ["", "{}", "1", "\"\"", "{\"csp-report\"", "\u{0}"] {
            assert!(parse(body.as_bytes()).is_none(), "{body}");
        }
        let many = serde_json::json!(vec![list[0].clone(); 500]);
        assert_eq!(parse(many.to_string().as_bytes()).unwrap().len(), MOST_REPORTS);
    }

    #[test]
    fn of_an_address_origin_and_path_are_kept() {
        for (address, kept) in [
            ("https://user:secret@shop.example/pay?card=1#x", "https://shop.example/pay"),
            ("data:text/html,4200", "data"),
            ("inline", "inline"),
            ("https://shop.example:8443", "https://shop.example:8443"),
            ("4200 0000", ""),
            ("", ""),
        ] {
            assert_eq!(report(address, "").document, kept, "{address}");
        }
        assert_eq!(
            report("", "https://evil.example/4200").blocked,
            "https://evil.example",
            "of what is blocked the origin"
        );
    }

    proptest! {
        #[test]
        fn no_card_number_is_kept_however_it_is_written(
            number in "[0-9]{12,19}", separator in "(|-|/|\\.|%20|_x_|%2e)", encode in 0..3,
        ) {
            let mut written: Vec<String> = number.chars().map(|digit| match encode {
                0 => digit.to_string(),
                1 => format!("%{:02x}", digit as u32),
                _ => format!("%25{:02x}", digit as u32),
            }).collect();
            written[0] = number[..1].to_owned();
            let path = written.join(&separator);
            for address in [format!("https://shop.example/{path}/x"), format!("https://{number}.example/?{number}")] {
                let kept = report(&address, &address);
                for text in [kept.document, kept.blocked, kept.source] {
                    prop_assert!(text.chars().filter(|character| character.is_numeric()).count() <= MOST_DIGITS, "{text}");
                }
            }
        }

        #[test]
        fn whatever_comes_is_bounded(body in proptest::collection::vec(any::<u8>(), 0..400), address in "\\PC{0,400}") {
            let _ = parse(&body);
            let kept = report(&address, &address);
            for text in [kept.document, kept.blocked, kept.source] {
                prop_assert!(text.chars().count() <= 2 * MOST_CHARACTERS);
            }
        }
    }
}
