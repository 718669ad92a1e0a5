//! The form's options on the reference page, from the table that its type declarations are made of.

use maud::{Markup, html};
use tillgate_shared::options::{FormOption, Group, OPTIONS};

use super::page::{code, fragment};

/// The section with every option.
pub(super) fn section() -> Markup {
    html! {
        section #options {
            h2 { "Options of the form" }
            p { "Set the global " code { "wpwlOptions" } " before the form's script runs; there are " (OPTIONS.len()) ". It is read when it \
                is needed, so that it may be changed in " code { "onReady" } ", and names that are not known do no harm. For \
                TypeScript: " a href="/v1/wpwl.d.ts" { "/v1/wpwl.d.ts" } "." }
            @for group in Group::ALL {
                @if group.options().next().is_some() {
                    h3 #(anchor(group)) { (group.title()) a.anchor href={ "#" (anchor(group)) } aria-label="Link to these options" { "#" } }
                    div.wide { table.parameters {
                        thead { tr { th { "Name" } th { "Type" } th { "Meaning" } } }
                        tbody { @for option in group.options() { (row(option)) } }
                    } }
                }
            }
        }
    }
}

fn row(option: &FormOption) -> Markup {
    html! {
        tr #{ "o." (option.name) } {
            td { code { (option.name) } }
            td { code { (option.type_name()) } @if let Some(default) = option.default() { br; "default " code { (default) } } }
            td { (code(option.meaning)) }
        }
    }
}

fn anchor(group: Group) -> String {
    format!("options-{}", fragment(group.title()))
}
