//! Layout of all pages: head, masthead with the languages, footer.

use maud::{DOCTYPE, Markup, html};

use crate::texts::Lang;
use crate::view::View;

/// Renders a whole page. `path` is its own address without a query, for the links to the other language; an error page
/// has none, and no such links.
pub fn render_page(view: View, title: &str, path: Option<&str>, main: Markup) -> Markup {
    let lang = view.language();
    let texts = lang.texts();
    let home = format!("/{}", view.to_query());
    html! {
        (DOCTYPE)
        html lang=(lang.code()) class=[view.dark.then_some("dark")] {
            head {
                meta charset="utf-8";
                meta http-equiv="X-UA-Compatible" content="IE=edge";
                meta name="viewport" content="width=device-width, initial-scale=1";
                meta name="color-scheme" content="light dark";
                title { (title) " · Kiln & Tide" }
                link rel="icon" href="/icon.svg" type="image/svg+xml";
                link rel="stylesheet" href="/shop.css";
            }
            body {
                header.masthead {
                    a.wordmark href=(home) aria-label=(texts.home) {
                        svg viewBox="0 0 32 32" width="28" height="28" aria-hidden="true" {
                            path.mark-body d="M5 9h22c0 10-3.7 17-11 17S5 19 5 9Z" {}
                            path.mark-wave d="M5.5 14.5c3.5-2 7 2 10.5 0s7 2 10.5 0" {}
                        }
                        span { "Kiln & Tide" }
                    }
                    @if let Some(path) = path {
                        nav.languages aria-label=(texts.languages) {
                            @for (other, name) in [(Lang::En, "English"), (Lang::De, "Deutsch")] {
                                a href={ (path) (View { lang: Some(other), ..view }.to_query()) } hreflang=(other.code())
                                    lang=(other.code()) aria-current=[(other == lang).then_some("true")] { (name) }
                            }
                        }
                    }
                }
                main { (main) }
                footer.colophon { p { (texts.demo_note) " " a href="/playground" { (texts.playground) } } }
            }
        }
    }
}
