//! What the form shows: each piece is a portal into the wrapper that the loader made for it.

use yew::prelude::*;

use super::app::App;
use super::fields::Field;
use super::{js, options};
use yew::virtual_dom::VNode;

/// The whole form.
pub fn view(app: &App) -> Html {
    html! {
        <>
            <div class="wpwl-live" role="status">{ app.announcement.clone() }</div>
            { piece(app, "brand", brand(app)) }
            { piece(app, "cardNumber", hint(app, Field::Number)) }
            { piece(app, "expiry", expiry(app)) }
            { piece(app, "cardHolder", holder(app)) }
            { piece(app, "cvv", hint(app, Field::Code)) }
            { piece(app, "submit", submit(app)) }
            { create_portal(notice(app), app.handle.container.clone().into()) }
        </>
    }
}

fn piece(app: &App, name: &str, content: VNode) -> VNode {
    create_portal(content, app.handle.wrapper(name))
}

fn brand(app: &App) -> VNode {
    let option = |brand: &String| {
        html! { <option value={brand.clone()} selected={*brand == app.brand}>{ app.brand_name(brand) }</option> }
    };
    html! {
        <select ref={app.select.clone()} name="paymentBrand" class="wpwl-control wpwl-control-brand"
            aria-labelledby={app.handle.label_id("brand")}>
            { for app.brands.iter().map(option) }
        </select>
    }
}

/// Month before year in every script: among right-to-left text, "05 / 34" would stand the other way round.
fn expiry(app: &App) -> VNode {
    html! {
        <>
            <input ref={app.expiry.clone()} type="tel" name="card.expiry" autocomplete="cc-exp" dir="ltr" translate="no"
                class="wpwl-control wpwl-control-expiry" data-action="blur-card-expiry"
                placeholder={placeholder(app, "mmyy")}
                aria-labelledby={app.handle.label_id("expiry")}
                aria-invalid={invalid(app, Field::Expiry)}
                aria-describedby={described(app, Field::Expiry)} />
            { hint(app, Field::Expiry) }
        </>
    }
}

fn holder(app: &App) -> VNode {
    html! {
        <>
            <input ref={app.holder.clone()} type="text" name="card.holder" autocomplete="cc-name" translate="no"
                class="wpwl-control wpwl-control-cardHolder"
                placeholder={placeholder(app, "cardHolder")}
                aria-labelledby={app.handle.label_id("cardHolder")}
                aria-invalid={invalid(app, Field::Holder)}
                aria-describedby={described(app, Field::Holder)} />
            { hint(app, Field::Holder) }
        </>
    }
}

fn submit(app: &App) -> VNode {
    let registers = app.handle.form.action().ends_with("/registration");
    let text = app.words.get(if registers { "register" } else { "submit" }).to_owned();
    html! {
        <>
            <button ref={app.button.clone()} type="submit" name="pay"
                class="wpwl-button wpwl-button-pay" aria-label={text.clone()}>{ text }</button>
            if app.busy {
                <div class="wpwl-spinner spinner" aria-hidden="true"></div>
            }
        </>
    }
}

/// The last child of its wrapper, so that yew appends it and looks for no sibling.
fn hint(app: &App, field: Field) -> VNode {
    match app.fault_of(field) {
        Some(fault) => html! {
            <div id={app.handle.hint_id(field)} class={js::cat(&["wpwl-hint wpwl-hint-", fault.hint()])}>
                { app.words.get(fault.message()).to_owned() }
            </div>
        },
        None => html! {},
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

fn placeholder(app: &App, key: &str) -> Option<String> {
    options::on_by_default("showPlaceholders").then(|| app.words.get(key).to_owned())
}

fn invalid(app: &App, field: Field) -> &'static str {
    if app.fault_of(field).is_some() { "true" } else { "false" }
}

fn described(app: &App, field: Field) -> Option<String> {
    app.fault_of(field).map(|_| app.handle.hint_id(field))
}
