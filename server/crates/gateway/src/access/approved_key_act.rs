//! Acts on secrets that a second person has approved: the user who asked carries them out, once, and sees the secret.

use tillgate_domain::access::approval::ApprovalRequest;
use tillgate_domain::access::approval::act::{ApprovalAct, KeyAct};
use tillgate_domain::id::{ApprovalId, EntityId, UserId};
use tillgate_net::outgoing::Ports;
use tillgate_store::delivery::webhook::Webhook;
use tillgate_store::keys::wallet::StoredWalletKey;

use crate::Gateway;
use crate::access::token::{IssuedCredentials, NewToken};
use crate::administration::{ActError, Administration};
use crate::delivery::file_push::{NewPushTarget, PushCredentials};
use crate::delivery::ftp_user::CreatedFtpUser;
use crate::delivery::webhook::{CreatedSecret, EventKind, NewWebhook};

/// The result of an act on a secret, which has the secret.
pub enum KeyActResult {
    /// A token.
    Token(IssuedCredentials),
    /// A key pair, whose secret half is never shown.
    WalletKey(StoredWalletKey),
    /// A user of the FTP server.
    FtpUser(CreatedFtpUser),
    /// A webhook with its secret.
    Webhook(Webhook, CreatedSecret),
    /// A webhook with its next secret.
    WebhookRotation(Webhook, CreatedSecret),
    /// The server to which the files of an entity are pushed.
    FilePush,
}

impl KeyActResult {
    /// Returns the id or name of the thing that was made, without its secret.
    fn subject(&self) -> &str {
        match self {
            Self::Token(issued) => &issued.user_id,
            Self::WalletKey(key) => &key.id,
            Self::FtpUser(user) => &user.user,
            Self::Webhook(webhook, _) | Self::WebhookRotation(webhook, _) => webhook.id.as_str(),
            Self::FilePush => "",
        }
    }
}

/// Inputs of the gateway and of the user that a request does not have.
pub struct KeyActInput<'a> {
    /// The ports to which requests may go.
    pub ports: &'a Ports,
    /// The secret of a server for pushed files, which is typed again because no request has a secret.
    pub credentials: Option<PushCredentials>,
}

impl Administration {
    /// Carries an approved act out for the user who asked, once. A request whose act is refused is used up, because a
    /// second person has approved it as it was.
    ///
    /// # Errors
    /// If another user has asked for it, it is not approved, its time is over, one of the two users may not do it any
    /// more, or the act is refused.
    pub fn carry_out_approved(
        &self,
        gateway: &Gateway,
        id: &ApprovalId,
        user: &UserId,
        input: KeyActInput<'_>,
    ) -> Result<(ApprovalRequest, KeyActResult), ActError> {
        // The claim is a commit of its own, because hashes and seals take too long for the write lock.
        let request = self.claim_approved_act(gateway, id, user)?;
        let ApprovalAct::Key(act) = &request.act else {
            return Err(ActError::refuse("request", "this act runs with its approval"));
        };
        let outcome = self.run_key_act(&request.entity, act, input);
        let text = match &outcome {
            Ok(result) => result.subject(),
            Err(ActError::Refused { message, .. }) => message,
            Err(_) => "",
        };
        // The secret is known only now, so a failure to note the outcome must not keep it from the user.
        if let Err(error) = self.store.set_approval_outcome(id, text) {
            tracing::warn!(%error, request = id.as_str(), "recording the outcome of an approved act failed");
        }
        Ok((request.clone(), outcome?))
    }

    /// Runs an act with the permit for it.
    fn run_key_act(&self, entity: &EntityId, act: &KeyAct, input: KeyActInput<'_>) -> Result<KeyActResult, ActError> {
        self.permit(act);
        match act {
            KeyAct::Token { .. } => self.create_token(entity, self.read_token(act)?).map(KeyActResult::Token),
            KeyAct::WalletKey => self.create_wallet_key(entity).map(KeyActResult::WalletKey),
            KeyAct::FtpUser { name, requires_resumption } => {
                self.create_ftp_user(entity, name.clone(), *requires_resumption).map(KeyActResult::FtpUser)
            }
            KeyAct::Webhook { url, kinds, without_customer, wrapped } => {
                let is_chosen = |kind: &EventKind| kinds.iter().any(|name| name == kind.as_str());
                let new = NewWebhook {
                    entity: entity.clone(),
                    url: url.clone(),
                    kinds: EventKind::ALL.into_iter().filter(is_chosen).collect(),
                    without_customer: *without_customer,
                    wrapped: *wrapped,
                };
                let (webhook, secret) = self.create_webhook(new, input.ports)?;
                Ok(KeyActResult::Webhook(webhook, secret))
            }
            KeyAct::WebhookRotation { webhook } => {
                let (webhook, secret) = self.begin_webhook_rotation(webhook.as_str())?;
                Ok(KeyActResult::WebhookRotation(webhook, secret))
            }
            KeyAct::FilePush { url, host_key, ca, from, has_private_key, .. } => {
                let credentials =
                    input.credentials.ok_or_else(|| ActError::refuse("password", "a secret is needed"))?;
                let new = NewPushTarget {
                    entity: entity.clone(),
                    url: url.clone(),
                    host_key: host_key.clone(),
                    has_private_key: *has_private_key,
                    has_ca: ca.is_some(),
                };
                let checked = self.check_push_target(new, input.ports)?;
                let credentials = PushCredentials { secret: credentials.secret, ca: ca.clone() };
                self.set_push_target(checked, credentials, *from)?;
                Ok(KeyActResult::FilePush)
            }
        }
    }

    /// Reads the token of an act. It may have ended while it waited for a second person.
    fn read_token(&self, act: &KeyAct) -> Result<NewToken, ActError> {
        let KeyAct::Token { label, expires, scopes, networks } = act else {
            return Err(ActError::refuse("label", "the act makes no token"));
        };
        if expires.is_some_and(|end| end <= self.now()) {
            return Err(ActError::refuse("expires", "the token would have ended before it was made"));
        }
        let fault = |_| ActError::refuse("scopes", "the request cannot be read");
        Ok(NewToken {
            label: label.clone(),
            expires: *expires,
            scopes: scopes.iter().map(|scope| scope.parse()).collect::<Result<_, String>>().map_err(fault)?,
            networks: networks
                .iter()
                .map(|network| network.parse().map_err(|_| String::new()))
                .collect::<Result<_, String>>()
                .map_err(fault)?,
        })
    }
}
