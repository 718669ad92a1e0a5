//! What a result code means for an order. The patterns are the published groups of result codes; a merchant decides
//! by group, never by single codes, because new ones appear.

/// What the shop tells the shopper.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// Paid.
    Paid,
    /// Nothing is decided yet.
    Pending,
    /// Not paid; the shopper may try again.
    Declined,
}

/// The group that `code` is in.
pub fn of(code: &str) -> Outcome {
    let starts = |prefixes: &[&str]| prefixes.iter().any(|prefix| code.starts_with(prefix));
    let paid = starts(&["000.000.", "000.100.1", "000.3", "000.6", "000.400.110", "000.400.120"]);
    // Approved, but somebody should look at the order before it leaves the house.
    let review =
        code == "000.400.100" || (starts(&["000.400.0"]) && !starts(&["000.400.03"]) && code.len() > "000.400.0".len());
    if paid || review {
        Outcome::Paid
    } else if starts(&["000.200", "800.400.5", "100.400.500"]) {
        Outcome::Pending
    } else {
        Outcome::Declined
    }
}

#[cfg(test)]
mod tests {
    use super::{Outcome, of};

    #[test]
    fn codes_fall_into_their_groups() {
        for code in
            ["000.000.000", "000.100.110", "000.100.112", "000.600.000", "000.400.110", "000.400.100", "000.400.020"]
        {
            assert_eq!(of(code), Outcome::Paid, "{code}");
        }
        for code in ["000.200.000", "000.200.100", "800.400.500", "100.400.500"] {
            assert_eq!(of(code), Outcome::Pending, "{code}");
        }
        for code in
            ["800.100.151", "100.100.101", "000.400.030", "000.400.101", "100.396.101", "100.400.100", "000.400.0", ""]
        {
            assert_eq!(of(code), Outcome::Declined, "{code}");
        }
    }
}
