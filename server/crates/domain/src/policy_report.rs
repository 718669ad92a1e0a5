//! Browser reports about violations of a Content-Security-Policy or an Integrity-Policy. Anyone may send one, and the
//! reported page contained card data. So only the data with which a merchant finds the cause is stored: hosts and
//! paths, without queries and long numbers.

use jiff::SignedDuration;
use serde_json::Value;

/// Retention of a violation that does not happen again.
pub const RETENTION: SignedDuration = SignedDuration::from_hours(90 * 24);
/// Maximum number of violations of an entity. Reports beyond it are counted as [`PolicyReport::overflow_entry`].
pub const MAX_VIOLATIONS: i64 = 200;

/// Maximum number of reports that are read from one request.
const MAX_REPORTS: usize = 20;
/// Maximum number of characters of an address that are stored.
const MAX_CHARACTERS: usize = 200;
/// Maximum number of digits that a stored text shows. A text with more digits has all of them masked, because they
/// could complete a partly shown card number.
const MAX_DIGITS: usize = 8;

/// Directive of violations of an Integrity-Policy, which has no directives.
const INTEGRITY_DIRECTIVE: &str = "integrity-policy";

/// A stored violation. Reports with the same fields are occurrences of one violation.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct PolicyReport {
    /// The directive that was violated, such as `script-src-elem`, or `integrity-policy`.
    pub directive: String,
    /// The origin of the blocked resource, or a word such as `inline`.
    pub blocked: String,
    /// Origin and path of the page.
    pub document: String,
    /// Origin and path of the script that caused the violation. Empty if unknown.
    pub source: String,
    /// True if the browser blocked the resource, false for a report-only policy.
    pub enforced: bool,
}

impl PolicyReport {
    /// Returns the violation under which further ones are counted after the entity reached its maximum: the directive
    /// `others`, without addresses.
    pub fn overflow_entry() -> Self {
        Self {
            directive: "others".to_owned(),
            blocked: String::new(),
            document: String::new(),
            source: String::new(),
            enforced: true,
        }
    }
}

/// Parses the body of a request: `application/csp-report`, one report in an object, or `application/reports+json`, a
/// list. Skips reports of other types or without a valid directive, and violations of a list after the twentieth.
/// Returns `None` if the body is neither.
pub fn parse_reports(body: &[u8]) -> Option<Vec<PolicyReport>> {
    let document: Value = serde_json::from_slice(body).ok()?;
    if let Some(report) = document.get("csp-report") {
        let names = ["effective-directive", "blocked-uri", "document-uri", "source-file"];
        return Some(
            read_violation(report, names)
                .or_else(|| {
                    // Older browsers send only this name.
                    read_violation(report, ["violated-directive", "blocked-uri", "document-uri", "source-file"])
                })
                .into_iter()
                .collect(),
        );
    }
    let names = ["effectiveDirective", "blockedURL", "documentURL", "sourceFile"];
    let read = |report: &Value| match report["type"].as_str()? {
        "csp-violation" => Some(read_violation(&report["body"], names)),
        "integrity-violation" => Some(read_integrity_violation(&report["body"])),
        _ => None,
    };
    Some(document.as_array()?.iter().filter_map(read).take(MAX_REPORTS).flatten().collect())
}

/// Reads a script without a hash in a page that requires one. `None` if no address was blocked.
fn read_integrity_violation(report: &Value) -> Option<PolicyReport> {
    let field = |name: &str| report.get(name).and_then(Value::as_str).unwrap_or_default();
    let blocked = split_address(field("blockedURL")).0;
    (!blocked.is_empty()).then(|| PolicyReport {
        directive: INTEGRITY_DIRECTIVE.to_owned(),
        blocked,
        document: sanitize_address(field("documentURL")),
        source: String::new(),
        enforced: report["reportOnly"] != true,
    })
}

/// Reads a violation from the fields of these names. Missing texts are empty, except the directive: without a valid one
/// it returns `None`. Of the blocked address only the origin is kept.
fn read_violation(report: &Value, [directive, blocked, document, source]: [&str; 4]) -> Option<PolicyReport> {
    let field = |name: &str| report.get(name).and_then(Value::as_str).unwrap_or_default();
    // Older browsers send the sources too: "script-src 'self'".
    let directive = field(directive).split_ascii_whitespace().next()?;
    let is_directive = directive.len() <= 64 && directive.bytes().all(|byte| byte.is_ascii_lowercase() || byte == b'-');
    is_directive.then(|| PolicyReport {
        directive: directive.to_owned(),
        blocked: split_address(field(blocked)).0,
        document: sanitize_address(field(document)),
        source: sanitize_address(field(source)),
        enforced: field("disposition") != "report",
    })
}

/// Returns the origin and path of an address, see [`split_address`].
fn sanitize_address(address: &str) -> String {
    let (origin, path) = split_address(address);
    origin + &path
}

/// Splits an address into origin and path, without user, query and fragment, and with masked digits. A text that is not
/// an address is kept as a word, such as `inline`, `eval` or `data`, and is empty if it is no word.
fn split_address(address: &str) -> (String, String) {
    let address = address.split(['?', '#']).next().unwrap_or_default();
    let Some((scheme, rest)) = address.split_once("://") else {
        // Keep only the scheme of `data:…` and `blob:…`.
        let word = address.split(':').next().unwrap_or_default();
        let is_word = word.len() <= 32 && word.bytes().all(|byte| byte.is_ascii_alphabetic() || byte == b'-');
        return (if is_word { word.to_owned() } else { String::new() }, String::new());
    };
    let (authority, path) = rest.find('/').map_or((rest, ""), |at| rest.split_at(at));
    let authority = authority.rsplit('@').next().unwrap_or_default();
    (mask_digits(&format!("{scheme}://{authority}")), mask_digits(path))
}

/// Decodes a text, removes control characters, and cuts it off after 200 characters. If it has more than eight digits,
/// however they are separated, encoded or written, each of them becomes `*`.
fn mask_digits(text: &str) -> String {
    let decoded = decode_percent(text);
    let digits = decoded.chars().filter(|character| character.is_numeric()).count();
    let mask = |character: char| if character.is_numeric() && digits > MAX_DIGITS { '*' } else { character };
    decoded.chars().filter(|character| !character.is_control()).map(mask).take(MAX_CHARACTERS).collect()
}

/// Removes percent encoding from a text, even if it was applied several times. Returns an empty text if it was applied
/// more than seven times.
fn decode_percent(text: &str) -> String {
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
    // An address that is encoded more often than this may hide a number.
    String::new()
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Returns the stored violation of a report in the older format.
    fn parse_sample(document: &str, blocked: &str) -> PolicyReport {
        let body = serde_json::json!({ "csp-report": {
            "effective-directive": "script-src-elem", "document-uri": document, "blocked-uri": blocked,
            "source-file": document, "script-sample": document,
        } });
        parse_reports(body.to_string().as_bytes()).unwrap().remove(0)
    }

    #[test]
    fn both_formats_are_read_and_what_is_neither_is_not() {
        let report = parse_sample("https://shop.example/pay", "https://evil.example/x.js");
        let list = serde_json::json!([
            { "type": "csp-violation", "body": {
                "effectiveDirective": "script-src-elem", "documentURL": "https://shop.example/pay",
                "blockedURL": "https://evil.example/x.js", "sourceFile": "https://shop.example/pay",
                "disposition": "enforce",
            } },
            { "type": "deprecation", "body": { "id": "x" } },
            { "type": "csp-violation" },
        ]);
        assert_eq!(parse_reports(list.to_string().as_bytes()).unwrap(), [report]);
        let older = br#"{"csp-report":{"violated-directive":"script-src 'self'","blocked-uri":"inline","disposition":"report"}}"#;
        let older = parse_reports(older).unwrap().remove(0);
        assert_eq!((older.directive.as_str(), older.blocked.as_str(), older.enforced), ("script-src", "inline", false));
        for body in ["", "{}", "1", "\"\"", "{\"csp-report\"", "\u{0}"] {
            assert!(parse_reports(body.as_bytes()).is_none(), "{body}");
        }
        let many = serde_json::json!(vec![list[0].clone(); 500]);
        assert_eq!(parse_reports(many.to_string().as_bytes()).unwrap().len(), MAX_REPORTS);
    }

    #[test]
    fn a_script_without_a_hash_is_a_violation_like_others() {
        let list = serde_json::json!([
            { "type": "integrity-violation", "body": {
                "documentURL": "https://shop.example/pay?order=1", "blockedURL": "https://evil.example/x.js?4200",
                "destination": "script", "reportOnly": true,
            } },
            { "type": "integrity-violation", "body": { "documentURL": "https://shop.example/", "blockedURL": 7 } },
            { "type": "integrity-violation", "body": "script" },
            { "type": "integrity-violation" },
        ]);
        let report = PolicyReport {
            directive: "integrity-policy".to_owned(),
            blocked: "https://evil.example".to_owned(),
            document: "https://shop.example/pay".to_owned(),
            source: String::new(),
            enforced: false,
        };
        assert_eq!(parse_reports(list.to_string().as_bytes()).unwrap(), [report]);
        let many = serde_json::json!(vec![list[0].clone(); 500]);
        assert_eq!(parse_reports(many.to_string().as_bytes()).unwrap().len(), MAX_REPORTS);
    }

    #[test]
    fn of_an_address_origin_and_path_are_kept() {
        for (address, stored) in [
            ("https://user:secret@shop.example/pay?card=1#x", "https://shop.example/pay"),
            ("data:text/html,4200", "data"),
            ("inline", "inline"),
            ("https://shop.example:8443", "https://shop.example:8443"),
            ("4200 0000", ""),
            ("", ""),
        ] {
            assert_eq!(parse_sample(address, "").document, stored, "{address}");
        }
        assert_eq!(
            parse_sample("", "https://evil.example/4200").blocked,
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
                let report = parse_sample(&address, &address);
                for text in [report.document, report.blocked, report.source] {
                    prop_assert!(text.chars().filter(|character| character.is_numeric()).count() <= MAX_DIGITS, "{text}");
                }
            }
        }

        #[test]
        fn whatever_comes_is_bounded(body in proptest::collection::vec(any::<u8>(), 0..400), address in "\\PC{0,400}") {
            let _ = parse_reports(&body);
            let report = parse_sample(&address, &address);
            for text in [report.document, report.blocked, report.source] {
                prop_assert!(text.chars().count() <= 2 * MAX_CHARACTERS);
            }
        }
    }
}
