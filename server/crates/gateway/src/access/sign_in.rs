//! Sign-in of users: the password, then the second factor. Every refusal of a password is the same for an unknown mail
//! address, a wrong password and a disabled user, and takes the same time.

use std::net::IpAddr;

use jiff::Timestamp;
use tillgate_domain::access::one_time_code::{CodeSecret, hash_recovery_code};
use tillgate_domain::access::password::normalize_password;
use tillgate_domain::access::session::SessionStage;
use tillgate_domain::access::user::{FactorFailures, User, UserState, parse_mail};
use tillgate_domain::id::{UserId, decode_hex, to_hex};
use tillgate_domain::spelling::fold_text;
use tillgate_shared::format::mask::mask_card_numbers;
use tillgate_shared::format::text::truncate_text;
use tillgate_store::access::user::{StoredUser, UserChanges, UserInput, UserKey};
use tillgate_store::access::user_change::{NewSession, UserChange};
use tillgate_store::access::user_session::StoredSession;
use tillgate_vault::Vault;
use tillgate_vault::password::{SALT, hash_password, is_password_of};
use zeroize::Zeroizing;

use crate::access::actor::Actor;
use crate::access::found_session::FoundSession;
use crate::access::link_token::LinkToken;
use crate::access::sign_in_limits::{FactorGuess, SignInLimits};
use crate::access::users::owner;
use crate::{App, Failure, Gateway, random_bytes};

/// Longest mail address that is compared, in bytes.
const MAX_MAIL: usize = 254;
/// Longest name of a browser that is stored, in bytes.
const MAX_AGENT: usize = 200;

/// A browser that signs in.
#[derive(Debug, Clone)]
pub struct SignInClient {
    /// The client's address.
    pub address: IpAddr,
    /// The browser, as it names itself.
    pub agent: String,
    /// The cookie of a browser in which a user has signed in before.
    pub device: Option<String>,
}

/// Reason why a step of the sign-in is refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SignInRefusal {
    /// The mail address, the password or the code is wrong, or the user is disabled.
    Wrong,
    /// There were too many wrong ones. Nothing was checked.
    TooMany,
    /// Too many others sign in at the moment. Nothing was checked.
    Busy,
    /// The session waits for no second factor any more.
    Expired,
}

/// A session with both factors.
pub struct ConfirmedSession {
    /// The token for the browser's cookie. The one from before is worth nothing.
    pub token: LinkToken,
    /// The cookie by which the browser is known later.
    pub device: String,
}

/// A second factor that is right, as the change that uses it up.
pub(super) struct UsedFactor {
    change: UserChange,
    /// The name for the audit log.
    name: &'static str,
}

impl UsedFactor {
    /// Checks a one-time code, or a recovery code. Returns `None` if it is wrong or used.
    pub(super) fn check(stored: &StoredUser, code: &str, vault: &Vault, now: Timestamp) -> Option<Self> {
        if let Some(hash) = hash_recovery_code(code) {
            let rest: Vec<_> = stored.recovery.iter().copied().filter(|known| *known != hash).collect();
            let is_known = rest.len() < stored.recovery.len();
            return is_known.then_some(Self { change: UserChange::SetRecovery(rest), name: "recovery code" });
        }
        let opened = vault.open(&code_record(&stored.user.id), stored.secret.as_ref()?).ok()?;
        let step = CodeSecret::from_bytes(&opened)?.find_step(code, now, stored.last_step)?;
        Some(Self { change: UserChange::UseStep(step), name: "one-time code" })
    }

    /// Adds the changes that use the factor up, and forgets wrong ones.
    pub(super) fn use_up(self, changes: UserChanges, user: &UserId) -> UserChanges {
        changes.with(user, self.change).with(user, UserChange::SetFailures(FactorFailures::default()))
    }
}

/// Returns the name of the sealed secret of a user's one-time codes.
pub(super) fn code_record(user: &UserId) -> String {
    format!("one-time code {user}")
}

/// Hashes a new password on a thread of low priority. Returns its salt and its hash.
pub(super) async fn hash_new_password(app: &App, tenant: &str, password: &str) -> Result<(Vec<u8>, Vec<u8>), Failure> {
    let salt = random_bytes::<SALT>()?;
    let normalized = normalize_password(password);
    let hashed = app.low_priority.run(tenant, async move { hash_password(normalized.as_bytes(), &salt) }).await;
    let hash = hashed.flatten().ok_or(Failure::Interrupted)?;
    Ok((salt.to_vec(), hash.to_vec()))
}

/// Returns the content that the cookie of a known browser proves. It has the epoch, so a cookie from before a change
/// of the credentials proves nothing.
fn device_content(user: &UserId, epoch: i64, device: &str) -> String {
    format!("back office device\n{user}\n{epoch}\n{device}")
}

/// Returns the id of a browser that is known to belong to a user.
pub(super) fn known_device(vault: &Vault, user: &StoredUser, cookie: &str) -> Option<String> {
    let (device, proof) = cookie.split_once('.')?;
    let proof: [u8; 36] = decode_hex(proof)?;
    vault
        .is_fingerprint(&proof, device_content(&user.user.id, user.epoch, device).as_bytes())
        .then(|| device.to_owned())
}

impl SignInClient {
    /// Begins a session of the browser.
    pub(super) fn new_session(&self, token: &LinkToken, now: Timestamp) -> NewSession {
        // A browser names itself as it likes, so the text is cut and has no number of a card.
        let printable: String = self.agent.chars().filter(|character| !character.is_control()).collect();
        let agent = mask_card_numbers(truncate_text(&printable, MAX_AGENT)).to_string();
        NewSession { hash: token.hash(), now, address: self.address.to_string(), agent }
    }
}

/// Checks a mail address and a password, and begins a session that waits for the second factor.
///
/// # Errors
/// The refusal in the inner result; a failure of the store.
pub async fn check_password(
    app: &App,
    limits: &SignInLimits,
    client: &SignInClient,
    mail: &str,
    password: &str,
) -> Result<Result<LinkToken, SignInRefusal>, Failure> {
    let gateway = &app.gateway;
    let mail = parse_mail(mail).unwrap_or_else(|_| truncate_text(&fold_text(mail), MAX_MAIL).to_owned());
    let stored = gateway.store.load_user(&UserKey::Mail(mail.clone()))?.map(|found| found.stored);
    let known = |stored: &StoredUser| known_device(&gateway.vault, stored, client.device.as_deref()?);
    let attempt = limits.attempt(client.address, &mail, stored.as_ref().and_then(known));
    if attempt.is_refused(gateway.now()) {
        return Ok(Err(SignInRefusal::TooMany));
    }
    let Some(_place) = limits.wait() else { return Ok(Err(SignInRefusal::Busy)) };
    // An unknown user has a hash that no password has, so the computation is the same.
    let has_password = stored.as_ref().filter(|stored| !stored.hash.is_empty());
    let (salt, hash) =
        has_password.map_or((vec![0; SALT], Vec::new()), |stored| (stored.salt.clone(), stored.hash.clone()));
    let given = normalize_password(password);
    let expected = hash.clone();
    let check = async move { is_password_of(given.as_bytes(), &salt, &expected) };
    let is_right = app.low_priority.run(&attempt.tenant(), check).await.unwrap_or(false);
    let now = gateway.now();
    // Checked again, because others may have guessed while this password waited. Otherwise a thousand guesses at once
    // would all be checked.
    if attempt.is_refused(now) {
        return Ok(Err(SignInRefusal::TooMany));
    }
    let Some(stored) = stored.filter(|stored| is_right && may_sign_in(stored)) else {
        attempt.record_wrong(now);
        return Ok(Err(SignInRefusal::Wrong));
    };
    let token = LinkToken::random()?;
    let session = client.new_session(&token, now);
    let decide = move |input: UserInput| {
        // The password may have been changed since it was read.
        let current = input.found.map(|found| found.stored).filter(|found| found.hash == hash && may_sign_in(found));
        let Some(current) = current else { return Err(SignInRefusal::Wrong) };
        Ok((UserChanges::default().with(&current.user.id, UserChange::StartSession(session)), ()))
    };
    let started = gateway.store.change_user(UserKey::Id(stored.user.id), decide).await?;
    Ok(started.map(|()| token))
}

pub(super) fn may_sign_in(stored: &StoredUser) -> bool {
    stored.user.state == UserState::Active && stored.secret.is_some()
}

/// Outcome of a code: the session with its second factor, or the refusal that the same commit has counted.
type FactorOutcome = Result<(), SignInRefusal>;

/// Checks the second factor of a session that waits for it, and gives the session another token.
///
/// # Errors
/// The refusal in the inner result; a failure of the store.
pub async fn confirm_session(
    app: &App,
    limits: &SignInLimits,
    client: &SignInClient,
    token: &LinkToken,
    code: &str,
) -> Result<Result<ConfirmedSession, SignInRefusal>, Failure> {
    let gateway = &app.gateway;
    let Some(found) = gateway.find_session(token)?.filter(|found| found.stage == SessionStage::Unconfirmed) else {
        return Ok(Err(SignInRefusal::Expired));
    };
    let user = &found.user.id;
    let stored = gateway.store.load_user(&UserKey::Id(user.clone()))?.map(|loaded| loaded.stored);
    let device = stored.and_then(|stored| known_device(&gateway.vault, &stored, client.device.as_deref()?));
    let guess = limits.attempt(client.address, &found.user.mail, device).factor_guess();
    let now = gateway.now();
    let (next, actor) = (LinkToken::random()?, Actor::of_user(user, client.address));
    let (hash, code, vault) = (next.hash(), Zeroizing::new(code.to_owned()), std::sync::Arc::clone(&gateway.vault));
    let decide = move |input: UserInput| {
        let found = input.found.filter(|found| may_sign_in(&found.stored));
        let Some((stored, session)) = found.and_then(|found| Some((found.stored, found.session?))) else {
            return Err(SignInRefusal::Expired);
        };
        if session.times.stage_at(now) != SessionStage::Unconfirmed {
            return Err(SignInRefusal::Expired);
        }
        // A known browser has a limit of its own, so that somebody with the password cannot keep its user waiting.
        let is_refused = |guess: &FactorGuess| guess.is_refused(now);
        if guess.as_ref().map_or_else(|| !stored.failures.allows_try(now), is_refused) {
            return Err(SignInRefusal::TooMany);
        }
        let (id, changes) = (&stored.user.id, UserChanges::default());
        Ok(match UsedFactor::check(&stored, &code, &vault, now) {
            Some(factor) => {
                let entry = actor.entry(now, "user sign-in", &stored.user).with_detail("factor", factor.name);
                let confirm = UserChange::ConfirmSession { number: session.number, hash, now };
                let changes = factor.use_up(changes, id).with(id, confirm).with_entry(owner(&stored.user), entry);
                (changes, FactorOutcome::Ok(()))
            }
            None => {
                if let Some(guess) = &guess {
                    guess.record_wrong(now);
                }
                let changes = changes
                    .with(id, UserChange::SetFailures(stored.failures.with_failure(now)))
                    .with_entry(owner(&stored.user), actor.entry(now, "user factor-refuse", &stored.user));
                (changes, Err(SignInRefusal::Wrong))
            }
        })
    };
    let outcome = gateway.store.change_user(UserKey::Session(token.hash()), decide).await?;
    match outcome.and_then(|outcome| outcome) {
        Ok(()) => Ok(Ok(ConfirmedSession { token: next, device: gateway.device_cookie(user)? })),
        Err(refusal) => Ok(Err(refusal)),
    }
}

impl Gateway {
    /// Makes the cookie by which the browser of a user is known later, until the next change of the credentials.
    pub(super) fn device_cookie(&self, user: &UserId) -> Result<String, Failure> {
        let epoch = self.store.load_user(&UserKey::Id(user.clone()))?.map_or(0, |loaded| loaded.stored.epoch);
        let device = to_hex(&random_bytes::<16>()?);
        let proof = self.vault.fingerprint_request(device_content(user, epoch, &device).as_bytes());
        Ok(format!("{device}.{}", to_hex(&proof)))
    }

    /// Finds the session of a token. Returns `None` if it is over, or the user is not active.
    ///
    /// # Errors
    /// If the store cannot be read.
    pub fn find_session(&self, token: &LinkToken) -> Result<Option<FoundSession>, Failure> {
        let now = self.now();
        let Some(found) = self.store.load_user(&UserKey::Session(token.hash()))? else { return Ok(None) };
        let (user, Some(session)) = (found.stored.user, found.session) else { return Ok(None) };
        let stage = session.times.stage_at(now);
        let is_open = user.state == UserState::Active && stage != SessionStage::Over;
        Ok(is_open.then_some(FoundSession { user, session, stage }))
    }

    /// Stores that a session is used, unless that was stored a moment ago.
    ///
    /// # Errors
    /// If the store cannot be written.
    pub async fn record_session_use(&self, session: &StoredSession) -> Result<(), Failure> {
        let now = self.now();
        if session.times.needs_use(now) {
            self.store.record_session_use(session.number, now).await?;
        }
        Ok(())
    }

    /// Ends the session of a token. Does nothing if it is over.
    ///
    /// # Errors
    /// If the store cannot be written.
    pub async fn sign_out(&self, token: &LinkToken, address: IpAddr) -> Result<(), Failure> {
        let Some(found) = self.find_session(token)? else { return Ok(()) };
        self.end_session(&found.user, found.session.number, "user sign-out", address).await
    }

    /// Ends a session of a user, with an entry of this action.
    pub(super) async fn end_session(
        &self,
        user: &User,
        number: i64,
        action: &'static str,
        address: IpAddr,
    ) -> Result<(), Failure> {
        let (now, actor) = (self.now(), Actor::of_user(&user.id, address));
        let decide = move |input: UserInput| {
            let Some(found) = input.found else { return Err(()) };
            let user = &found.stored.user;
            let entry = actor.entry(now, action, user).with_detail("session", number.to_string());
            let changes = UserChanges::default()
                .with(&user.id, UserChange::EndSession { number, now })
                .with_entry(owner(user), entry);
            Ok((changes, ()))
        };
        // A user that is gone has no session to end.
        let _ = self.store.change_user(UserKey::Id(user.id.clone()), decide).await?;
        Ok(())
    }
}
