//! Card schemes: which numbers they issue, how long those are, and how long the security code is.
//!
//! The ranges are facts of ISO/IEC 7812 as the schemes publish them. Where a list grows or overlaps with others, it
//! serves detection only, and other numbers are taken as well ([`Elsewhere::Anywhere`]).

use super::range::{Match, Range, best};

/// How a card scheme's numbers look.
#[derive(Debug, PartialEq, Eq)]
pub struct Scheme {
    /// The scheme's own ranges.
    pub ranges: &'static [Range],
    /// Where else its cards are issued.
    pub elsewhere: Elsewhere,
    /// How many digits its numbers can have, ascending.
    pub number_lengths: &'static [u8],
    /// How many digits its security codes can have.
    pub code_lengths: &'static [u8],
    /// Whether cards without a code are about.
    pub code_optional: bool,
    /// The side of the card that bears the code.
    pub code_position: CodePosition,
    /// The commerce indicators of its 3-D Secure programme.
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

/// Where a scheme's cards are issued beside its own ranges.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Elsewhere {
    /// Nowhere: a number outside of its own ranges is another scheme's.
    Nowhere,
    /// As a guest on these ranges of other schemes.
    In(&'static [Range]),
    /// Nobody knows for certain; no number is refused.
    Anywhere,
}

/// One scheme, in the order: ranges, elsewhere, lengths of numbers.
const fn scheme(ranges: &'static [Range], elsewhere: Elsewhere, number_lengths: &'static [u8]) -> Scheme {
    Scheme {
        ranges,
        elsewhere,
        number_lengths,
        code_lengths: &[3],
        code_optional: false,
        code_position: CodePosition::Back,
        eci_family: EciFamily::Visa,
    }
}

/// A single leading number.
const fn at(prefix: u32) -> Range {
    Range(prefix, prefix)
}

const ON_VISA: &[Range] = &[at(4)];
const ON_MASTER: &[Range] = &[Range(51, 55), Range(2221, 2720)];
const SIXTEEN: &[u8] = &[16];
const SIXTEEN_TO_NINETEEN: &[u8] = &[16, 17, 18, 19];
pub(super) const ANY_LENGTH: &[u8] = &[12, 13, 14, 15, 16, 17, 18, 19];
const VISA_LENGTHS: &[u8] = &[13, 16, 19];

pub(super) static VISA: Scheme = scheme(ON_VISA, Elsewhere::Nowhere, VISA_LENGTHS);
pub(super) static VISA_GUEST: Scheme = scheme(&[], Elsewhere::In(ON_VISA), VISA_LENGTHS);
pub(super) static VISA_ELECTRON: Scheme =
    scheme(&[at(4026), at(417500), at(4405), at(4508), at(4844), at(4913), at(4917)], Elsewhere::In(ON_VISA), SIXTEEN);
pub(super) static MASTER: Scheme =
    Scheme { eci_family: EciFamily::Mastercard, ..scheme(ON_MASTER, Elsewhere::Nowhere, SIXTEEN) };
pub(super) static MASTER_GUEST: Scheme =
    Scheme { eci_family: EciFamily::Mastercard, ..scheme(&[], Elsewhere::In(ON_MASTER), SIXTEEN) };
pub(super) static AMEX: Scheme = Scheme {
    code_lengths: &[4],
    code_position: CodePosition::Front,
    ..scheme(&[at(34), at(37)], Elsewhere::Nowhere, &[15])
};
pub(super) static DINERS: Scheme =
    scheme(&[Range(300, 305), at(3095), at(36), Range(38, 39)], Elsewhere::Nowhere, &[14, 15, 16, 17, 18, 19]);
/// UnionPay's range is co-badged: detection says UnionPay, and the shopper may choose Discover.
pub(super) static DISCOVER: Scheme =
    scheme(&[at(6011), Range(644, 649), at(65)], Elsewhere::In(&[Range(622126, 622925)]), SIXTEEN_TO_NINETEEN);
pub(super) static JCB: Scheme = scheme(&[Range(3528, 3589)], Elsewhere::Nowhere, SIXTEEN_TO_NINETEEN);
pub(super) static MAESTRO: Scheme = Scheme {
    code_optional: true,
    eci_family: EciFamily::Mastercard,
    ..scheme(&[at(50), Range(56, 58), at(6)], Elsewhere::Nowhere, ANY_LENGTH)
};
pub(super) static UNIONPAY: Scheme =
    Scheme { code_optional: true, ..scheme(&[at(62), Range(810, 817)], Elsewhere::Nowhere, SIXTEEN_TO_NINETEEN) };
pub(super) static DANKORT: Scheme = scheme(&[at(5019), at(4571)], Elsewhere::Nowhere, SIXTEEN);
pub(super) static CARTE_BANCAIRE: Scheme =
    scheme(&[], Elsewhere::In(&[at(4), Range(50, 58), Range(2221, 2720), at(6)]), SIXTEEN_TO_NINETEEN);
#[rustfmt::skip] // rows of numbers
pub(super) static HIPERCARD: Scheme = scheme(
    &[
        at(3841), at(606282), at(637095), at(637374), at(637433), at(637568), at(637599), at(637609), at(637612),
    ],
    Elsewhere::Nowhere,
    &[13, 16, 19],
);
#[rustfmt::skip] // rows of numbers
pub(super) static ELO: Scheme = scheme(
    &[
        Range(401178, 401179), at(431274), at(438935), at(451416), at(457393), Range(457631, 457632), at(504175),
        Range(506699, 506778), Range(509000, 509999), at(627780), at(636297), at(636368), Range(650031, 650033),
        Range(650035, 650051), Range(650405, 650439), Range(650485, 650538), Range(650541, 650598),
        Range(650700, 650718), Range(650720, 650727), Range(650901, 650978), Range(651652, 651679),
        Range(655000, 655019), Range(655021, 655058),
    ],
    Elsewhere::Anywhere,
    SIXTEEN,
);
pub(super) static BANCONTACT: Scheme = Scheme {
    code_optional: true,
    ..scheme(&[at(479658), at(606005), at(6703)], Elsewhere::Anywhere, &[16, 17, 18, 19])
};
#[rustfmt::skip] // rows of numbers
pub(super) static MADA: Scheme = scheme(
    &[
        at(400861), at(401757), at(403024), at(406136), at(406996), at(407197), at(407395), at(409201), at(410621),
        at(410685), at(412565), at(417633), at(419593), at(420132), at(421141), Range(422817, 422819), at(428331),
        Range(428671, 428673), at(431361), at(432328), at(434107), at(439954), at(440533), at(440647), at(440795),
        at(445564), at(446393), at(446404), at(446672), at(455036), at(455708), at(457865), at(457997), at(458456),
        at(462220), Range(468540, 468543), at(474491), Range(483010, 483012), at(484783), Range(486094, 486096),
        Range(489317, 489319), at(493428), at(504300), at(506968), at(508160), at(513213), at(520058), at(521076),
        at(524130), at(524514), at(529415), at(529741), at(530060), at(530906), at(531095), at(531196), at(532013),
        at(535825), at(535989), at(536023), at(537767), at(539931), at(543085), at(543357), at(549760), at(554180),
        at(557606), at(558563), at(558848), at(585265), Range(588845, 588851), Range(588982, 588983), at(589005),
        at(589206), at(604906), at(605141), at(636120), Range(968201, 968211),
    ],
    Elsewhere::Anywhere,
    SIXTEEN,
);
pub(super) static MEEZA: Scheme = scheme(&[at(5078)], Elsewhere::Anywhere, SIXTEEN_TO_NINETEEN);
pub(super) static AIRPLUS: Scheme = scheme(&[at(122)], Elsewhere::Anywhere, &[15, 16]);
pub(super) static ARGENCARD: Scheme = scheme(&[at(501105)], Elsewhere::Anywhere, SIXTEEN);
pub(super) static CABAL: Scheme =
    scheme(&[at(589657), at(603522), Range(604201, 604400)], Elsewhere::Anywhere, SIXTEEN);
#[rustfmt::skip] // rows of numbers
pub(super) static CARNET: Scheme = scheme(
    &[at(286900), at(502275), at(506199), at(506499), at(606333), at(636379), at(639388)],
    Elsewhere::Anywhere,
    SIXTEEN,
);
pub(super) static CENCOSUD: Scheme = scheme(&[at(603493)], Elsewhere::Anywhere, SIXTEEN);
pub(super) static NARANJA: Scheme = scheme(&[at(589562), at(402918), at(527572)], Elsewhere::Anywhere, SIXTEEN);
pub(super) static NATIVA: Scheme = scheme(&[at(487017), at(520053), at(546553)], Elsewhere::Anywhere, SIXTEEN);
pub(super) static TARJETA_SHOPPING: Scheme = scheme(&[at(603488)], Elsewhere::Anywhere, SIXTEEN);

// Schemes without a brand code of the contract: their numbers are card numbers all the same.
static MIR: Scheme = scheme(&[Range(2200, 2204)], Elsewhere::Nowhere, SIXTEEN_TO_NINETEEN);
static TROY: Scheme = scheme(&[at(9792)], Elsewhere::Nowhere, SIXTEEN);
static RUPAY: Scheme = scheme(&[at(60), Range(81, 82), at(508)], Elsewhere::Nowhere, SIXTEEN);
static NAPAS: Scheme = scheme(&[at(9704)], Elsewhere::Nowhere, &[16, 19]);
static VERVE: Scheme = scheme(&[Range(507865, 507964)], Elsewhere::Nowhere, &[16, 18, 19]);
static UZCARD_AND_HUMO: Scheme = scheme(&[at(8600), at(9860)], Elsewhere::Nowhere, SIXTEEN);

/// Every scheme that issues numbers of its own; the widest come first, so that most numbers are found at once.
#[rustfmt::skip] // a list of names
static ISSUERS: &[&Scheme] = &[
    &VISA, &MASTER, &AMEX, &MAESTRO, &DINERS, &JCB, &DISCOVER, &UNIONPAY, &MIR, &TROY, &RUPAY, &NAPAS,
    &UZCARD_AND_HUMO, &VERVE, &HIPERCARD, &MADA, &CARNET, &AIRPLUS,
];

impl Scheme {
    /// Whether some known scheme issues numbers of this range and length. The check digit is not looked at.
    pub fn issues(digits: &str) -> bool {
        ISSUERS.iter().any(|scheme| {
            scheme.number_lengths.iter().any(|length| usize::from(*length) == digits.len())
                && matches!(best(scheme.ranges, digits), Match::Inside(_))
        })
    }

    /// Whether more digits than these make a number too long for the scheme.
    pub(super) fn is_too_long(&self, digits: &str) -> bool {
        self.number_lengths.last().is_some_and(|longest| digits.len() > usize::from(*longest))
    }

    /// How well a number fits, typed so far: the more leading digits of the scheme's own ranges it matches the
    /// better, then what may still become so, then the ranges of others. 0 is not at all, [`BEST`] the most.
    pub(super) fn rank(&self, digits: &str) -> u8 {
        let own = match best(self.ranges, digits) {
            Match::Inside(places) => 3 + places,
            Match::Possible => 3,
            Match::Outside => 0,
        };
        if own > 0 {
            return own;
        }
        match self.elsewhere {
            Elsewhere::In(ranges) => match best(ranges, digits) {
                Match::Inside(_) => 2,
                Match::Possible => 1,
                Match::Outside => 0,
            },
            Elsewhere::Nowhere | Elsewhere::Anywhere => 0,
        }
    }
}

/// The highest rank: eight leading digits of the scheme's own ranges match.
pub(super) const BEST: u8 = 11;
