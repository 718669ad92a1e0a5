//! First digits of the card numbers of each scheme. Brands are detected by them.
//!
//! The ranges are facts of ISO/IEC 7812 as published by the schemes.

use super::bin_range::BinRange;

/// Returns the range of a single prefix.
const fn prefix(prefix: u32) -> BinRange {
    BinRange(prefix, prefix)
}

pub(super) const VISA: &[BinRange] = &[prefix(4)];
pub(super) const MASTER: &[BinRange] = &[BinRange(51, 55), BinRange(2221, 2720)];
pub(super) const VISA_ELECTRON: &[BinRange] =
    &[prefix(4026), prefix(417500), prefix(4405), prefix(4508), prefix(4844), prefix(4913), prefix(4917)];
pub(super) const AMEX: &[BinRange] = &[prefix(34), prefix(37)];
pub(super) const DINERS: &[BinRange] = &[BinRange(300, 305), prefix(3095), prefix(36), BinRange(38, 39)];
pub(super) const DISCOVER: &[BinRange] = &[prefix(6011), BinRange(644, 649), prefix(65)];
/// UnionPay's range is co-badged: detection returns UnionPay, and the shopper may choose Discover.
pub(super) const DISCOVER_GUEST: &[BinRange] = &[BinRange(622126, 622925)];
pub(super) const JCB: &[BinRange] = &[BinRange(3528, 3589)];
pub(super) const MAESTRO: &[BinRange] = &[prefix(50), BinRange(56, 58), prefix(6)];
pub(super) const UNIONPAY: &[BinRange] = &[prefix(62), BinRange(810, 817)];
pub(super) const DANKORT: &[BinRange] = &[prefix(5019), prefix(4571)];
pub(super) const CARTE_BANCAIRE: &[BinRange] = &[prefix(4), BinRange(50, 58), BinRange(2221, 2720), prefix(6)];
#[rustfmt::skip] // rows of numbers
pub(super) const HIPERCARD: &[BinRange] = &[
    prefix(3841), prefix(606282), prefix(637095), prefix(637374), prefix(637433), prefix(637568), prefix(637599), prefix(637609), prefix(637612),
];
#[rustfmt::skip] // rows of numbers
pub(super) const ELO: &[BinRange] = &[
    BinRange(401178, 401179), prefix(431274), prefix(438935), prefix(451416), prefix(457393), BinRange(457631, 457632), prefix(504175),
    BinRange(506699, 506778), BinRange(509000, 509999), prefix(627780), prefix(636297), prefix(636368), BinRange(650031, 650033),
    BinRange(650035, 650051), BinRange(650405, 650439), BinRange(650485, 650538), BinRange(650541, 650598),
    BinRange(650700, 650718), BinRange(650720, 650727), BinRange(650901, 650978), BinRange(651652, 651679),
    BinRange(655000, 655019), BinRange(655021, 655058),
];
pub(super) const BANCONTACT: &[BinRange] = &[prefix(479658), prefix(606005), prefix(6703)];
#[rustfmt::skip] // rows of numbers
pub(super) const MADA: &[BinRange] = &[
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
];
pub(super) const MEEZA: &[BinRange] = &[prefix(5078)];
pub(super) const AIRPLUS: &[BinRange] = &[prefix(122)];
pub(super) const ARGENCARD: &[BinRange] = &[prefix(501105)];
pub(super) const CABAL: &[BinRange] = &[prefix(589657), prefix(603522), BinRange(604201, 604400)];
pub(super) const CARNET: &[BinRange] =
    &[prefix(286900), prefix(502275), prefix(506199), prefix(506499), prefix(606333), prefix(636379), prefix(639388)];
pub(super) const CENCOSUD: &[BinRange] = &[prefix(603493)];
pub(super) const NARANJA: &[BinRange] = &[prefix(589562), prefix(402918), prefix(527572)];
pub(super) const NATIVA: &[BinRange] = &[prefix(487017), prefix(520053), prefix(546553)];
pub(super) const TARJETA_SHOPPING: &[BinRange] = &[prefix(603488)];

// Schemes without a brand code in the contract. Their numbers are card numbers too.
pub(super) const MIR: &[BinRange] = &[BinRange(2200, 2204)];
pub(super) const TROY: &[BinRange] = &[prefix(9792)];
pub(super) const RUPAY: &[BinRange] = &[prefix(60), BinRange(81, 82), prefix(508)];
pub(super) const NAPAS: &[BinRange] = &[prefix(9704)];
pub(super) const VERVE: &[BinRange] = &[BinRange(507865, 507964)];
pub(super) const UZCARD_AND_HUMO: &[BinRange] = &[prefix(8600), prefix(9860)];
