//! The part of a form that puts values of a payment on a list together with an act on the payment, such as the refund
//! of a fraud.

use std::sync::Arc;

use maud::{Markup, html};
use tillgate_domain::access::entity::Entity;
use tillgate_domain::access::level::Level;
use tillgate_domain::access::role::{Permission, Reach};
use tillgate_domain::payment::Payment;
use tillgate_domain::risk::list::RiskListKind;
use tillgate_gateway::administration::Administration;
use tillgate_gateway::risk::listable::ListableValue;
use tillgate_gateway::risk::versions::ChangeNote;

use super::apply_now;
use super::lists::list_name;
use crate::access::Fields;
use crate::components::field::Field;
use crate::layout::texts::Texts;
use crate::office::Office;
use crate::review::analyst_of;

/// Name of the field of the list.
const LIST: &str = "list";
/// Name of the fields of the values. Each is the name of a key.
const LISTED: &str = "listed";
/// The lists that a form offers. Nobody trusts a shopper because of an act against a payment.
const OFFERED: [RiskListKind; 2] = [RiskListKind::Deny, RiskListKind::Review];

/// The values of a payment that the user may put on the lists of an entity.
pub(crate) struct ListChoice {
    entity: Arc<Entity>,
    values: Vec<ListableValue>,
    reason: String,
}

impl ListChoice {
    /// Finds the values of a payment. The lists are those of the merchant, so that they hold for all its channels, or
    /// those of the channel for a user of the channel. `None` if the user may not change them, or the payment has no
    /// such value.
    pub(crate) fn find(office: &Office, payment: &Payment) -> Option<Self> {
        let owner = office.app().gateway.directory.find_entity(&payment.entity)?;
        let merchant = owner.parent.as_ref().filter(|_| owner.level == Level::Channel);
        let merchant = merchant.and_then(|id| office.app().gateway.directory.find_entity(id));
        let mut candidates = merchant.into_iter().chain([owner]);
        let entity = candidates.find(|entity| office.allows_on(Permission::ChangeRules, &entity.id))?;
        let values = office.app().gateway.find_listable_values(&entity, payment);
        (!values.is_empty()).then(|| Self { entity, values, reason: format!("Payment {}", payment.id) })
    }

    /// Renders the part of the form. `sent` is the form that was refused, if there is one.
    pub(crate) fn render(&self, texts: &Texts, sent: &Fields) -> Markup {
        let list =
            Field { name: LIST, label: texts.get("list_choice.list"), value: sent.get(LIST), ..Field::default() };
        let lists = OFFERED.map(|list| (list.as_str(), list_name(texts, list)));
        html! {
            fieldset {
                legend { (texts.get("list_choice.title")) }
                @for ListableValue { key: (name, _), shown, .. } in &self.values {
                    label.choice {
                        input type="checkbox" name=(LISTED) value=(name) checked[sent.all(LISTED).any(|sent| sent == *name)];
                        (texts.get(&format!("risk_key.{name}"))) " " (shown)
                    }
                }
                (list.select(&lists))
                p.soft { (texts.fill("list_choice.text", &[("entity", &self.entity.name)])) }
            }
        }
    }

    /// Puts the chosen values on the list, all or none of them, after an act that stands whatever comes of it. Returns
    /// the key of the notice. `None` if nothing is chosen.
    async fn add_chosen(self, office: &Office, fields: &Fields) -> Option<&'static str> {
        let list = RiskListKind::parse(fields.get(LIST)).filter(|list| OFFERED.contains(list))?;
        let is_chosen = |value: &ListableValue| fields.all(LISTED).any(|name| name == value.key.0);
        let chosen: Vec<_> = self.values.into_iter().filter(is_chosen).collect();
        if chosen.is_empty() {
            return None;
        }
        let (author, reason, owner) = (analyst_of(&office.signed_in.user), self.reason, Arc::clone(&self.entity));
        let add = move |acts: &Administration| {
            let places = chosen.into_iter().map(|value| value.into_place(list)).collect();
            acts.put_list_entries(&owner, places, (None, None), ChangeNote { author, reason })
        };
        match office.administer(Permission::ChangeRules, Reach::Entity(self.entity.id.clone()), add).await {
            Ok(_) => {
                apply_now(office).await;
                Some("values_listed")
            }
            Err(error) => {
                tracing::warn!(%error, "putting values of a payment on a list failed");
                Some("values_not_listed")
            }
        }
    }
}

/// Puts the values of a payment that a form has chosen on a list. Returns the keys of all notices: that of the act, and
/// that of the list if something was chosen.
pub(crate) async fn add_chosen(office: &Office, payment: &Payment, fields: &Fields, done: &str) -> String {
    let listed = match ListChoice::find(office, payment) {
        Some(choice) => choice.add_chosen(office, fields).await,
        None => None,
    };
    listed.map_or_else(|| done.to_owned(), |listed| format!("{done},{listed}"))
}
