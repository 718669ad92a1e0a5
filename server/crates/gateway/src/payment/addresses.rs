//! Addresses of a payment request.

use std::net::IpAddr;

use tillgate_domain::refusal::Refusal;
use tillgate_shared::format::url;
use tillgate_shared::parameter::Parameters;

use super::Intake;

/// Addresses of a payment request: those of the redirect to the brand's page and back, and the shopper's own.
#[derive(Debug, Clone, Copy)]
pub struct Addresses<'a> {
    /// The address under which browsers reach this gateway, with a trailing slash.
    pub public: &'a str,
    /// The page to return to, as the page of the form states it. The merchant's own `shopperResultUrl` takes
    /// precedence.
    pub result: Option<&'a str>,
    /// Origin of the page that contained the form, as the form's frame reports it.
    pub shop_origin: Option<&'a str>,
    /// The shopper's IP address if the browser sent the request. Otherwise the merchant may send it (`customer.ip`).
    pub shopper: Option<IpAddr>,
}

impl Addresses<'_> {
    /// Returns the page that the shopper returns to: `shopperResultUrl` of the merchant, or else the form's page if its
    /// address is valid.
    ///
    /// # Errors
    /// `shopperResultUrl` by name if there is neither; `reason` says in the refusal why one is needed.
    pub(crate) fn return_url(self, parameters: &Parameters, reason: &str) -> Result<String, Refusal> {
        let form_page = self.result.filter(|address| url::check_return(address).is_ok());
        let address = parameters.get("shopperResultUrl").or(form_page).map(str::to_owned);
        address
            .ok_or_else(|| Refusal::invalid_parameter("shopperResultUrl", None, format!("may not be empty: {reason}")))
    }

    /// Returns the page that the shopper returns to from the brand's page. `None` if the order needs no redirect.
    ///
    /// # Errors
    /// `shopperResultUrl` by name if the order needs a redirect and there is no page to return to.
    pub(crate) fn brand_return_url(self, intake: &Intake) -> Result<Option<String>, Refusal> {
        let reason = "the shopper leaves for the brand's page and comes back";
        let redirects = intake.order.requires_redirect();
        redirects.then(|| self.return_url(&intake.parameters, reason)).transpose()
    }
}
