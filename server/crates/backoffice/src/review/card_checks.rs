//! The checks of a card in one line: address, security code, 3-D Secure, and who bears the loss of a fraud.

use maud::{Markup, html};
use tillgate_domain::payment::{Account, Payment};
use tillgate_domain::three_ds::Proof;

use crate::components::facts::summary;
use crate::layout::texts::Texts;

/// Renders the line. A payment without a card has none.
pub(super) fn render(texts: &Texts, payment: &Payment) -> Markup {
    if !matches!(payment.account, Account::Card(_)) {
        return html! {};
    }
    let letter = |group: &str, letter: Option<char>| match letter {
        None => texts.get("card_check.not_asked").to_owned(),
        Some(letter) => texts.find(&format!("card_check.{group}_{letter}")).map_or(letter.to_string(), str::to_owned),
    };
    let proof = Proof::from_parameters(&payment.parameters);
    let is_shifted = proof.as_ref().is_some_and(Proof::is_authenticated);
    let liability = texts.get(if is_shifted { "card_check.issuer" } else { "card_check.merchant" });
    let value = |text: String| Some(html! { (text) });
    summary(&[
        (texts.get("card_check.avs"), value(letter("avs", payment.avs))),
        (texts.get("card_check.cvv"), value(letter("cvv", payment.cvv))),
        (texts.get("card_check.three_ds"), value(describe_three_ds(texts, payment, proof.as_ref()))),
        (texts.get("card_check.liability"), value(liability.to_owned())),
    ])
}

/// Returns the result of 3-D Secure with its version and its ECI.
fn describe_three_ds(texts: &Texts, payment: &Payment, proof: Option<&Proof>) -> String {
    let Some(proof) = proof else { return texts.get("card_check.three_ds_none").to_owned() };
    let parameter = |name: &str| payment.parameters.get(name).filter(|value| !value.is_empty());
    let status = parameter("threeDSecure.authenticationStatus");
    let status = status.and_then(|status| texts.find(&format!("card_check.three_ds_{status}")));
    let inferred = if proof.is_authenticated() { "card_check.three_ds_Y" } else { "card_check.three_ds_U" };
    let mut parts = vec![status.unwrap_or_else(|| texts.get(inferred)).to_owned()];
    parts.extend(proof.eci.as_ref().map(|eci| format!("ECI {eci}")));
    parts.extend(parameter("threeDSecure.version").map(|version| format!("v{version}")));
    if payment.three_ds_session().is_none() {
        parts.push(texts.get("card_check.three_ds_sent").to_owned());
    }
    parts.join(" · ")
}
