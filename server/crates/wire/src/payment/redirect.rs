//! Pages to which the shopper is redirected.

use schemars::JsonSchema;
use serde::Serialize;
use tillgate_domain::checkout::Checkout;
use tillgate_domain::payment::{Precondition, Redirect};

/// The page to which the browser is redirected, and the pages that it loads in hidden frames before (contract, 3.3).
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "Redirect")]
pub struct RedirectFields<'a> {
    /// Address of the page. Null for the shop's page if the merchant has set none.
    url: Option<&'a str>,
    /// `GET` or `POST`.
    method: &'a str,
    /// Parameters for the page.
    parameters: Vec<RedirectParameterFields<'a>>,
    /// Pages to load before. Absent for the shop's page.
    #[serde(skip_serializing_if = "Option::is_none")]
    preconditions: Option<Vec<PreconditionFields<'a>>>,
}

/// A parameter of a redirect.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "RedirectParameter")]
struct RedirectParameterFields<'a> {
    /// Name of the parameter.
    name: &'a str,
    /// Value of the parameter.
    value: &'a str,
}

/// A page that the browser loads in a hidden frame, and waits for, before it visits the page of the redirect.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "RedirectPrecondition")]
struct PreconditionFields<'a> {
    /// Selector of the frame.
    origin: &'static str,
    /// Event to wait for.
    wait_until: &'static str,
    /// Address of the page.
    url: &'a str,
    /// `GET`.
    method: &'static str,
    /// Parameters for the page.
    parameters: Vec<RedirectParameterFields<'a>>,
    /// Purpose of the page.
    description: &'a str,
}

impl<'a> From<&'a Redirect> for RedirectFields<'a> {
    fn from(page: &'a Redirect) -> Self {
        let parameters = page.parameters.iter().map(|(name, value)| RedirectParameterFields { name, value });
        Self {
            url: Some(&page.url),
            method: &page.method,
            parameters: parameters.collect(),
            preconditions: Some(page.preconditions.iter().map(PreconditionFields::from).collect()),
        }
    }
}

impl<'a> From<&'a Precondition> for PreconditionFields<'a> {
    fn from(page: &'a Precondition) -> Self {
        Self {
            origin: "iframe#hidden",
            wait_until: "iframe#load",
            url: &page.url,
            method: "GET",
            parameters: Vec::new(),
            description: &page.description,
        }
    }
}

impl<'a> RedirectFields<'a> {
    /// Creates the redirect to `shopperResultUrl` with the checkout's id and `path` as `resourcePath`.
    pub fn to_shop(checkout: &'a Checkout, path: &'a str) -> Self {
        let parameters = vec![
            RedirectParameterFields { name: "id", value: checkout.id.as_str() },
            RedirectParameterFields { name: "resourcePath", value: path },
        ];
        Self { url: checkout.parameters.get("shopperResultUrl"), method: "GET", parameters, preconditions: None }
    }
}
