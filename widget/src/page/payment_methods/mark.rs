//! Marks of brands: tiles that the style sheets draw (`widget/style/marks.css`). All places that show a brand use them.

use web_sys::HtmlElement;
use yew::prelude::*;

use crate::page::dom;
use crate::page::session::Session;

/// Returns the classes of a brand's mark, and makes sure that it is drawn. The classes of a mark without a text beside
/// it are followed by ` wpwl-brand-inline`.
pub fn mark_classes(session: &Session, brand: &str) -> String {
    session.loader.show_mark(brand);
    ["wpwl-brand wpwl-brand-", brand].concat()
}

/// Returns the mark of a brand as a node of a rendered form. `is_card` leaves out the text, which brands of other
/// accounts have for forms without a style sheet.
pub fn view_mark(session: &Session, is_card: bool, brand: &str, name: &str) -> Html {
    let class = [&mark_classes(session, brand), INLINE].concat();
    html! { <div ~className={class} role="img" aria-label={name.to_owned()}>{ mark_text(is_card, name).to_owned() }</div> }
}

/// Creates the mark of a brand as an element. `is_card` means the same as in [`view_mark`].
pub fn make_mark(session: &Session, is_card: bool, brand: &str, name: &str) -> HtmlElement {
    let class = [&mark_classes(session, brand), INLINE].concat();
    dom::make("span", &class, &[("role", "img"), ("aria-label", name)], mark_text(is_card, name))
}

/// Class of a mark without a text beside it.
const INLINE: &str = " wpwl-brand-inline";

fn mark_text(is_card: bool, name: &str) -> &str {
    if is_card { "" } else { name }
}
