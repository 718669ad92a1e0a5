//! Ranges of card numbers, defined by their leading digits.

/// Numbers whose leading digits lie between these two, which have the same number of digits (one to eight) and do not
/// begin with zero. `BinRange(51, 55)` is every number that starts with 51, 52, 53, 54 or 55.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BinRange(pub u32, pub u32);

/// The result of comparing digits with a range.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum RangeMatch {
    /// Outside of the range.
    Outside,
    /// Too few digits to decide; more of them can lead into the range.
    Possible,
    /// Inside of the range, decided by this many leading digits.
    Inside(u8),
}

impl BinRange {
    /// Compares the beginning of a number with this range. Empty input, or a character that is no ASCII digit among the
    /// first ones, is outside of every range.
    pub fn match_digits(self, digits: &str) -> RangeMatch {
        let mut places = 0;
        let mut rest = self.0;
        while rest > 0 {
            places += 1;
            rest /= 10;
        }
        let mut typed = 0_u32;
        let mut typed_places = 0;
        for byte in digits.bytes().take(places) {
            if !byte.is_ascii_digit() {
                return RangeMatch::Outside;
            }
            typed = typed * 10 + u32::from(byte - b'0');
            typed_places += 1;
        }
        if typed_places == 0 {
            return RangeMatch::Outside;
        }
        let (mut from, mut to) = (self.0, self.1);
        for _ in typed_places..places {
            from /= 10;
            to /= 10;
        }
        if typed < from || typed > to {
            RangeMatch::Outside
        } else if typed_places < places {
            RangeMatch::Possible
        } else {
            RangeMatch::Inside(places as u8)
        }
    }
}

/// Returns the best match among several ranges, by the number of decisive digits. `Outside` for no ranges.
pub fn best_match(ranges: &[BinRange], digits: &str) -> RangeMatch {
    let mut best = RangeMatch::Outside;
    for range in ranges {
        let found = range.match_digits(digits);
        if found > best {
            best = found;
        }
    }
    best
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_range_is_entered_digit_by_digit() {
        let range = BinRange(2221, 2720);
        for (digits, found) in [
            ("", RangeMatch::Outside),
            ("2", RangeMatch::Possible),
            ("22", RangeMatch::Possible),
            ("21", RangeMatch::Outside),
            ("28", RangeMatch::Outside),
            ("272", RangeMatch::Possible),
            ("2720", RangeMatch::Inside(4)),
            ("2221000000000009", RangeMatch::Inside(4)),
            ("2220999999999999", RangeMatch::Outside),
            ("2721", RangeMatch::Outside),
            ("2a", RangeMatch::Outside),
        ] {
            assert_eq!(range.match_digits(digits), found, "{digits}");
        }
    }
}
