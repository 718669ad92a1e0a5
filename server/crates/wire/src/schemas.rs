//! The schemas of all responses, derived from their types.

use schemars::generate::SchemaSettings;
use schemars::transform::transform_subschemas;
use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde_json::{Map, Value, json};

use crate::checkout::{
    CheckoutFields, CheckoutStateFields, NotedFields, PaymentAttemptFields, PolicyReportsFields,
    RegistrationAttemptFields, ScriptsFields, SubmittedFields, UnpaidCheckoutFields,
};
use crate::dispute::{DisputeDetailFields, DisputeFields, DisputeListFields, StoredEvidenceFields};
use crate::payment::{ListedPaymentFields, PaymentListFields, PaymentStatusFields, RiskCheckFields};
use crate::registration::{RegistrationFields, RemovedRegistrationFields};
use crate::report::{AuthorizationsFields, ChargebacksFields, TotalsFields};
use crate::review::{ChangedReviewFields, ReviewDetailFields, ReviewListFields};
use crate::risk::{
    AddedRulesFields, ChangedListEntryFields, DryRunProgressLine, DryRunReportLine, ListEntriesFields,
    RiskChangesFields, RuleVersionsFields, RulesTextFields, UsedRulesFields,
};
use crate::schedule::{ClockFields, ScheduleDetailFields, ScheduleFields, ScheduleListFields};
use crate::service::{HealthFields, ResultCodesFields};
use crate::settlement::{
    AggregationsFields, BalancesFields, FeesFields, ReconciliationFilesFields, ReconciliationRecordFields,
    SettlementsFields,
};
use crate::{Answer, RefusalFields};

/// Returns the schemas of all responses and of their parts, by name. Parts with a name are references.
pub fn component_schemas() -> Map<String, Value> {
    let mut settings = SchemaSettings::draft2020_12().for_serialize();
    settings.definitions_path = "/components/schemas".into();
    let mut generator = settings.with_transform(simplify).into_generator();
    add_answers(&mut generator);
    generator.subschema_for::<ReconciliationRecordFields<'_>>();
    generator.subschema_for::<ResultCodesFields>();
    generator.subschema_for::<ListedPaymentFields<'_>>();
    let alternatives = add_alternatives(&mut generator);
    let mut schemas = generator.take_definitions(true);
    schemas.extend(alternatives.map(|(name, schemas)| (name.to_owned(), json!({ "anyOf": schemas }))));
    schemas
}

/// Returns the schemas of responses that have one of several forms. Their forms are components, because a type in a
/// client is a component.
fn add_alternatives(generator: &mut SchemaGenerator) -> [(&'static str, Vec<Schema>); 5] {
    let payment = reference::<PaymentStatusFields<'_>>(generator);
    let checkout_status = vec![
        reference::<PaymentAttemptFields<'_>>(generator),
        reference::<RegistrationAttemptFields<'_>>(generator),
        reference::<UnpaidCheckoutFields<'_>>(generator),
    ];
    let schedules =
        vec![reference::<ScheduleDetailFields<'_>>(generator), reference::<ScheduleListFields<'_>>(generator)];
    let dry_run = vec![generator.subschema_for::<DryRunProgressLine>(), reference::<DryRunReportLine<'_>>(generator)];
    [
        // A declined payment has the status of a refusal.
        ("DeclinedAnswer", vec![payment.clone(), reference::<RefusalFields<'_>>(generator)]),
        ("QueryAnswer", vec![reference::<PaymentListFields<'_>>(generator), payment]),
        ("CheckoutStatusAnswer", checkout_status),
        ("SchedulesAnswer", schedules),
        ("DryRunLine", dry_run),
    ]
}

/// Adds the schemas of responses with the envelope.
fn add_answers(generator: &mut SchemaGenerator) {
    add::<RefusalFields<'_>>(generator);
    add::<DisputeFields<'_>>(generator);
    add::<DisputeDetailFields<'_>>(generator);
    add::<DisputeListFields<'_>>(generator);
    add::<StoredEvidenceFields<'_>>(generator);
    add::<ScheduleFields<'_>>(generator);
    add::<ClockFields<'_>>(generator);
    add::<PaymentStatusFields<'_>>(generator);
    add::<PaymentListFields<'_>>(generator);
    add::<RegistrationFields<'_>>(generator);
    add::<RiskCheckFields<'_>>(generator);
    add::<CheckoutFields<'_>>(generator);
    add::<SubmittedFields<'_>>(generator);
    add::<CheckoutStateFields<'_>>(generator);
    add::<RemovedRegistrationFields<'_>>(generator);
    add::<NotedFields<'_>>(generator);
    add::<PolicyReportsFields<'_>>(generator);
    add::<ScriptsFields<'_>>(generator);
    add::<HealthFields>(generator);
    add::<ReviewListFields<'_>>(generator);
    add::<ReviewDetailFields<'_>>(generator);
    add::<ChangedReviewFields<'_>>(generator);
    add::<AddedRulesFields<'_>>(generator);
    add::<UsedRulesFields<'_>>(generator);
    add::<RuleVersionsFields<'_>>(generator);
    add::<RulesTextFields<'_>>(generator);
    add::<RiskChangesFields<'_>>(generator);
    add::<ChangedListEntryFields<'_>>(generator);
    add::<ListEntriesFields<'_>>(generator);
    add::<TotalsFields<'_>>(generator);
    add::<AuthorizationsFields<'_>>(generator);
    add::<ChargebacksFields<'_>>(generator);
    add::<ReconciliationFilesFields<'_>>(generator);
    add::<AggregationsFields<'_>>(generator);
    add::<SettlementsFields<'_>>(generator);
    add::<FeesFields<'_>>(generator);
    add::<BalancesFields<'_>>(generator);
}

fn add<T: JsonSchema>(generator: &mut SchemaGenerator) {
    reference::<T>(generator);
}

/// Returns a reference to the schema of a response with the envelope, and adds the schema.
fn reference<T: JsonSchema>(generator: &mut SchemaGenerator) -> Schema {
    generator.subschema_for::<Answer<'_, T>>()
}

/// Writes a schema in the way that generators of clients read best. A field that is not required is left out if it has
/// no value, and never null. The width of a number is an implementation detail.
fn simplify(schema: &mut Schema) {
    transform_subschemas(&mut simplify, schema);
    let Some(schema) = schema.as_object_mut() else { return };
    if matches!(schema.get("format").and_then(Value::as_str), Some("uint8" | "uint16" | "uint32" | "uint64" | "double"))
    {
        schema.remove("format");
    }
    let required = schema.get("required").and_then(Value::as_array).cloned().unwrap_or_default();
    let Some(properties) = schema.get_mut("properties").and_then(Value::as_object_mut) else { return };
    for (name, property) in properties {
        if !required.iter().any(|required| required == name.as_str()) {
            remove_null(property);
        }
    }
}

/// Removes the null from a schema that allows it besides another type.
fn remove_null(property: &mut Value) {
    let Some(property) = property.as_object_mut() else { return };
    if let Some(Value::Array(types)) = property.get_mut("type") {
        types.retain(|name| name != "null");
        if let [only] = &types[..] {
            let only = only.clone();
            property.insert("type".to_owned(), only);
        }
    }
    if let Some(Value::Array(alternatives)) = property.get_mut("anyOf") {
        alternatives.retain(|alternative| alternative["type"] != "null");
        if let [Value::Object(only)] = &alternatives[..] {
            let only = only.clone();
            property.remove("anyOf");
            property.extend(only);
        }
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn a_field_that_may_be_absent_is_not_required_and_never_null() {
        let schemas = component_schemas();
        let dispute = &schemas["DisputeAnswer"];
        let required = dispute["required"].as_array().unwrap();
        assert!(required.contains(&"steps".into()) && required.contains(&"ndc".into()), "{required:?}");
        assert!(!required.contains(&"deadline".into()), "{required:?}");
        assert_eq!(dispute["properties"]["deadline"]["type"], "string");
        assert_eq!(schemas["ParameterError"]["properties"]["value"]["type"], json!(["string", "null"]));
    }
}
