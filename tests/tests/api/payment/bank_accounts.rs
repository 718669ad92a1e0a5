//! Bank accounts: direct debits and transfers, test accounts, and the sealed account number.

use serde_json::{Value, json};
use tillgate_tests::TestGateway;

use crate::payment::accounts::{BACK, assert_pending, pay_by_account};
use crate::support::*;

#[tokio::test]
async fn a_direct_debit_shows_the_account_masked_and_the_mandate() -> anyhow::Result<()> {
    let shop = sandbox_shop();
    let paid = pay_by_account(
        &shop,
        "SEPA",
        &[
            ("bankAccount.holder", "Jane Jones"),
            ("bankAccount.iban", "de23100000001234567890"),
            ("bankAccount.bic", "MARKDEF1100"),
            ("bankAccount.bankName", "Test Bank"),
            ("bankAccount.mandate.id", "MANDATE4711"),
            ("bankAccount.mandate.dateOfSignature", "2024-02-29"),
            ("bankAccount.mandate.reference", "REF4711"),
            ("transactionDueDate", "2034-01-31"),
        ],
    )
    .await?;
    assert_result(&paid, 200, "000.100.110");
    let expected = json!({
        "holder": "Jane Jones", "iban": "DE23**************7890", "last4Digits": "7890", "bic": "MARKDEF1100",
        "bankName": "Test Bank", "country": "DE",
        "mandate": { "id": "MANDATE4711", "dateOfSignature": "2024-02-29", "reference": "REF4711" },
    });
    assert_eq!(paid.json["bankAccount"], expected);
    assert_eq!(paid.json["transactionDueDate"], "2034-01-31");
    assert_eq!(paid.json["resultDetails"], json!({ "AcquirerResponse": "00" }));
    assert!(!paid.text.contains("1234567890"), "{}", paid.text);
    let national = [
        ("bankAccount.holder", "Jane Jones"),
        ("bankAccount.number", "9876543210"),
        ("bankAccount.bankCode", "10000000"),
        ("bankAccount.country", "DE"),
    ];
    let paid = pay_by_account(&shop, "DIRECTDEBIT_SEPA", &national).await?;
    assert_result(&paid, 200, "000.100.110");
    let expected = json!({ "holder": "Jane Jones", "last4Digits": "3210", "bankCode": "10000000", "country": "DE" });
    assert_eq!(paid.json["bankAccount"], expected);
    Ok(())
}

#[tokio::test]
async fn a_direct_debit_names_what_its_account_lacks() -> anyhow::Result<()> {
    let shop = sandbox_shop();
    let missing = pay_by_account(&shop, "SEPA", &[]).await?;
    assert_errors(&missing, &["bankAccount.holder", "bankAccount.iban", "bankAccount.bic"]);
    let account = |iban: &'static str| {
        [("bankAccount.holder", "Jane Jones"), ("bankAccount.iban", iban), ("bankAccount.bic", "MARKDEF1100")]
    };
    // Wrong check digits, the length of another country, an incomplete IBAN.
    for iban in ["DE24100000001234567890", "DE2310000000123456789", "AT23100000001234567890", "DE23 1000"] {
        let refused = pay_by_account(&shop, "SEPA", &account(iban)).await?;
        assert_errors(&refused, &["bankAccount.iban"]);
        assert_eq!(parameter_error(&refused, "bankAccount.iban")["value"], Value::Null);
        assert!(!refused.text.contains(iban), "{}", refused.text);
    }
    let mut bad_bic = account("DE23100000001234567890");
    bad_bic[2].1 = "MARKDEF1";
    assert_result(&pay_by_account(&shop, "SEPA", &bad_bic).await?, 200, "000.100.110");
    bad_bic[2].1 = "MARKDEF110";
    assert_errors(&pay_by_account(&shop, "SEPA", &bad_bic).await?, &["bankAccount.bic"]);
    Ok(())
}

#[tokio::test]
async fn test_accounts_of_three_countries_give_their_documented_outcomes() -> anyhow::Result<()> {
    let shop = sandbox_shop();
    for (iban, bic, status, code, acquirer) in [
        ("DE23100000001234567890", "MARKDEF1100", 200, "000.100.110", "00"),
        ("DE58100000000000000051", "MARKDEF1100", 400, "800.100.203", "AM04"),
        ("DE31100000000000000052", "MARKDEF1100", 400, "800.100.202", "AC04"),
        ("AT611904300234573201", "OPSKATWW", 200, "000.100.110", "00"),
        ("AT821904300000000051", "OPSKATWW", 400, "800.100.203", "AM04"),
        ("AT551904300000000052", "OPSKATWW", 400, "800.100.202", "AC04"),
        ("NL91ABNA0417164300", "ABNANL2A", 200, "000.100.110", "00"),
        ("NL66ABNA0000000051", "ABNANL2A", 400, "800.100.203", "AM04"),
        ("NL39ABNA0000000052", "ABNANL2A", 400, "800.100.202", "AC04"),
        ("DE23100000001234567890", "ABNANL2A", 400, "100.200.103", "RC01"),
    ] {
        let account = [("bankAccount.holder", "Jane Jones"), ("bankAccount.iban", iban), ("bankAccount.bic", bic)];
        for _ in 0..2 {
            let paid = pay_by_account(&shop, "SEPA", &account).await?;
            assert_result(&paid, status, code);
            assert_eq!(paid.json["resultDetails"]["AcquirerResponse"], acquirer, "{iban}");
        }
    }
    let account = [
        ("bankAccount.holder", "Jane Jones"),
        ("bankAccount.iban", "DE23100000001234567890"),
        ("bankAccount.bic", "MARKDEF1100"),
    ];
    let with = |more: (&'static str, &'static str)| [&account[..], &[more]].concat();
    assert_result(&pay_by_account(&shop, "SEPA", &with(("currency", "USD"))).await?, 400, "600.200.500");
    let future = with(("bankAccount.mandate.dateOfSignature", "2099-01-01"));
    assert_result(&pay_by_account(&shop, "SEPA", &future).await?, 400, "100.500.302");
    let forced = with(("customParameters[forceResultCode]", "800.100.204"));
    assert_result(&pay_by_account(&shop, "SEPA", &forced).await?, 400, "800.100.204");
    let giropay = [BACK, ("bankAccount.iban", "DE14940593100000012346"), ("bankAccount.bic", "TESTDETT421")];
    assert_pending(&shop, &pay_by_account(&shop, "GIROPAY", &giropay).await?);
    Ok(())
}

#[tokio::test]
async fn a_transfer_says_which_account_it_goes_to() -> anyhow::Result<()> {
    let shop = sandbox_shop();
    let expected = json!({
        "holder": "Tillgate Simulator", "number": "DE23100000001234567890", "bic": "MARKDEF1100", "country": "DE",
    });
    let named = ("merchant.name", "Kiln & Tide*Bowl");
    for (brand, code) in [("PREPAYMENT", "000.200.000"), ("BOLETO", "000.100.110")] {
        let paid = pay_by_account(&shop, brand, &[BACK, named]).await?;
        assert_result(&paid, 200, code);
        assert_eq!(paid.json["merchant"]["bankAccount"], expected);
        assert_eq!(paid.json["merchant"]["name"], named.1, "what was sent of the merchant stands beside it");
    }
    let declined =
        pay_by_account(&shop, "PREPAYMENT", &[BACK, ("customParameters[forceResultCode]", "800.100.151")]).await?;
    assert_result(&declined, 400, "800.100.151");
    assert!(declined.json["merchant"].is_null() && declined.json["redirect"].is_null(), "{}", declined.text);
    Ok(())
}

#[tokio::test]
async fn a_bank_accounts_number_is_nowhere_but_sealed() -> anyhow::Result<()> {
    let gateway = TestGateway::start_with_environment(&[], &[("TILLGATE_LOG", "trace")])?;
    let shop = gateway.create_merchant()?;
    let mut answers = Vec::new();
    for account in [("bankAccount.iban", "NL91ABNA0417164300"), ("bankAccount.number", "70417164300")] {
        let fields = [("bankAccount.holder", "Jane Jones"), account, ("bankAccount.bic", "ABNANL2A")];
        let paid = pay_by_account(&shop, "SEPA", &fields).await?;
        assert_result(&paid, 200, "000.100.110");
        let pending = pay_by_account(&shop, "IDEAL", &[&fields[..], &[BACK]].concat()).await?;
        assert_result(&pending, 200, "000.200.000");
        answers.extend([paid.text, pending.text]);
    }
    let sealed: u32 = open_database(&gateway)?.query_row("SELECT count(*) FROM card", [], |row| row.get(0))?;
    assert_eq!(sealed, 4);
    let mut places = vec![gateway.read_log(), answers.concat()];
    places.extend(gateway.read_data_files()?.iter().map(|content| String::from_utf8_lossy(content).into_owned()));
    for place in places {
        assert!(!place.contains("0417164300"), "found in {}", &place[..place.len().min(200)]);
    }
    Ok(())
}
