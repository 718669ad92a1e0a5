//! Account data that may be stored and shown.

use serde::{Deserialize, Serialize};

/// The account of a payment, reduced to the data that may be shown.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Account {
    /// A card, also one from a wallet.
    Card(CardSummary),
    /// A bank account.
    Bank(BankSummary),
    /// An account with a provider, such as a wallet.
    Virtual(VirtualSummary),
    /// The account is known only to the provider.
    Unknown,
}

/// Card data that may be stored and shown: never the whole number, never the security code.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct CardSummary {
    /// The first six digits, which identify the issuer.
    pub bin: String,
    /// The last four digits.
    pub last4: String,
    /// The name on the card, if it was sent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub holder: Option<String>,
    /// Month of expiry, two digits, 01 to 12.
    pub expiry_month: String,
    /// Year of expiry, four digits.
    pub expiry_year: String,
}

impl CardSummary {
    /// Returns true if a number begins and ends like this card's number. The hidden digits are not compared.
    pub fn matches_number(&self, number: &str) -> bool {
        number.starts_with(&self.bin) && number.ends_with(&self.last4)
    }
}

/// Bank account data that may be stored and shown: never the whole number.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct BankSummary {
    /// The account holder.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub holder: Option<String>,
    /// The IBAN, masked except for its first four and last four characters.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub iban: Option<String>,
    /// The last four characters of the IBAN or account number.
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

/// Data of an account with a provider that may be stored and shown.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct VirtualSummary {
    /// `virtualAccount.accountId`.
    pub account_id: String,
    /// The account holder.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub holder: Option<String>,
}

impl Account {
    /// Returns the card, if the account is one.
    pub fn as_card(&self) -> Option<&CardSummary> {
        match self {
            Self::Card(card) => Some(card),
            Self::Bank(_) | Self::Virtual(_) | Self::Unknown => None,
        }
    }

    /// Returns the part of the account number that responses show, in one line: of a card the first six and last four
    /// digits; of a bank account the masked IBAN, or country, bank and last four characters; of a provider's account
    /// brand and id; of an unknown account nothing. Accounts that differ only in hidden characters have the same part.
    pub fn visible_part(&self, brand: &str) -> String {
        let text = |value: &Option<String>| value.clone().unwrap_or_default();
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

    fn create_card_account(bin: &str, last4: &str, year: &str) -> Account {
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
        let one = create_card_account("420000", "0000", "2034");
        assert_eq!(one.visible_part("VISA"), create_card_account("420000", "0000", "2038").visible_part("VISADEBIT"));
        assert_ne!(one.visible_part("VISA"), create_card_account("420000", "0001", "2034").visible_part("VISA"));
        assert_ne!(one.visible_part("VISA"), create_card_account("420001", "0000", "2034").visible_part("VISA"));
        let wallet = |id: &str| Account::Virtual(VirtualSummary { account_id: id.to_owned(), holder: None });
        assert_ne!(wallet("a").visible_part("PAYPAL"), wallet("b").visible_part("PAYPAL"));
        assert_ne!(wallet("a").visible_part("PAYPAL"), wallet("a").visible_part("ALIPAY"));
        let bank = |iban: Option<&str>, last4: &str| {
            let summary = BankSummary {
                iban: iban.map(str::to_owned),
                last4: Some(last4.to_owned()),
                bank_code: Some("10000000".to_owned()),
                ..BankSummary::default()
            };
            Account::Bank(summary).visible_part("SEPA")
        };
        // An IBAN identifies the account, whatever else was sent with it.
        assert_eq!(bank(Some("DE23**7890"), "7890"), bank(Some("DE23**7890"), ""));
        assert_ne!(bank(None, "7890"), bank(None, "7891"));
    }
}
