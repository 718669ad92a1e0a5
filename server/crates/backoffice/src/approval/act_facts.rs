//! Acts that need a second person, for people: the title of each, and exactly what it will do.

use jiff::Timestamp;
use maud::{Markup, html};
use tillgate_domain::access::approval::ApprovalRequest;
use tillgate_domain::access::approval::act::{ApprovalAct, ApprovalKind, KeyAct, PendingRefund, PendingRuleUse};
use tillgate_domain::delivery::file_push::PushAddress;
use tillgate_domain::delivery::target_url::TargetUrl;
use tillgate_domain::risk::rules::VersionRole;
use tillgate_shared::money::Amount;

use super::time;
use crate::BASE;
use crate::layout::page::Section;
use crate::layout::texts::Texts;
use crate::office::Office;

/// A name with its value.
type Fact<'a> = (&'a str, Option<Markup>);

/// Returns the area that the page of an act belongs to.
pub(super) fn section_of(kind: ApprovalKind) -> Section {
    match kind {
        ApprovalKind::Refund => Section::Payments,
        ApprovalKind::Rules => Section::Rules,
        ApprovalKind::Credential => Section::Administration,
        ApprovalKind::Receiver => Section::Deliveries,
    }
}

/// Returns an act in a few words.
pub(crate) fn describe_act(texts: &Texts, act: &ApprovalAct) -> String {
    match act {
        ApprovalAct::Refund(refund) => {
            let key = if refund.is_reversal { "approvals.reversal_of" } else { "approvals.refund_of" };
            texts.fill(key, &[("amount", &money(texts, refund.amount))])
        }
        ApprovalAct::Rules(change) => {
            let key = match (change.role, &change.version) {
                (VersionRole::Active, Some(_)) => "approvals.activate",
                (VersionRole::Active, None) => "approvals.stop",
                (VersionRole::Shadow, Some(_)) => "approvals.shadow",
                (VersionRole::Shadow, None) => "approvals.stop_shadow",
            };
            let version = change.version.as_ref().or(change.seen.as_ref());
            texts.fill(key, &[("version", version.map_or("", String::as_str))])
        }
        ApprovalAct::Key(act) => {
            let title = texts.get(act_key(act.name()));
            name_of_key(act).map_or_else(|| title.to_owned(), |name| format!("{title}: {name}"))
        }
    }
}

/// Returns the name of the thing that an act on a secret makes or changes, if it has one. Of an address this is the
/// host, because the rest is long and may be a secret.
fn name_of_key(act: &KeyAct) -> Option<String> {
    match act {
        KeyAct::Token { label, .. } => Some(label.clone()),
        KeyAct::WalletKey => None,
        KeyAct::FtpUser { name, .. } => name.clone(),
        KeyAct::Webhook { url, .. } => TargetUrl::parse(url).ok().map(|target| target.host().to_owned()),
        KeyAct::WebhookRotation { webhook } => Some(webhook.to_string()),
        KeyAct::FilePush { url, .. } => PushAddress::parse(url).ok().map(|address| address.host_and_port()),
    }
}

/// Returns the key of the text of an act on a secret.
fn act_key(name: &str) -> &'static str {
    match name {
        "token" => "approvals.new_token",
        "wallet-key" => "approvals.new_wallet_key",
        "ftp-user" => "approvals.new_ftp_user",
        "webhook" => "approvals.new_webhook",
        "webhook-rotation" => "approvals.new_secret",
        _ => "approvals.new_server",
    }
}

/// Renders exactly what an act will do.
pub(super) fn act_facts<'a>(office: &Office, request: &ApprovalRequest) -> Vec<Fact<'a>> {
    match &request.act {
        ApprovalAct::Refund(refund) => refund_facts(office.texts, refund),
        ApprovalAct::Rules(change) => rule_facts(office.texts, request, change),
        ApprovalAct::Key(act) => key_facts(office, request, act),
    }
}

fn refund_facts<'a>(texts: &'static Texts, refund: &PendingRefund) -> Vec<Fact<'a>> {
    let payment = html! {
        a href={ (BASE) "/payments/" (refund.payment) } { (texts.fill("payment.title", &[("id", &refund.payment.short_id())])) }
    };
    vec![
        (texts.get("approvals.payment"), Some(payment)),
        (texts.get("approvals.amount"), Some(html! { strong { (money(texts, refund.amount)) } })),
        (texts.get("approvals.sum"), Some(html! { (money(texts, refund.sum)) })),
    ]
}

fn rule_facts<'a>(texts: &'static Texts, request: &ApprovalRequest, change: &PendingRuleUse) -> Vec<Fact<'a>> {
    let rules = format!("{BASE}/risk/{}", request.entity);
    let link = |version: &String| html! { a href={ (rules) "/versions/" (version) } { code { (version) } } };
    let above = || html! { (texts.get("approvals.version_above")) };
    let without = |role| {
        if role == VersionRole::Active {
            above()
        } else {
            html! { (texts.get("rules.no_shadow")) }
        }
    };
    let differences = change.seen.as_ref().zip(change.version.as_ref()).map(|(old, new)| {
        html! { a href={ (rules) "/differences?old=" (old) "&new=" (new) } { (texts.get("rules.differences")) } }
    });
    vec![
        (texts.get("approvals.version"), Some(change.version.as_ref().map_or_else(|| without(change.role), link))),
        (texts.get("approvals.replaced"), Some(change.seen.as_ref().map_or_else(|| without(change.role), link))),
        (texts.get("approvals.differences"), differences),
        (texts.get("rules.reason"), (!change.reason.is_empty()).then(|| html! { span.wrap { (change.reason) } })),
    ]
}

fn key_facts<'a>(office: &Office, request: &ApprovalRequest, act: &KeyAct) -> Vec<Fact<'a>> {
    let texts = office.texts;
    let word = |key: &'static str| Some(html! { (texts.get(key)) });
    let text = |text: &str| Some(html! { span.wrap { (text) } });
    let list = |items: &[String]| (!items.is_empty()).then(|| html! { span.wrap { (items.join(", ")) } });
    let moment = |end: Timestamp| time(office, request, end);
    match act {
        KeyAct::Token { label, expires, scopes, networks } => vec![
            (texts.get("token.label"), text(label)),
            (texts.get("token.expires"), expires.map_or_else(|| word("token.never"), |end| Some(moment(end)))),
            (texts.get("token.scopes"), list(scopes)),
            (texts.get("approvals.networks"), list(networks)),
        ],
        KeyAct::WalletKey => Vec::new(),
        KeyAct::FtpUser { name, requires_resumption } => vec![
            (texts.get("ftp.name"), name.as_deref().map_or_else(|| word("approvals.random_name"), text)),
            (texts.get("ftp.resumption"), word(if *requires_resumption { "ftp.required" } else { "ftp.not_required" })),
        ],
        KeyAct::Webhook { url, kinds, without_customer, wrapped } => {
            let customer = if *without_customer { "webhook.without_customer" } else { "webhook.with_customer" };
            vec![
                (texts.get("webhook.url"), text(url)),
                (texts.get("webhook.types"), list(kinds)),
                (texts.get("webhook.customer"), word(customer)),
                (texts.get("webhook.form"), word(if *wrapped { "webhook.wrapped" } else { "webhook.plain" })),
            ]
        }
        KeyAct::WebhookRotation { webhook } => {
            let link = html! { a href={ (BASE) "/deliveries/" (webhook) } { code.wrap { (webhook) } } };
            vec![(texts.get("webhook.title"), Some(link))]
        }
        KeyAct::FilePush { url, host_key, ca, from, has_private_key, replaces } => vec![
            (texts.get("push.url"), text(url)),
            (texts.get("approvals.replaces"), replaces.as_deref().and_then(text)),
            (texts.get("approvals.login"), word(if *has_private_key { "push.private_key" } else { "push.password" })),
            (texts.get("push.host_key"), host_key.as_deref().map(|key| html! { code.wrap { (key) } })),
            (texts.get("push.ca"), ca.as_deref().map(|ca| html! { pre.wrap { (ca) } })),
            (texts.get("push.from"), from.map(|day| html! { (day.strftime(texts.get("format.date")).to_string()) })),
        ],
    }
}

/// Formats an amount with its currency.
fn money(texts: &Texts, amount: Amount) -> String {
    format!("{} {}", texts.amount(&amount.to_string()), amount.currency().code())
}
