//! Medians, and numbers formatted for people.

/// Returns the middle value. For an even count this is the mean of the two in the middle, for none it is NaN.
pub fn median(values: impl IntoIterator<Item = f64>) -> f64 {
    let mut values: Vec<f64> = values.into_iter().collect();
    values.sort_by(f64::total_cmp);
    let middle = values.len() / 2;
    match values.len() {
        0 => f64::NAN,
        odd if odd % 2 == 1 => values[middle],
        _ => f64::midpoint(values[middle - 1], values[middle]),
    }
}

/// Formats a number, rounded, with separated thousands: `12 345`. Negative numbers become 0.
#[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
pub fn format_thousands(value: f64) -> String {
    let digits = (value.max(0.0).round() as u64).to_string();
    let mut text = String::new();
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            text.push(' ');
        }
        text.push(digit);
    }
    text
}

/// Converts bytes to megabytes.
#[allow(clippy::cast_precision_loss)]
pub fn to_megabytes(bytes: u64) -> f64 {
    bytes as f64 / 1e6
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn medians_of_odd_and_even_counts() {
        assert!((median([3.0, 1.0, 2.0]) - 2.0).abs() < 1e-9);
        assert!((median([4.0, 1.0, 2.0, 3.0]) - 2.5).abs() < 1e-9);
        assert!(median([]).is_nan());
    }

    #[test]
    fn thousands_stand_apart() {
        assert_eq!([7.0, 999.6, 12_345.0, 1_000_000.0].map(format_thousands), ["7", "1 000", "12 345", "1 000 000"]);
    }
}
