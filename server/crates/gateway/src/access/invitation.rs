//! Invitations: a link with which a user sets a password and a second factor, and the link for the first administrator
//! of a gateway without users.

use std::net::IpAddr;
use std::sync::Arc;

use jiff::Timestamp;
use tillgate_domain::access::one_time_code::{
    CodeSecret, RECOVERY_BYTES, RECOVERY_CODES, RecoveryHash, SECRET, format_recovery_code, hash_recovery_code,
};
use tillgate_domain::access::password::{PasswordFault, check_password};
use tillgate_domain::access::role::{Permissions, Reach, Role, RoleGrant};
use tillgate_domain::access::user::{INVITATION_LIMIT, User, UserState, parse_mail, parse_name};
use tillgate_domain::id::UserId;
use tillgate_net::wrong_credentials::counted_network;
use tillgate_store::access::user::{UserChanges, UserInput, UserKey};
use tillgate_store::access::user_change::UserChange;
use tillgate_store::access::user_session::TokenHash;
use tillgate_vault::Vault;
use zeroize::Zeroizing;

use crate::access::actor::Actor;
use crate::access::link_token::LinkToken;
use crate::access::rights::can_accept;
use crate::access::sign_in::{ConfirmedSession, SignInClient, code_record, hash_new_password};
use crate::access::users::owner;
use crate::{App, Failure, Gateway, random_bytes};

/// The link for the first administrator. It is only in the memory of the server that printed it, and works while the
/// store has no user.
#[derive(Clone)]
pub struct SetupLink {
    hash: TokenHash,
    expires: Timestamp,
}

impl SetupLink {
    /// Creates a link with its token, if the store has no user yet.
    ///
    /// # Errors
    /// If the store cannot be read, or the system gives no random bytes.
    pub fn create(gateway: &Gateway) -> Result<Option<(Self, LinkToken)>, Failure> {
        if !gateway.store.load_users()?.is_empty() {
            return Ok(None);
        }
        let token = LinkToken::random()?;
        let expires = gateway.now().checked_add(INVITATION_LIMIT).unwrap_or(Timestamp::MAX);
        Ok(Some((Self { hash: token.hash(), expires }, token)))
    }
}

/// An invitation that can be accepted.
pub struct OpenInvitation {
    /// The invited user. `None` for the first administrator, who chooses mail address and name.
    pub user: Option<User>,
    /// The secret of the one-time codes that the user gets.
    pub secret: CodeSecret,
}

/// The form of an invitation, as it was filled in.
pub struct Acceptance {
    /// The mail address of the first administrator.
    pub mail: String,
    /// The name of the first administrator.
    pub name: String,
    /// The password.
    pub password: Zeroizing<String>,
    /// A code of the authenticator app.
    pub code: String,
}

/// Reason why an invitation is not accepted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum AcceptanceFault {
    /// The link is unknown, used, replaced or too old.
    Closed,
    /// The mail address is not possible.
    Mail,
    /// The name is not possible.
    Name,
    /// The password is not possible.
    Password(PasswordFault),
    /// The code is wrong.
    Code,
}

/// A user who has accepted, and is signed in.
pub struct Accepted {
    /// The session.
    pub session: ConfirmedSession,
    /// The recovery codes, which are known only now.
    pub recovery: Vec<Zeroizing<String>>,
}

/// Recovery codes with their hashes.
pub(super) fn make_recovery_codes() -> Result<(Vec<Zeroizing<String>>, Vec<RecoveryHash>), Failure> {
    let make = |_| Ok(format_recovery_code(&random_bytes::<RECOVERY_BYTES>()?));
    let codes: Vec<Zeroizing<String>> = (0..RECOVERY_CODES).map(make).collect::<Result<_, Failure>>()?;
    let hashes = codes.iter().filter_map(|code| hash_recovery_code(code)).collect();
    Ok((codes, hashes))
}

/// Derives a secret of one-time codes that a page shows before it is stored. The same input gives the same secret, so
/// that a form that is shown again has the code that was scanned already.
pub(super) fn derive_secret(vault: &Vault, input: &[u8]) -> CodeSecret {
    let mac = vault.fingerprint_request(&[b"back office one-time code\n", input].concat());
    let mut secret = [0; SECRET];
    // The first bytes of a fingerprint are the id of its key, and the last ones are the code.
    secret.copy_from_slice(&mac[mac.len() - SECRET..]);
    CodeSecret::new(secret)
}

/// Finds the invitation of a link. Returns `None` if it cannot be accepted.
///
/// # Errors
/// If the store cannot be read.
pub fn find_invitation(
    gateway: &Gateway,
    setup: Option<&SetupLink>,
    token: &LinkToken,
) -> Result<Option<OpenInvitation>, Failure> {
    let (now, hash) = (gateway.now(), token.hash());
    let secret = derive_secret(&gateway.vault, token.as_str().as_bytes());
    if setup.is_some_and(|setup| setup.hash == hash && now < setup.expires) {
        let is_open = gateway.store.load_users()?.is_empty();
        return Ok(is_open.then_some(OpenInvitation { user: None, secret }));
    }
    let Some(found) = gateway.store.load_user(&UserKey::Invitation(hash))? else { return Ok(None) };
    let is_open = can_accept(&gateway.directory, &found, now);
    Ok(is_open.then_some(OpenInvitation { user: Some(found.stored.user), secret }))
}

/// Returns the invited user, or the first administrator as the form names them.
fn accepted_user(invitation: &OpenInvitation, form: &Acceptance, now: Timestamp) -> Result<User, AcceptanceFault> {
    if let Some(user) = &invitation.user {
        return Ok(user.clone());
    }
    let grant = RoleGrant { role: Role::Administrator, reach: Reach::Gateway };
    let random = random_bytes().map_err(|_| AcceptanceFault::Closed)?;
    Ok(User {
        id: UserId::new(now, random),
        mail: parse_mail(&form.mail).map_err(|_| AcceptanceFault::Mail)?,
        name: parse_name(&form.name).map_err(|_| AcceptanceFault::Name)?,
        state: UserState::Invited,
        created: now,
        permissions: Permissions::new(vec![grant]),
    })
}

/// Accepts an invitation: sets password and second factor, ends all sessions of the user, and begins one.
///
/// # Errors
/// The fault of the form in the inner result; a failure of the store or the vault.
pub async fn accept_invitation(
    app: &App,
    setup: Option<&SetupLink>,
    client: &SignInClient,
    token: &LinkToken,
    form: &Acceptance,
) -> Result<Result<Accepted, AcceptanceFault>, Failure> {
    let gateway = &app.gateway;
    let Some(invitation) = find_invitation(gateway, setup, token)? else {
        return Ok(Err(AcceptanceFault::Closed));
    };
    let now = gateway.now();
    let user = match accepted_user(&invitation, form, now) {
        Ok(user) => user,
        Err(fault) => return Ok(Err(fault)),
    };
    if let Err(fault) = check_password(&form.password, &user.mail, &user.name) {
        return Ok(Err(AcceptanceFault::Password(fault)));
    }
    let Some(step) = invitation.secret.find_step(&form.code, now, None) else {
        return Ok(Err(AcceptanceFault::Code));
    };
    let (salt, hash) = hash_new_password(app, &link_tenant(client.address), &form.password).await?;
    let sealed = gateway.vault.seal(&code_record(&user.id), invitation.secret.as_bytes())?;
    let (recovery, hashes) = make_recovery_codes()?;
    let next = LinkToken::random()?;
    let enrolment = UserChanges::default()
        .with(&user.id, UserChange::SetPassword { salt, hash })
        .with(&user.id, UserChange::SetSecret { sealed, step })
        .with(&user.id, UserChange::SetRecovery(hashes))
        .with(&user.id, UserChange::RemovePasskeys)
        .with(&user.id, UserChange::SetFailures(Default::default()))
        .with(&user.id, UserChange::ForgetDevices)
        .with(&user.id, UserChange::SetState(UserState::Active))
        .with(&user.id, UserChange::CloseInvitations(now))
        .with(&user.id, UserChange::EndSessions { kept: None, now })
        .with(&user.id, UserChange::StartConfirmed(client.new_session(&next, now)))
        .with_entry(owner(&user), Actor::of_link(client.address).entry(now, "user accept", &user));
    let id = user.id.clone();
    let outcome = write_enrolment(gateway, token, invitation.user.is_none().then_some(user), enrolment).await?;
    if let Err(fault) = outcome {
        return Ok(Err(fault));
    }
    // Made after the write, which has forgotten earlier browsers.
    let device = gateway.device_cookie(&id)?;
    Ok(Ok(Accepted { session: ConfirmedSession { token: next, device }, recovery }))
}

/// Writes an enrolment, if the invitation is still open: of two requests with the same link one is refused. `first` is
/// the first administrator, who is added.
async fn write_enrolment(
    gateway: &Gateway,
    token: &LinkToken,
    first: Option<User>,
    enrolment: UserChanges,
) -> Result<Result<(), AcceptanceFault>, Failure> {
    let (now, key) = (
        gateway.now(),
        match &first {
            Some(user) => UserKey::Id(user.id.clone()),
            None => UserKey::Invitation(token.hash()),
        },
    );
    let directory = Arc::clone(&gateway.directory);
    let decide = move |input: UserInput| {
        let is_open = match &first {
            Some(_) => input.user_count == 0,
            None => input.found.is_some_and(|found| can_accept(&directory, &found, now)),
        };
        if !is_open {
            return Err(AcceptanceFault::Closed);
        }
        let changes = match first {
            Some(user) => UserChanges::default().with(&user.id.clone(), UserChange::Add(user)).followed_by(enrolment),
            None => enrolment,
        };
        Ok((changes, ()))
    };
    Ok(gateway.store.change_user(key, decide).await?)
}

/// Returns the name under which the password of a link is hashed.
fn link_tenant(address: IpAddr) -> String {
    format!("invitation {:x}", counted_network(address))
}
