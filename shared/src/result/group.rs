//! Groups of result codes, by which clients decide. The rules are the prefixes that clients in the field match with
//! regular expressions, in the same order of precedence.

/// Outcome of a request, in the classes that clients distinguish.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ResultGroup {
    /// Succeeded.
    Success,
    /// Succeeded, and the merchant should review it.
    SuccessReview,
    /// Pending, for half an hour at most.
    Pending,
    /// Pending, possibly for days.
    PendingLong,
    /// Refused by 3-D Secure or by the risk rules of the scheme.
    Rejected3dsRisk,
    /// Refused by the bank.
    RejectedBank,
    /// A connection failed.
    RejectedCommunication,
    /// A system failed, ours or another one.
    RejectedSystem,
    /// The redirect of the shopper ended without a payment.
    RejectedAsync,
    /// Declined for now: it may succeed with stronger authentication.
    SoftDecline,
    /// Refused by an external risk system.
    RejectedExternalRisk,
    /// Refused by the address check.
    RejectedAddress,
    /// Refused because of 3-D Secure.
    Rejected3ds,
    /// On a block list.
    RejectedBlacklist,
    /// Refused by our own risk checks.
    RejectedRiskValidation,
    /// The account is not set up for the request.
    InvalidConfiguration,
    /// A registration is at fault.
    InvalidRegistration,
    /// A scheduled job is at fault.
    InvalidJob,
    /// The referenced payment is at fault.
    InvalidReference,
    /// The scheme advises against another try, or for a later one.
    RetryAdvice,
    /// The request has a parameter with a wrong format.
    InvalidFormat,
    /// An address is wrong.
    InvalidAddress,
    /// Contact data are wrong.
    InvalidContact,
    /// Account data are wrong.
    InvalidAccount,
    /// The amount is wrong.
    InvalidAmount,
    /// Risk data are wrong.
    InvalidRisk,
    /// The payment was charged back.
    Chargeback,
    /// None of these.
    Other,
}

impl ResultGroup {
    /// Returns its name in the table of result codes.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Success => "success",
            Self::SuccessReview => "success_manual_review",
            Self::Pending => "pending",
            Self::PendingLong => "pending_long",
            Self::Rejected3dsRisk => "rejected_3ds_intercard_risk",
            Self::RejectedBank => "rejected_bank",
            Self::RejectedCommunication => "rejected_communication",
            Self::RejectedSystem => "rejected_system",
            Self::RejectedAsync => "rejected_async_workflow",
            Self::SoftDecline => "soft_decline",
            Self::RejectedExternalRisk => "rejected_external_risk",
            Self::RejectedAddress => "rejected_address_check",
            Self::Rejected3ds => "rejected_3ds",
            Self::RejectedBlacklist => "rejected_blacklist",
            Self::RejectedRiskValidation => "rejected_risk_validation",
            Self::InvalidConfiguration => "invalid_configuration",
            Self::InvalidRegistration => "invalid_registration",
            Self::InvalidJob => "invalid_job",
            Self::InvalidReference => "invalid_reference",
            Self::RetryAdvice => "mac_control",
            Self::InvalidFormat => "invalid_format",
            Self::InvalidAddress => "invalid_address",
            Self::InvalidContact => "invalid_contact",
            Self::InvalidAccount => "invalid_account",
            Self::InvalidAmount => "invalid_amount",
            Self::InvalidRisk => "invalid_risk_management",
            Self::Chargeback => "chargeback",
            Self::Other => "ungrouped",
        }
    }
}

/// Returns the group of a result code.
///
/// Success and review take precedence over everything else. Among the others, the narrower prefix precedes the wider
/// one.
pub fn classify_code(code: &str) -> ResultGroup {
    classify_decision(code).unwrap_or_else(|| classify_invalid(code))
}

/// Returns the group of the code of a decision: success, pending, or a rejection by bank, issuer, risk or system.
/// `None` for any other code.
fn classify_decision(code: &str) -> Option<ResultGroup> {
    if has_prefix(code, &["000.000.", "000.100.1", "000.3", "000.6", "000.400.110", "000.400.120"]) {
        Some(ResultGroup::Success)
    } else if code.starts_with("000.400.0") && digit_at(code, 9) != b'3' && digit_at(code, 9) != 0
        || code.starts_with("000.400.100")
    {
        Some(ResultGroup::SuccessReview)
    } else if code.starts_with("000.200") {
        Some(ResultGroup::Pending)
    } else if has_prefix(code, &["800.400.5", "100.400.500"]) {
        Some(ResultGroup::PendingLong)
    } else if code.starts_with("000.400.030") {
        Some(ResultGroup::RejectedCommunication)
    } else if code.starts_with("000.400.1") && matches!(digit_at(code, 10), b'1'..=b'9')
        || code.starts_with("000.400.2")
    {
        Some(ResultGroup::Rejected3dsRisk)
    } else if has_prefix(code, &["900.100", "900.200", "900.300", "900.400"]) {
        Some(ResultGroup::RejectedCommunication)
    } else if has_prefix(code, &["800.100", "800.700", "800.800.1", "800.800.2", "800.800.3"]) {
        Some(ResultGroup::RejectedBank)
    } else if has_prefix(code, &["800.5", "800.6", "999.", "600.1", "800.800.8", "800.800.4"]) {
        Some(ResultGroup::RejectedSystem)
    } else if has_prefix(code, &["100.395", "100.396", "100.397"]) {
        Some(ResultGroup::RejectedAsync)
    } else if code.starts_with("300.100.100") {
        Some(ResultGroup::SoftDecline)
    } else if has_prefix(code, &["100.380.2", "100.380.3", "100.380.101"]) {
        Some(ResultGroup::InvalidRisk)
    } else if has_prefix(
        code,
        &[
            "100.400.0",
            "100.400.1",
            "100.400.2",
            "100.400.3",
            "100.380.100",
            "100.380.11",
            "100.380.4",
            "100.380.5",
            "100.370.100",
            "100.370.11",
        ],
    ) {
        Some(ResultGroup::RejectedExternalRisk)
    } else if code.starts_with("800.400.1") {
        Some(ResultGroup::RejectedAddress)
    } else if has_prefix(code, &["800.400.2", "100.390"]) {
        Some(ResultGroup::Rejected3ds)
    } else if has_prefix(code, &["800.3", "800.2", "100.100.701"]) {
        Some(ResultGroup::RejectedBlacklist)
    } else if code.starts_with("800.1") && matches!(digit_at(code, 5), b'1'..=b'6') && digit_at(code, 6) == b'0' {
        Some(ResultGroup::RejectedRiskValidation)
    } else {
        None
    }
}

/// Returns the group of a code that is no decision, mostly of an invalid request.
fn classify_invalid(code: &str) -> ResultGroup {
    if has_prefix(code, &["600.2", "600.3", "500.1", "500.2", "800.121"]) {
        ResultGroup::InvalidConfiguration
    } else if has_prefix(code, &["100.150", "100.350"]) {
        ResultGroup::InvalidRegistration
    } else if has_prefix(code, &["100.250", "100.360"]) {
        ResultGroup::InvalidJob
    } else if code.starts_with("700.")
        && matches!(digit_at(code, 4), b'1' | b'3' | b'4' | b'5')
        && matches!(digit_at(code, 5), b'0' | b'5')
        && digit_at(code, 6) == b'0'
    {
        ResultGroup::InvalidReference
    } else if has_prefix(code, &["700.600", "700.601"]) {
        ResultGroup::RetryAdvice
    } else if has_prefix(
        code,
        &["200.1", "200.2", "200.3", "100.50", "100.57", "100.30", "100.37", "800.900", "100.600.500", "100.900.500"],
    ) {
        ResultGroup::InvalidFormat
    } else if code.starts_with("100.800") {
        ResultGroup::InvalidAddress
    } else if has_prefix(code, &["100.700", "100.900"]) {
        ResultGroup::InvalidContact
    } else if has_prefix(code, &["100.100", "100.20", "100.21"]) {
        ResultGroup::InvalidAccount
    } else if code.starts_with("100.55") {
        ResultGroup::InvalidAmount
    } else if code.starts_with("000.100.2") {
        ResultGroup::Chargeback
    } else {
        ResultGroup::Other
    }
}

/// Returns true if a code begins with one of the prefixes.
fn has_prefix(code: &str, prefixes: &[&str]) -> bool {
    prefixes.iter().any(|prefix| code.starts_with(prefix))
}

/// Returns the digit at a place of a code, for `000.400.1x0` and the like. Returns 0 if the code is shorter.
fn digit_at(code: &str, place: usize) -> u8 {
    code.as_bytes().get(place).copied().unwrap_or(0)
}
