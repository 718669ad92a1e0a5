//! Sign-in with a passkey: as the second factor after the password, or with nothing else. The passkey verifies its
//! user, so it is worth both factors. A refusal says nothing about users.

use jiff::Timestamp;
use serde_json::Value;
use tillgate_domain::access::passkey::ChallengePurpose;
use tillgate_domain::access::session::SessionStage;
use tillgate_domain::access::user::FactorFailures;
use tillgate_store::access::passkey::StoredPasskey;
use tillgate_store::access::user::{UserChanges, UserInput, UserKey};
use tillgate_store::access::user_change::UserChange;
use tillgate_store::access::user_session::TokenHash;

use crate::access::actor::Actor;
use crate::access::found_session::FoundSession;
use crate::access::link_token::LinkToken;
use crate::access::passkey::{CheckedAnswer, IssuedChallenge, PasskeyAnswer, RelyingParty};
use crate::access::sign_in::{ConfirmedSession, SignInClient, SignInRefusal, known_device, may_sign_in};
use crate::access::sign_in_limits::{FactorGuess, SignInLimits};
use crate::access::users::owner;
use crate::{App, Failure, Gateway};

/// Name of the factor in the audit log.
const FACTOR: &str = "passkey";

/// Begins a sign-in without a user name.
///
/// # Errors
/// The refusal in the inner result; a failure of the store.
pub async fn begin_sign_in(
    app: &App,
    limits: &SignInLimits,
    party: &RelyingParty,
    client: &SignInClient,
) -> Result<Result<IssuedChallenge, SignInRefusal>, Failure> {
    let gateway = &app.gateway;
    // Each challenge is a row, so a flood of them would fill the store.
    if limits.are_passkeys_refused(client.address, gateway.now())
        || !limits.count_challenge(client.address, gateway.now())
    {
        return Ok(Err(SignInRefusal::TooMany));
    }
    gateway.issue_challenge(party.challenge_known(&[]), (ChallengePurpose::SignIn, None, String::new())).await.map(Ok)
}

/// Begins the second factor of a session that waits for it. A user without a passkey for this host is refused.
///
/// # Errors
/// The refusal in the inner result; a failure of the store.
pub async fn begin_factor(
    app: &App,
    limits: &SignInLimits,
    party: &RelyingParty,
    session: &LinkToken,
) -> Result<Result<IssuedChallenge, SignInRefusal>, Failure> {
    let gateway = &app.gateway;
    let Some(found) = gateway.find_waiting_session(session)? else { return Ok(Err(SignInRefusal::Expired)) };
    let known = gateway.find_factors(party, session)?;
    if known.is_empty() {
        return Ok(Err(SignInRefusal::Wrong));
    }
    if !limits.count_challenge_of_session(found.session.number, gateway.now()) {
        return Ok(Err(SignInRefusal::TooMany));
    }
    let purpose = (ChallengePurpose::Factor, Some(found.session.number), String::new());
    gateway.issue_challenge(party.challenge_known(&known), purpose).await.map(Ok)
}

/// Signs in with a passkey alone. The token is that of the challenge.
///
/// # Errors
/// The refusal in the inner result; a failure of the store.
pub async fn sign_in(
    app: &App,
    limits: &SignInLimits,
    (party, client): (&RelyingParty, &SignInClient),
    challenge: &LinkToken,
    answer: &Value,
) -> Result<Result<ConfirmedSession, SignInRefusal>, Failure> {
    let (gateway, now) = (&app.gateway, app.gateway.now());
    if limits.are_passkeys_refused(client.address, now) {
        return Ok(Err(SignInRefusal::TooMany));
    }
    let Some(taken) = gateway.take_challenge(challenge, (ChallengePurpose::SignIn, None)).await? else {
        limits.record_wrong_passkey(client.address, now);
        return Ok(Err(SignInRefusal::Expired));
    };
    let checked = match PasskeyAnswer::parse(answer) {
        // Without a user name, the passkey must name its user.
        Some(answer) => gateway
            .check_answer(party, &taken.state, &answer, |passkey| answer.names_user(&passkey.user) == Some(true))?,
        None => None,
    };
    let (passkey, key) = match checked {
        Some((passkey, CheckedAnswer::Right(key))) => (passkey, key),
        other => {
            limits.record_wrong_passkey(client.address, now);
            if let Some((passkey, CheckedAnswer::Copied)) = other {
                gateway.record_copied_passkey(&passkey, client.address, now).await?;
            }
            return Ok(Err(SignInRefusal::Wrong));
        }
    };
    let (token, actor) = (LinkToken::random()?, Actor::of_user(&passkey.user, client.address));
    let session = client.new_session(&token, now);
    let user = passkey.user.clone();
    let decide = move |input: UserInput| {
        let UserInput { found, passkeys, .. } = input;
        let is_right = |stored: &_| is_current(&passkey, &passkeys) && may_sign_in(stored);
        let found = found.map(|found| found.stored).filter(is_right);
        let Some(stored) = found else { return Err(SignInRefusal::Wrong) };
        let user = &stored.user;
        let entry = actor.entry(now, "user sign-in", user).with_detail("factor", FACTOR);
        let changes = UserChanges::default()
            .with(&user.id, UserChange::UsePasskey { id: passkey.id, key, now })
            .with(&user.id, UserChange::StartConfirmed(session))
            .with_entry(owner(user), entry);
        Ok((changes, ()))
    };
    match gateway.store.change_user(UserKey::Id(user.clone()), decide).await? {
        Ok(()) => Ok(Ok(ConfirmedSession { token, device: gateway.device_cookie(&user)? })),
        Err(refusal) => {
            limits.record_wrong_passkey(client.address, now);
            Ok(Err(refusal))
        }
    }
}

/// Outcome of a second factor: the session has it, or the refusal that the same commit has counted.
type FactorOutcome = Result<(), SignInRefusal>;

/// A checked answer to a challenge for the second factor.
#[derive(Clone)]
struct FactorAnswer {
    /// The passkey with its new key, if the answer is right.
    right: Option<(StoredPasskey, Vec<u8>)>,
    /// The guess of a known browser.
    guess: Option<FactorGuess>,
    /// The hash of the session's new token.
    hash: TokenHash,
    actor: Actor,
    now: Timestamp,
}

impl FactorAnswer {
    /// Decides about the session, under the write lock.
    fn decide(self, input: UserInput) -> Result<(UserChanges, FactorOutcome), SignInRefusal> {
        let (UserInput { found, passkeys, .. }, now) = (input, self.now);
        let found = found.filter(|found| may_sign_in(&found.stored));
        let Some((stored, session)) = found.and_then(|found| Some((found.stored, found.session?))) else {
            return Err(SignInRefusal::Expired);
        };
        if session.times.stage_at(now) != SessionStage::Unconfirmed {
            return Err(SignInRefusal::Expired);
        }
        let is_refused = |guess: &FactorGuess| guess.is_refused(now);
        if self.guess.as_ref().map_or_else(|| !stored.failures.allows_try(now), is_refused) {
            return Err(SignInRefusal::TooMany);
        }
        let (user, changes) = (&stored.user, UserChanges::default());
        let Some((passkey, key)) = self.right.filter(|(passkey, _)| is_current(passkey, &passkeys)) else {
            if let Some(guess) = &self.guess {
                guess.record_wrong(now);
            }
            let changes = changes
                .with(&user.id, UserChange::SetFailures(stored.failures.with_failure(now)))
                .with_entry(owner(user), self.actor.entry(now, "user factor-refuse", user));
            return Ok((changes, Err(SignInRefusal::Wrong)));
        };
        let entry = self.actor.entry(now, "user sign-in", user).with_detail("factor", FACTOR);
        let changes = changes
            .with(&user.id, UserChange::UsePasskey { id: passkey.id, key, now })
            .with(&user.id, UserChange::SetFailures(FactorFailures::default()))
            .with(&user.id, UserChange::ConfirmSession { number: session.number, hash: self.hash, now })
            .with_entry(owner(user), entry);
        Ok((changes, Ok(())))
    }
}

/// Returns true if a passkey is still as it was when its answer was checked. Another sign-in may have used its counter,
/// or it may have been removed.
pub(super) fn is_current(passkey: &StoredPasskey, passkeys: &[StoredPasskey]) -> bool {
    passkeys.iter().any(|known| known.id == passkey.id && known.key == passkey.key)
}

/// Checks the passkey of a session that waits for the second factor, and gives the session another token.
///
/// # Errors
/// The refusal in the inner result; a failure of the store.
pub async fn confirm_session(
    app: &App,
    limits: &SignInLimits,
    (party, client): (&RelyingParty, &SignInClient),
    (session, challenge): (&LinkToken, &LinkToken),
    answer: &Value,
) -> Result<Result<ConfirmedSession, SignInRefusal>, Failure> {
    let (gateway, now) = (&app.gateway, app.gateway.now());
    let Some(found) = gateway.find_waiting_session(session)? else { return Ok(Err(SignInRefusal::Expired)) };
    let user = found.user.id.clone();
    let purpose = (ChallengePurpose::Factor, Some(found.session.number));
    let Some(taken) = gateway.take_challenge(challenge, purpose).await? else {
        return Ok(Err(SignInRefusal::Expired));
    };
    let stored = gateway.store.load_user(&UserKey::Id(user.clone()))?.map(|loaded| loaded.stored);
    let device = stored.and_then(|stored| known_device(&gateway.vault, &stored, client.device.as_deref()?));
    let guess = limits.attempt(client.address, &found.user.mail, device).factor_guess();
    let checked = match PasskeyAnswer::parse(answer) {
        Some(answer) => gateway.check_answer(party, &taken.state, &answer, |passkey| {
            passkey.user == user && answer.names_user(&user) != Some(false)
        })?,
        None => None,
    };
    if let Some((passkey, CheckedAnswer::Copied)) = &checked {
        gateway.record_copied_passkey(passkey, client.address, now).await?;
    }
    let right = match checked {
        Some((passkey, CheckedAnswer::Right(key))) => Some((passkey, key)),
        _ => None,
    };
    let (next, actor) = (LinkToken::random()?, Actor::of_user(&user, client.address));
    let factor = FactorAnswer { right, guess, hash: next.hash(), actor, now };
    let decide = move |input: UserInput| factor.decide(input);
    let outcome = gateway.store.change_user(UserKey::Session(session.hash()), decide).await?;
    match outcome.and_then(|outcome| outcome) {
        Ok(()) => Ok(Ok(ConfirmedSession { token: next, device: gateway.device_cookie(&user)? })),
        Err(refusal) => Ok(Err(refusal)),
    }
}

impl Gateway {
    /// Finds a session that waits for the second factor.
    fn find_waiting_session(&self, token: &LinkToken) -> Result<Option<FoundSession>, Failure> {
        Ok(self.find_session(token)?.filter(|found| found.stage == SessionStage::Unconfirmed))
    }

    /// Finds the passkeys that can be the second factor of a session that waits for it.
    ///
    /// # Errors
    /// If the store cannot be read.
    pub fn find_factors(&self, party: &RelyingParty, session: &LinkToken) -> Result<Vec<StoredPasskey>, Failure> {
        let Some(found) = self.find_waiting_session(session)? else { return Ok(Vec::new()) };
        let mut known = self.store.load_passkeys(&found.user.id)?;
        known.retain(|passkey| passkey.host == party.host());
        Ok(known)
    }

    /// Finds the passkey of an answer, and checks the answer. Returns `None` if there is no such passkey, or
    /// `is_expected` returns false for it.
    pub(super) fn check_answer(
        &self,
        party: &RelyingParty,
        state: &[u8],
        answer: &PasskeyAnswer,
        is_expected: impl FnOnce(&StoredPasskey) -> bool,
    ) -> Result<Option<(StoredPasskey, CheckedAnswer)>, Failure> {
        let found = self.store.find_passkey(answer.credential())?.filter(is_expected);
        Ok(found.map(|passkey| {
            let checked = party.check_known(state, answer, &passkey);
            (passkey, checked)
        }))
    }
}
