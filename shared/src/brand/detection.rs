//! Detection of a card's brand from the digits of its number, complete or still being typed.

use super::Brand;
use super::bin_range::{RangeMatch, best_match};
use super::scheme::{OtherRanges, Scheme};

/// Highest rank: eight leading digits of the scheme's own ranges match.
const BEST_RANK: u8 = 11;

/// Returns those of the given brands that a card number can belong to, complete or still being typed. The most specific
/// come first, and those that match equally well keep their order. Brands without a known scheme, and too long or empty
/// numbers, match nothing.
pub fn detect(digits: &str, among: &[&'static Brand]) -> impl Iterator<Item = &'static Brand> {
    (1..=BEST_RANK).rev().flat_map(move |rank| {
        among.iter().copied().filter(move |brand| {
            brand.scheme.is_some_and(|scheme| !scheme.is_too_long(digits) && scheme.match_rank(digits) == rank)
        })
    })
}

impl Scheme {
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
