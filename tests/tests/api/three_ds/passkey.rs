//! The simulated issuer's question for a passkey: its page, and answers that count for nothing.

use serde_json::json;

use super::{
    CARDHOLDER_DATA, challenge_transaction, pay_by_card, post_to_page, read_payment, redirect_field, visit_page,
};
use crate::support::*;

const PASSKEY: (&str, &str) = ("customParameters[3DS2_flow]", "passkey");

#[tokio::test]
async fn a_page_asks_for_a_passkey_with_questions_of_its_own_transaction() -> anyhow::Result<()> {
    let shop = sandbox_shop();
    let mut asked = Vec::new();
    for _ in 0..2 {
        let paid = pay_by_card(&shop, "VISA", "4200000000000000", &[PASSKEY]).await?;
        let (status, page) = visit_page(&shop, redirect_field(&paid, "url")).await?;
        assert!(status == 200 && page.contains("Use a passkey"), "{page}");
        for name in ["data-create=\"", "data-get=\""] {
            let question = page.split_once(name).and_then(|(_, rest)| rest.split('"').next()).unwrap_or_default();
            assert_eq!(question.len(), 43, "{page}");
            assert!(!asked.contains(&question.to_owned()), "used twice");
            asked.push(question.to_owned());
        }
    }
    // Other challenges do not ask for one.
    let paid = pay_by_card(&shop, "VISA", "4200000000000018", &CARDHOLDER_DATA).await?;
    assert!(!visit_page(&shop, redirect_field(&paid, "url")).await?.1.contains("Use a passkey"));
    Ok(())
}

#[tokio::test]
async fn an_answer_that_is_no_passkeys_pays_nothing_and_the_code_still_does() -> anyhow::Result<()> {
    let shop = sandbox_shop();
    let paid = pay_by_card(&shop, "VISA", "4200000000000000", &[PASSKEY]).await?;
    let address = redirect_field(&paid, "url").to_owned();
    let (_, page) = visit_page(&shop, &address).await?;
    let transaction = challenge_transaction(&page).to_owned();
    let parts = json!({"publicKey": "AAAA", "created": "e30", "clientData": "e30", "authenticatorData": "AAAA", "signature": ""});
    for answer in ["{}", "null", "", "[1]", "\u{0}", &parts.to_string(), &"x".repeat(20_000)] {
        let (status, text) =
            post_to_page(&shop, &address, &[("passkey", answer), ("transaction", &transaction)]).await?;
        assert!((400..500).contains(&status) || (status == 200 && text.contains("Use a passkey")), "{status} {text}");
        assert_result(&read_payment(&shop, paid.id()).await?, 200, "000.200.000");
    }
    let code = [("returnCode", "000.100.110"), ("transaction", transaction.as_str())];
    assert_eq!(post_to_page(&shop, &address, &code).await?.0, 200);
    assert_result(&read_payment(&shop, paid.id()).await?, 200, "000.100.110");
    // After the end, and where no passkey is asked for, there is nothing to answer.
    let (status, _) = post_to_page(&shop, &address, &[("passkey", "{}"), ("transaction", &transaction)]).await?;
    assert!((400..500).contains(&status), "{status}");
    let paid = pay_by_card(&shop, "VISA", "4200000000000018", &[]).await?;
    let (status, _) = post_to_page(&shop, redirect_field(&paid, "url"), &[("passkey", "{}")]).await?;
    assert_eq!(status, 400);
    assert_result(&read_payment(&shop, paid.id()).await?, 200, "000.200.000");
    Ok(())
}
