//! Imports of institutes' files in the back office: the preview, the import of the same bytes, and attacks on them.

use serde_json::Value;
use tillgate_tests::{Database, MerchantClient, TestGateway};

use crate::access::office_browser::{Answer, OfficeBrowser, Person};
use crate::settlement::files::*;
use crate::settlement::unmatched::read_unmatched;

/// A merchant's reference with markup.
const HOSTILE: &str = "<script>alert(1)</script>";

/// Enrols somebody with a role on an entity.
async fn enrol(gateway: &TestGateway, name: &str, role: &str, shop: &MerchantClient) -> anyhow::Result<Person> {
    Person::enrol(gateway, &format!("{name}@shop.example"), role, Some(&shop.entity_id)).await
}

/// Uploads a text for a shop.
async fn preview(browser: &OfficeBrowser, shop: &MerchantClient, text: &str) -> anyhow::Result<Answer> {
    let fields = [("entity", shop.entity_id.as_str()), ("institute", "Acme")];
    browser.upload("/money/imports", &fields, &[("file", "payout.csv", text.as_bytes())]).await
}

/// Returns the key of the file of a preview.
fn upload_key(answer: &Answer) -> String {
    answer.between("name=\"upload\" value=\"", "\"").unwrap_or_default().to_owned()
}

async fn confirm(browser: &OfficeBrowser, key: &str, skip: bool) -> anyhow::Result<Answer> {
    let fields: &[(&str, &str)] = if skip { &[("upload", key), ("skip", "yes")] } else { &[("upload", key)] };
    browser.post("/money/imports/confirmation", fields).await
}

#[tokio::test]
async fn a_preview_writes_nothing_and_the_import_takes_the_same_bytes_once() -> anyhow::Result<()> {
    let gateway = TestGateway::start()?;
    let shop = gateway.create_merchant()?;
    let person = enrol(&gateway, "ann", "accountant", &shop).await?;
    let browser = &person.browser;
    let paid = pay_externally(&shop, "10.00", "order-0001").await?;
    let file = format_file(&[
        FileLine { order: "order-0001", amount: "10.00", fee: "0.25", ..Default::default() },
        FileLine { order: HOSTILE, amount: "25.00", ..Default::default() },
    ]);
    let shown = preview(browser, &shop, &file).await?;
    assert_eq!(shown.status, 200, "{}", shown.page);
    for text in [paid.id(), "10.00 EUR", "0.25 EUR", "No payment fits", "25.00 EUR", "payout.csv", "Acme"] {
        assert!(shown.page.contains(text), "{text} in {}", shown.page);
    }
    assert!(!shown.page.contains("<script>alert"), "{}", shown.page);
    assert_eq!((read_euros(&shop, "receivable").await?, read_unmatched(&gateway, &shop)?.len()), (1000, 0));

    let key = upload_key(&shown);
    for _ in 0..2 {
        let imported = confirm(browser, &key, false).await?;
        assert_eq!(imported.status, 303, "{}", imported.page);
        assert_eq!(imported.header("location"), "/backoffice/money/imports?done=file_imported");
    }
    assert_eq!((read_euros(&shop, "receivable").await?, read_unmatched(&gateway, &shop)?.len()), (0, 1));
    let list = browser.get("/money/imports?done=file_imported").await?.page;
    for text in ["The file is imported.", "Acme", "Robin Quill"] {
        assert!(list.contains(text), "{text} in {list}");
    }
    assert_eq!(list.matches("<th scope=\"row\"").count(), 1, "{list}");
    // The command knows the file, and the log names the user.
    let path = write_file(&gateway, &file)?;
    let path = path.to_string_lossy();
    let arguments = ["settlement", "import", &path, "--institute", "Acme", "--entity", &shop.entity_id];
    let known = gateway.run_command(&arguments)?;
    assert_eq!(known["alreadyImported"], true, "{known}");
    let user = format!("user {}", Person::find_id(&gateway, &person.mail)?);
    let hash = known["file"].as_str().unwrap_or_default().to_owned();
    let acts = read_acts(&gateway, &hash).await?;
    assert_eq!(acts.iter().filter(|(_, actor)| *actor == user).count(), acts.len(), "{acts:?}");
    assert!(acts.iter().any(|(act, _)| act == "settlement import"), "{acts:?}");
    let again = preview(browser, &shop, &file).await?;
    assert!(again.page.contains("was imported before") && upload_key(&again).is_empty(), "{}", again.page);
    assert_verified(&gateway)
}

#[tokio::test]
async fn a_preview_reads_the_whole_file_and_matches_its_first_lines_as_the_import_does() -> anyhow::Result<()> {
    let gateway = TestGateway::start()?;
    let shop = gateway.create_merchant()?;
    let person = enrol(&gateway, "ann", "accountant", &shop).await?;
    let paid = pay_externally(&shop, "10.00", "order-0001").await?;
    let orders: Vec<String> = (0..150).map(|number| format!("none-{number:04}")).collect();
    let twice = FileLine { order: "order-0001", amount: "10.00", ..Default::default() };
    let other = FileLine { order: "order-0001", amount: "10.00", fee: "0.25", ..Default::default() };
    let rest = orders.iter().map(|order| FileLine { order, amount: "1.00", ..Default::default() });
    let mut lines: Vec<FileLine<'_>> = [twice, other].into_iter().chain(rest).collect();
    lines.push(FileLine { order: "order-0002", amount: HOSTILE, ..Default::default() });
    let shown = preview(&person.browser, &shop, &format_file(&lines)).await?;
    assert_eq!(shown.status, 200, "{}", shown.page);
    // The second line finds nothing, because the first one settles the payment.
    assert_eq!(shown.page.matches(&format!("/payments/{}", paid.id())).count(), 1, "{}", shown.page);
    assert_eq!(shown.page.matches("No payment fits").count(), 19, "{}", shown.page);
    assert!(shown.page.contains("the first 20 of 153 lines"), "{}", shown.page);
    assert!(shown.page.contains("the broken lines (1)"), "the broken line after the first ones: {}", shown.page);
    assert!(read_unmatched(&gateway, &shop)?.is_empty());
    assert_eq!(confirm(&person.browser, &upload_key(&shown), true).await?.status, 303);
    assert!(read_euros(&shop, "receivable").await? == 0 && !read_unmatched(&gateway, &shop)?.is_empty());
    assert_verified(&gateway)
}

#[tokio::test]
async fn a_preview_waits_for_nobody_who_writes() -> anyhow::Result<()> {
    let gateway = TestGateway::start()?;
    let shop = gateway.create_merchant()?;
    let person = enrol(&gateway, "ann", "accountant", &shop).await?;
    let paid = pay_externally(&shop, "10.00", "order-0001").await?;
    let file = format_file(&[FileLine { order: "order-0001", amount: "10.00", ..Default::default() }]);
    let writer = Database::open(&gateway.data_folder())?;
    writer.keep_writers_out()?;
    let shown = preview(&person.browser, &shop, &file).await?;
    assert!(shown.status == 200 && shown.page.contains(paid.id()), "{}", shown.page);
    writer.execute_batch("ROLLBACK")?;
    Ok(())
}

#[tokio::test]
async fn uploads_of_a_user_are_refused_before_their_bodies_and_leave_places_to_others() -> anyhow::Result<()> {
    let gateway = TestGateway::start()?;
    let shop = gateway.create_merchant()?;
    let person = enrol(&gateway, "ann", "accountant", &shop).await?;
    let colleague = enrol(&gateway, "bob", "accountant", &shop).await?;
    let file = format_file(&[FileLine { order: "order-0001", amount: "10.00", ..Default::default() }]);
    let one = person.browser.begin_upload("/money/imports").await?;
    let other = person.browser.begin_upload("/money/imports").await?;
    let refused = preview(&person.browser, &shop, &file).await?;
    assert!(refused.status == 429 && refused.page.contains("Nothing was received"), "{}", refused.page);
    assert_eq!(preview(&colleague.browser, &shop, &file).await?.status, 200);
    // Without an entity there is nothing to import.
    assert_eq!((one.finish().await?, other.finish().await?), (404, 404));
    assert_eq!(preview(&person.browser, &shop, &file).await?.status, 200);
    Ok(())
}

#[tokio::test]
async fn broken_lines_are_named_and_left_out_only_if_the_user_says_so() -> anyhow::Result<()> {
    let gateway = TestGateway::start()?;
    let shop = gateway.create_merchant()?;
    let person = enrol(&gateway, "ann", "accountant", &shop).await?;
    let browser = &person.browser;
    let file = format_file(&[
        FileLine { order: "order-0001", amount: "10.00", ..Default::default() },
        FileLine { order: "order-0002", amount: HOSTILE, ..Default::default() },
        FileLine { order: "4200000000000000", amount: "1.00", ..Default::default() },
    ]);
    let shown = preview(browser, &shop, &file).await?;
    assert_eq!(shown.status, 200, "{}", shown.page);
    assert!(
        shown.page.contains("<code>amount</code>") && shown.page.contains("the broken lines (2)"),
        "{}",
        shown.page
    );
    for secret in ["4200000000000000", "<script>alert"] {
        assert!(!shown.page.contains(secret), "{secret} in {}", shown.page);
    }
    let key = upload_key(&shown);
    let stopped = confirm(browser, &key, false).await?;
    assert!(stopped.status == 422 && stopped.page.contains("Broken lines: 2"), "{}", stopped.page);
    assert!(read_unmatched(&gateway, &shop)?.is_empty());
    assert_eq!(confirm(browser, &key, true).await?.status, 303);
    assert_eq!(read_unmatched(&gateway, &shop)?.len(), 1);
    assert_verified(&gateway)
}

#[tokio::test]
async fn a_form_that_cannot_be_imported_names_its_field_and_changes_nothing() -> anyhow::Result<()> {
    let gateway = TestGateway::start()?;
    let shop = gateway.create_merchant()?;
    let person = enrol(&gateway, "ann", "accountant", &shop).await?;
    let file = format_file(&[FileLine { order: "order-0001", amount: "10.00", ..Default::default() }]);
    let huge = "x".repeat(5 * 1024 * 1024);
    let (good, id) = (file.as_bytes(), shop.entity_id.as_str());
    let long = "x".repeat(65);
    let cases: [(&str, [&[u8]; 2], &str); 9] = [
        ("Acme", [b"", b""], "Choose a file that is not empty."),
        ("", [good, b""], "the institute&#39;s name"),
        (&long, [good, b""], "the institute&#39;s name"),
        ("Acme", [good, b"format = "], "aria-invalid"),
        ("Acme", [good, b"\xff"], "The mapping is no text"),
        ("Acme", [b"a;b\n1;2\n", b""], "line 1"),
        ("Acme", [b"\x00\xff\xfe", b""], "role=\"alert\""),
        ("<b>bold</b>", [b"", b""], "&lt;b&gt;bold"),
        ("Acme", [huge.as_bytes(), b""], "larger than 4 MB"),
    ];
    for (institute, [content, mapping], fault) in cases {
        let fields = [("entity", id), ("institute", institute)];
        let mut files: Vec<(&str, &str, &[u8])> = vec![("file", "a.csv", content)];
        if !mapping.is_empty() {
            files.push(("mapping", "a.toml", mapping));
        }
        let refused = person.browser.upload("/money/imports", &fields, &files).await?;
        assert_eq!(refused.status, 422, "{fault}: {}", refused.page);
        let page = refused.page.replace("&#39;", "'");
        assert!(page.contains(&fault.replace("&#39;", "'")), "{fault}: {page}");
    }
    assert!(read_unmatched(&gateway, &shop)?.is_empty());
    Ok(())
}

#[tokio::test]
async fn a_file_is_imported_by_its_owner_only_and_for_an_entity_of_the_owner() -> anyhow::Result<()> {
    let gateway = TestGateway::start()?;
    let (shop, other) = (gateway.create_merchant()?, gateway.create_merchant()?);
    let person = enrol(&gateway, "ann", "accountant", &shop).await?;
    let colleague = enrol(&gateway, "bob", "accountant", &shop).await?;
    let viewer = enrol(&gateway, "vera", "viewer", &shop).await?;
    let file = format_file(&[FileLine { order: "order-0001", amount: "10.00", ..Default::default() }]);
    let nothing = person.browser.get("/money/unmatched/8a000000000000000000000000000000").await?;
    let foreign = preview(&person.browser, &other, &file).await?;
    assert_eq!((foreign.status, &foreign.page), (404, &nothing.page));
    assert_eq!(preview(&viewer.browser, &shop, &file).await?.status, 403);
    assert!(!viewer.browser.get("/money/imports").await?.page.contains("type=\"file\""));
    let key = upload_key(&preview(&person.browser, &shop, &file).await?);
    for (browser, key) in [(&colleague.browser, key.as_str()), (&person.browser, "x"), (&person.browser, "")] {
        let refused = confirm(browser, key, false).await?;
        assert!(refused.status == 422 && refused.page.contains("The preview has ended"), "{}", refused.page);
    }
    assert_eq!(confirm(&viewer.browser, &key, false).await?.status, 403);
    // Imports of another tenant are not listed.
    import_text(&gateway, &other, &file, &[])?;
    let list = person.browser.get("/money/imports").await?.page;
    assert!(list.contains("No imports") && !list.contains(&other.entity_id), "{list}");
    assert_eq!(person.browser.get("/money/imports?before=x").await?.status, 404);
    // A right that ends while the confirmation arrives imports nothing.
    let form = person.browser.begin_form("/money/imports/confirmation", &[("upload", &key)]).await?;
    let remove = ["user", "role", "remove", "--mail", "ann@shop.example", "--role", "accountant", "--entity"];
    gateway.run_command(&[&remove[..], &[&*shop.entity_id]].concat())?;
    assert_eq!(form.finish().await?, 404);
    assert!(read_unmatched(&gateway, &shop)?.is_empty());
    Ok(())
}

#[tokio::test]
async fn a_line_is_matched_with_several_payments_whose_open_amounts_add_up() -> anyhow::Result<()> {
    let gateway = TestGateway::start()?;
    let shop = gateway.create_merchant()?;
    let person = enrol(&gateway, "ann", "accountant", &shop).await?;
    let one = pay_externally(&shop, "10.00", "order-0001").await?.id().to_owned();
    let two = pay_externally(&shop, "15.00", "order-0001").await?.id().to_owned();
    import_text(
        &gateway,
        &shop,
        format_file(&[FileLine { order: "order-0001", amount: "25.00", ..Default::default() }]),
        &[],
    )?;
    let lines: Vec<Value> = read_unmatched(&gateway, &shop)?;
    let record = lines.first().and_then(|line| line["recordId"].as_str()).unwrap_or_default().to_owned();
    let list = person.browser.get("/money/unmatched").await?.page;
    assert!(list.contains("Less than a day"), "{list}");
    let page = person.browser.get(&format!("/money/unmatched/{record}")).await?.page;
    assert!(page.contains("id=\"match\""), "{page}");
    let path = format!("/money/unmatched/{record}/match");
    let wrong = person.browser.post(&path, &[("payment", &one), ("payment", "")]).await?;
    assert_eq!(wrong.status, 422, "{}", wrong.page);
    let wrong = person.browser.post(&path, &[("payment", &format!("{one} x"))]).await?;
    assert!(wrong.status == 422 && wrong.page.contains(&one), "{}", wrong.page);
    let typed = format!("{one}\r\n{two}");
    for fields in [&[("payment", typed.as_str())][..], &[("payment", &two), ("payment", &one), ("payment", &one)]] {
        let matched = person.browser.post(&path, fields).await?;
        assert_eq!(matched.status, 303, "{}", matched.page);
    }
    assert!(read_unmatched(&gateway, &shop)?.is_empty());
    assert_eq!(read_euros(&shop, "receivable").await?, 0);
    assert_verified(&gateway)
}
