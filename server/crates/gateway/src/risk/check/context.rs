//! Data of a payment for its check: what is stored with the payment, and the input that is made from it.

use std::collections::BTreeSet;

use jiff::{SignedDuration, Timestamp};
use tillgate_connector::Order;
use tillgate_domain::access::entity::Entity;
use tillgate_domain::id::PaymentId;
use tillgate_domain::parameter_defaults::format_order_time;
use tillgate_domain::payment::{Account, Payment};
use tillgate_domain::registration::{Registration, new_date};
use tillgate_domain::risk::{PaymentRisk, RiskContext};
use tillgate_domain::three_ds::Proof;
use tillgate_risk::CheckInput;
use tillgate_shared::parameter::Parameters;
use tillgate_vault::AccountIndexKey;

use crate::Gateway;
use crate::access::sender::{CLIENT_ADDRESS, Sender};
use crate::payment::PaymentContext;
use crate::payment::account_parameters::StorableAccount;
use crate::payment::account_parameters::is_account_parameter;
use crate::payment::account_parameters::is_shopper_parameter;
use crate::risk::check::card;

/// Parameter that each check has: the time of the order, or else that of the payment.
const ORDER_TIME: &str = "risk.orderTimestamp";
/// Beginning of the parameters with the result of 3-D Secure, which are added while a payment is pending.
const THREE_DS_GROUP: &str = "threeDSecure.";
/// Beginning of the parameters that describe a browser, not its shopper.
const BROWSER_GROUP: &str = "customer.browser";
/// Parameters of an account that are facts, or of which the source matters for lists.
const ACCOUNT_FACTS: [&str; 6] = [
    "card.holder",
    "card.expiryMonth",
    "card.expiryYear",
    "virtualAccount.accountId",
    "bankAccount.iban",
    "bankAccount.number",
];

impl Gateway {
    /// Returns the data of a new payment that its check needs beyond the payment itself. `from_gateway` are names of
    /// parameters that the gateway has set.
    pub(crate) fn collect_risk_context(
        &self,
        (payment, payer): (&PaymentId, &Entity),
        order: &Order,
        account: Option<&StorableAccount>,
        parameters: &Parameters,
        from_gateway: Vec<String>,
        context: PaymentContext<'_>,
    ) -> Box<PaymentRisk> {
        let renewed = renew_used(order, context);
        let used = renewed.as_ref().or(context.credential_owner.used);
        let index = account.map(|account| self.account_index.index_account(&account.identity));
        let masked_index = index.and_then(|index| self.account_index.mask_index(payment, &index));
        let registered = used.map_or_else(Parameters::default, |used| select_registered(used, parameters));
        let from_gateway = complete_gateway_names(from_gateway, parameters, context);
        let from_browser = find_browser_names(account, (parameters, &registered), &from_gateway, context.sender, used);
        let card = card::describe_card(order, &self.directory.risk.operator_lists().bins);
        let age = used.map(|used| self.now_of(payer).duration_since(used.created).as_secs());
        let context = RiskContext {
            masked_index,
            bin: card.bin,
            card_country: card.country,
            card_funding: card.funding,
            address: context.addresses.shopper,
            from_browser: from_browser.into_iter().collect(),
            from_gateway: from_gateway.into_iter().collect(),
            registered,
            registration_age: age,
            account_age: None,
        };
        Box::new(PaymentRisk { context, ..PaymentRisk::default() })
    }
}

/// Returns the registration that a payment uses, with the date that the payment has brought. `None` if it uses none, or
/// brings no other date than the stored one.
fn renew_used(order: &Order, context: PaymentContext<'_>) -> Option<Registration> {
    let used = context.credential_owner.used?;
    let date = used.find_new_date(&order.account.summary())?;
    Some(used.with_new_date(date, context.sender.is_from_browser(new_date::MONTH)))
}

/// Selects the data about the shopper that a registration has and a request has not. The address and the browser were
/// those of the shopper when the account was stored, so they say nothing about a later payment.
fn select_registered(used: &Registration, parameters: &Parameters) -> Parameters {
    let is_kept = |name: &str| {
        is_shopper_parameter(name)
            && name != CLIENT_ADDRESS
            && !name.starts_with(BROWSER_GROUP)
            && !parameters.contains(name)
    };
    used.parameters.iter().filter(|(name, _)| is_kept(name)).collect()
}

/// Adds the address of the client to the names of the parameters that the gateway has set, if it has set it, and leaves
/// out those without a value.
fn complete_gateway_names(
    names: Vec<String>,
    parameters: &Parameters,
    context: PaymentContext<'_>,
) -> BTreeSet<String> {
    let checkout = context.sender.checkout();
    let sets_address = checkout.is_some_and(|checkout| !checkout.parameters.contains(CLIENT_ADDRESS));
    let address = sets_address.then(|| CLIENT_ADDRESS.to_owned());
    names.into_iter().chain(address).filter(|name| parameters.contains(name)).collect()
}

/// Returns the names of the parameters that the shopper's browser has set: in this request, or when the account was
/// stored.
fn find_browser_names(
    account: Option<&StorableAccount>,
    (parameters, registered): (&Parameters, &Parameters),
    from_gateway: &BTreeSet<String>,
    sender: Sender<'_>,
    used: Option<&Registration>,
) -> BTreeSet<String> {
    let may_add_holder = parameters.get("overrideHolder") == Some("true");
    let is_sent = |name: &&str| !from_gateway.contains(*name) && sender.is_from_browser(name);
    let is_stored = |name: &&str| used.is_some_and(|used| used.is_from_browser(name));
    let of_request = parameters.iter().map(|(name, _)| name).filter(|name| !is_account_parameter(name));
    let of_account = account.into_iter().flat_map(StorableAccount::names).filter(|name| ACCOUNT_FACTS.contains(name));
    let of_account = of_account.filter(|name| match used {
        Some(_) => is_stored(name) || (may_add_holder && is_sent(name)),
        None => is_sent(name),
    });
    let of_registration = registered.iter().map(|(name, _)| name).filter(is_stored);
    of_request.filter(is_sent).chain(of_account).chain(of_registration).map(str::to_owned).collect()
}

/// Makes the input of a check from a payment and the data that were kept for it. `key` removes the mask of its
/// account's index; without it, the payment has no account that is counted or listed.
pub(crate) fn make_check_input(
    payment: &Payment,
    context: &RiskContext,
    key: Option<&AccountIndexKey>,
    at: Timestamp,
) -> CheckInput {
    let mut parameters = payment.parameters.clone();
    let mut from_gateway: BTreeSet<String> = context.from_gateway.iter().cloned().collect();
    if let Account::Card(card) = &payment.account {
        parameters.set("card.expiryMonth", card.expiry_month.as_str());
        parameters.set("card.expiryYear", card.expiry_year.as_str());
        if let Some(holder) = &card.holder {
            parameters.set("card.holder", holder.as_str());
        }
    }
    for (name, value) in context.registered.iter() {
        parameters.set(name, value);
    }
    if !parameters.contains(ORDER_TIME) {
        // Without any other parameter of its group, the payment has no default.
        parameters.set(ORDER_TIME, format_order_time(payment.created));
        from_gateway.insert(ORDER_TIME.to_owned());
    }
    let index = context.masked_index.as_ref().zip(key);
    let index = index.and_then(|(masked, key)| key.mask_index(&payment.id, masked));
    let mut input = CheckInput {
        parameters,
        from_browser: context.from_browser.iter().cloned().collect(),
        from_gateway,
        at,
        amount: Some(payment.amount),
        brand: Some(payment.brand.clone()),
        bin: context.bin.clone(),
        card_country: context.card_country.clone(),
        card_funding: context.card_funding.clone(),
        address: context.address,
        registration_age: context.registration_age.map(SignedDuration::from_secs),
        account_age: context.account_age.map(SignedDuration::from_secs),
        card: index.clone().filter(|_| payment.account.as_card().is_some()),
        account: index,
        ..CheckInput::default()
    };
    refresh_late_facts(&mut input, payment);
    input
}

/// Reads the late facts again: they may have changed since the input was made. The others are fixed when the payment is
/// made, so its parameters are not copied again under the write lock.
pub(super) fn refresh_late_facts(input: &mut CheckInput, payment: &Payment) {
    if payment.three_ds_session().is_some() {
        input.from_gateway.extend(Proof::PARAMETERS.map(str::to_owned));
    }
    for (name, value) in payment.parameters.with_prefix(THREE_DS_GROUP) {
        input.parameters.set(name, value);
    }
    let proof = Proof::from_parameters(&payment.parameters);
    let status = payment.parameters.get("threeDSecure.authenticationStatus");
    input.three_ds_result = status.and_then(|status| status.chars().next());
    input.liability_shifted = proof.as_ref().map(Proof::is_authenticated);
    input.eci = proof.and_then(|proof| proof.eci);
    (input.avs, input.cvv) = (payment.avs, payment.cvv);
}
