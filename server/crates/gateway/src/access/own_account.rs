//! A user's own account: sessions, password and second factor. Each change of a credential asks for a factor again, and
//! ends the user's other sessions, so that an open browser or a stolen cookie is not enough to keep an account.

use std::net::IpAddr;
use std::sync::Arc;

use jiff::Timestamp;
use tillgate_domain::access::one_time_code::CodeSecret;
use tillgate_domain::access::password::{PasswordFault, check_password};
use tillgate_domain::access::session::SessionStage;
use tillgate_domain::access::user::{User, UserState, parse_mail};
use tillgate_domain::id::UserId;
use tillgate_store::access::passkey::StoredPasskey;
use tillgate_store::access::user::{UserChanges, UserInput, UserKey};
use tillgate_store::access::user_change::UserChange;
use tillgate_store::access::user_session::StoredSession;
use zeroize::Zeroizing;

use crate::access::actor::Actor;
use crate::access::found_session::FoundSession;
use crate::access::invitation::{derive_secret, make_recovery_codes};
use crate::access::rights::is_signed_in;
use crate::access::sign_in::{UsedFactor, code_record, hash_new_password};
use crate::access::sign_in_limits::SignInLimits;
use crate::access::users::owner;
use crate::{App, Failure, Gateway};

/// Reason why a credential is not changed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OwnAccountFault {
    /// The session is over.
    Expired,
    /// There were too many wrong codes. Nothing was checked.
    TooMany,
    /// Too many passwords wait for their hash. Nothing was checked.
    Busy,
    /// The code of the present second factor is wrong.
    Factor,
    /// The new password is not possible.
    Password(PasswordFault),
    /// The code of the new authenticator app is wrong.
    NewCode,
    /// The new mail address is not possible, or another user has it.
    Mail,
    /// The name of the passkey is not possible.
    PasskeyName,
    /// The user has as many passkeys as are possible.
    TooManyPasskeys,
    /// The passkey to remove is not one of the user's.
    UnknownPasskey,
    /// The answer of the passkey is wrong, or it comes too late.
    Challenge,
}

impl Gateway {
    /// Loads the sessions of a user that give access, newest first.
    ///
    /// # Errors
    /// If the store cannot be read.
    pub fn load_open_sessions(&self, user: &User) -> Result<Vec<StoredSession>, Failure> {
        let now = self.now();
        let mut sessions = self.store.load_sessions(&user.id, now)?;
        sessions.retain(|session| session.times.stage_at(now) == SessionStage::Confirmed);
        Ok(sessions)
    }

    /// Ends a session of the user. A number of another user's session changes nothing.
    ///
    /// # Errors
    /// If the store cannot be written.
    pub async fn revoke_session(&self, user: &User, number: i64, address: IpAddr) -> Result<(), Failure> {
        let is_own = self.store.load_sessions(&user.id, self.now())?.iter().any(|session| session.number == number);
        if is_own { self.end_session(user, number, "user session-revoke", address).await } else { Ok(()) }
    }

    /// Returns the secret of the authenticator app that the user may change to, for the page that shows it.
    ///
    /// # Errors
    /// If the store cannot be read.
    pub fn offered_secret(&self, found: &FoundSession) -> Result<CodeSecret, Failure> {
        let stored = self.store.load_user(&UserKey::Id(found.user.id.clone()))?.map(|loaded| loaded.stored);
        let present = stored.and_then(|stored| stored.secret).map(|sealed| sealed.as_bytes().to_vec());
        // With the present secret in it, the offer differs after each change.
        let input = [found.session.number.to_string().as_bytes(), b"\n", &present.unwrap_or_default()].concat();
        Ok(derive_secret(&self.vault, &input))
    }

    /// Writes the changes of an act of a signed-in user, if the second factor is right. A wrong factor gets an entry in
    /// the audit log. An act that is refused does not use the factor up.
    pub(super) async fn act_with_factor(
        &self,
        limits: &SignInLimits,
        found: &FoundSession,
        code: &str,
        address: IpAddr,
        act: impl FnOnce(&User, &[StoredPasskey]) -> Result<UserChanges, OwnAccountFault> + Clone + Send + 'static,
    ) -> Result<Result<(), OwnAccountFault>, Failure> {
        let (now, actor) = (self.now(), Actor::of_user(&found.user.id, address));
        let guess = limits.guess_in_session(found.session.number);
        let (number, code, vault) = (found.session.number, Zeroizing::new(code.to_owned()), Arc::clone(&self.vault));
        let decide = move |input: UserInput| {
            let stored = input.found.map(|found| found.stored).filter(|stored| stored.user.state == UserState::Active);
            // The session may have ended while the form arrived.
            let is_signed_in = input.actor.as_ref().is_some_and(|actor| is_signed_in(actor, now));
            let Some(stored) = stored.filter(|_| is_signed_in) else { return Err(OwnAccountFault::Expired) };
            if guess.is_refused(now) {
                return Err(OwnAccountFault::TooMany);
            }
            let id = &stored.user.id;
            let Some(factor) = UsedFactor::check(&stored, &code, &vault, now) else {
                guess.record_wrong(now);
                // Also counted for the user, so that guesses here delay those at the sign-in.
                let refused = UserChanges::default()
                    .with(id, UserChange::SetFailures(stored.failures.with_failure(now)))
                    .with_entry(owner(&stored.user), actor.entry(now, "user factor-refuse", &stored.user));
                return Ok((refused, Err(OwnAccountFault::Factor)));
            };
            let changes = act(&stored.user, &input.passkeys)?;
            let used = factor.use_up(UserChanges::default(), id).with(id, UserChange::RefreshFactor { number, now });
            Ok((used.followed_by(changes), Ok(())))
        };
        let outcome = self.store.change_user_by(Some(number), UserKey::Id(found.user.id.clone()), decide).await?;
        Ok(outcome.and_then(|outcome| outcome))
    }

    /// Writes a change of a user's credentials, if the second factor is right.
    async fn change_credentials(
        &self,
        limits: &SignInLimits,
        found: &FoundSession,
        code: &str,
        (action, address): (&'static str, IpAddr),
        changes: Vec<UserChange>,
    ) -> Result<Result<(), OwnAccountFault>, Failure> {
        let (now, number, actor) = (self.now(), found.session.number, Actor::of_user(&found.user.id, address));
        let act = move |user: &User, _: &[StoredPasskey]| {
            let written = UserChanges::default();
            let written = changes.into_iter().fold(written, |written, change| written.with(&user.id, change));
            let written = end_other_access(written, &user.id, number, now);
            Ok(written.with_entry(owner(user), actor.entry(now, action, user)))
        };
        self.act_with_factor(limits, found, code, address, act).await
    }
}

/// Adds the changes that follow a change of a credential: what somebody else may hold of the user ends, and only one
/// session goes on.
pub(super) fn end_other_access(changes: UserChanges, user: &UserId, kept: i64, now: Timestamp) -> UserChanges {
    changes
        .with(user, UserChange::EndSessions { kept: Some(kept), now })
        .with(user, UserChange::CloseInvitations(now))
        .with(user, UserChange::ForgetDevices)
}

/// Changes the password of a signed-in user.
///
/// # Errors
/// The fault in the inner result; a failure of the store.
pub async fn change_password(
    app: &App,
    limits: &SignInLimits,
    found: &FoundSession,
    address: IpAddr,
    code: &str,
    password: &str,
) -> Result<Result<(), OwnAccountFault>, Failure> {
    if let Err(fault) = check_password(password, &found.user.mail, &found.user.name) {
        return Ok(Err(OwnAccountFault::Password(fault)));
    }
    // Checked before the hash, which is the expensive part.
    if limits.guess_in_session(found.session.number).is_refused(app.gateway.now()) {
        return Ok(Err(OwnAccountFault::TooMany));
    }
    let Some(_place) = limits.wait() else { return Ok(Err(OwnAccountFault::Busy)) };
    let (salt, hash) = hash_new_password(app, &format!("user {}", found.user.id), password).await?;
    let changes = vec![UserChange::SetPassword { salt, hash }];
    app.gateway.change_credentials(limits, found, code, ("user password", address), changes).await
}

/// Changes the authenticator app of a signed-in user to the offered secret, and replaces the recovery codes. Returns
/// the new codes.
///
/// # Errors
/// The fault in the inner result; a failure of the store or the vault.
pub async fn change_factor(
    app: &App,
    limits: &SignInLimits,
    found: &FoundSession,
    address: IpAddr,
    code: &str,
    new_code: &str,
) -> Result<Result<Vec<Zeroizing<String>>, OwnAccountFault>, Failure> {
    let gateway = &app.gateway;
    let secret = gateway.offered_secret(found)?;
    let Some(step) = secret.find_step(new_code, gateway.now(), None) else {
        return Ok(Err(OwnAccountFault::NewCode));
    };
    let sealed = gateway.vault.seal(&code_record(&found.user.id), secret.as_bytes())?;
    let (codes, hashes) = make_recovery_codes()?;
    let changes = vec![UserChange::SetSecret { sealed, step }, UserChange::SetRecovery(hashes)];
    let changed = gateway.change_credentials(limits, found, code, ("user factor", address), changes).await?;
    Ok(changed.map(|()| codes))
}

/// Changes the mail address of a signed-in user, which is the user's name at the sign-in.
///
/// # Errors
/// The fault in the inner result; a failure of the store.
pub async fn change_mail(
    app: &App,
    limits: &SignInLimits,
    (found, address): (&FoundSession, IpAddr),
    code: &str,
    mail: &str,
) -> Result<Result<(), OwnAccountFault>, Failure> {
    let (gateway, old) = (&app.gateway, found.user.mail.clone());
    let Some(new) = parse_mail(mail).ok().filter(|new| *new != old) else { return Ok(Err(OwnAccountFault::Mail)) };
    let is_taken = gateway.store.load_user(&UserKey::Mail(new.clone()))?.is_some();
    let (now, number, actor) = (gateway.now(), found.session.number, Actor::of_user(&found.user.id, address));
    let (from, to) = (old.clone(), new.clone());
    let act = move |user: &User, _: &[StoredPasskey]| {
        // The factor is used up, and the try is recorded: otherwise a user could look for the addresses of others.
        if is_taken {
            return Ok(UserChanges::default().with_entry(owner(user), actor.entry(now, "user mail-refuse", user)));
        }
        let entry = actor.entry(now, "user mail", user).with_detail("from", from).with_detail("to", &*to);
        let changes = UserChanges::default().with(&user.id, UserChange::SetMail(to));
        Ok(end_other_access(changes, &user.id, number, now).with_entry(owner(user), entry))
    };
    let changed = gateway.act_with_factor(limits, found, code, address, act).await?;
    if changed.is_ok() && is_taken {
        return Ok(Err(OwnAccountFault::Mail));
    }
    if changed.is_ok() {
        limits.follow_mail(&old, &new);
    }
    Ok(changed)
}
