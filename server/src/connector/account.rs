//! The account that an order is about, whole: as a connector needs it, and as it lives in memory only.

use std::fmt;

use tillgate_shared::format::card_number::CardNumber;
use tillgate_shared::format::expiry::Expiry;
use tillgate_shared::format::iban::Iban;
use tillgate_shared::format::security_code::SecurityCode;
use zeroize::Zeroizing;

use crate::domain::payment::{Account, BankSummary, CardSummary, VirtualSummary};

/// An account with everything that is secret about it. What is kept and shown of it is an [`Account`].
#[derive(Debug, Clone)]
pub enum FullAccount {
    /// A card.
    Card(FullCard),
    /// A bank account.
    Bank(FullBank),
    /// An account with a provider, which holds no secret of the shopper's.
    Virtual(VirtualSummary),
    /// The provider asks the shopper itself.
    Unknown,
}

/// A card.
#[derive(Debug, Clone)]
pub struct FullCard {
    /// Its number.
    pub number: CardNumber,
    /// Until when it is valid.
    pub expiry: Expiry,
    /// The name on it.
    pub holder: Option<String>,
    /// The security code. Never stored.
    pub code: Option<SecurityCode>,
    /// A wallet's authentication, in place of the code.
    pub cryptogram: Option<Cryptogram>,
    /// Where its data come from.
    pub entry: Entry,
}

/// A wallet's authentication of one payment, which a connector passes on to the scheme.
#[derive(Clone)]
pub struct Cryptogram {
    /// The authentication value, base64 of 20 bytes. It is good once, and a secret until then.
    pub value: Zeroizing<String>,
    /// The electronic commerce indicator, two digits.
    pub eci: String,
}

impl fmt::Debug for Cryptogram {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Cryptogram(****, {})", self.eci)
    }
}

/// Where a card's data come from, which decides whether its security code can be expected.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Entry {
    /// Somebody typed them for this payment.
    Keyed,
    /// A registration holds them.
    Stored,
    /// A wallet handed them out, with a cryptogram of its own in place of the code.
    Wallet,
}

/// A bank account.
#[derive(Debug, Clone)]
pub struct FullBank {
    /// Its IBAN or its national number, when it is known.
    pub number: Option<BankNumber>,
    /// What else is known of it; without IBAN and last digits, which follow from the number.
    pub about: BankSummary,
}

/// How a bank account is numbered.
#[derive(Debug, Clone)]
pub enum BankNumber {
    /// Internationally.
    Iban(Iban),
    /// As its country does.
    National(NationalNumber),
}

/// A bank account's national number, 3 to 64 letters and digits. A secret: no `Display`, a `Debug` that shows a mask.
#[derive(Clone, PartialEq, Eq)]
pub struct NationalNumber(Zeroizing<String>);

impl NationalNumber {
    /// Takes a number that the catalogue's format has been checked for.
    pub fn new(text: &str) -> Self {
        Self(Zeroizing::new(text.to_owned()))
    }

    /// All of its characters. Whoever takes them is responsible for where they go.
    pub fn characters(&self) -> &str {
        &self.0
    }

    /// The last four characters; none of a number that is hardly longer than that.
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
    /// The first digits of a card, which name its issuer.
    pub fn bin(&self) -> Option<&str> {
        match self {
            Self::Card(card) => Some(card.number.bin()),
            Self::Bank(_) | Self::Virtual(_) | Self::Unknown => None,
        }
    }

    /// What may be kept and shown.
    pub fn shown(&self) -> Account {
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
                ..bank.about.clone()
            }),
            Self::Virtual(account) => Account::Virtual(account.clone()),
            Self::Unknown => Account::Unknown,
        }
    }

    /// What has to be sealed when the account is kept: the number, padded, so that a record's length tells nothing.
    /// None where nothing about the account is secret.
    pub fn secret(&self) -> Option<Zeroizing<String>> {
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

    /// The account again, from what is shown and what was sealed: the reverse of [`Self::shown`] and [`Self::secret`].
    /// `None` when the two do not belong together.
    pub fn restored(shown: &Account, secret: Option<&str>) -> Option<Self> {
        let secret = secret.map(|secret| secret.trim_end_matches(' '));
        Some(match shown {
            Account::Card(card) => Self::Card(FullCard {
                number: CardNumber::parse(secret?).ok()?,
                expiry: Expiry::parse(&card.expiry_month, &card.expiry_year).ok()?,
                holder: card.holder.clone(),
                code: None,
                cryptogram: None,
                entry: Entry::Stored,
            }),
            Account::Bank(bank) => {
                let number = match (secret, &bank.iban) {
                    (Some(secret), Some(_)) => Some(BankNumber::Iban(Iban::parse(secret).ok()?)),
                    (Some(secret), None) => Some(BankNumber::National(NationalNumber::new(secret))),
                    (None, _) => None,
                };
                Self::Bank(FullBank { number, about: BankSummary { iban: None, last4: None, ..bank.clone() } })
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

    fn again(account: &FullAccount) -> FullAccount {
        FullAccount::restored(&account.shown(), account.secret().as_deref().map(String::as_str)).unwrap()
    }

    fn bank(number: Option<BankNumber>) -> FullAccount {
        let about = BankSummary { holder: Some("Jane Jones".to_owned()), ..BankSummary::default() };
        FullAccount::Bank(FullBank { number, about })
    }

    #[test]
    fn an_account_comes_back_from_what_is_shown_and_what_was_sealed() {
        let card = FullAccount::Card(FullCard {
            number: CardNumber::parse("4200000000000000").unwrap(),
            expiry: Expiry::parse("05", "2034").unwrap(),
            holder: Some("Jane Jones".to_owned()),
            code: Some(SecurityCode::parse("123").unwrap()),
            cryptogram: None,
            entry: Entry::Keyed,
        });
        let FullAccount::Card(card) = again(&card) else { panic!("a card stays a card") };
        assert_eq!((card.number.digits(), card.expiry.month_text().as_str()), ("4200000000000000", "05"));
        assert!(card.code.is_none(), "a code is never stored");

        let iban = bank(Some(BankNumber::Iban(Iban::parse("DE23100000001234567890").unwrap())));
        assert_eq!(format!("{:?}", again(&iban).shown()), format!("{:?}", iban.shown()));
        let FullAccount::Bank(FullBank { number: Some(BankNumber::Iban(number)), .. }) = again(&iban) else {
            panic!("an IBAN stays an IBAN")
        };
        assert_eq!(number.characters(), "DE23100000001234567890");

        let national = bank(Some(BankNumber::National(NationalNumber::new("1234567890"))));
        let FullAccount::Bank(FullBank { number: Some(BankNumber::National(number)), .. }) = again(&national) else {
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
            let account = bank(Some(number));
            let shown = format!("{:?} {account:?}", account.shown());
            assert!(!shown.contains(secret), "{shown}");
        }
    }

    #[test]
    fn records_of_one_kind_have_one_length() {
        let lengths: Vec<usize> = ["NO9386011117947", "MT84MALT011000012345MTLCAST001S"]
            .map(|iban| bank(Some(BankNumber::Iban(Iban::parse(iban).unwrap()))).secret().unwrap().len())
            .into();
        assert_eq!(lengths, [34, 34]);
    }
}
