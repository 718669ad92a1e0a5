//! Short texts about a payment that lists and pages share: its amount, account, type and state.

use tillgate_domain::payment::{Account, Payment, PaymentType};
use tillgate_gateway::payment::listing::ListedState;

use crate::components::badge::Tone;
use crate::layout::texts::Texts;

/// Formats an amount with its currency.
pub(crate) fn amount_text(texts: &Texts, payment: &Payment) -> String {
    format!("{} {}", texts.amount(&payment.amount.to_string()), payment.amount.currency().code())
}

/// Returns the visible end of the account number.
pub(crate) fn account_end(payment: &Payment) -> Option<&str> {
    match &payment.account {
        Account::Card(card) => Some(&card.last4),
        Account::Bank(bank) => bank.last4.as_deref(),
        Account::Virtual(_) | Account::Unknown => None,
    }
}

/// Returns the tone of a state.
pub(crate) fn state_tone(state: ListedState) -> Tone {
    match state {
        ListedState::Approved => Tone::Good,
        ListedState::Declined => Tone::Bad,
        ListedState::Pending => Tone::Warn,
        ListedState::Held => Tone::Held,
    }
}

/// Returns the tone and text of the badge of a payment: of its strongest follow-up payment, or of its state.
pub(crate) fn describe_state(
    texts: &Texts,
    state: ListedState,
    follow_up: Option<(PaymentType, bool)>,
) -> (Tone, &str) {
    use PaymentType as T;
    match follow_up {
        Some((T::Reversal | T::ChargebackReversal, _)) => (Tone::Calm, texts.get("state.reversed")),
        Some((T::Chargeback, _)) => (Tone::Bad, texts.get("state.charged_back")),
        Some((T::Refund, true)) => (Tone::Calm, texts.get("state.refunded")),
        Some((T::Refund, false)) => (Tone::Calm, texts.get("state.partly_refunded")),
        Some((T::Capture, true)) => (Tone::Good, texts.get("state.captured")),
        Some((T::Capture, false)) => (Tone::Good, texts.get("state.partly_captured")),
        _ => (state_tone(state), state_text(texts, state)),
    }
}

/// Returns the text of a state.
pub(crate) fn state_text(texts: &Texts, state: ListedState) -> &str {
    match state {
        ListedState::Approved => texts.get("state.approved"),
        ListedState::Declined => texts.get("state.declined"),
        ListedState::Pending => texts.get("state.pending"),
        ListedState::Held => texts.get("state.held"),
    }
}

/// Returns the text of a payment type by its code.
pub(crate) fn type_text(texts: &Texts, code: &str) -> String {
    let key = format!("type.{code}");
    texts.find(&key).unwrap_or(code).to_owned()
}
