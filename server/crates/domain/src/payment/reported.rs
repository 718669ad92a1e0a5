//! Part of a stored payment, read without the rest: what reports show and count.

use jiff::Timestamp;
use jiff::tz::TimeZone;
use serde::Deserialize;
use tillgate_shared::money::Amount;
use tillgate_shared::result::ResultCode;

use super::{PaymentType, Text, money, result_code};

/// The fields of a stored payment that reports need. Its texts are parts of the document that it is decoded from, so
/// that a report of millions of payments does not copy each of them.
#[derive(Debug, Deserialize)]
pub struct ReportedPayment<'a> {
    /// Its id.
    #[serde(borrow)]
    pub id: Text<'a>,
    /// The entity that owns it.
    pub entity: Text<'a>,
    /// The checkout in which it was created.
    pub checkout: Option<Text<'a>>,
    /// The payment that it captures, reverses, refunds or charges back.
    pub referenced: Option<Text<'a>>,
    /// The time of creation.
    pub created: StoredTime<'a>,
    /// The payment type.
    pub payment_type: PaymentType,
    /// The brand's code, e.g. `VISA`.
    pub brand: Text<'a>,
    /// The amount.
    #[serde(with = "money")]
    pub amount: Amount,
    /// The outcome.
    #[serde(with = "result_code")]
    pub result: ResultCode,
    /// The text on the shopper's statement.
    pub descriptor: Text<'a>,
    /// The merchant's own references.
    pub parameters: MerchantReferences<'a>,
}

/// The merchant's own references of a payment. Attempts of a checkout never share them, so each payment has its own.
#[derive(Debug, Deserialize)]
pub struct MerchantReferences<'a> {
    /// `merchantTransactionId`.
    #[serde(borrow, rename = "merchantTransactionId")]
    pub transaction_id: Option<Text<'a>>,
    /// `merchantInvoiceId`.
    #[serde(rename = "merchantInvoiceId")]
    pub invoice_id: Option<Text<'a>>,
}

/// A time as documents have it: RFC 3339 in UTC. It is neither parsed nor formatted for a report.
#[derive(Debug, Deserialize)]
#[serde(try_from = "Text<'a>")]
pub struct StoredTime<'a>(#[serde(borrow)] Text<'a>);

impl<'a> TryFrom<Text<'a>> for StoredTime<'a> {
    type Error = &'static str;

    /// Fails if the parts of the text are not where they have to be.
    fn try_from(text: Text<'a>) -> Result<Self, Self::Error> {
        let bytes = text.as_bytes();
        let is_time = text.is_ascii() && bytes.len() >= 20 && bytes.get(10) == Some(&b'T') && bytes.ends_with(b"Z");
        if is_time { Ok(Self(text)) } else { Err("a time is not in UTC") }
    }
}

impl StoredTime<'_> {
    /// Returns the day, as `yyyy-MM-dd`.
    pub fn day(&self) -> &str {
        self.0.get(..10).unwrap_or_default()
    }

    /// Returns the day in a time zone, as `yyyy-MM-dd`. `None` if the text is no time.
    pub fn day_in(&self, zone: &TimeZone) -> Option<String> {
        let moment: Timestamp = self.0.parse().ok()?;
        Some(zone.to_datetime(moment).date().to_string())
    }

    /// Returns the time as responses have it: `yyyy-MM-dd HH:mm:ss+0000`.
    pub fn to_wire_time(&self) -> String {
        [self.day(), " ", self.0.get(11..19).unwrap_or_default(), "+0000"].concat()
    }
}

impl ReportedPayment<'_> {
    /// Returns true if it succeeded, as [`super::Payment::is_approved`] does.
    pub fn is_approved(&self) -> bool {
        self.payment_type.is_approved_with(self.result)
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use crate::payment::{Account, Payment};

    fn assert_same(payment: &Payment) {
        let document = serde_json::to_string(payment).unwrap();
        let reported: ReportedPayment<'_> = serde_json::from_str(&document).unwrap();
        let text = |text: &Option<Text<'_>>| text.as_ref().map(|text| text.to_string());
        assert_eq!(&*reported.id, payment.id.as_str());
        assert_eq!(&*reported.entity, payment.entity.as_str());
        assert_eq!(text(&reported.checkout).as_deref(), payment.checkout.as_ref().map(|id| id.as_str()));
        assert_eq!(text(&reported.referenced).as_deref(), payment.referenced.as_ref().map(|id| id.as_str()));
        let wire_time = payment.created.strftime("%Y-%m-%d %H:%M:%S+0000").to_string();
        assert_eq!(reported.created.to_wire_time(), wire_time);
        assert_eq!(reported.created.day(), payment.created.strftime("%Y-%m-%d").to_string());
        assert_eq!(reported.payment_type, payment.payment_type);
        assert_eq!((&*reported.brand, reported.amount), (payment.brand.as_str(), payment.amount));
        assert_eq!((&*reported.descriptor, reported.result), (payment.descriptor.as_str(), payment.result));
        let parameter = |name: &str| payment.parameters.get(name);
        assert_eq!(text(&reported.parameters.transaction_id).as_deref(), parameter("merchantTransactionId"));
        assert_eq!(text(&reported.parameters.invoice_id).as_deref(), parameter("merchantInvoiceId"));
        assert_eq!(reported.is_approved(), payment.is_approved());
    }

    #[test]
    fn a_report_sees_a_payment_as_it_is_stored() {
        let mut payment: Payment = serde_json::from_value(serde_json::json!({
            "id": "0198f2a1b3c4d5e6f708192a3b4c5d6e", "entity": "8ac7a4c76f2b1d3e016f2b1d3e4a0001",
            "checkout": "0123456789ABCDEF0123456789ABCDEF.test-vm1", "created": "2026-11-26T01:02:03.456Z",
            "payment_type": "DB", "brand": "VISA", "amount": ["92.05", "EUR"], "result": "000.100.110",
            "descriptor": "1 Shop", "account": Account::Unknown, "parameters": {},
        }))
        .unwrap();
        assert_same(&payment);
        payment.created = "9999-12-30T22:00:00Z".parse().unwrap();
        payment.descriptor = "a \"quoted\" text\\ \u{7f}äöü \n".to_owned();
        payment.parameters.set("merchantTransactionId", "\"\\/ \u{1f600}");
        payment.parameters.set("merchantInvoiceId", "invoice");
        payment.checkout = None;
        payment.referenced = Some(payment.id.clone());
        payment.payment_type = PaymentType::Chargeback;
        assert_same(&payment);
    }
}
