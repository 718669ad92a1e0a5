//! Signatures of requests and responses: HMAC-SHA-256 with the shared key.
//!
//! A request's signature covers method, path, date, idempotency key and body. A response's signature covers the
//! request's signature, the status and the body, so that it is not valid for another request. Both are 64 hexadecimal
//! digits.

use std::time::Duration;

use hmac::{Hmac, KeyInit as _, Mac as _};
use jiff::Timestamp;
use sha2::Sha256;
use tillgate_domain::id::decode_hex;
use tillgate_domain::id::to_hex;

use super::key::SharedKey;

/// Header with the signature of a request or a response.
pub const SIGNATURE: &str = "tillgate-signature";
/// Header with the time of a request in whole seconds since 1970, UTC.
pub const DATE: &str = "tillgate-date";
/// Header with the idempotency key of a request.
pub const IDEMPOTENCY_KEY: &str = "idempotency-key";

/// Maximum difference between a request's date and the host's clock, in both directions.
pub const MAX_DIFFERENCE: Duration = Duration::from_secs(300);

/// All parts of a request that its signature covers. Has no `Debug`, because the body may contain a card number.
#[derive(Clone, Copy)]
pub struct SignedRequest<'a> {
    /// The method, in capitals.
    pub method: &'a str,
    /// The path, with the query if there is one.
    pub path: &'a str,
    /// The value of [`DATE`].
    pub date: &'a str,
    /// The value of [`IDEMPOTENCY_KEY`]; empty for a request without one.
    pub idempotency_key: &'a str,
    /// The body as it is sent.
    pub body: &'a [u8],
}

/// The signature of a request or a response.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Signature(String);

impl Signature {
    /// Returns the 64 hexadecimal digits.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl SignedRequest<'_> {
    /// Signs the request.
    pub fn sign(&self, key: &SharedKey) -> Signature {
        finish_signature(self.request_mac(key))
    }

    /// Returns true if a text is the signature of this request: 64 hexadecimal digits of either case. The comparison
    /// takes constant time.
    pub fn is_signed_by(&self, key: &SharedKey, signature: &str) -> bool {
        is_valid_signature(self.request_mac(key), signature)
    }

    /// Computes the MAC of all parts of the request.
    fn request_mac(&self, key: &SharedKey) -> Hmac<Sha256> {
        // The lines before the body are header values, so they cannot contain a line feed.
        let lines = ["tillgate request", self.method, self.path, self.date, self.idempotency_key];
        compute_mac(key, &lines, self.body)
    }
}

/// Signs the response to a request.
pub fn sign_response(key: &SharedKey, request: &Signature, status: u16, body: &[u8]) -> Signature {
    finish_signature(response_mac(key, request, status, body))
}

/// Returns true if a text is the signature of this response to this request. The comparison takes constant time.
pub fn is_response_signed_by(key: &SharedKey, request: &Signature, status: u16, body: &[u8], signature: &str) -> bool {
    is_valid_signature(response_mac(key, request, status, body), signature)
}

/// Returns a keyed fingerprint of a request's path and body. It identifies equal requests, and reveals nothing about a
/// card number without the key.
pub fn request_fingerprint(key: &SharedKey, path: &str, body: &[u8]) -> [u8; 32] {
    compute_mac(key, &["tillgate fingerprint", path], body).finalize().into_bytes().into()
}

/// Formats the date of a request: whole seconds since 1970.
pub fn format_date(now: Timestamp) -> String {
    now.as_second().to_string()
}

/// Returns true if the date of a request is within [`MAX_DIFFERENCE`] of a clock. A date that is not digits only is
/// not.
pub fn is_recent(date: &str, now: Timestamp) -> bool {
    let seconds = date.parse::<i64>().ok().filter(|_| date.bytes().all(|byte| byte.is_ascii_digit()));
    seconds.is_some_and(|seconds| seconds.abs_diff(now.as_second()) <= MAX_DIFFERENCE.as_secs())
}

/// Returns true if a text is a valid idempotency key: 1 to 64 letters, digits, dots, colons, hyphens and underscores.
pub fn is_idempotency_key(text: &str) -> bool {
    let is_allowed = |byte: u8| byte.is_ascii_alphanumeric() || b".:-_".contains(&byte);
    (1..=64).contains(&text.len()) && text.bytes().all(is_allowed)
}

/// Computes the MAC of a response to the request with this signature.
fn response_mac(key: &SharedKey, request: &Signature, status: u16, body: &[u8]) -> Hmac<Sha256> {
    compute_mac(key, &["tillgate answer", &request.0, &status.to_string()], body)
}

/// Computes the MAC of lines, each ended by a line feed, and the body.
fn compute_mac(key: &SharedKey, lines: &[&str], body: &[u8]) -> Hmac<Sha256> {
    // HMAC accepts keys of any length.
    #[allow(clippy::expect_used)]
    let mut mac = Hmac::<Sha256>::new_from_slice(key.as_bytes()).expect("a key of any length");
    for line in lines {
        mac.update(line.as_bytes());
        mac.update(b"\n");
    }
    mac.update(body);
    mac
}

fn finish_signature(mac: Hmac<Sha256>) -> Signature {
    Signature(to_hex(&mac.finalize().into_bytes()))
}

/// Compares a MAC with hexadecimal digits of either case in constant time. Any other text is not valid.
fn is_valid_signature(mac: Hmac<Sha256>, signature: &str) -> bool {
    decode_hex::<32>(signature).is_some_and(|bytes| mac.verify_slice(&bytes).is_ok())
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    const REQUEST: SignedRequest<'_> = SignedRequest {
        method: "POST",
        path: "/v1/authorize",
        date: "1795433712",
        idempotency_key: "8ac7a4a1",
        body: b"{\"amount\":9200}",
    };

    fn test_key() -> SharedKey {
        SharedKey::new([7; 32])
    }

    #[test]
    fn a_signature_is_the_documented_hmac() {
        // printf 'tillgate request\nPOST\n/v1/authorize\n1795433712\n8ac7a4a1\n{"amount":9200}' |
        //   openssl dgst -sha256 -mac HMAC -macopt hexkey:0707…07
        let expected = "cc1c5bdf3bc06563bcb5207990842db96cbec15af0b37063fdd14c3dd3148a18";
        assert_eq!(REQUEST.sign(&test_key()).as_str(), expected);
        assert!(REQUEST.is_signed_by(&test_key(), expected));
        assert!(REQUEST.is_signed_by(&test_key(), &expected.to_uppercase()));
    }

    #[test]
    fn a_signature_covers_every_part_and_its_place() {
        let signature = REQUEST.sign(&test_key());
        let moved = SignedRequest { date: "179543371", idempotency_key: "28ac7a4a1", ..REQUEST };
        for other in [
            SignedRequest { method: "GET", ..REQUEST },
            SignedRequest { path: "/v1/credit", ..REQUEST },
            SignedRequest { date: "1795433713", ..REQUEST },
            SignedRequest { idempotency_key: "8ac7a4a2", ..REQUEST },
            SignedRequest { body: b"{\"amount\":9201}", ..REQUEST },
            SignedRequest { body: b"", ..REQUEST },
            moved,
        ] {
            assert!(
                !other.is_signed_by(&test_key(), signature.as_str()),
                "{} {} {}",
                other.path,
                other.date,
                other.idempotency_key
            );
        }
        assert!(!REQUEST.is_signed_by(&SharedKey::new([8; 32]), signature.as_str()));
        for text in ["", "0", &"0".repeat(64), &signature.as_str()[1..], &format!("{}00", signature.as_str())] {
            assert!(!REQUEST.is_signed_by(&test_key(), text), "{text}");
        }
    }

    #[test]
    fn an_answer_belongs_to_one_request_one_status_and_one_body() {
        let (request, other) = (REQUEST.sign(&test_key()), SignedRequest { date: "1", ..REQUEST }.sign(&test_key()));
        let signature = sign_response(&test_key(), &request, 200, b"{}");
        let is_signed =
            |request, status, body| is_response_signed_by(&test_key(), request, status, body, signature.as_str());
        assert!(is_signed(&request, 200, b"{}"));
        assert!(!is_signed(&other, 200, b"{}"));
        assert!(!is_signed(&request, 201, b"{}"));
        assert!(!is_signed(&request, 200, b"{ }"));
        assert!(!REQUEST.is_signed_by(&test_key(), signature.as_str()), "an answer is no request");
    }

    #[test]
    fn a_date_counts_for_five_minutes_in_both_directions() {
        let now = Timestamp::from_second(1_795_433_712).unwrap();
        for (date, recent) in [
            ("1795433712", true),
            ("1795434012", true),
            ("1795434013", false),
            ("1795433412", true),
            ("1795433411", false),
            ("+1795433712", false),
            ("-1", false),
            ("", false),
            ("1795433712.0", false),
            ("99999999999999999999", false),
            ("9223372036854775807", false),
        ] {
            assert_eq!(is_recent(date, now), recent, "{date}");
        }
        assert!(is_recent(&format_date(now), now));
    }

    #[test]
    fn an_idempotency_key_is_short_and_plain() {
        for good in ["a", "8ac7a4a1:reverse", &"x".repeat(64)] {
            assert!(is_idempotency_key(good), "{good}");
        }
        for bad in ["", " ", "a b", "a\n", "ä", &"x".repeat(65)] {
            assert!(!is_idempotency_key(bad), "{bad:?}");
        }
    }
}
