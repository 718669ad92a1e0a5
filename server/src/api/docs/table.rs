//! Every route of the service, one row each. The router in `api/mod.rs` says who handles them; a route that is in one
//! and not in the other fails the tests.

use super::route::Body::{
    self, Checkout, CheckoutStatus, File, Health, Html, OpenApi, Payment, Registration, ResultCodes, Script, Submitted,
};
use super::route::Host::{Both, Fields};
use super::route::Method::{Delete, Get, Post};
use super::route::Section::{Checkouts, Form, Payments, Queries, Registrations, Service};
use super::route::{Own, Route, Takes};
use crate::domain::scope::Scope;

const HEX_ID: &str = "^[0-9A-Za-z.-]{1,64}$";

const CHECKOUT_ID: Own =
    Own { name: "checkoutId", pattern: HEX_ID, required: false, note: "The checkout that the form is for." };

const BRANDS: Own =
    Own { name: "brands", pattern: "^[A-Z0-9_ ,]{0,2048}$", required: false, note: "The brands that the page offers." };
const LOCALE: Own =
    Own { name: "locale", pattern: "^[A-Za-z0-9_-]{0,35}$", required: false, note: "The language of the form." };

/// What every payment request carries.
const PAYMENT: &[&str] = &["amount", "currency", "paymentType"];

/// What narrows the payments that belong together.
const FOUND: &[&str] = &[
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
const LINKED: &[&str] = &["includeLinkedTransactions", "paymentTypes", "paymentMethods", "testMode"];

/// The routes, in the order of the documents.
#[rustfmt::skip] // a row reads as a line
pub static ROUTES: &[Route] = &[
    Route::new(Post, "/v1/checkouts", "createCheckout", Checkouts, "Prepare a checkout", Checkout)
        .note("The checkout stays open for 30 minutes or until it is paid. With integrity=true the answer also carries the hash of the form's script.\nWithout paymentType and with createRegistration=true it stores payment data and moves no money.")
        .takes(Takes::Payment),
    Route::new(Post, "/v1/checkouts/{id}", "updateCheckout", Checkouts, "Add to an open checkout", Checkout)
        .note("What is sent takes the place of what was there; the rest stays. Refused once the shopper has submitted.")
        .takes(Takes::Payment),
    Route::new(Get, "/v1/checkouts/{id}/payment", "readCheckout", Checkouts, "Read what became of a checkout", CheckoutStatus)
        .note("Readable for good, as often as you like, also after the checkout has expired. This is where resourcePath points to."),
    Route::new(Post, "/v1/checkouts/{id}/payment", "submitCheckout", Checkouts, "Pay a checkout", Submitted)
        .note("What the hosted form posts. Approved and declined answer alike; the merchant's server reads the outcome. A value that the merchant has set stands above one from the browser, and what a browser may not set is ignored.")
        .for_shopper().own_pages_only().on(Both).takes(Takes::Browser).counted(),
    Route::new(Post, "/v1/checkouts/{id}/confirm", "confirmCheckout", Checkouts, "Pay with what the shopper has filled in", CheckoutStatus)
        .note("For pages with wpwlOptions.useSummaryPage: the form has kept the shopper's data with the gateway, in memory and for as long as the checkout lives, and called onSaveTransactionData. Once the shopper agrees on your summary page, your server sends this. The answer is the status; a pending payment has a redirect for the shopper. A checkout that is paid already stays as it is.")
        .counted(),
    Route::new(Get, "/v1/checkouts/{id}/state", "readCheckoutState", Checkouts, "Ask where a checkout stands, in the browser", Body::CheckoutState)
        .note("What the hosted form asks while the shopper is on a brand's page in another window. It tells OPEN, PENDING, PAID, REGISTERED or EXPIRED and nothing else.")
        .for_shopper().own_pages_only().on(Both),
    Route::new(Delete, "/v1/checkouts/{id}/registrations/{registration}", "deleteOfferedRegistration", Checkouts, "Delete a stored account in the form", Registration)
        .note("What the hosted form sends when the shopper removes one of the registrations that the checkout offers. Only where the merchant has made the checkout with registrationsDeletable=true, and while it is open.")
        .for_shopper().own_pages_only().on(Both),

    Route::new(Get, "/v1/checkouts/{id}/registration", "readTokenisation", Checkouts, "Read what became of a tokenisation checkout", Registration)
        .note("For a checkout without paymentType and with createRegistration=true: this is where its resourcePath points to."),
    Route::new(Post, "/v1/checkouts/{id}/registration", "submitTokenisation", Checkouts, "Store the account of a tokenisation checkout", Submitted)
        .note("What the hosted form posts. Nobody is charged.")
        .for_shopper().own_pages_only().on(Both).takes(Takes::Browser).counted(),

    Route::new(Post, "/v1/payments", "createPayment", Payments, "Pay server to server", Payment)
        .note("PA reserves, DB takes and CD pays out. A decline is an answer too: it has status 400, an id, and no amount.")
        .takes(Takes::Payment).requires(PAYMENT).counted(),
    Route::new(Get, "/v1/payments/{id}", "readPayment", Payments, "Read a payment", Payment),
    Route::new(Post, "/v1/payments/{id}", "referToPayment", Payments, "Capture, reverse, refund or charge back a payment", Payment)
        .note("CP captures a preauthorization, in one part or several. RV takes a payment back as a whole, as long as the connector still can. RF refunds, in one part or several, never more than was taken. The answer is a payment of its own. referencedId, which names the first one, is in webhooks, notifications and lists, not in this answer.")
        .takes(Takes::Payment).requires(&["paymentType"]),

    Route::new(Post, "/v1/registrations", "createRegistration", Registrations, "Store payment data", Registration)
        .note("The id of the answer stands for the account in later payments. Every request gets a new id, also for an account that is stored already: nothing tells whether it is. A merchant sees the registrations of its channels, a channel its own. A walletPay.paymentToken is opened and used up, and the card inside is stored. A brand that asks the shopper on a page of its own has something to store where the request names the account (virtualAccount.accountId, bankAccount.iban), and nothing otherwise: 100.150.100. With recurringMigration a registration brings its initial transaction along from another system.")
        .takes(Takes::Payment).counted(),
    Route::new(Get, "/v1/registrations/{id}", "readRegistration", Registrations, "Read a registration", Registration)
        .note("A card's data are kept until 14 months after the card has expired, see retainedUntil. Deleted: 100.150.202. No longer kept: 100.150.206."),
    Route::new(Delete, "/v1/registrations/{id}", "deleteRegistration", Registrations, "Delete a registration", Registration)
        .note("The account is deleted, and what was agreed for it ends. Payments made with it stay readable."),
    Route::new(Post, "/v1/registrations/{id}/extendlife", "extendRegistration", Registrations, "Keep a registration for longer", Registration)
        .note("For job.durationNumber of job.durationUnit from now (months when there is no unit), at most and by default 24 months. Nothing is ever kept for less than before.")
        .takes(Takes::Names(&["job.durationNumber", "job.durationUnit", "testMode"])),
    Route::new(Post, "/v1/registrations/{id}/payments", "payByRegistration", Registrations, "Pay with a registration", Payment)
        .note("The stored account pays, into the channel that holds it; where the merchant itself does, one of its channels is chosen as for any payment. card.cvv may come with the request, and with overrideHolder=true the holder, where none is stored. A brand with a page of its own sends the shopper there again (shopperResultUrl), unless an account with a provider is charged without the shopper. A charge without the shopper (standingInstruction.mode=REPEATED, source=MIT) is judged by what was agreed: an unknown initialTransactionId is refused with 700.100.100, an account that shows another number (of a card the first six and the last four digits) with 700.100.710, a charge after the expiry, too soon or one too many with 600.200.501 and the parameter that forbids it.")
        .takes(Takes::Payment).requires(PAYMENT),

    Route::new(Get, "/v1/query", "queryPayments", Queries, "Find payments by reference, statement number or day", Body::Payments)
        .note("Ask by merchantTransactionId, by shortId, or by date.from and date.to. Long lists come in pages: send cursor of the answer before. Older clients number the pages: with pageNo the answer has pages, how many there are, for lists of at most 10000 payments. When none is found: 404 with 700.400.580.")
        .takes(Takes::Names(FOUND)),
    Route::new(Get, "/v1/query/{id}", "queryPayment", Queries, "Find a payment and what belongs to it", Body::PaymentOrList)
        .note("The id is a payment's or the number on the shopper's statement. With includeLinkedTransactions=true the answer lists the first payment and everything that refers to it.")
        .takes(Takes::Names(LINKED)),
    Route::new(Get, "/v3/query", "queryPaymentsV3", Queries, "Find payments, by the newer address", Body::Payments)
        .takes(Takes::Names(FOUND)),
    Route::new(Get, "/v3/query/{id}", "queryPaymentV3", Queries, "Find a payment and what belongs to it, by the newer address", Body::PaymentOrList)
        .takes(Takes::Names(LINKED)),

    Route::new(Get, "/v1/paymentWidgets.js", "loadForm", Form, "Load the hosted form", Script)
        .note("The script that your page includes. Its bytes are the same for every load of a checkout.")
        .for_everybody().own(&[CHECKOUT_ID]),
    Route::new(Get, "/v1/pciIframe.html", "loadFrame", Form, "Load a frame of the form", Html)
        .note("Where the card number and the security code are typed, on our own origin.")
        .for_shopper().on(Fields).own(&[
            CHECKOUT_ID,
            Own { name: "field", pattern: "^card\\.(number|cvv)$", required: false, note: "What the frame asks for." },
        ]),
    Route::new(Get, "/v1/internalRequestIframe.html", "loadRelay", Form, "Load the form's hidden frame", Html)
        .note("Tells forms without a card number what is offered, and sends what they post, from our own origin.")
        .for_shopper().on(Fields).own(&[CHECKOUT_ID]),
    Route::new(Get, "/v1/plainForm.html", "loadPlainForm", Form, "Load the form for browsers that are too old", Html)
        .note("What the loader shows in a frame where the browser cannot run the form: plain HTML for the brands that it names, in the shopper's language, without scripts.")
        .for_shopper().on(Fields).own(&[CHECKOUT_ID, BRANDS, LOCALE]),
    Route::new(Post, "/v1/plainForm.html", "submitPlainForm", Form, "Pay in the form for browsers that are too old", Html)
        .note("What that form posts, in the whole window. 303 leads to the brand's page, or back to shopperResultUrl with id and resourcePath, approved and declined alike; 400 shows the form again with what is wrong beside each field. Card number and code are never repeated.")
        .for_shopper().own_pages_only().on(Fields).takes(Takes::Browser).counted().own(&[CHECKOUT_ID, BRANDS, LOCALE]),
    Route::new(Get, "/v1/wpwl.d.ts", "readDeclarations", Form, "Load the form's type declarations", File)
        .note("TypeScript declarations of wpwlOptions and wpwl, as this build knows them.")
        .for_everybody(),
    Route::new(Get, "/v1/simulator/{id}", "showSimulator", Form, "Show the page that stands for a bank or a provider", Html)
        .note("Where redirect.url of a pending payment leads while the simulator processes it. The id is the capability. With inline=true it may be shown in a frame by the merchant's pages, and leads nowhere in the end.")
        .for_shopper(),
    Route::new(Post, "/v1/simulator/{id}", "answerSimulator", Form, "Answer on the page that stands for a bank or a provider", Html)
        .note("answer=success makes the payment (000.100.110), cancel cancels it (100.396.101), close ends it without an answer (100.396.104), later leaves it pending. The page then leads back to shopperResultUrl with id and resourcePath. A payment ends once: another answer is 409.")
        .for_shopper(),
    Route::new(Get, "/v1/threeDSecure/{id}", "showAuthentication", Form, "Authenticate a cardholder", Html)
        .note("Where redirect.url of a pending card payment leads. The id is the capability. The page runs the issuer's method page where that has not run yet, asks the issuer, and shows the issuer's challenge; then it leads back to shopperResultUrl with id and resourcePath. Your pages may show it in a frame; with inline=true it leads nowhere in the end, and says to the page around it that it has ended.")
        .for_shopper().own(&[
            Own { name: "inline", pattern: "^(true|false)$", required: false, note: "The page is in a frame of the form." },
            Own { name: "methodTime", pattern: "^over$", required: false, note: "The issuer's method page has had its time." },
        ]),
    Route::new(Post, "/v1/threeDSecure/{id}", "answerAuthentication", Form, "Answer the challenge of an issuer", Html)
        .note("returnCode is one of the codes on the page of the simulated issuer, and transaction the transaction that the page names. An answer is taken once and in time; any other changes nothing: 409. Without returnCode it is the shopper's first visit (version 1).")
        .for_shopper(),
    Route::new(Get, "/v1/threeDSecure/{id}/method", "runMethodPage", Form, "Run the method page of an issuer", Html)
        .note("What redirect.preconditions names: the browser loads it in a hidden frame before it goes to redirect.url.")
        .for_shopper(),
    Route::new(Get, "/v1/threeDSecure.js", "loadAuthenticationScript", Form, "Lead the page of an authentication on", Script)
        .for_everybody(),
    Route::new(Get, "/v1/simulator/wallet/{id}", "showWalletSheet", Form, "Show the sheet that stands for a wallet", Html)
        .note("In a frame of the form, for channels that are a sandbox and have a key for wallets. The checkout's id is the capability.")
        .for_shopper().own(&[Own { name: "brand", pattern: "^[A-Z_]{1,32}$", required: true, note: "Which wallet." }]),
    Route::new(Post, "/v1/simulator/wallet/{id}", "answerWalletSheet", Form, "Choose a card in the sheet that stands for a wallet", Html)
        .note("card is the place of a card in the sheet, from 0. The token is for the form's hidden frame; nobody else sees it.")
        .for_shopper().own_pages_only(),
    Route::new(Get, "/v1/simulator/wallet.js", "loadWalletScript", Form, "Hand the token of the simulated wallet to the form", Script)
        .for_everybody(),
    Route::new(Get, "/v1/simulator.js", "loadSimulatorScript", Form, "Close the page that stands for a bank or a provider", Script)
        .note("For a page in a popup, once it is done.")
        .for_everybody(),
    Route::new(Get, "/v1/static/{build}/img/brand.png", "loadBrandSheet", Form, "Load the sheet of brand marks", File)
        .note("For style sheets that point at it. The drawing is SVG, whatever the address says.")
        .for_everybody(),
    Route::new(Get, "/v1/paymentWidgets/img/brand.png", "loadOlderBrandSheet", Form, "Load the sheet of brand marks, by its older address", File)
        .for_everybody(),
    Route::new(Get, "/v1/static/{build}/frame/{*path}", "loadFrameFile", Form, "Load a file of a frame of the form", File)
        .note("Never changes and may be kept for a year: the address carries the build.")
        .for_everybody().on(Fields),
    Route::new(Get, "/v1/static/{build}/{*path}", "loadFile", Form, "Load a file of the form", File)
        .note("Never changes and may be kept for a year: the address carries the build.")
        .for_everybody(),

    Route::new(Get, "/v1/scripts", "listScripts", Service, "List every script of the form", Body::Scripts)
        .note("The inventory of the form that new checkouts get: each script with its reason, its hash and its size, and the policy of each document, in which ORIGINS stands for the merchant's origins and CHECKOUT for the checkout. manifest is what was written when the form was built, and signature (Ed25519, base64) says by whom, where it was signed.")
        .for_everybody(),
    Route::new(Get, "/v1/policyReports", "readPolicyReports", Service, "Read what violated a policy", Body::PolicyReports)
        .note("What browsers have reported about the form of your checkouts, and about your own pages where their policy names POST /v1/policyReports/{entityId}. The same violation is listed once with its count, the latest first, 200 at most; what is beyond is counted under the directive others. A violation is kept for 90 days after its last report. dropped counts requests that were too many, since the gateway started."),
    Route::new(Post, "/v1/policyReports/{id}", "reportViolation", Service, "Report a violation of a policy", Body::Noted)
        .note("For browsers. The id is your entityId, in the policy of your own pages, or a checkout's id, in the policies of our frames and pages. The body is application/csp-report (report-uri) or application/reports+json (report-to), 16 kB at most. Kept are the directive, the origin that was blocked, and origin and path of page and script: no query, no long number, no part of a script.")
        .for_everybody().on(Both).counted(),
    Route::new(Post, "/v1/clock/{advance}", "advanceClock", Service, "Move a sandbox's clock forward", Body::Clock)
        .note("For tests of what happens later: with /v1/clock/30m a checkout expires at once, and everything that is due by then (reminders, time-outs, deliveries that are tried again) happens. Durations read 30m, 25h or 2h 30m; 0s tells the time. A merchant and its channels share a clock, and it never goes back. A live entity has none that could be moved: 404.")
        .scope(Scope::Admin),
    Route::new(Get, "/v1/resultcodes", "listResultCodes", Service, "List every result code", ResultCodes).for_everybody(),
    Route::new(Get, "/openapi.json", "readOpenApi", Service, "Describe every route, for programs", OpenApi)
        .note("OpenAPI 3.1, made of the same table and the same catalogue that the service works with.")
        .for_everybody(),
    Route::new(Get, "/reference", "readReference", Service, "Describe every route, for people", Html)
        .note("This page. It loads nothing and runs no script.")
        .for_everybody(),
    Route::new(Get, "/health", "readHealth", Service, "Ask whether the service is well", Health)
        .note("200 while the store writes and reads, 503 otherwise, with the reason: disk-full, busy, disk-failing, damaged, slow or failed.")
        .for_everybody(),
];
