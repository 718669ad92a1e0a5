//! The page of a registration: the account that may be shown, its schedules and payments, and the act that deletes it.

use std::sync::Arc;

use axum::extract::Path;
use axum::response::Response;
use jiff::Timestamp;
use jiff::tz::TimeZone;
use maud::{Markup, html};
use tillgate_domain::access::entity::Entity;
use tillgate_domain::access::role::Permission;
use tillgate_domain::id::RegistrationId;
use tillgate_domain::payment::Account;
use tillgate_domain::schedule::Schedule;
use tillgate_gateway::payment::listing::ListRow;
use tillgate_gateway::registration::user_act::{CustomerScope, RegistrationDetails};

use super::{
    expiry, free_text, holder, masked_account, plan, registration_badge, schedule_amount, schedule_badge, time,
};
use crate::BASE;
use crate::access::Fields;
use crate::components::badge::badge;
use crate::components::copy::copyable;
use crate::components::dialog::Dialog;
use crate::components::facts::facts;
use crate::components::result::result_with_code;
use crate::components::table::{Column, Shown, Table, empty};
use crate::layout::page::Section;
use crate::layout::texts::Texts;
use crate::office::Office;
use crate::payment::collect_ids;
use crate::payment::filter::find_zone;
use crate::payment::labels::{state_text, state_tone, type_text};

/// Number of payments on the page.
const PAYMENTS: usize = 20;
/// Number of schedules on the page.
const SCHEDULES: usize = 30;

/// A registration with its owner.
struct RegistrationPage {
    details: RegistrationDetails,
    owner: Option<Arc<Entity>>,
    zone: TimeZone,
}

/// Handles `GET /customers/registrations/{id}`.
pub(super) async fn show_registration(office: Office, Path(id): Path<String>) -> Response {
    match RegistrationPage::load(&office, Permission::ViewCustomers, &id).await {
        Ok(page) => page.show(&office, None),
        Err(refused) => *refused,
    }
}

/// Handles `POST /customers/registrations/{id}/delete`. The form has no fields, but an act is decided only when all of
/// it has arrived.
pub(super) async fn delete(office: Office, Path(id): Path<String>, _: Fields) -> Response {
    let page = match RegistrationPage::load(&office, Permission::ChangeCustomers, &id).await {
        Ok(page) => page,
        Err(refused) => return *refused,
    };
    let registration = &page.details.registration;
    match office.app().gateway.remove_registration(&office.actor(), (&registration.entity, &registration.id)).await {
        Ok(_) => office.lead_to(&format!("/customers/registrations/{}", registration.id), "registration_deleted"),
        Err(error) => office.show_refusal(&error, async |message| page.show(&office, Some(message))).await,
    }
}

impl RegistrationPage {
    /// Loads a registration on whose entity the user has a permission.
    ///
    /// # Errors
    /// The page for a registration that does not exist, which is also that for a registration of another tenant.
    async fn load(office: &Office, permission: Permission, id: &str) -> Result<Self, Box<Response>> {
        let Some(id) = RegistrationId::parse(id) else { return Err(Box::new(office.show_unknown())) };
        let of = |permission| collect_ids(&office.entities_with(permission));
        let scope = CustomerScope { customers: of(permission), payments: of(Permission::ViewPayments) };
        let found = office
            .read(move |app, cancelled| app.gateway.load_registration_details(&scope, &id, PAYMENTS, cancelled))
            .await;
        let found = found.map_err(|failure| Box::new(office.show_failure(&failure)))?;
        let details = found.ok_or_else(|| Box::new(office.show_unknown()))?;
        let owner = office.app().gateway.directory.find_entity(&details.registration.entity);
        let zone = find_zone("", owner.as_slice());
        Ok(Self { details, owner, zone })
    }

    /// Shows the page. `fault` is the reason why an act was refused.
    fn show(&self, office: &Office, fault: Option<&str>) -> Response {
        let (texts, registration) = (office.texts, &self.details.registration);
        let title = texts.get("registration.title");
        let may_change = office.allows_on(Permission::ChangeCustomers, &registration.entity);
        let main = html! {
            div.title {
                p.crumb { a href={ (BASE) "/customers/registrations" } { (texts.get("registrations.title")) } }
                h1 { (masked_account(texts, registration)) }
                (registration_badge(texts, registration))
                @if self.details.is_usable && may_change { (self.render_deletion(texts)) }
                p { (copyable(texts, registration.id.as_str())) }
            }
            div.split {
                div.stack {
                    div.card {
                        header { h2 { (texts.get("registration.payments")) } }
                        (self.render_payments(texts))
                    }
                    div.card {
                        header { h2 { (texts.get("registration.schedules")) } }
                        (self.render_schedules(texts))
                    }
                }
                (self.render_facts(texts))
            }
        };
        match fault {
            Some(fault) => office.show_fault(Section::Customers, title, fault, &main),
            None => office.show_page(Section::Customers, title, main),
        }
    }

    fn render_facts(&self, texts: &Texts) -> Markup {
        let registration = &self.details.registration;
        let moment = |moment: Timestamp| time(texts, &self.zone, moment);
        let parameter = |name: &str| registration.parameters.get(name);
        let name = [parameter("customer.givenName"), parameter("customer.surname")];
        let name = name.into_iter().flatten().collect::<Vec<_>>().join(" ");
        let number = match &registration.account {
            Account::Card(card) => Some(format!("{} •••• {}", card.bin, card.last4)),
            Account::Bank(bank) => bank.iban.clone(),
            Account::Virtual(_) | Account::Unknown => None,
        };
        let kept = registration.retained_until.filter(|_| registration.ended.is_none());
        html! {
            section.card aria-labelledby="facts" {
                header { h2 id="facts" { (texts.get("schedule.facts")) } }
                div.body {
                    (facts(&[
                        (texts.get("registration.number"), number.map(|number| html! { code { (number) } })),
                        (texts.get("payment.holder"), holder(registration)),
                        (texts.get("payment.expiry"), expiry(registration).map(|expiry| html! { (expiry) })),
                        (texts.get("payment.customer"), free_text(Some(&name))),
                        (texts.get("payments.mail"), free_text(parameter("customer.email"))),
                        (texts.get("registration.customer_id"), free_text(parameter("customer.merchantCustomerId"))),
                        (texts.get("payments.reference"), free_text(parameter("merchantTransactionId"))),
                        (texts.get("schedules.owner"), self.owner.as_ref().map(|owner| html! { (owner.name) })),
                        (texts.get("schedule.created"), Some(moment(registration.created))),
                        (texts.get("registration.kept"), kept.map(moment)),
                        (
                            texts.get("payment.result"),
                            Some(result_with_code(texts, registration.result)),
                        ),
                    ]))
                }
            }
        }
    }

    fn render_payments(&self, texts: &Texts) -> Markup {
        let page = &self.details.payments;
        if page.rows.is_empty() {
            return empty(texts.get("registration.no_payments"), texts.get("registration.no_payments_advice"));
        }
        let row = |row: &ListRow| {
            vec![
                html! { a href={ (BASE) "/payments/" (row.id) } { (texts.amount(&row.amount)) " " (row.currency) } },
                badge(state_tone(row.state()), state_text(texts, row.state())),
                html! { (type_text(texts, row.payment_type.code())) },
                html! { span.soft { (time(texts, &self.zone, row.created)) } },
            ]
        };
        let columns = vec![
            Column::number(texts.get("payments.amount")),
            Column::new(texts.get("payments.state")),
            Column::new(texts.get("payments.type")).from(Shown::Wide),
            Column::new(texts.get("payments.time")).from(Shown::Medium),
        ];
        let rows = page.rows.iter().map(row).collect();
        let all = format!("{BASE}/payments?registration={}", self.details.registration.id);
        html! {
            (Table { caption: texts.get("registration.payments"), hides_caption: true, is_linked: true, columns, rows }.render())
            @if page.before.is_some() {
                div.pages { div { a.button href=(all) { (texts.get("registration.all_payments")) } } }
            }
        }
    }

    fn render_schedules(&self, texts: &Texts) -> Markup {
        let schedules = &self.details.schedules;
        if schedules.is_empty() {
            return empty(texts.get("schedules.none"), texts.get("schedules.none_advice"));
        }
        let row = |schedule: &Schedule| {
            let zone = find_zone(&schedule.zone, self.owner.as_slice());
            let next = schedule.next.filter(|_| schedule.is_active());
            vec![
                html! { a href={ (BASE) "/customers/schedules/" (schedule.id) } { (schedule_amount(texts, schedule)) } },
                html! { @if let Some(next) = next { (time(texts, &zone, next)) } @else { "–" } },
                schedule_badge(texts, schedule),
                plan::render(texts, schedule),
            ]
        };
        let columns = vec![
            Column::number(texts.get("payments.amount")),
            Column::new(texts.get("schedules.next")),
            Column::new(texts.get("schedules.state")),
            Column::new(texts.get("schedules.plan")).from(Shown::Wide),
        ];
        let rows = schedules.iter().take(SCHEDULES).map(row).collect();
        html! {
            (Table { caption: texts.get("registration.schedules"), hides_caption: true, is_linked: true, columns, rows }.render())
            @if schedules.len() > SCHEDULES { div.pages { span { (texts.get("registration.cut")) } } }
        }
    }

    /// Renders the button that deletes the registration, with its question.
    fn render_deletion(&self, texts: &Texts) -> Markup {
        let active = self.details.schedules.iter().filter(|schedule| schedule.is_active()).count();
        let active = texts.number(u64::try_from(active).unwrap_or(u64::MAX));
        let content = html! { p.soft { (texts.fill("registration.delete_text", &[("schedules", &active)])) } };
        let title = texts.get("registration.delete_question");
        let dialog = Dialog { name: "delete", title, content, close: texts.get("registration.keep") };
        let act = html! {
            form action={ (BASE) "/customers/registrations/" (self.details.registration.id) "/delete" } method="post" {
                button.danger type="submit" { (texts.get("registration.delete")) }
            }
        };
        html! {
            div.actions { (dialog.opener("quiet", texts.get("registration.delete"))) }
            (dialog.render(&act))
        }
    }
}
