//! Response codes: the two characters of ISO 8583:1987, and the three digits (action codes) of 1993.

use tillgate_connector::iso8583::IsoVersion;

/// A result that the bookkeeping does not have.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ProtocolCode {
    /// A sign-on, a sign-off or an echo is accepted.
    NetworkAccepted,
    /// The message type and the processing code are none of the dialect's requests.
    InvalidTransaction,
    /// A datum is missing or has another form.
    FormatError,
    /// The MAC is missing or wrong.
    WrongMac,
    /// Another request was sent with the same trace number, time, terminal and merchant.
    Duplicate,
    /// The ledger has too many requests.
    Malfunction,
}

impl ProtocolCode {
    /// Returns the response code of a version.
    pub(super) fn response_code(self, version: IsoVersion) -> &'static str {
        let (code, action) = match self {
            Self::NetworkAccepted => ("00", "800"),
            Self::InvalidTransaction => ("12", "902"),
            Self::FormatError => ("30", "904"),
            Self::WrongMac => ("63", "916"),
            Self::Duplicate => ("94", "913"),
            Self::Malfunction => ("96", "909"),
        };
        if version == IsoVersion::Iso1987 { code } else { action }
    }
}

/// Returns the response code of a booked request other than a reversal. `code` is the two characters of the ledger.
pub(super) fn payment_code(version: IsoVersion, code: &str) -> &str {
    if version == IsoVersion::Iso1987 { code } else { action_code(code) }
}

/// Returns the response code of a booked reversal.
pub(super) fn reversal_code(version: IsoVersion, code: &str, is_approved: bool) -> &str {
    match (is_approved, version, code) {
        (true, IsoVersion::Iso1987, _) => code,
        (true, ..) => "400",
        // Clients take 21 and 25 for "nothing is left to reverse", but here the original stays in effect.
        (false, _, "21" | "25") => ProtocolCode::InvalidTransaction.response_code(version),
        (false, ..) => payment_code(version, code),
    }
}

/// Returns the action code for a code of 1987: 100 (do not honour) for codes without a counterpart.
fn action_code(code: &str) -> &'static str {
    match code {
        "00" => "000",
        "01" => "107",
        "02" => "108",
        "03" => "109",
        "04" | "67" => "200",
        "07" => "207",
        "10" => "002",
        "12" | "21" => "902",
        "13" => "110",
        "14" => "111",
        "15" | "92" => "908",
        "19" => "903",
        "25" => "914",
        "30" => "904",
        "31" => "905",
        "33" => "201",
        "34" => "202",
        "36" => "204",
        "40" => "115",
        "41" => "208",
        "43" => "209",
        "51" => "116",
        "52" | "53" => "114",
        "54" => "101",
        "55" => "117",
        "56" => "118",
        "57" => "119",
        "58" => "120",
        "59" => "102",
        "60" => "103",
        "61" => "121",
        "62" => "104",
        "63" | "82" => "122",
        "65" => "123",
        "66" => "105",
        "68" => "911",
        "75" => "106",
        "90" => "906",
        "91" => "912",
        "93" => "124",
        "94" => "913",
        "06" | "96" => "909",
        _ => "100",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_declined_reversal_never_has_a_code_that_says_that_nothing_is_left() {
        for code in ["21", "25"] {
            assert_eq!(reversal_code(IsoVersion::Iso1987, code, false), "12");
            assert_eq!(reversal_code(IsoVersion::Iso1993, code, false), "902");
        }
        assert_eq!(reversal_code(IsoVersion::Iso1987, "00", true), "00");
        assert_eq!(reversal_code(IsoVersion::Iso1993, "00", true), "400");
    }

    #[test]
    fn no_decline_becomes_an_approval_in_1993() {
        for code in (0..100).map(|code| format!("{code:02}")).filter(|code| code != "00" && code != "10") {
            assert!(!action_code(&code).starts_with('0'), "{code}");
        }
    }
}
