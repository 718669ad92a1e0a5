//! Disputes in the back office: the list, one dispute with its files, the merchant's answers, and attacks on them.

use anyhow::Context as _;
use futures_util::future::join_all;
use serde_json::Value;
use tillgate_tests::{Database, MerchantClient, TestGateway};

use crate::access::office_browser::{OfficeBrowser, Person};
use crate::dispute::evidence::{png_file, upload};
use crate::support::*;

/// Acts of the page of a dispute, each with fields that make it possible.
const ACTS: [(&str, &[(&str, &str)]); 2] =
    [("representment", &[("note", "The parcel was signed for")]), ("acceptance", &[])];
/// A text with markup.
const HOSTILE: &str = "\"><script>alert(1)</script>";

/// A shop below a division that reports what the institute decides, and an accountant of the shop.
struct MoneyScene {
    gateway: TestGateway,
    shop: MerchantClient,
    institute: MerchantClient,
    person: Person,
}

impl MoneyScene {
    async fn open() -> anyhow::Result<Self> {
        let gateway = TestGateway::start()?;
        let (shop, institute) = create_shop(&gateway)?;
        let person = Person::enrol(&gateway, "ann@shop.example", "accountant", Some(&shop.entity_id)).await?;
        Ok(Self { gateway, shop, institute, person })
    }

    fn browser(&self) -> &OfficeBrowser {
        &self.person.browser
    }
}

/// Creates a shop. Returns it, and the same with the token of the division above it.
fn create_shop(gateway: &TestGateway) -> anyhow::Result<(MerchantClient, MerchantClient)> {
    let division = gateway.create_merchant_with(&["--level", "division"])?;
    let shop = gateway.create_merchant_with(&["--parent", &division.entity_id])?;
    let institute = MerchantClient { token: division.token, ..shop.clone() };
    Ok((shop, institute))
}

/// Pays, and opens a dispute with a chargeback. Returns the ids of the dispute and the payment.
async fn charge_back(institute: &MerchantClient, fields: &[(&str, &str)]) -> anyhow::Result<(String, String)> {
    let paid = institute.pay_by_card(&[("merchantTransactionId", HOSTILE)]).await?.id().to_owned();
    let report = [("paymentId", paid.as_str()), ("stage", "CHARGEBACK"), ("chargebackResultCode", "000.100.203")];
    let opened = institute.post("v1/disputes", &[&report, fields].concat()).await?;
    assert_eq!(opened.status, 200, "{}", opened.text);
    Ok((opened.id().to_owned(), paid))
}

/// Adds a file to a dispute. Returns its id.
async fn add_file(shop: &MerchantClient, dispute: &str, name: &str) -> anyhow::Result<String> {
    let added = upload(shop, &format!("v1/disputes/{dispute}/evidence"), name, "image/png", &png_file(9)).await?;
    assert_eq!(added.status, 200, "{}", added.text);
    Ok(added.id().to_owned())
}

/// Returns stage, actor and note of the latest step, and the number of steps.
async fn read_latest_step(shop: &MerchantClient, dispute: &str) -> anyhow::Result<(String, Value, Value, usize)> {
    let read = shop.get(&format!("v1/disputes/{dispute}")).await?;
    let steps = read.json["steps"].as_array().cloned().unwrap_or_default();
    let last = steps.last().context("no step")?;
    let stage = read.json["stage"].as_str().unwrap_or_default().to_owned();
    Ok((stage, last["actor"].clone(), last["note"].clone(), steps.len()))
}

/// Returns the disputes of a page of the list, in their order.
async fn list(browser: &OfficeBrowser, query: &str) -> anyhow::Result<Vec<String>> {
    let answer = browser.get(&format!("/money/disputes{query}")).await?;
    assert_eq!(answer.status, 200, "{query}");
    let rows = answer.page.split("<th scope=\"row\"").skip(1);
    let ids = rows.filter_map(|row| row.split_once("/backoffice/money/disputes/")?.1.get(..32));
    Ok(ids.map(str::to_owned).collect())
}

/// Asserts that nobody has answered a dispute.
async fn assert_unanswered(shop: &MerchantClient, dispute: &str) -> anyhow::Result<()> {
    let (stage, .., steps) = read_latest_step(shop, dispute).await?;
    assert_eq!((stage.as_str(), steps), ("CHARGEBACK", 1));
    Ok(())
}

#[tokio::test]
async fn an_accountant_contests_a_dispute_with_a_note_and_accepts_another() -> anyhow::Result<()> {
    let scene = MoneyScene::open().await?;
    let browser = scene.browser();
    let (contested, paid) = charge_back(&scene.institute, &[("schemeReasonCode", "10.4")]).await?;
    let (accepted, _) = charge_back(&scene.institute, &[]).await?;
    let payment = browser.get(&format!("/payments/{paid}")).await?.page;
    assert!(payment.contains(&format!("href=\"/backoffice/money/disputes/{contested}\"")), "{payment}");
    let home = browser.get("").await?.page;
    assert!(home.contains(&format!("href=\"/backoffice/money/disputes/{contested}\"")), "{home}");
    let page = browser.get(&format!("/money/disputes/{contested}")).await?.page;
    for text in ["92.00 EUR", "Charged back", "29 d 23 h", "10.4", "000.100.203", "Needed, because", &paid] {
        assert!(page.contains(text), "{text} in {page}");
    }
    assert!(!page.contains("<script>alert"), "{page}");

    let path = format!("/money/disputes/{contested}");
    let note = [("note", "Signed for\r\nby <b>Jane</b>")];
    let representment = format!("{path}/representment");
    // A form that is sent several times at once answers once.
    for answer in join_all((0..3).map(|_| browser.post(&representment, &note))).await {
        let answer = answer?;
        assert_eq!(answer.status, 303, "{}", answer.page);
        assert_eq!(answer.header("location"), format!("/backoffice{path}?done=dispute_represented"));
    }
    let user = format!("user {}", Person::find_id(&scene.gateway, &scene.person.mail)?);
    let (stage, actor, note, steps) = read_latest_step(&scene.shop, &contested).await?;
    assert_eq!(
        (stage.as_str(), &actor, &note, steps),
        ("REPRESENTMENT", &user.clone().into(), &"Signed for\nby <b>Jane</b>".into(), 2)
    );
    let page = browser.get(&format!("{path}?done=dispute_represented")).await?.page;
    assert!(page.contains("Your answer is sent.") && page.contains("by &lt;b&gt;Jane&lt;/b&gt;"), "{page}");
    assert!(page.contains("Waits for the institute") && page.contains("Robin Quill"), "{page}");
    assert!(!page.contains("/representment\"") && !page.contains("/acceptance\""), "{page}");

    let answer = browser.post(&format!("/money/disputes/{accepted}/acceptance"), &[]).await?;
    assert_eq!(answer.status, 303, "{}", answer.page);
    assert_eq!(read_latest_step(&scene.shop, &accepted).await?.0, "ACCEPTED");
    // The audit log names the user and the address.
    let database = open_database(&scene.gateway)?;
    let query = "SELECT CAST(document AS TEXT) FROM audit_entry ORDER BY number";
    let entries: Vec<String> = database.prepare(query)?.query_map([], |row| row.get(0))?.collect::<Result<_, _>>()?;
    let entries: Vec<Value> = entries.iter().map(|entry| serde_json::from_str(entry)).collect::<Result<_, _>>()?;
    let is_by_user = |entry: &&Value| entry["action"] == "dispute" && entry["actor"] == user.as_str();
    let by_user: Vec<_> = entries.iter().filter(is_by_user).collect();
    assert_eq!(by_user.len(), 2, "{by_user:?}");
    assert!(by_user.iter().all(|entry| entry["details"]["address"] == "127.0.0.1"), "{by_user:?}");
    Ok(())
}

#[tokio::test]
async fn a_refused_answer_changes_nothing_and_keeps_what_was_typed() -> anyhow::Result<()> {
    let scene = MoneyScene::open().await?;
    let (dispute, _) = charge_back(&scene.institute, &[]).await?;
    let path = format!("/money/disputes/{dispute}/representment");
    let long = "x".repeat(1001);
    for note in ["", " ", "card 4200000000000000", "a\u{7}b", long.as_str(), &format!("{HOSTILE}\u{7}")] {
        let refused = scene.browser().post(&path, &[("note", note)]).await?;
        assert_eq!(refused.status, 422, "{note}: {}", refused.page);
        assert!(refused.page.contains("note may"), "{note}: {}", refused.page);
        assert!(!refused.page.contains("<script>alert"), "{}", refused.page);
    }
    let refused = scene.browser().post(&path, &[("note", "kept <i> text\u{7}")]).await?;
    assert!(refused.page.contains("kept &lt;i&gt; text"), "{}", refused.page);
    assert_unanswered(&scene.shop, &dispute).await?;
    // A file stands for the note.
    add_file(&scene.shop, &dispute, "receipt.png").await?;
    assert_eq!(scene.browser().post(&path, &[]).await?.status, 303);
    // The institute decides now, so that the merchant cannot accept any more.
    let late = scene.browser().post(&format!("/money/disputes/{dispute}/acceptance"), &[]).await?;
    assert_eq!(late.status, 422);
    assert!(late.page.contains("awaits the institute"), "{}", late.page);
    Ok(())
}

#[tokio::test]
async fn open_disputes_are_in_the_order_of_their_deadlines_and_every_page_continues_the_one_before()
-> anyhow::Result<()> {
    let scene = MoneyScene::open().await?;
    let mut expected = Vec::new();
    for number in 0..27_u32 {
        // Neither the order of opening nor its reverse.
        let days = 1 + number * 10 % 27;
        let (dispute, _) = charge_back(&scene.institute, &[("responseDays", &days.to_string())]).await?;
        expected.push((days, dispute));
    }
    expected.sort();
    let mut expected: Vec<String> = expected.into_iter().map(|(_, dispute)| dispute).collect();
    // One that waits for the institute has no deadline, and comes last.
    let contested = expected.remove(3);
    let answered = scene.shop.post(&format!("v1/disputes/{contested}/representment"), &[("note", "delivered")]).await?;
    assert_eq!(answered.status, 200, "{}", answered.text);
    expected.push(contested.clone());
    let first = scene.browser().get("/money/disputes").await?;
    let next = first.between("<a class=\"button\" href=\"/backoffice/money/disputes", "\" rel=\"next\"");
    let next = next.context(first.page.clone())?.replace("&amp;", "&");
    let pages = [list(scene.browser(), "").await?, list(scene.browser(), &next).await?];
    assert_eq!(pages[0].len(), 25);
    assert_eq!(pages.concat(), expected);
    let last = scene.browser().get(&format!("/money/disputes{next}")).await?;
    assert!(!last.page.contains("rel=\"next\""), "{}", last.page);

    for (view, count) in [("all", 25), ("won", 0), ("lost", 0)] {
        assert_eq!(list(scene.browser(), &format!("?view={view}")).await?.len(), count, "{view}");
    }
    let lost = &expected[0];
    scene.shop.post(&format!("v1/disputes/{lost}/accept"), &[]).await?;
    scene.institute.post(&format!("v1/disputes/{contested}/advance"), &[("stage", "REVERSAL")]).await?;
    assert_eq!(list(scene.browser(), "?view=won").await?, [contested]);
    assert_eq!(list(scene.browser(), "?view=lost").await?, std::slice::from_ref(lost));
    for place in ["x", "_", "x_8a", "2026-01-01_8a", "'_'"] {
        assert_eq!(scene.browser().get(&format!("/money/disputes?before={place}")).await?.status, 404, "{place}");
    }
    Ok(())
}

#[tokio::test]
async fn an_evidence_file_is_stored_by_the_browser_and_never_shown() -> anyhow::Result<()> {
    let scene = MoneyScene::open().await?;
    let (dispute, _) = charge_back(&scene.institute, &[]).await?;
    let name = "../../x\"; filename=evil.html\r\nset-cookie: a=b\r\n\r\n<script>alert(1)</script>.html";
    let file = add_file(&scene.shop, &dispute, name).await?;
    // Also a name that another version has stored.
    let stored = add_file(&scene.shop, &dispute, "old.png").await?;
    let database = Database::open(&scene.gateway.data_folder())?;
    let query = "SELECT document FROM evidence WHERE id = ?1";
    let document: Vec<u8> = database.query_row(query, [&stored], |row| row.get(0))?;
    let mut document: Value = serde_json::from_slice(&document)?;
    document["name"] = name.into();
    let changed = rusqlite::params![stored, serde_json::to_vec(&document)?];
    database.execute("UPDATE evidence SET document = ?2 WHERE id = ?1", changed)?;
    let page = scene.browser().get(&format!("/money/disputes/{dispute}")).await?.page;
    assert!(!page.contains("<script>alert"), "{page}");
    for file in [file, stored] {
        let address = format!("/money/disputes/{dispute}/evidence/{file}");
        assert!(page.contains(&format!("href=\"/backoffice{address}\"")), "{page}");
        let answer = scene.browser().get(&address).await?;
        assert_eq!(answer.status, 200, "{}", answer.page);
        let content = png_file(9);
        assert_eq!(answer.header("content-length"), content.len().to_string());
        assert_eq!(answer.page, String::from_utf8_lossy(&content));
        let disposition = answer.header("content-disposition");
        let named = disposition.strip_prefix("attachment; filename=\"").and_then(|rest| rest.strip_suffix('"'));
        let named = named.context(disposition.to_owned())?;
        assert!(!named.contains(['"', '/', '\\', ';', '\r', '\n', '<']), "{named}");
        assert_eq!(answer.header("content-type"), "image/png");
        assert_eq!(answer.header("x-content-type-options"), "nosniff");
        assert_eq!(answer.header("content-security-policy"), "default-src 'none'; sandbox");
        assert_eq!(answer.header("cache-control"), "no-store");
        assert_eq!(answer.header("set-cookie"), "");
    }
    Ok(())
}

#[tokio::test]
async fn a_dispute_of_another_tenant_is_as_unknown_as_one_that_does_not_exist() -> anyhow::Result<()> {
    let scene = MoneyScene::open().await?;
    let (other, institute) = create_shop(&scene.gateway)?;
    let (own, _) = charge_back(&scene.institute, &[]).await?;
    let own_file = add_file(&scene.shop, &own, "own.png").await?;
    let (foreign, foreign_payment) = charge_back(&institute, &[]).await?;
    let file = add_file(&other, &foreign, "secret.png").await?;
    let browser = scene.browser();
    let unknown = "8a000000000000000000000000000000";
    let nothing = browser.get(&format!("/money/disputes/{unknown}")).await?;
    assert_eq!(nothing.status, 404);
    for address in [
        format!("/money/disputes/{foreign}"),
        format!("/money/disputes/{foreign}?done=dispute_accepted"),
        format!("/money/disputes/{foreign}/evidence/{file}"),
        format!("/money/disputes/{own}/evidence/{file}"),
        format!("/money/disputes/{foreign}/evidence/{own_file}"),
        format!("/money/disputes/{own}/evidence/{unknown}"),
        format!("/money/disputes/{foreign_payment}"),
        format!("/money/disputes/{own}/evidence/..%2f{file}"),
    ] {
        let answer = browser.get(&address).await?;
        assert_eq!(answer.status, 404, "{address}");
        assert!(!answer.page.contains("secret.png") && !answer.page.contains("92.00"), "{address}: {}", answer.page);
    }
    for (act, fields) in ACTS {
        let answer = browser.post(&format!("/money/disputes/{foreign}/{act}"), fields).await?;
        assert_eq!((answer.status, &answer.page), (404, &nothing.page), "{act}");
    }
    for query in ["", "?view=all", &format!("?view=all&before=_{foreign}")] {
        assert!(!list(browser, query).await?.contains(&foreign), "{query}");
    }
    assert_eq!(list(browser, "?view=all").await?, [own]);
    assert_unanswered(&other, &foreign).await?;
    // Somebody without any right on money sees no dispute, and no link to one.
    let developer = Person::enrol(&scene.gateway, "dev@other.example", "developer", Some(&other.entity_id)).await?;
    for address in [format!("/money/disputes/{foreign}"), format!("/money/disputes/{foreign}/evidence/{file}")] {
        assert_eq!(developer.browser.get(&address).await?.status, 403, "{address}");
    }
    let payment = developer.browser.get(&format!("/payments/{foreign_payment}")).await?;
    assert!(payment.status == 200 && !payment.page.contains("/money/"), "{}", payment.page);
    Ok(())
}

#[tokio::test]
async fn who_may_only_see_a_dispute_gets_no_form_and_changes_nothing() -> anyhow::Result<()> {
    let scene = MoneyScene::open().await?;
    let (dispute, _) = charge_back(&scene.institute, &[]).await?;
    let file = add_file(&scene.shop, &dispute, "receipt.png").await?;
    let (other, _) = create_shop(&scene.gateway)?;
    for role in ["viewer", "merchant"] {
        let mail = format!("{role}@shop.example");
        let person = Person::enrol(&scene.gateway, &mail, role, Some(&scene.shop.entity_id)).await?;
        let page = person.browser.get(&format!("/money/disputes/{dispute}")).await?;
        assert_eq!(page.status, 200, "{role}");
        assert!(!page.page.contains("/representment\"") && !page.page.contains("/acceptance\""), "{}", page.page);
        assert_eq!(person.browser.get(&format!("/money/disputes/{dispute}/evidence/{file}")).await?.status, 200);
        for (act, fields) in ACTS {
            let path = format!("/money/disputes/{dispute}/{act}");
            assert_eq!(person.browser.post(&path, fields).await?.status, 403, "{role} {act}");
        }
    }
    // The right to answer the disputes of another shop is no right here.
    let mail = "viewer@shop.example";
    let add = ["user", "role", "add", "--mail", mail, "--role", "accountant", "--entity", &other.entity_id];
    let added = scene.gateway.run_command(&add)?;
    let link = added["link"].as_str().context("no link")?;
    let link = link.split_once("/backoffice").map_or("", |(_, path)| path).to_owned();
    let person = Person::accept(&scene.gateway, &link, mail).await?;
    for (act, fields) in ACTS {
        let refused = person.browser.post(&format!("/money/disputes/{dispute}/{act}"), fields).await?;
        assert_eq!(refused.status, 403, "{act}");
        assert!(refused.page.contains("data-permission=\"change-money\""), "{act}: {}", refused.page);
    }
    assert_unanswered(&scene.shop, &dispute).await
}

#[tokio::test]
async fn a_right_that_ends_while_an_answer_arrives_changes_nothing() -> anyhow::Result<()> {
    let scene = MoneyScene::open().await?;
    let (dispute, _) = charge_back(&scene.institute, &[]).await?;
    let entity = scene.shop.entity_id.as_str();
    let lose_role =
        vec!["user", "role", "remove", "--mail", "ann@shop.example", "--role", "accountant", "--entity", entity];
    let disable = vec!["user", "disable", "--mail", "ben@shop.example"];
    let ben = Person::enrol(&scene.gateway, "ben@shop.example", "accountant", Some(entity)).await?;
    for (browser, end) in [(scene.browser(), lose_role), (&ben.browser, disable)] {
        let mut forms = Vec::new();
        for (act, fields) in ACTS {
            // Without a field there would be no body to wait for.
            let fields = [fields, &[("x", "y")]].concat();
            forms.push(browser.begin_form(&format!("/money/disputes/{dispute}/{act}"), &fields).await?);
        }
        scene.gateway.run_command(&end)?;
        for form in forms {
            assert_eq!(form.finish().await?, 404, "{end:?}");
        }
    }
    assert_unanswered(&scene.shop, &dispute).await
}
