//! The back office: from an invitation to the end of a session, own account, users, and the ways it is served.

use anyhow::Context as _;
use tillgate_tests::{Database, TestGateway};

use crate::access::office_browser::{OfficeBrowser, PASSWORD, Person, current_step, read_secret};

/// Returns the actions in the audit log about users, with the actor and the address.
fn read_user_acts(gateway: &TestGateway) -> anyhow::Result<Vec<(String, String, String)>> {
    let database = Database::open(&gateway.data_folder())?;
    let mut statement = database.prepare("SELECT CAST(document AS TEXT) FROM audit_entry ORDER BY number")?;
    let documents: Vec<String> = statement.query_map([], |row| row.get(0))?.collect::<Result<_, _>>()?;
    let mut acts = Vec::new();
    for document in documents {
        let entry: serde_json::Value = serde_json::from_str(&document)?;
        let text = |value: &serde_json::Value| value.as_str().unwrap_or_default().to_owned();
        let action = text(&entry["action"]);
        if action.starts_with("user ") {
            acts.push((action, text(&entry["actor"]), text(&entry["details"]["address"])));
        }
    }
    Ok(acts)
}

#[tokio::test]
async fn a_user_is_invited_enrols_signs_in_and_out() -> anyhow::Result<()> {
    let gateway = TestGateway::start()?;
    gateway.create_merchant()?;
    let mut person = Person::enrol(&gateway, "Robin@Shop.example", "viewer", None).await?;
    person.mail = "robin@shop.example".to_owned();
    assert!(person.browser.is_signed_in().await?);
    let out = person.browser.post("/sign-out", &[]).await?;
    assert_eq!((out.status, out.header("location")), (303, "/backoffice/sign-in"));
    assert_eq!(out.header("clear-site-data"), "\"cache\"");
    assert!(!person.browser.is_signed_in().await?);
    let browser = OfficeBrowser::new(&gateway);
    let asked = browser.get("/payments?result=declined").await?;
    assert_eq!(asked.header("location"), "/backoffice/sign-in?next=%2Fbackoffice%2Fpayments%3Fresult%3Ddeclined");
    let entered = person.sign_in_with(&browser).await?;
    assert_eq!((entered.status, entered.header("location")), (303, "/backoffice"));
    let page = browser.get("").await?;
    assert_eq!((page.status, page.header("cache-control")), (200, "no-store"));
    for (name, part) in [
        ("content-security-policy", "default-src 'none'"),
        ("content-security-policy", "require-trusted-types-for 'script'"),
        ("content-security-policy", "frame-ancestors 'none'"),
        ("cross-origin-opener-policy", "same-origin"),
        ("cross-origin-resource-policy", "same-origin"),
        ("x-content-type-options", "nosniff"),
        ("referrer-policy", "same-origin"),
        ("integrity-policy", "blocked-destinations=(script)"),
        ("permissions-policy", "camera=()"),
        ("permissions-policy", "publickey-credentials-get=(self)"),
    ] {
        assert!(page.header(name).contains(part), "{name}: {}", page.header(name));
    }
    let acts = read_user_acts(&gateway)?;
    let actions: Vec<&str> = acts.iter().map(|(action, ..)| &**action).collect();
    assert_eq!(actions, ["user create", "user accept", "user sign-out", "user sign-in"]);
    let (_, actor, address) = acts.last().context("no entry")?;
    assert_eq!((actor.split(' ').next(), &**address), (Some("user"), "127.0.0.1"));
    Ok(())
}

#[tokio::test]
async fn a_gateway_without_users_prints_a_link_for_its_first_administrator() -> anyhow::Result<()> {
    let gateway = TestGateway::start()?;
    gateway.wait_for_log("first administrator").await?;
    let log = gateway.read_log();
    let link =
        log.lines().find_map(|line| line.split_once("within 24 hours): ")).context("no link")?.1.trim().to_owned();
    let person = Person::accept(&gateway, &link, "first@shop.example").await?;
    assert_eq!(person.browser.get("/users").await?.status, 200);
    // The link works once, and only while there is no user.
    assert_eq!(OfficeBrowser::new(&gateway).get(&link).await?.status, 410);
    let users = gateway.run_command(&["user", "list"])?;
    assert_eq!(users[0]["roles"][0]["role"], "administrator");
    assert_eq!(users[0]["roles"][0]["entityId"], "*");
    let gateway = gateway.kill_and_restart(&[])?;
    assert!(!gateway.read_log().contains("first administrator"));
    Ok(())
}

#[tokio::test]
async fn a_bad_password_and_a_bad_code_are_explained_and_use_nothing_up() -> anyhow::Result<()> {
    let gateway = TestGateway::start()?;
    let link = Person::invite(&gateway, "robin@shop.example", "viewer", None)?;
    let browser = OfficeBrowser::new(&gateway);
    let secret = read_secret(&browser.get(&link).await?)?;
    let code = secret.code_of_step(current_step());
    for (password, repeated, code, text) in [
        ("short", "short", code.as_str(), "12 characters or more"),
        ("password123456", "password123456", code.as_str(), "easy to guess"),
        ("robin-robin-4711-xyz", "robin-robin-4711-xyz", code.as_str(), "your name"),
        (PASSWORD, "another one", code.as_str(), "differ"),
        (PASSWORD, PASSWORD, "000000", "code is wrong"),
    ] {
        let answer = browser.post(&link, &[("password", password), ("repeated", repeated), ("code", code)]).await?;
        assert_eq!(answer.status, 422, "{password}");
        assert!(answer.page.contains(text), "{text}: {}", answer.page);
        assert!(!answer.page.contains(password), "the page repeats the password {password}");
        // The same picture is shown again, so that the app has the code already.
        assert_eq!(read_secret(&answer)?.as_bytes(), secret.as_bytes());
    }
    Person::accept(&gateway, &link, "robin@shop.example").await?;
    assert_eq!(browser.get(&link).await?.status, 410);
    Ok(())
}

#[tokio::test]
async fn a_user_sees_and_ends_the_own_sessions() -> anyhow::Result<()> {
    let gateway = TestGateway::start()?;
    let mut person = Person::enrol(&gateway, "robin@shop.example", "viewer", None).await?;
    let other = Person::enrol(&gateway, "kim@shop.example", "viewer", None).await?;
    let second = OfficeBrowser::new(&gateway);
    assert_eq!(person.sign_in_with(&second).await?.status, 303);
    let account = second.get("/account").await?;
    let number = account.between("name=\"session\" value=\"", "\"").context("no other session")?.to_owned();
    // Another user's session has a number, too, and it ends nothing.
    other.browser.post("/account/sessions", &[("session", &number)]).await?;
    assert!(person.browser.is_signed_in().await?);
    assert_eq!(second.post("/account/sessions", &[("session", &number)]).await?.status, 303);
    assert!(!person.browser.is_signed_in().await?);
    assert!(second.is_signed_in().await? && other.browser.is_signed_in().await?);
    Ok(())
}

#[tokio::test]
async fn a_new_password_asks_for_a_factor_and_ends_the_other_sessions() -> anyhow::Result<()> {
    let gateway = TestGateway::start()?;
    let mut person = Person::enrol(&gateway, "robin@shop.example", "viewer", None).await?;
    let second = OfficeBrowser::new(&gateway);
    person.sign_in_with(&second).await?;
    let new = "seven quiet herons over mud";
    let used = person.secret.code_of_step(person.last_step).to_string();
    for code in ["", "000000", &used] {
        let fields = [("code", code), ("password", new), ("repeated", new)];
        assert_eq!(second.post("/account/password", &fields).await?.status, 422, "{code}");
    }
    assert!(person.browser.is_signed_in().await?);
    let code = person.recovery.pop().context("no recovery code")?;
    let fields = [("code", &*code), ("password", new), ("repeated", new)];
    assert_eq!(second.post("/account/password", &fields).await?.status, 200);
    assert!(second.is_signed_in().await? && !person.browser.is_signed_in().await?);
    let old = OfficeBrowser::new(&gateway).post("/sign-in", &[("mail", &person.mail), ("password", PASSWORD)]).await?;
    assert_eq!(old.status, 401);
    // The recovery code is used.
    assert_eq!(second.post("/account/password", &fields).await?.status, 422);
    Ok(())
}

#[tokio::test]
async fn a_new_app_replaces_the_old_one_and_the_recovery_codes() -> anyhow::Result<()> {
    let gateway = TestGateway::start()?;
    let mut person = Person::enrol(&gateway, "robin@shop.example", "viewer", None).await?;
    let secret = read_secret(&person.browser.get("/account").await?)?;
    let new_code = secret.code_of_step(current_step());
    let wrong = person.browser.post("/account/factor", &[("code", "000000"), ("new-code", &new_code)]).await?;
    assert_eq!(wrong.status, 422);
    let code = person.recovery.pop().context("no recovery code")?;
    let changed = person.browser.post("/account/factor", &[("code", &code), ("new-code", &new_code)]).await?;
    assert_eq!(changed.status, 200, "{}", changed.page);
    let browser = OfficeBrowser::new(&gateway);
    browser.post("/sign-in", &[("mail", &person.mail), ("password", PASSWORD)]).await?;
    let old_codes = [person.secret.code_of_step(current_step() + 1).to_string(), person.recovery[0].clone()];
    for old in old_codes {
        assert_eq!(browser.post("/sign-in/factor", &[("code", &old)]).await?.status, 401);
    }
    let next = secret.code_of_step(current_step() + 1);
    assert_eq!(browser.post("/sign-in/factor", &[("code", &next)]).await?.status, 303);
    Ok(())
}

#[tokio::test]
async fn a_disabled_user_is_out_at_once() -> anyhow::Result<()> {
    let gateway = TestGateway::start()?;
    let admin = Person::enrol(&gateway, "admin@shop.example", "administrator", None).await?;
    let mut person = Person::enrol(&gateway, "robin@shop.example", "viewer", None).await?;
    let id = Person::find_id(&gateway, "robin@shop.example")?;
    assert_eq!(admin.browser.post(&format!("/users/{id}/state"), &[]).await?.status, 303);
    assert!(!person.browser.is_signed_in().await?);
    let refused = person.browser.post("/sign-in", &[("mail", &person.mail), ("password", PASSWORD)]).await?;
    assert_eq!(refused.status, 401);
    assert_eq!(admin.browser.post(&format!("/users/{id}/invite"), &[]).await?.status, 422);
    admin.browser.post(&format!("/users/{id}/state"), &[]).await?;
    let browser = OfficeBrowser::new(&gateway);
    assert_eq!(person.sign_in_with(&browser).await?.status, 303);
    // Administrators do not lock themselves out, and a stolen session gets no link that replaces the factors.
    let own = Person::find_id(&gateway, "admin@shop.example")?;
    for act in ["state", "invite", "roles"] {
        let fields = [("act", "remove"), ("role", "administrator"), ("reach", "*")];
        assert_eq!(admin.browser.post(&format!("/users/{own}/{act}"), &fields).await?.status, 422, "{act}");
    }
    Ok(())
}

#[tokio::test]
async fn without_https_nobody_signs_in_from_another_machine() -> anyhow::Result<()> {
    let gateway = TestGateway::start()?;
    let mut browser = OfficeBrowser::new(&gateway);
    browser.headers.push(("host", "pay.example".to_owned()));
    assert_eq!(browser.get("/sign-in").await?.status, 403);
    let gateway = TestGateway::start_with(&["--public-url", "https://pay.example"])?;
    let link = Person::invite(&gateway, "robin@shop.example", "viewer", None)?;
    let person = Person::accept(&gateway, &link, "robin@shop.example").await?;
    let token = person.browser.cookie("__Host-tillgate-session");
    assert!(token.is_some_and(|token| token.len() == 64));
    let answer = person.browser.post("/sign-out", &[]).await?;
    let cookie = answer.header("set-cookie");
    for part in ["__Host-tillgate-session=;", "Path=/", "HttpOnly", "SameSite=Lax", "Secure"] {
        assert!(cookie.contains(part), "{cookie}");
    }
    Ok(())
}

#[tokio::test]
async fn the_back_office_can_be_off_and_the_host_of_the_frames_has_none() -> anyhow::Result<()> {
    let off = TestGateway::start_with(&["--backoffice", "off"])?;
    assert_eq!(OfficeBrowser::new(&off).get("/sign-in").await?.status, 404);
    assert!(!off.read_log().contains("first administrator"));
    let arguments = ["--public-url", "http://pay.localhost:1", "--fields-url", "http://fields.localhost:1"];
    let gateway = TestGateway::start_with(&arguments)?;
    for (host, status) in [("pay.localhost:1", 200), ("fields.localhost:1", 404)] {
        let mut browser = OfficeBrowser::new(&gateway);
        browser.headers.push(("host", host.to_owned()));
        assert_eq!(browser.get("/sign-in").await?.status, status, "{host}");
    }
    Ok(())
}
