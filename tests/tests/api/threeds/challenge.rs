//! The challenge: every answer on the issuer's page, and the answers that do not count.

use tillgate::threeds::issuer::ANSWERS;

use super::*;

const PENDING: &str = "000.200.000";
const CARD: (&str, &str) = ("card.number", "4200000000000018");

#[tokio::test]
async fn every_answer_of_the_issuers_page_ends_the_payment_with_its_code() -> anyhow::Result<()> {
    let shop = shop();
    for answer in &ANSWERS {
        let paid = pay(&shop, "VISA", CARD.1, &[("merchantTransactionId", "challenge-of-4711")]).await?;
        assert_answer(&paid, 200, PENDING);
        let url = redirect(&paid, "url");
        let (found, page) = visit(&shop, url).await?;
        assert_eq!(found, 200, "{page}");
        for part in [
            "92.00 EUR",
            "•••• 0018",
            r#"<select id="returnCode" name="returnCode">"#,
            r#"<input type="submit""#,
            answer.words,
            &format!(r#"<option value="{}">"#, answer.code.code()),
        ] {
            assert!(page.contains(part), "{part}: {page}");
        }
        assert!(!page.contains(CARD.1), "{page}");
        let fields = [("transaction", transaction(&page)), ("returnCode", answer.code.code())];
        let (found, left) = post(&shop, url, &fields).await?;
        assert_eq!(found, 200, "{left}");
        let path = format!("/v1/payments/{}", paid.id()).replace('/', "%2F");
        let back = format!("https://shop.example/back?basket=7&amp;id={}&amp;resourcePath={path}#top", paid.id());
        assert!(left.contains(&format!(r#"<a id="back" href="{back}" target="_top">"#)), "{left}");
        let read = status(&shop, paid.id()).await?;
        let passes = answer.code.is_success();
        assert_answer(&read, if passes { 200 } else { 400 }, answer.code.code());
        let reported = if answer.status.letter() == "R" { "N" } else { answer.status.letter() };
        assert_eq!(read.json["threeDSecure"]["authenticationStatus"], reported, "{}", read.text);
        assert_eq!(read.json["threeDSecure"]["eci"].is_null(), !passes, "{}", read.text);
        let reason = answer.reason.map_or(serde_json::Value::Null, |reason| reason.as_str().into());
        assert_eq!(read.json["threeDSecure"]["transactionStatusReason"], reason, "{}", read.text);
        // A decline shows no amount; what passes was authorised as any card is, with its security code.
        assert_eq!(read.json["amount"].is_null(), !passes, "{}", read.text);
        assert_eq!(read.json["result"]["cvvResponse"] == "M", passes, "{}", read.text);
    }
    Ok(())
}
