//! The reference page: everything that a merchant's programmer looks up, on one page that loads nothing.

use axum::http::HeaderValue;
use maud::{DOCTYPE, Markup, PreEscaped, html};
use tillgate_shared::brand::{Brand, Kind};
use tillgate_shared::format::Format;
use tillgate_shared::parameter::{DefaultValue, Group, Parameter, catalogue};
use tillgate_shared::result::ResultCode;

use super::page_text::TOPICS;
use super::route::{Browsers, Caller, Host, Method, Route, Section, Takes};
use super::test_data::tables;
use super::{options, responses, schema, table};
use crate::api::shopper_page::style_source;

const STYLE: &str = include_str!("page.css");

/// The page and the policy that it is served under: its own style and nothing else.
pub(super) fn document() -> (String, HeaderValue) {
    let style = style_source(STYLE);
    let policy =
        format!("default-src 'none'; style-src {style}; base-uri 'none'; form-action 'none'; frame-ancestors 'none'");
    let policy = HeaderValue::try_from(policy).unwrap_or(HeaderValue::from_static("default-src 'none'"));
    (page().into_string(), policy)
}

fn page() -> Markup {
    let count = catalogue().count();
    html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta http-equiv="X-UA-Compatible" content="IE=edge";
                meta name="viewport" content="width=device-width, initial-scale=1";
                meta name="color-scheme" content="light dark";
                title { "Tillgate reference" }
                style { (PreEscaped(STYLE)) }
            }
            body {
                a.skip href="#content" { "To the content" }
                header {
                    h1 { "Tillgate reference" }
                    p { "Everything that the service understands: " b { (table::ROUTES.len()) } " routes, "
                        b #parameter-count { (count) } " parameters in " (schema::groups().len()) " groups, "
                        b { (ResultCode::all().count()) } " result codes. For programs: "
                        a href="/openapi.json" { "/openapi.json" } "." }
                }
                div.columns {
                    (contents())
                    main #content {
                        @for topic in TOPICS {
                            section #(topic.anchor) {
                                h2 { (topic.title) }
                                @for paragraph in topic.paragraphs { p { (code(paragraph)) } }
                            }
                        }
                        (routes())
                        (fields())
                        (parameters())
                        (options::section())
                        (brands())
                        (test_data())
                        (result_codes())
                    }
                }
            }
        }
    }
}

/// The contents: a list at the side, folded away on a phone.
fn contents() -> Markup {
    html! {
        nav aria-label="Contents" {
            details open {
                summary { "Contents" }
                ul {
                    @for topic in TOPICS { li { a href={ "#" (topic.anchor) } { (topic.title) } } }
                    @for section in sections() {
                        li { a href={ "#" (fragment(section.title())) } { (section.title()) }
                            ul {
                                @for route in in_section(section) {
                                    li { a href={ "#" (route.operation) } { (route.summary) } }
                                }
                            }
                        }
                    }
                    li { a href="#fields" { "Fields of an answer" } }
                    li { a href="#parameters" { "Parameters" }
                        ul {
                            @for group in schema::groups() {
                                li { a href={ "#" (group_anchor(group)) } { (group.title()) } }
                            }
                        }
                    }
                    li { a href="#options" { "Options of the form" } }
                    li { a href="#brands" { "Brands" } }
                    li { a href="#test-data" { "Test data" } }
                    li { a href="#result-codes" { "Result codes" } }
                }
            }
        }
    }
}

fn sections() -> impl Iterator<Item = Section> {
    Section::ALL.into_iter().filter(|section| in_section(*section).next().is_some())
}

fn in_section(section: Section) -> impl Iterator<Item = &'static Route> {
    table::ROUTES.iter().filter(move |route| route.section == section)
}

fn routes() -> Markup {
    html! {
        @for section in sections() {
            section #(fragment(section.title())) {
                h2 { (section.title()) }
                @for route in in_section(section) { (one_route(route)) }
            }
        }
    }
}

fn one_route(route: &Route) -> Markup {
    html! {
        article.route #(route.operation) {
            h3 { (route.summary) a.anchor href={ "#" (route.operation) } aria-label="Link to this route" { "#" } }
            p.address { span.{ "method " (route.method.as_str().to_lowercase()) } { (route.method.as_str()) } " "
                code { (route.path) } }
            @for paragraph in route.note.lines() { p { (code(paragraph)) } }
            dl {
                dt { "Who may ask" }
                dd { @match route.caller {
                    Caller::Merchant => { "The merchant's server, with a " a href="#authentication" { "token and entityId" } "."
                        @if let Some(scope) = route.scope { " Scope: " code { (scope.as_str()) } "." } }
                    Caller::Shopper => { "Whoever holds the checkout's id." }
                    Caller::Everybody => { "Everybody." }
                }
                @match route.host {
                    Host::Public => {}
                    Host::Fields => { " With " code { "--fields-url" } " on that host only." }
                    Host::Both => { " With " code { "--fields-url" } " on that host too." }
                } }
                @match route.browsers {
                    Browsers::Refused => { dt { "Browsers" } dd { "Refused: 403 with " code { "800.900.100" } "." } }
                    Browsers::OwnPages => { dt { "Browsers" } dd { "Pages of the gateway's own origin only; others get 403 with " code { "800.900.100" } "." } }
                    Browsers::Allowed => {}
                }
                @if route.idempotent() {
                    dt { "Sending it again" }
                    dd { "Safe with an " a href="#idempotency" { code { "Idempotency-Key" } } "." }
                }
                (takes(route))
            }
            div.wide { table {
                thead { tr { th { "Status" } th { "When" } } }
                tbody { @for (status, when) in responses::statuses(route) { tr { td { (status) } td { (when) } } } }
            } }
        }
    }
}

/// What a route takes: its own parameters and single ones by name, many ones by their groups.
fn takes(route: &Route) -> Markup {
    let single = match route.takes {
        Takes::Names(names) => names,
        _ => &[],
    };
    let many = matches!(route.takes, Takes::Payment | Takes::Browser);
    let groups = schema::groups().into_iter().filter(|group| {
        many && *group != Group::Authentication && schema::rows(*group).any(|row| route.takes_parameter(row))
    });
    let place = if route.method == Method::Post { "the body" } else { "the query" };
    html! {
        @if !route.requires.is_empty() {
            dt { "Always" }
            dd { @for name in route.requires { code { (name) } " " } }
        }
        @if !route.own.is_empty() || !single.is_empty() {
            dt { "In " (place) }
            dd { ul {
                @for own in route.own { li { code { (own.name) } " " (own.note) @if own.required { " Required." } } }
                @for row in catalogue().filter(|row| single.contains(&row.name)) {
                    li { a href={ "#" (row_anchor(row)) } { code { (row.name) } } " " (row.note) }
                }
            } }
        }
        @if many {
            dt { "Parameters" }
            dd {
                @if matches!(route.takes, Takes::Browser) { "What a browser may set of: " }
                @for (place, group) in groups.enumerate() {
                    @if place > 0 { ", " }
                    a href={ "#" (group_anchor(group)) } { (group.title()) }
                }
            }
        }
    }
}

fn fields() -> Markup {
    html! {
        section #fields {
            h2 { "Fields of an answer" }
            div.wide { table {
                thead { tr { th { "Field" } th { "What it holds" } } }
                tbody { @for (name, what) in responses::FIELDS { tr { td { code { (name) } } td { (what) } } } }
            } }
        }
    }
}

fn parameters() -> Markup {
    html! {
        section #parameters {
            h2 { "Parameters" }
            p { "There are " b { (catalogue().count()) } ". " span.need.required { "required" } " stands where the group is used and the \
                parameter must be there, " span.need.conditional { "conditional" } " where that depends on others, "
                span.need.optional { "optional" } " where it never must. " span.tag { "form" } " marks what a browser may set, "
                span.tag.secret { "secret" } " what is never shown again." }
            @for group in schema::groups() {
                h3 #(group_anchor(group)) { (group.title()) " " small { (schema::rows(group).count()) }
                    a.anchor href={ "#" (group_anchor(group)) } aria-label="Link to this group" { "#" } }
                div.wide { table.parameters {
                    thead { tr { th { "Name" } th { "Format" } th { "Meaning" } } }
                    tbody { @for row in schema::rows(group) { (parameter(row)) } }
                } }
            }
        }
    }
}

fn parameter(row: &Parameter) -> Markup {
    html! {
        tr #(row_anchor(row)) {
            td { code { (breakable(row.name)) } br; span.{ "need " (schema::need(row.need)) } { (schema::need(row.need)) }
                @if row.browser { " " span.tag { "form" } }
                @if row.secret { " " span.tag.secret { "secret" } } }
            td { (schema::words(row.format))
                @if let Format::OneOf(words) = row.format {
                    " " @for (place, word) in words.iter().enumerate() { @if place > 0 { ", " } code { (word) } }
                }
                @if let Some(format) = row.compatible {
                    br; "in " a href="#compatibility" { "compatibility mode" } ": " (schema::words(format))
                } }
            td { (row.note)
                @match row.default {
                    Some(DefaultValue::Value(value)) => { " Default: " code { (value) } "." }
                    Some(DefaultValue::Of(other)) => { " Default: what " code { (other) } " is." }
                    Some(DefaultValue::Now) => { " Default: the time of the request." }
                    None => {}
                } }
        }
    }
}

fn brands() -> Markup {
    let kinds = [
        (Kind::Card, "Cards"),
        (Kind::Bank, "Bank accounts"),
        (Kind::Virtual, "Virtual accounts"),
        (Kind::Wallet, "Wallets"),
    ];
    html! {
        section #brands {
            h2 { "Brands" }
            p { "Values of " code { "paymentBrand" } ", " (Brand::all().len()) " in all. Those marked with an arrow → send the shopper \
                away and are decided later; the others answer at once." }
            @for (kind, title) in kinds {
                h3 { (title) }
                p.brands { @for brand in Brand::all().iter().filter(|brand| brand.kind == kind) {
                    span title=(brand.name) { (brand.code) @if !brand.synchronous() { " →" } } " "
                } }
            }
        }
    }
}

fn test_data() -> Markup {
    html! {
        section #test-data {
            h2 { "Test data" }
            p { "For sandbox entities, which every entity is until it is made live. The simulator answers by these tables." }
            @for data in tables() {
                h3 { (data.title) }
                p { (code(&data.note)) }
                div.wide { table #(data.anchor) {
                    thead { tr { @for column in data.columns { th { (column) } } } }
                    tbody { @for row in data.rows {
                        tr { @for (place, cell) in row.iter().enumerate() { td { @if place == 0 { code { (cell) } } @else { (cell) } } } }
                    } }
                } }
            }
        }
    }
}

fn result_codes() -> Markup {
    let mut groups: Vec<(&str, Vec<ResultCode>)> = Vec::new();
    for code in ResultCode::all() {
        let name = code.group().as_str();
        match groups.iter_mut().find(|(known, _)| *known == name) {
            Some((_, codes)) => codes.push(code),
            None => groups.push((name, vec![code])),
        }
    }
    html! {
        section #result-codes {
            h2 { "Result codes" }
            p { "By group, which is what to branch on. As JSON: " a href="/v1/resultcodes" { "/v1/resultcodes" } "." }
            @for (name, codes) in groups {
                details #(fragment(&format!("codes {name}"))) {
                    summary { (name.replace('_', " ")) " " small { (codes.len()) } }
                    div.wide { table { tbody { @for code in codes {
                        tr { td { code { (code.code()) } } td { (code.description()) } }
                    } } } }
                }
            }
        }
    }
}

/// A heading as an anchor.
pub(super) fn fragment(title: &str) -> String {
    let words: Vec<String> = title
        .split(|c: char| !c.is_ascii_alphanumeric())
        .filter(|word| !word.is_empty())
        .map(str::to_ascii_lowercase)
        .collect();
    words.join("-")
}

/// A group may be called as a section is.
fn group_anchor(group: Group) -> String {
    format!("group-{}", fragment(group.title()))
}

fn row_anchor(row: &Parameter) -> String {
    format!("p.{}", row.name.replace(['[', ']'], "-"))
}

/// A name that may be broken after its dots and before its brackets.
fn breakable(name: &str) -> Markup {
    html! {
        @for (place, step) in name.split('.').enumerate() {
            @if place > 0 { "." wbr; }
            @match step.split_once('[') {
                Some((word, rest)) => { (word) wbr; "[" (rest) }
                None => (step)
            }
        }
    }
}

/// Text in which backquotes mark code.
pub(super) fn code(text: &str) -> Markup {
    html! {
        @for (place, part) in text.split('`').enumerate() {
            @if place % 2 == 1 { code { (part) } } @else { (part) }
        }
    }
}
