//! Every route of the service, one row each, including those of connectors' sandbox pages. The router in `lib.rs` maps
//! them to handlers. The tests fail if a route is missing in one of the two.

use std::sync::LazyLock;

use tillgate_connector::sandbox::{BrandPage, RouteDescription, WalletSheet};
use tillgate_domain::access::scope::Scope;
use tillgate_gateway::registry;

use super::response_content::ResponseContent::{
    self, Checkout, CheckoutStatus, File, Health, Html, OpenApi, Payment, Registration, ResultCodes, Script, Submitted,
};
use super::route::HttpMethod::{self, Delete, Get, Post};
use super::route::RouteHost::{Both, Fields};
use super::route::RouteSection::{
    Checkouts, Disputes, Form, Payments, Queries, Registrations, Reports, Reviews, Risk, Schedules, Service,
};
use super::route::{AcceptedParameters, Route, RouteParameter};

/// Pattern of any text. Merchants' pages write the parameters of the form's documents, so none is refused.
const ANY_TEXT: &str = r"^[\s\S]*$";
const CHECKOUT_ID: RouteParameter = RouteParameter {
    name: "checkoutId",
    pattern: ANY_TEXT,
    required: false,
    note: "Id of the checkout that the form pays. If the id is unknown, the form shows an error.",
};

const BRANDS: RouteParameter = RouteParameter {
    name: "brands",
    pattern: ANY_TEXT,
    required: false,
    note: "Codes of the brands that the page offers, separated by spaces or commas. Unknown codes are ignored.",
};
const LOCALE: RouteParameter = RouteParameter {
    name: "locale",
    pattern: ANY_TEXT,
    required: false,
    note: "Language of the form, such as de-AT. The form is in English if it has no texts in this language.",
};

const MISSED_RUNS: RouteParameter = RouteParameter {
    name: "job.missedRuns",
    pattern: "^(ONCE|ALL|SKIP)?$",
    required: false,
    note: "Treatment of missed runs: ONCE makes one run for all of them, ALL makes each of them, and SKIP makes none. Default: ONCE.",
};

const LIST: RouteParameter =
    RouteParameter { name: "list", pattern: "^(allow|review|deny)?$", required: false, note: "Name of the list." };
const LIST_KEY: RouteParameter = RouteParameter {
    name: "key",
    pattern: "^(card|email|ip|network|device|account|holder|address)?$",
    required: false,
    note: "Key that the value belongs to.",
};
const LIST_VALUE: RouteParameter = RouteParameter {
    name: "value",
    pattern: "^.{0,2048}$",
    required: false,
    note: "Value of the entry. For a card or account, send its index from the list. An address is STREET|POSTCODE|COUNTRY.",
};
const REASON: RouteParameter = RouteParameter {
    name: "reason",
    pattern: "^.{0,500}$",
    required: false,
    note: "Reason of the change, for the decision log.",
};

const NOTE: RouteParameter = RouteParameter {
    name: "note",
    pattern: r"^[\s\S]{0,1000}$",
    required: false,
    note: "Note that is stored with the action. Must not contain card numbers.",
};
/// Parameters of a step of the institute, besides the stage.
const SCHEME_REASON: RouteParameter = RouteParameter {
    name: "schemeReasonCode",
    pattern: "^([A-Za-z0-9. -]{1,32})?$",
    required: false,
    note: "Reason code of the card scheme, such as 10.4.",
};
const RESPONSE_DAYS: RouteParameter = RouteParameter {
    name: "responseDays",
    pattern: "^([1-9][0-9]{0,2})?$",
    required: false,
    note: "Days for the merchant's response, 1 to 365. Default: the days that the card scheme grants.",
};
const DISPUTED_PAYMENT: RouteParameter = RouteParameter {
    name: "paymentId",
    pattern: "^[0-9a-f]{32}$",
    required: true,
    note: "Id of the disputed payment, a debit or a capture.",
};

/// Parameters of the review queue that filter by the payment.
const REVIEW_FILTERS: &[&str] = &["paymentBrand", "currency", "merchantTransactionId", "limit", "cursor"];
/// Parameters that only the review queue has.
const OWN_REVIEW_FILTERS: &[RouteParameter] = &[
    RouteParameter {
        name: "state",
        pattern: "^(open|approved|cancelled|expired)?$",
        required: false,
        note: "State of the reviews. Default: open.",
    },
    RouteParameter { name: "amount.from", pattern: AMOUNT_PATTERN, required: false, note: "Minimum amount." },
    RouteParameter { name: "amount.to", pattern: AMOUNT_PATTERN, required: false, note: "Maximum amount." },
    RouteParameter { name: "score.from", pattern: SCORE_PATTERN, required: false, note: "Minimum score." },
    RouteParameter { name: "score.to", pattern: SCORE_PATTERN, required: false, note: "Maximum score." },
    RouteParameter { name: "rule", pattern: "^.{0,255}$", required: false, note: "Name of a rule that fired." },
    RouteParameter {
        name: "analyst",
        pattern: "^.{0,255}$",
        required: false,
        note: "Analyst who has claimed an open payment or decided a closed one: mine, unclaimed, or the analyst's id.",
    },
    RouteParameter {
        name: "minAge",
        pattern: "^.{0,64}$",
        required: false,
        note: "Minimum time for which the payment has been held, such as 90m or 12h.",
    },
];
/// Pattern of an amount, which may be empty.
const AMOUNT_PATTERN: &str = r"^([0-9]{1,10}(\.[0-9]{2})?)?$";
/// Pattern of a score, which may be empty.
const SCORE_PATTERN: &str = "^(-?[0-9]{1,5})?$";

/// Parameters that name the account of a list entry.
const LISTED_ACCOUNT: &[&str] = &[
    "card.number",
    "paymentBrand",
    "bankAccount.iban",
    "bankAccount.country",
    "bankAccount.bankCode",
    "bankAccount.bic",
    "bankAccount.number",
    "virtualAccount.accountId",
];

const WALLET: RouteParameter =
    RouteParameter { name: "brand", pattern: "^[A-Z_]{1,32}$", required: true, note: "Brand of the wallet." };

/// Required parameters of every payment request.
const PAYMENT_REQUIRED: &[&str] = &["amount", "currency", "paymentType"];

/// Required parameters of a new schedule.
const SCHEDULE_REQUIRED: &[&str] = &["registrationId", "amount", "currency", "paymentType"];

/// Required parameters of every stand-alone risk check.
const SCREEN_REQUIRED: &[&str] = &["amount", "currency", "merchantTransactionId"];

/// Parameters that a query for payments accepts.
const QUERY_FILTERS: &[&str] = &[
    "merchantTransactionId",
    "shortId",
    "date.from",
    "date.to",
    "paymentTypes",
    "paymentMethods",
    "includeLinkedTransactions",
    "limit",
    "cursor",
    "pageNo",
    "testMode",
];
/// The form of a report.
const REPORT_FORMAT: RouteParameter = RouteParameter {
    name: "format",
    pattern: "^(json|csv)?$",
    required: false,
    note: "Format of the report: json, or csv for comma-separated values with a header (RFC 4180). Default: json.",
};
/// The period of a dry run or a report.
const PERIOD: &[&str] = &["date.from", "date.to"];
/// Parameters that a query for one payment accepts.
const LINKED_QUERY_FILTERS: &[&str] = &["includeLinkedTransactions", "paymentTypes", "paymentMethods", "testMode"];

/// The routes, in the order of the documents.
pub static ROUTES: LazyLock<Vec<Route>> = LazyLock::new(|| {
    let brand_pages =
        registry::all_sandboxes().filter_map(|sandbox| sandbox.brand_page.as_ref()).flat_map(brand_page_routes);
    let sheets =
        registry::all_sandboxes().filter_map(|sandbox| sandbox.wallet_sheet.as_ref()).flat_map(wallet_sheet_routes);
    let mut routes: Vec<Route> = BUILTIN_ROUTES.iter().copied().chain(brand_pages).chain(sheets).collect();
    routes.sort_by_key(|route| route.section);
    routes
});

/// Returns the routes of a sandbox page that replaces a brand's page.
fn brand_page_routes(page: &BrandPage) -> [Route; 3] {
    let route = page.address.route_pattern();
    [
        page_route(Get, route.clone(), &page.show, Html).for_shopper(),
        page_route(Post, route, &page.answer, Html).for_shopper().visits_from_other_pages(),
        page_route(Get, page.address.script_route(), &page.script, Script).for_everybody(),
    ]
}

/// Returns the routes of a sandbox sheet that replaces a wallet's sheet.
fn wallet_sheet_routes(sheet: &WalletSheet) -> [Route; 3] {
    let route = sheet.address.route_pattern();
    [
        page_route(Get, route.clone(), &sheet.show, Html).for_shopper().with_route_parameters(&[WALLET]),
        page_route(Post, route, &sheet.answer, Html).for_shopper().visits_from_other_pages(),
        page_route(Get, sheet.address.script_route(), &sheet.script, Script).for_everybody(),
    ]
}

/// Creates the row of a connector's page, in the section of the form. Its path is leaked, because the table is built
/// once, for the life of the process.
fn page_route(method: HttpMethod, path: String, text: &RouteDescription, body: ResponseContent) -> Route {
    Route::new(method, path.leak(), text.operation, Form, text.summary, body).with_note(text.note)
}

/// The routes that do not depend on a connector.
#[rustfmt::skip] // a row reads as a line
static BUILTIN_ROUTES: &[Route] = &[
    Route::new(Post, "/v1/checkouts", "createCheckout", Checkouts, "Prepare a checkout", Checkout)
        .with_note("The checkout stays open for 30 minutes or until it is paid. With integrity=true the response also contains the hash of the form's script.\nWithout paymentType and with createRegistration=true the checkout stores payment data and moves no money.")
        .with_accepted(AcceptedParameters::Payment),
    Route::new(Post, "/v1/checkouts/{id}", "updateCheckout", Checkouts, "Update an open checkout", Checkout)
        .with_note("New values replace the previous ones, and parameters that are not sent keep their values. The request is refused after the shopper has submitted the form. The risk rules select the offered brands again, and an open form shows them when its page calls wpwl.refresh().")
        .with_accepted(AcceptedParameters::Payment),
    Route::new(Get, "/v1/checkouts/{id}/payment", "readCheckout", Checkouts, "Read the status of a checkout", CheckoutStatus)
        .with_note("The status stays readable permanently, even after the checkout has expired. resourcePath contains this path."),
    Route::new(Post, "/v1/checkouts/{id}/payment", "submitCheckout", Checkouts, "Pay a checkout", Submitted)
        .with_note("Submit of the hosted form. The response is the same for approved and declined payments; the merchant's server reads the outcome. A value that the merchant has set overrides a value from the browser, and parameters that a browser may not set are ignored. A brand that risk rules hide from this shopper is refused with 600.200.500, and parameterErrors names paymentBrand.")
        .for_shopper().own_pages_only().on_host(Both).with_accepted(AcceptedParameters::Browser).with_rate_limit(),
    Route::new(Post, "/v1/checkouts/{id}/confirm", "confirmCheckout", Checkouts, "Pay with the shopper's saved input", CheckoutStatus)
        .with_note("For pages with wpwlOptions.useSummaryPage: the gateway keeps the shopper's input in memory until the checkout ends, and the form calls onSaveTransactionData. Your server sends this request after the shopper has agreed on your summary page. The response is the status of the checkout; a pending payment has a redirect for the shopper. A checkout that is already paid does not change.")
        .with_rate_limit(),
    Route::new(Get, "/v1/checkouts/{id}/state", "readCheckoutState", Checkouts, "Read the state of a checkout in the browser", ResponseContent::CheckoutState)
        .with_note("Request of the hosted form while the shopper is on a brand's page in another window. The response contains only the state: OPEN, PENDING, HELD, PAID, REGISTERED or EXPIRED.")
        .for_shopper().own_pages_only().on_host(Both),
    Route::new(Delete, "/v1/checkouts/{id}/registrations/{registration}", "deleteOfferedRegistration", Checkouts, "Delete a stored account in the form", ResponseContent::RemovedRegistration)
        .with_note("Request of the hosted form when the shopper removes one of the registrations that the checkout offers. Allowed only if the merchant created the checkout with registrationsDeletable=true, and while it is open.")
        .for_shopper().own_pages_only().on_host(Both),

    Route::new(Get, "/v1/checkouts/{id}/registration", "readTokenisation", Checkouts, "Read the registration of a tokenisation checkout", ResponseContent::RegistrationStatus)
        .with_note("For a checkout without paymentType and with createRegistration=true, whose resourcePath contains this path."),
    Route::new(Post, "/v1/checkouts/{id}/registration", "submitTokenisation", Checkouts, "Store the account of a tokenisation checkout", Submitted)
        .with_note("Submit of the hosted form. No payment is made.")
        .for_shopper().own_pages_only().on_host(Both).with_accepted(AcceptedParameters::Browser).with_rate_limit(),

    Route::new(Post, "/v1/payments", "createPayment", Payments, "Create a payment", Payment)
        .with_note("PA reserves the amount, DB takes it and CD pays it out. Only a PA may have the amount 0.00, which verifies the account. A declined payment has status 400, an id, and no amount.")
        .with_accepted(AcceptedParameters::Payment).with_required(PAYMENT_REQUIRED).with_rate_limit(),
    Route::new(Get, "/v1/payments/{id}", "readPayment", Payments, "Read a payment", Payment),
    Route::new(Post, "/v1/payments/{id}", "referToPayment", Payments, "Capture, reverse, refund or charge back a payment, or reverse a chargeback", Payment)
        .with_note("CP captures a preauthorization, in one part or several. PA with standingInstruction.industryPractice=INCREMENTAL_AUTH raises its amount. RV reverses a payment as a whole, if its connector still allows it. RF refunds a payment, in one part or several, up to the amount taken. The response is a new payment. Webhooks, notifications and lists contain its referencedId, the id of the earlier payment; this response does not.")
        .with_accepted(AcceptedParameters::Payment).with_required(&["paymentType"]),

    Route::new(Post, "/v1/registrations", "createRegistration", Registrations, "Store payment data", Registration)
        .with_note("The id in the response identifies the account in later payments. Every request gets a new id, so the response does not reveal if the account is already stored. A merchant can read the registrations of its channels, and a channel can read its own. A walletPay.paymentToken is decrypted and used up, and its card is stored. For a brand that asks the shopper on the brand's page, the request has to name the account (virtualAccount.accountId, bankAccount.iban); otherwise it is refused with 100.150.100. With recurringMigration, a registration from another system keeps its initial transaction.")
        .with_accepted(AcceptedParameters::Payment).with_rate_limit(),
    Route::new(Get, "/v1/registrations/{id}", "readRegistration", Registrations, "Read a registration", Registration)
        .with_note("A card's data are kept until 14 months after the card has expired, as in retainedUntil. A deleted registration has the code 100.150.202, and a registration whose retention has ended has 100.150.206."),
    Route::new(Delete, "/v1/registrations/{id}", "deleteRegistration", Registrations, "Delete a registration", Registration)
        .with_note("Deletes the account and ends its standing instructions and schedules. Payments made with it stay readable."),
    Route::new(Post, "/v1/registrations/{id}/extendlife", "extendRegistration", Registrations, "Extend the retention of a registration", Registration)
        .with_note("The new retention is job.durationNumber of job.durationUnit from now, in months if there is no unit. The default and maximum is 24 months. A request never shortens the retention.")
        .with_accepted(AcceptedParameters::Names(&["job.durationNumber", "job.durationUnit", "testMode"])),
    Route::new(Post, "/v1/registrations/{id}/payments", "payByRegistration", Registrations, "Pay with a registration", Payment)
        .with_note("The payment uses the channel that holds the registration. If the merchant itself holds it, one of its channels is selected as for any payment. The request may contain card.cvv, and with overrideHolder=true also the holder if none is stored. For a card it may contain card.expiryMonth and card.expiryYear, the date of the card that has replaced the stored one: the payment uses the date, and if it is approved, the registration has it from then on. A brand with a page for the shopper sends the shopper there again (shopperResultUrl), unless an account with a provider is charged without the shopper. A charge without the shopper (standingInstruction.mode=REPEATED, source=MIT) has to follow the agreement. An unknown initialTransactionId is refused with 700.100.100, and an account with another number (for cards, the first six and the last four digits) with 700.100.710. A charge after the expiry, before the agreed interval or above the agreed number is refused with 600.200.501, and parameterErrors names the parameter.")
        .with_accepted(AcceptedParameters::Payment).with_required(PAYMENT_REQUIRED),

    Route::new(Post, "/scheduling/v1/schedules", "createSchedule", Schedules, "Create a schedule of payments with a registration (SD)", ResponseContent::Schedule)
        .with_note("Each run is a payment that you initiate under the newest standing instruction of the registration, so store it with standingInstruction.mode INITIAL first. A time is required: job.expression, or parameters from job.year to job.second. A missing smaller unit is 0, and a missing larger unit is *. Days of the week are 1 (Sunday) to 7 (Saturday). plan.nextRuns previews the runs in the entity's time zone.")
        .with_accepted(AcceptedParameters::PaymentByRegistration).with_required(SCHEDULE_REQUIRED).with_route_parameters(&[MISSED_RUNS]),
    Route::new(Post, "/scheduling/v1/schedules/{id}/reschedule", "reschedule", Schedules, "Change a schedule (RS)", ResponseContent::Schedule)
        .with_note("The id may be the id of any request in the schedule's chain; the response has a new id. Parameters in the request replace the previous values, and a new time replaces all times.")
        .with_accepted(AcceptedParameters::PaymentByRegistration).with_route_parameters(&[MISSED_RUNS]),
    Route::new(Post, "/scheduling/v1/schedules/{id}/deschedule", "deschedule", Schedules, "End a schedule (DS)", ResponseContent::Schedule)
        .with_note("The schedule ends at once, after the notice period (job.noticeNumber), or at the end of the duration if job.noticeCallable is DURATION_END. plan.endsAt contains the time.")
        .with_accepted(AcceptedParameters::Names(&["paymentType"])),
    Route::new(Delete, "/scheduling/v1/schedules/{id}", "deleteSchedule", Schedules, "End a schedule (older address)", ResponseContent::Schedule)
        .with_note("Same as deschedule."),
    Route::new(Get, "/scheduling/v1/schedules/{id}", "readSchedule", Schedules, "Read a schedule, or the schedules of a registration", ResponseContent::Schedules)
        .with_note("With the id of any request in a chain, the response is the schedule, with the chain and the latest 100 runs. With the id of a registration, it is the list schedules, with the latest 100 schedules."),

    Route::new(Get, "/v1/query", "queryPayments", Queries, "Find payments by reference, statement number or day", ResponseContent::Payments)
        .with_note("Search by merchantTransactionId, by shortId, or by date.from and date.to. Long lists are split into pages: send the cursor of the previous response. Older clients number the pages: with pageNo, the response contains the number of pages, for lists of at most 10000 payments. If no payment is found, the response is 404 with 700.400.580.")
        .with_accepted(AcceptedParameters::Names(QUERY_FILTERS)),
    Route::new(Get, "/v1/query/{id}", "queryPayment", Queries, "Find a payment and its linked payments", ResponseContent::PaymentOrList)
        .with_note("The id is the id or the short id of a payment. With includeLinkedTransactions=true the response lists the first payment and all follow-up payments.")
        .with_accepted(AcceptedParameters::Names(LINKED_QUERY_FILTERS)),
    Route::new(Get, "/v3/query", "queryPaymentsV3", Queries, "Find payments (newer address)", ResponseContent::Payments)
        .with_accepted(AcceptedParameters::Names(QUERY_FILTERS)),
    Route::new(Get, "/v3/query/{id}", "queryPaymentV3", Queries, "Find a payment and its linked payments (newer address)", ResponseContent::PaymentOrList)
        .with_accepted(AcceptedParameters::Names(LINKED_QUERY_FILTERS)),

    Route::new(Get, "/reports/v1/totals", "reportTotals", Reports, "Add up payments by brand, currency, type, result and day", ResponseContent::Totals)
        .with_note("Counts every payment of the entity and the entities below it in the period, including follow-up payments and declined payments: paymentType and result distinguish them. Days are UTC. Amounts in different currencies are never added. At most 100000 rows.")
        .with_accepted(AcceptedParameters::Names(PERIOD)).with_required(PERIOD).with_route_parameters(&[
            RouteParameter { name: "groupBy", pattern: "^[A-Za-z, ]{0,64}$", required: false,
                note: "List of day, paymentBrand, paymentType and result, by which the totals are grouped. Default: all of them." },
            REPORT_FORMAT,
        ]),
    Route::new(Get, "/reports/v1/transactions", "reportTransactions", Reports, "Download every payment of a period", ResponseContent::Transactions)
        .with_note("Sends the payments of the entity and the entities below it while they are read, oldest first for each entity: one JSON object per line with the fields of a query, or CSV. In CSV, an apostrophe precedes text that a spreadsheet could interpret as a formula. If the connection ends early, payments are missing.")
        .with_accepted(AcceptedParameters::Names(PERIOD)).with_required(PERIOD).with_route_parameters(&[REPORT_FORMAT]),
    Route::new(Get, "/reports/v1/authorizations", "reportAuthorizations", Reports, "Read the authorization rate and the reasons of declines", ResponseContent::Authorizations)
        .with_note("Counts preauthorizations and debits. authorizationRate is the percentage of approved payments among the payments with an outcome. declineReasons contains the result codes of the others, most frequent first.")
        .with_accepted(AcceptedParameters::Names(PERIOD)).with_required(PERIOD).with_route_parameters(&[REPORT_FORMAT]),
    Route::new(Get, "/reports/v1/chargebacks", "reportChargebacks", Reports, "Read the chargeback ratio and the reasons of chargebacks", ResponseContent::Chargebacks)
        .with_note("Counts approved debits and captures, and the chargebacks of the same period, by brand and currency. chargebackRatio is the number of chargebacks in percent of these payments.")
        .with_accepted(AcceptedParameters::Names(PERIOD)).with_required(PERIOD).with_route_parameters(&[REPORT_FORMAT]),
    Route::new(Get, "/reports/v1/settlements", "reportSettlements", Reports, "Read the batches of settlements", ResponseContent::Settlements)
        .with_note("The batches of the entity and the entities below it, by day, entity and currency. paidOut is the payout to the merchant: charged less refunded, credited, chargedBack, fees and reserved, plus chargebacksReversed and released. It is negative if the merchant owes the amount. Amounts are in the currency of the settlement. At most 100000 rows.")
        .with_accepted(AcceptedParameters::Names(PERIOD)).with_required(PERIOD).with_route_parameters(&[REPORT_FORMAT]),
    Route::new(Get, "/reports/v1/fees", "reportFees", Reports, "Add up fees by day, transaction type, brand and currency", ResponseContent::Fees)
        .with_note("Fees on the lines of payments have the transaction type of their payment, such as DEBIT. Other fees have the transaction type of the fee, such as AUTH_FEE or MONTHLY. Days are the days of the reconciliation files. Lines of an institute's file that are not matched with a payment have separate rows with the matchingStatus NOT_MATCHED; all other rows add up to the fees of the ledger.")
        .with_accepted(AcceptedParameters::Names(PERIOD)).with_required(PERIOD).with_route_parameters(&[REPORT_FORMAT]).for_divisions(),
    Route::new(Get, "/ledger/v1/balances", "listBalances", Reports, "Read the balances of the ledger", ResponseContent::Balances)
        .with_note("The current accounts of the entity and the entities below it, by currency. Debits are positive and credits negative, and the accounts of a currency add up to 0. receivable is captured money that no settlement has paid yet, and payable is the merchant's part of it. fees and reserve were retained, and cash holds them."),
    Route::new(Get, "/reports/v1/reconciliations/aggregations", "reportAggregations", Reports, "Add up reconciliation records", ResponseContent::Aggregations)
        .with_note("Totals of the records of an entity, also of a division, by the day of their file, currency and settlement currency, brand, recordType, transactionType, cashflow and status. Amounts have no sign: cashflow has the direction. currency selects the transactions in a currency. testMode=INTERNAL selects the records of the gateway's own settlements, and EXTERNAL the records of an institute's files. At most 100000 rows.")
        .with_accepted(AcceptedParameters::Names(&["date.from", "date.to", "currency", "testMode"])).with_required(PERIOD)
        .with_route_parameters(&[REPORT_FORMAT]).for_divisions(),
    Route::new(Get, "/reconciliations/v1/files", "listReconciliationFiles", Reports, "List the reconciliation files of an entity", ResponseContent::ReconciliationFiles)
        .with_note("Each day with records has one file for each division and merchant, available from the end of the day. A listed file never changes. A channel has no files.")
        .with_accepted(AcceptedParameters::Names(PERIOD)).with_required(PERIOD).for_divisions(),
    Route::new(Get, "/reconciliations/v1/files/{name}", "readReconciliationFile", Reports, "Download a reconciliation file", ResponseContent::ReconciliationFile)
        .with_note("CSV with semicolons and a header line, identical to the file over FTP.").for_divisions(),
    Route::new(Get, "/reconciliations/v1/records", "listReconciliationRecords", Reports, "Download reconciliation records", ResponseContent::ReconciliationRecords)
        .with_note("One JSON object per line, in the order of the files, with the latest matching and the exact fxRate. merchantTransactionId and merchantInvoiceId are null if the payment has none. If the connection ends early, records are missing.")
        .with_accepted(AcceptedParameters::Names(PERIOD)).with_required(PERIOD).for_divisions(),

    Route::new(Post, "/v2/riskScreen", "screenOrder", Risk, "Check an order by risk rules, without a payment", ResponseContent::RiskCheck)
        .with_note("A card, bank account or account with a provider, amount, currency and merchantTransactionId (8 to 255 characters) are required; paymentType is optional. Nothing is charged, no account is stored, and 3-D Secure is not run. A refused order has status 400 and the code of its outcome: 100.400.142 if it is denied, 100.400.141 if it has to be challenged or reviewed, 100.400.145 if the check failed, or the code of a rule. A channel with --risk off refuses the request with 600.200.201. The check is counted by the velocity counters and by the card-testing limit of similar numbers.")
        .with_accepted(AcceptedParameters::Payment).with_required(SCREEN_REQUIRED).with_rate_limit(),
    Route::new(Post, "/v2/registrations/{id}/riskScreen", "screenRegistration", Risk, "Check an order with a stored account by risk rules", ResponseContent::RiskCheck)
        .with_note("Works like a check with an account in the request, with the same result codes.")
        .with_accepted(AcceptedParameters::Payment).with_required(SCREEN_REQUIRED),
    Route::new(Post, "/v2/risk/rules", "addRiskRules", Risk, "Check a rules file, and store it as a version", ResponseContent::AddedRules)
        .with_note("The file is either the body (application/toml, at most 1 MiB, with entityId in the query) or the parameter rules (at most 16 KiB). If the file has errors, parameterErrors lists each of them under rules with its line and column, and nothing is stored. A version that is already stored does not change. A version decides nothing until it is activated.")
        .with_scope(Scope::Admin).with_text_body("rules").with_route_parameters(&[
            RouteParameter { name: "rules", pattern: r"^[\s\S]*$", required: true, note: "Content of the rules file." },
        ]),
    Route::new(Get, "/v2/risk/rules", "listRiskRules", Risk, "List the versions of risk rules", ResponseContent::RuleVersions)
        .with_note("active and shadow are the versions of this entity. inForce has the versions that assess its payments, which come from the nearest entity above if this entity has none. changes contains the latest changes."),
    Route::new(Get, "/v2/risk/rules/{version}", "readRiskRules", Risk, "Read the rules file of a version", ResponseContent::RulesText),
    Route::new(Post, "/v2/risk/rules/{version}/activate", "activateRiskRules", Risk, "Activate a version of risk rules", ResponseContent::UsedRules)
        .with_note("The version assesses all requests that begin after the response. The version none selects the version of the entity above.")
        .with_scope(Scope::Admin).with_route_parameters(&[REASON]),
    Route::new(Post, "/v2/risk/rules/{version}/shadow", "shadowRiskRules", Risk, "Run a version of risk rules in shadow mode", ResponseContent::UsedRules)
        .with_note("The version runs in addition to the active version, and its decisions are only recorded. The version none selects the version of the entity above.")
        .with_scope(Scope::Admin).with_route_parameters(&[REASON]),
    Route::new(Post, "/v2/risk/rules/{version}/dryRun", "dryRunRiskRules", Risk, "Test a version of risk rules with stored payments", ResponseContent::DryRun)
        .with_note("Replays the payments of a period, of the entity and of its channels without an active version of their own, and changes nothing. The response has one JSON object per line: progress from time to time, and the report at the end. The dry run stops when the client disconnects. A merchant can have one dry run at a time, and the service two. An Idempotency-Key has no effect.")
        .with_scope(Scope::Read).with_accepted(AcceptedParameters::Names(PERIOD)).with_required(PERIOD).with_route_parameters(&[RouteParameter {
            name: "examples", pattern: "^[0-9]{0,2}$", required: false, note: "Number of example payments for each kind of change, 0 to 20. Default: 5.",
        }]).with_rate_limit(),
    Route::new(Get, "/v2/risk/lists", "listRiskLists", Risk, "List the entries of risk lists", ResponseContent::ListEntries)
        .with_note("Lists all entries, or the entries of a list, a key or a value, including expired entries. Long lists are split into pages: send the cursor of the previous response.")
        .with_route_parameters(&[LIST, LIST_KEY, LIST_VALUE, RouteParameter {
            name: "cursor", pattern: "^[A-Za-z0-9_-]{0,4096}$", required: false, note: "Cursor of the previous response.",
        }]),
    Route::new(Post, "/v2/risk/lists", "addRiskListEntry", Risk, "Add an entry to a risk list", ResponseContent::ListEntry)
        .with_note("The entry replaces an entry with the same value. For the key card, send card.number instead of value; for the key account, send the account as in a payment. Only a blind index of the card or account is stored, and the card-testing limit of similar numbers applies.")
        .with_rate_limit().with_scope(Scope::Admin).with_accepted(AcceptedParameters::Names(LISTED_ACCOUNT)).with_route_parameters(&[
            RouteParameter { required: true, ..LIST }, RouteParameter { required: true, ..LIST_KEY }, LIST_VALUE, REASON,
            RouteParameter { name: "source", pattern: "^(server|any)?$", required: false, note: "Accepted source of a payment's facts: server accepts facts from your server and the gateway only, any also accepts facts from the shopper's browser. Default: server for the list allow, any for the other lists." },
            RouteParameter { name: "expires", pattern: "^.{0,64}$", required: false, note: "Time after which the entry expires, such as 30d or 12h, by the entity's clock." },
        ]),
    Route::new(Delete, "/v2/risk/lists", "removeRiskListEntry", Risk, "Remove an entry from a risk list", ResponseContent::ListEntry)
        .with_note("The decision log records the removal.")
        .with_scope(Scope::Admin).with_route_parameters(&[
            RouteParameter { required: true, ..LIST }, RouteParameter { required: true, ..LIST_KEY }, RouteParameter { required: true, ..LIST_VALUE }, REASON,
        ]),
    Route::new(Get, "/v2/risk/audit", "listRiskChanges", Risk, "Read the decision log: changes of risk rules and lists, and reached limits", ResponseContent::RiskChanges)
        .with_note("Rows of the decision log, latest first. Their kind is rules for versions, list for entries of lists, and limit for card-testing limits that refused payment attempts, at most once a minute for each limit. The subject of a limit is its name and the masked value that it counts. Long lists are split into pages: send the cursor of the previous response.")
        .with_accepted(AcceptedParameters::Names(&["limit"])).with_route_parameters(&[RouteParameter {
            name: "cursor", pattern: "^[A-Za-z0-9_-]{0,64}$", required: false, note: "Cursor of the previous response.",
        }]),

    Route::new(Post, "/v1/disputes", "openDispute", Disputes, "Open a dispute, as the institute", ResponseContent::Dispute)
        .with_note("For the operator, with a token of a PSP or division above the merchant. A dispute that starts with CHARGEBACK also creates the chargeback (CB). amount is the disputed amount in the currency of the payment, by default the whole amount. chargebackResultCode is the reason.")
        .with_scope(Scope::Refund).with_accepted(AcceptedParameters::Names(&["amount", "chargebackResultCode"])).with_route_parameters(&[
            DISPUTED_PAYMENT,
            RouteParameter { name: "stage", pattern: "^(RETRIEVAL_REQUEST|CHARGEBACK)$", required: true, note: "First stage of the dispute." },
            SCHEME_REASON, RESPONSE_DAYS, NOTE,
        ]),
    Route::new(Get, "/v1/disputes", "listDisputes", Disputes, "List the disputes about your payments", ResponseContent::Disputes)
        .with_note("Lists the disputes of the entity and its channels, newest first. Long lists are split into pages: send the cursor of the previous response.")
        .with_accepted(AcceptedParameters::Names(&["limit", "cursor"])).with_route_parameters(&[RouteParameter {
            name: "state", pattern: "^(open|ended|all)?$", required: false, note: "State of the disputes: open, ended or all. Default: open.",
        }]),
    Route::new(Get, "/v1/disputes/{id}", "readDispute", Disputes, "Read a dispute with its steps and its evidence", ResponseContent::DisputeDetails),
    Route::new(Post, "/v1/disputes/{id}/advance", "advanceDispute", Disputes, "Report the next stage, as the institute", ResponseContent::Dispute)
        .with_note("For the operator, with a token of a PSP or division above the merchant. CHARGEBACK creates the chargeback of a retrieval request, REVERSAL returns the amount of the chargeback to the merchant (CR), LOST decides against the merchant, and CLOSED ends a retrieval request. The response is 409 if the stage is not possible now.")
        .with_scope(Scope::Refund).with_accepted(AcceptedParameters::Names(&["amount", "chargebackResultCode"])).with_route_parameters(&[
            RouteParameter { name: "stage", pattern: "^(CHARGEBACK|PRE_ARBITRATION|REVERSAL|LOST|CLOSED)$", required: true, note: "Next stage of the dispute." },
            SCHEME_REASON, RESPONSE_DAYS, NOTE,
        ]),
    Route::new(Post, "/v1/disputes/{id}/accept", "acceptDispute", Disputes, "Accept a chargeback", ResponseContent::Dispute)
        .with_note("The dispute ends, and the amount stays with the shopper.")
        .with_scope(Scope::Refund).with_route_parameters(&[NOTE]),
    Route::new(Post, "/v1/disputes/{id}/representment", "representDispute", Disputes, "Contest a chargeback, or respond to a retrieval request", ResponseContent::Dispute)
        .with_note("Upload the evidence first. A note or an evidence file is required.")
        .with_scope(Scope::Refund).with_route_parameters(&[NOTE]),
    Route::new(Post, "/v1/disputes/{id}/evidence", "addEvidence", Disputes, "Add an evidence file to a dispute", ResponseContent::StoredEvidence)
        .with_note("The body is the file, with its Content-Type: application/pdf, image/png or image/jpeg, at most 4 MiB. With application/octet-stream, the type is detected from the content. The parameters are in the query. A dispute has at most 10 files with 16 MiB in total. The files are stored encrypted, and deleted 180 days after the end of the dispute.")
        .with_scope(Scope::Refund).with_file().with_route_parameters(&[RouteParameter {
            name: "name", pattern: "^.{0,255}$", required: false, note: "Name of the file. Unsafe characters are replaced.",
        }]),
    Route::new(Get, "/v1/evidence/{id}", "readEvidence", Disputes, "Download an evidence file", ResponseContent::EvidenceFile),

    Route::new(Get, "/v2/reviews", "listReviews", Reviews, "List the payments that are held for review", ResponseContent::Reviews)
        .with_note("Lists the reviews of the entity and its channels, longest held first. A review has to match all filters. Long lists are split into pages: send the cursor of the previous response. A page with a cursor may have fewer entries than limit, or none.")
        .with_accepted(AcceptedParameters::Names(REVIEW_FILTERS)).with_route_parameters(OWN_REVIEW_FILTERS),
    Route::new(Get, "/v2/reviews/{id}", "readReview", Reviews, "Read a review with its payment and its actions", ResponseContent::Review)
        .with_note("The id is the id of the payment. riskDecision contains the rules that fired and the names of the facts that they read."),
    Route::new(Post, "/v2/reviews/{id}/claim", "claimReview", Reviews, "Claim a held payment", ResponseContent::ChangedReview)
        .with_note("Reserves the payment for the analyst, whose id is the user id of the token. The claim expires after 30 minutes unless it is renewed by another claim. Until the claim ends, no other analyst can claim or decide the payment.")
        .with_scope(Scope::Review).with_route_parameters(&[NOTE]),
    Route::new(Post, "/v2/reviews/{id}/release", "releaseReview", Reviews, "Release a claimed payment", ResponseContent::ChangedReview)
        .with_note("A payment without a claim does not change.")
        .with_scope(Scope::Review).with_route_parameters(&[NOTE]),
    Route::new(Post, "/v2/reviews/{id}/note", "noteReview", Reviews, "Add a note to a held payment", ResponseContent::ChangedReview)
        .with_note("Notes can be added after the decision as well. A payment has at most 100 notes.")
        .with_scope(Scope::Review).with_route_parameters(&[RouteParameter { required: true, ..NOTE }]),
    Route::new(Post, "/v2/reviews/{id}/approve", "approveReview", Reviews, "Approve a held payment", ResponseContent::ChangedReview)
        .with_note("The payment is executed, or captured if it is authorized. payment.result contains the outcome. Repeating the decision as the same analyst changes nothing.")
        .with_scope(Scope::Review).with_route_parameters(&[NOTE]),
    Route::new(Post, "/v2/reviews/{id}/cancel", "cancelReview", Reviews, "Cancel a held payment", ResponseContent::ChangedReview)
        .with_note("The payment is declined, or reversed and declined if it is authorized.")
        .with_scope(Scope::Review).with_route_parameters(&[NOTE, RouteParameter {
            name: "reason", pattern: "^[0-9]{1,9}$", required: true, note: "Numeric reason of the cancellation.",
        }]),
    Route::new(Post, "/v2/reviews/{id}/pend", "pendReview", Reviews, "Keep a payment held, and notify the merchant", ResponseContent::ChangedReview)
        .with_note("The merchant gets a review decision callback with PENDING. The deadline of the review does not change.")
        .with_scope(Scope::Review).with_route_parameters(&[NOTE]),

    Route::new(Get, "/v1/paymentWidgets.js", "loadForm", Form, "Load the hosted form", Script)
        .with_note("Script that your page includes. The script of a checkout never changes, so its hash stays valid.")
        .for_everybody().with_route_parameters(&[CHECKOUT_ID]),
    Route::new(Get, "/v1/pciIframe.html", "loadFrame", Form, "Load a frame of the form", Html)
        .with_note("Frame on the gateway's origin in which the shopper types the card number, the security code, the holder or the expiry date.")
        .for_shopper().on_host(Fields).with_route_parameters(&[
            CHECKOUT_ID,
            RouteParameter { name: "field", pattern: "^card\\.(number|cvv|holder|expiry)$", required: false, note: "Field of the frame. Default: the card number. The response is 404 for any other field." },
        ]),
    Route::new(Get, "/v1/internalRequestIframe.html", "loadRelay", Form, "Load the form's hidden frame", Html)
        .with_note("Provides forms without a card number with the offered brands, and sends their submits, from the gateway's origin.")
        .for_shopper().on_host(Fields).with_route_parameters(&[CHECKOUT_ID]),
    Route::new(Get, "/v1/plainForm.html", "loadPlainForm", Form, "Load the plain form for old browsers", Html)
        .with_note("Form that the loader shows in a frame if the browser cannot run the page module. It is plain HTML without scripts, for the brands in the request and in the page's language.")
        .for_shopper().on_host(Fields).with_route_parameters(&[CHECKOUT_ID, BRANDS, LOCALE]),
    Route::new(Post, "/v1/plainForm.html", "submitPlainForm", Form, "Pay in the plain form for old browsers", Html)
        .with_note("Submit of the plain form, in the whole window. 303 redirects to the brand's page, or to shopperResultUrl with id and resourcePath for approved and declined payments alike. 400 shows the form again with an error message for each invalid field. If the checkout is closed, the input is ignored and a second submit redirects like the first one. The form never shows the card number and the security code again.")
        .for_shopper().visits_from_other_pages().on_host(Fields).with_accepted(AcceptedParameters::Browser).with_rate_limit().with_route_parameters(&[CHECKOUT_ID, BRANDS, LOCALE]),
    Route::new(Get, "/v1/wpwl.d.ts", "readDeclarations", Form, "Load the form's type declarations", ResponseContent::Declarations)
        .with_note("TypeScript declarations of wpwlOptions and wpwl for this build.")
        .for_everybody(),
    Route::new(Get, "/v1/return/{id}", "returnFromAcquirer", Form, "Return from an acquirer's page", Html)
        .with_note("Page to which an external acquirer sends the shopper back. The id is the capability. The gateway asks the acquirer for the outcome and ignores the browser's parameters. Afterwards the page redirects to shopperResultUrl with id and resourcePath.")
        .for_shopper(),
    Route::new(Post, "/v1/return/{id}", "postFromAcquirer", Form, "Return from an acquirer's page by POST", Html)
        .with_note("Works like GET. The body is not read.")
        .for_shopper().visits_from_other_pages(),
    Route::new(Get, "/v1/threeDSecure/{id}", "showAuthentication", Form, "Run 3-D Secure", Html)
        .with_note("Page at redirect.url of a pending card payment. The id is the capability. The page runs the issuer's method page if necessary, sends the 3-D Secure request to the issuer, and shows the issuer's challenge. Afterwards it redirects to shopperResultUrl with id and resourcePath. Your pages may show it in a frame. With inline=true it does not redirect at the end, but notifies the page around it.")
        .for_shopper().with_route_parameters(&[
            RouteParameter { name: "inline", pattern: "^(true|false)?$", required: false, note: "true if the page is in a frame of the form." },
            RouteParameter { name: "resultWindow", pattern: "^(self|parent)?$", required: false, note: "Window in which the result page opens, relative to this page. Default: the whole tab." },
            RouteParameter { name: "methodTime", pattern: "^(over)?$", required: false, note: "over if the time limit of the issuer's method page has passed." },
            RouteParameter { name: "challenge", pattern: "^(over)?$", required: false, note: "over if the shopper has come back from the issuer's challenge." },
        ]),
    Route::new(Post, "/v1/threeDSecure/{id}", "answerAuthentication", Form, "Respond to the challenge of an issuer", Html)
        .with_note("returnCode is one of the codes on the page of the simulated issuer, and transaction is the transaction on that page. Only the first response within the time limit is accepted; any other changes nothing and gets 409. A request without returnCode is the shopper's first visit (version 1).")
        .for_shopper().visits_from_other_pages(),
    Route::new(Get, "/v1/threeDSecure/{id}/method", "runMethodPage", Form, "Run the method page of an issuer", Html)
        .with_note("Page in redirect.preconditions. The browser loads it in a hidden frame before it opens redirect.url.")
        .for_shopper(),
    Route::new(Post, "/v1/threeDSecure/{id}/method", "endMethodPage", Form, "Return from the method page of an issuer", Html)
        .with_note("Page to which an issuer's method page posts when it has run. The body is not read.")
        .for_shopper().visits_from_other_pages(),
    Route::new(Post, "/v1/threeDSecure/{id}/challenge", "endChallenge", Form, "Return from the challenge of an issuer", Html)
        .with_note("Page to which an issuer's challenge posts at its end. The body is not read: only the result that the 3DS server sends, or gives on request, decides about the payment.")
        .for_shopper().visits_from_other_pages(),
    Route::new(Post, "/v1/threeDSecure/{id}/result", "receiveChallengeResult", Form, "Receive the result of a challenge from the 3DS server", ResponseContent::ThreeDsMessage)
        .with_note("Result of a challenge (RReq of EMV 3-D Secure) with the signature of the 3DS server. The response is the receipt (RRes) or an error message (Erro), signed for this request. The response is 401 without a valid signature.")
        .for_everybody(),
    Route::new(Get, "/v1/threeDSecure.js", "loadAuthenticationScript", Form, "Load the script of the 3-D Secure page", Script)
        .for_everybody(),
    Route::new(Get, "/v1/static/{build}/img/brand.png", "loadBrandSheet", Form, "Load the sheet of brand logos", ResponseContent::Drawing)
        .with_note("For style sheets that refer to it. The image is SVG despite the extension of its address.")
        .for_everybody(),
    Route::new(Get, "/v1/paymentWidgets/img/brand.png", "loadOlderBrandSheet", Form, "Load the sheet of brand logos (older address)", ResponseContent::Drawing)
        .for_everybody(),
    Route::new(Get, "/v1/static/{build}/frame/{*path}", "loadFrameFile", Form, "Load a file of a frame of the form", File)
        .with_note("The file never changes and may be cached for a year, because its address contains the build.")
        .for_everybody().on_host(Fields),
    Route::new(Get, "/v1/static/{build}/{*path}", "loadFile", Form, "Load a file of the form", File)
        .with_note("The file never changes and may be cached for a year, because its address contains the build.")
        .for_everybody(),

    Route::new(Get, "/v1/scripts", "listScripts", Service, "List every script of the form", ResponseContent::Scripts)
        .with_note("Inventory of the form for new checkouts: each script with its purpose, hash and size, and the Content Security Policy of each document. In the policies, ORIGINS stands for the merchant's origins and CHECKOUT for the checkout. manifest was written when the form was built, and signature (Ed25519, base64) is the signature of the manifest if the form is signed.")
        .for_everybody(),
    Route::new(Get, "/v1/policyReports", "readPolicyReports", Service, "Read the reported policy violations", ResponseContent::PolicyReports)
        .with_note("Violations that browsers have reported about the form of your checkouts, and about your own pages if their policy names POST /v1/policyReports/{entityId}. Each violation is listed once with its count, latest first, at most 200. Further violations are counted under the directive others. A violation is kept for 90 days after its last report. dropped counts the reports above the rate limit since the gateway started."),
    Route::new(Post, "/v1/policyReports/{id}", "reportViolation", Service, "Report a violation of a policy", ResponseContent::Noted)
        .with_note("For browsers. The id is your entityId in the policy of your own pages, and a checkout's id in the policies of the gateway's frames and pages. The body is application/csp-report (report-uri) or application/reports+json (report-to), at most 16 kB. The gateway stores the directive, the blocked origin, and the origin and path of page and script, but no queries, long numbers or parts of scripts.")
        .for_everybody().on_host(Both).with_rate_limit(),
    Route::new(Post, "/v2/reviewDecisions/{id}", "receiveReviewDecision", Service, "Decide a held payment from an external review system", ResponseContent::Empty)
        .with_note("The id is the entityId. The body has the pairs that the operator configured for this entity with tillgate review-callback set. The credentials are configured in the section receiving, as headers or as pairs. Repeating a decision gets the same response and changes nothing. Responses have no JSON: the body is empty, or the text of the status.")
        .for_review_system().with_rate_limit(),
    Route::new(Post, "/v1/clock/{advance}", "advanceClock", Service, "Move a sandbox's clock forward", ResponseContent::Clock)
        .with_note("For tests of later events. With /v1/clock/30m a checkout expires at once, and everything that is due by the new time happens: reminders, time-outs, runs of schedules, settlements and delivery retries. Each run of a schedule has its planned time. The response waits for all of this except deliveries, for at most five seconds, and stillDue counts the rest. A move that makes more than 10000 runs due is refused. Durations have the form 30m, 25h or 2h 30m; 0s only returns the time. A merchant and its channels share a clock, which never goes back. The clock of a live entity cannot be moved (404).")
        .with_scope(Scope::Admin),
    Route::new(Get, "/v1/resultcodes", "listResultCodes", Service, "List every result code", ResultCodes).for_everybody(),
    Route::new(Get, "/openapi.json", "readOpenApi", Service, "Read the API description for programs", OpenApi)
        .with_note("OpenAPI 3.1, generated from the tables of routes and parameters that the service uses.")
        .for_everybody(),
    Route::new(Get, "/reference", "readReference", Service, "Read the API reference", Html)
        .with_note("This page. It loads no other resources and runs no script.")
        .for_everybody(),
    Route::new(Get, "/health", "readHealth", Service, "Check the health of the service", Health)
        .with_note("200 if the store can be read and written, otherwise 503 with the reason: disk-full, busy, disk-failing, damaged, schema-changed, slow or failed.")
        .for_everybody(),
];
