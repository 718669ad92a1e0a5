//! A length in pixels or in units of the page's font size.

use std::fmt;

/// Number of pixels of a `rem` by which limits are judged. It is the default of every browser.
const PIXELS_PER_REM: u32 = 16;
/// Number of parts of a unit, as values have up to three decimals.
const PARTS: u32 = 1000;

/// Unit of a length.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum LengthUnit {
    Pixel,
    Rem,
}

/// A length in `px` or `rem`, with up to three decimals.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Length {
    /// The number in thousandths.
    parts: u32,
    unit: LengthUnit,
}

impl Length {
    /// Parses a length such as `0`, `44px` or `2.75rem`, between two limits in pixels. A `rem` counts as 16 pixels.
    ///
    /// # Errors
    /// A message about the value, with the limits.
    pub fn parse(text: &str, limits: (u32, u32)) -> Result<Self, String> {
        let (least, most) = limits;
        let refuse = || {
            let in_rem = |pixels: u32| Self { parts: pixels * PARTS / PIXELS_PER_REM, unit: LengthUnit::Rem };
            let (from, to) = (in_rem(least), in_rem(most));
            format!(
                "“{text}” is not a length from {least}px to {most}px ({from} to {to}), such as {most}px, or the word none"
            )
        };
        let length = Self::read(text).ok_or_else(refuse)?;
        let factor = if length.unit == LengthUnit::Rem { PIXELS_PER_REM } else { 1 };
        let pixels = length.parts * factor;
        if (least * PARTS..=most * PARTS).contains(&pixels) { Ok(length) } else { Err(refuse()) }
    }

    /// Reads a number of up to three digits and three decimals with its unit, which a zero does not need.
    fn read(text: &str) -> Option<Self> {
        let number = |digits: &str| digits.bytes().all(|byte| byte.is_ascii_digit()).then(|| digits.parse().ok())?;
        let end = text.find(|letter: char| letter != '.' && !letter.is_ascii_digit()).unwrap_or(text.len());
        let (value, unit) = text.split_at(end);
        let (whole, decimals) = value.split_once('.').unwrap_or((value, "0"));
        if ![whole, decimals].iter().all(|digits| (1..=3).contains(&digits.len())) {
            return None;
        }
        let whole: u32 = number(whole)?;
        let decimals: u32 = number(&format!("{decimals:0<3}"))?;
        let parts = whole * PARTS + decimals;
        let unit = match unit {
            "px" => LengthUnit::Pixel,
            "rem" => LengthUnit::Rem,
            "" if parts == 0 => LengthUnit::Pixel,
            _ => return None,
        };
        Some(Self { parts, unit })
    }
}

impl fmt::Display for Length {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let unit = match self.unit {
            LengthUnit::Pixel => "px",
            LengthUnit::Rem => "rem",
        };
        let (whole, decimals) = (self.parts / PARTS, format!("{:03}", self.parts % PARTS));
        match decimals.trim_end_matches('0') {
            "" => write!(f, "{whole}{unit}"),
            decimals => write!(f, "{whole}.{decimals}{unit}"),
        }
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn a_length_is_written_in_its_shortest_form() {
        for (text, expected) in
            [("0", "0px"), ("0rem", "0rem"), ("12px", "12px"), ("0.625rem", "0.625rem"), ("2.50rem", "2.5rem")]
        {
            assert_eq!(Length::parse(text, (0, 48)).unwrap().to_string(), expected, "{text}");
        }
        for text in
            ["", "12", "px", ".5rem", "1.rem", "1.2345rem", "1000px", "1e1px", "+1px", "1 px", "1PX", "1.2.3px", "١px"]
        {
            assert!(Length::parse(text, (0, 960)).is_err(), "{text}");
        }
    }

    #[test]
    fn the_message_names_the_limits() {
        let message = Length::parse("10px", (44, 96)).unwrap_err();
        assert!(message.contains("44px to 96px (2.75rem to 6rem)"), "{message}");
    }
}
