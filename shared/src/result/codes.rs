//! Result codes that the gateway itself uses, with names for their meaning.

use super::ResultCode;

macro_rules! codes {
    ($($(#[$doc:meta])* $name:ident = $code:literal;)*) => {
        $($(#[$doc])* pub const $name: ResultCode = ResultCode($code);)*

        /// All of the above, for the test that they are documented codes.
        #[cfg(test)]
        pub(super) const NAMED: &[ResultCode] = &[$($name),*];
    };
}

codes! {
    /// A payment of a live entity succeeded.
    SUCCESS_LIVE = "000.000.000";
    /// A request that is not a payment succeeded: a query, a list.
    REQUEST_SUCCEEDED = "000.000.100";
    /// A payment succeeded in the simulator (test mode INTERNAL).
    TEST_INTERNAL = "000.100.110";
    /// A request passed the validator only (validator test mode).
    TEST_VALIDATOR = "000.100.111";
    /// A payment succeeded at the connector's test system (test mode EXTERNAL).
    TEST_CONNECTOR = "000.100.112";
    /// A payment has no result yet.
    PENDING = "000.200.000";
    /// A checkout was created.
    CHECKOUT_CREATED = "000.200.100";
    /// A checkout was updated.
    CHECKOUT_UPDATED = "000.200.101";
    /// A checkout was deleted.
    CHECKOUT_DELETED = "000.200.102";
    /// A checkout is open and waits for the shopper.
    CHECKOUT_PENDING = "000.200.103";
    /// A payment has begun and has no result yet.
    INITIALISED = "000.200.200";
    /// The card's issuer does not participate in 3-D Secure.
    THREEDS_NOT_PARTICIPATING = "000.400.101";
    /// The card is not enrolled in 3-D Secure.
    THREEDS_NOT_ENROLLED = "000.400.102";
    /// 3-D Secure was not possible for a technical reason.
    THREEDS_TECHNICAL_ERROR = "000.400.103";
    /// The card does not participate in version 2 of 3-D Secure.
    THREEDS_VERSION_NOT_SUPPORTED = "000.400.109";
    /// The card number's check digit is wrong, or it is no card number.
    INVALID_CARD_NUMBER = "100.100.101";
    /// The card has expired.
    CARD_EXPIRED = "100.100.303";
    /// The brand needs a security code and none was sent.
    CODE_MISSING = "100.100.600";
    /// The security code does not fit the brand.
    CODE_INVALID = "100.100.601";
    /// The card number is not one of the brand's.
    NUMBER_NOT_OF_BRAND = "100.100.700";
    /// A schedule has no time at which it runs.
    JOB_WITHOUT_TIME = "100.250.100";
    /// A duration has no unit, or no number.
    JOB_DURATION_INVALID = "100.250.106";
    /// A notice has no unit, or no number.
    JOB_NOTICE_INVALID = "100.250.107";
    /// The times of a schedule contradict each other, or never come.
    JOB_TIMES_INVALID = "100.250.120";
    /// A day of the week is not one of 1 to 7.
    JOB_WEEKDAY_INVALID = "100.250.125";
    /// A schedule that has ended cannot be changed.
    JOB_NOT_SCHEDULED = "100.360.300";
    /// A schedule has ended already, or cannot end yet.
    JOB_NOT_DESCHEDULED = "100.360.303";
    /// The risk check demands a challenge or a review, and the payment was not executed.
    RISK_CHALLENGE = "100.400.141";
    /// The risk check denied the payment, which was not executed.
    RISK_DENY = "100.400.142";
    /// The risk check failed, and the payment was not executed.
    RISK_ERROR = "100.400.145";
    /// The risk check denied the approved payment, which was reversed.
    RISK_DENY_VOID = "100.400.147";
    /// The risk check demands a challenge or a review of the approved payment, which was reversed.
    RISK_CHALLENGE_VOID = "100.400.148";
    /// The risk check failed after the approval, and the payment was reversed.
    RISK_ERROR_VOID = "100.400.150";
    /// The payment is held until an analyst has decided. It is pending.
    RISK_HELD = "100.400.500";
    /// The cardholder did not pass 3-D Secure.
    THREEDS_FAILED = "100.390.100";
    /// 3-D Secure became unavailable during the challenge.
    THREEDS_UNAVAILABLE = "100.390.107";
    /// 3-D Secure failed for a technical reason during the challenge.
    THREEDS_TECHNICAL = "100.390.112";
    /// The issuer rejects the 3-D Secure authentication.
    THREEDS_REJECTED = "100.390.114";
    /// The issuer suspects fraud in the 3-D Secure authentication.
    THREEDS_SUSPECTED_FRAUD = "100.390.118";
    /// The cardholder has made too many attempts to pass 3-D Secure.
    THREEDS_TOO_MANY_ATTEMPTS = "100.390.119";
    /// The cardholder abandoned 3-D Secure.
    THREEDS_ABANDONED = "100.390.124";
    /// The issuer requires the cardholder's authentication first.
    SOFT_DECLINED = "300.100.100";
    /// The bank code does not belong to the account.
    BANK_DATA_MISMATCH = "100.200.103";
    /// The mandate cannot have been signed on that day.
    MANDATE_DATE_INVALID = "100.500.302";
    /// The brand does not accept this currency.
    CURRENCY_NOT_CONFIGURED = "600.200.500";
    /// The issuer does not know the card.
    CARD_INVALID = "800.100.151";
    /// The issuer declines without a reason.
    DECLINED_BY_ISSUER = "800.100.152";
    /// The issuer declines because of a wrong security code.
    CODE_DECLINED = "800.100.153";
    /// The amount exceeds the cardholder's credit.
    CREDIT_EXCEEDED = "800.100.155";
    /// The issuer has another expiry date.
    EXPIRY_DECLINED = "800.100.157";
    /// The card was reported stolen.
    CARD_STOLEN = "800.100.159";
    /// The card is blocked.
    CARD_BLOCKED = "800.100.160";
    /// The limit of the card is exceeded.
    LIMIT_EXCEEDED = "800.100.162";
    /// The card was reported lost.
    CARD_LOST = "800.100.165";
    /// The bank reports that the account is closed.
    ACCOUNT_CLOSED = "800.100.202";
    /// The bank reports that there is not enough money on the account.
    INSUFFICIENT_FUNDS = "800.100.203";
    /// There is no such registration.
    REGISTRATION_UNKNOWN = "100.150.200";
    /// Neither an account nor a registration came with the request.
    NO_ACCOUNT = "100.150.100";
    /// The registration has been deleted.
    REGISTRATION_DEREGISTERED = "100.150.202";
    /// The registration was never valid: it was rejected when it was created.
    REGISTRATION_REJECTED = "100.150.203";
    /// The retention of the registration has ended.
    RETENTION_OVER = "100.150.206";
    /// The shopper cancelled.
    CANCELLED_BY_USER = "100.396.101";
    /// The shopper did not finish in time.
    TIMED_OUT = "100.396.103";
    /// The shopper has probably cancelled.
    PROBABLY_CANCELLED = "100.396.104";
    /// The outcome of a payment at the connector was unknown, and the connector has reversed it since.
    OUTCOME_UNCERTAIN = "900.100.300";
    /// The address does not support this HTTP method.
    METHOD_NOT_SUPPORTED = "200.300.403";
    /// A parameter is missing or invalid.
    INVALID_PARAMETER = "200.300.404";
    /// The entity is unknown.
    ENTITY_UNKNOWN = "200.300.406";
    /// The channel is not set up for this brand.
    METHOD_NOT_CONFIGURED = "600.200.201";
    /// The channel is not set up for this payment type.
    TYPE_NOT_CONFIGURED = "600.200.202";
    /// The channel is not set up for this currency, or for this brand among others of its kind.
    SUBTYPE_NOT_CONFIGURED = "600.200.500";
    /// The channel is not set up for this test mode.
    MODE_NOT_CONFIGURED = "600.200.700";
    /// The agreement with the cardholder does not allow this charge.
    RECURRING_NOT_ALLOWED = "600.200.501";
    /// A sandbox does not accept this card number, which may be a real cardholder's.
    NO_TEST_NUMBER = "600.200.800";
    /// The result code that a sandbox merchant wants to force is not documented.
    FORCED_CODE_UNKNOWN = "600.200.810";
    /// A live entity accepts no test mode.
    TEST_MODE_NOT_ALLOWED = "600.200.701";
    /// The payment refers to something that does not exist.
    REFERENCE_UNKNOWN = "700.100.100";
    /// The payment refers to another account's history.
    CROSS_LINKAGE = "700.100.710";
    /// A chargeback without a reason from the bank.
    CHARGEBACK_WITHOUT_REASON = "000.100.200";
    /// The amount is zero although money should be moved.
    AMOUNT_TOO_SMALL = "100.550.300";
    /// The amount differs from that of the referenced payment, although only the whole amount is possible.
    REFERENCE_AMOUNT_DIFFERS = "700.100.200";
    /// The amount exceeds that of the referenced payment.
    REFERENCE_AMOUNT_TOO_HIGH = "700.100.300";
    /// The currency differs from that of the referenced payment.
    REFERENCE_CURRENCY_DIFFERS = "700.100.500";
    /// An increment of a payment that is no preauthorization, or is an increment itself.
    REFERENCE_OF_OTHER_TYPE = "700.100.700";
    /// The referenced payment allows no follow-up payment of this type.
    REFERENCE_TYPE_NOT_POSSIBLE = "700.300.100";
    /// An increment of a preauthorization that was declined.
    REFERENCE_DECLINED = "700.300.200";
    /// An increment of a preauthorization that is captured completely, or reversed.
    REFERENCE_USED = "700.300.300";
    /// A capture after the authorization has expired.
    CAPTURE_TOO_LATE = "700.300.400";
    /// A refund or reversal of a payment that was charged back.
    REFERENCE_CHARGED_BACK = "700.300.600";
    /// A reversal after the reversal window.
    REVERSAL_NOT_POSSIBLE = "700.300.700";
    /// A capture of more than the reserved amount.
    CAPTURE_VOLUME_EXCEEDED = "700.400.100";
    /// A capture that the acquirer does not support.
    CAPTURE_NOT_SUPPORTED = "700.400.101";
    /// A refund of more than the amount taken.
    REFUND_VOLUME_EXCEEDED = "700.400.200";
    /// A reversal of a payment that is already reversed, refunded or captured.
    REVERSAL_OF_USED = "700.400.300";
    /// A chargeback of a payment that is already charged back or reversed.
    CHARGEBACK_REPEATED = "700.400.400";
    /// A capture that does not refer to a preauthorization.
    CAPTURE_NEEDS_PREAUTHORIZATION = "700.400.510";
    /// A refund that does not refer to a payment which moved money.
    REFUND_NEEDS_PAYMENT = "700.400.520";
    /// A reversal that does not refer to a payment which can be reversed.
    REVERSAL_NEEDS_PAYMENT = "700.400.530";
    /// A chargeback that does not refer to a payment which took money.
    CHARGEBACK_NEEDS_PAYMENT = "700.400.550";
    /// The referenced payment has no result yet.
    REFERENCE_PENDING = "700.400.570";
    /// There is no such transaction.
    TRANSACTION_UNKNOWN = "700.400.580";
    /// An increment after the preauthorization has expired.
    PREAUTHORIZATION_TOO_LATE = "700.500.002";
    /// The scheme's rules allow another attempt after 72 hours.
    RETRY_AFTER_72_HOURS = "700.600.002";
    /// The scheme's rules allow another attempt after 24 hours.
    RETRY_AFTER_24_HOURS = "700.600.025";
    /// The scheme's rules allow another attempt with 3-D Secure or other card data.
    RETRY_WITH_THREE_DS = "700.601.001";
    /// The scheme's rules allow no other attempt.
    RETRY_STOPPED = "700.601.003";
    /// The same payment has already been made.
    DUPLICATE = "800.110.100";
    /// Too many requests.
    THROTTLED = "800.120.100";
    /// The same transaction is being processed.
    ALREADY_PROCESSED = "800.600.100";
    /// This sender may not send this request, whatever the credentials.
    SENDER_NOT_ALLOWED = "800.900.100";
    /// The channel is unknown, or does not belong to these credentials.
    UNKNOWN_CHANNEL = "800.900.201";
    /// The credentials are missing, malformed or wrong.
    AUTHENTICATION_FAILED = "800.900.300";
    /// The access token may not send requests of this kind.
    INSUFFICIENT_RIGHTS = "800.900.301";
    /// The shopper's session expired.
    SESSION_TIMEOUT = "900.300.600";
    /// A disk fault: the store cannot be read or written.
    STORE_UNAVAILABLE = "999.999.888";
    /// An internal error.
    INTERNAL_ERROR = "999.999.999";
}
