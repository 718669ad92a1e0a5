//! The particulars of the form of a card, and its nodes.

use tillgate_shared::frame_messages::OfferedBrand;
use wasm_bindgen::prelude::*;
use web_sys::{Element, HtmlElement};
use yew::NodeRef;

use crate::page::dom;
use crate::page::engine::field::label_id;
use crate::page::handle::FormHandle;

/// Nodes of a card form that the loader has placed, or that were added before anything is shown.
#[derive(Debug)]
pub struct Skeleton {
    /// Groups by the last part of their class.
    groups: Vec<(String, HtmlElement)>,
    /// The place of the brand's logo.
    pub logo: Option<Element>,
}

impl Skeleton {
    /// Finds the groups of a form that the loader has placed.
    pub(super) fn find(form: &FormHandle) -> Self {
        let names = ["brand", "cardNumber", "expiry", "cardHolder", "cvv", "submit"];
        let find = |name: &str| {
            let group = form.container.query_selector(&[".wpwl-group-", name].concat()).ok()??;
            Some((name.to_owned(), group.dyn_into().ok()?))
        };
        let logo = form.container.query_selector(".wpwl-brand-card").ok().flatten();
        Self { groups: names.into_iter().filter_map(find).collect(), logo }
    }

    /// Returns a group.
    pub fn group(&self, name: &str) -> Option<&HtmlElement> {
        self.groups.iter().find(|(known, _)| known == name).map(|(_, group)| group)
    }

    /// Returns true if the loader has hidden the list of brands.
    pub fn hides_brand_list(&self) -> bool {
        self.group("brand").is_some_and(|group| group.class_name().contains("wpwl-brand-quiet"))
    }

    /// Returns the label or the wrapper of a group.
    fn part(&self, name: &str, part: &str) -> Option<Element> {
        self.group(name)?.query_selector(&[":scope > .wpwl-", part].concat()).ok()?
    }

    /// Returns the label of a group.
    pub fn label(&self, name: &str) -> Option<Element> {
        self.part(name, "label")
    }

    /// Returns the wrapper of a group's control.
    pub fn wrapper(&self, name: &str) -> Option<Element> {
        self.part(name, "wrapper")
    }

    /// Adds an empty group before another one.
    pub(super) fn add_group(&mut self, name: &str, before: &str) {
        let group = dom::make("div", &["wpwl-group wpwl-group-", name, " wpwl-clearfix"].concat(), &[], "");
        if let Some(next) = self.group(before) {
            let _ = next.before_with_node_1(&group);
            self.groups.push((name.to_owned(), group));
        }
    }

    /// Adds an empty group with label and wrapper before another one.
    pub(super) fn add_field_group(&mut self, container: &HtmlElement, name: &str, before: &str) {
        self.add_group(name, before);
        if let Some(group) = self.group(name) {
            let id = label_id(container, name);
            let label = dom::make("div", &["wpwl-label wpwl-label-", name].concat(), &[("id", &id)], "");
            let wrapper = dom::make("div", &["wpwl-wrapper wpwl-wrapper-", name].concat(), &[], "");
            let _ = group.append_with_node_2(&label, &wrapper);
        }
    }
}

/// The particulars of the form of a card.
#[derive(Debug)]
pub struct CardPart {
    /// Its nodes.
    pub skeleton: Skeleton,
    /// The brands that the checkout offers, of those that the page names. Empty until the configuration has come.
    pub cards: Vec<OfferedBrand>,
    /// True if the shopper has chosen the brand. The number does not change it while it fits.
    pub(super) is_chosen_by_hand: bool,
    /// The brands that the merchant was last told.
    pub(super) detected: Vec<String>,
    /// Brands of a card with two of them, between which the shopper chooses.
    pub(super) choices: Vec<String>,
    /// True while the number tells the brand.
    pub(super) is_told: bool,
    /// Count of the changes of the first digits that the merchant was last told.
    pub(super) bin: Option<u32>,
    /// True if the gateway has refused the brand, so that the shopper knows already that it is not offered.
    pub(super) is_withdrawn: bool,
    /// The brand that list and logo show. Empty if they have to be set again.
    pub(super) shown_brand: String,
    /// True once frames and configuration have come: the form is ready after the next rendering.
    pub(in crate::page) is_complete: bool,
    /// The list of brands.
    pub(super) select: NodeRef,
}

impl CardPart {
    /// Returns the brands' codes.
    pub fn codes(&self) -> Vec<String> {
        self.cards.iter().map(|brand| brand.code.clone()).collect()
    }
}
