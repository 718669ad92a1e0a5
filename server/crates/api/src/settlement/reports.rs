//! `/reports/v1/settlements`, `/reports/v1/fees` and `/ledger/v1/balances`.

use std::sync::Arc;

use axum::extract::State;
use serde_json::Value;
use tillgate_domain::report::format_hundredths;
use tillgate_domain::report::table::ReportTable;
use tillgate_domain::settlement::ledger::{ACCOUNT_NAMES, LedgerSums};
use tillgate_domain::settlement::reconciliation::days::DayRange;
use tillgate_domain::settlement::reconciliation::totals::RecordTotals;
use tillgate_domain::settlement::report::{AMOUNT_NAMES, FeeKey, FeeReport, SettlementReport, SettlementRow};
use tillgate_gateway::Failure;
use tillgate_gateway::settlement::report::read_balances;
use tillgate_gateway::settlement::report::read_settlements;
use tillgate_store::Cancellation;

use crate::AppState;
use crate::extract::MerchantRequest;
use crate::merchant_response::ApiResult;
use crate::report::reports::ReportFormat;
use crate::report::reports::build_csv;
use crate::response::success_fields;
use crate::settlement::reconciliations::open_records;
use tillgate_wire::json_object::JsonObject;

/// Handles `GET /reports/v1/settlements`.
pub(crate) async fn report_settlements(State(state): State<Arc<AppState>>, merchant: MerchantRequest) -> ApiResult {
    merchant
        .respond(async |merchant| {
            let (format, report) = read_report(&state, &merchant).await?;
            Ok(match format {
                ReportFormat::Csv => build_csv(&ReportTable::from(&report)),
                ReportFormat::Json => {
                    let rows: Vec<_> = report.rows.iter().map(settlement_fields).collect();
                    merchant.build_response(success_fields().with("settlements", rows))
                }
            })
        })
        .await
}

/// Reads the batches of a request's days in the queue of its merchant's long reads.
async fn read_report(
    state: &Arc<AppState>,
    merchant: &MerchantRequest,
) -> Result<(ReportFormat, SettlementReport), Failure> {
    let format = ReportFormat::parse(merchant.own.get("format"))?;
    let days = DayRange::require_from(&merchant.parameters)?;
    let (reader, id) = (Arc::clone(state), merchant.entity.id.clone());
    let read = move |_: &Cancellation<'_>| {
        read_settlements(&reader.gateway.directory, &reader.gateway.store.open_history()?, &id, days)
    };
    let tenant = merchant.entity.merchant_or_self();
    Ok((format, state.gateway.store.long_reads.run_read(tenant, read).await??))
}

/// Handles `GET /reports/v1/fees`.
pub(crate) async fn report_fees(State(state): State<Arc<AppState>>, merchant: MerchantRequest) -> ApiResult {
    merchant
        .respond(async |merchant| {
            let (format, report) = read_fees(&state, &merchant).await?;
            Ok(match format {
                ReportFormat::Csv => build_csv(&ReportTable::from(&report)),
                ReportFormat::Json => {
                    let rows: Vec<_> = report.rows.iter().map(|(key, total)| fee_fields(key, *total)).collect();
                    merchant.build_response(success_fields().with("fees", rows))
                }
            })
        })
        .await
}

/// Adds up the fees of the records of a request.
async fn read_fees(state: &AppState, merchant: &MerchantRequest) -> Result<(ReportFormat, FeeReport), Failure> {
    let format = ReportFormat::parse(merchant.own.get("format"))?;
    let reader = open_records(state, merchant)?;
    let totals = state.gateway.add_up_records(reader, RecordTotals::new(None, None)).await?;
    Ok((format, FeeReport::from(&totals)))
}

/// Handles `GET /ledger/v1/balances`.
pub(crate) async fn list_balances(State(state): State<Arc<AppState>>, merchant: MerchantRequest) -> ApiResult {
    merchant
        .respond(async |merchant| {
            let (reader, id) = (Arc::clone(&state), merchant.entity.id.clone());
            let read = move |_: &Cancellation<'_>| -> Result<_, Failure> {
                read_balances(&reader.gateway.directory, &reader.gateway.store.open_history()?, &id)
            };
            let tenant = merchant.entity.merchant_or_self();
            let balances = state.gateway.store.long_reads.run_read(tenant, read).await??;
            let mut rows: Vec<JsonObject<'_>> = Vec::new();
            for (entity, currencies) in &balances {
                rows.extend(currencies.iter().map(|(currency, sums)| {
                    let fields = JsonObject::default().with("entityId", entity.as_str()).with("currency", *currency);
                    balance_fields(fields, *sums)
                }));
            }
            Ok(merchant.build_response(success_fields().with("balances", rows)))
        })
        .await
}

/// Adds the balance of each account: debits are positive and credits negative.
fn balance_fields(fields: JsonObject<'_>, sums: LedgerSums) -> JsonObject<'_> {
    let named = ACCOUNT_NAMES.into_iter().zip(sums.to_array());
    named.fold(fields, |fields, (name, sum)| fields.with(name, format_hundredths(i128::from(sum))))
}

/// Builds the JSON of the fees of a row.
fn fee_fields((day, transaction_type, brand, currency): &FeeKey, (count, fee): (u64, i128)) -> JsonObject<'_> {
    let mut fields =
        JsonObject::default().with("day", day.to_string()).with("transactionType", transaction_type.as_str());
    if !brand.is_empty() {
        fields.set("paymentBrand", brand.as_str());
    }
    fields.with("currency", *currency).with("count", Value::from(count)).with("fee", format_hundredths(fee))
}

/// Builds the JSON of a batch.
fn settlement_fields(row: &SettlementRow) -> JsonObject<'_> {
    let fields = JsonObject::default()
        .with("day", row.day.to_string())
        .with("entityId", row.entity.as_str())
        .with("currency", row.currency.as_str())
        .with("status", row.status())
        .with("lines", Value::from(row.totals.lines))
        .with("failedLines", Value::from(row.totals.failed));
    AMOUNT_NAMES.into_iter().zip(row.amounts()).fold(fields, |fields, (name, amount)| fields.with(name, amount))
}
