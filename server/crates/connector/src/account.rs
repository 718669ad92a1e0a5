//! The full account of an order, as a connector needs it. It exists in memory only.

use std::fmt;

use tillgate_domain::payment::account_identity::AccountIdentity;
use tillgate_domain::payment::{Account, BankSummary, CardSummary, VirtualSummary};
use tillgate_shared::format::card_number::CardNumber;
use tillgate_shared::format::expiry::Expiry;
use tillgate_shared::format::iban::Iban;
use tillgate_shared::format::security_code::SecurityCode;
use zeroize::Zeroizing;

/// An account with its secret parts. Its stored and displayed summary is an [`Account`].
#[derive(Debug, Clone)]
pub enum FullAccount {
    /// A card.
    Card(FullCard),
    /// A bank account.
    Bank(FullBank),
    /// An account with a provider. It has no secret part.
    Virtual(VirtualSummary),
    /// An account that is not known here: the shopper enters it on the provider's page.
    Unknown,
}

/// A card.
#[derive(Debug, Clone)]
pub struct FullCard {
    /// The card number.
    pub number: CardNumber,
    /// The expiry date.
    pub expiry: Expiry,
    /// The cardholder's name.
    pub holder: Option<String>,
    /// The security code. Never stored.
    pub security_code: Option<SecurityCode>,
    /// The wallet's cryptogram, in place of the security code.
    pub cryptogram: Option<Cryptogram>,
    /// The source of the card data.
    pub source: CardSource,
}

/// A wallet's authentication of one payment. A connector passes it on to the scheme.
#[derive(Clone)]
pub struct Cryptogram {
    /// The authentication value, base64 of 20 bytes. It is valid once, and a secret until then.
    pub value: Zeroizing<String>,
    /// The electronic commerce indicator (ECI), two digits.
    pub eci: String,
}

impl fmt::Debug for Cryptogram {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Cryptogram(****, {})", self.eci)
    }
}

/// The source of card data. It determines whether a security code can be expected.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CardSource {
    /// Typed for this payment, or sent by the merchant.
    Keyed,
    /// Stored in a registration.
    Stored,
    /// Provided by a wallet, with the wallet's cryptogram in place of the security code.
    Wallet,
}

/// A bank account.
#[derive(Debug, Clone)]
pub struct FullBank {
    /// The IBAN or national number, if it is known.
    pub number: Option<BankNumber>,
    /// The displayable data of the account. IBAN and last digits are empty, because they follow from the number.
    pub summary: BankSummary,
}

/// The number of a bank account.
#[derive(Debug, Clone)]
pub enum BankNumber {
    /// An IBAN.
    Iban(Iban),
    /// A national number.
    National(NationalNumber),
}

/// A bank account's national number, 3 to 64 letters and digits. A secret: it has no `Display`, and its `Debug` shows a
/// mask.
#[derive(Clone, PartialEq, Eq)]
pub struct NationalNumber(Zeroizing<String>);

impl NationalNumber {
    /// Wraps a number whose format has been checked already.
    pub fn new(text: &str) -> Self {
        Self(Zeroizing::new(text.to_owned()))
    }

    /// Returns all characters of the number. The caller must protect them.
    pub fn characters(&self) -> &str {
        &self.0
    }

    /// Returns the last four characters. `None` if the number has fewer than eight characters.
    pub fn last4(&self) -> Option<&str> {
        self.0.len().checked_sub(4).filter(|before| *before >= 4).and_then(|before| self.0.get(before..))
    }
}

impl fmt::Debug for NationalNumber {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("NationalNumber(****)")
    }
}

impl FullAccount {
    /// Returns the first digits of a card number (BIN), which identify the issuer. `None` for any other account.
    pub fn bin(&self) -> Option<&str> {
        match self {
            Self::Card(card) => Some(card.number.bin()),
            Self::Bank(_) | Self::Virtual(_) | Self::Unknown => None,
        }
    }

    /// Returns the identity of the account; of an account with a provider, at this brand. `None` if its number is not
    /// known here.
    pub fn identity(&self, brand: &str) -> Option<AccountIdentity> {
        Some(match self {
            Self::Card(card) => AccountIdentity::from_card(&card.number),
            Self::Bank(FullBank { number, summary }) => match number.as_ref()? {
                BankNumber::Iban(iban) => AccountIdentity::from_iban(iban),
                BankNumber::National(number) => {
                    let bank = summary.bank_code.as_deref().or(summary.bic.as_deref()).unwrap_or_default();
                    AccountIdentity::from_national_number(
                        summary.country.as_deref().unwrap_or_default(),
                        bank,
                        number.characters(),
                    )
                }
            },
            Self::Virtual(account) => AccountIdentity::from_provider(brand, &account.account_id),
            Self::Unknown => return None,
        })
    }

    /// Returns the summary that may be stored and displayed: a card's BIN, last digits, holder and expiry date, or a
    /// bank account with its IBAN masked and its last digits.
    pub fn summary(&self) -> Account {
        match self {
            Self::Card(card) => Account::Card(CardSummary {
                bin: card.number.bin().to_owned(),
                last4: card.number.last4().to_owned(),
                holder: card.holder.clone(),
                expiry_month: card.expiry.month_text(),
                expiry_year: card.expiry.year_text(),
            }),
            Self::Bank(bank) => Account::Bank(BankSummary {
                iban: match &bank.number {
                    Some(BankNumber::Iban(iban)) => Some(iban.masked()),
                    _ => None,
                },
                last4: match &bank.number {
                    Some(BankNumber::Iban(iban)) => Some(iban.last4().to_owned()),
                    Some(BankNumber::National(number)) => number.last4().map(str::to_owned),
                    None => None,
                },
                ..bank.summary.clone()
            }),
            Self::Virtual(account) => Account::Virtual(account.clone()),
            Self::Unknown => Account::Unknown,
        }
    }

    /// Returns the text to seal when the account is stored: the number, padded with spaces to the maximum length of its
    /// kind, so that a record's length reveals nothing. Returns `None` if the account has no secret part.
    pub fn padded_secret(&self) -> Option<Zeroizing<String>> {
        let text = match self {
            Self::Card(card) => format!("{:<19}", card.number.digits()),
            Self::Bank(FullBank { number: Some(BankNumber::Iban(iban)), .. }) => format!("{:<34}", iban.characters()),
            Self::Bank(FullBank { number: Some(BankNumber::National(number)), .. }) => {
                format!("{:<64}", number.characters())
            }
            Self::Bank(_) | Self::Virtual(_) | Self::Unknown => return None,
        };
        Some(Zeroizing::new(text))
    }

    /// Rebuilds an account from its summary and its sealed text: the inverse of [`Self::summary`] and
    /// [`Self::padded_secret`]. Security code and cryptogram are lost. Returns `None` if a card has no text, or the
    /// text is no valid card number or IBAN.
    pub fn from_stored(summary: &Account, secret: Option<&str>) -> Option<Self> {
        let secret = secret.map(|secret| secret.trim_end_matches(' '));
        Some(match summary {
            Account::Card(card) => Self::Card(FullCard {
                number: CardNumber::parse(secret?).ok()?,
                expiry: Expiry::parse(&card.expiry_month, &card.expiry_year).ok()?,
                holder: card.holder.clone(),
                security_code: None,
                cryptogram: None,
                source: CardSource::Stored,
            }),
            Account::Bank(bank) => {
                let number = match (secret, &bank.iban) {
                    (Some(secret), Some(_)) => Some(BankNumber::Iban(Iban::parse(secret).ok()?)),
                    (Some(secret), None) => Some(BankNumber::National(NationalNumber::new(secret))),
                    (None, _) => None,
                };
                Self::Bank(FullBank { number, summary: BankSummary { iban: None, last4: None, ..bank.clone() } })
            }
            Account::Virtual(account) => Self::Virtual(account.clone()),
            Account::Unknown => Self::Unknown,
        })
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    /// Rebuilds an account from its own summary and sealed text.
    fn store_and_restore(account: &FullAccount) -> FullAccount {
        FullAccount::from_stored(&account.summary(), account.padded_secret().as_deref().map(String::as_str)).unwrap()
    }

    /// Makes a bank account with a holder and this number.
    fn bank_account(number: Option<BankNumber>) -> FullAccount {
        let summary = BankSummary { holder: Some("Jane Jones".to_owned()), ..BankSummary::default() };
        FullAccount::Bank(FullBank { number, summary })
    }

    #[test]
    fn an_account_comes_back_from_what_is_shown_and_what_was_sealed() {
        let card = FullAccount::Card(FullCard {
            number: CardNumber::parse("4200000000000000").unwrap(),
            expiry: Expiry::parse("05", "2034").unwrap(),
            holder: Some("Jane Jones".to_owned()),
            security_code: Some(SecurityCode::parse("123").unwrap()),
            cryptogram: None,
            source: CardSource::Keyed,
        });
        let FullAccount::Card(card) = store_and_restore(&card) else { panic!("a card stays a card") };
        assert_eq!((card.number.digits(), card.expiry.month_text().as_str()), ("4200000000000000", "05"));
        assert!(card.security_code.is_none(), "a code is never stored");

        let iban = bank_account(Some(BankNumber::Iban(Iban::parse("DE23100000001234567890").unwrap())));
        assert_eq!(format!("{:?}", store_and_restore(&iban).summary()), format!("{:?}", iban.summary()));
        let FullAccount::Bank(FullBank { number: Some(BankNumber::Iban(number)), .. }) = store_and_restore(&iban)
        else {
            panic!("an IBAN stays an IBAN")
        };
        assert_eq!(number.characters(), "DE23100000001234567890");

        let national = bank_account(Some(BankNumber::National(NationalNumber::new("1234567890"))));
        let FullAccount::Bank(FullBank { number: Some(BankNumber::National(number)), .. }) =
            store_and_restore(&national)
        else {
            panic!("a number stays a number")
        };
        assert_eq!(number.characters(), "1234567890");
    }

    #[test]
    fn nothing_shown_or_printed_of_a_bank_account_is_its_number() {
        for (number, secret) in [
            (BankNumber::Iban(Iban::parse("DE23100000001234567890").unwrap()), "100000001234567890"),
            (BankNumber::National(NationalNumber::new("12345")), "12345"),
        ] {
            let account = bank_account(Some(number));
            let printed = format!("{:?} {account:?}", account.summary());
            assert!(!printed.contains(secret), "{printed}");
        }
    }

    #[test]
    fn records_of_one_kind_have_one_length() {
        let lengths: Vec<usize> = ["NO9386011117947", "MT84MALT011000012345MTLCAST001S"]
            .map(|iban| bank_account(Some(BankNumber::Iban(Iban::parse(iban).unwrap()))).padded_secret().unwrap().len())
            .into();
        assert_eq!(lengths, [34, 34]);
    }
}
