//! `/reports/v1/settlements`, `/reports/v1/fees` and `/ledger/v1/balances`.

use std::sync::Arc;

use axum::extract::State;
use tillgate_domain::report::table::ReportTable;
use tillgate_domain::settlement::reconciliation::days::DayRange;
use tillgate_domain::settlement::reconciliation::totals::RecordTotals;
use tillgate_domain::settlement::report::{FeeReport, SettlementReport};
use tillgate_gateway::Failure;
use tillgate_gateway::settlement::report::read_balances;
use tillgate_gateway::settlement::report::read_settlements;
use tillgate_store::Cancellation;
use tillgate_wire::ResultFields;
use tillgate_wire::settlement::{BalanceFields, BalancesFields, FeesFields, SettlementsFields};

use crate::app_state::AppState;
use crate::extract::MerchantRequest;
use crate::merchant_response::ApiResult;
use crate::report::reports::ReportFormat;
use crate::report::reports::build_csv;
use crate::settlement::reconciliations::open_records;

/// Handles `GET /reports/v1/settlements`.
pub(crate) async fn report_settlements(State(state): State<Arc<AppState>>, merchant: MerchantRequest) -> ApiResult {
    merchant
        .respond(async |merchant| {
            let (format, report) = read_report(&state, &merchant).await?;
            Ok(match format {
                ReportFormat::Csv => build_csv(&ReportTable::from(&report)),
                ReportFormat::Json => merchant.build_response(SettlementsFields::from(&report)),
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
                ReportFormat::Json => merchant.build_response(FeesFields::from(&report)),
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
            let rows = balances.iter().flat_map(|(entity, currencies)| {
                currencies.iter().map(|(currency, sums)| BalanceFields::new(entity, currency, *sums))
            });
            let fields = BalancesFields { result: ResultFields::success(), balances: rows.collect() };
            Ok(merchant.build_response(fields))
        })
        .await
}
