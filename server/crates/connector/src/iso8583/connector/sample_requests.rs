//! The check of a dialect at the start: each request is made and encoded once with sample data. A mistake in a field
//! table would otherwise be found by the first payment.

use jiff::Timestamp;
use tillgate_domain::id::PaymentId;
use tillgate_domain::payment::{ConnectorTxIds, PaymentType};
use tillgate_shared::brand::Brand;
use tillgate_shared::format::card_number::CardNumber;
use tillgate_shared::format::expiry::Expiry;
use tillgate_shared::format::security_code::SecurityCode;
use tillgate_shared::money::{Amount, Currency};

use super::authorization::build_order;
use super::config::{Iso8583Config, Iso8583ConfigError};
use super::connection::HostMessages;
use super::follow_up::build_follow_up;
use crate::iso8583::{Dialect, IsoMessage, IsoRequestKind};
use crate::{
    AvsAddress, CaptureTerms, CardSource, EarlierPayment, FullAccount, FullCard, Modification, Order, OrderContext,
    OrderRequest,
};

/// Requests of payments. A dialect may lack some of them.
const PAYMENTS: [IsoRequestKind; 9] = [
    IsoRequestKind::Authorize,
    IsoRequestKind::Debit,
    IsoRequestKind::Credit,
    IsoRequestKind::Verify,
    IsoRequestKind::Capture,
    IsoRequestKind::Increment,
    IsoRequestKind::Refund,
    IsoRequestKind::Reverse,
    IsoRequestKind::ReverseRepeat,
];

/// Requests whose messages may be the same: hosts tell them apart by the amount or the card, or make no difference.
const ALIKE: [[IsoRequestKind; 2]; 4] = [
    [IsoRequestKind::Authorize, IsoRequestKind::Verify],
    [IsoRequestKind::Authorize, IsoRequestKind::Increment],
    [IsoRequestKind::Verify, IsoRequestKind::Increment],
    [IsoRequestKind::Credit, IsoRequestKind::Refund],
];

/// Checks that each request of the dialect can be made and encoded, and that a host can tell them apart.
///
/// # Errors
/// The request, with the field that cannot be made.
pub(super) fn check_requests(config: &Iso8583Config, messages: &HostMessages) -> Result<(), Iso8583ConfigError> {
    check_differences(&config.dialect)?;
    let Some(sample) = Sample::new() else { return Ok(()) };
    for kind in PAYMENTS.into_iter().filter(|kind| config.dialect.request(*kind).is_some()) {
        let refuse = |fault: String| Iso8583ConfigError::new("dialect", format!("its request {kind:?} fails: {fault}"));
        let message = sample.build(config, kind).map_err(refuse)?;
        messages.encode(&message).map_err(|error| refuse(error.to_string()))?;
    }
    Ok(())
}

/// Checks that two requests have not the same type and constant fields: the host would take a refund for a sale.
fn check_differences(dialect: &Dialect) -> Result<(), Iso8583ConfigError> {
    for (place, first) in PAYMENTS.iter().enumerate() {
        for second in PAYMENTS.iter().skip(place + 1).filter(|second| !ALIKE.contains(&[*first, **second])) {
            let (Some(one), Some(other)) = (dialect.request(*first), dialect.request(*second)) else { continue };
            if one.mti == other.mti && one.fields == other.fields {
                let fault = format!("its requests {first:?} and {second:?} are the same message");
                return Err(Iso8583ConfigError::new("dialect", fault));
            }
        }
    }
    Ok(())
}

/// A payment with everything that messages carry.
struct Sample {
    reference: String,
    time: Timestamp,
    amount: Amount,
    card: FullCard,
    brand: &'static Brand,
}

impl Sample {
    /// Makes the sample: a card of 19 digits would not fit some dialects, and the largest amount fits all.
    fn new() -> Option<Self> {
        let time = Timestamp::from_second(1_795_433_712).ok()?;
        Some(Self {
            reference: PaymentId::new(time, [7; 9]).as_str().to_owned(),
            time,
            amount: Amount::parse("92.00", Currency::parse("EUR")?).ok()?,
            card: FullCard {
                number: CardNumber::parse("4111111111111111").ok()?,
                expiry: Expiry::parse("05", "2034").ok()?,
                holder: Some("Jane Jones".to_owned()),
                security_code: SecurityCode::parse("123").ok(),
                cryptogram: None,
                source: CardSource::Keyed,
            },
            brand: Brand::find("VISA")?,
        })
    }

    /// Makes the message of a request.
    fn build(&self, config: &Iso8583Config, kind: IsoRequestKind) -> Result<IsoMessage, String> {
        match kind {
            IsoRequestKind::Authorize | IsoRequestKind::Debit | IsoRequestKind::Credit | IsoRequestKind::Verify => {
                let order = self.order();
                let request = OrderRequest {
                    reference: &self.reference,
                    merchant_id: "1",
                    return_url: None,
                    place: None,
                    descriptor: "Kiln & Tide",
                    now: self.time,
                    order: &order,
                };
                build_order(config, &request, &self.card, kind, 0).map_err(|fault| fault.to_string())
            }
            _ => build_follow_up(config, &self.modification(), kind, 0).map_err(|fault| fault.to_string()),
        }
    }

    fn order(&self) -> Order {
        Order {
            payment_type: PaymentType::Preauthorization,
            amount: self.amount,
            brand: self.brand,
            account: FullAccount::Card(self.card.clone()),
            address: AvsAddress { street: Some("Main Street 1".to_owned()), postcode: Some("12345".to_owned()) },
            mandate_signed: None,
            creditor_id: None,
            shopper_present: true,
            proof: None,
            accepts_partial_approval: true,
            accepts_any_number: false,
            forced_result_code: None,
            forced_advice_code: None,
            context: OrderContext { category: Some("EC".to_owned()), ..OrderContext::default() },
        }
    }

    fn modification(&self) -> Modification {
        Modification {
            reference: self.reference.clone(),
            original_reference: self.reference.clone(),
            earlier: EarlierPayment {
                payment_type: PaymentType::Preauthorization,
                brand: self.brand.code.to_owned(),
                bin: None,
                amount: self.amount,
                merchant_country: None,
                place: None,
            },
            place: None,
            merchant_id: "1".to_owned(),
            connector_tx_ids: ConnectorTxIds::default(),
            amount: self.amount,
            descriptor: Some("Kiln & Tide".to_owned()),
            capture: CaptureTerms::default(),
            forced_result_code: None,
            is_repeated: false,
        }
    }
}
