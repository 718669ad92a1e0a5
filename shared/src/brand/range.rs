//! Ranges of card numbers, told by their leading digits.

/// Numbers whose leading digits lie between these two, which have the same number of digits (one to eight) and do
/// not begin with zero. `Range(51, 55)` is every number that starts with 51, 52, 53, 54 or 55.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Range(pub u32, pub u32);

/// How far a row of digits lies within a range.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Match {
    /// It is outside.
    Outside,
    /// There are too few digits to be sure; more of them can lead into the range.
    Possible,
    /// It is inside, and this many leading digits say so.
    Inside(u8),
}

impl Range {
    /// Compares the beginning of a number, typed so far, with this range. Nothing typed is outside of every range.
    pub fn matches(self, digits: &str) -> Match {
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
                return Match::Outside;
            }
            typed = typed * 10 + u32::from(byte - b'0');
            typed_places += 1;
        }
        if typed_places == 0 {
            return Match::Outside;
        }
        let (mut from, mut to) = (self.0, self.1);
        for _ in typed_places..places {
            from /= 10;
            to /= 10;
        }
        if typed < from || typed > to {
            Match::Outside
        } else if typed_places < places {
            Match::Possible
        } else {
            Match::Inside(places as u8)
        }
    }
}

/// The best match among several ranges.
pub fn best(ranges: &[Range], digits: &str) -> Match {
    let mut best = Match::Outside;
    for range in ranges {
        let found = range.matches(digits);
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
        let range = Range(2221, 2720);
        for (digits, found) in [
            ("", Match::Outside),
            ("2", Match::Possible),
            ("22", Match::Possible),
            ("21", Match::Outside),
            ("28", Match::Outside),
            ("272", Match::Possible),
            ("2720", Match::Inside(4)),
            ("2221000000000009", Match::Inside(4)),
            ("2220999999999999", Match::Outside),
            ("2721", Match::Outside),
            ("2a", Match::Outside),
        ] {
            assert_eq!(range.matches(digits), found, "{digits}");
        }
    }
}
