//! Frame of every page: head with the search, navigation, and content. Whole without a script.

use maud::{DOCTYPE, Markup, html};
use tillgate_domain::access::role::Permission;
use tillgate_domain::access::user::User;

use super::assets;
use super::texts::Texts;
use crate::BASE;
use crate::components::icon;

/// Area of the back office that the navigation marks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Section {
    /// The first page.
    Home,
    /// Payments.
    Payments,
    /// Held payments.
    Reviews,
    /// Risk rules and lists.
    Rules,
    /// Disputes and settlements.
    Money,
    /// Registrations and schedules.
    Customers,
    /// Webhooks and callbacks.
    Deliveries,
    /// Entities, tokens and users.
    Administration,
    /// Any page that is not in the navigation.
    Other,
}

/// A page.
pub struct Page<'a> {
    /// The texts of the user's language.
    pub texts: &'a Texts,
    /// The title, without the name of the program.
    pub title: &'a str,
    /// The area.
    pub section: Section,
    /// The signed-in user. Without one there is neither navigation nor search.
    pub user: Option<&'a User>,
    /// The text in the search field.
    pub search: &'a str,
    /// The content, which begins with a heading of the first level.
    pub main: Markup,
}

impl Page<'_> {
    /// Renders the document.
    pub fn render(&self) -> Markup {
        let texts = self.texts;
        let name = texts.get("layout.name");
        html! {
            (DOCTYPE)
            html lang=(texts.code) dir=(texts.get("format.direction")) {
                head {
                    meta charset="utf-8";
                    meta name="viewport" content="width=device-width, initial-scale=1";
                    meta name="robots" content="noindex";
                    meta name="referrer" content="same-origin";
                    title { (self.title) " · " (name) }
                    link rel="stylesheet" href=(assets::style_address());
                    link rel="icon" type="image/svg+xml" href=(assets::icon_address());
                    (assets::script_tag())
                }
                body class=[self.user.is_none().then_some("plain")] {
                    a.skip href="#main" { (texts.get("layout.skip")) }
                    header.top {
                        a.brand href=(BASE) { (icon::mark()) (name) }
                        @if let Some(user) = self.user { (self.render_head(user)) }
                    }
                    @if let Some(user) = self.user { (self.render_navigation(user)) }
                    main id="main" tabindex="-1" { (self.main) }
                }
            }
        }
    }

    /// Renders the head: the search, and the user with the way out.
    fn render_head(&self, user: &User) -> Markup {
        let texts = self.texts;
        html! {
            div.head {
                search.search {
                    form action={ (BASE) "/search" } method="get" {
                        (icon::search())
                        label.hidden-text for="search" { (texts.get("layout.search")) }
                        input id="search" name="q" type="search" value=(self.search) maxlength="200" autocomplete="off"
                            spellcheck="false" placeholder=(texts.get("layout.search_hint")) aria-keyshortcuts="/";
                    }
                }
                div.user {
                    a.account href={ (BASE) "/account" } { (icon::person()) span { (user.name) } }
                    form action={ (BASE) "/sign-out" } method="post" {
                        button.quiet type="submit" { (texts.get("layout.sign_out")) }
                    }
                }
            }
        }
    }

    /// Renders the navigation: the areas in which the user may see something.
    fn render_navigation(&self, user: &User) -> Markup {
        use Permission as P;
        let texts = self.texts;
        let entries = [
            (Section::Home, P::ViewPayments, "", icon::home(), "layout.home"),
            (Section::Payments, P::ViewPayments, "/payments", icon::card(), "layout.payments"),
            (Section::Reviews, P::ViewReviews, "/reviews", icon::flag(), "reviews.title"),
            (Section::Rules, P::ViewRules, "/risk", icon::shield(), "rules.title"),
            (Section::Customers, P::ViewCustomers, "/customers/registrations", icon::person(), "customers.title"),
            (Section::Money, P::ViewMoney, "/money/disputes", icon::coins(), "money.title"),
            (Section::Deliveries, P::ViewDeliveries, "/deliveries", icon::send(), "deliveries.title"),
            (Section::Administration, P::ManageTokens, "/administration", icon::sliders(), "administration.title"),
        ];
        let is_open = |permission| user.permissions.allows_somewhere(permission);
        html! {
            nav.nav aria-label=(texts.get("layout.navigation")) {
                ul {
                    @for (section, permission, path, icon, text) in entries {
                        @if is_open(permission) {
                            li {
                                a href={ (BASE) (path) } aria-current=[(section == self.section).then_some("page")] {
                                    (icon) (texts.get(text))
                                }
                            }
                        }
                    }
                }
            }
        }
    }
}
