//! Finds out which of the dialect's requests a message is.

use tillgate_connector::http::protocol::HostOperation;
use tillgate_connector::iso8583::{Datum, Dialect, IsoMessage, IsoRequestKind, Mti};

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
    let mti = clear_repeat_digit(message.mti());
    let fits = |kind: &IsoRequestKind| {
        let request = dialect.request(*kind)?;
        let is_request = clear_repeat_digit(request.mti) == mti
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

/// Returns the type of the first message: `0400` for the repeat `0401`.
pub(super) fn clear_repeat_digit(mti: Mti) -> Mti {
    let text = mti.to_string();
    let first = text.get(..3).unwrap_or_default();
    let origin = text.get(3..).and_then(|digit| digit.parse::<u8>().ok()).unwrap_or_default();
    // Odd digits of the origin are repetitions.
    Mti::parse(&format!("{first}{}", origin & !1)).unwrap_or(mti)
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

    #[test]
    fn a_repeat_has_the_type_of_its_first_message() {
        for (text, first) in [("0401", "0400"), ("0221", "0220"), ("1421", "1420"), ("0200", "0200"), ("0205", "0204")]
        {
            assert_eq!(clear_repeat_digit(Mti::parse(text).unwrap()).to_string(), first);
        }
    }
}
