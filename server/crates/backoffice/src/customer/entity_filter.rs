//! Filter of a list by a merchant or channel.

use std::sync::Arc;

use maud::{Markup, html};
use tillgate_domain::access::entity::Entity;

use crate::BASE;
use crate::components::field::Field;
use crate::components::filter_bar::FilterForm;
use crate::components::list_address::ListAddress;
use crate::layout::texts::Texts;

/// Name of the filter in the address.
pub(super) const ENTITY: &str = "entity";

/// The entities that a list shows.
pub(super) struct EntityFilter {
    /// The entities.
    pub(super) listed: Vec<Arc<Entity>>,
    /// True if the address names no entity of the user. An entity of another tenant is as unknown as one that does not
    /// exist.
    has_mistake: bool,
}

impl EntityFilter {
    /// Reads the filter of an address. `entities` are those of the user.
    pub(super) fn read(address: &ListAddress, entities: &[Arc<Entity>]) -> Self {
        let wanted = address.find(ENTITY);
        let is_listed = |entity: &&Arc<Entity>| wanted.is_none_or(|id| entity.id.as_str() == id);
        let listed: Vec<_> = entities.iter().filter(is_listed).cloned().collect();
        Self { has_mistake: wanted.is_some() && listed.is_empty(), listed }
    }

    /// Renders the form of the list at a path. `kept` are the hidden fields of the other filters.
    pub(super) fn render(&self, texts: &Texts, address: &ListAddress, path: &str, kept: &Markup) -> Markup {
        let field = Field {
            name: ENTITY,
            label: texts.get("customers.entity"),
            value: address.get(ENTITY),
            error: self.has_mistake.then(|| texts.get("customers.no_entity")),
            max_length: Some(255),
            ..Field::default()
        };
        FilterForm {
            title: texts.get("payments.filters"),
            active: address.count(&[ENTITY]),
            chips: Vec::new(),
            has_error: self.has_mistake,
            action: &format!("{BASE}{path}"),
            fields: html! { (kept) (field.input("text")) },
            apply: texts.get("payments.apply"),
            clear: texts.get("payments.clear"),
        }
        .render()
    }
}
