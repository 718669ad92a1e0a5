//! Reconciliation records as JSON, and their totals.

use serde_json::{Value, json};
use tillgate_domain::settlement::reconciliation::{Cashflow, ChargebackReason, RecordType, TransactionType};
use tillgate_shared::result::ResultCode;
use tillgate_tests::TestGateway;
use tillgate_tests::records::{create_record, with_match};

use crate::settlement::reconciliation_files::{ALWAYS, today};
use crate::support::*;

const ROUTES: [&str; 3] =
    ["reconciliations/v1/files", "reconciliations/v1/records", "reports/v1/reconciliations/aggregations"];

#[tokio::test]
async fn a_missing_or_wrong_day_is_named_by_every_route() -> anyhow::Result<()> {
    let shop = sandbox_shop();
    for route in ROUTES {
        for (query, names) in [
            ("", &["date.from", "date.to"][..]),
            ("date.from=2026-01-01", &["date.to"]),
            ("date.to=2026-01-01", &["date.from"]),
            ("date.from=2026-02-30&date.to=2026-03-01", &["date.from"]),
            ("date.from=2026-03-01&date.to=2026-02-28", &["date.to"]),
            ("date.from=yesterday&date.to=2026-02-28", &["date.from"]),
            ("date.from=2026-01-01%2000:00:00&date.to=2026-02-28", &["date.from"]),
        ] {
            assert_errors(&shop.get(&format!("{route}?{query}")).await?, names);
        }
    }
    for (query, name) in [("currency=EURO", "currency"), ("testMode=SOME", "testMode"), ("format=xml", "format")] {
        assert_errors(&shop.get(&format!("{}?{ALWAYS}&{query}", ROUTES[2])).await?, &[name]);
    }
    Ok(())
}

#[tokio::test]
async fn a_record_has_the_names_of_the_specification_and_null_for_a_missing_reference() -> anyhow::Result<()> {
    let gateway = TestGateway::shared();
    let shop = gateway.create_merchant()?;
    let day = today();
    let mut record = with_match(&create_record(1, day, (&shop, &shop, None), "92.00")?);
    record.merchant_transaction_id = Some("order-4711".to_owned());
    record.settlement.fx_rate = "1.08005".parse()?;
    record.descriptor = Some("=1+1".to_owned());
    record.record_type = RecordType::ChargebackReversal;
    let code = ResultCode::find("000.100.203").ok_or_else(|| anyhow::anyhow!("a code"))?;
    record.reason = Some(ChargebackReason { code, text: Some("fraud".to_owned()) });
    gateway.write_records(std::slice::from_ref(&record))?;
    let answer = shop.get(&format!("reconciliations/v1/records?{ALWAYS}")).await?;
    assert_eq!(answer.headers["content-type"], "application/x-ndjson");
    let line: Value = serde_json::from_str(&answer.text)?;
    let payment = record.payment.as_ref().map_or("", |payment| payment.as_str());
    assert_eq!(
        line,
        json!({
            "id": record.id.as_str(), "recordType": "CHARGEBACK REVERSAL", "transactionType": "DEBIT",
            "settlement": {
                "id": "settlement-1", "cashflow": "POS", "amount": "92.00", "currency": "EUR", "fxRate": "1.08005",
                "date": day.to_string(), "status": "SUCCESS", "format": "test",
            },
            "clearingInstitute": { "name": "Test Clearing", "merchantId": "clearing-1", "txId1": "tx-1" },
            "merchantAccount": { "id": shop.entity_id, "name": "Account 1" },
            "pspEntityId": shop.entity_id, "merchantEntityId": shop.entity_id,
            "payment": { "id": payment }, "shortId": line["shortId"],
            "merchantTransactionId": "order-4711", "merchantInvoiceId": null,
            "amount": "92.00", "currency": "EUR", "paymentBrand": "VISA", "presentmentDate": format!("{day} 12:00:00"),
            "descriptor": "=1+1", "result": { "code": "000.100.203", "description": "fraud" },
            "matchedTransactions": { "status": "MATCHED", "payment": [{ "id": payment }] },
        })
    );
    Ok(())
}

#[tokio::test]
async fn totals_never_add_two_currencies_or_two_directions() -> anyhow::Result<()> {
    let gateway = TestGateway::shared();
    let shop = gateway.create_merchant()?;
    let day = today();
    let debit = |number| create_record(number, day, (&shop, &shop, None), "92.00");
    let [first, second, mut refund, mut dollars] = [debit(1)?, debit(2)?, debit(3)?, debit(4)?];
    (refund.transaction_type, refund.settlement.cashflow) = (TransactionType::Refund, Cashflow::Negative);
    let usd = tillgate_shared::money::Currency::parse("USD").ok_or_else(|| anyhow::anyhow!("a currency"))?;
    dollars.settlement.amount =
        tillgate_shared::money::Amount::parse("99.36", usd).map_err(|e| anyhow::anyhow!("{e}"))?;
    dollars.settlement.fee = Some(dollars.settlement.amount);
    dollars.settlement.format = tillgate_domain::settlement::reconciliation::SIMULATED_FORMAT.to_owned();
    gateway.write_records(&[first, second, refund, dollars])?;
    let path = format!("{}?{ALWAYS}", ROUTES[2]);
    let answer = shop.get(&path).await?;
    assert_result(&answer, 200, "000.000.100");
    assert_envelope(&answer);
    let row = |settled: &str, kind: &str, cashflow: &str, count: u64, sums: [&str; 3]| {
        json!({
            "day": day.to_string(), "currency": "EUR", "settlementCurrency": settled, "paymentBrand": "VISA",
            "recordType": "SETTLED", "transactionType": kind, "cashflow": cashflow, "status": "SUCCESS", "count": count,
            "amount": sums[0], "settlementAmount": sums[1], "fee": sums[2],
        })
    };
    let simulated = row("USD", "DEBIT", "POS", 1, ["92.00", "99.36", "99.36"]);
    let imported = [
        row("EUR", "DEBIT", "POS", 2, ["184.00", "184.00", "0.00"]),
        row("EUR", "REFUND", "NEG", 1, ["92.00", "92.00", "0.00"]),
    ];
    let [debits, refunds] = &imported;
    assert_eq!(answer.json["aggregations"], json!([debits, refunds, simulated]));
    assert_eq!(shop.get(&format!("{path}&testMode=INTERNAL")).await?.json["aggregations"], json!([simulated]));
    assert_eq!(shop.get(&format!("{path}&testMode=EXTERNAL")).await?.json["aggregations"], json!(imported));
    assert_eq!(shop.get(&format!("{path}&currency=USD")).await?.json["aggregations"], json!([]));
    let csv = shop.get(&format!("{path}&format=csv&testMode=EXTERNAL")).await?.text;
    let expected = format!(
        "day,currency,settlementCurrency,paymentBrand,recordType,transactionType,cashflow,status,count,amount,\
         settlementAmount,fee\r\n\
         {day},EUR,EUR,VISA,SETTLED,DEBIT,POS,SUCCESS,2,184.00,184.00,0.00\r\n\
         {day},EUR,EUR,VISA,SETTLED,REFUND,NEG,SUCCESS,1,92.00,92.00,0.00\r\n"
    );
    assert_eq!(csv, expected);
    Ok(())
}
