//! A colour in hexadecimal digits, and the contrast of two of them.

use std::fmt;

/// An opaque colour in sRGB.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Colour([u8; 3]);

impl Colour {
    /// Black.
    pub const BLACK: Self = Self([0; 3]);
    /// White.
    pub const WHITE: Self = Self([255; 3]);

    /// Parses `#rgb` or `#rrggbb`, in any case.
    ///
    /// # Errors
    /// A message about the value.
    pub fn parse(text: &str) -> Result<Self, String> {
        let digits: Option<Vec<u8>> = text.strip_prefix('#').and_then(|digits| {
            digits.chars().map(|digit| digit.to_digit(16).and_then(|value| u8::try_from(value).ok())).collect()
        });
        match digits.as_deref() {
            Some(&[r, g, b]) => Ok(Self([r * 17, g * 17, b * 17])),
            Some(&[r, r2, g, g2, b, b2]) => Ok(Self([r * 16 + r2, g * 16 + g2, b * 16 + b2])),
            _ => Err(format!("“{text}” is not a colour: write #rgb or #rrggbb, such as #6d3a97, or the word none")),
        }
    }

    /// Returns the relative luminance, from 0 for black to 1 for white (WCAG 2.2, definition of relative luminance).
    fn luminance(self) -> f64 {
        let linear = self.0.map(|channel| {
            let value = f64::from(channel) / 255.0;
            if value <= 0.04045 { value / 12.92 } else { ((value + 0.055) / 1.055).powf(2.4) }
        });
        0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]
    }

    /// Returns the contrast of two colours, from 1 to 21 (WCAG 2.2, definition of contrast ratio).
    pub fn contrast(self, other: Self) -> f64 {
        let (one, two) = (self.luminance() + 0.05, other.luminance() + 0.05);
        if one > two { one / two } else { two / one }
    }
}

impl fmt::Display for Colour {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [r, g, b] = self.0;
        write!(f, "#{r:02x}{g:02x}{b:02x}")
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn the_contrast_is_that_of_published_tables() {
        for (one, two, expected) in [
            ("#000", "#fff", 21.0),
            ("#fff", "#FFFFFF", 1.0),
            ("#777777", "#fff", 4.48),
            ("#767676", "#fff", 4.54),
            ("#f00", "#fff", 4.0),
            ("#00f", "#fff", 8.59),
            ("#0f0", "#000", 15.3),
        ] {
            let [first, second] = [one, two].map(|text| Colour::parse(text).unwrap());
            assert!((first.contrast(second) - expected).abs() < 0.006, "{one} {two} {}", first.contrast(second));
            assert!((first.contrast(second) - second.contrast(first)).abs() < 1e-9);
        }
    }

    #[test]
    fn only_three_or_six_digits_are_a_colour() {
        assert_eq!(Colour::parse("#aBc").unwrap().to_string(), "#aabbcc");
        for text in ["", "#", "abc", "#ab", "#abcd", "#abcdef0", "#ggg", "#１２３", "# abc", "#abc ", "##abc"] {
            assert!(Colour::parse(text).is_err(), "{text}");
        }
    }
}
