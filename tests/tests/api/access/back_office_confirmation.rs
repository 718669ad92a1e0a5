//! A fresh second factor for acts on other users and for access tokens, and the change of the mail address.

use serde_json::Value;
use tillgate_tests::{Database, TestGateway};

use crate::access::office_browser::{OfficeBrowser, PASSWORD, Person};

/// Makes the second factors of all sessions older, as time does.
fn age_factors(gateway: &TestGateway) -> anyhow::Result<()> {
    let database = Database::open(&gateway.data_folder())?;
    database.execute("UPDATE user_session SET factor = factor - 600000", [])?;
    Ok(())
}

/// Returns the entries of the audit log with this action.
fn read_entries(gateway: &TestGateway, action: &str) -> anyhow::Result<Vec<Value>> {
    let database = Database::open(&gateway.data_folder())?;
    let mut statement = database.prepare("SELECT CAST(document AS TEXT) FROM audit_entry ORDER BY number")?;
    let documents: Vec<String> = statement.query_map([], |row| row.get(0))?.collect::<Result<_, _>>()?;
    let entries = documents.iter().map(|document| Ok(serde_json::from_str(document)?));
    let entries: Vec<Value> = entries.collect::<anyhow::Result<_>>()?;
    Ok(entries.into_iter().filter(|entry| entry["action"] == action).collect())
}

#[tokio::test]
async fn acts_on_users_and_tokens_ask_for_a_fresh_factor_and_lead_back() -> anyhow::Result<()> {
    let gateway = TestGateway::start()?;
    let merchant = gateway.create_merchant()?;
    let mut person = Person::enrol(&gateway, "first@shop.example", "administrator", None).await?;
    Person::invite(&gateway, "kim@shop.example", "viewer", None)?;
    let (user, entity) = (Person::find_id(&gateway, "kim@shop.example")?, merchant.entity_id.clone());
    age_factors(&gateway)?;
    let forms = [
        ("/users".to_owned(), "/users".to_owned()),
        (format!("/users/{user}/invite"), format!("/users/{user}")),
        (format!("/users/{user}/state"), format!("/users/{user}")),
        (format!("/users/{user}/roles"), format!("/users/{user}")),
        (format!("/administration/entities/{entity}/tokens"), format!("/administration/entities/{entity}")),
    ];
    let sent = [("mail", "new@shop.example"), ("name", "New"), ("role", "viewer"), ("reach", "*"), ("act", "disable")];
    for (path, page) in &forms {
        let asked = person.browser.post(path, &sent).await?;
        let next = format!("/backoffice{page}").replace('/', "%2F");
        assert_eq!(
            (asked.status, asked.header("location")),
            (303, &*format!("/backoffice/account/confirm?next={next}"))
        );
        // Pages are still read.
        assert_eq!(person.browser.get(page).await?.status, 200, "{page}");
    }
    assert_eq!(gateway.run_command(&["user", "list"])?.as_array().map(Vec::len), Some(2));
    let page = format!("/backoffice/users/{user}");
    let shown = person.browser.get(&format!("/account/confirm?next={page}")).await?;
    assert!(shown.page.contains(&format!("name=\"next\" value=\"{page}\"")), "{}", shown.page);
    let wrong = person.browser.post("/account/confirm", &[("next", &page), ("code", "000000")]).await?;
    assert!(wrong.status == 422 && wrong.page.contains(&page));
    assert_eq!(person.browser.post(&forms[2].0, &sent).await?.status, 303);
    let code = person.next_code();
    let confirmed = person.browser.post("/account/confirm", &[("next", &page), ("code", &code)]).await?;
    assert_eq!((confirmed.status, confirmed.header("location")), (303, &*page));
    person.browser.post(&forms[2].0, &[("act", "disable")]).await?;
    let list = gateway.run_command(&["user", "list"])?;
    let kim = list.as_array().into_iter().flatten().find(|user| user["mail"] == "kim@shop.example");
    assert_eq!(kim.map(|user| &user["state"]), Some(&Value::from("disabled")));
    // The fresh factor belongs to one session, and another host is no page to lead to.
    age_factors(&gateway)?;
    let second = OfficeBrowser::new(&gateway);
    person.sign_in_with(&second).await?;
    let asked = person.browser.post("/users", &sent).await?;
    assert!(asked.header("location").starts_with("/backoffice/account/confirm"));
    assert_eq!(second.post("/users", &[("mail", "")]).await?.status, 422);
    let code = person.recovery.pop().unwrap_or_default();
    let fields = [("next", "https://evil.example"), ("code", &*code)];
    assert_eq!(person.browser.post("/account/confirm", &fields).await?.header("location"), "/backoffice");
    Ok(())
}

#[tokio::test]
async fn a_user_signs_in_with_a_changed_mail_address() -> anyhow::Result<()> {
    let gateway = TestGateway::start()?;
    let mut person = Person::enrol(&gateway, "robin@shop.example", "viewer", None).await?;
    let other = OfficeBrowser::new(&gateway);
    person.sign_in_with(&other).await?;
    Person::invite(&gateway, "kim@shop.example", "viewer", None)?;
    for (mail, code) in
        [("new@shop.example", "000000"), ("new", "123456"), ("", "123456"), ("Robin@shop.example", "123456")]
    {
        let refused = person.browser.post("/account/mail", &[("mail", mail), ("code", code)]).await?;
        assert_eq!(refused.status, 422, "{mail}");
    }
    // An address in use is refused like one that is not possible. The code is used up, and the try is recorded.
    let code = person.recovery.pop().unwrap_or_default();
    let taken = person.browser.post("/account/mail", &[("mail", "kim@shop.example"), ("code", &code)]).await?;
    let invalid = person.browser.post("/account/mail", &[("mail", "kim"), ("code", &code)]).await?;
    assert_eq!((taken.status, invalid.status), (422, 422));
    assert!([&taken, &invalid].iter().all(|answer| answer.page.contains("This e-mail address cannot be used.")));
    let again = person.browser.post("/account/mail", &[("mail", "new@shop.example"), ("code", &code)]).await?;
    assert!(again.page.contains("code is wrong"));
    assert_eq!(read_entries(&gateway, "user mail-refuse")?.len(), 1);
    assert!(other.is_signed_in().await?);
    let code = person.recovery.pop().unwrap_or_default();
    let changed = person.browser.post("/account/mail", &[("mail", " New@Shop.example "), ("code", &code)]).await?;
    assert_eq!((changed.status, changed.header("location")), (303, "/backoffice/account?done=mail_changed"));
    assert!(person.browser.get("/account").await?.page.contains("new@shop.example"));
    assert!(person.browser.is_signed_in().await? && !other.is_signed_in().await?);
    let entries = read_entries(&gateway, "user mail")?;
    assert_eq!(entries[0]["details"]["from"], "robin@shop.example");
    assert_eq!(entries[0]["details"]["to"], "new@shop.example");
    let old = other.post("/sign-in", &[("mail", "robin@shop.example"), ("password", PASSWORD)]).await?;
    assert_eq!(old.status, 401);
    person.mail = "new@shop.example".to_owned();
    let password = other.post("/sign-in", &[("mail", &person.mail), ("password", PASSWORD)]).await?;
    assert_eq!(password.status, 303);
    let code = person.recovery.pop().unwrap_or_default();
    assert_eq!(other.post("/sign-in/factor", &[("code", &code)]).await?.status, 303);
    assert!(other.is_signed_in().await?);
    Ok(())
}
