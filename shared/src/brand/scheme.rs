//! Card schemes: the numbers that they issue, the lengths of these numbers, and the lengths of the security code.
//!
//! The ranges are facts of ISO/IEC 7812 as published by the schemes. A list that grows or overlaps with others is used
//! for detection only, and other numbers are accepted as well ([`OtherRanges::Unknown`]).

use super::range::{BinRange, RangeMatch, best_match};

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

/// Returns the range of a single prefix.
const fn prefix(prefix: u32) -> BinRange {
    BinRange(prefix, prefix)
}

const ON_VISA: &[BinRange] = &[prefix(4)];
const ON_MASTER: &[BinRange] = &[BinRange(51, 55), BinRange(2221, 2720)];
const SIXTEEN: &[u8] = &[16];
const SIXTEEN_TO_NINETEEN: &[u8] = &[16, 17, 18, 19];
pub(super) const ANY_LENGTH: &[u8] = &[12, 13, 14, 15, 16, 17, 18, 19];
const VISA_LENGTHS: &[u8] = &[13, 16, 19];

pub(super) static VISA: Scheme = new_scheme(ON_VISA, OtherRanges::None, VISA_LENGTHS);
pub(super) static VISA_GUEST: Scheme = new_scheme(&[], OtherRanges::Listed(ON_VISA), VISA_LENGTHS);
pub(super) static VISA_ELECTRON: Scheme = new_scheme(
    &[prefix(4026), prefix(417500), prefix(4405), prefix(4508), prefix(4844), prefix(4913), prefix(4917)],
    OtherRanges::Listed(ON_VISA),
    SIXTEEN,
);
pub(super) static MASTER: Scheme =
    Scheme { eci_family: EciFamily::Mastercard, ..new_scheme(ON_MASTER, OtherRanges::None, SIXTEEN) };
pub(super) static MASTER_GUEST: Scheme =
    Scheme { eci_family: EciFamily::Mastercard, ..new_scheme(&[], OtherRanges::Listed(ON_MASTER), SIXTEEN) };
pub(super) static AMEX: Scheme = Scheme {
    code_lengths: &[4],
    code_position: CodePosition::Front,
    ..new_scheme(&[prefix(34), prefix(37)], OtherRanges::None, &[15])
};
pub(super) static DINERS: Scheme = new_scheme(
    &[BinRange(300, 305), prefix(3095), prefix(36), BinRange(38, 39)],
    OtherRanges::None,
    &[14, 15, 16, 17, 18, 19],
);
/// UnionPay's range is co-badged: detection returns UnionPay, and the shopper may choose Discover.
pub(super) static DISCOVER: Scheme = new_scheme(
    &[prefix(6011), BinRange(644, 649), prefix(65)],
    OtherRanges::Listed(&[BinRange(622126, 622925)]),
    SIXTEEN_TO_NINETEEN,
);
pub(super) static JCB: Scheme = new_scheme(&[BinRange(3528, 3589)], OtherRanges::None, SIXTEEN_TO_NINETEEN);
pub(super) static MAESTRO: Scheme = Scheme {
    code_optional: true,
    eci_family: EciFamily::Mastercard,
    ..new_scheme(&[prefix(50), BinRange(56, 58), prefix(6)], OtherRanges::None, ANY_LENGTH)
};
pub(super) static UNIONPAY: Scheme = Scheme {
    code_optional: true,
    ..new_scheme(&[prefix(62), BinRange(810, 817)], OtherRanges::None, SIXTEEN_TO_NINETEEN)
};
pub(super) static DANKORT: Scheme = new_scheme(&[prefix(5019), prefix(4571)], OtherRanges::None, SIXTEEN);
pub(super) static CARTE_BANCAIRE: Scheme = new_scheme(
    &[],
    OtherRanges::Listed(&[prefix(4), BinRange(50, 58), BinRange(2221, 2720), prefix(6)]),
    SIXTEEN_TO_NINETEEN,
);
#[rustfmt::skip] // rows of numbers
pub(super) static HIPERCARD: Scheme = new_scheme(
    &[
        prefix(3841), prefix(606282), prefix(637095), prefix(637374), prefix(637433), prefix(637568), prefix(637599), prefix(637609), prefix(637612),
    ],
    OtherRanges::None,
    &[13, 16, 19],
);
#[rustfmt::skip] // rows of numbers
pub(super) static ELO: Scheme = new_scheme(
    &[
        BinRange(401178, 401179), prefix(431274), prefix(438935), prefix(451416), prefix(457393), BinRange(457631, 457632), prefix(504175),
        BinRange(506699, 506778), BinRange(509000, 509999), prefix(627780), prefix(636297), prefix(636368), BinRange(650031, 650033),
        BinRange(650035, 650051), BinRange(650405, 650439), BinRange(650485, 650538), BinRange(650541, 650598),
        BinRange(650700, 650718), BinRange(650720, 650727), BinRange(650901, 650978), BinRange(651652, 651679),
        BinRange(655000, 655019), BinRange(655021, 655058),
    ],
    OtherRanges::Unknown,
    SIXTEEN,
);
pub(super) static BANCONTACT: Scheme = Scheme {
    code_optional: true,
    ..new_scheme(&[prefix(479658), prefix(606005), prefix(6703)], OtherRanges::Unknown, &[16, 17, 18, 19])
};
#[rustfmt::skip] // rows of numbers
pub(super) static MADA: Scheme = new_scheme(
    &[
        prefix(400861), prefix(401757), prefix(403024), prefix(406136), prefix(406996), prefix(407197), prefix(407395), prefix(409201), prefix(410621),
        prefix(410685), prefix(412565), prefix(417633), prefix(419593), prefix(420132), prefix(421141), BinRange(422817, 422819), prefix(428331),
        BinRange(428671, 428673), prefix(431361), prefix(432328), prefix(434107), prefix(439954), prefix(440533), prefix(440647), prefix(440795),
        prefix(445564), prefix(446393), prefix(446404), prefix(446672), prefix(455036), prefix(455708), prefix(457865), prefix(457997), prefix(458456),
        prefix(462220), BinRange(468540, 468543), prefix(474491), BinRange(483010, 483012), prefix(484783), BinRange(486094, 486096),
        BinRange(489317, 489319), prefix(493428), prefix(504300), prefix(506968), prefix(508160), prefix(513213), prefix(520058), prefix(521076),
        prefix(524130), prefix(524514), prefix(529415), prefix(529741), prefix(530060), prefix(530906), prefix(531095), prefix(531196), prefix(532013),
        prefix(535825), prefix(535989), prefix(536023), prefix(537767), prefix(539931), prefix(543085), prefix(543357), prefix(549760), prefix(554180),
        prefix(557606), prefix(558563), prefix(558848), prefix(585265), BinRange(588845, 588851), BinRange(588982, 588983), prefix(589005),
        prefix(589206), prefix(604906), prefix(605141), prefix(636120), BinRange(968201, 968211),
    ],
    OtherRanges::Unknown,
    SIXTEEN,
);
pub(super) static MEEZA: Scheme = new_scheme(&[prefix(5078)], OtherRanges::Unknown, SIXTEEN_TO_NINETEEN);
pub(super) static AIRPLUS: Scheme = new_scheme(&[prefix(122)], OtherRanges::Unknown, &[15, 16]);
pub(super) static ARGENCARD: Scheme = new_scheme(&[prefix(501105)], OtherRanges::Unknown, SIXTEEN);
pub(super) static CABAL: Scheme =
    new_scheme(&[prefix(589657), prefix(603522), BinRange(604201, 604400)], OtherRanges::Unknown, SIXTEEN);
#[rustfmt::skip] // rows of numbers
pub(super) static CARNET: Scheme = new_scheme(
    &[prefix(286900), prefix(502275), prefix(506199), prefix(506499), prefix(606333), prefix(636379), prefix(639388)],
    OtherRanges::Unknown,
    SIXTEEN,
);
pub(super) static CENCOSUD: Scheme = new_scheme(&[prefix(603493)], OtherRanges::Unknown, SIXTEEN);
pub(super) static NARANJA: Scheme =
    new_scheme(&[prefix(589562), prefix(402918), prefix(527572)], OtherRanges::Unknown, SIXTEEN);
pub(super) static NATIVA: Scheme =
    new_scheme(&[prefix(487017), prefix(520053), prefix(546553)], OtherRanges::Unknown, SIXTEEN);
pub(super) static TARJETA_SHOPPING: Scheme = new_scheme(&[prefix(603488)], OtherRanges::Unknown, SIXTEEN);

// Schemes without a brand code in the contract. Their numbers are card numbers too.
static MIR: Scheme = new_scheme(&[BinRange(2200, 2204)], OtherRanges::None, SIXTEEN_TO_NINETEEN);
static TROY: Scheme = new_scheme(&[prefix(9792)], OtherRanges::None, SIXTEEN);
static RUPAY: Scheme = new_scheme(&[prefix(60), BinRange(81, 82), prefix(508)], OtherRanges::None, SIXTEEN);
static NAPAS: Scheme = new_scheme(&[prefix(9704)], OtherRanges::None, &[16, 19]);
static VERVE: Scheme = new_scheme(&[BinRange(507865, 507964)], OtherRanges::None, &[16, 18, 19]);
static UZCARD_AND_HUMO: Scheme = new_scheme(&[prefix(8600), prefix(9860)], OtherRanges::None, SIXTEEN);

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

    /// Returns true if a number with these digits is too long for the scheme.
    pub(super) fn is_too_long(&self, digits: &str) -> bool {
        self.number_lengths.last().is_some_and(|longest| digits.len() > usize::from(*longest))
    }

    /// Returns a rank for the match of a number that is being typed. Matches of more leading digits of the scheme's own
    /// ranges rank higher, then possible matches, then matches of other ranges. 0 is no match, [`BEST_RANK`] the
    /// highest rank.
    pub(super) fn match_rank(&self, digits: &str) -> u8 {
        let own = match best_match(self.ranges, digits) {
            RangeMatch::Inside(places) => 3 + places,
            RangeMatch::Possible => 3,
            RangeMatch::Outside => 0,
        };
        if own > 0 {
            return own;
        }
        match self.other_ranges {
            OtherRanges::Listed(ranges) => match best_match(ranges, digits) {
                RangeMatch::Inside(_) => 2,
                RangeMatch::Possible => 1,
                RangeMatch::Outside => 0,
            },
            OtherRanges::None | OtherRanges::Unknown => 0,
        }
    }
}

/// Highest rank: eight leading digits of the scheme's own ranges match.
pub(super) const BEST_RANK: u8 = 11;
