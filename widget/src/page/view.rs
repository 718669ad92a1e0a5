//! What comes and goes in the form: each piece is a portal into the wrapper that the loader made for it, and its last child, so
//! that yew appends it and looks for no sibling.

use web_sys::Element;
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
            { for Field::ALL.map(|field| piece(hint(app, field), || app.handle.wrapper(field.class()))) }
            { piece(spinner(app), || app.handle.wrapper("submit")) }
            { piece(notice(app), || app.handle.container.clone().into()) }
        </>
    }
}

fn piece(content: Option<VNode>, place: impl FnOnce() -> Element) -> VNode {
    content.map(|content| create_portal(content, place())).unwrap_or_default()
}

fn hint(app: &App, field: Field) -> Option<VNode> {
    let fault = app.fault_of(field)?;
    Some(html! {
        <div id={app.handle.hint_id(field)} class={js::cat(&["wpwl-hint wpwl-hint-", fault.hint()])}>
            { runtime::word(fault.message()) }
        </div>
    })
}

fn spinner(app: &App) -> Option<VNode> {
    app.busy.then(|| html! { <div class="wpwl-spinner spinner" aria-hidden="true"></div> })
}

fn notice(app: &App) -> Option<VNode> {
    let text = app.notice.as_ref()?;
    Some(html! {
        <div class="wpwl-message wpwl-has-error" role="alert">
            { for text.lines().enumerate().map(line) }
        </div>
    })
}

fn line((number, text): (usize, &str)) -> VNode {
    html! { <>if number > 0 { <br /> }{ text.to_owned() }</> }
}
