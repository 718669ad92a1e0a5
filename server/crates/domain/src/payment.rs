//! Payments: their types, their outcomes, and their follow-up payments.

mod account;
pub mod account_identity;
pub mod asynchronous;
pub mod comment;
pub mod connector_message;
mod connector_tx_ids;
pub mod debit_step;
pub mod decline_advice;
mod final_capture;
mod follow_up;
pub mod mode;
mod outcome;
pub mod overcapture;
pub mod partial_approval;
mod payment_type;
pub mod query;
mod record;
mod redirect;
mod reported;
mod request_place;
mod requested_amount;
pub mod retry_rules;
#[cfg(test)]
#[allow(clippy::unwrap_used)]
pub(crate) mod sample;
mod shared_parameters;
mod status;
mod stored_form;
mod two_step_debit;

pub use account::{Account, BankSummary, CardSummary, VirtualSummary};
pub use connector_tx_ids::ConnectorTxIds;
pub use follow_up::{INCREMENT, INDUSTRY_PRACTICE, ModificationType};
pub use outcome::{EarlierState, PaymentOutcome};
pub use payment_type::PaymentType;
pub use record::{NOTIFICATION_URL, Payment, statement_descriptor};
pub use redirect::{Precondition, Redirect, TransferAccount};
pub use reported::ReportedPayment;
pub use request_place::RequestPlace;
pub use requested_amount::{parse_requested_amount, required_parameter};
pub use shared_parameters::SharedParameters;
pub use status::{FollowUpLimits, FollowUpSummary, PaymentState, PaymentStatus, TimeLimits, sum_refunds};
pub use stored_form::{Text, result_code};
pub(crate) use stored_form::{money, optional_money, optional_result_code};
