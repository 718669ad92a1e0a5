//! One payment: its facts, its timeline, and links to the related payments.

use axum::extract::Path;
use axum::response::Response;
use jiff::tz::TimeZone;
use maud::{Markup, html};
use tillgate_domain::access::entity::Entity;
use tillgate_domain::access::role::Permission;
use tillgate_domain::id::PaymentId;
use tillgate_domain::payment::{Account, Payment, PaymentState};
use tillgate_gateway::App;
use tillgate_gateway::payment::listing::ListedState;
use tillgate_gateway::payment::story::{PaymentStory, StoryScope};
use tillgate_gateway::registration::user_act::CustomerLinks;
use tillgate_store::Cancellation;

use super::filter::find_zone;
use super::labels::{account_end, amount_text, describe_state, state_text, state_tone, type_text};
use super::steps::TimelineReader;
use super::{acts, collect_ids, comments, parameters, steps};
use crate::BASE;
use crate::access::people::NameReader;
use crate::components::badge::{Tone, badge};
use crate::components::copy::copyable;
use crate::components::facts::{facts, summary};
use crate::components::notice::notice;
use crate::components::result::result_with_code;
use crate::components::table::{Column, Table};
use crate::components::timeline::timeline;
use crate::layout::page::Section;
use crate::layout::texts::Texts;
use crate::office::Office;

/// Size of the timeline with the messages of connectors and of the boxes next to it, in bytes. The page has at most
/// 60 kB.
const TIMELINE_ROOM: usize = 44_000;

/// Handles `GET /payments/{id}`.
pub(super) async fn show_payment(office: Office, Path(id): Path<String>) -> Response {
    let texts = office.texts;
    let entities = office.entities_with(Permission::ViewPayments);
    // A payment of another tenant is as unknown as one that does not exist.
    let Some(id) = PaymentId::parse(&id) else { return office.show_unknown() };
    let scope = collect_scope(&office);
    let customers = collect_ids(&office.entities_with(Permission::ViewCustomers));
    let names = NameReader::new(&office);
    let read = move |app: &App, _: &Cancellation<'_>| {
        let Some(story) = app.gateway.load_payment_story(&scope, &id)? else { return Ok(None) };
        let links = app.gateway.find_customer_links(&customers, &story.payment)?;
        let people = names.load_of_story(app, &story)?;
        Ok(Some((story, links, people)))
    };
    let (story, links, people) = match office.read(read).await {
        Ok(Some(found)) => found,
        Ok(None) => return office.show_unknown(),
        Err(failure) => return office.show_failure(&failure),
    };
    let owner = entities.iter().find(|entity| entity.id == story.payment.entity);
    let zone = find_zone(owner.map_or("", |owner| owner.zone_name()), &entities);
    let title = texts.fill("payment.title", &[("id", &story.payment.id.short_id())]);
    let sees_audit = office.allows_on(Permission::ViewAudit, &story.payment.entity);
    let reader = TimelineReader { texts, zone: &zone, people: &people, sees_audit };
    let main = render(&office, &reader, (&story, links), owner.map(AsRef::as_ref));
    office.show_page(Section::Payments, &title, main)
}

/// Collects the entities of which the user may see each part of a story.
fn collect_scope(office: &Office) -> StoryScope {
    let of = |permission| collect_ids(&office.entities_with(permission));
    StoryScope {
        payments: of(Permission::ViewPayments),
        reviews: of(Permission::ViewReviews),
        rules: of(Permission::ViewRules),
        money: of(Permission::ViewMoney),
        deliveries: of(Permission::ViewDeliveries),
    }
}

/// Renders the content.
fn render(
    office: &Office,
    reader: &TimelineReader<'_>,
    (story, links): (&PaymentStory, CustomerLinks),
    owner: Option<&Entity>,
) -> Markup {
    let (texts, zone, payment) = (office.texts, reader.zone, &story.payment);
    let outcome = ListedState::of(payment.payment_type, payment.result);
    let (tone, state) = describe_state(texts, outcome, story.follow_up);
    let side = html! {
        (render_facts(texts, payment, links))
        (render_related(texts, story))
        (parameters::render(texts, payment))
    };
    let room = TIMELINE_ROOM.saturating_sub(side.0.len());
    html! {
        div.title {
            p.crumb { a href={ (BASE) "/payments" } { (texts.get("payments.title")) } }
            h1 { (amount_text(texts, payment)) }
            (badge(tone, state))
            (acts::links(office, story))
            p { (copyable(texts, payment.id.as_str())) }
        }
        (render_outcome(texts, payment))
        (render_summary(texts, zone, story, owner))
        div.split {
            section.card aria-labelledby="timeline" {
                header { h2 id="timeline" { (texts.get("payment.timeline")) } }
                (timeline(&steps::collect(reader, story, room)))
                @if !story.comments.is_empty() {
                    p.body { a href={ (BASE) "/payments/" (payment.id.as_str()) "/comments" } { (texts.get("comment.all")) } }
                }
                @if office.allows_on(Permission::ChangePayments, &payment.entity) {
                    (comments::form(office, &payment.id, "", None))
                }
            }
            div.stack { (side) }
        }
    }
}

/// Renders the reason of a decline or of a pending outcome, the first thing that people look for.
fn render_outcome(texts: &Texts, payment: &Payment) -> Markup {
    let state = ListedState::of(payment.payment_type, payment.result);
    let text = match state {
        ListedState::Approved => return html! {},
        ListedState::Declined => texts.get("payment.declined_because"),
        ListedState::Pending => texts.get("payment.pending_because"),
        ListedState::Held => texts.get("payment.held_because"),
    };
    let tone = if state == ListedState::Declined { Tone::Bad } else { Tone::Warn };
    notice(tone, &html! { strong { (text) } " " (result_with_code(texts, payment.result)) })
}

/// Renders the most important facts beside each other.
fn render_summary(texts: &Texts, zone: &TimeZone, story: &PaymentStory, owner: Option<&Entity>) -> Markup {
    let payment = &story.payment;
    let created = texts.exact_time(&payment.created.to_zoned(zone.clone()));
    let remaining =
        tillgate_shared::money::Amount::from_hundredths(story.status.remaining(), payment.amount.currency());
    let has_rest = matches!(story.status.state, PaymentState::Open | PaymentState::Used | PaymentState::Closed);
    let remaining = remaining.filter(|_| has_rest && payment.referenced.is_none());
    let rest = remaining.map(|rest| html! { (texts.amount(&rest.to_string())) " " (rest.currency().code()) });
    let requested =
        payment.requested.map(|asked| html! { (texts.amount(&asked.to_string())) " " (asked.currency().code()) });
    summary(&[
        (texts.get("payments.type"), Some(html! { (type_text(texts, payment.payment_type.code())) })),
        (
            texts.get("payments.method"),
            Some(html! { (payment.brand) @if let Some(end) = account_end(payment) { " •• " (end) } }),
        ),
        (texts.get("payments.time"), Some(html! { time datetime=(payment.created) { (created) } })),
        (texts.get("payment.requested"), requested),
        (texts.get("payment.remaining"), rest),
        (texts.get("payments.reference"), payment.merchant_transaction_id().map(|text| html! { (text) })),
        (texts.get("payments.channel"), owner.map(|owner| html! { (owner.name) })),
    ])
}

/// Renders the facts about account, customer and acquirer.
fn render_facts(texts: &Texts, payment: &Payment, links: CustomerLinks) -> Markup {
    let text = |value: Option<&str>| value.filter(|it| !it.is_empty()).map(|value| html! { (value) });
    let parameter = |name: &str| payment.parameters.get(name);
    let (holder, number, expiry) = match &payment.account {
        Account::Card(card) => (
            card.holder.as_deref(),
            Some(format!("{} •••• {}", card.bin, card.last4)),
            Some(format!("{}/{}", card.expiry_month, card.expiry_year)),
        ),
        Account::Bank(bank) => (bank.holder.as_deref(), bank.iban.clone().or_else(|| bank.last4.clone()), None),
        Account::Virtual(account) => (account.holder.as_deref(), Some(account.account_id.clone()), None),
        Account::Unknown => (None, None, None),
    };
    let name = [parameter("customer.givenName"), parameter("customer.surname")];
    let name = name.into_iter().flatten().collect::<Vec<_>>().join(" ");
    let ids = payment.connector_tx_ids.to_array().into_iter().flatten().collect::<Vec<_>>().join(", ");
    let checks = [("AVS", payment.avs), ("CVV", payment.cvv)];
    let checks = checks.iter().filter_map(|(name, value)| value.map(|value| format!("{name} {value}")));
    let checks = checks.collect::<Vec<_>>().join(", ");
    let rows = [
        (texts.get("payment.result"), Some(result_with_code(texts, payment.result))),
        (texts.get("payment.holder"), text(holder)),
        (texts.get("payment.account"), number.map(|number| html! { code { (number) } })),
        (texts.get("payment.expiry"), text(expiry.as_deref())),
        (texts.get("payment.checks"), text(Some(&checks))),
        (texts.get("payment.customer"), text(Some(&name))),
        (texts.get("payments.mail"), text(parameter("customer.email"))),
        (texts.get("payment.address"), text(parameter("customer.ip"))),
        (texts.get("payment.descriptor"), text(Some(&payment.descriptor))),
        (texts.get("payment.connector"), text(payment.connector.as_deref())),
        (texts.get("payment.connector_ids"), text(Some(&ids))),
        (texts.get("payment.checkout"), payment.checkout.as_ref().map(|id| html! { code { (id.as_str()) } })),
        (
            texts.get("payment.registration"),
            payment.registration.as_ref().map(|id| customer_link("registrations", id.as_str(), links.registration)),
        ),
        (
            texts.get("payment.schedule"),
            payment.schedule.as_ref().map(|id| customer_link("schedules", id.as_str(), links.schedule)),
        ),
    ];
    html! {
        section.card aria-labelledby="facts" {
            header { h2 id="facts" { (texts.get("payment.facts")) } }
            div.body { (facts(&rows)) }
        }
    }
}

/// Renders the id of a registration or schedule, as a link for those who may see it.
fn customer_link(list: &str, id: &str, is_open: bool) -> Markup {
    html! {
        @if is_open {
            a href={ (BASE) "/customers/" (list) "/" (id) } { code { (id) } }
        } @else {
            code { (id) }
        }
    }
}

/// Renders the related payments and the other attempts of the checkout as links.
fn render_related(texts: &Texts, story: &PaymentStory) -> Markup {
    let others = story.related.iter().filter(|other| other.id != story.payment.id);
    let others: Vec<&Payment> = others.chain(&story.attempts).collect();
    if others.is_empty() {
        return html! {};
    }
    let row = |other: &&Payment| {
        let state = ListedState::of(other.payment_type, other.result);
        vec![
            html! { a href={ (BASE) "/payments/" (other.id.as_str()) } { (amount_text(texts, other)) } },
            html! { (type_text(texts, other.payment_type.code())) },
            badge(state_tone(state), state_text(texts, state)),
        ]
    };
    let columns = vec![
        Column::number(texts.get("payments.amount")),
        Column::new(texts.get("payments.type")),
        Column::new(texts.get("payments.state")),
    ];
    let caption = texts.get("payment.related");
    let rows = others.iter().map(row).collect();
    html! { section.card { (Table { caption, hides_caption: false, is_linked: true, columns, rows }.render()) } }
}
