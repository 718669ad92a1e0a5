//! Checks for the scripts of the frames. Nothing here allocates, so that the module needs no allocator and stays a few
//! kilobytes.

use tillgate_shared::brand::{self, Brand};
use tillgate_shared::format::expiry::{self, Expiry};
use tillgate_shared::format::{card_number, security_code};

/// More brands than these are not detected.
const MOST: usize = 32;

/// A question of a frame: the digits, the chosen brand and the offered ones.
pub struct Question<'a> {
    digits: &'a str,
    chosen: Option<&'static Brand>,
    offered: &'a str,
}

impl<'a> Question<'a> {
    /// Reads `digits chosen offered offered …`, with one space between each. A chosen brand that nobody
    /// knows leaves open which one it is.
    pub fn read(text: &'a str) -> Self {
        let (digits, rest) = first_word(text);
        let (chosen, offered) = first_word(rest);
        Self { digits, chosen: Brand::find_card(chosen), offered }
    }

    /// Returns true if the digits are a whole card number with the right check digit.
    pub fn is_number(&self) -> bool {
        card_number::check(self.digits).is_ok() && card_number::is_luhn_valid(self.digits)
    }

    /// Returns true if the digits are a card number that the chosen brand can have.
    pub fn is_number_of_brand(&self) -> bool {
        self.is_number()
            && self
                .chosen
                .is_none_or(|brand| brand.allows_number(self.digits) && self.has_length_in(brand.number_lengths()))
    }

    /// Returns true if the digits are a security code of the chosen brand.
    pub fn is_code(&self) -> bool {
        security_code::check(self.digits).is_ok()
            && self.chosen.is_none_or(|brand| self.has_length_in(brand.code_lengths()))
    }

    /// Returns true if cards of the chosen brand may come without a code.
    pub fn is_code_optional(&self) -> bool {
        self.chosen.is_some_and(Brand::is_code_optional)
    }

    fn has_length_in(&self, lengths: &[u8]) -> bool {
        lengths.iter().any(|length| usize::from(*length) == self.digits.len())
    }

    /// The place, among the offered brands, of the one that fits the number best (rank 0), second best
    /// (rank 1) and so on; `None` after the last that fits.
    pub fn fitting(&self, rank: usize) -> Option<usize> {
        let mut known = [Brand::cards().first()?; MOST];
        let mut places = [0; MOST];
        let mut count = 0;
        let mut place = 0;
        let mut rest = self.offered;
        while !rest.is_empty() && count < MOST {
            let (code, others) = first_word(rest);
            if let Some(brand) = Brand::find_card(code) {
                known[count] = brand;
                places[count] = place;
                count += 1;
            }
            rest = others;
            place += 1;
        }
        let known = known.get(..count)?;
        let fitting = brand::detect(self.digits, known).nth(rank)?;
        let at = known.iter().position(|brand| core::ptr::eq(*brand, fitting))?;
        places.get(at).copied()
    }

    /// Returns the number of digits in the group of this place when the number is shown; 0 after the last.
    pub fn group(&self, place: usize) -> u8 {
        brand::digit_groups(self.digits).get(place).copied().unwrap_or_default()
    }
}

/// An expiry date as it was typed, which need not be a date.
pub struct TypedDate<'a>(pub &'a str);

impl TypedDate<'_> {
    /// Returns year and month as one number, such as 202912; 0 if the text is not a date.
    pub fn number(&self, this_year: u16) -> u32 {
        let number = |date: Expiry| u32::from(date.year) * 100 + u32::from(date.month);
        Expiry::parse_text(self.0, this_year).map_or(0, number)
    }

    /// Returns true if the text is a date of a card that has expired in this half day since 1970.
    pub fn is_past(&self, half_day: i32) -> bool {
        let now = expiry::last_month_of_half_day(half_day);
        Expiry::parse_text(self.0, now.0).is_some_and(|date| date.is_past(now))
    }

    /// Returns the byte in this place of the text as it is shown while it is typed; 0 after the last.
    pub fn formatted_byte(&self, place: usize) -> u8 {
        expiry::format_typed(self.0).as_str().as_bytes().get(place).copied().unwrap_or_default()
    }
}

/// Splits a text at the first space.
fn first_word(text: &str) -> (&str, &str) {
    let space = text.bytes().position(|byte| byte == b' ').unwrap_or(text.len());
    (text.get(..space).unwrap_or_default(), text.get(space + 1..).unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ask(text: &str) -> Question<'_> {
        Question::read(text)
    }

    #[test]
    fn a_number_is_judged_for_the_chosen_brand() {
        assert!(ask("4200000000000000 VISA").is_number_of_brand());
        assert!(ask("377777777777770 AMEX").is_number_of_brand());
        assert!(!ask("4200000000000001 VISA").is_number());
        let other = ask("5454545454545454 VISA");
        assert!(other.is_number() && !other.is_number_of_brand());
        assert!(ask("5454545454545454  ").is_number_of_brand(), "no brand is chosen");
        assert!(!ask("").is_number());
    }

    #[test]
    fn fitting_brands_are_told_by_their_place() {
        let asked = ask("54 VISA NOBODY VISA MASTER");
        assert_eq!((asked.fitting(0), asked.fitting(1)), (Some(2), None));
        assert_eq!(ask(" VISA VISA MASTER").fitting(0), None);
    }

    #[test]
    fn a_code_has_the_length_of_its_brand() {
        assert!(ask("123 VISA").is_code() && ask("1234 AMEX").is_code());
        assert!(ask(" MAESTRO").is_code_optional() && !ask(" VISA").is_code_optional());
        assert!(!ask("1234 VISA").is_code() && !ask("123 AMEX").is_code() && !ask("12a VISA").is_code());
    }

    #[test]
    fn dates_are_numbers_and_bytes() {
        let date = TypedDate("11/26");
        assert_eq!((date.number(2026), TypedDate("11/2").number(2026)), (202_611, 0));
        // Noon of the first of December 2026 in UTC, when November has ended everywhere.
        let end = 41_577;
        assert!(date.is_past(end) && !date.is_past(end - 1) && !TypedDate("13/20").is_past(end));
        assert_eq!([0, 1, 2, 3, 4, 5, 6, 7].map(|place| date.formatted_byte(place)), *b"11 / 26\0");
    }

    #[test]
    fn groups_follow_the_scheme() {
        let asked = ask("37");
        assert_eq!([0, 1, 2, 3].map(|place| asked.group(place)), [4, 6, 5, 0]);
        assert_eq!(ask("4200").group(4), 3);
    }
}
