//! Redirects of new payments: the page that the shopper has to visit before there is an outcome.

use tillgate_connector::ShopperPage;
use tillgate_domain::id::PageId;
use tillgate_domain::payment::{PaymentType, Redirect};

use super::super::{Failure, Gateway, random_bytes};
use super::authorize::{AuthorizationResult, RequiredPage};
use super::{Intake, PaymentContext, PaymentIdentity, three_ds};
use crate::payment::addresses::Addresses;

impl Gateway {
    /// Makes the redirect of a payment whose shopper has to visit a page first: for 3-D Secure, of the brand, or of an
    /// external connector that will name it later. `None` if no visit is needed.
    ///
    /// # Errors
    /// `shopperResultUrl` by name if there is no page to return to after 3-D Secure outside of a form; also if the
    /// system provides no random bytes.
    pub(super) fn make_redirect(
        &self,
        intake: &Intake,
        authorized: &AuthorizationResult,
        identity: &PaymentIdentity,
        context: PaymentContext<'_>,
        brand_return_url: Option<String>,
    ) -> Result<Option<Redirect>, Failure> {
        let addresses = context.addresses;
        let redirect = match (&authorized.required_page, brand_return_url) {
            (Some(RequiredPage::ThreeDs(pending)), _) => {
                // The form returns to its own page, so an address is not required.
                let return_url = match addresses
                    .return_url(&intake.parameters, "the issuer challenges the shopper, who returns afterwards")
                {
                    Err(_) if context.is_in_form() => String::new(),
                    return_url => return_url?,
                };
                three_ds::three_ds_redirect(addresses.public, return_url, (**pending).clone(), &intake.order)
            }
            (Some(RequiredPage::Brand(page)), Some(return_url)) => {
                brand_redirect(addresses, return_url, page, identity)?
            }
            (None, Some(return_url))
                if authorized.awaits_connector && intake.order.payment_type != PaymentType::Credit =>
            {
                connector_redirect(return_url, identity)?
            }
            (Some(RequiredPage::Brand(_)), None) | (None, _) => return Ok(None),
        };
        let shop_origin = addresses.shop_origin.map(str::to_owned);
        Ok(Some(Redirect { shop_origin, ..redirect }))
    }
}

/// Makes the redirect of a payment whose external connector has not yet named a page, so its address is empty. It has
/// the id of the gateway's page that the shopper returns to, and the current time as that of the request.
fn connector_redirect(result_url: String, identity: &PaymentIdentity) -> Result<Redirect, Failure> {
    Ok(Redirect {
        url: String::new(),
        method: "GET".to_owned(),
        parameters: Vec::new(),
        preconditions: Vec::new(),
        result_url,
        shop_origin: None,
        page: Some(PageId::new(identity.now, random_bytes()?)),
        abandoned: false,
        authentication: None,
        asked: Some(identity.now),
    })
}

/// Makes the redirect to a brand's page: a page of this gateway with a new id, or a foreign address. The shopper
/// returns to `result_url`.
fn brand_redirect(
    addresses: Addresses<'_>,
    result_url: String,
    page: &ShopperPage,
    identity: &PaymentIdentity,
) -> Result<Redirect, Failure> {
    let (url, method, parameters, page) = match page {
        ShopperPage::Own(path) => {
            let page = PageId::new(identity.now, random_bytes()?);
            (format!("{}{path}{}", addresses.public, page.as_str()), "GET".to_owned(), Vec::new(), Some(page))
        }
        ShopperPage::Foreign { url, method, parameters } => (url.clone(), method.clone(), parameters.clone(), None),
    };
    Ok(Redirect {
        url,
        method,
        parameters,
        preconditions: Vec::new(),
        result_url,
        shop_origin: None,
        page,
        abandoned: false,
        authentication: None,
        asked: None,
    })
}
