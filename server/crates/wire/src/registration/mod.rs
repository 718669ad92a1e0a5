//! Stored payment data.

use schemars::JsonSchema;
use serde::Serialize;
use tillgate_domain::registration::Registration;

use crate::json_object::JsonObject;
use crate::payment::{AccountFields, OWN_NAMES};
use crate::{ResultFields, WireTime, echo_parameters};

/// The `paymentType` of a registration that is created or read.
const REGISTERED: &str = "RG";

/// A registration, and the parameters of its request as nested JSON.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "Registration")]
pub struct RegistrationFields<'a> {
    /// Id of the registration.
    id: &'a str,
    /// The act: `RG` if it is created or read, `TE` if its retention is extended, `DR` if it is deleted.
    payment_type: &'a str,
    /// Brand of the account.
    payment_brand: &'a str,
    /// Result of the registration.
    result: ResultFields<'a>,
    #[serde(flatten)]
    account: AccountFields<'a>,
    /// End of its retention. Absent if it has none.
    #[serde(skip_serializing_if = "Option::is_none")]
    retained_until: Option<WireTime>,
    // The merchant chooses which parameters of the catalogue it sends, so these fields are a map.
    #[serde(flatten)]
    pub(crate) parameters: JsonObject<'a>,
}

/// A registration that the shopper has deleted in the form.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "RemovedRegistration")]
pub struct RemovedRegistrationFields<'a> {
    /// Result of the request.
    pub result: ResultFields<'a>,
    /// Id of the registration.
    pub id: &'a str,
}

impl<'a> RegistrationFields<'a> {
    /// Creates the fields of a registration; `payment_type` is the act.
    pub fn new(registration: &'a Registration, payment_type: &'a str) -> Self {
        let mut parameters = JsonObject::new();
        echo_parameters(&mut parameters, &registration.parameters);
        parameters.remove_all(&OWN_NAMES);
        parameters.remove_all(&["retainedUntil"]);
        Self {
            id: registration.id.as_str(),
            payment_type,
            payment_brand: &registration.brand,
            result: registration.result.into(),
            account: AccountFields::new(&registration.account, &mut parameters),
            retained_until: registration.retained_until.map(WireTime),
            parameters,
        }
    }
}

impl<'a> From<&'a Registration> for RegistrationFields<'a> {
    /// Returns the fields of a registration that is created or read.
    fn from(registration: &'a Registration) -> Self {
        Self::new(registration, REGISTERED)
    }
}
