//! The acts that need a second person, each with exactly what it will do.

use jiff::civil::Date;
use jiff::{SignedDuration, Timestamp};
use serde::{Deserialize, Serialize};
use tillgate_shared::money::Amount;

use crate::access::role::Permission;
use crate::id::{MessageId, PaymentId};
use crate::payment::ModificationType;
use crate::risk::rules::VersionRole;

/// Time within which a form that is sent again counts as the same.
const REPETITION: SignedDuration = SignedDuration::from_mins(1);

/// Kind of an act. The limits on waiting requests count each kind on its own.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ApprovalKind {
    /// Refunds, and reversals of debits.
    Refund,
    /// Changes of the risk rules in use.
    Rules,
    /// Credentials with which others reach the gateway: access tokens, wallet keys, FTP users.
    Credential,
    /// Secrets of receivers that the gateway reaches: webhooks, servers for pushed files.
    Receiver,
}

impl ApprovalKind {
    /// Every kind.
    pub const ALL: [Self; 4] = [Self::Refund, Self::Rules, Self::Credential, Self::Receiver];

    /// Returns the name, as it is stored.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Refund => "refund",
            Self::Rules => "rules",
            Self::Credential => "credential",
            Self::Receiver => "receiver",
        }
    }

    /// Parses a stored name.
    pub fn parse(text: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.as_str() == text)
    }

    /// Returns the permission of the act, which both users need on the entity.
    pub fn permission(self) -> Permission {
        match self {
            Self::Refund => Permission::ChangePayments,
            Self::Rules => Permission::ChangeRules,
            Self::Credential => Permission::ManageTokens,
            Self::Receiver => Permission::ChangeDeliveries,
        }
    }
}

/// An act that waits for a second person, exactly as it will run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ApprovalAct {
    /// A refund.
    Refund(PendingRefund),
    /// A change of the risk rules in use.
    Rules(PendingRuleUse),
    /// An act on a secret.
    Key(KeyAct),
}

/// A refund that waits for a second person.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PendingRefund {
    /// The payment.
    pub payment: PaymentId,
    /// True for the reversal of a debit, which gives back the whole amount.
    pub is_reversal: bool,
    /// The amount.
    pub amount: Amount,
    /// Sum of the refunds of the order with it when it was requested.
    pub sum: Amount,
}

impl PendingRefund {
    /// Returns the modification.
    pub fn modification(&self) -> ModificationType {
        if self.is_reversal { ModificationType::Reversal } else { ModificationType::Refund }
    }
}

/// A change of the risk rules in use that waits for a second person.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PendingRuleUse {
    /// The use.
    pub role: VersionRole,
    /// The version to use. `None` to use the version of the entity above.
    pub version: Option<String>,
    /// The version that has the role at the time of the request. Another one by then makes the request void.
    pub seen: Option<String>,
    /// Name of the user who asked, for the decision log.
    pub author: String,
    /// The reason of the change, in the words of that user.
    pub reason: String,
}

impl PendingRuleUse {
    /// Returns true if the change needs a second person: another text decides from then on, or the results of a version
    /// in shadow mode end. Beginning the shadow mode of a version decides nothing and ends nothing.
    pub fn needs_second_person(&self) -> bool {
        self.role == VersionRole::Active || self.seen.is_some()
    }
}

/// An act that shows or changes a secret. This is the table of such acts: a new one needs a row here, and its use case
/// asks for a second person.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "act", rename_all = "kebab-case", deny_unknown_fields)]
pub enum KeyAct {
    /// Creates an access token, which is shown once.
    Token {
        /// Its purpose.
        label: String,
        /// The time from which it is refused. `None` for a token without an end.
        expires: Option<Timestamp>,
        /// Names of the kinds of requests that it may make. Empty allows all.
        scopes: Vec<String>,
        /// Networks from which it may be used. Empty allows all.
        networks: Vec<String>,
    },
    /// Creates a key pair for tokens of wallets.
    WalletKey,
    /// Creates a user of the FTP server, whose password is shown once.
    FtpUser {
        /// The name. `None` for a random one.
        name: Option<String>,
        /// True if data connections have to resume the session of the control connection.
        requires_resumption: bool,
    },
    /// Creates a webhook, whose secret is shown once.
    Webhook {
        /// The address of the receiver.
        url: String,
        /// Names of the kinds of events that it subscribes to.
        kinds: Vec<String>,
        /// True if the shopper's data is left out of the payload.
        without_customer: bool,
        /// True if the ciphertext is sent inside JSON.
        wrapped: bool,
    },
    /// Creates the next secret of a webhook, which is shown once.
    WebhookRotation {
        /// The webhook.
        webhook: MessageId,
    },
    /// Sets the server to which files are pushed. The request has no secret: the user who asked types it again when the
    /// act is carried out.
    FilePush {
        /// The address of the folder.
        url: String,
        /// The fingerprint of the server's host key.
        host_key: Option<String>,
        /// Certificates in PEM, one of which has issued the server's certificate.
        ca: Option<String>,
        /// The day from which existing files are sent.
        from: Option<Date>,
        /// True if a private key logs in, and not a password.
        has_private_key: bool,
        /// The address that it replaces. Another one by then makes the approval void.
        replaces: Option<String>,
    },
}

impl KeyAct {
    /// Returns the name, which is also the key of its text.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Token { .. } => "token",
            Self::WalletKey => "wallet-key",
            Self::FtpUser { .. } => "ftp-user",
            Self::Webhook { .. } => "webhook",
            Self::WebhookRotation { .. } => "webhook-rotation",
            Self::FilePush { .. } => "file-push",
        }
    }

    fn kind(&self) -> ApprovalKind {
        match self {
            Self::Token { .. } | Self::WalletKey | Self::FtpUser { .. } => ApprovalKind::Credential,
            Self::Webhook { .. } | Self::WebhookRotation { .. } | Self::FilePush { .. } => ApprovalKind::Receiver,
        }
    }
}

impl ApprovalAct {
    /// Returns true if another act is the same, as a form makes it that is sent twice. The ends of two tokens may
    /// differ by [`REPETITION`], because an end that was typed as a time span counts from the arrival of its form.
    pub fn is_repetition_of(&self, other: &Self) -> bool {
        // The sum depends on what was refunded meanwhile.
        if let (Self::Refund(one), Self::Refund(other)) = (self, other) {
            return (&one.payment, one.is_reversal, one.amount) == (&other.payment, other.is_reversal, other.amount);
        }
        let (Self::Key(KeyAct::Token { expires: Some(end), .. }), Self::Key(act)) = (self, other) else {
            return self == other;
        };
        let mut same = act.clone();
        if let KeyAct::Token { expires: Some(other_end), .. } = &mut same
            && end.duration_since(*other_end).abs() <= REPETITION
        {
            *other_end = *end;
        }
        *self == Self::Key(same)
    }

    /// Returns the kind.
    pub fn kind(&self) -> ApprovalKind {
        match self {
            Self::Refund(_) => ApprovalKind::Refund,
            Self::Rules(_) => ApprovalKind::Rules,
            Self::Key(act) => act.kind(),
        }
    }

    /// Returns true if the user who asked carries the act out after the approval, because nobody else may see its
    /// secret. Any other act runs with the approval.
    pub fn runs_for_asker(&self) -> bool {
        matches!(self, Self::Key(_))
    }

    /// Returns the values that the audit log keeps, by name. None of them is a secret, and none is an address, which
    /// may contain one.
    pub fn details(&self) -> Vec<(&'static str, String)> {
        match self {
            Self::Refund(refund) => vec![
                ("act", if refund.is_reversal { "reversal" } else { "refund" }.to_owned()),
                ("payment", refund.payment.to_string()),
                ("amount", format!("{} {}", refund.amount, refund.amount.currency().code())),
            ],
            Self::Rules(change) => {
                let (version, seen) = (change.version.clone(), change.seen.clone());
                let versions = [("version", version), ("replaced", seen)];
                let versions = versions.into_iter().filter_map(|(name, version)| Some((name, version?)));
                let act = if change.version.is_some() { "" } else { "stop-" };
                std::iter::once(("act", format!("{act}{}", change.role.as_str()))).chain(versions).collect()
            }
            Self::Key(act) => {
                let mut details = vec![("act", act.name().to_owned())];
                match act {
                    KeyAct::Token { label, scopes, .. } => {
                        details.extend([("label", label.clone()), ("scopes", scopes.join(","))]);
                    }
                    KeyAct::FtpUser { name: Some(name), .. } => details.push(("name", name.clone())),
                    KeyAct::WebhookRotation { webhook } => details.push(("webhook", webhook.to_string())),
                    KeyAct::WalletKey | KeyAct::FtpUser { .. } | KeyAct::Webhook { .. } | KeyAct::FilePush { .. } => {}
                }
                details
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_beginning_of_a_shadow_mode_needs_no_second_person() {
        let change = |role, version: Option<&str>, seen: Option<&str>| PendingRuleUse {
            role,
            version: version.map(str::to_owned),
            seen: seen.map(str::to_owned),
            author: String::new(),
            reason: String::new(),
        };
        for (role, version, seen, expected) in [
            (VersionRole::Active, Some("a"), None, true),
            (VersionRole::Active, Some("a"), Some("b"), true),
            (VersionRole::Active, None, Some("b"), true),
            (VersionRole::Shadow, None, Some("b"), true),
            (VersionRole::Shadow, Some("a"), Some("b"), true),
            (VersionRole::Shadow, Some("a"), None, false),
        ] {
            let change = change(role, version, seen);
            assert_eq!(change.needs_second_person(), expected, "{change:?}");
        }
    }

    #[test]
    fn a_repeated_form_makes_the_same_act_and_another_value_makes_another() {
        let token = |label: &str, second: Option<i64>| {
            let expires = second.map(|second| Timestamp::UNIX_EPOCH + SignedDuration::from_secs(second));
            let label = label.to_owned();
            ApprovalAct::Key(KeyAct::Token { label, expires, scopes: Vec::new(), networks: Vec::new() })
        };
        for (one, other, expected) in [
            (token("a", Some(0)), token("a", Some(59)), true),
            (token("a", Some(59)), token("a", Some(0)), true),
            (token("a", Some(0)), token("a", Some(61)), false),
            (token("a", Some(0)), token("b", Some(0)), false),
            (token("a", Some(0)), token("a", None), false),
            (token("a", None), token("a", Some(0)), false),
            (token("a", None), token("a", None), true),
            (token("a", Some(0)), ApprovalAct::Key(KeyAct::WalletKey), false),
        ] {
            assert_eq!(one.is_repetition_of(&other), expected, "{one:?} {other:?}");
        }
    }

    #[test]
    fn the_audit_log_gets_no_address_and_no_certificate() {
        let url = "https://user:secret@files.example/in".to_owned();
        let ca = Some("-----BEGIN CERTIFICATE-----".to_owned());
        let push = KeyAct::FilePush {
            url: url.clone(),
            host_key: None,
            ca,
            from: None,
            has_private_key: false,
            replaces: None,
        };
        let webhook = KeyAct::Webhook { url, kinds: Vec::new(), without_customer: false, wrapped: false };
        for act in [push, webhook] {
            let name = act.name().to_owned();
            assert_eq!(ApprovalAct::Key(act).details(), [("act", name)]);
        }
    }
}
