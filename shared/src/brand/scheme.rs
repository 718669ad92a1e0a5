//! Card schemes: the ranges and lengths of their numbers, and the lengths of their security codes.
//!
//! A range list that grows or overlaps with others is used for detection only, and other numbers are accepted as well
//! ([`OtherRanges::Unknown`]).

use super::bin_range::{BinRange, RangeMatch, best_match};
use super::first_digits;

/// Properties of a card scheme's numbers and codes.
#[derive(Debug, PartialEq, Eq)]
pub struct Scheme {
    /// The scheme's own ranges.
    pub ranges: &'static [BinRange],
    /// Other ranges in which its cards are issued.
    pub other_ranges: OtherRanges,
    /// Possible lengths of its numbers, ascending.
    pub number_lengths: &'static [u8],
    /// Possible lengths of its security codes.
    pub code_lengths: &'static [u8],
    /// True if cards without a code are in use.
    pub code_optional: bool,
    /// The side of the card with the code.
    pub code_position: CodePosition,
    /// The electronic commerce indicators of its 3-D Secure programme.
    pub eci_family: EciFamily,
}

/// The place of the security code on a card.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CodePosition {
    /// On the front, above the number.
    Front,
    /// On the back, beside the signature.
    Back,
}

/// The electronic commerce indicators (ECI) that a scheme's 3-D Secure programme reports.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EciFamily {
    /// 05 authenticated, 06 attempted, 07 exempted: Visa, and every scheme that follows it.
    Visa,
    /// 02 authenticated, 01 attempted, 06 exempted: Mastercard and Maestro.
    Mastercard,
}

/// Ranges outside of a scheme's own in which its cards are issued.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OtherRanges {
    /// None: a number outside of its own ranges belongs to another scheme.
    None,
    /// These ranges of other schemes, as a guest.
    Listed(&'static [BinRange]),
    /// Unknown, so no number is refused.
    Unknown,
}

/// Creates a scheme from its ranges, its other ranges, and the lengths of its numbers.
const fn new_scheme(ranges: &'static [BinRange], other_ranges: OtherRanges, number_lengths: &'static [u8]) -> Scheme {
    Scheme {
        ranges,
        other_ranges,
        number_lengths,
        code_lengths: &[3],
        code_optional: false,
        code_position: CodePosition::Back,
        eci_family: EciFamily::Visa,
    }
}

const SIXTEEN: &[u8] = &[16];
const SIXTEEN_TO_NINETEEN: &[u8] = &[16, 17, 18, 19];
pub(super) const ANY_LENGTH: &[u8] = &[12, 13, 14, 15, 16, 17, 18, 19];
const VISA_LENGTHS: &[u8] = &[13, 16, 19];

pub(super) static VISA: Scheme = new_scheme(first_digits::VISA, OtherRanges::None, VISA_LENGTHS);
pub(super) static VISA_GUEST: Scheme = new_scheme(&[], OtherRanges::Listed(first_digits::VISA), VISA_LENGTHS);
pub(super) static VISA_ELECTRON: Scheme =
    new_scheme(first_digits::VISA_ELECTRON, OtherRanges::Listed(first_digits::VISA), SIXTEEN);
pub(super) static MASTER: Scheme =
    Scheme { eci_family: EciFamily::Mastercard, ..new_scheme(first_digits::MASTER, OtherRanges::None, SIXTEEN) };
pub(super) static MASTER_GUEST: Scheme =
    Scheme { eci_family: EciFamily::Mastercard, ..new_scheme(&[], OtherRanges::Listed(first_digits::MASTER), SIXTEEN) };
pub(super) static AMEX: Scheme = Scheme {
    code_lengths: &[4],
    code_position: CodePosition::Front,
    ..new_scheme(first_digits::AMEX, OtherRanges::None, &[15])
};
pub(super) static DINERS: Scheme = new_scheme(first_digits::DINERS, OtherRanges::None, &[14, 15, 16, 17, 18, 19]);
pub(super) static DISCOVER: Scheme =
    new_scheme(first_digits::DISCOVER, OtherRanges::Listed(first_digits::DISCOVER_GUEST), SIXTEEN_TO_NINETEEN);
pub(super) static JCB: Scheme = new_scheme(first_digits::JCB, OtherRanges::None, SIXTEEN_TO_NINETEEN);
pub(super) static MAESTRO: Scheme = Scheme {
    code_optional: true,
    eci_family: EciFamily::Mastercard,
    ..new_scheme(first_digits::MAESTRO, OtherRanges::None, ANY_LENGTH)
};
pub(super) static UNIONPAY: Scheme =
    Scheme { code_optional: true, ..new_scheme(first_digits::UNIONPAY, OtherRanges::None, SIXTEEN_TO_NINETEEN) };
pub(super) static DANKORT: Scheme = new_scheme(first_digits::DANKORT, OtherRanges::None, SIXTEEN);
pub(super) static CARTE_BANCAIRE: Scheme =
    new_scheme(&[], OtherRanges::Listed(first_digits::CARTE_BANCAIRE), SIXTEEN_TO_NINETEEN);
pub(super) static HIPERCARD: Scheme = new_scheme(first_digits::HIPERCARD, OtherRanges::None, &[13, 16, 19]);
pub(super) static ELO: Scheme = new_scheme(first_digits::ELO, OtherRanges::Unknown, SIXTEEN);
pub(super) static BANCONTACT: Scheme =
    Scheme { code_optional: true, ..new_scheme(first_digits::BANCONTACT, OtherRanges::Unknown, &[16, 17, 18, 19]) };
pub(super) static MADA: Scheme = new_scheme(first_digits::MADA, OtherRanges::Unknown, SIXTEEN);
pub(super) static MEEZA: Scheme = new_scheme(first_digits::MEEZA, OtherRanges::Unknown, SIXTEEN_TO_NINETEEN);
pub(super) static AIRPLUS: Scheme = new_scheme(first_digits::AIRPLUS, OtherRanges::Unknown, &[15, 16]);
pub(super) static ARGENCARD: Scheme = new_scheme(first_digits::ARGENCARD, OtherRanges::Unknown, SIXTEEN);
pub(super) static CABAL: Scheme = new_scheme(first_digits::CABAL, OtherRanges::Unknown, SIXTEEN);
pub(super) static CARNET: Scheme = new_scheme(first_digits::CARNET, OtherRanges::Unknown, SIXTEEN);
pub(super) static CENCOSUD: Scheme = new_scheme(first_digits::CENCOSUD, OtherRanges::Unknown, SIXTEEN);
pub(super) static NARANJA: Scheme = new_scheme(first_digits::NARANJA, OtherRanges::Unknown, SIXTEEN);
pub(super) static NATIVA: Scheme = new_scheme(first_digits::NATIVA, OtherRanges::Unknown, SIXTEEN);
pub(super) static TARJETA_SHOPPING: Scheme = new_scheme(first_digits::TARJETA_SHOPPING, OtherRanges::Unknown, SIXTEEN);

// Schemes without a brand code in the contract.
static MIR: Scheme = new_scheme(first_digits::MIR, OtherRanges::None, SIXTEEN_TO_NINETEEN);
static TROY: Scheme = new_scheme(first_digits::TROY, OtherRanges::None, SIXTEEN);
static RUPAY: Scheme = new_scheme(first_digits::RUPAY, OtherRanges::None, SIXTEEN);
static NAPAS: Scheme = new_scheme(first_digits::NAPAS, OtherRanges::None, &[16, 19]);
static VERVE: Scheme = new_scheme(first_digits::VERVE, OtherRanges::None, &[16, 18, 19]);
static UZCARD_AND_HUMO: Scheme = new_scheme(first_digits::UZCARD_AND_HUMO, OtherRanges::None, SIXTEEN);

/// All schemes with their own numbers. Those with the widest ranges come first, so that most numbers are found at once.
#[rustfmt::skip] // a list of names
static ISSUERS: &[&Scheme] = &[
    &VISA, &MASTER, &AMEX, &MAESTRO, &DINERS, &JCB, &DISCOVER, &UNIONPAY, &MIR, &TROY, &RUPAY, &NAPAS,
    &UZCARD_AND_HUMO, &VERVE, &HIPERCARD, &MADA, &CARNET, &AIRPLUS,
];

impl Scheme {
    /// Returns true if a known scheme issues numbers of this range and length. Does not check the check digit.
    pub fn is_issued_number(digits: &str) -> bool {
        ISSUERS.iter().any(|scheme| {
            scheme.number_lengths.iter().any(|length| usize::from(*length) == digits.len())
                && matches!(best_match(scheme.ranges, digits), RangeMatch::Inside(_))
        })
    }
}
