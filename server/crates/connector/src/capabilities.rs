//! The capabilities of a connector, as far as they differ between connectors. A payment beyond the capabilities is
//! refused before anything is written or sent; the refusal names the parameter.

use jiff::civil::Time;
use jiff::tz::TimeZone;
use jiff::{SignedDuration, Timestamp};
use tillgate_domain::payment::{INCREMENT, INDUSTRY_PRACTICE, ModificationType, PaymentType};
use tillgate_shared::brand::Brand;
use tillgate_shared::money::Currency;
use tillgate_shared::result::{ResultCode, codes};

/// The capabilities of a connector.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Capabilities {
    /// The supported payment types, including follow-up payments. `None` if all are supported.
    pub payment_types: Option<Vec<PaymentType>>,
    /// The supported brands, by their codes. `None` if all are supported.
    pub brands: Option<Vec<String>>,
    /// The supported currencies, ISO 4217. `None` if all are supported.
    pub currencies: Option<Vec<String>>,
    /// The ways in which a preauthorization can be captured.
    pub captures: CaptureSupport,
    /// True if the amount of a preauthorization can be raised by increments.
    pub increments: bool,
    /// True if captures of a preauthorization can exceed its amount.
    pub overcapture: bool,
    /// The time of day, UTC, at which the acquirer books the day's debits and credits. From then on they cannot be
    /// reversed, only refunded. `None` if the acquirer has no such time; the gateway's own cut-off then applies.
    pub cut_off: Option<Time>,
    /// True if the connector is external: its requests leave this process, so that an outcome may stay unknown. An
    /// in-process connector is a pure function of the request; it needs one transaction and no reservation.
    pub is_external: bool,
}

/// The ways in which a preauthorization can be captured.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum CaptureSupport {
    /// In parts, until the amount is captured completely.
    #[default]
    Parts,
    /// Once, as a whole or in part.
    OnePart,
    /// Once, as a whole.
    Whole,
}

/// A missing capability of a connector.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MissingCapability {
    /// The result code of the refusal.
    pub code: ResultCode,
    /// The parameter that requests it.
    pub parameter: &'static str,
    /// The value of that parameter.
    pub value: String,
    /// The reason, for people.
    pub message: &'static str,
}

impl MissingCapability {
    fn new(code: ResultCode, parameter: &'static str, value: impl Into<String>, message: &'static str) -> Self {
        Self { code, parameter, value: value.into(), message }
    }
}

impl Capabilities {
    /// Returns the capabilities of a connector without restrictions and without a cut-off.
    pub const fn without_limits(is_external: bool) -> Self {
        Self {
            payment_types: None,
            brands: None,
            currencies: None,
            captures: CaptureSupport::Parts,
            increments: true,
            overcapture: true,
            cut_off: None,
            is_external,
        }
    }

    /// Checks that the connector supports a payment of this type, brand and currency, in this order.
    ///
    /// # Errors
    /// The first of them that the connector does not support.
    pub fn check_payment(
        &self,
        payment_type: PaymentType,
        brand: &Brand,
        currency: Currency,
    ) -> Result<(), MissingCapability> {
        self.check_type(payment_type)?;
        self.check_brand(brand)?;
        if self.currencies.as_ref().is_some_and(|currencies| currencies.iter().all(|code| code != currency.code())) {
            let message = "is a currency that the acquirer does not take";
            return Err(MissingCapability::new(codes::SUBTYPE_NOT_CONFIGURED, "currency", currency.code(), message));
        }
        Ok(())
    }

    /// Checks that the connector supports a brand.
    ///
    /// # Errors
    /// The missing capability, with result code `METHOD_NOT_CONFIGURED`.
    pub fn check_brand(&self, brand: &Brand) -> Result<(), MissingCapability> {
        if self.brands.as_ref().is_some_and(|brands| brands.iter().all(|code| code != brand.code)) {
            let message = "is a brand that the acquirer does not take";
            return Err(MissingCapability::new(codes::METHOD_NOT_CONFIGURED, "paymentBrand", brand.code, message));
        }
        Ok(())
    }

    /// Checks that the connector supports a follow-up payment: its type, and for a capture the permitted number and
    /// amount. A chargeback and its reversal always pass. `amount`: its amount if it is only a part of the payment.
    /// `is_captured`: the preauthorization has been captured before.
    ///
    /// # Errors
    /// The first missing capability.
    pub fn check_follow_up(
        &self,
        modification: ModificationType,
        amount: Option<String>,
        is_captured: bool,
    ) -> Result<(), MissingCapability> {
        // Chargebacks and their reversals come from the shopper's bank, whatever the acquirer supports.
        if matches!(modification, ModificationType::Chargeback | ModificationType::ChargebackReversal) {
            return Ok(());
        }
        self.check_type(modification.payment_type())?;
        let refused = |parameter, value: String, message| {
            Err(MissingCapability::new(codes::CAPTURE_NOT_SUPPORTED, parameter, value, message))
        };
        match (modification, self.captures, amount) {
            (ModificationType::Increment, ..) if !self.increments => {
                let message = "is not possible: the acquirer does not raise the amount of a preauthorization";
                Err(MissingCapability::new(codes::TYPE_NOT_CONFIGURED, INDUSTRY_PRACTICE, INCREMENT, message))
            }
            (ModificationType::Capture, CaptureSupport::OnePart | CaptureSupport::Whole, _) if is_captured => {
                let message = "has been done: the acquirer takes one capture of a preauthorization";
                refused("paymentType", modification.payment_type().code().to_owned(), message)
            }
            (ModificationType::Capture, CaptureSupport::Whole, Some(amount)) => {
                refused("amount", amount, "is not the whole amount: the acquirer takes no capture of a part")
            }
            _ => Ok(()),
        }
    }

    /// Checks that the connector supports a capture of this amount, which exceeds what is authorized.
    ///
    /// # Errors
    /// The missing capability, with result code `CAPTURE_NOT_SUPPORTED`.
    pub fn check_overcapture(&self, amount: String) -> Result<(), MissingCapability> {
        if self.overcapture {
            return Ok(());
        }
        let message = "exceeds the authorized amount: the acquirer takes no more than that";
        Err(MissingCapability::new(codes::CAPTURE_NOT_SUPPORTED, "amount", amount, message))
    }

    /// Returns the time from `created` to the next cut-off, in which a debit or credit can be reversed; a whole day at
    /// the cut-off itself. `None` if the connector has no cut-off, so that the gateway's own applies.
    pub fn reversal_window(&self, created: Timestamp) -> Option<SignedDuration> {
        let created = created.to_zoned(TimeZone::UTC).datetime();
        let today = created.date().to_datetime(self.cut_off?);
        let next = if created < today { today } else { today.checked_add(jiff::Span::new().days(1)).ok()? };
        Some(next.duration_since(created))
    }

    /// Returns true if the connector takes a debit as a preauthorization and its capture.
    pub fn supports_two_steps(&self) -> bool {
        [PaymentType::Preauthorization, PaymentType::Capture].iter().all(|step| self.check_type(*step).is_ok())
    }

    /// Checks that the connector supports a payment type.
    ///
    /// # Errors
    /// The missing capability, with result code `TYPE_NOT_CONFIGURED`.
    pub fn check_type(&self, payment_type: PaymentType) -> Result<(), MissingCapability> {
        if self.payment_types.as_ref().is_none_or(|types| types.contains(&payment_type)) {
            return Ok(());
        }
        let message = "is a payment type that the acquirer does not take";
        Err(MissingCapability::new(codes::TYPE_NOT_CONFIGURED, "paymentType", payment_type.code(), message))
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn a_day_ends_at_the_cut_off() {
        let until = |created: &str, cut_off: &str| {
            let cut_off = Some(cut_off.parse().unwrap());
            let capabilities = Capabilities { cut_off, ..Capabilities::without_limits(true) };
            capabilities.reversal_window(created.parse().unwrap()).unwrap().as_secs()
        };
        assert_eq!(until("2026-11-23T21:59:59Z", "22:00"), 1);
        assert_eq!(until("2026-11-23T22:00:00Z", "22:00"), 24 * 60 * 60);
        assert_eq!(until("2026-12-31T23:00:00Z", "00:30"), 90 * 60);
        assert_eq!(Capabilities::without_limits(true).reversal_window(Timestamp::UNIX_EPOCH), None);
    }

    #[test]
    fn captures_are_limited_as_declared() {
        let part = Some("1.00".to_owned());
        for (captures, amount, is_captured, parameter) in [
            (CaptureSupport::Parts, part.clone(), true, None),
            (CaptureSupport::OnePart, part.clone(), false, None),
            (CaptureSupport::OnePart, part.clone(), true, Some("paymentType")),
            (CaptureSupport::Whole, None, false, None),
            (CaptureSupport::Whole, part, false, Some("amount")),
            (CaptureSupport::Whole, None, true, Some("paymentType")),
        ] {
            let capabilities = Capabilities { captures, ..Capabilities::without_limits(true) };
            let found = capabilities.check_follow_up(ModificationType::Capture, amount.clone(), is_captured);
            assert_eq!(found.err().map(|missing| missing.parameter), parameter, "{captures:?} {is_captured}");
            assert_eq!(capabilities.check_follow_up(ModificationType::Refund, amount, is_captured), Ok(()));
        }
    }

    #[test]
    fn an_amount_is_raised_only_if_the_acquirer_raises_amounts() {
        for (increments, parameter) in [(true, None), (false, Some(INDUSTRY_PRACTICE))] {
            let capabilities = Capabilities { increments, ..Capabilities::without_limits(true) };
            let found = capabilities.check_follow_up(ModificationType::Increment, None, false);
            assert_eq!(found.err().map(|missing| missing.parameter), parameter);
        }
    }
}
