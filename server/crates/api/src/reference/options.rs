//! The form's options on the reference page, from the table that also generates its type declarations.

use maud::{Markup, html};
use tillgate_shared::form_options::{FormOption, OPTIONS, OptionGroup};

use super::page::{anchor_of_title, render_text};

/// Renders the section with every option, by groups. A group without options is left out.
pub(super) fn render_options() -> Markup {
    html! {
        section #options {
            h2 { "Options of the form" }
            p { "Set the global " code { "wpwlOptions" } " before the form's script runs; there are " (OPTIONS.len()) ". It is read when it \
                is needed, so that it may be changed in " code { "onReady" } ", and names that are not known do no harm. For \
                TypeScript: " a href="v1/wpwl.d.ts" { "/v1/wpwl.d.ts" } "." }
            @for group in OptionGroup::ALL {
                @if group.options().next().is_some() {
                    h3 #(option_group_anchor(group)) { (group.title()) a.anchor href={ "#" (option_group_anchor(group)) } aria-label="Link to these options" { "#" } }
                    div.wide { table.parameters {
                        thead { tr { th { "Name" } th { "Type" } th { "Meaning" } } }
                        tbody { @for option in group.options() { (render_option(option)) } }
                    } }
                }
            }
        }
    }
}

/// Renders the row of an option: name, type with its default, and meaning.
fn render_option(option: &FormOption) -> Markup {
    html! {
        tr #{ "o." (option.name) } {
            td { code { (option.name) } }
            td { code { (option.type_name()) } @if let Some(default) = option.default_literal() { br; "default " code { (default) } } }
            td { (render_text(option.meaning)) }
        }
    }
}

/// Returns the anchor of a group of options. The prefix is needed because a section may have the same title.
fn option_group_anchor(group: OptionGroup) -> String {
    format!("options-{}", anchor_of_title(group.title()))
}
