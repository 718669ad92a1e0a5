//! What is said about a route. A row of the table is one of these, made with the short words below.

use tillgate_shared::parameter::{Group, Parameter, catalogue, find};

use crate::domain::scope::Scope;

/// The HTTP method.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Method {
    /// Reads; parameters are in the query.
    Get,
    /// Does something; parameters are in the body.
    Post,
    /// Removes something; parameters are in the query.
    Delete,
}

impl Method {
    /// As HTTP writes it.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Get => "GET",
            Self::Post => "POST",
            Self::Delete => "DELETE",
        }
    }
}

/// Whom a route serves, and so what it asks for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Caller {
    /// The merchant's server, with credentials and `entityId`.
    Merchant,
    /// The shopper's browser; the checkout's id is the capability.
    Shopper,
    /// Everybody.
    Everybody,
}

/// The host that serves a route where the card frames have one of their own (`--fields-url`). Without it every route is
/// served under any name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Host {
    /// The public one.
    Public,
    /// The one of the card frames.
    Fields,
    /// Both.
    Both,
}

/// Which requests of browsers a route takes. Requests of servers carry neither `Sec-Fetch-Site` nor `Origin`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Browsers {
    /// None: the route is for merchants' servers.
    Refused,
    /// Only those that come from a page of our own origin.
    OwnPages,
    /// Every request.
    Allowed,
}

/// The part of the service that a route belongs to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Section {
    /// A payment that the shopper makes in the hosted form.
    Checkouts,
    /// Payments server to server.
    Payments,
    /// Stored payment data.
    Registrations,
    /// Finding payments again.
    Queries,
    /// What browsers load.
    Form,
    /// The service about itself.
    Service,
}

impl Section {
    /// Every section, in the order of the documents.
    pub const ALL: [Self; 6] =
        [Self::Checkouts, Self::Payments, Self::Registrations, Self::Queries, Self::Form, Self::Service];

    /// Its heading.
    pub fn title(self) -> &'static str {
        match self {
            Self::Checkouts => "Checkouts",
            Self::Payments => "Payments",
            Self::Registrations => "Registrations",
            Self::Queries => "Queries",
            Self::Form => "Hosted form",
            Self::Service => "Service",
        }
    }
}

/// Which parameters of the catalogue a route takes, beside those that every merchant's request carries.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Takes {
    /// None.
    Nothing,
    /// Everything that describes a payment.
    Payment,
    /// These, by name.
    Names(&'static [&'static str]),
    /// What a shopper's browser may set.
    Browser,
}

/// A parameter that only this route knows, outside of the catalogue.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Own {
    /// Its name.
    pub name: &'static str,
    /// How its value looks, as a regular expression.
    pub pattern: &'static str,
    /// Whether it must be there.
    pub required: bool,
    /// What it means.
    pub note: &'static str,
}

/// What an answer with status 200 holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Body {
    /// A payment.
    Payment,
    /// Several payments.
    Payments,
    /// A payment, or several.
    PaymentOrList,
    /// A checkout's id.
    Checkout,
    /// What became of a checkout.
    CheckoutStatus,
    /// Where a checkout stands.
    CheckoutState,
    /// Where the shopper goes next.
    Submitted,
    /// A registration.
    Registration,
    /// The table of result codes.
    ResultCodes,
    /// One word.
    Health,
    /// What a clock shows.
    Clock,
    /// The scripts of the form.
    Scripts,
    /// Violations of policies.
    PolicyReports,
    /// That a report was taken.
    Noted,
    /// The OpenAPI document.
    OpenApi,
    /// An HTML page.
    Html,
    /// A script.
    Script,
    /// A file of the form.
    File,
}

/// A route as the documents describe it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Route {
    /// The method.
    pub method: Method,
    /// The path, as the router has it.
    pub path: &'static str,
    /// The operation's name: unique, and its anchor on the reference page.
    pub operation: &'static str,
    /// Where it belongs.
    pub section: Section,
    /// What it does, in a line.
    pub summary: &'static str,
    /// What else there is to know; paragraphs are separated by line breaks.
    pub note: &'static str,
    /// Whom it serves.
    pub caller: Caller,
    /// The scope that a merchant's token needs; a `paymentType` that gives money away needs `refund` in place of `pay`.
    pub scope: Option<Scope>,
    /// The host that serves it.
    pub host: Host,
    /// Requests of browsers.
    pub browsers: Browsers,
    /// Parameters of the catalogue.
    pub takes: Takes,
    /// Parameters of its own.
    pub own: &'static [Own],
    /// Parameters of the catalogue that must always be there, beside `entityId`.
    pub requires: &'static [&'static str],
    /// What is answered.
    pub body: Body,
    /// Whether it can answer 429: attempts are counted.
    pub counted: bool,
}

impl Route {
    /// A route of a merchant's server that takes nothing but credentials; the words below say what is different.
    pub(super) const fn new(
        method: Method,
        path: &'static str,
        operation: &'static str,
        section: Section,
        summary: &'static str,
        body: Body,
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
                Method::Get => Scope::Read,
                Method::Post | Method::Delete => Scope::Pay,
            }),
            host: Host::Public,
            browsers: Browsers::Refused,
            takes: Takes::Nothing,
            own: &[],
            requires: &[],
            body,
            counted: false,
        }
    }

    /// What else there is to know.
    pub(super) const fn note(self, note: &'static str) -> Self {
        Self { note, ..self }
    }

    /// Parameters of the catalogue that it takes.
    pub(super) const fn takes(self, takes: Takes) -> Self {
        Self { takes, ..self }
    }

    /// Parameters that must always be there.
    pub(super) const fn requires(self, requires: &'static [&'static str]) -> Self {
        Self { requires, ..self }
    }

    /// Parameters of its own.
    pub(super) const fn own(self, own: &'static [Own]) -> Self {
        Self { own, ..self }
    }

    /// The shopper's browser asks; the checkout's id is the capability.
    pub(super) const fn for_shopper(self) -> Self {
        Self { caller: Caller::Shopper, scope: None, browsers: Browsers::Allowed, ..self }
    }

    /// A browser may ask from a page of our own origin only.
    pub(super) const fn own_pages_only(self) -> Self {
        Self { browsers: Browsers::OwnPages, ..self }
    }

    /// Everybody may ask.
    pub(super) const fn for_everybody(self) -> Self {
        Self { caller: Caller::Everybody, scope: None, browsers: Browsers::Allowed, ..self }
    }

    /// The host that serves it.
    pub(super) const fn on(self, host: Host) -> Self {
        Self { host, ..self }
    }

    /// A merchant's token needs this scope.
    pub(super) const fn scope(self, scope: Scope) -> Self {
        Self { scope: Some(scope), ..self }
    }

    /// Attempts are counted.
    pub(super) const fn counted(self) -> Self {
        Self { counted: true, ..self }
    }

    /// Whether an `Idempotency-Key` is heeded.
    pub fn idempotent(&self) -> bool {
        self.method == Method::Post && self.caller == Caller::Merchant
    }

    /// The names in the braces of the path, `*` left out.
    pub fn path_parameters(&self) -> impl Iterator<Item = &'static str> {
        self.path.split('{').skip(1).filter_map(|rest| Some(rest.split_once('}')?.0.trim_start_matches('*')))
    }

    /// Whether a parameter of the catalogue is one of its.
    pub fn takes_parameter(&self, row: &Parameter) -> bool {
        let credential = row.group == Group::Authentication || row.name == "entityId";
        if credential {
            return self.caller == Caller::Merchant;
        }
        match self.takes {
            Takes::Nothing => false,
            Takes::Payment => !matches!(row.group, Group::Form | Group::Reporting | Group::Query),
            Takes::Names(names) => names.contains(&row.name),
            Takes::Browser => row.browser,
        }
    }

    /// Its parameters of the catalogue.
    pub fn parameters(&self) -> impl Iterator<Item = &'static Parameter> {
        let route = *self;
        catalogue().filter(move |row| route.takes_parameter(row))
    }

    /// Names that its table row says and the catalogue does not know; none, or the row is wrong.
    pub fn unknown_names(&self) -> Vec<&'static str> {
        let named = match self.takes {
            Takes::Names(names) => names,
            _ => &[],
        };
        let known = |name: &&str| catalogue().any(|row| row.name == *name) || find(name).is_some();
        named.iter().chain(self.requires).copied().filter(|name| !known(name)).collect()
    }
}
