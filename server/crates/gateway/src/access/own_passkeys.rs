//! A user's own passkeys: add and remove. Both ask for a factor again, and end the user's other sessions.

use std::net::IpAddr;

use serde_json::Value;
use tillgate_domain::access::passkey::{ChallengePurpose, MAX_PASSKEYS, parse_passkey_name};
use tillgate_domain::access::user::UserState;
use tillgate_domain::id::to_hex;
use tillgate_store::access::passkey::StoredPasskey;
use tillgate_store::access::user::{UserChanges, UserInput, UserKey};
use tillgate_store::access::user_change::UserChange;

use crate::access::actor::Actor;
use crate::access::found_session::FoundSession;
use crate::access::link_token::LinkToken;
use crate::access::own_account::{OwnAccountFault, end_other_access};
use crate::access::passkey::{IssuedChallenge, RelyingParty};
use crate::access::rights::is_signed_in;
use crate::access::sign_in_limits::SignInLimits;
use crate::access::users::owner;
use crate::{App, Failure, random_bytes};

/// Begins to add a passkey to a signed-in user, if the second factor is right.
///
/// # Errors
/// The fault in the inner result; a failure of the store.
pub async fn begin_passkey(
    app: &App,
    limits: &SignInLimits,
    (party, found, address): (&RelyingParty, &FoundSession, IpAddr),
    name: &str,
    code: &str,
) -> Result<Result<IssuedChallenge, OwnAccountFault>, Failure> {
    let gateway = &app.gateway;
    let Some(name) = parse_passkey_name(name) else { return Ok(Err(OwnAccountFault::PasskeyName)) };
    let known = gateway.store.load_passkeys(&found.user.id)?;
    if known.len() >= MAX_PASSKEYS {
        return Ok(Err(OwnAccountFault::TooManyPasskeys));
    }
    let nothing = |_: &_, _: &[_]| Ok(UserChanges::default());
    if let Err(fault) = gateway.act_with_factor(limits, found, code, address, nothing).await? {
        return Ok(Err(fault));
    }
    let session = Some(found.session.number);
    let made = party.challenge_new(&found.user, &known);
    gateway.issue_challenge(made, (ChallengePurpose::Add, session, name)).await.map(Ok)
}

/// Adds a passkey to a signed-in user. The token is that of the challenge, which proves the second factor.
///
/// # Errors
/// The fault in the inner result; a failure of the store.
pub async fn add_passkey(
    app: &App,
    (party, found, address): (&RelyingParty, &FoundSession, IpAddr),
    token: Option<&LinkToken>,
    answer: &Value,
) -> Result<Result<(), OwnAccountFault>, Failure> {
    let gateway = &app.gateway;
    let (now, number) = (gateway.now(), found.session.number);
    let Some(token) = token else { return Ok(Err(OwnAccountFault::Challenge)) };
    let challenge = gateway.take_challenge(token, (ChallengePurpose::Add, Some(number))).await?;
    let Some(challenge) = challenge else { return Ok(Err(OwnAccountFault::Challenge)) };
    let Some((credential, key)) = party.check_new(&challenge.state, answer) else {
        return Ok(Err(OwnAccountFault::Challenge));
    };
    // An authenticator chooses its ids, so one may repeat the id of another user's passkey.
    if gateway.store.find_passkey(&credential)?.is_some() {
        return Ok(Err(OwnAccountFault::Challenge));
    }
    let passkey = StoredPasskey {
        id: to_hex(&random_bytes::<8>()?),
        user: found.user.id.clone(),
        credential,
        host: party.host().to_owned(),
        name: challenge.name,
        key,
        created: now,
        last_used: None,
    };
    let actor = Actor::of_user(&found.user.id, address);
    let decide = move |input: UserInput| {
        let stored = input.found.map(|found| found.stored).filter(|stored| stored.user.state == UserState::Active);
        // The session may have ended while the user looked for the passkey.
        let is_signed_in = input.actor.as_ref().is_some_and(|actor| is_signed_in(actor, now));
        let Some(stored) = stored.filter(|_| is_signed_in) else { return Err(OwnAccountFault::Expired) };
        if input.passkeys.len() >= MAX_PASSKEYS {
            return Err(OwnAccountFault::TooManyPasskeys);
        }
        let user = &stored.user;
        let entry = actor.entry(now, "user passkey-add", user).with_detail("passkey", &*passkey.id);
        let changes = UserChanges::default().with(&user.id, UserChange::AddPasskey(Box::new(passkey)));
        Ok((end_other_access(changes, &user.id, number, now).with_entry(owner(user), entry), ()))
    };
    let key = UserKey::Id(found.user.id.clone());
    Ok(gateway.store.change_user_by(Some(number), key, decide).await?)
}

/// Removes a passkey of a signed-in user, if the second factor is right.
///
/// # Errors
/// The fault in the inner result; a failure of the store.
pub async fn remove_passkey(
    app: &App,
    limits: &SignInLimits,
    (found, address): (&FoundSession, IpAddr),
    id: &str,
    code: &str,
) -> Result<Result<(), OwnAccountFault>, Failure> {
    let (now, number) = (app.gateway.now(), found.session.number);
    let (id, actor) = (id.to_owned(), Actor::of_user(&found.user.id, address));
    let remove = move |user: &tillgate_domain::access::user::User, passkeys: &[StoredPasskey]| {
        if !passkeys.iter().any(|passkey| passkey.id == id) {
            return Err(OwnAccountFault::UnknownPasskey);
        }
        let entry = actor.entry(now, "user passkey-remove", user).with_detail("passkey", &*id);
        let changes = UserChanges::default().with(&user.id, UserChange::RemovePasskey(id));
        Ok(end_other_access(changes, &user.id, number, now).with_entry(owner(user), entry))
    };
    app.gateway.act_with_factor(limits, found, code, address, remove).await
}
