//! Comments of users on a payment: the form, the steps of the timeline, and the page with all of them in full.

use axum::extract::{Path, RawQuery};
use axum::response::Response;
use maud::{Markup, html};
use tillgate_domain::access::role::{Permission, Reach};
use tillgate_domain::id::PaymentId;
use tillgate_domain::payment::Payment;
use tillgate_domain::payment::comment::MAX_COMMENT;
use tillgate_gateway::Failure;
use tillgate_gateway::administration::Administration;
use tillgate_gateway::payment::user_act::parse_form_key;
use tillgate_store::PaymentComment;

use super::collect_ids;
use super::filter::find_zone;
use crate::BASE;
use crate::access::Fields;
use crate::components::field::Field;
use crate::components::table::empty;
use crate::layout::page::Section;
use crate::layout::texts::Texts;
use crate::office::Office;

/// Number of comments on a page. Each may have 2,000 characters, six bytes each if escaped, and a page at most 60 kB.
const PAGE_SIZE: u32 = 3;
/// Number of characters of a comment in the timeline.
const SHORT: usize = 400;

/// A payment with a page of its comments.
struct CommentPage {
    payment: Payment,
    comments: Vec<PaymentComment>,
    before: Option<u32>,
}

/// Handles `GET /payments/{id}/comments`.
pub(super) async fn show_comments(office: Office, Path(id): Path<String>, RawQuery(query): RawQuery) -> Response {
    let query = query.unwrap_or_default();
    let before = form_urlencoded::parse(query.as_bytes()).find(|(name, _)| name == "before");
    let before = before.and_then(|(_, number)| number.parse().ok());
    match CommentPage::load(&office, Permission::ViewPayments, &id, before).await {
        Ok(page) => page.show(&office, "", None),
        Err(refused) => *refused,
    }
}

/// Handles `POST /payments/{id}/comments`.
pub(super) async fn add_comment(office: Office, Path(id): Path<String>, fields: Fields) -> Response {
    let page = match CommentPage::load(&office, Permission::ChangePayments, &id, None).await {
        Ok(page) => page,
        Err(refused) => return *refused,
    };
    let text = fields.get("text");
    let Some(key) = parse_form_key(fields.get("key")) else {
        return page.show(&office, text, Some(office.texts.get("comment.no_key")));
    };
    let (entity, payment) = (page.payment.entity.clone(), page.payment.id.clone());
    let (user, sent, reach) = (office.signed_in.user.id.clone(), text.to_owned(), Reach::Entity(entity.clone()));
    let add =
        move |administration: &Administration| administration.comment_payment((&entity, &payment), &user, &key, &sent);
    match office.administer(Permission::ChangePayments, reach, add).await {
        Ok(()) => office.lead_to(&format!("/payments/{}", page.payment.id), "comment_added"),
        Err(error) => office.show_refusal(&error, async |message| page.show(&office, text, Some(message))).await,
    }
}

impl CommentPage {
    /// Loads a payment on whose entity the user has a permission, with its latest comments before a number.
    ///
    /// # Errors
    /// The page for a payment that does not exist, which is also that for a payment of another tenant.
    async fn load(
        office: &Office,
        permission: Permission,
        id: &str,
        before: Option<u32>,
    ) -> Result<Self, Box<Response>> {
        let Some(id) = PaymentId::parse(id) else { return Err(Box::new(office.show_unknown())) };
        let entities = collect_ids(&office.entities_with(permission));
        let found = office.read(move |app, _| {
            let store = &app.gateway.store;
            let Some(payment) = store.load_payment_of_any(&entities, &id)? else { return Ok::<_, Failure>(None) };
            let mut comments = store.load_payment_comments(&payment.entity, &id, before, PAGE_SIZE + 1)?;
            let has_more = comments.len() > PAGE_SIZE as usize;
            comments.truncate(PAGE_SIZE as usize);
            let before = comments.last().filter(|_| has_more).map(|comment| comment.number);
            Ok(Some(Self { payment, comments, before }))
        });
        let found = found.await.map_err(|failure| Box::new(office.show_failure(&failure)))?;
        found.ok_or_else(|| Box::new(office.show_unknown()))
    }

    /// Shows the page. `fault` is the reason why a comment was refused.
    fn show(&self, office: &Office, text: &str, fault: Option<&str>) -> Response {
        let texts = office.texts;
        let owner = office.app().gateway.directory.find_entity(&self.payment.entity);
        let zone = find_zone("", owner.as_slice());
        let title = texts.get("comment.title");
        let address = format!("{BASE}/payments/{}", self.payment.id);
        let main = html! {
            div.title {
                p.crumb {
                    a href={ (BASE) "/payments" } { (texts.get("payments.title")) } " › "
                    a href=(address) { (texts.fill("payment.title", &[("id", &self.payment.id.short_id())])) }
                }
                h1 { (title) }
            }
            div.stack {
                @if office.allows_on(Permission::ChangePayments, &self.payment.entity) {
                    section.card.narrow aria-label=(texts.get("comment.new")) { (form(office, &self.payment.id, text, fault)) }
                }
                section.card aria-label=(title) {
                    @if self.comments.is_empty() { (empty(texts.get("comment.none"), texts.get("comment.none_advice"))) }
                    div.body.stack {
                        @for comment in &self.comments {
                            @let time = texts.exact_time(&comment.written.to_zoned(zone.clone()));
                            article {
                                p.soft.small { (comment.author) " · " time datetime=(comment.written) { (time) } }
                                (render_text(&comment.text))
                            }
                        }
                    }
                    @if let Some(before) = self.before {
                        div.pages { span {} a.button href={ (address) "/comments?before=" (before) } rel="next" { (texts.get("comment.older")) } }
                    }
                }
            }
        };
        match fault {
            Some(fault) => office.show_fault(Section::Payments, title, fault, &main),
            None => office.show_page(Section::Payments, title, main),
        }
    }
}

/// Renders the form of a comment. It has none without random bytes for its key.
pub(super) fn form(office: &Office, id: &PaymentId, text: &str, fault: Option<&str>) -> Markup {
    let texts = office.texts;
    let Ok(key) = office.app().gateway.new_form_key() else { return html! {} };
    let field = Field {
        name: "text",
        label: texts.get("comment.new"),
        value: text,
        hint: Some(texts.get("comment.hint")),
        error: fault,
        max_length: u16::try_from(MAX_COMMENT).ok(),
        is_required: true,
        ..Field::default()
    };
    html! {
        form action={ (BASE) "/payments/" (id.as_str()) "/comments" } method="post" {
            input type="hidden" name="key" value=(key.as_str());
            (field.text_area(3))
            button type="submit" { (texts.get("comment.add")) }
        }
    }
}

/// Renders the text of a comment in the timeline: its beginning, and the way to the rest.
pub(super) fn render_short(texts: &Texts, payment: &PaymentId, comment: &PaymentComment) -> Markup {
    let short: String = comment.text.chars().take(SHORT).collect();
    html! {
        (render_text(&short))
        @if short.len() < comment.text.len() {
            p { "… " a href={ (BASE) "/payments/" (payment.as_str()) "/comments?before=" (comment.number + 1) } { (texts.get("comment.all")) } }
        }
    }
}

/// Renders the lines of a text.
fn render_text(text: &str) -> Markup {
    html! { p.wrap { @for (index, line) in text.lines().enumerate() { @if index > 0 { br; } (line) } } }
}
