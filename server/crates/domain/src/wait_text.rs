//! Text form of a wait, such as `30m`, `6h` or `3d`.

use jiff::SignedDuration;

/// Parses a wait such as `30m`, `6h` or `3d`. A day has 24 hours. `None` if the text is no wait.
pub(crate) fn parse_wait(text: &str) -> Option<SignedDuration> {
    let unit = text.chars().next_back()?;
    let number: i64 = text.strip_suffix(unit)?.parse().ok()?;
    let minutes = match unit {
        'm' => number,
        'h' => number.checked_mul(60)?,
        'd' => number.checked_mul(24 * 60)?,
        _ => return None,
    };
    Some(SignedDuration::from_secs(minutes.checked_mul(60)?))
}

/// Formats a wait of whole minutes in its largest unit.
pub(crate) fn format_wait(wait: SignedDuration) -> String {
    let minutes = wait.as_secs() / 60;
    match minutes {
        _ if minutes % (24 * 60) == 0 => format!("{}d", minutes / (24 * 60)),
        _ if minutes % 60 == 0 => format!("{}h", minutes / 60),
        _ => format!("{minutes}m"),
    }
}
