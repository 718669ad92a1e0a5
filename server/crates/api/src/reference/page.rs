//! The reference page: everything that a merchant's developer looks up, on one page that loads nothing.

use axum::http::HeaderValue;
use maud::{DOCTYPE, Markup, PreEscaped, html};
use tillgate_gateway::registry;
use tillgate_shared::brand::{AccountType, Brand};
use tillgate_shared::format::Format;
use tillgate_shared::parameter::{DefaultValue, Parameter, ParameterGroup, all_parameters};
use tillgate_shared::result::ResultCode;

use super::page_text::TOPICS;
use super::route::{AcceptedParameters, BrowserAccess, Caller, HttpMethod, Route, RouteHost, RouteSection};
use super::{options, responses, schema, table};
use crate::html_page::style_source;

const STYLE: &str = include_str!("page.css");

/// Returns the page and its content security policy, which allows only the page's own style.
pub(super) fn build_document() -> (String, HeaderValue) {
    let style = style_source(STYLE);
    let policy =
        format!("default-src 'none'; style-src {style}; base-uri 'none'; form-action 'none'; frame-ancestors 'none'");
    let policy = HeaderValue::try_from(policy).unwrap_or(HeaderValue::from_static("default-src 'none'"));
    (render_page().into_string(), policy)
}

/// Renders the whole document, with its sections in the order of the table of contents.
fn render_page() -> Markup {
    let count = all_parameters().count();
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
                a.skip href="#content" { "Skip to content" }
                header {
                    h1 { "Tillgate reference" }
                    p { "All requests that the service supports: " b { (table::ROUTES.len()) } " routes, "
                        b #parameter-count { (count) } " parameters in " (schema::parameter_groups().len()) " groups, "
                        b { (ResultCode::all().count()) } " result codes. For programs: "
                        a href="openapi.json" { "/openapi.json" } "." }
                }
                div.columns {
                    (render_contents())
                    main #content {
                        @for topic in TOPICS {
                            section #(topic.anchor) {
                                h2 { (topic.title) }
                                @for paragraph in topic.paragraphs { p { (render_text(paragraph)) } }
                            }
                        }
                        (render_routes())
                        (render_response_fields())
                        (render_parameters())
                        (options::render_options())
                        (render_brands())
                        (render_test_data())
                        (render_result_codes())
                    }
                }
            }
        }
    }
}

/// Renders the table of contents: a list that can be collapsed, open at first.
fn render_contents() -> Markup {
    html! {
        nav aria-label="Contents" {
            details open {
                summary { "Contents" }
                ul {
                    @for topic in TOPICS { li { a href={ "#" (topic.anchor) } { (topic.title) } } }
                    @for section in used_sections() {
                        li { a href={ "#" (anchor_of_title(section.title())) } { (section.title()) }
                            ul {
                                @for route in routes_in_section(section) {
                                    li { a href={ "#" (route.operation) } { (route.summary) } }
                                }
                            }
                        }
                    }
                    li { a href="#fields" { "Fields of a response" } }
                    li { a href="#parameters" { "Parameters" }
                        ul {
                            @for group in schema::parameter_groups() {
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

/// Returns the sections that have routes.
fn used_sections() -> impl Iterator<Item = RouteSection> {
    RouteSection::ALL.into_iter().filter(|section| routes_in_section(*section).next().is_some())
}

/// Returns the routes of a section, in the order of the table.
fn routes_in_section(section: RouteSection) -> impl Iterator<Item = &'static Route> {
    table::ROUTES.iter().filter(move |route| route.section == section)
}

/// Renders all routes by their sections.
fn render_routes() -> Markup {
    html! {
        @for section in used_sections() {
            section #(anchor_of_title(section.title())) {
                h2 { (section.title()) }
                @for route in routes_in_section(section) { (render_route(route)) }
            }
        }
    }
}

/// Renders a route: address, notes, callers, hosts, browsers, parameters, and the statuses with their conditions.
fn render_route(route: &Route) -> Markup {
    html! {
        article.route #(route.operation) {
            h3 { (route.summary) a.anchor href={ "#" (route.operation) } aria-label="Link to this route" { "#" } }
            p.address { span.{ "method " (route.method.as_str().to_lowercase()) } { (route.method.as_str()) } " "
                code { (route.path) } }
            @for paragraph in route.note.lines() { p { (render_text(paragraph)) } }
            dl {
                dt { "Caller" }
                dd { @match route.caller {
                    Caller::Merchant => { "The merchant's server, with a " a href="#authentication" { "token and entityId" } "."
                        @if let Some(scope) = route.scope { " Scope: " code { (scope.as_str()) } "." } }
                    Caller::Shopper => { "Anyone with the checkout's id." }
                    Caller::ReviewSystem => { "A review system, with the credentials agreed with the operator." }
                    Caller::Everybody => { "Anyone." }
                }
                @match route.host {
                    RouteHost::Public => {}
                    RouteHost::Fields => { " With " code { "--fields-url" } " on that host only." }
                    RouteHost::Both => { " With " code { "--fields-url" } " also on that host." }
                } }
                @match route.browser_access {
                    BrowserAccess::Refused => { dt { "Browsers" } dd { "Refused: 403 with " code { "800.900.100" } "." } }
                    BrowserAccess::OwnPages => { dt { "Browsers" } dd { "Pages of the gateway's own origin only; others get 403 with " code { "800.900.100" } "." } }
                    BrowserAccess::Visits => { dt { "Browsers" } dd { "The fields of a form that a page of another origin posts are dropped, so the request is handled as a visit." } }
                    BrowserAccess::Allowed => {}
                }
                @if route.is_idempotent() {
                    dt { "Repeated requests" }
                    dd { "Safe with an " a href="#idempotency" { code { "Idempotency-Key" } } "." }
                }
                (render_accepted_parameters(route))
            }
            div.wide { table {
                thead { tr { th { "Status" } th { "When" } } }
                tbody { @for (status, condition) in responses::possible_statuses(route) { tr { td { (status) } td { (condition) } } } }
            } }
        }
    }
}

/// Renders the parameters that a route accepts: its own and single ones by name, large sets by their groups.
/// Credentials are left out.
fn render_accepted_parameters(route: &Route) -> Markup {
    let single = match route.accepted {
        AcceptedParameters::Names(names) => names,
        _ => &[],
    };
    let many = matches!(
        route.accepted,
        AcceptedParameters::Payment | AcceptedParameters::PaymentByRegistration | AcceptedParameters::Browser
    );
    let groups = schema::parameter_groups().into_iter().filter(|group| {
        many && *group != ParameterGroup::Authentication
            && schema::parameters_of_group(*group).any(|row| route.accepts_parameter(row))
    });
    let place = if route.method == HttpMethod::Post { "the body" } else { "the query" };
    html! {
        @if !route.required.is_empty() {
            dt { "Always" }
            dd { @for name in route.required { code { (name) } " " } }
        }
        @if !route.route_parameters.is_empty() || !single.is_empty() {
            dt { "In " (place) }
            dd { ul {
                @for parameter in route.route_parameters { li { code { (parameter.name) } " " (parameter.note) @if parameter.required { " Required." } } }
                @for row in all_parameters().filter(|row| single.contains(&row.name)) {
                    li { a href={ "#" (parameter_anchor(row)) } { code { (row.name) } } " " (row.note) }
                }
            } }
        }
        @if many {
            dt { "Parameters" }
            dd {
                @if matches!(route.accepted, AcceptedParameters::Browser) { "Values that a browser may set, of: " }
                @for (index, group) in groups.enumerate() {
                    @if index > 0 { ", " }
                    a href={ "#" (group_anchor(group)) } { (group.title()) }
                }
            }
        }
    }
}

/// Renders the section about the fields of responses.
fn render_response_fields() -> Markup {
    html! {
        section #fields {
            h2 { "Fields of a response" }
            div.wide { table {
                thead { tr { th { "Field" } th { "Content" } } }
                tbody { @for (name, meaning) in responses::FIELDS { tr { td { code { (name) } } td { (meaning) } } } }
            } }
        }
    }
}

/// Renders the section with every parameter of the catalogue, by groups.
fn render_parameters() -> Markup {
    html! {
        section #parameters {
            h2 { "Parameters" }
            p { "There are " b { (all_parameters().count()) } ". " span.need.required { "required" } " parameters must be sent if their group is used, \
                " span.need.conditional { "conditional" } " parameters depend on other parameters, and "
                span.need.optional { "optional" } " parameters are never required. A browser may set parameters with the mark " span.tag { "form" } ", and values with the mark "
                span.tag.secret { "secret" } " are never shown again." }
            @for group in schema::parameter_groups() {
                h3 #(group_anchor(group)) { (group.title()) " " small { (schema::parameters_of_group(group).count()) }
                    a.anchor href={ "#" (group_anchor(group)) } aria-label="Link to this group" { "#" } }
                div.wide { table.parameters {
                    thead { tr { th { "Name" } th { "Format" } th { "Meaning" } } }
                    tbody { @for row in schema::parameters_of_group(group) { (render_parameter(row)) } }
                } }
            }
        }
    }
}

/// Renders the row of a parameter: name with its marks, format (in compatibility mode too, if that differs), meaning
/// and default.
fn render_parameter(row: &Parameter) -> Markup {
    html! {
        tr #(parameter_anchor(row)) {
            td { code { (render_breakable_name(row.name)) } br; span.{ "need " (schema::requirement_name(row.need)) } { (schema::requirement_name(row.need)) }
                @if row.browser { " " span.tag { "form" } }
                @if row.secret { " " span.tag.secret { "secret" } } }
            td { (schema::describe_format(row.format))
                @if let Format::OneOf(words) = row.format {
                    " " @for (index, word) in words.iter().enumerate() { @if index > 0 { ", " } code { (word) } }
                }
                @if let Some(format) = row.compatible_format {
                    br; "in " a href="#compatibility" { "compatibility mode" } ": " (schema::describe_format(format))
                } }
            td { (row.note)
                @match row.default {
                    Some(DefaultValue::Value(value)) => { " Default: " code { (value) } "." }
                    Some(DefaultValue::SameAs(other)) => { " Default: the value of " code { (other) } "." }
                    Some(DefaultValue::Now) => { " Default: the time of the request." }
                    None => {}
                } }
        }
    }
}

/// Renders the section with the codes of all brands, by kinds of account. An arrow marks those that are decided after a
/// redirect.
fn render_brands() -> Markup {
    let kinds = [
        (AccountType::Card, "Cards"),
        (AccountType::Bank, "Bank accounts"),
        (AccountType::Virtual, "Virtual accounts"),
        (AccountType::Wallet, "Wallets"),
    ];
    html! {
        section #brands {
            h2 { "Brands" }
            p { "Values of " code { "paymentBrand" } ", " (Brand::all().len()) " in all. Brands with an arrow → send the shopper \
                to another page, and their result comes later. The others have their result at once." }
            @for (kind, title) in kinds {
                h3 { (title) }
                p.brands { @for brand in Brand::all().iter().filter(|brand| brand.kind == kind) {
                    span title=(brand.name) { (brand.code) @if !brand.is_synchronous() { " →" } } " "
                } }
            }
        }
    }
}

/// Renders the section with the test data of every connector that has a sandbox.
fn render_test_data() -> Markup {
    html! {
        section #test-data {
            h2 { "Test data" }
            p { "For sandbox entities. Every entity is a sandbox until it is made live."
                @for sandbox in registry::all_sandboxes() { " " (sandbox.test_data.introduction) } }
            @for data in registry::all_sandboxes().flat_map(|sandbox| (sandbox.test_data.tables)()) {
                h3 { (data.title) }
                p { (render_text(&data.note)) }
                div.wide { table #(data.anchor) {
                    thead { tr { @for column in data.columns { th { (column) } } } }
                    tbody { @for row in data.rows {
                        tr { @for (index, cell) in row.iter().enumerate() { td { @if index == 0 { code { (cell) } } @else { (cell) } } } }
                    } }
                } }
            }
        }
    }
}

/// Renders the section with every result code, by groups in the order of their first codes.
fn render_result_codes() -> Markup {
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
            p { "Listed by group. Branch on the group of a code. As JSON: " a href="v1/resultcodes" { "/v1/resultcodes" } "." }
            @for (name, codes) in groups {
                details #(anchor_of_title(&format!("codes {name}"))) {
                    summary { (name.replace('_', " ")) " " small { (codes.len()) } }
                    div.wide { table { tbody { @for code in codes {
                        tr { td { code { (code.code()) } } td { (code.description()) } }
                    } } } }
                }
            }
        }
    }
}

/// Converts a heading into an anchor: its ASCII letters and digits in lower case, with hyphens between words.
pub(super) fn anchor_of_title(title: &str) -> String {
    let words: Vec<String> = title
        .split(|c: char| !c.is_ascii_alphanumeric())
        .filter(|word| !word.is_empty())
        .map(str::to_ascii_lowercase)
        .collect();
    words.join("-")
}

/// Returns the anchor of a group. The prefix is needed because a section may have the same title.
fn group_anchor(group: ParameterGroup) -> String {
    format!("group-{}", anchor_of_title(group.title()))
}

/// Returns the anchor of a parameter: its name after `p.`, with hyphens for brackets.
fn parameter_anchor(row: &Parameter) -> String {
    format!("p.{}", row.name.replace(['[', ']'], "-"))
}

/// Renders a name that may wrap after its dots and before its first bracket of each part.
fn render_breakable_name(name: &str) -> Markup {
    html! {
        @for (index, part) in name.split('.').enumerate() {
            @if index > 0 { "." wbr; }
            @match part.split_once('[') {
                Some((word, rest)) => { (word) wbr; "[" (rest) }
                None => (part)
            }
        }
    }
}

/// Renders text in which pairs of backquotes enclose code.
pub(super) fn render_text(text: &str) -> Markup {
    html! {
        @for (index, part) in text.split('`').enumerate() {
            @if index % 2 == 1 { code { (part) } } @else { (part) }
        }
    }
}
