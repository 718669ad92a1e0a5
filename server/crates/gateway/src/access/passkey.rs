//! Passkeys: the party for which a browser makes them, challenges, and the check of answers (WebAuthn).

use std::net::IpAddr;

use base64::Engine as _;
use base64::prelude::BASE64_URL_SAFE_NO_PAD;
use jiff::Timestamp;
use serde_json::{Value, json};
use tillgate_domain::access::passkey::{CHALLENGE_LIMIT, ChallengePurpose};
use tillgate_domain::access::user::User;
use tillgate_domain::id::{UserId, decode_hex};
use tillgate_store::access::passkey::{StoredChallenge, StoredPasskey};
use tillgate_store::access::user::{UserChanges, UserInput, UserKey};
use webauthn_rs::prelude::{
    DiscoverableAuthentication, Passkey, PasskeyRegistration, PublicKeyCredential, RegisterPublicKeyCredential, Url,
    Uuid, Webauthn, WebauthnBuilder, WebauthnError,
};

use crate::access::actor::Actor;
use crate::access::link_token::LinkToken;
use crate::access::users::owner;
use crate::{Failure, Gateway};

/// Name of the gateway in the windows of browsers.
const NAME: &str = "Tillgate";

/// The party for which passkeys are made: an origin and its host.
pub struct RelyingParty {
    host: String,
    webauthn: Webauthn,
}

/// A challenge for a browser.
pub struct IssuedChallenge {
    /// The token for the browser's cookie. With it the answer is checked, once.
    pub token: LinkToken,
    /// The options of `navigator.credentials`, with binary values in base64url.
    pub options: Value,
}

/// Outcome of a check of an answer.
pub(super) enum CheckedAnswer {
    /// The answer is right. It has the key with its new counter.
    Right(Vec<u8>),
    /// The signature is right, but the counter went back: there may be a copy of the passkey.
    Copied,
    /// The answer is wrong.
    Wrong,
}

impl RelyingParty {
    /// Returns the party of an origin, such as `https://pay.example/`. Returns `None` for an IP address, for which
    /// browsers make no passkeys.
    pub fn of_origin(origin: &str) -> Option<Self> {
        let url = Url::parse(origin).ok()?;
        let host = url.domain()?.to_owned();
        let builder = WebauthnBuilder::new(&host, &url).ok()?.rp_name(NAME);
        let webauthn = builder.timeout(CHALLENGE_LIMIT.unsigned_abs()).build().ok()?;
        Some(Self { host, webauthn })
    }

    /// Returns the host for which passkeys are made.
    pub fn host(&self) -> &str {
        &self.host
    }

    /// Makes a challenge for a passkey of a user. The browser makes no second one beside those that are known.
    pub(super) fn challenge_new(&self, user: &User, known: &[StoredPasskey]) -> Option<(Value, Vec<u8>)> {
        let known = known.iter().map(|passkey| passkey.credential.clone()).collect();
        let started =
            self.webauthn.start_passkey_registration(user_handle(&user.id)?, &user.mail, &user.name, Some(known));
        let (options, state) = started.ok()?;
        let mut options = serde_json::to_value(options).ok()?;
        // Only a passkey that a browser finds by itself signs in without a user name.
        let selection = options.pointer_mut("/publicKey/authenticatorSelection")?;
        selection["residentKey"] = json!("required");
        selection["requireResidentKey"] = json!(true);
        Some((options, serde_json::to_vec(&state).ok()?))
    }

    /// Checks the answer to a challenge for a new passkey. Returns its id and its key.
    pub(super) fn check_new(&self, state: &[u8], answer: &Value) -> Option<(Vec<u8>, Vec<u8>)> {
        let state: PasskeyRegistration = serde_json::from_slice(state).ok()?;
        let answer: RegisterPublicKeyCredential = serde_json::from_value(answer.clone()).ok()?;
        let checked = self.webauthn.finish_passkey_registration(&answer, &state);
        let passkey = checked.inspect_err(|error| tracing::debug!(%error, "a new passkey was refused")).ok()?;
        Some((passkey.cred_id().to_vec(), serde_json::to_vec(&passkey).ok()?))
    }

    /// Makes a challenge for one of these passkeys, or for any if there are none.
    pub(super) fn challenge_known(&self, known: &[StoredPasskey]) -> Option<(Value, Vec<u8>)> {
        let (options, state) = self.webauthn.start_discoverable_authentication().ok()?;
        let mut options = serde_json::to_value(options).ok()?;
        // The user presses a button, so the browser asks at once instead of offering passkeys in a field.
        options.as_object_mut()?.remove("mediation");
        let allowed = known
            .iter()
            .map(|passkey| json!({ "type": "public-key", "id": BASE64_URL_SAFE_NO_PAD.encode(&passkey.credential) }));
        *options.pointer_mut("/publicKey/allowCredentials")? = allowed.collect();
        Some((options, serde_json::to_vec(&state).ok()?))
    }

    /// Checks the answer of a passkey.
    pub(super) fn check_known(&self, state: &[u8], answer: &PasskeyAnswer, passkey: &StoredPasskey) -> CheckedAnswer {
        let state = serde_json::from_slice::<DiscoverableAuthentication>(state);
        let (Ok(state), Ok(mut key)) = (state, serde_json::from_slice::<Passkey>(&passkey.key)) else {
            return CheckedAnswer::Wrong;
        };
        if passkey.host != self.host {
            return CheckedAnswer::Wrong;
        }
        match self.webauthn.finish_discoverable_authentication_v2(&answer.0, state, &key) {
            Ok(checked) => {
                key.update_credential(&checked);
                serde_json::to_vec(&key).map_or(CheckedAnswer::Wrong, CheckedAnswer::Right)
            }
            Err(WebauthnError::CredentialPossibleCompromise) => CheckedAnswer::Copied,
            Err(error) => {
                tracing::debug!(%error, "the answer of a passkey was refused");
                CheckedAnswer::Wrong
            }
        }
    }
}

/// The answer of a passkey to a challenge, as a browser sends it.
pub(super) struct PasskeyAnswer(PublicKeyCredential);

impl PasskeyAnswer {
    /// Reads an answer. Returns `None` if it does not have the form of one.
    pub(super) fn parse(answer: &Value) -> Option<Self> {
        serde_json::from_value(answer.clone()).ok().map(Self)
    }

    /// Returns the id of the passkey.
    pub(super) fn credential(&self) -> &[u8] {
        self.0.get_credential_id()
    }

    /// Returns the user for whom the passkey says that it was made. Returns `None` if it does not say so.
    pub(super) fn names_user(&self, user: &UserId) -> Option<bool> {
        let named = self.0.get_user_unique_id()?;
        Some(user_handle(user).is_some_and(|handle| handle.as_bytes() == named))
    }
}

/// Returns the id of a user in the form of WebAuthn.
fn user_handle(user: &UserId) -> Option<Uuid> {
    decode_hex::<16>(user.as_str()).map(Uuid::from_bytes)
}

impl Gateway {
    /// Loads the passkeys of a user, oldest first.
    ///
    /// # Errors
    /// If the store cannot be read.
    pub fn load_passkeys(&self, user: &User) -> Result<Vec<StoredPasskey>, Failure> {
        Ok(self.store.load_passkeys(&user.id)?)
    }

    /// Stores a challenge, and returns it with the token of its answer. `made` are its options and its state.
    pub(super) async fn issue_challenge(
        &self,
        made: Option<(Value, Vec<u8>)>,
        (purpose, session, name): (ChallengePurpose, Option<i64>, String),
    ) -> Result<IssuedChallenge, Failure> {
        let (options, state) = made.ok_or(Failure::Challenge)?;
        let token = LinkToken::random()?;
        let challenge = StoredChallenge { purpose, session, name, state, created: self.now() };
        self.store.add_challenge(token.hash(), challenge).await?;
        Ok(IssuedChallenge { token, options })
    }

    /// Takes the challenge of a token, so that no other answer is checked with it. Returns `None` if there is none, it
    /// has another purpose or session, or it is too old.
    pub(super) async fn take_challenge(
        &self,
        token: &LinkToken,
        (purpose, session): (ChallengePurpose, Option<i64>),
    ) -> Result<Option<StoredChallenge>, Failure> {
        let now = self.now();
        let found = self.store.take_challenge(token.hash()).await?;
        Ok(found.filter(|challenge| {
            let age = now.duration_since(challenge.created);
            challenge.purpose == purpose && challenge.session == session && age < CHALLENGE_LIMIT && !age.is_negative()
        }))
    }

    /// Records that a passkey was refused because its counter went back.
    pub(super) async fn record_copied_passkey(
        &self,
        passkey: &StoredPasskey,
        address: IpAddr,
        now: Timestamp,
    ) -> Result<(), Failure> {
        let (user, id) = (passkey.user.clone(), passkey.id.clone());
        tracing::warn!(user = user.as_str(), passkey = %id, %address,
            "a passkey was refused because its counter went back: there may be a copy of it");
        let actor = Actor::of_user(&user, address);
        let decide = move |input: UserInput| {
            let Some(found) = input.found else { return Err(()) };
            let user = &found.stored.user;
            let entry = actor.entry(now, "user passkey-refuse", user).with_detail("passkey", id);
            let entry = entry.with_detail("reason", "the counter went back");
            Ok((UserChanges::default().with_entry(owner(user), entry), ()))
        };
        // A user that is gone has no entry to get.
        let _ = self.store.change_user(UserKey::Id(user), decide).await?;
        Ok(())
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn a_party_has_a_host_without_a_port_and_is_no_address() {
        for (origin, host) in [
            ("https://pay.example/", "pay.example"),
            ("https://pay.example:8443/", "pay.example"),
            ("http://localhost:8080/", "localhost"),
            ("http://pay.localhost:8080/", "pay.localhost"),
        ] {
            assert_eq!(RelyingParty::of_origin(origin).unwrap().host(), host);
        }
        for origin in ["http://127.0.0.1:8080/", "http://[::1]:8080/", "https://192.0.2.1/", "", "pay.example"] {
            assert!(RelyingParty::of_origin(origin).is_none(), "{origin}");
        }
    }

    #[test]
    fn a_challenge_asks_for_a_verified_user() {
        let party = RelyingParty::of_origin("https://pay.example/").unwrap();
        let (first, _) = party.challenge_known(&[]).unwrap();
        assert_eq!(first["publicKey"]["userVerification"], "required");
        assert_eq!(first["publicKey"]["rpId"], "pay.example");
        assert_eq!(first["publicKey"]["allowCredentials"], json!([]));
        assert_eq!(first.get("mediation"), None);
        let (second, _) = party.challenge_known(&[]).unwrap();
        assert_ne!(first["publicKey"]["challenge"], second["publicKey"]["challenge"]);
    }
}
