//! What comes and goes in the form: each piece is a portal into the wrapper that the loader made for it, and its last child, so
//! that yew appends it and looks for no sibling.

use yew::prelude::*;
use yew::virtual_dom::VNode;

use super::app::App;
use super::fields::Field;
use super::{js, runtime};

/// All of it.
pub fn view(app: &App) -> Html {
    html! {
        <>
            <div class="wpwl-live" role="status">{ app.announcement.clone() }</div>
            { for Field::ALL.map(|field| piece(app, field.class(), hint(app, field))) }
            { piece(app, "submit", spinner(app)) }
            { create_portal(notice(app), app.handle.container.clone().into()) }
        </>
    }
}

fn piece(app: &App, name: &str, content: VNode) -> VNode {
    create_portal(content, app.handle.wrapper(name))
}

fn hint(app: &App, field: Field) -> VNode {
    match app.fault_of(field) {
        Some(fault) => html! {
            <div id={app.handle.hint_id(field)} class={js::cat(&["wpwl-hint wpwl-hint-", fault.hint()])}>
                { runtime::word(fault.message()) }
            </div>
        },
        None => html! {},
    }
}

fn spinner(app: &App) -> VNode {
    html! {
        if app.busy {
            <div class="wpwl-spinner spinner" aria-hidden="true"></div>
        }
    }
}

fn notice(app: &App) -> VNode {
    let Some(text) = &app.notice else {
        return html! {};
    };
    html! {
        <div class="wpwl-message wpwl-has-error" role="alert">
            { for text.lines().enumerate().map(line) }
        </div>
    }
}

fn line((number, text): (usize, &str)) -> VNode {
    html! { <>if number > 0 { <br /> }{ text.to_owned() }</> }
}
