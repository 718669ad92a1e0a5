//! Translates the gateway's orders to the parameters of the contract.

use tillgate_domain::payment::PaymentType;
use tillgate_domain::three_ds::{AuthenticationResult, Proof, TransactionStatus};
use tillgate_shared::money::Amount;
use tillgate_shared::parameter::Parameters;

use super::hops;
use crate::{
    AvsAddress, BankNumber, CardSource, FullAccount, FullBank, FullCard, Modification, Order, OrderContext,
    OrderRequest, StandingInstructionParameters,
};

/// Makes the parameters of an order with this amount. `is_live`: the payment moves real money. Returns `None` for the
/// type of a follow-up payment.
pub(super) fn order_parameters(request: &OrderRequest<'_>, amount: Amount, is_live: bool) -> Option<Parameters> {
    let order = request.order;
    let mut all = payment_parameters(payment_type_code(order.payment_type)?, request.reference, amount);
    if !is_live {
        // The other gateway's own simulator would end the way of the payment.
        all.set("testMode", "EXTERNAL");
    }
    all.set("paymentBrand", order.brand.code);
    set_optional(&mut all, "descriptor", Some(request.descriptor));
    if order.accepts_partial_approval {
        all.set("partialApproval", "accept");
    }
    set_account(&mut all, order);
    let AvsAddress { street, postcode } = &order.address;
    set_optional(&mut all, "billing.street1", street.as_deref());
    set_optional(&mut all, "billing.postcode", postcode.as_deref());
    set_context(&mut all, &order.context);
    set_optional(&mut all, "shopperResultUrl", request.return_url);
    Some(all)
}

/// Makes the parameters of a follow-up payment with this type. `amount` is empty for the whole amount.
pub(super) fn follow_up_parameters(payment_type: &str, reference: &str, amount: Option<Amount>) -> Parameters {
    let mut all = Parameters::default();
    all.set("paymentType", payment_type);
    all.set("merchantTransactionId", reference);
    if let Some(amount) = amount {
        set_amount(&mut all, amount);
    }
    all
}

/// Makes the parameters of a capture or refund.
pub(super) fn modification_parameters(payment_type: &str, modification: &Modification) -> Parameters {
    let mut all = follow_up_parameters(payment_type, &modification.reference, Some(modification.amount));
    set_optional(&mut all, "descriptor", modification.descriptor.as_deref());
    if modification.capture.is_final {
        all.set("finalCapture", "true");
    }
    all
}

/// Makes the parameters of a checkout that nobody pays. Its amount has no effect, and is not zero.
pub(super) fn checkout_parameters(amount: Amount, is_live: bool) -> Option<Parameters> {
    let one = Amount::from_hundredths(100, amount.currency())?;
    let mut all = Parameters::default();
    all.set("paymentType", PaymentType::Debit.code());
    set_amount(&mut all, one);
    if !is_live {
        all.set("testMode", "EXTERNAL");
    }
    Some(all)
}

/// Returns the code of an initial payment's type. A debit whose steps are sent one by one arrives here as a
/// preauthorization. `None` for a follow-up payment.
pub(super) fn payment_type_code(payment_type: PaymentType) -> Option<&'static str> {
    match payment_type {
        PaymentType::Preauthorization | PaymentType::Credit => Some(payment_type.code()),
        PaymentType::Debit | PaymentType::TwoStepDebit => Some(PaymentType::Debit.code()),
        _ => None,
    }
}

fn payment_parameters(payment_type: &str, reference: &str, amount: Amount) -> Parameters {
    follow_up_parameters(payment_type, reference, Some(amount))
}

fn set_amount(all: &mut Parameters, amount: Amount) {
    all.set("amount", amount.to_string());
    all.set("currency", amount.currency().code());
}

/// Sets a parameter, unless it has no value: an empty one is refused in some places.
fn set_optional(all: &mut Parameters, name: &str, value: Option<&str>) {
    if let Some(value) = value.filter(|value| !value.is_empty()) {
        all.set(name, value);
    }
}

/// Sets the account of an order, and the proof of authentication. An unknown account is entered at the provider.
fn set_account(all: &mut Parameters, order: &Order) {
    if let Some(proof) = order.proof.as_ref().filter(|proof| is_accepted_proof(proof)) {
        proof.write_to(all);
    }
    match &order.account {
        FullAccount::Card(card) => set_card(all, card),
        FullAccount::Bank(bank) => {
            set_bank_account(all, bank);
            let signed = order.mandate_signed.map(|day| day.to_string());
            set_optional(all, "bankAccount.mandate.dateOfSignature", signed.as_deref());
        }
        FullAccount::Virtual(account) => all.set("virtualAccount.accountId", account.account_id.as_str()),
        FullAccount::Unknown => {}
    }
}

/// Returns true if the contract has a place for a proof: an authentication or an attempt with its values, a failed one,
/// or an unavailable one. Exemptions and cards that are not enrolled have no status there.
fn is_accepted_proof(proof: &Proof) -> bool {
    let AuthenticationResult::Issuer(status) = proof.result else { return false };
    match status {
        TransactionStatus::Authenticated | TransactionStatus::Attempted => proof.eci.is_some() && proof.cavv.is_some(),
        TransactionStatus::Failed | TransactionStatus::Unavailable => true,
        _ => false,
    }
}

/// Sets a card. A wallet's cryptogram is sent as the contract has it for decrypted tokens.
fn set_card(all: &mut Parameters, card: &FullCard) {
    all.set("card.number", card.number.digits());
    all.set("card.expiryMonth", card.expiry.month_text());
    all.set("card.expiryYear", card.expiry.year_text());
    set_optional(all, "card.holder", card.holder.as_deref());
    set_optional(all, "card.cvv", card.security_code.as_ref().map(|code| code.digits()));
    if let Some(cryptogram) = &card.cryptogram {
        if card.source == CardSource::Wallet {
            all.set("walletPay.source", "web");
        }
        all.set("threeDSecure.verificationId", cryptogram.value.as_str());
        all.set("threeDSecure.eci", cryptogram.eci.as_str());
    }
}

fn set_bank_account(all: &mut Parameters, bank: &FullBank) {
    match &bank.number {
        Some(BankNumber::Iban(iban)) => all.set("bankAccount.iban", iban.characters()),
        Some(BankNumber::National(number)) => all.set("bankAccount.number", number.characters()),
        None => {}
    }
    set_optional(all, "bankAccount.holder", bank.summary.holder.as_deref());
    set_optional(all, "bankAccount.bankName", bank.summary.bank_name.as_deref());
    set_optional(all, "bankAccount.bankCode", bank.summary.bank_code.as_deref());
    set_optional(all, "bankAccount.bic", bank.summary.bic.as_deref());
    set_optional(all, "bankAccount.country", bank.summary.country.as_deref());
}

/// Sets the data about the merchant and the standing instruction, and counts this gateway.
fn set_context(all: &mut Parameters, context: &OrderContext) {
    for (name, value) in &context.merchant {
        set_optional(all, name, Some(value));
    }
    set_optional(all, "transactionCategory", context.category.as_deref());
    if let Some(instruction) = &context.standing_instruction {
        set_standing_instruction(all, instruction);
    }
    all.set(hops::PARAMETER, context.hops.saturating_add(1).to_string());
}

/// Sets a step of a standing instruction. The id of the first payment is this gateway's own, which the other one does
/// not know and would refuse. So a later charge by the merchant names neither the id nor a source, as clients did
/// before there were sources: the other gateway takes it for one without the cardholder.
fn set_standing_instruction(all: &mut Parameters, instruction: &StandingInstructionParameters) {
    let is_charge = instruction.mode.as_deref() == Some("REPEATED") && instruction.source.as_deref() != Some("CIT");
    let source = instruction.source.as_deref().filter(|_| !is_charge);
    for (name, value) in [
        ("mode", instruction.mode.as_deref()),
        ("source", source),
        ("type", instruction.kind.as_deref()),
        ("industryPractice", instruction.industry_practice.as_deref()),
        ("expiry", instruction.expiry.as_deref()),
        ("frequency", instruction.frequency.as_deref()),
        ("numberOfInstallments", instruction.number_of_installments.as_deref()),
    ] {
        set_optional(all, &format!("standingInstruction.{name}"), value);
    }
}
