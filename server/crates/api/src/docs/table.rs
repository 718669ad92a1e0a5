//! Every route of the service, one row each, including those of connectors' sandbox pages. The router in `api/mod.rs`
//! maps them to handlers. The tests fail if a route is missing in one of the two.

use std::sync::LazyLock;

use tillgate_connector::sandbox::{BrandPage, RouteDescription, WalletSheet};
use tillgate_domain::access::scope::Scope;
use tillgate_gateway::registry;

use super::route::HttpMethod::{self, Delete, Get, Post};
use super::route::ResponseContent::{
    self, Checkout, CheckoutStatus, File, Health, Html, OpenApi, Payment, Registration, ResultCodes, Script, Submitted,
};
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
    note: "The id of the checkout that the form is for. With an unknown one, the form shows an error.",
};

const BRANDS: RouteParameter = RouteParameter {
    name: "brands",
    pattern: ANY_TEXT,
    required: false,
    note: "The codes of the brands that the page offers, with spaces or commas between. Unknown ones are left out.",
};
const LOCALE: RouteParameter = RouteParameter {
    name: "locale",
    pattern: ANY_TEXT,
    required: false,
    note: "The language of the form, such as de-AT. English if the form has no texts in it.",
};

const MISSED_RUNS: RouteParameter = RouteParameter {
    name: "job.missedRuns",
    pattern: "^(ONCE|ALL|SKIP)?$",
    required: false,
    note: "Runs that were missed: ONCE for one run in place of all of them, ALL for each, SKIP for none; ONCE unless you say otherwise.",
};

const LIST: RouteParameter =
    RouteParameter { name: "list", pattern: "^(allow|review|deny)?$", required: false, note: "The list." };
const LIST_KEY: RouteParameter = RouteParameter {
    name: "key",
    pattern: "^(card|email|ip|network|device|account|holder|address)?$",
    required: false,
    note: "The key of the value.",
};
const LIST_VALUE: RouteParameter = RouteParameter {
    name: "value",
    pattern: "^.{0,2048}$",
    required: false,
    note: "The value; of a card or account its index, as the list shows it. An address is STREET|POSTCODE|COUNTRY.",
};
const REASON: RouteParameter = RouteParameter {
    name: "reason",
    pattern: "^.{0,500}$",
    required: false,
    note: "The reason of the change, for the audit.",
};

const NOTE: RouteParameter = RouteParameter {
    name: "note",
    pattern: r"^[\s\S]{0,1000}$",
    required: false,
    note: "A note for the audit, without card numbers.",
};
/// Parameters of a step of the institute, besides the stage.
const SCHEME_REASON: RouteParameter = RouteParameter {
    name: "schemeReasonCode",
    pattern: "^([A-Za-z0-9. -]{1,32})?$",
    required: false,
    note: "The reason code of the card scheme, such as 10.4.",
};
const RESPONSE_DAYS: RouteParameter = RouteParameter {
    name: "responseDays",
    pattern: "^([1-9][0-9]{0,2})?$",
    required: false,
    note: "Days for the merchant's answer, 1 to 365; those of the card scheme unless you say otherwise.",
};
const DISPUTED_PAYMENT: RouteParameter = RouteParameter {
    name: "paymentId",
    pattern: "^[0-9a-f]{32}$",
    required: true,
    note: "The id of the disputed payment: a debit or a capture.",
};

/// Parameters of the queue that filter by the payment.
const REVIEW_FILTERS: &[&str] = &["paymentBrand", "currency", "merchantTransactionId", "limit", "cursor"];
/// Parameters that only the queue has.
const OWN_REVIEW_FILTERS: &[RouteParameter] = &[
    RouteParameter {
        name: "state",
        pattern: "^(open|approved|cancelled|expired)?$",
        required: false,
        note: "The state of the reviews; open if it is not sent.",
    },
    RouteParameter { name: "amount.from", pattern: AMOUNT_PATTERN, required: false, note: "The smallest amount." },
    RouteParameter { name: "amount.to", pattern: AMOUNT_PATTERN, required: false, note: "The largest amount." },
    RouteParameter { name: "score.from", pattern: SCORE_PATTERN, required: false, note: "The lowest score." },
    RouteParameter { name: "score.to", pattern: SCORE_PATTERN, required: false, note: "The highest score." },
    RouteParameter { name: "rule", pattern: "^.{0,255}$", required: false, note: "The name of a rule that fired." },
    RouteParameter {
        name: "analyst",
        pattern: "^.{0,255}$",
        required: false,
        note: "mine, unclaimed, or the id of an analyst: who has claimed an open payment, or decided another one.",
    },
    RouteParameter {
        name: "minAge",
        pattern: "^.{0,64}$",
        required: false,
        note: "The shortest time for which the payment has been held, such as 90m or 12h.",
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
    RouteParameter { name: "brand", pattern: "^[A-Z_]{1,32}$", required: true, note: "Which wallet." };

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
    note: "csv for comma-separated values with a header (RFC 4180); JSON if it is missing.",
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
        .with_note("The checkout stays open for 30 minutes or until it is paid. With integrity=true the answer also carries the hash of the form's script.\nWithout paymentType and with createRegistration=true it stores payment data and moves no money.")
        .with_accepted(AcceptedParameters::Payment),
    Route::new(Post, "/v1/checkouts/{id}", "updateCheckout", Checkouts, "Add to an open checkout", Checkout)
        .with_note("New values replace the previous ones; parameters that are not sent keep their values. Refused once the shopper has submitted. Risk rules decide anew which brands the form offers; an open form follows when its page calls wpwl.refresh().")
        .with_accepted(AcceptedParameters::Payment),
    Route::new(Get, "/v1/checkouts/{id}/payment", "readCheckout", Checkouts, "Read what became of a checkout", CheckoutStatus)
        .with_note("Readable for good, as often as you like, also after the checkout has expired. This is where resourcePath points to."),
    Route::new(Post, "/v1/checkouts/{id}/payment", "submitCheckout", Checkouts, "Pay a checkout", Submitted)
        .with_note("Submit of the hosted form. The response is the same for approved and declined payments; the merchant's server reads the outcome. A value that the merchant has set overrides one from the browser, and parameters that a browser may not set are ignored. A brand that risk rules hide from this shopper is refused with 600.200.500 and paymentBrand.")
        .for_shopper().own_pages_only().on_host(Both).with_accepted(AcceptedParameters::Browser).with_rate_limit(),
    Route::new(Post, "/v1/checkouts/{id}/confirm", "confirmCheckout", Checkouts, "Pay with what the shopper has filled in", CheckoutStatus)
        .with_note("For pages with wpwlOptions.useSummaryPage: the form has kept the shopper's data with the gateway, in memory and for as long as the checkout lives, and called onSaveTransactionData. Once the shopper agrees on your summary page, your server sends this. The answer is the status; a pending payment has a redirect for the shopper. A checkout that is paid already stays as it is.")
        .with_rate_limit(),
    Route::new(Get, "/v1/checkouts/{id}/state", "readCheckoutState", Checkouts, "Ask where a checkout stands, in the browser", ResponseContent::CheckoutState)
        .with_note("Request of the hosted form while the shopper is on a brand's page in another window. The response contains OPEN, PENDING, PAID, REGISTERED or EXPIRED and nothing else.")
        .for_shopper().own_pages_only().on_host(Both),
    Route::new(Delete, "/v1/checkouts/{id}/registrations/{registration}", "deleteOfferedRegistration", Checkouts, "Delete a stored account in the form", ResponseContent::RemovedRegistration)
        .with_note("Request of the hosted form when the shopper removes one of the registrations that the checkout offers. Allowed only if the merchant created the checkout with registrationsDeletable=true, and while it is open.")
        .for_shopper().own_pages_only().on_host(Both),

    Route::new(Get, "/v1/checkouts/{id}/registration", "readTokenisation", Checkouts, "Read what became of a tokenisation checkout", ResponseContent::RegistrationStatus)
        .with_note("For a checkout without paymentType and with createRegistration=true: this is where its resourcePath points to."),
    Route::new(Post, "/v1/checkouts/{id}/registration", "submitTokenisation", Checkouts, "Store the account of a tokenisation checkout", Submitted)
        .with_note("Submit of the hosted form. No payment is made.")
        .for_shopper().own_pages_only().on_host(Both).with_accepted(AcceptedParameters::Browser).with_rate_limit(),

    Route::new(Post, "/v1/payments", "createPayment", Payments, "Pay server to server", Payment)
        .with_note("PA reserves, DB takes and CD pays out. Only a PA may be of 0.00: it verifies the account. A decline is an answer too: it has status 400, an id, and no amount.")
        .with_accepted(AcceptedParameters::Payment).with_required(PAYMENT_REQUIRED).with_rate_limit(),
    Route::new(Get, "/v1/payments/{id}", "readPayment", Payments, "Read a payment", Payment),
    Route::new(Post, "/v1/payments/{id}", "referToPayment", Payments, "Capture, reverse, refund or charge back a payment, or reverse a chargeback", Payment)
        .with_note("CP captures a preauthorization, in one part or several. RV takes a payment back as a whole, as long as the connector still can. RF refunds, in one part or several, never more than was taken. The answer is a payment of its own. referencedId, which names the first one, is in webhooks, notifications and lists, not in this answer.")
        .with_accepted(AcceptedParameters::Payment).with_required(&["paymentType"]),

    Route::new(Post, "/v1/registrations", "createRegistration", Registrations, "Store payment data", Registration)
        .with_note("The id of the answer stands for the account in later payments. Every request gets a new id, also for an account that is stored already: nothing tells whether it is. A merchant sees the registrations of its channels, a channel its own. A walletPay.paymentToken is opened and used up, and the card inside is stored. A brand that asks the shopper on a page of its own has something to store where the request names the account (virtualAccount.accountId, bankAccount.iban), and nothing otherwise: 100.150.100. With recurringMigration a registration brings its initial transaction along from another system.")
        .with_accepted(AcceptedParameters::Payment).with_rate_limit(),
    Route::new(Get, "/v1/registrations/{id}", "readRegistration", Registrations, "Read a registration", Registration)
        .with_note("A card's data are kept until 14 months after the card has expired, see retainedUntil. Deleted: 100.150.202. No longer kept: 100.150.206."),
    Route::new(Delete, "/v1/registrations/{id}", "deleteRegistration", Registrations, "Delete a registration", Registration)
        .with_note("The account is deleted, and what was agreed for it ends. Payments made with it stay readable."),
    Route::new(Post, "/v1/registrations/{id}/extendlife", "extendRegistration", Registrations, "Keep a registration for longer", Registration)
        .with_note("For job.durationNumber of job.durationUnit from now (months when there is no unit), at most and by default 24 months. Nothing is ever kept for less than before.")
        .with_accepted(AcceptedParameters::Names(&["job.durationNumber", "job.durationUnit", "testMode"])),
    Route::new(Post, "/v1/registrations/{id}/payments", "payByRegistration", Registrations, "Pay with a registration", Payment)
        .with_note("The stored account pays, into the channel that holds it; where the merchant itself does, one of its channels is chosen as for any payment. card.cvv may come with the request, and with overrideHolder=true the holder, where none is stored. A brand with a page of its own sends the shopper there again (shopperResultUrl), unless an account with a provider is charged without the shopper. A charge without the shopper (standingInstruction.mode=REPEATED, source=MIT) is judged by what was agreed: an unknown initialTransactionId is refused with 700.100.100, an account that shows another number (of a card the first six and the last four digits) with 700.100.710, a charge after the expiry, too soon or one too many with 600.200.501 and the parameter that forbids it.")
        .with_accepted(AcceptedParameters::Payment).with_required(PAYMENT_REQUIRED),

    Route::new(Post, "/scheduling/v1/schedules", "createSchedule", Schedules, "Let a registration pay at planned times (SD)", ResponseContent::Schedule)
        .with_note("Each run is a payment that you initiate under the newest standing instruction of the registration, so store it with standingInstruction.mode INITIAL first. A time is needed: job.expression, or job.year to job.second. A missing finer part is 0, a missing coarser one is *. Days of the week are 1 (Sunday) to 7 (Saturday). plan.nextRuns previews the runs in the entity's time zone.")
        .with_accepted(AcceptedParameters::PaymentByRegistration).with_required(SCHEDULE_REQUIRED).with_route_parameters(&[MISSED_RUNS]),
    Route::new(Post, "/scheduling/v1/schedules/{id}/reschedule", "reschedule", Schedules, "Change a schedule (RS)", ResponseContent::Schedule)
        .with_note("The id is that of any request of its chain; the answer has a new one. What you send replaces what was there, and a new time replaces all times.")
        .with_accepted(AcceptedParameters::PaymentByRegistration).with_route_parameters(&[MISSED_RUNS]),
    Route::new(Post, "/scheduling/v1/schedules/{id}/deschedule", "deschedule", Schedules, "End a schedule (DS)", ResponseContent::Schedule)
        .with_note("At once, after job.noticeNumber, or with the duration if job.noticeCallable is DURATION_END. plan.endsAt says when.")
        .with_accepted(AcceptedParameters::Names(&["paymentType"])),
    Route::new(Delete, "/scheduling/v1/schedules/{id}", "deleteSchedule", Schedules, "End a schedule, by the older address", ResponseContent::Schedule)
        .with_note("Same as deschedule."),
    Route::new(Get, "/scheduling/v1/schedules/{id}", "readSchedule", Schedules, "Read a schedule, or those of a registration", ResponseContent::Schedules)
        .with_note("The id of any request of a chain leads to its schedule, with the chain and the latest 100 runs. The id of a registration leads to a list, schedules, with the latest 100."),

    Route::new(Get, "/v1/query", "queryPayments", Queries, "Find payments by reference, statement number or day", ResponseContent::Payments)
        .with_note("Ask by merchantTransactionId, by shortId, or by date.from and date.to. Long lists come in pages: send cursor of the answer before. Older clients number the pages: with pageNo the answer has pages, how many there are, for lists of at most 10000 payments. When none is found: 404 with 700.400.580.")
        .with_accepted(AcceptedParameters::Names(QUERY_FILTERS)),
    Route::new(Get, "/v1/query/{id}", "queryPayment", Queries, "Find a payment and what belongs to it", ResponseContent::PaymentOrList)
        .with_note("The id is a payment's or the number on the shopper's statement. With includeLinkedTransactions=true the answer lists the first payment and everything that refers to it.")
        .with_accepted(AcceptedParameters::Names(LINKED_QUERY_FILTERS)),
    Route::new(Get, "/v3/query", "queryPaymentsV3", Queries, "Find payments, by the newer address", ResponseContent::Payments)
        .with_accepted(AcceptedParameters::Names(QUERY_FILTERS)),
    Route::new(Get, "/v3/query/{id}", "queryPaymentV3", Queries, "Find a payment and what belongs to it, by the newer address", ResponseContent::PaymentOrList)
        .with_accepted(AcceptedParameters::Names(LINKED_QUERY_FILTERS)),

    Route::new(Get, "/reports/v1/totals", "reportTotals", Reports, "Add up payments by brand, currency, type, result and day", ResponseContent::Totals)
        .with_note("Counts every payment of the period, of the entity and below it, follow-up payments and declined ones too: use paymentType and result to tell them apart. Days are UTC. Amounts in different currencies are never added. At most 100000 rows.")
        .with_accepted(AcceptedParameters::Names(PERIOD)).with_required(PERIOD).with_route_parameters(&[
            RouteParameter { name: "groupBy", pattern: "^[A-Za-z, ]{0,64}$", required: false,
 note: "A list of day, paymentBrand, paymentType and result, by which the totals are divided. All of them if it is missing." },
            REPORT_FORMAT,
        ]),
    Route::new(Get, "/reports/v1/transactions", "reportTransactions", Reports, "Download every payment of a period", ResponseContent::Transactions)
        .with_note("Sends the payments of the entity and below it, oldest first for each entity, while they are read: one JSON object a line, as queries show a payment, or CSV. Text that a spreadsheet would take for a formula begins with an apostrophe in CSV. If the connection ends early, payments are missing.")
        .with_accepted(AcceptedParameters::Names(PERIOD)).with_required(PERIOD).with_route_parameters(&[REPORT_FORMAT]),
    Route::new(Get, "/reports/v1/authorizations", "reportAuthorizations", Reports, "Read the authorization rate and the reasons of declines", ResponseContent::Authorizations)
        .with_note("Counts preauthorizations and debits. authorizationRate is the part of those with an outcome that was approved, in percent. declineReasons has the result codes of the others, the most frequent first.")
        .with_accepted(AcceptedParameters::Names(PERIOD)).with_required(PERIOD).with_route_parameters(&[REPORT_FORMAT]),
    Route::new(Get, "/reports/v1/chargebacks", "reportChargebacks", Reports, "Read chargebacks beside charged payments, with their reasons", ResponseContent::Chargebacks)
        .with_note("Counts approved debits and captures, and the chargebacks of the same period, by brand and currency. chargebackRatio is the number of chargebacks as a part of these payments, in percent.")
        .with_accepted(AcceptedParameters::Names(PERIOD)).with_required(PERIOD).with_route_parameters(&[REPORT_FORMAT]),
    Route::new(Get, "/reports/v1/settlements", "reportSettlements", Reports, "Read the batches of settlements", ResponseContent::Settlements)
        .with_note("The batches of the entity and of those below it, by day, entity and currency. paidOut is what the merchant gets: charged less refunded, credited, chargedBack, fees and reserved, plus chargebacksReversed and released; it is negative if the merchant owes it. Amounts are in the currency of the settlement. At most 100000 rows.")
        .with_accepted(AcceptedParameters::Names(PERIOD)).with_required(PERIOD).with_route_parameters(&[REPORT_FORMAT]),
    Route::new(Get, "/reports/v1/fees", "reportFees", Reports, "Add up fees by day, transaction type, brand and currency", ResponseContent::Fees)
        .with_note("Fees on the lines of payments have the transaction type of their payment, such as DEBIT; the others have that of the fee, such as AUTH_FEE or MONTHLY. Days are those of the reconciliation files.")
        .with_accepted(AcceptedParameters::Names(PERIOD)).with_required(PERIOD).with_route_parameters(&[REPORT_FORMAT]).for_divisions(),
    Route::new(Get, "/ledger/v1/balances", "listBalances", Reports, "Read the balances of the ledger", ResponseContent::Balances)
        .with_note("The accounts of the entity and of those below it, now, by currency. Debits are positive and credits negative, and the accounts of a currency add up to 0. receivable is captured money that no settlement has paid yet; payable is what the merchant is owed of it; fees and reserve were kept, and cash is what they are in."),
    Route::new(Get, "/reports/v1/reconciliations/aggregations", "reportAggregations", Reports, "Add up reconciliation records", ResponseContent::Aggregations)
        .with_note("Totals of the records of an entity, a division's too, by the day of their file, currency and settlement currency, brand, recordType, transactionType, cashflow and status. Amounts have no sign: cashflow has the direction. With currency, only transactions in it. With testMode=INTERNAL, only what the gateway settles itself; with EXTERNAL, only records of an institute's files. At most 100000 rows.")
        .with_accepted(AcceptedParameters::Names(&["date.from", "date.to", "currency", "testMode"])).with_required(PERIOD)
        .with_route_parameters(&[REPORT_FORMAT]).for_divisions(),
    Route::new(Get, "/reconciliations/v1/files", "listReconciliationFiles", Reports, "List the reconciliation files of an entity", ResponseContent::ReconciliationFiles)
        .with_note("Each day with records has one file for each division and merchant, from the end of the day on. A listed file never changes. A channel has no files.")
        .with_accepted(AcceptedParameters::Names(PERIOD)).with_required(PERIOD).for_divisions(),
    Route::new(Get, "/reconciliations/v1/files/{name}", "readReconciliationFile", Reports, "Download a reconciliation file", ResponseContent::ReconciliationFile)
        .with_note("CSV with semicolons and a header line. The same bytes as over FTP.").for_divisions(),
    Route::new(Get, "/reconciliations/v1/records", "listReconciliationRecords", Reports, "Download reconciliation records", ResponseContent::ReconciliationRecords)
        .with_note("One JSON object a line, in the order of the files, with the latest matching and the exact fxRate. merchantTransactionId and merchantInvoiceId are null if the payment has none. If the connection ends early, records are missing.")
        .with_accepted(AcceptedParameters::Names(PERIOD)).with_required(PERIOD).for_divisions(),

    Route::new(Post, "/v2/riskScreen", "screenOrder", Risk, "Check an order by risk rules, without a payment", ResponseContent::RiskCheck)
        .with_note("Card, bank account or account with a provider, amount, currency and merchantTransactionId (8 to 255 characters) are required; paymentType may be sent. Nothing is charged, no account is stored, and no cardholder is authenticated. A refused order has status 400 and the code of its outcome: 100.400.142 denied, 100.400.141 to be challenged or reviewed, 100.400.145 the check failed, or the code that a rule names. A channel with --risk off refuses it with 600.200.201. The check counts in the velocity counters, and its number as one of similar numbers.")
        .with_accepted(AcceptedParameters::Payment).with_required(SCREEN_REQUIRED).with_rate_limit(),
    Route::new(Post, "/v2/registrations/{id}/riskScreen", "screenRegistration", Risk, "Check an order with a stored account by risk rules", ResponseContent::RiskCheck)
        .with_note("Same as with an account in the request, and with the same codes.")
        .with_accepted(AcceptedParameters::Payment).with_required(SCREEN_REQUIRED),
    Route::new(Post, "/v2/risk/rules", "addRiskRules", Risk, "Check a rules file, and store it as a version", ResponseContent::AddedRules)
        .with_note("The file is the body itself (application/toml, at most 1 MiB; entityId is in the query then), or the parameter rules (at most 16 KiB). Each error is named with its line and column under rules, and nothing is stored. A version that is stored already stays as it is. It decides nothing before it is activated.")
        .with_scope(Scope::Admin).with_text_body("rules").with_route_parameters(&[
            RouteParameter { name: "rules", pattern: r"^[\s\S]*$", required: true, note: "The text of the file." },
        ]),
    Route::new(Get, "/v2/risk/rules", "listRiskRules", Risk, "List the versions of risk rules", ResponseContent::RuleVersions)
        .with_note("active and shadow are the entity's own. inForce has what its payments are assessed with, from the nearest entity above where it has none of its own. changes are the latest ones."),
    Route::new(Get, "/v2/risk/rules/{version}", "readRiskRules", Risk, "Read the rules file of a version", ResponseContent::RulesText),
    Route::new(Post, "/v2/risk/rules/{version}/activate", "activateRiskRules", Risk, "Let a version of risk rules decide", ResponseContent::UsedRules)
        .with_note("Requests that begin after the answer are assessed with it. The version none stands for what the entity above uses.")
        .with_scope(Scope::Admin).with_route_parameters(&[REASON]),
    Route::new(Post, "/v2/risk/rules/{version}/shadow", "shadowRiskRules", Risk, "Let a version of risk rules only record", ResponseContent::UsedRules)
        .with_note("It runs beside the active version. The version none stands for what the entity above uses.")
        .with_scope(Scope::Admin).with_route_parameters(&[REASON]),
    Route::new(Post, "/v2/risk/rules/{version}/dryRun", "dryRunRiskRules", Risk, "Try a version of risk rules out over stored payments", ResponseContent::DryRun)
        .with_note("Replays the payments of a period, of the entity and of its channels without an active version of their own, and changes nothing. The answer has one JSON object a line: progress now and then, and at the end the report. It stops when you disconnect. A merchant has one dry run at a time, and the service two. An Idempotency-Key has no effect.")
        .with_scope(Scope::Read).with_accepted(AcceptedParameters::Names(PERIOD)).with_required(PERIOD).with_route_parameters(&[RouteParameter {
            name: "examples", pattern: "^[0-9]{0,2}$", required: false, note: "Number of payments that are listed for each kind of change, 0 to 20. Default: 5.",
        }]).with_rate_limit(),
    Route::new(Get, "/v2/risk/lists", "listRiskLists", Risk, "List the entries of the lists", ResponseContent::ListEntries)
        .with_note("All entries, or those of a list, a key or a value, with expired ones. Long lists come in pages: send cursor of the answer before.")
        .with_route_parameters(&[LIST, LIST_KEY, LIST_VALUE, RouteParameter {
            name: "cursor", pattern: "^[A-Za-z0-9_-]{0,4096}$", required: false, note: "The cursor of the answer before.",
        }]),
    Route::new(Post, "/v2/risk/lists", "addRiskListEntry", Risk, "Add an entry to a list", ResponseContent::ListEntry)
        .with_note("It replaces the entry with the same value. For the key card send card.number in place of value; for the key account the account as in a payment. Only a blind index of both is stored, and similar numbers are limited.")
        .with_rate_limit().with_scope(Scope::Admin).with_accepted(AcceptedParameters::Names(LISTED_ACCOUNT)).with_route_parameters(&[
            RouteParameter { required: true, ..LIST }, RouteParameter { required: true, ..LIST_KEY }, LIST_VALUE, REASON,
            RouteParameter { name: "source", pattern: "^(server|any)?$", required: false, note: "Accepted source of a payment's facts: server accepts facts from your server and the gateway only, any also accepts facts from the shopper's browser. Default: server for the list allow, any for the other lists." },
            RouteParameter { name: "expires", pattern: "^.{0,64}$", required: false, note: "The time after which it ends, such as 30d or 12h, by the entity's clock." },
        ]),
    Route::new(Delete, "/v2/risk/lists", "removeRiskListEntry", Risk, "Remove an entry from a list", ResponseContent::ListEntry)
        .with_note("The audit keeps it.")
        .with_scope(Scope::Admin).with_route_parameters(&[
            RouteParameter { required: true, ..LIST }, RouteParameter { required: true, ..LIST_KEY }, RouteParameter { required: true, ..LIST_VALUE }, REASON,
        ]),
    Route::new(Get, "/v2/risk/audit", "listRiskChanges", Risk, "List changes of rules and lists, and reached limits", ResponseContent::RiskChanges)
        .with_note("The latest first: kind rules for versions, list for entries of lists, and limit for limits against card testing that refused attempts, at most once a minute for each limit. The subject of a limit is its name and what it counts, masked. Long lists come in pages: send cursor of the answer before.")
        .with_accepted(AcceptedParameters::Names(&["limit"])).with_route_parameters(&[RouteParameter {
            name: "cursor", pattern: "^[A-Za-z0-9_-]{0,64}$", required: false, note: "The cursor of the answer before.",
        }]),

    Route::new(Post, "/v1/disputes", "openDispute", Disputes, "Open a dispute, as the institute", ResponseContent::Dispute)
        .with_note("For the operator, with a token of a PSP or division above the merchant. A chargeback (CB) is made with the dispute. amount is the disputed part, in the currency of the payment; the whole amount without it. chargebackResultCode is the reason.")
        .with_scope(Scope::Refund).with_accepted(AcceptedParameters::Names(&["amount", "chargebackResultCode"])).with_route_parameters(&[
            DISPUTED_PAYMENT,
            RouteParameter { name: "stage", pattern: "^(RETRIEVAL_REQUEST|CHARGEBACK)$", required: true, note: "The first stage." },
            SCHEME_REASON, RESPONSE_DAYS, NOTE,
        ]),
    Route::new(Get, "/v1/disputes", "listDisputes", Disputes, "List the disputes about your payments", ResponseContent::Disputes)
        .with_note("Those of the entity and of its channels, newest first. Long lists come in pages: send cursor of the answer before.")
        .with_accepted(AcceptedParameters::Names(&["limit", "cursor"])).with_route_parameters(&[RouteParameter {
            name: "state", pattern: "^(open|ended|all)?$", required: false, note: "open, ended or all; open if it is not sent.",
        }]),
    Route::new(Get, "/v1/disputes/{id}", "readDispute", Disputes, "Read a dispute with its steps and its evidence", ResponseContent::DisputeDetails),
    Route::new(Post, "/v1/disputes/{id}/advance", "advanceDispute", Disputes, "Report the next stage, as the institute", ResponseContent::Dispute)
        .with_note("For the operator, with a token of a PSP or division above the merchant. CHARGEBACK makes the chargeback of a retrieval request, REVERSAL returns its amount to the merchant (CR), LOST decides against the merchant, CLOSED ends a retrieval request. A stage that is not possible now is answered with 409.")
        .with_scope(Scope::Refund).with_accepted(AcceptedParameters::Names(&["amount", "chargebackResultCode"])).with_route_parameters(&[
            RouteParameter { name: "stage", pattern: "^(CHARGEBACK|PRE_ARBITRATION|REVERSAL|LOST|CLOSED)$", required: true, note: "The next stage." },
            SCHEME_REASON, RESPONSE_DAYS, NOTE,
        ]),
    Route::new(Post, "/v1/disputes/{id}/accept", "acceptDispute", Disputes, "Accept a chargeback", ResponseContent::Dispute)
        .with_note("The dispute ends, and the amount stays with the shopper.")
        .with_scope(Scope::Refund).with_route_parameters(&[NOTE]),
    Route::new(Post, "/v1/disputes/{id}/representment", "representDispute", Disputes, "Contest a chargeback, or answer a retrieval request", ResponseContent::Dispute)
        .with_note("Upload the evidence first. A note or an evidence file is needed.")
        .with_scope(Scope::Refund).with_route_parameters(&[NOTE]),
    Route::new(Post, "/v1/disputes/{id}/evidence", "addEvidence", Disputes, "Add an evidence file to a dispute", ResponseContent::StoredEvidence)
        .with_note("The body is the file, with its Content-Type: application/pdf, image/png or image/jpeg, at most 4 MiB. With application/octet-stream its content decides. The parameters are in the query. A dispute has at most 10 files of 16 MiB together. They are stored encrypted, and deleted 180 days after the end of the dispute.")
        .with_scope(Scope::Refund).with_file().with_route_parameters(&[RouteParameter {
            name: "name", pattern: "^.{0,255}$", required: false, note: "The name of the file. Unsafe characters are replaced.",
        }]),
    Route::new(Get, "/v1/evidence/{id}", "readEvidence", Disputes, "Download an evidence file", ResponseContent::EvidenceFile),

    Route::new(Get, "/v2/reviews", "listReviews", Reviews, "List the payments that are held for review", ResponseContent::Reviews)
        .with_note("Those of the entity and of its channels, those that are held longest first. Several filters are combined with and. Long lists come in pages: send cursor of the answer before. A page may have fewer entries than limit, and none, and still a cursor.")
        .with_accepted(AcceptedParameters::Names(REVIEW_FILTERS)).with_route_parameters(OWN_REVIEW_FILTERS),
    Route::new(Get, "/v2/reviews/{id}", "readReview", Reviews, "Read a review with its payment and its audit", ResponseContent::Review)
        .with_note("The id is that of the payment. riskDecision has the rules that fired and the names of what they read."),
    Route::new(Post, "/v2/reviews/{id}/claim", "claimReview", Reviews, "Claim a held payment", ResponseContent::ChangedReview)
        .with_note("Reserves it for the analyst, whose id is the user id of the token. The claim ends by itself after 30 minutes; claiming again renews it. Meanwhile nobody else can claim or decide the payment.")
        .with_scope(Scope::Review).with_route_parameters(&[NOTE]),
    Route::new(Post, "/v2/reviews/{id}/release", "releaseReview", Reviews, "Give a claimed payment back", ResponseContent::ChangedReview)
        .with_note("A payment that nobody has claimed stays as it is.")
        .with_scope(Scope::Review).with_route_parameters(&[NOTE]),
    Route::new(Post, "/v2/reviews/{id}/note", "noteReview", Reviews, "Add a note to a held payment", ResponseContent::ChangedReview)
        .with_note("Also after the decision. A payment has at most 100 notes.")
        .with_scope(Scope::Review).with_route_parameters(&[RouteParameter { required: true, ..NOTE }]),
    Route::new(Post, "/v2/reviews/{id}/approve", "approveReview", Reviews, "Approve a held payment", ResponseContent::ChangedReview)
        .with_note("It is executed, or captured if it is authorized; payment.result has the outcome. The same decision again by the same analyst changes nothing.")
        .with_scope(Scope::Review).with_route_parameters(&[NOTE]),
    Route::new(Post, "/v2/reviews/{id}/cancel", "cancelReview", Reviews, "Cancel a held payment", ResponseContent::ChangedReview)
        .with_note("It is declined, and reversed if it is authorized.")
        .with_scope(Scope::Review).with_route_parameters(&[NOTE, RouteParameter {
            name: "reason", pattern: "^[0-9]{1,9}$", required: true, note: "The numeric reason.",
        }]),
    Route::new(Post, "/v2/reviews/{id}/pend", "pendReview", Reviews, "Keep a payment held, and tell the merchant so", ResponseContent::ChangedReview)
        .with_note("The merchant gets a review decision callback with PENDING. The end of the review stays as it is.")
        .with_scope(Scope::Review).with_route_parameters(&[NOTE]),

    Route::new(Get, "/v1/paymentWidgets.js", "loadForm", Form, "Load the hosted form", Script)
        .with_note("The script that your page includes. Its bytes are the same for every load of a checkout.")
        .for_everybody().with_route_parameters(&[CHECKOUT_ID]),
    Route::new(Get, "/v1/pciIframe.html", "loadFrame", Form, "Load a frame of the form", Html)
        .with_note("Frame on our own origin in which the shopper types the card number, the security code, the holder or the expiry date.")
        .for_shopper().on_host(Fields).with_route_parameters(&[
            CHECKOUT_ID,
            RouteParameter { name: "field", pattern: "^card\\.(number|cvv|holder|expiry)$", required: false, note: "Field of the frame; the card number if there is none. There is no frame of another field (404)." },
        ]),
    Route::new(Get, "/v1/internalRequestIframe.html", "loadRelay", Form, "Load the form's hidden frame", Html)
        .with_note("Tells forms without a card number what is offered, and sends what they post, from our own origin.")
        .for_shopper().on_host(Fields).with_route_parameters(&[CHECKOUT_ID]),
    Route::new(Get, "/v1/plainForm.html", "loadPlainForm", Form, "Load the form for browsers that are too old", Html)
        .with_note("Form that the loader shows in a frame if the browser cannot run the page module: plain HTML for the brands that it names, in the shopper's language, without scripts.")
        .for_shopper().on_host(Fields).with_route_parameters(&[CHECKOUT_ID, BRANDS, LOCALE]),
    Route::new(Post, "/v1/plainForm.html", "submitPlainForm", Form, "Pay in the form for browsers that are too old", Html)
        .with_note("Submit of that form, in the whole window. 303 redirects to the brand's page, or back to shopperResultUrl with id and resourcePath, approved and declined alike; 400 shows the form again with what is wrong beside each field. The input of a checkout that is closed is not judged: a second submit leads where the first one led. Card number and code are never repeated.")
        .for_shopper().visits_from_other_pages().on_host(Fields).with_accepted(AcceptedParameters::Browser).with_rate_limit().with_route_parameters(&[CHECKOUT_ID, BRANDS, LOCALE]),
    Route::new(Get, "/v1/wpwl.d.ts", "readDeclarations", Form, "Load the form's type declarations", ResponseContent::Declarations)
        .with_note("TypeScript declarations of wpwlOptions and wpwl, as this build knows them.")
        .for_everybody(),
    Route::new(Get, "/v1/return/{id}", "returnFromAcquirer", Form, "Take a shopper back from an acquirer's page", Html)
        .with_note("Page to which an acquirer outside of the gateway sends the shopper back. The id is the capability. The gateway asks the acquirer for the outcome and ignores what the browser sends; the page then redirects to shopperResultUrl with id and resourcePath.")
        .for_shopper(),
    Route::new(Post, "/v1/return/{id}", "postFromAcquirer", Form, "Take a shopper back from an acquirer's page that posts", Html)
        .with_note("Same as with GET. The body is not read.")
        .for_shopper().visits_from_other_pages(),
    Route::new(Get, "/v1/threeDSecure/{id}", "showAuthentication", Form, "Authenticate a cardholder", Html)
        .with_note("Page at redirect.url of a pending card payment. The id is the capability. The page runs the issuer's method page if it has not run yet, authenticates the cardholder, and shows the issuer's challenge; then it redirects to shopperResultUrl with id and resourcePath. Your pages may show it in a frame; with inline=true it does not redirect at the end, but notifies the page around it that it has ended.")
        .for_shopper().with_route_parameters(&[
            RouteParameter { name: "inline", pattern: "^(true|false)?$", required: false, note: "The page is in a frame of the form." },
            RouteParameter { name: "resultWindow", pattern: "^(self|parent)?$", required: false, note: "The window in which the shop's page opens in the end, as seen from this page. The whole tab if it is missing." },
            RouteParameter { name: "methodTime", pattern: "^(over)?$", required: false, note: "The issuer's method page has had its time." },
        ]),
    Route::new(Post, "/v1/threeDSecure/{id}", "answerAuthentication", Form, "Answer the challenge of an issuer", Html)
        .with_note("returnCode is one of the codes on the page of the simulated issuer, and transaction the transaction that the page names. An answer is taken once and in time; any other changes nothing: 409. Without returnCode it is the shopper's first visit (version 1).")
        .for_shopper().visits_from_other_pages(),
    Route::new(Get, "/v1/threeDSecure/{id}/method", "runMethodPage", Form, "Run the method page of an issuer", Html)
        .with_note("Page in redirect.preconditions. The browser loads it in a hidden frame before it goes to redirect.url.")
        .for_shopper(),
    Route::new(Get, "/v1/threeDSecure.js", "loadAuthenticationScript", Form, "Lead the page of an authentication on", Script)
        .for_everybody(),
    Route::new(Get, "/v1/static/{build}/img/brand.png", "loadBrandSheet", Form, "Load the sheet of brand marks", ResponseContent::Drawing)
        .with_note("For style sheets that point at it. The drawing is SVG, whatever the address says.")
        .for_everybody(),
    Route::new(Get, "/v1/paymentWidgets/img/brand.png", "loadOlderBrandSheet", Form, "Load the sheet of brand marks, by its older address", ResponseContent::Drawing)
        .for_everybody(),
    Route::new(Get, "/v1/static/{build}/frame/{*path}", "loadFrameFile", Form, "Load a file of a frame of the form", File)
        .with_note("Never changes and may be kept for a year: the address carries the build.")
        .for_everybody().on_host(Fields),
    Route::new(Get, "/v1/static/{build}/{*path}", "loadFile", Form, "Load a file of the form", File)
        .with_note("Never changes and may be kept for a year: the address carries the build.")
        .for_everybody(),

    Route::new(Get, "/v1/scripts", "listScripts", Service, "List every script of the form", ResponseContent::Scripts)
        .with_note("The inventory of the form that new checkouts get: each script with its reason, its hash and its size, and the policy of each document, in which ORIGINS stands for the merchant's origins and CHECKOUT for the checkout. manifest is what was written when the form was built, and signature (Ed25519, base64) says by whom, where it was signed.")
        .for_everybody(),
    Route::new(Get, "/v1/policyReports", "readPolicyReports", Service, "Read what violated a policy", ResponseContent::PolicyReports)
        .with_note("Violations that browsers have reported about the form of your checkouts, and about your own pages if their policy names POST /v1/policyReports/{entityId}. The same violation is listed once with its count, the latest first, 200 at most; what is beyond is counted under the directive others. A violation is kept for 90 days after its last report. dropped counts requests that were too many, since the gateway started."),
    Route::new(Post, "/v1/policyReports/{id}", "reportViolation", Service, "Report a violation of a policy", ResponseContent::Noted)
        .with_note("For browsers. The id is your entityId, in the policy of your own pages, or a checkout's id, in the policies of our frames and pages. The body is application/csp-report (report-uri) or application/reports+json (report-to), 16 kB at most. Kept are the directive, the origin that was blocked, and origin and path of page and script: no query, no long number, no part of a script.")
        .for_everybody().on_host(Both).with_rate_limit(),
    Route::new(Post, "/v2/reviewDecisions/{id}", "receiveReviewDecision", Service, "Decide a held payment from an outside review system", ResponseContent::Empty)
        .with_note("The id is the entityId. The body has the pairs that the operator configured for this entity with tillgate review-callback set, and the credentials are those of its section receiving, in headers or in pairs. The same decision again is answered alike and changes nothing. An answer has no JSON: its body is empty, or the text of its status.")
        .for_review_system().with_rate_limit(),
    Route::new(Post, "/v1/clock/{advance}", "advanceClock", Service, "Move a sandbox's clock forward", ResponseContent::Clock)
        .with_note("For tests of what happens later: with /v1/clock/30m a checkout expires at once, and everything that is due by then (reminders, time-outs, runs of schedules, settlements, deliveries that are tried again) happens. Each run of a schedule is dated by its own time. The answer comes when all of this but deliveries has happened; after five seconds it has the number of what is left in stillDue. A move that makes more than 10000 runs due is refused. Durations read 30m, 25h or 2h 30m; 0s tells the time. A merchant and its channels share a clock, and it never goes back. A live entity has none that could be moved: 404.")
        .with_scope(Scope::Admin),
    Route::new(Get, "/v1/resultcodes", "listResultCodes", Service, "List every result code", ResultCodes).for_everybody(),
    Route::new(Get, "/openapi.json", "readOpenApi", Service, "Describe every route, for programs", OpenApi)
        .with_note("OpenAPI 3.1, made of the same table and the same catalogue that the service works with.")
        .for_everybody(),
    Route::new(Get, "/reference", "readReference", Service, "Describe every route, for people", Html)
        .with_note("This page. It loads nothing and runs no script.")
        .for_everybody(),
    Route::new(Get, "/health", "readHealth", Service, "Ask whether the service is well", Health)
        .with_note("200 while the store writes and reads, 503 otherwise, with the reason: disk-full, busy, disk-failing, damaged, schema-changed, slow or failed.")
        .for_everybody(),
];
