//! Description of a route. A row of the table is built with the short methods below.

use tillgate_domain::access::scope::Scope;
use tillgate_shared::parameter::{Parameter, ParameterGroup, all_parameters, find_parameter};

use super::response_content::ResponseContent;

/// The HTTP method.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum HttpMethod {
    /// Reads; parameters are in the query.
    Get,
    /// Changes something; parameters are in the body.
    Post,
    /// Deletes something; parameters are in the query.
    Delete,
}

impl HttpMethod {
    /// Returns the method in the spelling of HTTP.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Get => "GET",
            Self::Post => "POST",
            Self::Delete => "DELETE",
        }
    }
}

/// Kind of client that a route serves, which determines its credentials.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Caller {
    /// The merchant's server, with credentials and `entityId`.
    Merchant,
    /// The shopper's browser; the checkout's id is the capability.
    Shopper,
    /// An outside review system, with the credentials of the entity's callback configuration.
    ReviewSystem,
    /// Any client, without credentials.
    Everybody,
}

/// The host that serves a route if the card frames have a host of their own (`--fields-url`). Otherwise every route is
/// served under any name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RouteHost {
    /// The public host.
    Public,
    /// The host of the card frames.
    Fields,
    /// Both hosts.
    Both,
}

/// Browser requests that a route accepts. Requests of servers have neither `Sec-Fetch-Site` nor `Origin`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BrowserAccess {
    /// None: the route is for merchants' servers.
    Refused,
    /// Only requests from a page of our own origin.
    OwnPages,
    /// Every request. A form that a page of another origin posts is a visit: its fields are dropped, so that no other
    /// site can press a button of our page.
    Visits,
    /// Every request.
    Allowed,
}

/// The part of the service that a route belongs to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum RouteSection {
    /// A payment that the shopper makes in the hosted form.
    Checkouts,
    /// Payments server to server.
    Payments,
    /// Stored payment data.
    Registrations,
    /// Payments at planned times.
    Schedules,
    /// Disputes about payments.
    Disputes,
    /// Searches for payments.
    Queries,
    /// Reports about payments.
    Reports,
    /// Rules and lists of the risk check.
    Risk,
    /// Payments that are held for review.
    Reviews,
    /// Files that browsers load.
    Form,
    /// The service itself.
    Service,
}

impl RouteSection {
    /// Every section, in the order of the documents.
    pub const ALL: [Self; 11] = [
        Self::Checkouts,
        Self::Payments,
        Self::Registrations,
        Self::Schedules,
        Self::Disputes,
        Self::Queries,
        Self::Reports,
        Self::Risk,
        Self::Reviews,
        Self::Form,
        Self::Service,
    ];

    /// Returns the heading.
    pub fn title(self) -> &'static str {
        match self {
            Self::Checkouts => "Checkouts",
            Self::Payments => "Payments",
            Self::Registrations => "Registrations",
            Self::Schedules => "Schedules",
            Self::Disputes => "Disputes",
            Self::Queries => "Queries",
            Self::Reports => "Reports",
            Self::Risk => "Risk rules",
            Self::Reviews => "Reviews",
            Self::Form => "Hosted form",
            Self::Service => "Service",
        }
    }
}

/// Parameters of the catalogue that a route accepts, besides those of every merchant request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AcceptedParameters {
    /// None.
    Nothing,
    /// All parameters that describe a payment.
    Payment,
    /// Those of a payment without the account, which is stored.
    PaymentByRegistration,
    /// The listed parameters.
    Names(&'static [&'static str]),
    /// Parameters that a shopper's browser may set.
    Browser,
}

/// A parameter that only this route accepts, outside of the catalogue.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RouteParameter {
    /// The name.
    pub name: &'static str,
    /// The format of the value, as a regular expression.
    pub pattern: &'static str,
    /// True if the parameter is required.
    pub required: bool,
    /// The meaning.
    pub note: &'static str,
}

/// A route as the documents describe it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Route {
    /// The method.
    pub method: HttpMethod,
    /// The path, as in the router.
    pub path: &'static str,
    /// The operation's name, which is unique and also its anchor on the reference page.
    pub operation: &'static str,
    /// The section of the documents.
    pub section: RouteSection,
    /// The purpose, in one line.
    pub summary: &'static str,
    /// Further notes; paragraphs are separated by line breaks.
    pub note: &'static str,
    /// The kind of client.
    pub caller: Caller,
    /// The scope that a merchant's token needs. A `paymentType` that pays money out needs `refund` instead of `pay`.
    pub scope: Option<Scope>,
    /// The host that serves the route.
    pub host: RouteHost,
    /// The browser requests that are accepted.
    pub browser_access: BrowserAccess,
    /// The accepted parameters of the catalogue.
    pub accepted: AcceptedParameters,
    /// Parameters outside of the catalogue. A merchant's POST has them in its body, every other route in its query.
    pub route_parameters: &'static [RouteParameter],
    /// The parameter that a body of the type `application/toml` stands for; the others are in the query then. `None` if
    /// bodies are forms only.
    pub text_body: Option<&'static str>,
    /// True if the body is a file. All parameters are in the query then.
    pub has_file: bool,
    /// Required parameters of the catalogue, besides `entityId`.
    pub required: &'static [&'static str],
    /// The content of the response.
    pub body: ResponseContent,
    /// True if the route has a rate limit and can respond 429.
    pub rate_limited: bool,
    /// True if `entityId` may also be a division.
    pub accepts_divisions: bool,
}

impl Route {
    /// Creates a route for merchants' servers that accepts only credentials. The methods below set the differences.
    pub(super) const fn new(
        method: HttpMethod,
        path: &'static str,
        operation: &'static str,
        section: RouteSection,
        summary: &'static str,
        body: ResponseContent,
    ) -> Self {
        Self {
            method,
            path,
            operation,
            section,
            summary,
            note: "",
            caller: Caller::Merchant,
            scope: Some(match method {
                HttpMethod::Get => Scope::Read,
                HttpMethod::Post | HttpMethod::Delete => Scope::Pay,
            }),
            host: RouteHost::Public,
            browser_access: BrowserAccess::Refused,
            accepted: AcceptedParameters::Nothing,
            route_parameters: &[],
            text_body: None,
            has_file: false,
            required: &[],
            body,
            rate_limited: false,
            accepts_divisions: false,
        }
    }

    /// Accepts divisions as `entityId`, besides merchants and channels.
    pub(super) const fn for_divisions(self) -> Self {
        Self { accepts_divisions: true, ..self }
    }

    /// Sets further notes.
    pub(super) const fn with_note(self, note: &'static str) -> Self {
        Self { note, ..self }
    }

    /// Sets the accepted parameters of the catalogue, besides those of every merchant request.
    pub(super) const fn with_accepted(self, accepted: AcceptedParameters) -> Self {
        Self { accepted, ..self }
    }

    /// Sets the required parameters.
    pub(super) const fn with_required(self, required: &'static [&'static str]) -> Self {
        Self { required, ..self }
    }

    /// Sets the parameters outside of the catalogue.
    pub(super) const fn with_route_parameters(self, route_parameters: &'static [RouteParameter]) -> Self {
        Self { route_parameters, ..self }
    }

    /// Lets a text be the body, as the value of a parameter.
    pub(super) const fn with_text_body(self, name: &'static str) -> Self {
        Self { text_body: Some(name), ..self }
    }

    /// Lets a file be the body, with all parameters in the query.
    pub(super) const fn with_file(self) -> Self {
        Self { has_file: true, ..self }
    }

    /// Makes the route one for the shopper's browser, from any page and without scope; the checkout's id is the
    /// capability.
    pub(super) const fn for_shopper(self) -> Self {
        Self { caller: Caller::Shopper, scope: None, browser_access: BrowserAccess::Allowed, ..self }
    }

    /// Allows browser requests only from a page of our own origin.
    pub(super) const fn own_pages_only(self) -> Self {
        Self { browser_access: BrowserAccess::OwnPages, ..self }
    }

    /// Drops the fields of a form that a page of another origin posts.
    pub(super) const fn visits_from_other_pages(self) -> Self {
        Self { browser_access: BrowserAccess::Visits, ..self }
    }

    /// Makes the route one for outside review systems, which are servers with credentials of their own.
    pub(super) const fn for_review_system(self) -> Self {
        Self { caller: Caller::ReviewSystem, scope: None, ..self }
    }

    /// Makes the route public: without credentials and scope, for browsers too.
    pub(super) const fn for_everybody(self) -> Self {
        Self { caller: Caller::Everybody, scope: None, browser_access: BrowserAccess::Allowed, ..self }
    }

    /// Sets the host that serves the route.
    pub(super) const fn on_host(self, host: RouteHost) -> Self {
        Self { host, ..self }
    }

    /// Sets the scope that a merchant's token needs.
    pub(super) const fn with_scope(self, scope: Scope) -> Self {
        Self { scope: Some(scope), ..self }
    }

    /// Marks the route as rate-limited.
    pub(super) const fn with_rate_limit(self) -> Self {
        Self { rate_limited: true, ..self }
    }

    /// Returns true if the route supports an `Idempotency-Key`: every POST of merchants that changes something.
    pub fn is_idempotent(&self) -> bool {
        self.method == HttpMethod::Post && self.caller == Caller::Merchant && self.scope != Some(Scope::Read)
    }

    /// Returns true if its parameters are in the body: every POST of merchants without a file.
    pub fn has_parameters_in_body(&self) -> bool {
        self.method == HttpMethod::Post && self.caller == Caller::Merchant && !self.has_file
    }

    /// Returns the names in the braces of the path, without `*`.
    pub fn path_parameters(&self) -> impl Iterator<Item = &'static str> {
        self.path.split('{').skip(1).filter_map(|rest| Some(rest.split_once('}')?.0.trim_start_matches('*')))
    }

    /// Returns true if the route accepts a parameter of the catalogue. Every route of merchants accepts credentials and
    /// `entityId`, no other does.
    pub fn accepts_parameter(&self, row: &Parameter) -> bool {
        let credential = row.group == ParameterGroup::Authentication || row.name == "entityId";
        if credential {
            return self.caller == Caller::Merchant;
        }
        match self.accepted {
            AcceptedParameters::Nothing => false,
            AcceptedParameters::Payment => {
                !matches!(row.group, ParameterGroup::Form | ParameterGroup::Reporting | ParameterGroup::Query)
            }
            AcceptedParameters::PaymentByRegistration => {
                let by_payment = Self { accepted: AcceptedParameters::Payment, ..*self };
                let is_account = matches!(
                    row.group,
                    ParameterGroup::Card
                        | ParameterGroup::Wallet
                        | ParameterGroup::VirtualAccount
                        | ParameterGroup::BankAccount
                );
                by_payment.accepts_parameter(row) && !is_account
            }
            AcceptedParameters::Names(names) => names.contains(&row.name),
            AcceptedParameters::Browser => row.browser,
        }
    }

    /// Returns the accepted parameters of the catalogue.
    pub fn accepted_parameters(&self) -> impl Iterator<Item = &'static Parameter> {
        let route = *self;
        all_parameters().filter(move |row| route.accepts_parameter(row))
    }

    /// Returns the names in the route's table row, accepted or required, that the catalogue does not contain. The row
    /// is wrong unless the list is empty.
    pub fn unknown_names(&self) -> Vec<&'static str> {
        let accepted = match self.accepted {
            AcceptedParameters::Names(names) => names,
            _ => &[],
        };
        let known = |name: &&str| all_parameters().any(|row| row.name == *name) || find_parameter(name).is_some();
        accepted.iter().chain(self.required).copied().filter(|name| !known(name)).collect()
    }
}
