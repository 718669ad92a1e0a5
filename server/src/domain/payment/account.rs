//! What may be kept and shown of an account.

use serde::{Deserialize, Serialize};

/// The account that a payment was made with, reduced to what may be shown.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Account {
    /// A card, also one from a wallet.
    Card(CardSummary),
    /// A bank account.
    Bank(BankSummary),
    /// An account with a provider.
    Virtual(VirtualSummary),
    /// The provider knows it, and tells nobody.
    Unknown,
}

/// What may be kept and shown of a card: never the whole number, never the code.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct CardSummary {
    /// The first six digits, which name the issuer.
    pub bin: String,
    /// The last four digits.
    pub last4: String,
    /// The name on the card, when it was given.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub holder: Option<String>,
    /// Two digits, 01 to 12.
    pub expiry_month: String,
    /// Four digits.
    pub expiry_year: String,
}

impl CardSummary {
    /// Whether a number may be that of this card.
    pub fn is(&self, number: &str) -> bool {
        number.starts_with(&self.bin) && number.ends_with(&self.last4)
    }
}

/// What may be kept and shown of a bank account: never the whole number.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct BankSummary {
    /// Whose it is.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub holder: Option<String>,
    /// The IBAN, all but its first four and last four characters masked.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub iban: Option<String>,
    /// The last four characters of IBAN or number.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub last4: Option<String>,
    /// The bank's BIC.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bic: Option<String>,
    /// The bank's national code.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bank_code: Option<String>,
    /// The bank's name.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bank_name: Option<String>,
    /// The bank's country, two letters.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub country: Option<String>,
}

/// What may be kept and shown of an account with a provider.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct VirtualSummary {
    /// `virtualAccount.accountId`.
    pub account_id: String,
    /// Whose it is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub holder: Option<String>,
}

impl Account {
    /// The card, when it is one.
    pub fn card(&self) -> Option<&CardSummary> {
        match self {
            Self::Card(card) => Some(card),
            Self::Bank(_) | Self::Virtual(_) | Self::Unknown => None,
        }
    }

    /// The part of the account number that answers show, in one line. Accounts that differ in what is hidden have the same.
    pub fn shown_part(&self, brand: &str) -> String {
        let text = |part: &Option<String>| part.clone().unwrap_or_default();
        match self {
            Self::Card(card) => format!("card {} {}", card.bin, card.last4),
            Self::Bank(BankSummary { iban: Some(iban), .. }) => format!("iban {iban}"),
            Self::Bank(bank) => {
                let code = bank.bank_code.clone().or(bank.bic.clone()).unwrap_or_default();
                format!("bank {} {code} {}", text(&bank.country), text(&bank.last4))
            }
            Self::Virtual(account) => format!("virtual {brand} {}", account.account_id),
            Self::Unknown => String::new(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn card(bin: &str, last4: &str, year: &str) -> Account {
        Account::Card(CardSummary {
            bin: bin.to_owned(),
            last4: last4.to_owned(),
            holder: None,
            expiry_month: "05".to_owned(),
            expiry_year: year.to_owned(),
        })
    }

    #[test]
    fn two_accounts_have_the_same_shown_part_when_answers_show_the_same_number() {
        let one = card("420000", "0000", "2034");
        assert_eq!(one.shown_part("VISA"), card("420000", "0000", "2038").shown_part("VISADEBIT"));
        assert_ne!(one.shown_part("VISA"), card("420000", "0001", "2034").shown_part("VISA"));
        assert_ne!(one.shown_part("VISA"), card("420001", "0000", "2034").shown_part("VISA"));
        let wallet = |id: &str| Account::Virtual(VirtualSummary { account_id: id.to_owned(), holder: None });
        assert_ne!(wallet("a").shown_part("PAYPAL"), wallet("b").shown_part("PAYPAL"));
        assert_ne!(wallet("a").shown_part("PAYPAL"), wallet("a").shown_part("ALIPAY"));
        let bank = |iban: Option<&str>, last4: &str| {
            let summary = BankSummary {
                iban: iban.map(str::to_owned),
                last4: Some(last4.to_owned()),
                bank_code: Some("10000000".to_owned()),
                ..BankSummary::default()
            };
            Account::Bank(summary).shown_part("SEPA")
        };
        // An IBAN is one whatever else was sent with it.
        assert_eq!(bank(Some("DE23**7890"), "7890"), bank(Some("DE23**7890"), ""));
        assert_ne!(bank(None, "7890"), bank(None, "7891"));
    }
}
