//! Contents of responses, which the rows of the table of routes name.

/// Content of a response with status 200.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ResponseContent {
    /// A payment.
    Payment,
    /// Several payments.
    Payments,
    /// A payment, or several.
    PaymentOrList,
    /// A checkout's id.
    Checkout,
    /// The status of a checkout.
    CheckoutStatus,
    /// The state of a checkout.
    CheckoutState,
    /// The page to which the shopper is redirected.
    Submitted,
    /// A registration.
    Registration,
    /// The status of a tokenisation checkout.
    RegistrationStatus,
    /// The id of a registration that the shopper has deleted.
    RemovedRegistration,
    /// A schedule after a request.
    Schedule,
    /// A schedule with its chain and its runs, or several.
    Schedules,
    /// The table of result codes.
    ResultCodes,
    /// The health of the service.
    Health,
    /// The time of a clock.
    Clock,
    /// The scripts of the form.
    Scripts,
    /// Policy violations.
    PolicyReports,
    /// The confirmation that a report was stored.
    Noted,
    /// A version of risk rules that was added.
    AddedRules,
    /// The versions of risk rules that an entity uses.
    UsedRules,
    /// The versions of risk rules.
    RuleVersions,
    /// The text of a version of risk rules.
    RulesText,
    /// The progress and the report of a dry run, one JSON object a line.
    DryRun,
    /// The outcome of a stand-alone risk check.
    RiskCheck,
    /// An entry of a list.
    ListEntry,
    /// Entries of lists.
    ListEntries,
    /// A page of the review queue.
    Reviews,
    /// A message of EMV 3-D Secure.
    ThreeDsMessage,
    /// A review with its payment, its risk decision and its actions.
    Review,
    /// A review with its payment, after a change.
    ChangedReview,
    /// Rows of the decision log.
    RiskChanges,
    /// Totals of payments.
    Totals,
    /// Payments, one JSON object a line.
    Transactions,
    /// A list of reconciliation files.
    ReconciliationFiles,
    /// A reconciliation file.
    ReconciliationFile,
    /// Reconciliation records, one JSON object a line.
    ReconciliationRecords,
    /// Totals of reconciliation records.
    Aggregations,
    /// Batches of settlements.
    Settlements,
    /// Fees of settlements.
    Fees,
    /// Balances of the ledger.
    Balances,
    /// The authorization rate.
    Authorizations,
    /// Chargebacks beside charged payments.
    Chargebacks,
    /// A dispute.
    Dispute,
    /// A dispute with its evidence files.
    DisputeDetails,
    /// A page of disputes.
    Disputes,
    /// An evidence file that was stored.
    StoredEvidence,
    /// The content of an evidence file.
    EvidenceFile,
    /// Nothing; an error has the text of its status.
    Empty,
    /// The OpenAPI document.
    OpenApi,
    /// An HTML page.
    Html,
    /// A script.
    Script,
    /// Type declarations.
    Declarations,
    /// A drawing.
    Drawing,
    /// A file of the form.
    File,
}
