//! Passkeys in the back office: adding, removing, both ways of the sign-in, and the answers that are refused.

use anyhow::{Context as _, ensure};
use serde_json::{Value, json};
use tillgate_tests::{Database, TestGateway};

use crate::access::office_browser::{Answer, OfficeBrowser, PASSWORD, Person};
use crate::access::passkey_device::PasskeyDevice;

/// Opens a browser in which the gateway has a host name.
fn open_browser(gateway: &TestGateway) -> OfficeBrowser {
    let mut browser = OfficeBrowser::new(gateway);
    browser.headers.push(("host", origin_of(gateway).trim_start_matches("http://").to_owned()));
    browser
}

fn origin_of(gateway: &TestGateway) -> String {
    gateway.public_url().trim_end_matches('/').to_owned()
}

/// Creates a user who is signed in under the host name.
async fn enrol(gateway: &TestGateway, mail: &str) -> anyhow::Result<Person> {
    let mut person = Person::enrol(gateway, mail, "viewer", None).await?;
    let browser = open_browser(gateway);
    browser.set_cookie("tillgate-session", &person.browser.session());
    person.browser = browser;
    Ok(person)
}

fn read_json(answer: &Answer) -> anyhow::Result<Value> {
    ensure!(answer.status == 200, "{} {}", answer.status, answer.page);
    Ok(serde_json::from_str(&answer.page)?)
}

/// Begins to add a passkey. Returns the options for the device.
async fn begin(person: &mut Person, name: &str) -> anyhow::Result<Value> {
    let code = person.next_code();
    let begun = person.browser.post_json("/account/passkeys/challenge", &json!({ "name": name, "code": code })).await?;
    read_json(&begun)
}

/// Adds a passkey to a user.
async fn add(gateway: &TestGateway, person: &mut Person, name: &str) -> anyhow::Result<PasskeyDevice> {
    let mut device = PasskeyDevice::new(&origin_of(gateway), &format!("{} {name}", person.mail))?;
    let options = begin(person, name).await?;
    let added = person.browser.post_json("/account/passkeys", &device.create(&options)?).await?;
    assert_eq!(read_json(&added)?["location"], "/backoffice/account?done=passkey_added");
    device.counter += 1;
    Ok(device)
}

/// Returns the options for a sign-in without a user name.
async fn ask(browser: &OfficeBrowser) -> anyhow::Result<Value> {
    read_json(&browser.post_json("/sign-in/passkey/challenge", &json!({})).await?)
}

/// Signs in with a passkey alone. Returns the answer.
async fn sign_in(browser: &OfficeBrowser, device: &PasskeyDevice) -> anyhow::Result<Answer> {
    let options = ask(browser).await?;
    browser.post_json("/sign-in/passkey", &device.get(&options)?).await
}

/// Returns the actions in the audit log about passkeys.
fn read_acts(gateway: &TestGateway) -> anyhow::Result<Vec<String>> {
    let database = Database::open(&gateway.data_folder())?;
    let mut statement = database.prepare("SELECT CAST(document AS TEXT) FROM audit_entry ORDER BY number")?;
    let documents: Vec<String> = statement.query_map([], |row| row.get(0))?.collect::<Result<_, _>>()?;
    let mut acts = Vec::new();
    for document in documents {
        let entry: Value = serde_json::from_str(&document)?;
        let action = entry["action"].as_str().unwrap_or_default();
        if action.starts_with("user passkey") || entry["details"]["factor"] == "passkey" {
            acts.push(action.to_owned());
        }
    }
    Ok(acts)
}

/// Counts the passkeys in the store.
fn count_passkeys(gateway: &TestGateway) -> anyhow::Result<i64> {
    let database = Database::open(&gateway.data_folder())?;
    Ok(database.query_row("SELECT count(*) FROM passkey", [], |row| row.get(0))?)
}

#[tokio::test]
async fn a_passkey_is_added_signs_in_alone_and_after_the_password_and_is_removed() -> anyhow::Result<()> {
    let gateway = TestGateway::start()?;
    let mut person = enrol(&gateway, "robin@shop.example").await?;
    let other = open_browser(&gateway);
    person.sign_in_with(&other).await?;
    let mut device = add(&gateway, &mut person, "Blue <b>key</b>").await?;
    // A new credential ends the other sessions, as a new password does.
    assert!(person.browser.is_signed_in().await? && !other.is_signed_in().await?);
    let account = person.browser.get("/account").await?;
    assert!(account.page.contains("Blue &lt;b&gt;key&lt;/b&gt;") && account.page.contains("Never"));
    assert!(account.header("content-security-policy").contains("connect-src 'self'"));
    let browser = open_browser(&gateway);
    let options = ask(&browser).await?;
    assert_eq!(options["publicKey"]["allowCredentials"], json!([]));
    let signed_in = browser.post_json("/sign-in/passkey", &device.get(&options)?).await?;
    assert_eq!(read_json(&signed_in)?["location"], "/backoffice/payments");
    assert!(browser.is_signed_in().await?);
    assert!(!browser.get("/account").await?.page.contains("Never"));
    device.counter += 1;
    let second = open_browser(&gateway);
    second.post("/sign-in", &[("mail", &person.mail), ("password", PASSWORD)]).await?;
    assert!(second.get("/sign-in/factor").await?.page.contains("Use a passkey instead"));
    let options = read_json(&second.post_json("/sign-in/factor/challenge", &json!({})).await?)?;
    let allowed = json!([{ "type": "public-key", "id": device.id() }]);
    assert_eq!(options["publicKey"]["allowCredentials"], allowed);
    let pending = second.session();
    assert_eq!(second.post_json("/sign-in/factor/passkey", &device.get(&options)?).await?.status, 200);
    assert!(second.is_signed_in().await?);
    // The token from before the second factor is worth nothing.
    assert_ne!(second.session(), pending);
    // A passkey confirms a session as well, once.
    device.counter += 1;
    let options = read_json(&second.post_json("/account/confirm/challenge", &json!({})).await?)?;
    let answer = device.get(&options)?;
    let confirmed = second.post_json("/account/confirm/passkey", &answer).await?;
    assert_eq!(read_json(&confirmed)?["location"], "/backoffice/payments");
    assert_eq!(second.post_json("/account/confirm/passkey", &answer).await?.status, 422);
    let id = account.between("<option value=\"", "\"").context("no passkey")?.to_owned();
    for (code, status) in [("000000".to_owned(), 422), (person.next_code(), 303)] {
        let removed = person.browser.post("/account/passkeys/remove", &[("passkey", &id), ("code", &code)]).await?;
        assert_eq!(removed.status, status, "{code}");
    }
    assert!(!second.is_signed_in().await? && person.browser.is_signed_in().await?);
    device.counter += 1;
    assert_eq!(sign_in(&browser, &device).await?.status, 401);
    let acts = ["user passkey-add", "user sign-in", "user sign-in", "user passkey-remove"];
    assert_eq!(read_acts(&gateway)?, acts);
    Ok(())
}

#[tokio::test]
async fn an_answer_from_elsewhere_or_used_or_without_a_verified_user_signs_nobody_in() -> anyhow::Result<()> {
    let gateway = TestGateway::start()?;
    let mut person = enrol(&gateway, "robin@shop.example").await?;
    let mut device = add(&gateway, &mut person, "key").await?;
    let browser = open_browser(&gateway);
    let own = device.origin.clone();
    for origin in ["http://evil.example", "https://pay.localhost", "http://pay.localhost:1", "http://localhost"] {
        origin.clone_into(&mut device.origin);
        assert_eq!(sign_in(&browser, &device).await?.status, 401, "{origin}");
    }
    device.origin = own;
    device.verifies = false;
    assert_eq!(sign_in(&browser, &device).await?.status, 401);
    device.verifies = true;
    // A challenge is used up by a wrong answer as well, and one of another browser is worth nothing.
    let options = ask(&browser).await?;
    let mut wrong = device.get(&options)?;
    wrong["answer"]["response"]["signature"] = json!("MAYCAQECAQE");
    let challenge = browser.cookie("tillgate-challenge").context("no challenge")?;
    assert_eq!(browser.post_json("/sign-in/passkey", &wrong).await?.status, 401);
    browser.set_cookie("tillgate-challenge", &challenge);
    assert_eq!(browser.post_json("/sign-in/passkey", &device.get(&options)?).await?.status, 401);
    let (mine, theirs) = (ask(&browser).await?, ask(&open_browser(&gateway)).await?);
    assert_eq!(browser.post_json("/sign-in/passkey", &device.get(&theirs)?).await?.status, 401);
    assert_eq!(browser.post_json("/sign-in/passkey", &device.get(&mine)?).await?.status, 401);
    // The right answer works once.
    let options = ask(&browser).await?;
    let challenge = browser.cookie("tillgate-challenge").context("no challenge")?;
    let answer = device.get(&options)?;
    assert_eq!(browser.post_json("/sign-in/passkey", &answer).await?.status, 200);
    let thief = open_browser(&gateway);
    thief.set_cookie("tillgate-challenge", &challenge);
    assert_eq!(thief.post_json("/sign-in/passkey", &answer).await?.status, 401);
    assert!(!thief.is_signed_in().await?);
    Ok(())
}

#[tokio::test]
async fn a_counter_that_goes_back_is_refused_and_recorded() -> anyhow::Result<()> {
    let gateway = TestGateway::start()?;
    let mut person = enrol(&gateway, "robin@shop.example").await?;
    let mut device = add(&gateway, &mut person, "key").await?;
    device.counter = 7;
    let browser = open_browser(&gateway);
    assert_eq!(sign_in(&browser, &device).await?.status, 200);
    for counter in [7, 3, 0] {
        device.counter = counter;
        assert_eq!(sign_in(&open_browser(&gateway), &device).await?.status, 401, "{counter}");
    }
    let second = open_browser(&gateway);
    second.post("/sign-in", &[("mail", &person.mail), ("password", PASSWORD)]).await?;
    let options = read_json(&second.post_json("/sign-in/factor/challenge", &json!({})).await?)?;
    assert_eq!(second.post_json("/sign-in/factor/passkey", &device.get(&options)?).await?.status, 401);
    assert!(!second.is_signed_in().await?);
    let refused = read_acts(&gateway)?.iter().filter(|action| *action == "user passkey-refuse").count();
    assert_eq!(refused, 4);
    gateway.wait_for_log("its counter went back").await?;
    Ok(())
}

#[tokio::test]
async fn a_passkey_is_added_only_after_a_factor_in_the_same_session() -> anyhow::Result<()> {
    let gateway = TestGateway::start()?;
    let mut person = enrol(&gateway, "robin@shop.example").await?;
    let mut other = enrol(&gateway, "kim@shop.example").await?;
    let mut device = PasskeyDevice::new(&origin_of(&gateway), "key")?;
    // Without a factor there is no challenge, and a challenge of the sign-in adds nothing.
    for (name, code) in [("key", "000000"), ("key", ""), ("", "123456"), ("a\nb", "123456")] {
        let begun =
            person.browser.post_json("/account/passkeys/challenge", &json!({ "name": name, "code": code })).await?;
        assert_eq!(begun.status, 422, "{name:?} {code:?}");
    }
    let mut options = ask(&person.browser).await?;
    options["publicKey"]["rp"] = json!({ "id": "pay.localhost" });
    options["publicKey"]["user"] = json!({ "id": "AAAA" });
    assert_eq!(person.browser.post_json("/account/passkeys", &device.create(&options)?).await?.status, 422);
    // The challenge of another user or another session of the same user adds nothing.
    let options = begin(&mut other, "key").await?;
    let stolen = other.browser.cookie("tillgate-challenge").context("no challenge")?;
    person.browser.set_cookie("tillgate-challenge", &stolen);
    assert_eq!(person.browser.post_json("/account/passkeys", &device.create(&options)?).await?.status, 422);
    let second = open_browser(&gateway);
    person.sign_in_with(&second).await?;
    let options = begin(&mut person, "key").await?;
    second.set_cookie("tillgate-challenge", &person.browser.cookie("tillgate-challenge").context("no challenge")?);
    assert_eq!(second.post_json("/account/passkeys", &device.create(&options)?).await?.status, 422);
    // The failed try has used the challenge up.
    assert_eq!(person.browser.post_json("/account/passkeys", &device.create(&options)?).await?.status, 422);
    let options = begin(&mut person, "key").await?;
    let answer = device.create(&options)?;
    person.browser.post("/sign-out", &[]).await?;
    assert_eq!(person.browser.post_json("/account/passkeys", &answer).await?.status, 303);
    assert_eq!(count_passkeys(&gateway)?, 0);
    Ok(())
}

#[tokio::test]
async fn requests_that_the_script_does_not_send_are_refused() -> anyhow::Result<()> {
    let gateway = TestGateway::start()?;
    let person = enrol(&gateway, "robin@shop.example").await?;
    let paths = [
        "/sign-in/passkey/challenge",
        "/sign-in/passkey",
        "/sign-in/factor/challenge",
        "/sign-in/factor/passkey",
        "/account/passkeys/challenge",
        "/account/passkeys",
        "/account/confirm/challenge",
        "/account/confirm/passkey",
    ];
    let large = json!({ "name": "a".repeat(17_000) }).to_string();
    for path in paths {
        for (kind, body, status) in [
            ("text/plain", "{}".to_owned(), 415),
            ("application/x-www-form-urlencoded", "a=b".to_owned(), 415),
            ("application/json", large.clone(), 413),
            ("application/json", "{".to_owned(), 400),
            ("application/json", "[".repeat(9_000), 400),
        ] {
            let answer = person.browser.send_body(reqwest::Method::POST, path, Some((kind, body))).await?;
            assert_eq!(answer.status, status, "{path} {kind}");
        }
        for document in [json!(null), json!([]), json!({ "answer": 1 }), json!({ "answer": { "id": "x" } })] {
            let status = person.browser.post_json(path, &document).await?.status;
            assert!([200, 401, 422].contains(&status), "{path} {document}: {status}");
        }
        let mut foreign = open_browser(&gateway);
        foreign.set_cookie("tillgate-session", &person.browser.session());
        foreign.headers.retain(|(name, _)| *name != "sec-fetch-site");
        foreign.headers.push(("sec-fetch-site", "cross-site".to_owned()));
        assert_eq!(foreign.post_json(path, &json!({})).await?.status, 403, "{path}");
        // An address has no passkeys.
        let numbered = OfficeBrowser::new(&gateway);
        numbered.set_cookie("tillgate-session", &person.browser.session());
        assert_eq!(numbered.post_json(path, &json!({})).await?.status, 409, "{path}");
    }
    let numbered = OfficeBrowser::new(&gateway);
    assert!(!numbered.get("/sign-in").await?.page.contains("data-passkey"));
    assert!(person.browser.get("/account").await?.page.contains("data-passkey=\"create\""));
    numbered.set_cookie("tillgate-session", &person.browser.session());
    let account = numbered.get("/account").await?;
    assert!(account.page.contains("such as localhost") && !account.page.contains("data-passkey=\"create\""));
    Ok(())
}

#[tokio::test]
async fn the_sign_in_with_a_passkey_says_nothing_about_users_and_has_a_limit() -> anyhow::Result<()> {
    let gateway = TestGateway::start()?;
    let mut person = enrol(&gateway, "robin@shop.example").await?;
    let device = add(&gateway, &mut person, "key").await?;
    let mut unknown = PasskeyDevice::new(&origin_of(&gateway), "unknown")?;
    let mut made = ask(&open_browser(&gateway)).await?;
    made["publicKey"]["rp"] = json!({ "id": "pay.localhost" });
    made["publicKey"]["user"] = json!({ "id": "AAAAAAAAAAAAAAAAAAAAAA" });
    unknown.create(&made)?;
    let user = Person::find_id(&gateway, &person.mail)?;
    let invalid = sign_in(&open_browser(&gateway), &unknown).await?;
    let administrator = Person::enrol(&gateway, "first@shop.example", "administrator", None).await?;
    administrator.browser.post(&format!("/users/{user}/state"), &[("act", "disable")]).await?;
    let disabled = sign_in(&open_browser(&gateway), &device).await?;
    assert_eq!((invalid.status, &invalid.page), (disabled.status, &disabled.page));
    assert_eq!(invalid.status, 401);
    let mut statuses = Vec::new();
    for _ in 0..70 {
        let answer = match open_browser(&gateway).post_json("/sign-in/passkey/challenge", &json!({})).await? {
            refused if refused.status != 200 => refused,
            begun => {
                let browser = open_browser(&gateway);
                let token = begun.header("set-cookie").split([';', '=']).nth(1).context("no challenge")?.to_owned();
                browser.set_cookie("tillgate-challenge", &token);
                browser.post_json("/sign-in/passkey", &unknown.get(&serde_json::from_str(&begun.page)?)?).await?
            }
        };
        statuses.push(answer.status);
    }
    assert_eq!(statuses.last(), Some(&429), "{statuses:?}");
    Ok(())
}

#[tokio::test]
async fn a_new_invitation_and_the_end_of_a_user_remove_the_passkeys() -> anyhow::Result<()> {
    let gateway = TestGateway::start()?;
    let mut person = enrol(&gateway, "robin@shop.example").await?;
    let device = add(&gateway, &mut person, "key").await?;
    let renewed =
        gateway.run_command(&["user", "invite", "--mail", &person.mail, "--public-url", &gateway.base_url()])?;
    let link = renewed["link"].as_str().context("no link")?.to_owned();
    // Until the invitation is accepted, the credentials from before are those of the user.
    assert_eq!(count_passkeys(&gateway)?, 1);
    Person::accept(&gateway, &link, &person.mail).await?;
    assert_eq!(count_passkeys(&gateway)?, 0);
    assert_eq!(sign_in(&open_browser(&gateway), &device).await?.status, 401);
    let mut other = enrol(&gateway, "kim@shop.example").await?;
    add(&gateway, &mut other, "key").await?;
    assert_eq!(count_passkeys(&gateway)?, 1);
    gateway.run_command(&["user", "disable", "--mail", &other.mail])?;
    assert_eq!(count_passkeys(&gateway)?, 0);
    Ok(())
}
