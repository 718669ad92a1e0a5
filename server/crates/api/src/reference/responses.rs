//! Possible responses of a route: statuses with their conditions, and the content of a response.

use super::response_content::ResponseContent;
use super::route::{BrowserAccess, Caller, HttpMethod, Route};

/// Returns the statuses of a route in ascending order, each with its condition. A status comes twice if it has two
/// conditions. An internal error (500) is possible on every route and is documented once for all.
pub(super) fn possible_statuses(route: &Route) -> Vec<(u16, &'static str)> {
    [vec![(200, success_condition(route))], request_faults(route), state_faults(route), load_faults(route)].concat()
}

/// Returns true if a route takes a body.
fn takes_body(route: &Route) -> bool {
    route.method == HttpMethod::Post
}

/// Returns the statuses of a route for faults of the request and its caller: 400 to 403.
fn request_faults(route: &Route) -> Vec<(u16, &'static str)> {
    let merchant = route.caller == Caller::Merchant;
    let mut statuses = Vec::new();
    if merchant || takes_body(route) {
        statuses.push((
            400,
            match route.body {
                ResponseContent::Payment | ResponseContent::PaymentOrList | ResponseContent::CheckoutStatus => {
                    "A parameter is wrong and parameterErrors names it, or the payment was declined"
                }
                ResponseContent::RiskCheck => {
                    "A parameter is wrong or missing, and parameterErrors names it; or the order is refused, with a code of the group 100.400"
                }
                _ => "A parameter is wrong or missing, and parameterErrors names it (the first hundred, if there are more); or the state does not allow it",
            },
        ));
    }
    if merchant {
        statuses.push((401, "The Authorization header is missing or malformed"));
        statuses.push((
            403,
            "The access token is wrong, is not valid for this entityId, or lacks the scope (800.900.301); or a browser made the request; or the entity is live and the request used plain HTTP",
        ));
    }
    if route.caller == Caller::ReviewSystem {
        statuses.push((401, "A credential is missing"));
        statuses.push((403, "A credential is wrong; or a browser made the request; or the entity is live and the request used plain HTTP"));
    }
    if route.browser_access == BrowserAccess::OwnPages {
        statuses.push((403, "A page of another origin made the request"));
    }
    statuses
}

/// Returns the statuses of a route for what the request refers to, and for its body: 404 to 413.
fn state_faults(route: &Route) -> Vec<(u16, &'static str)> {
    let (has_id, takes_body) = (route.path_parameters().next().is_some(), takes_body(route));
    let mut statuses = Vec::new();
    if has_id
        || matches!(route.body, ResponseContent::Payments | ResponseContent::ListEntry)
        || (route.caller == Caller::Shopper)
    {
        statuses.push((404, "The resource does not exist, or belongs to another entity"));
    }
    if takes_body {
        statuses.push((408, "The body did not arrive within 15 seconds"));
    }
    if route.is_idempotent() {
        statuses.push((409, "A request with the same Idempotency-Key is in flight"));
    }
    if matches!(route.body, ResponseContent::ChangedReview) {
        statuses.push((
            409,
            "Another analyst has claimed the payment, or it is not held any more; the description names the analyst",
        ));
    }
    if matches!(route.body, ResponseContent::Dispute | ResponseContent::StoredEvidence) && route.is_idempotent() {
        statuses.push((409, "The stage of the dispute does not allow this; the description names the stage"));
    }
    if takes_body && matches!(route.body, ResponseContent::Html) {
        statuses.push((409, "The payment has already ended with another decision"));
    }
    if takes_body {
        statuses.push((413, "The body is larger than 1 MiB, or than the limit of the route"));
    }
    statuses
}

/// Returns the statuses of a route for limits and load: 429 and 503.
fn load_faults(route: &Route) -> Vec<(u16, &'static str)> {
    let merchant = route.caller == Caller::Merchant;
    let mut statuses = Vec::new();
    if route.rate_limited {
        statuses.push((429, rate_limit_condition(route)));
    } else if merchant {
        statuses.push((429, "Too many wrong credentials from one address; try again after Retry-After"));
    }
    if matches!(route.body, ResponseContent::Payments | ResponseContent::PaymentOrList | ResponseContent::Reviews) {
        statuses.push((429, "Too many long queries of this merchant; try again after Retry-After"));
    }
    if matches!(route.body, ResponseContent::Clock) {
        statuses
            .push((429, "Too many moves of this clock, or long queries of its merchant; try again after Retry-After"));
    }
    if merchant || takes_body(route) || matches!(route.body, ResponseContent::Health) || route.caller == Caller::Shopper
    {
        statuses.push((503, "The service is busy or its store does not respond; try again after Retry-After"));
    }
    statuses
}

/// Returns the description of a rate limit's response.
fn rate_limit_condition(route: &Route) -> &'static str {
    match route.body {
        ResponseContent::DryRun => {
            "A dry run of this merchant or two other dry runs are in progress; or too many wrong credentials; try again after Retry-After"
        }
        _ => "Too many payment attempts, or too many wrong credentials; try again after Retry-After",
    }
}

/// Returns the description of a route's response with status 200.
fn success_condition(route: &Route) -> &'static str {
    match route.body {
        ResponseContent::Payment => "The payment: approved, or pending with a redirect",
        ResponseContent::Payments => "The payments that were found",
        ResponseContent::PaymentOrList => "The payment, or the list of linked payments",
        ResponseContent::Checkout => "The checkout's id",
        ResponseContent::CheckoutStatus => "The payment, or the status of a checkout without a payment",
        ResponseContent::CheckoutState => "State of the checkout",
        ResponseContent::Submitted => "The payment attempt is stored; the response has the shopper's next page",
        ResponseContent::Registration => "The registration",
        ResponseContent::RegistrationStatus => "The registration, or that there is none yet",
        ResponseContent::RemovedRegistration => "The registration's id",
        ResponseContent::ResultCodes => "Every code with its group and its description",
        ResponseContent::Health => "The service is healthy",
        ResponseContent::Clock => "Current time of the clock",
        ResponseContent::Scripts => "The inventory",
        ResponseContent::PolicyReports => "The violations",
        ResponseContent::Noted => "The report was accepted",
        ResponseContent::AddedRules => "The version",
        ResponseContent::UsedRules => "The versions in use",
        ResponseContent::Schedule => "The schedule and its next runs",
        ResponseContent::Schedules => "The schedule with its chain and runs, or the schedules of the registration",
        ResponseContent::RuleVersions => "The versions",
        ResponseContent::RulesText => "The file",
        ResponseContent::DryRun => "The dry run has begun; its lines follow",
        ResponseContent::RiskCheck => "The order is accepted",
        ResponseContent::ListEntry => "The entry",
        ResponseContent::ListEntries => "The entries",
        ResponseContent::Reviews => "The reviews",
        ResponseContent::Review => "The review, its payment and its actions",
        ResponseContent::ChangedReview => "The review and its payment",
        ResponseContent::RiskChanges => "The rows of the decision log",
        ResponseContent::Totals => "The totals, or with format=csv the same as text/csv",
        ResponseContent::Transactions => "The payments, one per line, or with format=csv as text/csv",
        ResponseContent::Chargebacks => "The chargebacks, or with format=csv the same as text/csv",
        ResponseContent::Dispute => "The dispute",
        ResponseContent::DisputeDetails => "The dispute and its evidence files",
        ResponseContent::Disputes => "The disputes, newest first",
        ResponseContent::StoredEvidence => "The file, without its content",
        ResponseContent::EvidenceFile => "The content of the file",
        ResponseContent::Authorizations => "The rate, or with format=csv the same as text/csv",
        ResponseContent::Settlements => "The batches, or with format=csv the same as text/csv",
        ResponseContent::Fees => "The fees, or with format=csv the same as text/csv",
        ResponseContent::Balances => "The balances",
        ResponseContent::ReconciliationFiles => "The files, oldest first",
        ResponseContent::ReconciliationFile => "The file",
        ResponseContent::ReconciliationRecords => "The records, one per line",
        ResponseContent::Aggregations => "The totals, or with format=csv the same as text/csv",
        ResponseContent::Empty => "The decision is executed, or was executed before",
        ResponseContent::OpenApi => "The OpenAPI document",
        ResponseContent::ThreeDsMessage => "The receipt, or an error message",
        ResponseContent::Html => "The page",
        ResponseContent::Script => "The script",
        ResponseContent::Declarations => "The declarations",
        ResponseContent::Drawing => "The drawing",
        ResponseContent::File => "The file",
    }
}

/// Returns the possible media types of a response, JSON unless it is a page, a script or a file. Reports come as CSV as
/// well.
pub(super) fn media_types(body: ResponseContent) -> &'static [&'static str] {
    match body {
        ResponseContent::Html => &["text/html"],
        ResponseContent::Script => &["text/javascript"],
        ResponseContent::Declarations => &["text/plain"],
        ResponseContent::Drawing => &["image/svg+xml"],
        ResponseContent::File => &["text/javascript", "text/css", "application/wasm"],
        ResponseContent::EvidenceFile => &["application/pdf", "image/png", "image/jpeg"],
        ResponseContent::Empty => &["text/plain"],
        ResponseContent::ReconciliationFile => &["text/csv"],
        ResponseContent::DryRun | ResponseContent::ReconciliationRecords => &["application/x-ndjson"],
        ResponseContent::Transactions => &["application/x-ndjson", "text/csv"],
        ResponseContent::Totals
        | ResponseContent::Chargebacks
        | ResponseContent::Authorizations
        | ResponseContent::Settlements
        | ResponseContent::Fees
        | ResponseContent::Aggregations => &["application/json", "text/csv"],
        _ => &["application/json"],
    }
}

/// Returns the name of a response's schema, or `None` if the response is not JSON.
pub(super) fn schema_name(body: ResponseContent) -> Option<&'static str> {
    Some(match body {
        ResponseContent::Payment => "PaymentAnswer",
        ResponseContent::Payments => "PaymentsAnswer",
        ResponseContent::PaymentOrList => "QueryAnswer",
        ResponseContent::Checkout => "CheckoutAnswer",
        ResponseContent::CheckoutStatus => "CheckoutStatusAnswer",
        ResponseContent::CheckoutState => "CheckoutStateAnswer",
        ResponseContent::Submitted => "SubmittedAnswer",
        ResponseContent::Registration => "RegistrationAnswer",
        ResponseContent::RegistrationStatus => "CheckoutStatusAnswer",
        ResponseContent::RemovedRegistration => "RemovedRegistrationAnswer",
        ResponseContent::Schedule => "ScheduleAnswer",
        ResponseContent::Schedules => "SchedulesAnswer",
        ResponseContent::ResultCodes => "ResultCodes",
        ResponseContent::Health => "Health",
        ResponseContent::Clock => "ClockAnswer",
        ResponseContent::Scripts => "ScriptsAnswer",
        ResponseContent::PolicyReports => "PolicyReportsAnswer",
        ResponseContent::Noted => "NotedAnswer",
        ResponseContent::AddedRules => "AddedRulesAnswer",
        ResponseContent::UsedRules => "UsedRulesAnswer",
        ResponseContent::RuleVersions => "RuleVersionsAnswer",
        ResponseContent::RulesText => "RulesTextAnswer",
        ResponseContent::DryRun => "DryRunLine",
        ResponseContent::RiskCheck => "RiskCheckAnswer",
        ResponseContent::ListEntry => "ListEntryAnswer",
        ResponseContent::ListEntries => "ListEntriesAnswer",
        ResponseContent::Reviews => "ReviewsAnswer",
        ResponseContent::Review => "ReviewAnswer",
        ResponseContent::ChangedReview => "ChangedReviewAnswer",
        ResponseContent::RiskChanges => "RiskChangesAnswer",
        ResponseContent::Totals => "TotalsAnswer",
        ResponseContent::Dispute => "DisputeAnswer",
        ResponseContent::DisputeDetails => "DisputeDetailsAnswer",
        ResponseContent::Disputes => "DisputesAnswer",
        ResponseContent::StoredEvidence => "EvidenceAnswer",
        ResponseContent::Authorizations => "AuthorizationsAnswer",
        ResponseContent::Chargebacks => "ChargebacksAnswer",
        ResponseContent::Transactions => "ListedPayment",
        ResponseContent::Settlements => "SettlementsAnswer",
        ResponseContent::Fees => "FeesAnswer",
        ResponseContent::Balances => "BalancesAnswer",
        ResponseContent::ReconciliationFiles => "ReconciliationFilesAnswer",
        ResponseContent::ReconciliationRecords => "ReconciliationRecordLine",
        ResponseContent::Aggregations => "AggregationsAnswer",
        ResponseContent::OpenApi => "OpenApi",
        ResponseContent::Html
        | ResponseContent::Script
        | ResponseContent::Declarations
        | ResponseContent::Drawing
        | ResponseContent::File
        | ResponseContent::EvidenceFile
        | ResponseContent::ReconciliationFile
        | ResponseContent::ThreeDsMessage
        | ResponseContent::Empty => return None,
    })
}

/// Fields of a response for the reference page: name and content.
pub(super) const FIELDS: &[(&str, &str)] = &[
    ("id", "Id of the resource: 32 to 48 characters for a checkout, 32 for a payment or registration."),
    ("result.code", "Code of the result: 2 to 11 digits and dots. Branch on its group."),
    ("result.description", "Description of the code, up to 255 characters."),
    (
        "result.parameterErrors[n]",
        "Name, value and message of every wrong parameter. The value is null if it is missing or secret.",
    ),
    ("result.avsResponse", "Address check: A address, Z postal code, F both match, N neither, U not applicable."),
    (
        "result.cvvResponse",
        "Code check: M match, N no match, P not processed, S should be on the card, U not supported.",
    ),
    (
        "resultDetails",
        "Details from the acquirer: AcquirerResponse, MerchantAdviceCode. RetryAllowedFrom: time of the next allowed attempt.",
    ),
    ("paymentType, paymentBrand", "Requested type and brand."),
    ("amount, currency, descriptor", "Amount that was moved or reserved. Declined payments have none."),
    (
        "risk.resultCode",
        "100.400.145 if the risk check failed, even if the channel accepts such payments (`--risk-error accept`).",
    ),
    (
        "risk.score",
        "Score of the risk check, -99999 to 99999. It replaces a score in the request, and is missing without a check.",
    ),
    ("referencedId", "Id of the payment that a follow-up payment refers to, in the entries of lists and in webhooks."),
    ("registrationId", "Id of the registration that was used or created."),
    (
        "card.bin, card.last4Digits, card.holder, card.expiryMonth, card.expiryYear",
        "Data of the card that may be shown.",
    ),
    ("bankAccount.*, virtualAccount.*", "Data of the account that may be shown. IBANs are masked."),
    ("redirect.url, redirect.method, redirect.parameters[n]", "Page for the shopper while the payment is pending."),
    (
        "redirect.preconditions[n]",
        "Page that the browser loads in a hidden frame before it opens redirect.url: url, method, parameters, description.",
    ),
    (
        "threeDSecure.*",
        "Result of the 3-D Secure authentication: eci, verificationId, dsTransactionId or xid, version, \
         enrollmentStatus, authenticationStatus, transactionStatusReason.",
    ),
    (
        "flow",
        "To the browser: now, redirect, popup or inline, for the window of the shopper's next page. saved: \
         the input is kept, and nothing has been charged yet.",
    ),
    (
        "ignored[n]",
        "To the browser, in a sandbox only: a parameter of the form that a browser may not set and that had no effect.",
    ),
    (
        "checkoutState",
        "State of a checkout: OPEN, PENDING, HELD, PAID, REGISTERED or EXPIRED; to the browser also LEFT.",
    ),
    ("everything else you sent", "Returned under its own name, nested at the dots, except for secrets."),
    (
        "plan.*",
        "A schedule: active (true for the live request of its chain), timeZone, missedRuns, nextRuns, retryAt, endsAt \
         and ended.",
    ),
    (
        "runs[n].*",
        "The payment attempts of a schedule, newest first: occurrence, attempt, at, outcome (CHARGED, DECLINED, PENDING, REFUSED \
         or SKIPPED), result, paymentId, reason, missedSince and retryAt.",
    ),
    (
        "review.*",
        "A held payment: state (open, approved, cancelled or expired), since, deadline, claim (analyst, since, until) \
         and decision.",
    ),
    (
        "buildNumber, timestamp, ndc",
        "For support: the build, the time, and the identifier of the request, which is a checkout's id, or entityId_ and 32 hexadecimal digits.",
    ),
];
