//! Groups of result codes: what a client branches on. The rules are the prefixes that clients in the wild match by
//! regular expression, in the same order of precedence.

/// What became of a request, in the classes that clients distinguish.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Group {
    /// Done.
    Success,
    /// Done, and somebody should look at it.
    SuccessReview,
    /// Not decided yet; within half an hour.
    Pending,
    /// Not decided yet; it can take days.
    PendingLong,
    /// Refused by 3D authentication or by the risk rules of the scheme.
    Rejected3dsRisk,
    /// Refused by the bank.
    RejectedBank,
    /// A connection failed.
    RejectedCommunication,
    /// A system failed, ours or another.
    RejectedSystem,
    /// The shopper's way through a redirect ended without a payment.
    RejectedAsync,
    /// Refused for now: with stronger authentication it may succeed.
    SoftDecline,
    /// Refused by an external risk system.
    RejectedExternalRisk,
    /// Refused by the address check.
    RejectedAddress,
    /// Refused because of 3D authentication.
    Rejected3ds,
    /// On a block list.
    RejectedBlacklist,
    /// Refused by our own risk checks.
    RejectedRiskValidation,
    /// The account is not set up for it.
    InvalidConfiguration,
    /// Something is wrong with a registration.
    InvalidRegistration,
    /// Something is wrong with a scheduled job.
    InvalidJob,
    /// Something is wrong with the payment referred to.
    InvalidReference,
    /// The scheme advises when, or whether, to try again.
    RetryAdvice,
    /// Something in the request has a wrong shape.
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

impl Group {
    /// Its name in the table of result codes.
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

/// The group of a result code.
///
/// Success and review go before everything else; of the rest, the narrower prefix goes before the wider one.
pub fn group(code: &str) -> Group {
    let is = |prefixes: &[&str]| prefixes.iter().any(|prefix| code.starts_with(prefix));
    // `000.400.1x0` and the like: a digit at a place, once the prefix fits.
    let digit = |place: usize| code.as_bytes().get(place).copied().unwrap_or(0);

    if is(&["000.000.", "000.100.1", "000.3", "000.6", "000.400.110", "000.400.120"]) {
        Group::Success
    } else if code.starts_with("000.400.0") && digit(9) != b'3' && digit(9) != 0 || code.starts_with("000.400.100") {
        Group::SuccessReview
    } else if code.starts_with("000.200") {
        Group::Pending
    } else if is(&["800.400.5", "100.400.500"]) {
        Group::PendingLong
    } else if code.starts_with("000.400.030") {
        Group::RejectedCommunication
    } else if code.starts_with("000.400.1") && matches!(digit(10), b'1'..=b'9') || code.starts_with("000.400.2") {
        Group::Rejected3dsRisk
    } else if is(&["900.100", "900.200", "900.300", "900.400"]) {
        Group::RejectedCommunication
    } else if is(&["800.100", "800.700", "800.800.1", "800.800.2", "800.800.3"]) {
        Group::RejectedBank
    } else if is(&["800.5", "800.6", "999.", "600.1", "800.800.8", "800.800.4"]) {
        Group::RejectedSystem
    } else if is(&["100.395", "100.396", "100.397"]) {
        Group::RejectedAsync
    } else if code.starts_with("300.100.100") {
        Group::SoftDecline
    } else if is(&["100.380.2", "100.380.3", "100.380.101"]) {
        Group::InvalidRisk
    } else if is(&[
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
    ]) {
        Group::RejectedExternalRisk
    } else if code.starts_with("800.400.1") {
        Group::RejectedAddress
    } else if is(&["800.400.2", "100.390"]) {
        Group::Rejected3ds
    } else if is(&["800.3", "800.2", "100.100.701"]) {
        Group::RejectedBlacklist
    } else if code.starts_with("800.1") && matches!(digit(5), b'1'..=b'6') && digit(6) == b'0' {
        Group::RejectedRiskValidation
    } else if is(&["600.2", "600.3", "500.1", "500.2", "800.121"]) {
        Group::InvalidConfiguration
    } else if is(&["100.150", "100.350"]) {
        Group::InvalidRegistration
    } else if is(&["100.250", "100.360"]) {
        Group::InvalidJob
    } else if code.starts_with("700.")
        && matches!(digit(4), b'1' | b'3' | b'4' | b'5')
        && matches!(digit(5), b'0' | b'5')
        && digit(6) == b'0'
    {
        Group::InvalidReference
    } else if is(&["700.600", "700.601"]) {
        Group::RetryAdvice
    } else if is(&[
        "200.1",
        "200.2",
        "200.3",
        "100.50",
        "100.57",
        "100.30",
        "100.37",
        "800.900",
        "100.600.500",
        "100.900.500",
    ]) {
        Group::InvalidFormat
    } else if code.starts_with("100.800") {
        Group::InvalidAddress
    } else if is(&["100.700", "100.900"]) {
        Group::InvalidContact
    } else if is(&["100.100", "100.20", "100.21"]) {
        Group::InvalidAccount
    } else if code.starts_with("100.55") {
        Group::InvalidAmount
    } else if code.starts_with("000.100.2") {
        Group::Chargeback
    } else {
        Group::Other
    }
}
