//! Uploads of evidence in the back office, and attacks with files.

use tillgate_tests::{MerchantClient, TestGateway};

use crate::access::office_browser::Person;
use crate::dispute::evidence::png_file;

/// Charges a payment back. Returns the id of its dispute.
async fn open_dispute(shop: &MerchantClient) -> anyhow::Result<String> {
    let paid = shop.pay_by_card(&[]).await?.id().to_owned();
    let reason = [("paymentType", "CB"), ("chargebackResultCode", "000.100.203")];
    shop.post(&format!("v1/payments/{paid}"), &reason).await?;
    let list = shop.get("v1/disputes").await?;
    Ok(list.json["disputes"][0]["id"].as_str().unwrap_or_default().to_owned())
}

/// Returns the names of the files of a dispute.
async fn file_names(shop: &MerchantClient, dispute: &str) -> anyhow::Result<Vec<String>> {
    let read = shop.get(&format!("v1/disputes/{dispute}")).await?;
    let files = read.json["evidence"].as_array().cloned().unwrap_or_default();
    Ok(files.iter().map(|file| file["name"].as_str().unwrap_or_default().to_owned()).collect())
}

#[tokio::test]
async fn an_accountant_adds_a_file_once_and_downloads_the_same_bytes() -> anyhow::Result<()> {
    let gateway = TestGateway::start()?;
    let shop = gateway.create_merchant()?;
    let person = Person::enrol(&gateway, "ann@shop.example", "accountant", Some(&shop.entity_id)).await?;
    let dispute = open_dispute(&shop).await?;
    let path = format!("/money/disputes/{dispute}");
    let page = person.browser.get(&path).await?.page;
    assert!(page.contains("enctype=\"multipart/form-data\"") && page.contains("type=\"file\""), "{page}");
    let content = png_file(900);
    let files: &[(&str, &str, &[u8])] = &[("file", "../<b>proof</b>.svg", &content)];
    // A form that is sent several times at once adds one file. The type that was sent does not matter.
    let address = format!("{path}/evidence");
    let send = || person.browser.upload(&address, &[], files);
    let (one, other) = tokio::join!(send(), send());
    for added in [one?, other?] {
        assert_eq!(added.status, 303, "{}", added.page);
        assert_eq!(added.header("location"), format!("/backoffice{path}?done=evidence_added"));
    }
    let names = file_names(&shop, &dispute).await?;
    assert_eq!(names, ["b_.png"]);
    let page = person.browser.get(&path).await?.page;
    let file = page.split_once(&format!("{path}/evidence/")).and_then(|(_, rest)| rest.get(..32)).unwrap_or_default();
    let sent = person.browser.get(&format!("{path}/evidence/{file}")).await?;
    assert_eq!((sent.status, sent.header("content-type")), (200, "image/png"));
    assert_eq!(sent.header("content-disposition"), "attachment; filename=\"b_.png\"");
    assert_eq!(sent.header("x-content-type-options"), "nosniff");
    // The audit log names the user.
    let user = format!("user {}", Person::find_id(&gateway, &person.mail)?);
    let acts = crate::settlement::files::read_acts(&gateway, &dispute).await?;
    assert!(acts.contains(&("dispute evidence".to_owned(), user)), "{acts:?}");
    Ok(())
}

#[tokio::test]
async fn pages_scripts_polyglots_and_large_files_are_refused() -> anyhow::Result<()> {
    let gateway = TestGateway::start()?;
    let shop = gateway.create_merchant()?;
    let person = Person::enrol(&gateway, "ann@shop.example", "accountant", Some(&shop.entity_id)).await?;
    let dispute = open_dispute(&shop).await?;
    let path = format!("/money/disputes/{dispute}/evidence");
    let png = png_file(9);
    let zip = [b"PK\x05\x06".as_slice(), &[0; 18]].concat();
    let large = png_file(4 * 1024 * 1024);
    let huge = vec![b'x'; 5 * 1024 * 1024];
    for (name, content) in [
        ("proof.png", &b"<html><script>alert(1)</script>"[..]),
        ("proof.png", b"<svg xmlns='http://www.w3.org/2000/svg' onload='alert(1)'/>"),
        ("proof.pdf", b"%PDF-1.4\n<script>alert(1)</script>"),
        ("proof.png", &[&png[..], b"<script>alert(1)</script>"].concat()),
        ("proof.png", &[&png[..], &zip].concat()),
        ("proof.png", &png[..png.len() - 1]),
        ("proof.png", b""),
        ("", b""),
        ("4200 0000 0000 0000.png", &png),
        ("proof.png", &large),
        ("proof.png", &huge),
    ] {
        let refused = person.browser.upload(&path, &[], &[("file", name, content)]).await?;
        assert_eq!(refused.status, 422, "{name} {} bytes: {}", content.len(), refused.page);
        assert!(!refused.page.contains("<script>alert"), "{name}");
    }
    // Neither a form of another kind nor a broken one has a file.
    for answer in [
        person.browser.post(&path, &[("file", "x")]).await?,
        person.browser.upload(&path, &[("file", "x")], &[]).await?,
    ] {
        assert!(answer.status == 422 && answer.page.contains("Choose a file."), "{}", answer.page);
    }
    assert!(file_names(&shop, &dispute).await?.is_empty());
    Ok(())
}

#[tokio::test]
async fn nobody_adds_a_file_to_a_dispute_of_another_tenant_or_without_the_right() -> anyhow::Result<()> {
    let gateway = TestGateway::start()?;
    let (shop, other) = (gateway.create_merchant()?, gateway.create_merchant()?);
    let person = Person::enrol(&gateway, "ann@shop.example", "accountant", Some(&shop.entity_id)).await?;
    let viewer = Person::enrol(&gateway, "vera@shop.example", "viewer", Some(&shop.entity_id)).await?;
    let (own, foreign) = (open_dispute(&shop).await?, open_dispute(&other).await?);
    let content = png_file(9);
    let files: &[(&str, &str, &[u8])] = &[("file", "proof.png", &content)];
    let nothing =
        person.browser.upload("/money/disputes/8a000000000000000000000000000000/evidence", &[], files).await?;
    let answer = person.browser.upload(&format!("/money/disputes/{foreign}/evidence"), &[], files).await?;
    assert_eq!((answer.status, &answer.page), (404, &nothing.page));
    assert_eq!(viewer.browser.upload(&format!("/money/disputes/{own}/evidence"), &[], files).await?.status, 403);
    assert!(!viewer.browser.get(&format!("/money/disputes/{own}")).await?.page.contains("type=\"file\""));
    // A page of another site cannot send the form.
    let mut browser = person.browser;
    browser.headers = vec![("sec-fetch-site", "cross-site".to_owned())];
    assert_eq!(browser.upload(&format!("/money/disputes/{own}/evidence"), &[], files).await?.status, 403);
    for (shop, dispute) in [(&shop, &own), (&other, &foreign)] {
        assert!(file_names(shop, dispute).await?.is_empty());
    }
    // A dispute that has ended takes no file, and the page says so.
    browser.headers = vec![("sec-fetch-site", "same-origin".to_owned())];
    browser.post(&format!("/money/disputes/{own}/acceptance"), &[]).await?;
    let late = browser.upload(&format!("/money/disputes/{own}/evidence"), &[], files).await?;
    assert!(late.status == 422 && late.page.contains("no evidence can be added"), "{}", late.page);
    Ok(())
}
