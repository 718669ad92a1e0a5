//! Encrypted wallet tokens: encryption for a channel's public key, and decryption by the channel. The format is
//! described in `docs/wallet-token.md`. The functions are pure: keys, time and randomness are arguments.

use aes_gcm::aead::{Aead as _, KeyInit as _, Payload};
use aes_gcm::{Aes256Gcm, Nonce};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use hkdf::Hkdf;
use jiff::{SignedDuration, Timestamp};
use p256::{PublicKey, SecretKey};
use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};
use tillgate_domain::id::{EntityId, to_hex};
use zeroize::{Zeroize, ZeroizeOnDrop, Zeroizing};

/// The only version so far. It is also the first part of the input of the key derivation.
const VERSION: &str = "TILLGATE_WALLET_1";
/// Maximum validity of a token. Used tokens are recorded for as long.
pub const MAX_VALIDITY: SignedDuration = SignedDuration::from_hours(24);
/// Length of a nonce in bytes.
const NONCE: usize = 12;

/// A channel's key pair (P-256). It has no Debug, and its secret half is zeroed on drop.
pub struct WalletKey(SecretKey);

/// The public half of a key pair.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PublicWalletKey(PublicKey);

/// Derivation of a token's key from the shared secret, with SHA-256.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Derivation {
    /// HKDF without salt (RFC 5869).
    #[serde(rename = "HKDF")]
    Hkdf,
    /// The key derivation function of ANSI X9.63 (SEC 1, 3.6.1).
    #[serde(rename = "X9.63")]
    X963,
}

/// An encrypted token in its JSON form.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Token {
    version: String,
    kdf: Derivation,
    key_id: String,
    ephemeral_public_key: String,
    nonce: String,
    data: String,
}

/// The decrypted content of a token. It has no Debug and is zeroed on drop.
#[derive(Clone, Serialize, Deserialize, Zeroize, ZeroizeOnDrop)]
#[serde(rename_all = "camelCase")]
pub struct WalletTokenContent {
    /// The token's own id: 16 to 64 letters, digits and hyphens, unique for every token.
    pub token_id: String,
    /// The time from which the token is invalid.
    #[zeroize(skip)]
    pub expires: Timestamp,
    /// The card number.
    pub number: String,
    /// Month of expiry, two digits.
    pub expiry_month: String,
    /// Year of expiry, four digits.
    pub expiry_year: String,
    /// The name on the card.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub holder: Option<String>,
    /// The wallet's authentication value, base64 of 20 bytes.
    pub cryptogram: String,
    /// The electronic commerce indicator of the authentication.
    pub eci: String,
}

/// Reason for refusing a token. The error text is for the merchant.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum WalletTokenError {
    /// The text is not a token.
    #[error("is not a wallet token of this format")]
    Malformed,
    /// This channel has no key with this id.
    #[error("was made for a key that this channel does not have")]
    UnknownKey,
    /// The key with this id is retired.
    #[error("was made for a key that this channel has retired")]
    RetiredKey,
    /// Decryption failed.
    #[error("cannot be decrypted: it was altered, or made for another channel")]
    NotDecryptable,
    /// The token was decrypted, but its content is not valid card data.
    #[error("does not hold the data of a card")]
    InvalidContent,
    /// The token has expired.
    #[error("has expired")]
    Expired,
    /// The token is valid for longer than used tokens are recorded.
    #[error("is valid for more than 24 hours")]
    TooLong,
    /// The token has been used before.
    #[error("has been used already")]
    AlreadyUsed,
}

impl WalletKey {
    /// Creates a key from the 32 bytes of its secret half. Returns `None` if they are not a valid scalar of P-256.
    pub fn from_bytes(bytes: &[u8]) -> Option<Self> {
        SecretKey::from_slice(bytes).ok().map(Self)
    }

    /// Returns the secret half, 32 bytes. The caller is responsible for protecting it.
    pub fn secret_bytes(&self) -> Zeroizing<Vec<u8>> {
        Zeroizing::new(self.0.to_bytes().to_vec())
    }

    /// Returns the public half.
    pub fn public_key(&self) -> PublicWalletKey {
        PublicWalletKey(self.0.public_key())
    }
}

impl PublicWalletKey {
    /// Creates a key from an uncompressed point, 65 bytes (SEC 1, 2.3.3). Returns `None` for any other encoding, or a
    /// point that is not on the curve.
    pub fn from_bytes(bytes: &[u8]) -> Option<Self> {
        if bytes.len() == 65 { PublicKey::from_sec1_bytes(bytes).ok().map(Self) } else { None }
    }

    /// Returns the uncompressed point, 65 bytes.
    pub fn to_bytes(&self) -> Vec<u8> {
        self.0.to_sec1_bytes().into()
    }

    /// Returns the id of the key pair: the first eight bytes of the point's SHA-256, in hexadecimal digits.
    pub fn id(&self) -> String {
        to_hex(&Sha256::digest(self.to_bytes())[..8])
    }
}

impl Token {
    /// Encrypts `content` for a channel (`entity`) and its key. The ephemeral key pair and the nonce must be used for
    /// this token only. Returns `None` if an algorithm refuses its input, which valid arguments never cause.
    pub fn seal(
        content: &WalletTokenContent,
        entity: &EntityId,
        recipient: &PublicWalletKey,
        kdf: Derivation,
        ephemeral: &WalletKey,
        nonce: [u8; NONCE],
    ) -> Option<Self> {
        let (key_id, public) = (recipient.id(), ephemeral.public_key());
        let shared = ephemeral.0.diffie_hellman(&recipient.0);
        let key = derive_key(kdf, shared.raw_secret_bytes(), entity, &public, recipient)?;
        let plain = Zeroizing::new(serde_json::to_vec(content).ok()?);
        let aad = associated_data(kdf, &key_id);
        let data = Aes256Gcm::new(&(*key).into())
            .encrypt(&Nonce::from(nonce), Payload { msg: &plain, aad: aad.as_bytes() })
            .ok()?;
        Some(Self {
            version: VERSION.to_owned(),
            kdf,
            key_id,
            ephemeral_public_key: STANDARD.encode(public.to_bytes()),
            nonce: STANDARD.encode(nonce),
            data: STANDARD.encode(data),
        })
    }

    /// Parses the JSON form of a token and checks its version. Nothing is decrypted.
    ///
    /// # Errors
    /// [`WalletTokenError::Malformed`].
    pub fn parse(text: &str) -> Result<Self, WalletTokenError> {
        let token: Self = serde_json::from_str(text).map_err(|_| WalletTokenError::Malformed)?;
        if token.version == VERSION { Ok(token) } else { Err(WalletTokenError::Malformed) }
    }

    /// Returns the id of the key that opens the token.
    pub fn key_id(&self) -> &str {
        &self.key_id
    }

    /// Decrypts a token that was sent to a channel (`entity`). Checks its own id and its expiry, but not its card data
    /// and not if it has been used.
    ///
    /// # Errors
    /// `Malformed` if a field is not base64 of the right length or not a point, `NotDecryptable` for another key or
    /// channel or altered data, `InvalidContent` for content of another form, `Expired` from the time of expiry on,
    /// `TooLong` if more than 24 hours are left.
    pub fn open(
        &self,
        entity: &EntityId,
        key: &WalletKey,
        now: Timestamp,
    ) -> Result<WalletTokenContent, WalletTokenError> {
        let bytes = |text: &str| STANDARD.decode(text).map_err(|_| WalletTokenError::Malformed);
        let public =
            PublicWalletKey::from_bytes(&bytes(&self.ephemeral_public_key)?).ok_or(WalletTokenError::Malformed)?;
        let nonce: [u8; NONCE] = bytes(&self.nonce)?.try_into().map_err(|_| WalletTokenError::Malformed)?;
        let data = bytes(&self.data)?;
        let shared = key.0.diffie_hellman(&public.0);
        let secret = derive_key(self.kdf, shared.raw_secret_bytes(), entity, &public, &key.public_key());
        let secret = secret.ok_or(WalletTokenError::NotDecryptable)?;
        let aad = associated_data(self.kdf, &self.key_id);
        let plain = Aes256Gcm::new(&(*secret).into())
            .decrypt(&Nonce::from(nonce), Payload { msg: &data, aad: aad.as_bytes() })
            .map(Zeroizing::new)
            .map_err(|_| WalletTokenError::NotDecryptable)?;
        let content: WalletTokenContent =
            serde_json::from_slice(&plain).map_err(|_| WalletTokenError::InvalidContent)?;
        let id = content.token_id.as_bytes();
        if !(16..=64).contains(&id.len()) || !id.iter().all(|byte| byte.is_ascii_alphanumeric() || *byte == b'-') {
            return Err(WalletTokenError::InvalidContent);
        }
        if content.expires <= now {
            return Err(WalletTokenError::Expired);
        }
        if content.expires.duration_since(now) > MAX_VALIDITY {
            return Err(WalletTokenError::TooLong);
        }
        Ok(content)
    }
}

/// Returns the associated data, which binds version, derivation and key id to the encrypted content.
fn associated_data(kdf: Derivation, key_id: &str) -> String {
    let kdf = match kdf {
        Derivation::Hkdf => "HKDF",
        Derivation::X963 => "X9.63",
    };
    format!("{VERSION}.{kdf}.{key_id}")
}

/// Derives the key of one token: 32 bytes from the shared secret, bound to version, channel and both public keys.
fn derive_key(
    kdf: Derivation,
    shared: &[u8],
    entity: &EntityId,
    ephemeral: &PublicWalletKey,
    recipient: &PublicWalletKey,
) -> Option<Zeroizing<[u8; 32]>> {
    let info = [VERSION.as_bytes(), entity.as_str().as_bytes(), &ephemeral.to_bytes(), &recipient.to_bytes()].concat();
    let mut key = Zeroizing::new([0; 32]);
    match kdf {
        Derivation::Hkdf => Hkdf::<Sha256>::new(None, shared).expand(&info, &mut *key).ok()?,
        Derivation::X963 => ansi_x963_kdf::derive_key_into::<Sha256>(shared, &info, &mut *key).ok()?,
    }
    Some(key)
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    fn parse_entity(text: &str) -> EntityId {
        EntityId::parse(text).unwrap()
    }

    fn our_entity() -> EntityId {
        parse_entity("8a000000000000000000000000000001")
    }

    fn wallet_key(byte: u8) -> WalletKey {
        WalletKey::from_bytes(&[byte; 32]).unwrap()
    }

    fn sample_time() -> Timestamp {
        "2026-11-21T12:00:00Z".parse().unwrap()
    }

    /// Returns the content of a valid token at the sample time. It expires ten minutes later.
    fn sample_content() -> WalletTokenContent {
        WalletTokenContent {
            token_id: "0123456789abcdef".to_owned(),
            expires: "2026-11-21T12:10:00Z".parse().unwrap(),
            number: "4200000000000000".to_owned(),
            expiry_month: "05".to_owned(),
            expiry_year: "2034".to_owned(),
            holder: Some("Jane Jones".to_owned()),
            cryptogram: "AAAAAAAAAAAAAAAAAAAAAAAAAAA=".to_owned(),
            eci: "05".to_owned(),
        }
    }

    /// Encrypts `content` for our entity and key 1, with the ephemeral key 2.
    fn seal_content(content: &WalletTokenContent, kdf: Derivation) -> Token {
        Token::seal(content, &our_entity(), &wallet_key(1).public_key(), kdf, &wallet_key(2), [3; NONCE]).unwrap()
    }

    /// Returns the error; panics for a success.
    fn expect_error(outcome: Result<WalletTokenContent, WalletTokenError>) -> WalletTokenError {
        outcome.err().unwrap()
    }

    #[test]
    fn a_token_opens_for_its_channel_and_key_only() {
        for kdf in [Derivation::Hkdf, Derivation::X963] {
            let token = seal_content(&sample_content(), kdf);
            assert_eq!(token.key_id(), wallet_key(1).public_key().id());
            assert_eq!(
                token.open(&our_entity(), &wallet_key(1), sample_time()).ok().unwrap().number,
                "4200000000000000"
            );
            let stranger = parse_entity("8a000000000000000000000000000002");
            assert_eq!(
                expect_error(token.open(&stranger, &wallet_key(1), sample_time())),
                WalletTokenError::NotDecryptable
            );
            assert_eq!(
                expect_error(token.open(&our_entity(), &wallet_key(9), sample_time())),
                WalletTokenError::NotDecryptable
            );
        }
    }

    #[test]
    fn the_format_is_the_documented_one() {
        // Created by an independent implementation (Python's cryptography) from the page in docs/.
        for vector in [HKDF_VECTOR, X963_VECTOR] {
            let opened = Token::parse(vector).unwrap().open(&our_entity(), &wallet_key(1), sample_time()).ok().unwrap();
            assert_eq!((opened.number.as_str(), opened.eci.as_str()), ("4200000000000000", "05"));
        }
    }

    #[test]
    fn every_altered_part_is_noticed() {
        let token = serde_json::to_value(seal_content(&sample_content(), Derivation::Hkdf)).unwrap();
        let outcome = |token: &serde_json::Value| {
            Token::parse(&token.to_string())
                .and_then(|token| token.open(&our_entity(), &wallet_key(1), sample_time()))
                .err()
        };
        assert_eq!(outcome(&token), None);
        for (part, value, expected) in [
            ("version", "TILLGATE_WALLET_2", WalletTokenError::Malformed),
            ("kdf", "X9.63", WalletTokenError::NotDecryptable),
            ("kdf", "MD5", WalletTokenError::Malformed),
            ("keyId", "0000000000000000", WalletTokenError::NotDecryptable),
            ("ephemeralPublicKey", "AAAA", WalletTokenError::Malformed),
            ("nonce", "AAAAAAAAAAAAAAAA", WalletTokenError::NotDecryptable),
            ("nonce", "AAAA", WalletTokenError::Malformed),
            ("data", "", WalletTokenError::NotDecryptable),
            ("data", "*", WalletTokenError::Malformed),
        ] {
            let mut altered = token.clone();
            altered[part] = value.into();
            assert_eq!(outcome(&altered), Some(expected), "{part} = {value}");
        }
        let data = STANDARD.decode(token["data"].as_str().unwrap()).unwrap();
        for at in 0..data.len() {
            let mut flipped = data.clone();
            flipped[at] ^= 1;
            let mut altered = token.clone();
            altered["data"] = STANDARD.encode(flipped).into();
            assert_eq!(outcome(&altered), Some(WalletTokenError::NotDecryptable), "byte {at}");
        }
        assert_eq!(Token::parse("dG9rZW4=").err(), Some(WalletTokenError::Malformed));
    }

    #[test]
    fn a_token_has_its_time() {
        for (expires, expected) in [
            ("2026-11-21T12:00:00Z", Some(WalletTokenError::Expired)),
            ("2026-11-21T12:00:01Z", None),
            ("2026-11-22T12:00:00Z", None),
            ("2026-11-22T12:00:01Z", Some(WalletTokenError::TooLong)),
        ] {
            let mut content = sample_content();
            content.expires = expires.parse().unwrap();
            let opened = seal_content(&content, Derivation::Hkdf).open(&our_entity(), &wallet_key(1), sample_time());
            assert_eq!(opened.err(), expected, "{expires}");
        }
        let mut nameless = sample_content();
        "short".clone_into(&mut nameless.token_id);
        assert_eq!(
            expect_error(seal_content(&nameless, Derivation::Hkdf).open(&our_entity(), &wallet_key(1), sample_time())),
            WalletTokenError::InvalidContent
        );
    }

    const HKDF_VECTOR: &str = r#"{"version":"TILLGATE_WALLET_1","kdf":"HKDF","keyId":"256b1be32745d1d1","ephemeralPublicKey":"BB4YUy/UdUwC8wQdnHXOszuD/9gax85P6ILMscmLxYlupGwxHE4v9A3ZajZT5uRURdMt/khuztdcepDGoYiBwKM=","nonce":"AAECAwQFBgcICQoL","data":"5GoxFxc30y/DjBrPH9wef0FEL0OdJ4qsIbbPzirTT4IHfwV68a7IdJHsiLeyad4sqNTPjeTRRclXTu0FtTCLxE8xUKP2bBMb6/KOsKMK9bncGMyMCUytH740iIRr5R11VoQbOaP4L+uJo2ZUfMZNw5eLC9iTArstITKMPhf4ZTbjdgIqhTq02o8So5J/XLgjNBBFS1gxiDP5yBRiq7yeCYA/fcmICAELmV2LtA9YGjbEBoqmP3x0sF1jbdC+S8p9ANL/hKjgEuOsCawG2Rg+VFtkbV0ZJA=="}"#;
    const X963_VECTOR: &str = r#"{"version":"TILLGATE_WALLET_1","kdf":"X9.63","keyId":"256b1be32745d1d1","ephemeralPublicKey":"BB4YUy/UdUwC8wQdnHXOszuD/9gax85P6ILMscmLxYlupGwxHE4v9A3ZajZT5uRURdMt/khuztdcepDGoYiBwKM=","nonce":"AAECAwQFBgcICQoL","data":"tlOxhlVYMzu41KFrzVBvFBc9BoKMnG44hAEBPlP0EG8S9UHjrbRmeExJlGKLvJPnf3pl/ZKVzkKPaXpRzXl/QSas/rYz8lZOKNp1k2sOKy0hC5kAhVcHU2qIe1zQfsxUmtAQEv/0jns5Ooda/HMWABG84vx+MHydW3MWFtFEe+4vjIQKYx5WCxY5+ddjoDuoXQHPl+xyUY8U8oqASyM1PNcOvI/oLtSyoSOotPf0hD+uo3l8Hc2H1h16oqjF1VAO4Rq/c+siBZk81QLYbxdy/4WCO3u43Q=="}"#;
}
