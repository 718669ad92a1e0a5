//! A device that keeps a passkey, and answers challenges as browsers send the answers.

use anyhow::Context as _;
use base64::Engine as _;
use base64::prelude::BASE64_URL_SAFE_NO_PAD as BASE64;
use ring::rand::SystemRandom;
use ring::signature::{ECDSA_P256_SHA256_ASN1_SIGNING, EcdsaKeyPair, KeyPair as _};
use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};

/// Bits of a signed answer: the user is present, and is verified.
const PRESENT: u8 = 1;
/// The user is verified.
const VERIFIED: u8 = 4;
/// The answer has a new key.
const HAS_KEY: u8 = 64;

/// A device with one passkey.
pub struct PasskeyDevice {
    key: EcdsaKeyPair,
    id: Vec<u8>,
    user: Vec<u8>,
    /// The origin of the page that asks.
    pub origin: String,
    /// The counter of the next answer.
    pub counter: u32,
    /// True if the device verifies its user.
    pub verifies: bool,
}

impl PasskeyDevice {
    /// Creates a device. `name` makes the id of its passkey.
    pub fn new(origin: &str, name: &str) -> anyhow::Result<Self> {
        let random = SystemRandom::new();
        let document = EcdsaKeyPair::generate_pkcs8(&ECDSA_P256_SHA256_ASN1_SIGNING, &random);
        let document = document.ok().context("a key")?;
        let key = EcdsaKeyPair::from_pkcs8(&ECDSA_P256_SHA256_ASN1_SIGNING, document.as_ref(), &random);
        let key = key.ok().context("a key")?;
        let id = Sha256::digest(name).to_vec();
        Ok(Self { key, id, user: Vec::new(), origin: origin.to_owned(), counter: 1, verifies: true })
    }

    /// Returns the id of the passkey, as challenges name it.
    pub fn id(&self) -> String {
        BASE64.encode(&self.id)
    }

    /// Makes the passkey that a challenge asks for.
    pub fn create(&mut self, options: &Value) -> anyhow::Result<Value> {
        let user = options["publicKey"]["user"]["id"].as_str().context("the id of the user")?;
        self.user = BASE64.decode(user)?;
        let host = options["publicKey"]["rp"]["id"].as_str().context("the host")?;
        let client = self.describe_page("webauthn.create", options);
        let mut data = self.describe_device(host, HAS_KEY);
        data.extend([0; 16]);
        data.extend(u16::try_from(self.id.len())?.to_be_bytes());
        data.extend(&self.id);
        // The key in CBOR: an elliptic curve, ES256, P-256, and the two coordinates.
        let public = self.key.public_key().as_ref();
        data.extend([0xa5, 0x01, 0x02, 0x03, 0x26, 0x20, 0x01, 0x21, 0x58, 0x20]);
        data.extend(&public[1..33]);
        data.extend([0x22, 0x58, 0x20]);
        data.extend(&public[33..65]);
        let mut attestation = b"\xa3\x63fmt\x64none\x67attStmt\xa0\x68authData\x59".to_vec();
        attestation.extend(u16::try_from(data.len())?.to_be_bytes());
        attestation.extend(data);
        Ok(self.answer(
            json!({ "clientDataJSON": BASE64.encode(client), "attestationObject": BASE64.encode(attestation) }),
        ))
    }

    /// Answers a challenge.
    pub fn get(&self, options: &Value) -> anyhow::Result<Value> {
        let host = options["publicKey"]["rpId"].as_str().context("the host")?;
        let client = self.describe_page("webauthn.get", options);
        let data = self.describe_device(host, 0);
        let signed = [&data[..], &Sha256::digest(&client)].concat();
        let signature = self.key.sign(&SystemRandom::new(), &signed).ok().context("a signature")?;
        Ok(self.answer(json!({
            "clientDataJSON": BASE64.encode(client),
            "authenticatorData": BASE64.encode(data),
            "signature": BASE64.encode(signature),
            "userHandle": BASE64.encode(&self.user),
        })))
    }

    fn answer(&self, response: Value) -> Value {
        let id = self.id();
        let answer = json!({ "id": id, "rawId": id, "type": "public-key", "response": response, "extensions": {} });
        json!({ "answer": answer, "next": "/backoffice/payments" })
    }

    fn describe_page(&self, kind: &str, options: &Value) -> Vec<u8> {
        let challenge = &options["publicKey"]["challenge"];
        json!({ "type": kind, "challenge": challenge, "origin": self.origin }).to_string().into_bytes()
    }

    fn describe_device(&self, host: &str, bits: u8) -> Vec<u8> {
        let verified = if self.verifies { VERIFIED } else { 0 };
        let mut data = Sha256::digest(host).to_vec();
        data.push(PRESENT | verified | bits);
        data.extend(self.counter.to_be_bytes());
        data
    }
}
