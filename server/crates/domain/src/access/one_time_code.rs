//! One-time codes of the second factor: TOTP (RFC 6238) with six digits and 30 seconds, and recovery codes.

use std::fmt::Write as _;

use jiff::Timestamp;
use sha2::{Digest as _, Sha256};
use totp_rs::{Builder, Secret};
use zeroize::Zeroizing;

/// Length of a secret, in bytes (RFC 4226, 4: 160 bits).
pub const SECRET: usize = 20;
/// Seconds of a step.
const STEP: i64 = 30;
/// Number of recovery codes.
pub const RECOVERY_CODES: usize = 10;
/// Random bytes of a recovery code. With 80 bits nobody finds a code from its hash, so a fast hash is enough.
pub const RECOVERY_BYTES: usize = 10;
/// Hash of a recovery code.
pub type RecoveryHash = [u8; 32];

/// Digits of base32 (RFC 4648).
const BASE32: &[u8; 32] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZ234567";

/// The secret of an authenticator app.
#[derive(Clone)]
pub struct CodeSecret(Zeroizing<[u8; SECRET]>);

impl CodeSecret {
    /// Creates a secret of random bytes.
    pub fn new(bytes: [u8; SECRET]) -> Self {
        Self(Zeroizing::new(bytes))
    }

    /// Reads the bytes of a secret. Returns `None` if their number is wrong.
    pub fn from_bytes(bytes: &[u8]) -> Option<Self> {
        Some(Self::new(bytes.try_into().ok()?))
    }

    /// Returns the bytes.
    pub fn as_bytes(&self) -> &[u8] {
        &self.0[..]
    }

    /// Returns the secret in base32, as people type it into an app.
    pub fn to_base32(&self) -> Zeroizing<String> {
        Zeroizing::new(encode_base32(self.as_bytes()))
    }

    /// Returns the address that an app reads from a QR code.
    pub fn to_address(&self, issuer: &str, mail: &str) -> Zeroizing<String> {
        let (issuer, mail) = (encode(issuer), encode(mail));
        let secret = self.to_base32();
        Zeroizing::new(format!("otpauth://totp/{issuer}:{mail}?secret={}&issuer={issuer}", secret.as_str()))
    }

    /// Returns the code of a step.
    pub fn code_of_step(&self, step: i64) -> Zeroizing<String> {
        let secret = Secret::new(self.as_bytes().to_vec().into_boxed_slice());
        let totp = Builder::new().with_secret(secret).build_noncompliant();
        let seconds = step.saturating_mul(STEP).max(0).unsigned_abs();
        Zeroizing::new(totp.generate(seconds).to_string())
    }

    /// Returns the step that a code belongs to: the current one, the one before or the one after. A code of `last_step`
    /// or of an earlier step is refused, so that nobody can use a code that was seen.
    pub fn find_step(&self, code: &str, now: Timestamp, last_step: Option<i64>) -> Option<i64> {
        let current = step_at(now);
        let typed = strip_spaces(code);
        let mut found = None;
        // All three are compared, so that the time does not show which one it was.
        for step in [current - 1, current, current + 1] {
            if is_same(self.code_of_step(step).as_bytes(), typed.as_bytes()) && found.is_none() {
                found = Some(step);
            }
        }
        found.filter(|step| last_step.is_none_or(|last| *step > last))
    }
}

/// Returns the number of the step at a time.
pub fn step_at(now: Timestamp) -> i64 {
    now.as_second().div_euclid(STEP)
}

/// Returns true if two texts are the same. The time shows only their lengths.
fn is_same(one: &[u8], other: &[u8]) -> bool {
    one.len() == other.len() && one.iter().zip(other).fold(0, |difference, (a, b)| difference | (a ^ b)) == 0
}

/// Formats a recovery code: four groups of four characters.
pub fn format_recovery_code(bytes: &[u8; RECOVERY_BYTES]) -> Zeroizing<String> {
    let code = Zeroizing::new(encode_base32(bytes));
    let mut text = Zeroizing::new(String::with_capacity(19));
    for (index, character) in code.chars().enumerate() {
        if index > 0 && index % 4 == 0 {
            text.push('-');
        }
        text.push(character);
    }
    text
}

/// Hashes a recovery code as it is typed: in any case, with and without hyphens and spaces. Returns `None` for a text
/// that cannot be a code, such as a code of an app.
pub fn hash_recovery_code(text: &str) -> Option<RecoveryHash> {
    let typed: Zeroizing<String> = Zeroizing::new(
        text.chars().filter(|character| !matches!(character, '-' | ' ')).map(|c| c.to_ascii_uppercase()).collect(),
    );
    let is_code = typed.len() == RECOVERY_BYTES * 8 / 5 && typed.bytes().all(|byte| BASE32.contains(&byte));
    is_code.then(|| {
        Sha256::new().chain_update(b"tillgate recovery code\n").chain_update(typed.as_bytes()).finalize().into()
    })
}

/// Removes the spaces that apps show inside a code.
fn strip_spaces(code: &str) -> Zeroizing<String> {
    Zeroizing::new(code.chars().filter(|character| !character.is_whitespace()).collect())
}

fn encode_base32(bytes: &[u8]) -> String {
    let mut text = String::with_capacity(bytes.len().div_ceil(5) * 8);
    let (mut buffer, mut bits) = (0u32, 0);
    for byte in bytes {
        buffer = buffer << 8 | u32::from(*byte);
        bits += 8;
        while bits >= 5 {
            bits -= 5;
            text.push(char::from(BASE32[(buffer >> bits & 31) as usize]));
        }
    }
    if bits > 0 {
        text.push(char::from(BASE32[(buffer << (5 - bits) & 31) as usize]));
    }
    text
}

/// Encodes a text for a part of an address.
fn encode(text: &str) -> String {
    let mut encoded = String::with_capacity(text.len());
    for byte in text.bytes() {
        if byte.is_ascii_alphanumeric() || b"-._~".contains(&byte) {
            encoded.push(char::from(byte));
        } else {
            // Writing to a text cannot fail.
            let _ = write!(encoded, "%{byte:02X}");
        }
    }
    encoded
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn at(second: i64) -> Timestamp {
        Timestamp::from_second(second).unwrap()
    }

    #[test]
    fn codes_are_those_of_rfc_6238() {
        let secret = CodeSecret::new(*b"12345678901234567890");
        for (second, code) in
            [(59, "287082"), (1_111_111_109, "081804"), (1_111_111_111, "050471"), (2_000_000_000, "279037")]
        {
            assert_eq!(secret.code_of_step(step_at(at(second))).as_str(), code);
            assert_eq!(secret.find_step(code, at(second), None), Some(second / 30));
        }
        assert_eq!(secret.to_base32().as_str(), "GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ");
        let address = secret.to_address("Tillgate pay.example", "jo@shop.example");
        assert!(
            address.starts_with("otpauth://totp/Tillgate%20pay.example:jo%40shop.example?secret=GEZ"),
            "{}",
            *address
        );
    }

    #[test]
    fn a_step_is_used_once_and_earlier_ones_never_again() {
        let secret = CodeSecret::new([7; SECRET]);
        let now = at(1_800_000_010);
        let current = step_at(now);
        let code = secret.code_of_step(current);
        assert_eq!(secret.find_step(&code, now, None), Some(current));
        assert_eq!(secret.find_step(&code, now, Some(current)), None);
        let before = secret.code_of_step(current - 1);
        assert_eq!(secret.find_step(&before, now, None), Some(current - 1));
        assert_eq!(secret.find_step(&before, now, Some(current)), None);
        assert_eq!(secret.find_step(&secret.code_of_step(current + 1), now, Some(current)), Some(current + 1));
        for step in [current - 2, current + 2] {
            assert_eq!(secret.find_step(&secret.code_of_step(step), now, None), None);
        }
    }

    #[test]
    fn a_recovery_code_is_the_same_however_it_is_typed() {
        let code = format_recovery_code(&[0xab; RECOVERY_BYTES]);
        assert_eq!(code.len(), 19);
        let hash = hash_recovery_code(&code);
        assert!(hash.is_some());
        assert_eq!(hash_recovery_code(&code.to_lowercase().replace('-', " ")), hash);
        for text in ["", "123456", "VOV2XK5LVOV2XK51", "VOV2-XK5L-VOV2-XK5L-VOV2"] {
            assert_eq!(hash_recovery_code(text), None, "{text}");
        }
    }

    proptest! {
        #[test]
        fn a_code_is_accepted_at_most_once(
            secret: [u8; SECRET], moments in prop::collection::vec((0i64..300, -3i64..3), 1..40)
        ) {
            let secret = CodeSecret::new(secret);
            let (mut last, mut used, mut now) = (None, std::collections::BTreeSet::new(), 1_800_000_000);
            for (later, offset) in moments {
                now += later;
                let step = step_at(at(now)) + offset;
                if let Some(found) = secret.find_step(&secret.code_of_step(step), at(now), last) {
                    prop_assert!((found - step_at(at(now))).abs() <= 1);
                    prop_assert!(used.insert(found));
                    last = Some(found);
                }
            }
        }
    }
}
