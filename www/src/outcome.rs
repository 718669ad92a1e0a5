//! Outcomes of an order by result code. The patterns are the published groups of result codes: a merchant decides by
//! group, never by single codes, because new ones are added.

/// Outcome that the shop shows to the shopper.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OrderOutcome {
    /// Paid.
    Paid,
    /// Not decided yet.
    Pending,
    /// Not paid; the shopper may try again.
    Declined,
}

/// Returns the outcome for the group of `code`. An approval that needs a manual review counts as paid, a code of an
/// unknown group as declined.
pub fn classify_code(code: &str) -> OrderOutcome {
    let starts = |prefixes: &[&str]| prefixes.iter().any(|prefix| code.starts_with(prefix));
    let paid = starts(&["000.000.", "000.100.1", "000.3", "000.6", "000.400.110", "000.400.120"]);
    // Approved, but the merchant should check the order before the delivery.
    let review =
        code == "000.400.100" || (starts(&["000.400.0"]) && !starts(&["000.400.03"]) && code.len() > "000.400.0".len());
    if paid || review {
        OrderOutcome::Paid
    } else if starts(&["000.200", "800.400.5", "100.400.500"]) {
        OrderOutcome::Pending
    } else {
        OrderOutcome::Declined
    }
}

#[cfg(test)]
mod tests {
    use super::{OrderOutcome, classify_code};

    #[test]
    fn codes_fall_into_their_groups() {
        for code in
            ["000.000.000", "000.100.110", "000.100.112", "000.600.000", "000.400.110", "000.400.100", "000.400.020"]
        {
            assert_eq!(classify_code(code), OrderOutcome::Paid, "{code}");
        }
        for code in ["000.200.000", "000.200.100", "800.400.500", "100.400.500"] {
            assert_eq!(classify_code(code), OrderOutcome::Pending, "{code}");
        }
        for code in
            ["800.100.151", "100.100.101", "000.400.030", "000.400.101", "100.396.101", "100.400.100", "000.400.0", ""]
        {
            assert_eq!(classify_code(code), OrderOutcome::Declined, "{code}");
        }
    }
}
