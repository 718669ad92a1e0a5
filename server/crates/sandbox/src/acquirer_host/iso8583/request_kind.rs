//! Finds out which of the dialect's requests a message is.

use tillgate_connector::http::protocol::HostOperation;
use tillgate_connector::iso8583::{Datum, Dialect, IsoMessage, IsoRequestKind};

/// Every kind. Of kinds that fit equally well the first one is taken.
const KINDS: [IsoRequestKind; 12] = [
    IsoRequestKind::Authorize,
    IsoRequestKind::Debit,
    IsoRequestKind::Increment,
    IsoRequestKind::Capture,
    IsoRequestKind::Refund,
    IsoRequestKind::Credit,
    IsoRequestKind::Verify,
    IsoRequestKind::Reverse,
    IsoRequestKind::ReverseRepeat,
    IsoRequestKind::SignOn,
    IsoRequestKind::SignOff,
    IsoRequestKind::Echo,
];

/// Finds the kind of a request by its type and its constant fields. `None` if the dialect has no such request.
pub(super) fn find_request_kind(dialect: &Dialect, message: &IsoMessage) -> Option<IsoRequestKind> {
    let mti = message.mti().without_repetition();
    let fits = |kind: &IsoRequestKind| {
        let request = dialect.request(*kind)?;
        let is_request = request.mti.without_repetition() == mti
            && request.fields.iter().all(|(number, text)| message.text(*number) == Some(text));
        is_request.then_some(request.fields.len())
    };
    // More constant fields are more specific: a verification is an authorization with a constant amount.
    let most = KINDS.iter().filter_map(fits).max()?;
    let mut kinds = KINDS.into_iter().filter(|kind| fits(kind) == Some(most));
    let first = kinds.next()?;
    match (first, kinds.next()) {
        // Refund and credit may have the same type and fields. Only a refund names an original, and only a credit has
        // to name the card by number and expiry date.
        (IsoRequestKind::Refund, Some(IsoRequestKind::Credit)) => {
            let is_credit = !names_original(dialect, message) && has_card(dialect, message);
            Some(if is_credit { IsoRequestKind::Credit } else { first })
        }
        // So may authorization and increment. Only an increment names an original and no card.
        (IsoRequestKind::Authorize, Some(IsoRequestKind::Increment)) => {
            let is_increment = names_original(dialect, message) && !has_card(dialect, message);
            Some(if is_increment { IsoRequestKind::Increment } else { first })
        }
        _ => Some(first),
    }
}

/// Returns true if the message has original data elements or an authorization code.
fn names_original(dialect: &Dialect, message: &IsoMessage) -> bool {
    [Datum::Original, Datum::AuthorizationCode].into_iter().any(|datum| dialect.data().get(message, datum).is_some())
}

/// Returns true if the message has a card number with its expiry date.
fn has_card(dialect: &Dialect, message: &IsoMessage) -> bool {
    [Datum::Pan, Datum::Expiry].into_iter().all(|datum| dialect.data().get(message, datum).is_some())
}

/// Returns the operation of a request, by which faults are planned. `None` for sign-on, sign-off and echo.
pub(super) fn find_operation(kind: IsoRequestKind) -> Option<HostOperation> {
    match kind {
        IsoRequestKind::Authorize | IsoRequestKind::Debit | IsoRequestKind::Verify => Some(HostOperation::Authorize),
        IsoRequestKind::Credit => Some(HostOperation::Credit),
        IsoRequestKind::Capture => Some(HostOperation::Capture),
        IsoRequestKind::Increment => Some(HostOperation::Increment),
        IsoRequestKind::Refund => Some(HostOperation::Refund),
        IsoRequestKind::Reverse | IsoRequestKind::ReverseRepeat => Some(HostOperation::Reverse),
        IsoRequestKind::SignOn | IsoRequestKind::SignOff | IsoRequestKind::Echo => None,
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use tillgate_connector::iso8583::DIALECTS;

    use super::*;

    #[test]
    fn each_request_of_a_dialect_is_found_by_its_type_and_fields() {
        for (_, text) in DIALECTS {
            let dialect = Dialect::parse(text).unwrap();
            for kind in KINDS.into_iter().filter(|kind| *kind != IsoRequestKind::ReverseRepeat) {
                let mut message = dialect.begin_request(kind).unwrap();
                if kind == IsoRequestKind::Credit {
                    dialect.data().set(&mut message, Datum::Pan, "4200000000000000").unwrap();
                    dialect.data().set(&mut message, Datum::Expiry, "3405").unwrap();
                }
                if kind == IsoRequestKind::Increment {
                    dialect.data().set(&mut message, Datum::AuthorizationCode, "000001").unwrap();
                }
                assert_eq!(find_request_kind(&dialect, &message), Some(kind));
            }
            let repeat = dialect.begin_request(IsoRequestKind::ReverseRepeat).unwrap();
            assert_eq!(find_request_kind(&dialect, &repeat), Some(IsoRequestKind::Reverse));
        }
    }

    #[test]
    fn another_processing_code_is_none_of_the_requests() {
        let dialect = Dialect::parse(DIALECTS[0].1).unwrap();
        let message = dialect.begin_request(IsoRequestKind::Debit).unwrap().with_text(3, "010000");
        assert_eq!(find_request_kind(&dialect, &message), None);
    }
}
