//! Passkeys at the simulated issuer: what its page asks a browser for, and the check of the answer (WebAuthn).
//!
//! A real issuer knows its cardholder's passkey. The simulated one lets the browser make a passkey and use it at once,
//! so nothing is kept between the two. The library that the back office uses refuses answers of a frame in a page of
//! another site, which is where an issuer asks.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use ring::signature::{ECDSA_P256_SHA256_ASN1, UnparsedPublicKey};
use serde::Deserialize;
use sha2::{Digest as _, Sha256};
use tillgate_connector::three_ds::PasskeyChallenge;

/// The bytes before the point in the DER form of a public key of P-256 (RFC 5480).
const P256_HEADER: [u8; 26] = [
    0x30, 0x59, 0x30, 0x13, 0x06, 0x07, 0x2a, 0x86, 0x48, 0xce, 0x3d, 0x02, 0x01, 0x06, 0x08, 0x2a, 0x86, 0x48, 0xce,
    0x3d, 0x03, 0x01, 0x07, 0x03, 0x42, 0x00,
];
/// The flags of an authenticator that its user is present, and verified.
const PRESENT_AND_VERIFIED: u8 = 0b101;
/// Length of hash, flags and counter, with which the data of an authenticator begin.
const SHORTEST_DATA: usize = 37;

/// The answer of a browser, as the page posts it: JSON with binary values in base64url.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct BrowserAnswer {
    /// The public key of the passkey that was made, in DER.
    public_key: String,
    /// The data that the browser says of the request for a passkey.
    created: String,
    /// The data that the browser says of the use of the passkey.
    client_data: String,
    authenticator_data: String,
    signature: String,
}

/// The data that a browser says of a request.
#[derive(Deserialize)]
struct ClientData {
    #[serde(rename = "type")]
    kind: String,
    challenge: String,
    origin: String,
}

/// Returns the questions of a transaction. Its id is random and used once, and so are they.
pub fn passkey_challenge(transaction: &str) -> PasskeyChallenge {
    PasskeyChallenge { create: derive(transaction, "create"), get: derive(transaction, "get") }
}

fn derive(transaction: &str, purpose: &str) -> String {
    URL_SAFE_NO_PAD.encode(Sha256::digest(["passkey", purpose, transaction].join("\n")))
}

/// Checks the answer to the questions of a transaction on a page of this origin, such as `https://pay.example`.
///
/// # Errors
/// A text that names the part of the answer that is wrong.
pub fn check_passkey(transaction: &str, origin: &str, answer: &str) -> Result<(), &'static str> {
    let answer: BrowserAnswer = serde_json::from_str(answer).map_err(|_| "passkey is not the answer of a browser")?;
    let questions = passkey_challenge(transaction);
    check_client_data(&answer.created, "webauthn.create", &questions.create, origin)?;
    let client_data = check_client_data(&answer.client_data, "webauthn.get", &questions.get, origin)?;
    let data = decode(&answer.authenticator_data).filter(|data| data.len() >= SHORTEST_DATA);
    let data = data.ok_or("passkey.authenticatorData is too short")?;
    let host = origin.split_once("://").map_or(origin, |(_, rest)| rest);
    let host = host.rsplit_once(':').map_or(host, |(host, _)| host);
    if data.get(..32) != Some(Sha256::digest(host).as_slice()) {
        return Err("passkey.authenticatorData is of another host");
    }
    if data.get(32).is_none_or(|flags| flags & PRESENT_AND_VERIFIED != PRESENT_AND_VERIFIED) {
        return Err("passkey.authenticatorData lacks a verified user");
    }
    let key = decode(&answer.public_key).ok_or("passkey.publicKey is not base64url")?;
    let point = key.strip_prefix(&P256_HEADER).ok_or("passkey.publicKey is no key of P-256")?;
    let signature = decode(&answer.signature).ok_or("passkey.signature is not base64url")?;
    let signed = [data.as_slice(), Sha256::digest(client_data).as_slice()].concat();
    let key = UnparsedPublicKey::new(&ECDSA_P256_SHA256_ASN1, point);
    key.verify(&signed, &signature).map_err(|_| "passkey.signature is wrong")
}

/// Checks the data that a browser says of a request, and returns their bytes.
fn check_client_data(given: &str, kind: &str, challenge: &str, origin: &str) -> Result<Vec<u8>, &'static str> {
    let bytes = decode(given).ok_or("passkey.clientData is not base64url")?;
    let data: ClientData = serde_json::from_slice(&bytes).map_err(|_| "passkey.clientData cannot be read")?;
    match () {
        () if data.kind != kind => Err("passkey.clientData is of another request"),
        () if data.challenge != challenge => Err("passkey.clientData answers another question"),
        () if data.origin != origin => Err("passkey.clientData is of another origin"),
        () => Ok(bytes),
    }
}

fn decode(text: &str) -> Option<Vec<u8>> {
    URL_SAFE_NO_PAD.decode(text).ok()
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use ring::rand::SystemRandom;
    use ring::signature::{ECDSA_P256_SHA256_ASN1_SIGNING, EcdsaKeyPair, KeyPair as _};
    use serde_json::{Value, json};

    use super::*;

    const ORIGIN: &str = "https://pay.example:8443";
    const TRANSACTION: &str = "11111111-1111-4111-8111-111111111111";

    fn client_data(kind: &str, challenge: &str, origin: &str) -> String {
        URL_SAFE_NO_PAD
            .encode(json!({"type": kind, "challenge": challenge, "origin": origin, "crossOrigin": true}).to_string())
    }

    /// Makes the answer of a browser with a passkey for this host, with these flags.
    fn make_answer(transaction: &str, origin: &str, host: &str, flags: u8) -> Value {
        let random = SystemRandom::new();
        let key = EcdsaKeyPair::generate_pkcs8(&ECDSA_P256_SHA256_ASN1_SIGNING, &random).unwrap();
        let key = EcdsaKeyPair::from_pkcs8(&ECDSA_P256_SHA256_ASN1_SIGNING, key.as_ref(), &random).unwrap();
        let questions = passkey_challenge(transaction);
        let data = [Sha256::digest(host).as_slice(), &[flags], &[0; 4]].concat();
        let used = client_data("webauthn.get", &questions.get, origin);
        let signed = [data.as_slice(), Sha256::digest(URL_SAFE_NO_PAD.decode(&used).unwrap()).as_slice()].concat();
        json!({
            "publicKey": URL_SAFE_NO_PAD.encode([&P256_HEADER, key.public_key().as_ref()].concat()),
            "created": client_data("webauthn.create", &questions.create, origin),
            "clientData": used,
            "authenticatorData": URL_SAFE_NO_PAD.encode(data),
            "signature": URL_SAFE_NO_PAD.encode(key.sign(&random, &signed).unwrap()),
        })
    }

    fn check(answer: &Value) -> Result<(), &'static str> {
        check_passkey(TRANSACTION, ORIGIN, &answer.to_string())
    }

    #[test]
    fn a_passkey_that_was_made_and_used_for_the_transaction_passes() {
        assert_eq!(check(&make_answer(TRANSACTION, ORIGIN, "pay.example", 0b101)), Ok(()));
    }

    #[test]
    fn an_answer_of_another_transaction_origin_host_or_without_a_verified_user_does_not() {
        let other = "22222222-2222-4222-8222-222222222222";
        for (answer, error) in [
            (make_answer(other, ORIGIN, "pay.example", 0b101), "passkey.clientData answers another question"),
            (
                make_answer(TRANSACTION, "https://evil.example", "pay.example", 0b101),
                "passkey.clientData is of another origin",
            ),
            (make_answer(TRANSACTION, ORIGIN, "evil.example", 0b101), "passkey.authenticatorData is of another host"),
            (make_answer(TRANSACTION, ORIGIN, "pay.example", 0b001), "passkey.authenticatorData lacks a verified user"),
        ] {
            assert_eq!(check(&answer), Err(error));
        }
    }

    #[test]
    fn an_answer_with_any_part_of_another_or_without_it_does_not_pass() {
        let answer = make_answer(TRANSACTION, ORIGIN, "pay.example", 0b101);
        let other = make_answer(TRANSACTION, ORIGIN, "pay.example", 0b101);
        for name in ["publicKey", "signature"] {
            let mut mixed = answer.clone();
            mixed[name] = other[name].clone();
            assert_eq!(check(&mixed), Err("passkey.signature is wrong"), "{name}");
        }
        for name in ["publicKey", "created", "clientData", "authenticatorData", "signature"] {
            for wrong in [json!(null), json!(""), json!("AAAA"), json!("not base64 !"), json!("A".repeat(100_000))] {
                let mut broken = answer.clone();
                broken[name] = wrong;
                assert!(check(&broken).is_err(), "{name}");
            }
        }
        let mut swapped = answer.clone();
        swapped["created"] = answer["clientData"].clone();
        assert_eq!(check(&swapped), Err("passkey.clientData is of another request"));
        for nothing in ["", "null", "[]", "{}", "\"\""] {
            assert!(check_passkey(TRANSACTION, ORIGIN, nothing).is_err(), "{nothing}");
        }
    }
}
