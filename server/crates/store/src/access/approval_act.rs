//! Acts that need a second person as text: the JSON of each kind in its row.

use serde::{Deserialize, Serialize};
use tillgate_domain::access::approval::act::{ApprovalAct, ApprovalKind, PendingRefund};
use tillgate_domain::id::PaymentId;
use tillgate_shared::money::{Amount, Currency};

/// A refund in its row. Amounts are in hundredths.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct StoredRefund {
    payment: PaymentId,
    reversal: bool,
    amount: i64,
    sum: i64,
    currency: String,
}

impl StoredRefund {
    fn from_refund(refund: &PendingRefund) -> Self {
        Self {
            payment: refund.payment.clone(),
            reversal: refund.is_reversal,
            amount: refund.amount.hundredths(),
            sum: refund.sum.hundredths(),
            currency: refund.amount.currency().code().to_owned(),
        }
    }

    fn to_refund(&self) -> Option<PendingRefund> {
        let currency = Currency::parse(&self.currency)?;
        let amount = |hundredths| Amount::from_hundredths(hundredths, currency);
        let (payment, is_reversal) = (self.payment.clone(), self.reversal);
        Some(PendingRefund { payment, is_reversal, amount: amount(self.amount)?, sum: amount(self.sum)? })
    }
}

/// Formats an act for its row.
pub(super) fn format_act(act: &ApprovalAct) -> serde_json::Result<String> {
    match act {
        ApprovalAct::Refund(refund) => serde_json::to_string(&StoredRefund::from_refund(refund)),
        ApprovalAct::Rules(change) => serde_json::to_string(change),
        ApprovalAct::Key(act) => serde_json::to_string(act),
    }
}

/// Parses the act of a row. Returns `None` if it is not one of its kind.
pub(super) fn parse_act(kind: &str, text: &str) -> Option<ApprovalAct> {
    let kind = ApprovalKind::parse(kind)?;
    let act = match kind {
        ApprovalKind::Refund => {
            let stored: StoredRefund = serde_json::from_str(text).ok()?;
            ApprovalAct::Refund(stored.to_refund()?)
        }
        ApprovalKind::Rules => ApprovalAct::Rules(serde_json::from_str(text).ok()?),
        ApprovalKind::Credential | ApprovalKind::Receiver => ApprovalAct::Key(serde_json::from_str(text).ok()?),
    };
    (act.kind() == kind).then_some(act)
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use jiff::Timestamp;
    use tillgate_domain::access::approval::act::{KeyAct, PendingRuleUse};
    use tillgate_domain::id::MessageId;
    use tillgate_domain::risk::rules::VersionRole;

    use super::*;

    fn key_acts() -> Vec<KeyAct> {
        let text = |text: &str| Some(text.to_owned());
        vec![
            KeyAct::Token {
                label: "<b>\"shop\"".to_owned(),
                expires: Some(Timestamp::UNIX_EPOCH),
                scopes: vec!["read".to_owned()],
                networks: vec!["10.0.0.0/8".to_owned()],
            },
            KeyAct::WalletKey,
            KeyAct::FtpUser { name: text("files-1"), requires_resumption: true },
            KeyAct::Webhook {
                url: "https://a.example/?x=1".to_owned(),
                kinds: vec!["PAYMENT".to_owned()],
                without_customer: true,
                wrapped: false,
            },
            KeyAct::WebhookRotation { webhook: MessageId::new(Timestamp::UNIX_EPOCH, [1; 9]) },
            KeyAct::FilePush {
                url: "sftp://a.example/in".to_owned(),
                host_key: text("SHA256:x"),
                ca: None,
                from: Some(jiff::civil::date(2026, 1, 2)),
                has_private_key: true,
                replaces: text("sftp://b.example/in"),
            },
        ]
    }

    #[test]
    fn every_act_is_read_as_it_was_written_and_only_as_its_own_kind() {
        let euro = Currency::parse("EUR").unwrap();
        let refund = PendingRefund {
            payment: PaymentId::new(Timestamp::UNIX_EPOCH, [3; 9]),
            is_reversal: true,
            amount: Amount::parse("1.50", euro).unwrap(),
            sum: Amount::parse("2.50", euro).unwrap(),
        };
        let rules = PendingRuleUse {
            role: VersionRole::Shadow,
            version: None,
            seen: Some("0123456789abcdef".to_owned()),
            author: "Robin".to_owned(),
            reason: "quiet\nmonth".to_owned(),
        };
        let acts = [ApprovalAct::Refund(refund), ApprovalAct::Rules(rules)];
        for act in acts.into_iter().chain(key_acts().into_iter().map(ApprovalAct::Key)) {
            let text = format_act(&act).unwrap();
            for kind in ApprovalKind::ALL {
                let expected = (kind == act.kind()).then(|| act.clone());
                assert_eq!(parse_act(kind.as_str(), &text), expected, "{kind:?} {text}");
            }
        }
        assert_eq!(parse_act("refund", "{}"), None);
        assert_eq!(parse_act("other", "{\"act\":\"wallet-key\"}"), None);
    }
}
