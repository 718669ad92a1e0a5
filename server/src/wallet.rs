//! Encrypted wallet tokens: how one is made for a channel's public key, and how the channel opens it. The format is in
//! `docs/wallet-token.md`. Pure: keys, time and randomness come as arguments.

use aes_gcm::aead::{Aead as _, KeyInit as _, Payload};
use aes_gcm::{Aes256Gcm, Nonce};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use hkdf::Hkdf;
use jiff::{SignedDuration, Timestamp};
use p256::{PublicKey, SecretKey};
use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};
use zeroize::{Zeroize, ZeroizeOnDrop, Zeroizing};

use crate::domain::id::{EntityId, hex};

/// The only version so far; also the first words of what the key is derived from.
const VERSION: &str = "TILLGATE_WALLET_1";
/// The longest that a token may be valid: used ones are remembered for as long.
pub const LONGEST: SignedDuration = SignedDuration::from_hours(24);
const NONCE: usize = 12;

/// A channel's key pair (P-256). It has no Debug; its secret half is zeroed on drop.
pub struct WalletKey(SecretKey);

/// The public half.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PublicWalletKey(PublicKey);

/// How the key of a token is derived from the shared secret, both with SHA-256.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, clap::ValueEnum)]
pub enum Derivation {
    /// HKDF without salt (RFC 5869).
    #[serde(rename = "HKDF")]
    Hkdf,
    /// The key derivation function of ANSI X9.63 (SEC 1, 3.6.1).
    #[serde(rename = "X9.63")]
    X963,
}

/// A token as it travels.
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

/// What is inside of a token. It has no Debug and is zeroed on drop.
#[derive(Clone, Serialize, Deserialize, Zeroize, ZeroizeOnDrop)]
#[serde(rename_all = "camelCase")]
pub struct Content {
    /// The token's own id: 16 to 64 letters, digits and hyphens, another one for every token.
    pub token_id: String,
    /// When it becomes worthless.
    #[zeroize(skip)]
    pub expires: Timestamp,
    /// The card number.
    pub number: String,
    /// Two digits.
    pub expiry_month: String,
    /// Four digits.
    pub expiry_year: String,
    /// The name on the card.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub holder: Option<String>,
    /// The wallet's authentication value, base64 of 20 bytes.
    pub cryptogram: String,
    /// The electronic commerce indicator of the authentication.
    pub eci: String,
}

/// Why a token is refused, in words for the merchant.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum Fault {
    /// It is no token.
    #[error("is not a wallet token of this format")]
    Malformed,
    /// No key of this channel has this id.
    #[error("was made for a key that this channel does not have")]
    Foreign,
    /// The key of this id opens nothing any more.
    #[error("was made for a key that this channel has retired")]
    Retired,
    /// Decryption failed.
    #[error("cannot be decrypted: it was altered, or made for another channel")]
    Altered,
    /// It was decrypted, and what is inside is not what belongs there.
    #[error("does not hold the data of a card")]
    Content,
    /// Its time is over.
    #[error("has expired")]
    Expired,
    /// Its time is longer than used tokens are remembered.
    #[error("is valid for more than 24 hours")]
    TooLong,
    /// It has paid already.
    #[error("has been used already")]
    Used,
}

impl WalletKey {
    /// A key from 32 bytes; `None` for the few numbers that are no key.
    pub fn from_bytes(bytes: &[u8]) -> Option<Self> {
        SecretKey::from_slice(bytes).ok().map(Self)
    }

    /// The secret half, 32 bytes. Whoever takes it is responsible for where it goes.
    pub fn secret(&self) -> Zeroizing<Vec<u8>> {
        Zeroizing::new(self.0.to_bytes().to_vec())
    }

    /// The public half.
    pub fn public(&self) -> PublicWalletKey {
        PublicWalletKey(self.0.public_key())
    }
}

impl PublicWalletKey {
    /// A key from an uncompressed point, 65 bytes (SEC 1, 2.3.3).
    pub fn from_bytes(bytes: &[u8]) -> Option<Self> {
        if bytes.len() == 65 { PublicKey::from_sec1_bytes(bytes).ok().map(Self) } else { None }
    }

    /// The uncompressed point, 65 bytes.
    pub fn bytes(&self) -> Vec<u8> {
        self.0.to_sec1_bytes().into()
    }

    /// The name of the key pair: the first eight bytes of the point's SHA-256, in hexadecimal digits.
    pub fn id(&self) -> String {
        hex(&Sha256::digest(self.bytes())[..8])
    }
}

impl Token {
    /// Encrypts `content` for a channel's key, with a key pair and a nonce that serve this token alone.
    pub fn seal(
        content: &Content,
        entity: &EntityId,
        to: &PublicWalletKey,
        kdf: Derivation,
        ephemeral: &WalletKey,
        nonce: [u8; NONCE],
    ) -> Option<Self> {
        let (key_id, public) = (to.id(), ephemeral.public());
        let shared = ephemeral.0.diffie_hellman(&to.0);
        let key = derive(kdf, shared.raw_secret_bytes(), entity, &public, to)?;
        let plain = Zeroizing::new(serde_json::to_vec(content).ok()?);
        let aad = associated(kdf, &key_id);
        let data = Aes256Gcm::new(&(*key).into())
            .encrypt(&Nonce::from(nonce), Payload { msg: &plain, aad: aad.as_bytes() })
            .ok()?;
        Some(Self {
            version: VERSION.to_owned(),
            kdf,
            key_id,
            ephemeral_public_key: STANDARD.encode(public.bytes()),
            nonce: STANDARD.encode(nonce),
            data: STANDARD.encode(data),
        })
    }

    /// Reads the outside of a token.
    ///
    /// # Errors
    /// [`Fault::Malformed`].
    pub fn parse(text: &str) -> Result<Self, Fault> {
        let token: Self = serde_json::from_str(text).map_err(|_| Fault::Malformed)?;
        if token.version == VERSION { Ok(token) } else { Err(Fault::Malformed) }
    }

    /// The name of the key that opens it.
    pub fn key_id(&self) -> &str {
        &self.key_id
    }

    /// Decrypts a token that was sent to a channel, and looks at its time.
    ///
    /// # Errors
    /// What is wrong with it.
    pub fn open(&self, entity: &EntityId, key: &WalletKey, now: Timestamp) -> Result<Content, Fault> {
        let bytes = |text: &str| STANDARD.decode(text).map_err(|_| Fault::Malformed);
        let public = PublicWalletKey::from_bytes(&bytes(&self.ephemeral_public_key)?).ok_or(Fault::Malformed)?;
        let nonce: [u8; NONCE] = bytes(&self.nonce)?.try_into().map_err(|_| Fault::Malformed)?;
        let data = bytes(&self.data)?;
        let shared = key.0.diffie_hellman(&public.0);
        let secret = derive(self.kdf, shared.raw_secret_bytes(), entity, &public, &key.public());
        let secret = secret.ok_or(Fault::Altered)?;
        let aad = associated(self.kdf, &self.key_id);
        let plain = Aes256Gcm::new(&(*secret).into())
            .decrypt(&Nonce::from(nonce), Payload { msg: &data, aad: aad.as_bytes() })
            .map(Zeroizing::new)
            .map_err(|_| Fault::Altered)?;
        let content: Content = serde_json::from_slice(&plain).map_err(|_| Fault::Content)?;
        let id = content.token_id.as_bytes();
        if !(16..=64).contains(&id.len()) || !id.iter().all(|byte| byte.is_ascii_alphanumeric() || *byte == b'-') {
            return Err(Fault::Content);
        }
        if content.expires <= now {
            return Err(Fault::Expired);
        }
        if content.expires.duration_since(now) > LONGEST {
            return Err(Fault::TooLong);
        }
        Ok(content)
    }
}

/// What the outside of a token says is bound to the inside.
fn associated(kdf: Derivation, key_id: &str) -> String {
    let kdf = match kdf {
        Derivation::Hkdf => "HKDF",
        Derivation::X963 => "X9.63",
    };
    format!("{VERSION}.{kdf}.{key_id}")
}

/// The key of one token: 32 bytes from the shared secret, bound to version, channel and both public keys.
fn derive(
    kdf: Derivation,
    shared: &[u8],
    entity: &EntityId,
    ephemeral: &PublicWalletKey,
    to: &PublicWalletKey,
) -> Option<Zeroizing<[u8; 32]>> {
    let info = [VERSION.as_bytes(), entity.as_str().as_bytes(), &ephemeral.bytes(), &to.bytes()].concat();
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

    fn entity(text: &str) -> EntityId {
        EntityId::parse(text).unwrap()
    }

    fn ours() -> EntityId {
        entity("8a000000000000000000000000000001")
    }

    fn key(byte: u8) -> WalletKey {
        WalletKey::from_bytes(&[byte; 32]).unwrap()
    }

    fn now() -> Timestamp {
        "2026-11-21T12:00:00Z".parse().unwrap()
    }

    fn content() -> Content {
        Content {
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

    fn sealed(content: &Content, kdf: Derivation) -> Token {
        Token::seal(content, &ours(), &key(1).public(), kdf, &key(2), [3; NONCE]).unwrap()
    }

    fn fault(outcome: Result<Content, Fault>) -> Fault {
        outcome.err().unwrap()
    }

    #[test]
    fn a_token_opens_for_its_channel_and_key_only() {
        for kdf in [Derivation::Hkdf, Derivation::X963] {
            let token = sealed(&content(), kdf);
            assert_eq!(token.key_id(), key(1).public().id());
            assert_eq!(token.open(&ours(), &key(1), now()).ok().unwrap().number, "4200000000000000");
            let stranger = entity("8a000000000000000000000000000002");
            assert_eq!(fault(token.open(&stranger, &key(1), now())), Fault::Altered);
            assert_eq!(fault(token.open(&ours(), &key(9), now())), Fault::Altered);
        }
    }

    #[test]
    fn the_format_is_the_documented_one() {
        // Made by an independent implementation (Python's cryptography) from the page in docs/.
        for vector in [HKDF_VECTOR, X963_VECTOR] {
            let opened = Token::parse(vector).unwrap().open(&ours(), &key(1), now()).ok().unwrap();
            assert_eq!((opened.number.as_str(), opened.eci.as_str()), ("4200000000000000", "05"));
        }
    }

    #[test]
    fn every_altered_part_is_noticed() {
        let token = serde_json::to_value(sealed(&content(), Derivation::Hkdf)).unwrap();
        let outcome = |token: &serde_json::Value| {
            Token::parse(&token.to_string()).and_then(|token| token.open(&ours(), &key(1), now())).err()
        };
        assert_eq!(outcome(&token), None);
        for (part, value, expected) in [
            ("version", "TILLGATE_WALLET_2", Fault::Malformed),
            ("kdf", "X9.63", Fault::Altered),
            ("kdf", "MD5", Fault::Malformed),
            ("keyId", "0000000000000000", Fault::Altered),
            ("ephemeralPublicKey", "AAAA", Fault::Malformed),
            ("nonce", "AAAAAAAAAAAAAAAA", Fault::Altered),
            ("nonce", "AAAA", Fault::Malformed),
            ("data", "", Fault::Altered),
            ("data", "*", Fault::Malformed),
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
            assert_eq!(outcome(&altered), Some(Fault::Altered), "byte {at}");
        }
        assert_eq!(Token::parse("dG9rZW4=").err(), Some(Fault::Malformed));
    }

    #[test]
    fn a_token_has_its_time() {
        for (expires, expected) in [
            ("2026-11-21T12:00:00Z", Some(Fault::Expired)),
            ("2026-11-21T12:00:01Z", None),
            ("2026-11-22T12:00:00Z", None),
            ("2026-11-22T12:00:01Z", Some(Fault::TooLong)),
        ] {
            let mut content = content();
            content.expires = expires.parse().unwrap();
            let opened = sealed(&content, Derivation::Hkdf).open(&ours(), &key(1), now());
            assert_eq!(opened.err(), expected, "{expires}");
        }
        let mut nameless = content();
        "short".clone_into(&mut nameless.token_id);
        assert_eq!(fault(sealed(&nameless, Derivation::Hkdf).open(&ours(), &key(1), now())), Fault::Content);
    }

    const HKDF_VECTOR: &str = r#"{"version":"TILLGATE_WALLET_1","kdf":"HKDF","keyId":"256b1be32745d1d1","ephemeralPublicKey":"BB4YUy/UdUwC8wQdnHXOszuD/9gax85P6ILMscmLxYlupGwxHE4v9A3ZajZT5uRURdMt/khuztdcepDGoYiBwKM=","nonce":"AAECAwQFBgcICQoL","data":"5GoxFxc30y/DjBrPH9wef0FEL0OdJ4qsIbbPzirTT4IHfwV68a7IdJHsiLeyad4sqNTPjeTRRclXTu0FtTCLxE8xUKP2bBMb6/KOsKMK9bncGMyMCUytH740iIRr5R11VoQbOaP4L+uJo2ZUfMZNw5eLC9iTArstITKMPhf4ZTbjdgIqhTq02o8So5J/XLgjNBBFS1gxiDP5yBRiq7yeCYA/fcmICAELmV2LtA9YGjbEBoqmP3x0sF1jbdC+S8p9ANL/hKjgEuOsCawG2Rg+VFtkbV0ZJA=="}"#;
    const X963_VECTOR: &str = r#"{"version":"TILLGATE_WALLET_1","kdf":"X9.63","keyId":"256b1be32745d1d1","ephemeralPublicKey":"BB4YUy/UdUwC8wQdnHXOszuD/9gax85P6ILMscmLxYlupGwxHE4v9A3ZajZT5uRURdMt/khuztdcepDGoYiBwKM=","nonce":"AAECAwQFBgcICQoL","data":"tlOxhlVYMzu41KFrzVBvFBc9BoKMnG44hAEBPlP0EG8S9UHjrbRmeExJlGKLvJPnf3pl/ZKVzkKPaXpRzXl/QSas/rYz8lZOKNp1k2sOKy0hC5kAhVcHU2qIe1zQfsxUmtAQEv/0jns5Ooda/HMWABG84vx+MHydW3MWFtFEe+4vjIQKYx5WCxY5+ddjoDuoXQHPl+xyUY8U8oqASyM1PNcOvI/oLtSyoSOotPf0hD+uo3l8Hc2H1h16oqjF1VAO4Rq/c+siBZk81QLYbxdy/4WCO3u43Q=="}"#;
}
