//! A fresh second factor in a session that has one: acts on other users and access tokens ask for it, so that a browser
//! that was left open is not enough for them.

use std::net::IpAddr;

use serde_json::Value;
use tillgate_domain::access::passkey::ChallengePurpose;
use tillgate_domain::access::user::FactorFailures;
use tillgate_store::access::user::{UserChanges, UserInput, UserKey};
use tillgate_store::access::user_change::UserChange;

use crate::access::actor::Actor;
use crate::access::found_session::FoundSession;
use crate::access::link_token::LinkToken;
use crate::access::own_account::OwnAccountFault;
use crate::access::passkey::{CheckedAnswer, IssuedChallenge, PasskeyAnswer, RelyingParty};
use crate::access::passkey_sign_in::is_current;
use crate::access::rights::is_signed_in;
use crate::access::sign_in_limits::SignInLimits;
use crate::access::users::owner;
use crate::{App, Failure};

/// Confirms a session with a code.
///
/// # Errors
/// The fault in the inner result; a failure of the store.
pub async fn confirm_with_code(
    app: &App,
    limits: &SignInLimits,
    (found, address): (&FoundSession, IpAddr),
    code: &str,
) -> Result<Result<(), OwnAccountFault>, Failure> {
    app.gateway.act_with_factor(limits, found, code, address, |_, _| Ok(UserChanges::default())).await
}

/// Begins to confirm a session with a passkey.
///
/// # Errors
/// The fault in the inner result; a failure of the store.
pub async fn begin_confirmation(
    app: &App,
    limits: &SignInLimits,
    (party, found): (&RelyingParty, &FoundSession),
) -> Result<Result<IssuedChallenge, OwnAccountFault>, Failure> {
    let gateway = &app.gateway;
    let mut known = gateway.store.load_passkeys(&found.user.id)?;
    known.retain(|passkey| passkey.host == party.host());
    if known.is_empty() {
        return Ok(Err(OwnAccountFault::UnknownPasskey));
    }
    if !limits.count_challenge_of_session(found.session.number, gateway.now()) {
        return Ok(Err(OwnAccountFault::TooMany));
    }
    let purpose = (ChallengePurpose::Factor, Some(found.session.number), String::new());
    gateway.issue_challenge(party.challenge_known(&known), purpose).await.map(Ok)
}

/// Confirms a session with a passkey. The token is that of the challenge.
///
/// # Errors
/// The fault in the inner result; a failure of the store.
pub async fn confirm_with_passkey(
    app: &App,
    limits: &SignInLimits,
    (party, found, address): (&RelyingParty, &FoundSession, IpAddr),
    token: Option<&LinkToken>,
    answer: &Value,
) -> Result<Result<(), OwnAccountFault>, Failure> {
    let (gateway, now, number) = (&app.gateway, app.gateway.now(), found.session.number);
    let Some(token) = token else { return Ok(Err(OwnAccountFault::Factor)) };
    let taken = gateway.take_challenge(token, (ChallengePurpose::Factor, Some(number))).await?;
    let Some(taken) = taken else { return Ok(Err(OwnAccountFault::Factor)) };
    let user = &found.user.id;
    let checked = match PasskeyAnswer::parse(answer) {
        Some(answer) => gateway.check_answer(party, &taken.state, &answer, |passkey| {
            passkey.user == *user && answer.names_user(user) != Some(false)
        })?,
        None => None,
    };
    if let Some((passkey, CheckedAnswer::Copied)) = &checked {
        gateway.record_copied_passkey(passkey, address, now).await?;
    }
    let right = match checked {
        Some((passkey, CheckedAnswer::Right(key))) => Some((passkey, key)),
        _ => None,
    };
    let (guess, actor) = (limits.guess_in_session(number), Actor::of_user(user, address));
    let decide = move |input: UserInput| {
        let is_signed_in = input.actor.as_ref().is_some_and(|actor| is_signed_in(actor, now));
        let stored = input.found.map(|found| found.stored).filter(|_| is_signed_in);
        let Some(stored) = stored else { return Err(OwnAccountFault::Expired) };
        if guess.is_refused(now) {
            return Err(OwnAccountFault::TooMany);
        }
        let user = &stored.user;
        let Some((passkey, key)) = right.filter(|(passkey, _)| is_current(passkey, &input.passkeys)) else {
            guess.record_wrong(now);
            let refused = UserChanges::default()
                .with(&user.id, UserChange::SetFailures(stored.failures.with_failure(now)))
                .with_entry(owner(user), actor.entry(now, "user factor-refuse", user));
            return Ok((refused, Err(OwnAccountFault::Factor)));
        };
        let changes = UserChanges::default()
            .with(&user.id, UserChange::UsePasskey { id: passkey.id, key, now })
            .with(&user.id, UserChange::SetFailures(FactorFailures::default()))
            .with(&user.id, UserChange::RefreshFactor { number, now });
        Ok((changes, Ok(())))
    };
    let outcome = gateway.store.change_user_by(Some(number), UserKey::Id(user.clone()), decide).await?;
    Ok(outcome.and_then(|outcome| outcome))
}
