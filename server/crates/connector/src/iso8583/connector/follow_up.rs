//! Messages of follow-up payments: capture, increment, refund and reversal.
//!
//! They name the earlier request by everything that acquirers look it up with: the original data elements, the
//! retrieval reference number, and the authorization code. They have no card number, because the gateway passes none.

use tillgate_domain::payment::{INCREMENT, PaymentType};

use super::config::Iso8583Config;
use super::numbering::TraceNumber;
use super::request::{CommonData, RequestFault, set_fitted, set_present};
use crate::iso8583::{Datum, IsoMessage, IsoRequestKind};
use crate::{EarlierPayment, Modification};

/// Returns the kind of an earlier payment's request.
fn earlier_kind(earlier: &EarlierPayment) -> IsoRequestKind {
    match earlier.payment_type {
        PaymentType::Debit | PaymentType::TwoStepDebit => IsoRequestKind::Debit,
        PaymentType::Credit => IsoRequestKind::Credit,
        PaymentType::Capture => IsoRequestKind::Capture,
        PaymentType::Refund => IsoRequestKind::Refund,
        // Reversals and chargebacks are not reversed.
        PaymentType::Preauthorization
        | PaymentType::Reversal
        | PaymentType::Chargeback
        | PaymentType::ChargebackReversal => IsoRequestKind::Authorize,
    }
}

/// Makes the message of a modification. `attempt` is 0, but for a reversal whose trace number was in use.
pub(super) fn build_follow_up(
    config: &Iso8583Config,
    modification: &Modification,
    kind: IsoRequestKind,
    attempt: u32,
) -> Result<IsoMessage, RequestFault> {
    let data = config.dialect.data();
    let common = CommonData {
        kind,
        reference: &modification.reference,
        first_reference: &modification.original_reference,
        trace: TraceNumber::of_place(modification.place.as_ref(), attempt),
        amount: Some(modification.amount),
        currency: modification.amount,
        merchant_id: &modification.merchant_id,
    };
    let mut message = config.begin_request(&common)?;
    let ids = &modification.connector_tx_ids;
    set_present(data, &mut message, Datum::Reference, ids.get(1).map(String::as_str))?;
    set_present(data, &mut message, Datum::AuthorizationCode, ids.get(2).map(String::as_str))?;
    set_fitted(data, &mut message, Datum::Descriptor, modification.descriptor.as_deref())?;
    if kind == IsoRequestKind::Increment {
        // The form of other standing instructions, of which it has only the practice.
        set_fitted(data, &mut message, Datum::Instruction, Some(&format!("///{INCREMENT}")))?;
    }
    let earlier = earlier_kind(&modification.earlier);
    let original = config.dialect.begin_request(earlier).ok_or(RequestFault::NoRequest(earlier))?;
    let mut original = IsoMessage::new(original.mti());
    let original_trace = TraceNumber::of_place(modification.earlier.place.as_ref(), 0);
    config.set_numbers(&mut original, &modification.original_reference, original_trace)?;
    data.set(&mut original, Datum::Acquirer, &config.acquirer)?;
    if let Some(original) = data.describe_original(&original) {
        data.set_original(&mut message, &original)?;
    }
    Ok(message)
}
