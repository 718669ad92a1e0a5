//! Acts on a payment: capture, refund and reversal, each on a page of its own that asks for the amount, and the
//! inquiry about an unknown outcome.

use std::sync::Arc;

use axum::extract::Path;
use axum::response::Response;
use maud::{Markup, html};
use tillgate_domain::access::approval::ApprovalRequest;
use tillgate_domain::access::approval::act::ApprovalAct;
use tillgate_domain::access::role::Permission;
use tillgate_domain::id::PaymentId;
use tillgate_domain::idempotency::IdempotencyKey;
use tillgate_domain::payment::{ModificationType, Payment};
use tillgate_gateway::Failure;
use tillgate_gateway::administration::ActError;
use tillgate_gateway::payment::story::PaymentStory;
use tillgate_gateway::payment::user_act::{ChangeablePayment, MODIFICATIONS, RequestedAct, parse_form_key};
use tillgate_shared::money::Amount;

use super::collect_ids;
use super::filter::parse_amount;
use super::labels::{account_end, amount_text};
use crate::BASE;
use crate::access::Fields;
use crate::components::facts::facts;
use crate::components::field::{Field, Largest};
use crate::components::result::describe_result;
use crate::layout::page::Section;
use crate::layout::texts::Texts;
use crate::office::Office;
use crate::risk::list_choice::{ListChoice, add_chosen};

/// Form of an amount, which browsers check.
const AMOUNT_PATTERN: &str = r"\s*[0-9]{1,10}([.,][0-9]{1,2})?\s*";

/// The page of an act on a payment.
struct ActPage {
    changeable: ChangeablePayment,
    modification: ModificationType,
}

/// Handles `GET /payments/{id}/{act}`.
pub(super) async fn show_act(office: Office, Path((id, act)): Path<(String, String)>) -> Response {
    match ActPage::load(&office, &id, &act).await {
        Ok(page) => page.show(&office, &Fields::default(), None),
        Err(refused) => *refused,
    }
}

/// Handles `POST /payments/{id}/{act}`: captures, refunds or reverses, and leads to the payment.
pub(super) async fn carry_out(office: Office, Path((id, act)): Path<(String, String)>, fields: Fields) -> Response {
    let page = match ActPage::load(&office, &id, &act).await {
        Ok(page) => page,
        Err(refused) => return *refused,
    };
    let typed = fields.get("amount");
    let currency = page.changeable.payment.amount.currency();
    let amount = parse_amount(typed.trim()).and_then(|hundredths| Amount::from_hundredths(hundredths, currency));
    if amount.is_none() && page.modification != ModificationType::Reversal {
        let fault = office.texts.fill("act.no_amount", &[("currency", currency.code())]);
        return page.show(&office, &fields, Some(&fault));
    }
    let Some(key) = parse_form_key(fields.get("key")) else {
        return page.show(&office, &fields, Some(office.texts.get("act.no_key")));
    };
    let amount = amount.filter(|_| page.modification != ModificationType::Reversal);
    match page.find_request(&office, amount, &key) {
        Ok(Some(asked)) => return office.lead_to(&format!("/approvals/{}", asked.id), "approval_asked"),
        Ok(None) => {}
        Err(failure) => return office.show_failure(&failure),
    }
    let form_key = key.clone();
    let requested = RequestedAct { modification: page.modification, amount, key };
    match page.act_and_list(&office, requested, &fields).await {
        Ok((made, done)) => page.show_outcome(&office, &made, &fields, &done),
        Err(ActError::NeedsApproval { entity, act }) => {
            match office.ask_for_approval(&entity, &act, Some(form_key)).await {
                Ok((path, done)) => {
                    office.lead_to(&path, &add_chosen(&office, &page.changeable.payment, &fields, done).await)
                }
                Err(error) => page.show_refused(&office, &fields, &error).await,
            }
        }
        Err(error) => page.show_refused(&office, &fields, &error).await,
    }
}

/// Handles `POST /payments/{id}/inquiry`: asks the acquirer for the outcome, and leads to the payment.
pub(super) async fn ask_acquirer(office: Office, Path(id): Path<String>) -> Response {
    let found = match load_changeable(&office, &id).await {
        Ok(found) => found.payment,
        Err(refused) => return *refused,
    };
    // An inquiry takes as long as the acquirer does, so one user must not fill it with many.
    let _place = office.state.inquiries.take(office.signed_in.user.id.as_str()).await;
    let path = format!("/payments/{}", found.id);
    match office.app().gateway.ask_acquirer(&office.actor(), (&found.entity, &found.id)).await {
        Ok(payment) if payment.can_be_inquired() => office.lead_to(&path, "inquiry_open"),
        Ok(_) => office.lead_to(&path, "inquiry_known"),
        Err(error) => office.show_refusal(&error, async |_| office.lead_to(&path, "inquiry_known")).await,
    }
}

/// Loads a payment that the user may change.
///
/// # Errors
/// The page for a payment that does not exist, which is also that for a payment of another tenant.
async fn load_changeable(office: &Office, id: &str) -> Result<ChangeablePayment, Box<Response>> {
    let Some(id) = PaymentId::parse(id) else { return Err(Box::new(office.show_unknown())) };
    let entities = collect_ids(&office.entities_with(Permission::ChangePayments));
    match office.read(move |app, _| app.gateway.load_changeable_payment(&entities, &id)).await {
        Ok(found) => found.ok_or_else(|| Box::new(office.show_unknown())),
        Err(failure) => Err(Box::new(office.show_failure(&failure))),
    }
}

/// Returns the name of an act in addresses and texts.
fn act_name(modification: ModificationType) -> &'static str {
    match modification {
        ModificationType::Capture => "capture",
        ModificationType::Refund => "refund",
        ModificationType::Reversal => "reversal",
        ModificationType::Increment | ModificationType::Chargeback | ModificationType::ChargebackReversal => "none",
    }
}

/// Parses the name of an act.
fn parse_act(name: &str) -> Option<ModificationType> {
    MODIFICATIONS.into_iter().find(|act| act_name(*act) == name)
}

/// Renders the links to the review, to disputes and to the acts that are possible, and the button that asks the
/// acquirer. A user who may not change the payment has the links only.
pub(super) fn links(office: &Office, story: &PaymentStory) -> Markup {
    let (texts, payment) = (office.texts, &story.payment);
    let may_change = office.allows_on(Permission::ChangePayments, &payment.entity);
    html! {
        div.actions {
            @if story.review.is_some() {
                a.button href={ (BASE) "/reviews/" (payment.id) } { (texts.get("payment.review")) }
            }
            @for dispute in &story.disputes {
                a.button href={ (BASE) "/money/disputes/" (dispute.id) } { (texts.get("step.dispute")) }
            }
            @for act in story.acts.iter().filter(|_| may_change) {
                a.button href={ (BASE) "/payments/" (payment.id) "/" (act_name(*act)) } {
                    (texts.get(&format!("act.{}", act_name(*act))))
                }
            }
            @if may_change && payment.can_be_inquired() {
                form action={ (BASE) "/payments/" (payment.id) "/inquiry" } method="post" {
                    button type="submit" { (texts.get("act.inquiry")) }
                }
            }
        }
    }
}

impl ActPage {
    /// Loads the payment of the page.
    ///
    /// # Errors
    /// The page for what does not exist.
    async fn load(office: &Office, id: &str, act: &str) -> Result<Self, Box<Response>> {
        let Some(modification) = parse_act(act) else { return Err(Box::new(office.show_unknown())) };
        Ok(Self { changeable: load_changeable(office, id).await?, modification })
    }

    fn name(&self) -> &'static str {
        act_name(self.modification)
    }

    fn payment_path(&self) -> String {
        format!("/payments/{}", self.changeable.payment.id)
    }

    /// Finds the request that the form has made before for the same act. Sent again, the form leads to it, also after
    /// the refund has run.
    fn find_request(
        &self,
        office: &Office,
        amount: Option<Amount>,
        key: &IdempotencyKey,
    ) -> Result<Option<ApprovalRequest>, Failure> {
        let asked = office.app().gateway.store.load_approval_of_form(&office.signed_in.user.id, key.as_str())?;
        Ok(asked.filter(|asked| match &asked.act {
            ApprovalAct::Refund(refund) => {
                let is_same_act = refund.modification() == self.modification;
                let is_same_amount = refund.is_reversal || Some(refund.amount) == amount;
                refund.payment == self.changeable.payment.id && is_same_act && is_same_amount
            }
            ApprovalAct::Rules(_) | ApprovalAct::Key(_) => false,
        }))
    }

    /// Shows the form again with the reason of a refusal.
    async fn show_refused(&self, office: &Office, fields: &Fields, error: &ActError) -> Response {
        office.show_refusal(error, async |message| self.show(office, fields, Some(message))).await
    }

    /// Makes the act, and puts the chosen values on a list if it succeeded or still may. Returns the payment that was
    /// made, and the keys of the notices.
    async fn act_and_list(
        &self,
        office: &Office,
        requested: RequestedAct,
        fields: &Fields,
    ) -> Result<(Arc<Payment>, String), ActError> {
        let (worker, sent, name) = (office.clone(), fields.clone(), self.name());
        let (payment, has_list) = (self.changeable.payment.clone(), self.modification != ModificationType::Capture);
        // A browser that leaves ends the request, but must not keep the values of a refunded payment from a list.
        let acting = tokio::spawn(async move {
            let target = (&payment.entity, &payment.id);
            let made = worker.app().gateway.change_payment(&worker.actor(), target, requested).await?;
            let done = format!("{name}_{}", if made.is_approved() { "approved" } else { "pending" });
            let is_listed = has_list && made.is_approved_or_pending();
            let done = if is_listed { add_chosen(&worker, &payment, &sent, &done).await } else { done };
            Ok((made, done))
        });
        acting.await.unwrap_or(Err(ActError::Failed(Failure::Interrupted)))
    }

    /// Leads to the payment after an act that succeeded or still may. A decline is shown with the form, whose new key
    /// makes another attempt possible.
    fn show_outcome(&self, office: &Office, made: &Payment, fields: &Fields, done: &str) -> Response {
        if made.is_approved_or_pending() {
            return office.lead_to(&self.payment_path(), done);
        }
        let reason = describe_result(office.texts, made.result);
        let fault = office.texts.fill(&format!("act.{}_declined", self.name()), &[("reason", &reason)]);
        self.show(office, fields, Some(&fault))
    }

    /// Finds the values that the form offers for a list. A capture has none.
    fn list_choice(&self, office: &Office) -> Option<ListChoice> {
        ListChoice::find(office, &self.changeable.payment).filter(|_| self.modification != ModificationType::Capture)
    }

    /// Shows the page. `sent` is the form that was refused; without an amount the form has the largest one.
    fn show(&self, office: &Office, sent: &Fields, fault: Option<&str>) -> Response {
        let texts = office.texts;
        let title_key = format!("act.{}_title", self.name());
        let title = texts.get(&title_key);
        let key = match office.app().gateway.new_form_key() {
            Ok(key) => key,
            Err(failure) => return office.show_failure(&failure),
        };
        let is_possible = self.changeable.acts.contains(&self.modification);
        let fault = fault.or_else(|| (!is_possible).then(|| texts.get("act.not_possible")));
        let main = html! {
            div.title {
                p.crumb {
                    a href={ (BASE) (self.payment_path()) } { (texts.fill("payment.title", &[("id", &self.changeable.payment.id.short_id())])) }
                }
                h1 { (title) }
            }
            section.card.narrow aria-label=(title) {
                div.body { (self.render_facts(texts)) }
                @if is_possible { (self.render_form(office, key.as_str(), sent)) }
            }
        };
        match fault {
            Some(fault) => office.show_fault(Section::Payments, title, fault, &main),
            None => office.show_page(Section::Payments, title, main),
        }
    }

    /// Renders what the user should know before the act.
    fn render_facts(&self, texts: &Texts) -> Markup {
        let payment = &self.changeable.payment;
        let rest = self.changeable.largest_amount(self.modification);
        facts(&[
            (texts.get("payments.amount"), Some(html! { (amount_text(texts, payment)) })),
            (texts.get("payment.remaining"), Some(html! { (money(texts, rest)) })),
            (
                texts.get("payments.method"),
                Some(html! { (payment.brand) @if let Some(end) = account_end(payment) { " •• " (end) } }),
            ),
            (texts.get("payments.reference"), payment.merchant_transaction_id().map(|text| html! { (text) })),
        ])
    }

    /// Renders the form.
    fn render_form(&self, office: &Office, key: &str, sent: &Fields) -> Markup {
        let texts = office.texts;
        let largest = self.changeable.largest_amount(self.modification);
        let (number, text) = (largest.to_string(), money(texts, largest));
        let most = texts.fill("act.most", &[("amount", &text)]);
        let proposed = texts.plain_amount(&number);
        let label = texts.fill("act.amount", &[("currency", largest.currency().code())]);
        let field = Field {
            name: "amount",
            label: &label,
            value: if sent.has("amount") { sent.get("amount") } else { &proposed },
            hint: Some(&most),
            input_mode: Some("decimal"),
            max_length: Some(13),
            pattern: Some(AMOUNT_PATTERN),
            largest: Some(Largest { number: &number, text: &most }),
            is_required: true,
            ..Field::default()
        };
        let action = format!("{BASE}{}/{}", self.payment_path(), self.name());
        html! {
            form action=(action) method="post" {
                input type="hidden" name="key" value=(key);
                @if self.modification == ModificationType::Reversal {
                    p { (texts.fill("act.reversal_text", &[("amount", &text)])) }
                } @else {
                    (field.input("text"))
                }
                @if let Some(choice) = self.list_choice(office) { (choice.render(texts, sent)) }
                div.acts {
                    button.primary type="submit" { (texts.get(&format!("act.{}", self.name()))) }
                    a.button href={ (BASE) (self.payment_path()) } { (texts.get("act.back")) }
                }
            }
        }
    }
}

/// Formats an amount with its currency.
fn money(texts: &Texts, amount: Amount) -> String {
    format!("{} {}", texts.amount(&amount.to_string()), amount.currency().code())
}
