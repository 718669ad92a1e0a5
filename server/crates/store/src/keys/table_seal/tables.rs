//! The tables of the store: those whose rows the seal covers, and the others, each with the reason.

use std::ops::Range;

/// Tables that decide who may do what, or what is owed. The order is that of the sums in the seal. After a change the
/// schema needs another version, because a new version is sealed again.
pub(super) const SEALED: &[&str] = &[
    "approval",
    "audit_entry",
    "balance",
    "booking_check",
    "checkout",
    "checkout_payment",
    "clock_jump",
    "connector_message",
    "dispute",
    "entity",
    "entity_level",
    "evidence",
    "evidence_part",
    "file_push",
    "form_build",
    "form_file",
    "ftp_user",
    "fx_rate",
    "page",
    "passkey",
    "passkey_challenge",
    "payment",
    "payment_connector_id",
    "payment_link",
    "payment_reference",
    "promise",
    "reconciliation_calendar",
    "reconciliation_file",
    "reconciliation_record",
    "record_digest",
    "registration",
    "registration_account",
    "review",
    "review_action",
    "review_callback",
    "review_callback_audit",
    "risk_change",
    "risk_entity",
    "risk_list",
    "risk_version",
    "schedule",
    "schedule_run",
    "schedule_step",
    "sealed_key",
    "settlement_batch",
    "settlement_file",
    "settlement_line",
    "settlement_match",
    "settlement_postponed",
    "settlement_state",
    "settlement_terms",
    "settlement_unmatched",
    "standing_instruction",
    "token",
    "unmasked_index",
    "user",
    "user_invitation",
    "user_role",
    "user_session",
    "vault_key",
    "wallet_key",
    "wallet_token",
    "webhook",
];

/// Tables that only some versions of the schema seal, with these versions. The first version with a seal is 51.
const VERSIONS: &[(&str, Range<u32>)] = &[
    ("approval", 63..u32::MAX),
    ("connector_message", 67..u32::MAX),
    ("review_request", 51..55),
    ("unmasked_index", 53..u32::MAX),
    ("passkey", 61..u32::MAX),
    ("passkey_challenge", 61..u32::MAX),
    ("user", 56..u32::MAX),
    ("user_invitation", 56..u32::MAX),
    ("user_role", 56..u32::MAX),
    ("user_session", 56..u32::MAX),
];

/// Returns the tables that a version of the schema seals, in the order of their sums.
pub(super) fn sealed_tables(version: u32) -> Vec<&'static str> {
    let is_sealed = |table: &str| {
        let versions = VERSIONS.iter().find(|(name, _)| *name == table);
        versions.is_none_or(|(_, versions)| versions.contains(&version))
    };
    let dropped = VERSIONS.iter().map(|(table, _)| *table).filter(|table| !SEALED.contains(table));
    let mut tables: Vec<&str> = SEALED.iter().copied().chain(dropped).filter(|table| is_sealed(table)).collect();
    tables.sort_unstable();
    tables
}

/// Tables without a seal, with the reason.
pub const UNSEALED: &[(&str, &str)] = &[
    ("answer", "responses of repeated requests, kept for a day; what they report is in sealed rows"),
    ("card", "numbers of payments, kept for a day and each sealed for its payment and entity"),
    ("card_attempt", "attempts on declined cards, forgotten when no rule of a scheme needs them"),
    ("delivery", "attempts to deliver messages"),
    ("file_delivery", "attempts to push files; the files come from sealed records"),
    ("health", "the last check of the disk"),
    ("message", "messages that are to be sent; they report what sealed rows say"),
    ("payment_comment", "texts of users about payments; they decide nothing, and sealed entries name author and time"),
    ("payment_search", "terms by which payments are found; the found payments are sealed rows"),
    ("policy_report", "reports of browsers"),
    ("risk_counter", "counters of risk rules, written at every payment and forgotten after their window"),
    ("risk_counter_owner", "the owners of those counters"),
    ("saved_view", "lists that users keep; each list checks its filter again"),
    ("store_seal", "the seal itself, which has a separate code"),
    ("timer", "when something has to be looked at; what follows is decided by sealed rows"),
    ("velocity", "attempts against the limits, forgotten after their window"),
];
