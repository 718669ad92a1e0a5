//! Attacks on the back office: stolen and fixed sessions, codes used twice, guessing, requests of other sites, ids of
//! other tenants, and redirects to other hosts.

use std::sync::atomic::{AtomicUsize, Ordering};

use anyhow::Context as _;
use futures_util::future::join_all;
use reqwest::Method;
use tillgate_tests::TestGateway;

use crate::access::office_browser::{OfficeBrowser, PASSWORD, Person, current_step, read_secret};

/// Number of sign-ins of a flood.
const SIGN_INS: usize = 1000;

#[tokio::test]
async fn a_session_that_somebody_else_has_chosen_is_worth_nothing() -> anyhow::Result<()> {
    let gateway = TestGateway::start()?;
    let mut person = Person::enrol(&gateway, "robin@shop.example", "viewer", None).await?;
    let (browser, chosen) = (OfficeBrowser::new(&gateway), "ab".repeat(32));
    browser.set_cookie("tillgate-session", &chosen);
    browser.post("/sign-in", &[("mail", &person.mail), ("password", PASSWORD)]).await?;
    let pending = browser.session();
    assert_ne!(pending, chosen);
    // The password alone opens no page.
    assert_eq!(browser.get("/account").await?.status, 303);
    let code = person.next_code();
    assert_eq!(browser.post("/sign-in/factor", &[("code", &code)]).await?.status, 303);
    let thief = OfficeBrowser::new(&gateway);
    for token in [&chosen, &pending] {
        thief.set_cookie("tillgate-session", token);
        assert!(!thief.is_signed_in().await?);
    }
    assert_ne!(browser.session(), pending);
    assert!(browser.is_signed_in().await?);
    Ok(())
}

#[tokio::test]
async fn a_stolen_cookie_ends_with_the_sign_out_and_with_the_next_sign_in_of_its_browser() -> anyhow::Result<()> {
    let gateway = TestGateway::start()?;
    let mut person = Person::enrol(&gateway, "robin@shop.example", "viewer", None).await?;
    let thief = OfficeBrowser::new(&gateway);
    thief.set_cookie("tillgate-session", &person.browser.session());
    assert!(thief.is_signed_in().await?);
    person.browser.post("/sign-out", &[]).await?;
    assert!(!thief.is_signed_in().await?);
    let browser = OfficeBrowser::new(&gateway);
    person.sign_in_with(&browser).await?;
    thief.set_cookie("tillgate-session", &browser.session());
    assert!(thief.is_signed_in().await?);
    browser.post("/sign-in", &[("mail", &person.mail), ("password", PASSWORD)]).await?;
    assert!(!thief.is_signed_in().await?);
    // The store has no token that somebody could read and use.
    let stored = gateway.read_stored_bytes()?;
    let wal = std::fs::read(gateway.data_folder().join("tillgate.db-wal")).unwrap_or_default();
    for secret in [browser.session().as_bytes(), person.secret.as_bytes(), person.recovery[0].as_bytes()] {
        assert!(!stored.windows(secret.len()).chain(wal.windows(secret.len())).any(|part| part == secret));
    }
    Ok(())
}

#[tokio::test]
async fn a_code_is_used_once_also_by_two_at_the_same_time() -> anyhow::Result<()> {
    let gateway = TestGateway::start()?;
    let mut person = Person::enrol(&gateway, "robin@shop.example", "viewer", None).await?;
    let (first, second) = (OfficeBrowser::new(&gateway), OfficeBrowser::new(&gateway));
    for browser in [&first, &second] {
        browser.post("/sign-in", &[("mail", &person.mail), ("password", PASSWORD)]).await?;
    }
    let code = person.next_code();
    let fields = [("code", &*code)];
    let (one, other) = tokio::join!(first.post("/sign-in/factor", &fields), second.post("/sign-in/factor", &fields));
    let mut statuses = [one?.status, other?.status];
    statuses.sort_unstable();
    assert_eq!(statuses, [303, 401]);
    // The same holds for a recovery code.
    let code = person.recovery.pop().context("no recovery code")?;
    for expected in [303, 401] {
        let browser = OfficeBrowser::new(&gateway);
        browser.post("/sign-in", &[("mail", &person.mail), ("password", PASSWORD)]).await?;
        assert_eq!(browser.post("/sign-in/factor", &[("code", &code)]).await?.status, expected);
    }
    Ok(())
}

#[tokio::test]
async fn a_link_is_accepted_once_also_by_two_at_the_same_time() -> anyhow::Result<()> {
    let gateway = TestGateway::start()?;
    let link = Person::invite(&gateway, "robin@shop.example", "viewer", None)?;
    let mail = "robin@shop.example";
    let (one, other) = tokio::join!(Person::accept(&gateway, &link, mail), Person::accept(&gateway, &link, mail));
    assert_eq!([one.is_ok(), other.is_ok()].iter().filter(|done| **done).count(), 1);
    // A newer link closes the earlier one.
    let url = gateway.base_url();
    let again = |mail| gateway.run_command(&["user", "invite", "--mail", mail, "--public-url", &url]);
    let (earlier, later) = (again(mail)?, again(mail)?);
    let browser = OfficeBrowser::new(&gateway);
    let link = |made: &serde_json::Value| made["link"].as_str().unwrap_or_default().to_owned();
    assert_eq!(browser.get(&link(&earlier)).await?.status, 410);
    assert_eq!(browser.get(&link(&later)).await?.status, 200);
    assert_eq!(browser.get(&format!("/invitation/{}", "0".repeat(64))).await?.status, 410);
    Ok(())
}

#[tokio::test]
async fn guessing_codes_gets_slower_and_the_owner_is_never_locked_out() -> anyhow::Result<()> {
    let gateway = TestGateway::start()?;
    let mut person = Person::enrol(&gateway, "robin@shop.example", "viewer", None).await?;
    let guesser = OfficeBrowser::new(&gateway);
    guesser.post("/sign-in", &[("mail", &person.mail), ("password", PASSWORD)]).await?;
    for number in 0..5 {
        let code = format!("00000{number}");
        assert_eq!(guesser.post("/sign-in/factor", &[("code", &code)]).await?.status, 401, "{number}");
    }
    // From now on even a right code has to wait there.
    let code = person.next_code();
    assert_eq!(guesser.post("/sign-in/factor", &[("code", &code)]).await?.status, 429);
    // The owner's browser is known by its cookie.
    let owner = OfficeBrowser::new(&gateway);
    owner.set_cookie("tillgate-device", &person.browser.cookie("tillgate-device").context("no device")?);
    owner.post("/sign-in", &[("mail", &person.mail), ("password", PASSWORD)]).await?;
    assert_eq!(owner.post("/sign-in/factor", &[("code", &code)]).await?.status, 303);
    Ok(())
}

#[tokio::test]
async fn guessing_passwords_is_limited_and_a_known_browser_is_not_kept_out() -> anyhow::Result<()> {
    let gateway = TestGateway::start()?;
    let mut person = Person::enrol(&gateway, "robin@shop.example", "viewer", None).await?;
    let guesser = OfficeBrowser::new(&gateway);
    let mut statuses = Vec::new();
    for number in 0..22 {
        let guess = format!("wrong {number}");
        statuses.push(guesser.post("/sign-in", &[("mail", &person.mail), ("password", &guess)]).await?.status);
    }
    assert_eq!((statuses[0], statuses[19], statuses[21]), (401, 401, 429));
    // An address without a user is limited in the same way, so the limit tells nothing.
    for number in 0..21 {
        let answer = guesser.post("/sign-in", &[("mail", "nobody@shop.example"), ("password", "x")]).await?;
        assert_eq!(answer.status, if number < 20 { 401 } else { 429 }, "{number}");
    }
    let stranger = guesser.post("/sign-in", &[("mail", &person.mail), ("password", PASSWORD)]).await?;
    assert_eq!(stranger.status, 429);
    let owner = OfficeBrowser::new(&gateway);
    owner.set_cookie("tillgate-device", &person.browser.cookie("tillgate-device").context("no device")?);
    assert_eq!(person.sign_in_with(&owner).await?.status, 303);
    // A made-up cookie, that of another user, and one from before a new invitation make no browser known.
    let kim = Person::enrol(&gateway, "kim@shop.example", "viewer", None).await?;
    let earlier = owner.cookie("tillgate-device").context("no device")?;
    gateway.run_command(&["user", "invite", "--mail", &person.mail])?;
    let foreign = kim.browser.cookie("tillgate-device").context("no device")?;
    for device in [format!("00.{}", "00".repeat(36)), foreign, earlier] {
        let thief = OfficeBrowser::new(&gateway);
        thief.set_cookie("tillgate-device", &device);
        let answer = thief.post("/sign-in", &[("mail", &person.mail), ("password", PASSWORD)]).await?;
        assert_eq!(answer.status, 429);
    }
    Ok(())
}

#[tokio::test]
async fn the_sign_in_does_not_tell_who_has_an_account() -> anyhow::Result<()> {
    let gateway = TestGateway::start()?;
    Person::enrol(&gateway, "active@shop.example", "viewer", None).await?;
    Person::invite(&gateway, "invited@shop.example", "viewer", None)?;
    Person::enrol(&gateway, "disabled@shop.example", "viewer", None).await?;
    gateway.run_command(&["user", "disable", "--mail", "disabled@shop.example"])?;
    let attempts = [
        ("active@shop.example", "wrong"),
        ("invited@shop.example", ""),
        ("disabled@shop.example", PASSWORD),
        ("unknown@shop.example", "wrong"),
    ];
    let (mut pages, mut work) = (vec![String::new(); attempts.len()], vec![0; attempts.len()]);
    // In turns, so that all have the same load beside them. A clock would tell more about that load than about them.
    for _ in 0..8 {
        for (index, (mail, password)) in attempts.iter().enumerate() {
            let (browser, before) = (OfficeBrowser::new(&gateway), gateway.processor_ticks()?);
            let answer = browser.post("/sign-in", &[("mail", mail), ("password", password)]).await?;
            work[index] += gateway.processor_ticks()? - before;
            assert_eq!((answer.status, browser.cookie("tillgate-session")), (401, None), "{mail}");
            pages[index] = answer.page.replace(mail, "MAIL");
        }
    }
    assert!(pages.iter().all(|page| *page == pages[0]), "{pages:?}");
    // Without a hash, the answer takes a tenth of the work.
    let (least, most) = (work.iter().min().copied(), work.iter().max().copied());
    assert!(least.zip(most).is_some_and(|(least, most)| most < least * 3), "{work:?}");
    Ok(())
}

#[tokio::test]
async fn requests_of_other_sites_are_refused() -> anyhow::Result<()> {
    let gateway = TestGateway::start()?;
    let mut person = Person::enrol(&gateway, "robin@shop.example", "administrator", None).await?;
    let own = person.browser.base.clone();
    for headers in [
        vec![("sec-fetch-site", "cross-site".to_owned())],
        vec![("sec-fetch-site", "same-site".to_owned())],
        vec![("sec-fetch-site", "none".to_owned()), ("origin", "https://evil.example".to_owned())],
        vec![("origin", "https://evil.example".to_owned())],
        vec![("origin", "null".to_owned())],
        vec![("origin", format!("{own}.evil.example"))],
        vec![],
    ] {
        person.browser.headers = headers.clone();
        for path in ["/sign-out", "/sign-in", "/users", "/account/sessions"] {
            assert_eq!(person.browser.post(path, &[("mail", "x@y.example")]).await?.status, 403, "{path} {headers:?}");
        }
    }
    // Nor does another site load a page as a part of its own.
    person.browser.headers =
        vec![("sec-fetch-site", "cross-site".to_owned()), ("sec-fetch-mode", "no-cors".to_owned())];
    assert_eq!(person.browser.get("/account").await?.status, 403);
    // A link on another site leads to a page.
    person.browser.headers[1].1 = "navigate".to_owned();
    assert_eq!(person.browser.get("/account").await?.status, 200);
    person.browser.headers = vec![("origin", own)];
    assert_eq!(person.browser.post("/sign-out", &[]).await?.status, 303);
    Ok(())
}

#[tokio::test]
async fn the_sign_in_leads_to_own_pages_only() -> anyhow::Result<()> {
    let gateway = TestGateway::start()?;
    let mut person = Person::enrol(&gateway, "robin@shop.example", "viewer", None).await?;
    for next in ["//evil.example", "https://evil.example/backoffice", "/\\evil.example", "/backoffice//evil.example"] {
        let signed_in = person.browser.get(&format!("/sign-in?next={next}")).await?;
        assert_eq!(signed_in.header("location"), "/backoffice", "{next}");
        let browser = OfficeBrowser::new(&gateway);
        let fields = [("mail", &*person.mail), ("password", PASSWORD), ("next", next)];
        let location = browser.post("/sign-in", &fields).await?.header("location").to_owned();
        assert_eq!(location, "/backoffice/sign-in/factor?next=%2Fbackoffice", "{next}");
        let code = person.next_code();
        let entered = browser.post("/sign-in/factor", &[("code", &code), ("next", next)]).await?;
        assert_eq!((entered.status, entered.header("location")), (303, "/backoffice"), "{next}");
    }
    Ok(())
}

#[tokio::test]
async fn an_administrator_of_one_tenant_neither_sees_nor_changes_users_of_another() -> anyhow::Result<()> {
    let gateway = TestGateway::start()?;
    let (own, foreign) = (gateway.create_merchant()?, gateway.create_merchant()?);
    let admin = Person::enrol(&gateway, "admin@own.example", "administrator", Some(&own.entity_id)).await?;
    Person::invite(&gateway, "viewer@own.example", "viewer", Some(&own.entity_id))?;
    Person::invite(&gateway, "viewer@foreign.example", "viewer", Some(&foreign.entity_id))?;
    Person::invite(&gateway, "operator@gateway.example", "viewer", None)?;
    let list = admin.browser.get("/users").await?.page;
    assert!(list.contains("viewer@own.example"));
    assert!(!list.contains("foreign.example") && !list.contains("gateway.example"));
    for mail in ["viewer@foreign.example", "operator@gateway.example"] {
        let id = Person::find_id(&gateway, mail)?;
        assert_eq!(admin.browser.get(&format!("/users/{id}")).await?.status, 404);
        let fields = [("act", "add"), ("role", "administrator"), ("reach", &own.entity_id)];
        for act in ["invite", "state", "roles"] {
            assert_eq!(admin.browser.post(&format!("/users/{id}/{act}"), &fields).await?.status, 404, "{act}");
        }
    }
    let id = Person::find_id(&gateway, "viewer@own.example")?;
    for reach in [&*foreign.entity_id, "*", "", "8a", "' OR 1=1 --"] {
        let role = [("act", "add"), ("role", "viewer"), ("reach", reach)];
        assert_eq!(admin.browser.post(&format!("/users/{id}/roles"), &role).await?.status, 422, "{reach}");
        let new = [("mail", "new@own.example"), ("name", "New"), ("role", "viewer"), ("reach", reach)];
        assert_eq!(admin.browser.post("/users", &new).await?.status, 422, "{reach}");
    }
    let users = gateway.run_command(&["user", "list"])?;
    assert_eq!(users.as_array().map(Vec::len), Some(4));
    Ok(())
}

#[tokio::test]
async fn markup_in_names_stays_text() -> anyhow::Result<()> {
    let gateway = TestGateway::start()?;
    let admin = Person::enrol(&gateway, "admin@shop.example", "administrator", None).await?;
    let name = "<script>alert(1)</script>\"'><img src=x>";
    let fields = [("mail", "new@shop.example"), ("name", name), ("role", "viewer"), ("reach", "*")];
    let created = admin.browser.post("/users", &fields).await?;
    assert_eq!(created.status, 200);
    let wrong =
        admin.browser.post("/users", &[("mail", name), ("name", name), ("role", "viewer"), ("reach", "*")]).await?;
    for page in [created.page, wrong.page, admin.browser.get("/users").await?.page] {
        assert!(!page.contains("<script>alert") && !page.contains("<img src=x"), "{page}");
    }
    let mut browser = OfficeBrowser::new(&gateway);
    browser.headers.push(("accept-language", "<script>alert(1)</script>".to_owned()));
    let answer = browser.post("/sign-in", &[("mail", name), ("next", name), ("password", "x")]).await?;
    assert!(!answer.page.contains("<script>alert") && !answer.page.contains("<img src=x"));
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn payments_go_on_while_a_thousand_sign_in_at_once() -> anyhow::Result<()> {
    let gateway = TestGateway::start_with(&["--trusted-proxy", "127.0.0.0/8"])?;
    let shop = gateway.create_merchant()?;
    let mut person = Person::enrol(&gateway, "robin@shop.example", "viewer", None).await?;
    let answered = AtomicUsize::new(0);
    let attempt = async |number: usize| {
        let mut browser = OfficeBrowser::new(&gateway);
        // Each comes from a network of its own, so that no limit by address helps.
        browser.headers.push(("x-forwarded-for", format!("198.51.{}.{}", number / 250, number % 250 + 1)));
        let mail = format!("user{number}@shop.example");
        let answer = browser.post("/sign-in", &[("mail", &mail), ("password", "wrong")]).await;
        answered.fetch_add(1, Ordering::Relaxed);
        anyhow::Ok(answer?.status)
    };
    let flood = join_all((0..SIGN_INS).map(attempt));
    // A payment that waited for the passwords before it would be the only one until the last sign-in is answered.
    let payments = async {
        let mut count = 0;
        while answered.load(Ordering::Relaxed) < SIGN_INS {
            let paid = shop.pay_by_card(&[]).await?;
            assert_eq!(paid.result_code(), "000.100.110");
            count += 1;
        }
        anyhow::Ok(count)
    };
    let (statuses, payments) = tokio::join!(flood, payments);
    let statuses: Vec<u16> = statuses.into_iter().collect::<Result<_, _>>()?;
    // Refused at once or checked, but never an error of the gateway.
    assert!(statuses.iter().all(|status| [401, 503].contains(status)), "{statuses:?}");
    assert!(statuses.contains(&401));
    let payments = payments?;
    assert!(payments >= 3, "{payments} payments beside {SIGN_INS} sign-ins");
    let browser = OfficeBrowser::new(&gateway);
    assert_eq!(person.sign_in_with(&browser).await?.status, 303);
    assert_eq!(browser.send(Method::HEAD, "/account", &[]).await?.status, 200);
    Ok(())
}

#[tokio::test]
async fn a_right_that_ends_while_a_form_arrives_changes_nothing() -> anyhow::Result<()> {
    let gateway = TestGateway::start()?;
    let shop = gateway.create_merchant()?;
    let entity = &*shop.entity_id;
    let admin = Person::enrol(&gateway, "admin@shop.example", "administrator", Some(entity)).await?;
    Person::invite(&gateway, "robin@shop.example", "viewer", Some(entity))?;
    let id = Person::find_id(&gateway, "robin@shop.example")?;
    let role = [("act", "add"), ("role", "administrator"), ("reach", entity)];
    let added = admin.browser.begin_form(&format!("/users/{id}/roles"), &role).await?;
    let new = [("mail", "new@shop.example"), ("name", "New"), ("role", "administrator"), ("reach", entity)];
    let created = admin.browser.begin_form("/users", &new).await?;
    let lost = ["--mail", "admin@shop.example", "--role", "administrator", "--entity", entity];
    gateway.run_command(&[&["user", "role", "remove"], &lost[..]].concat())?;
    assert_eq!((added.finish().await?, created.finish().await?), (404, 404));
    let users = gateway.run_command(&["user", "list"])?;
    let users = users.as_array().context("no list")?;
    assert_eq!(users.len(), 2);
    assert!(users.iter().flat_map(|user| user["roles"].as_array()).flatten().all(|role| role["role"] == "viewer"));
    Ok(())
}

#[tokio::test]
async fn a_hundred_guesses_at_once_are_no_more_than_the_limit() -> anyhow::Result<()> {
    let gateway = TestGateway::start()?;
    let mut person = Person::enrol(&gateway, "robin@shop.example", "viewer", None).await?;
    let new = "seven quiet herons over mud";
    let passwords = [("code", "000000"), ("password", new), ("repeated", new)];
    // In a session that somebody has stolen. Half of the guesses come with each form.
    let secret = read_secret(&person.browser.get("/account").await?)?;
    let new_code = secret.code_of_step(current_step());
    let factors = [("code", "000000"), ("new-code", &*new_code)];
    let guess = async |number: usize| {
        let (path, fields) = if number.is_multiple_of(2) {
            ("/account/factor", &factors[..])
        } else {
            ("/account/password", &passwords[..])
        };
        anyhow::Ok(person.browser.post(path, fields).await?.status)
    };
    let statuses: Vec<u16> = join_all((0..100).map(guess)).await.into_iter().collect::<Result<_, _>>()?;
    assert_eq!(statuses.iter().filter(|status| **status == 422).count(), 20, "{statuses:?}");
    assert!(statuses.iter().all(|status| [422, 429].contains(status)), "{statuses:?}");
    // Each counts for the user, so a browser that is not known has to wait.
    let stranger = OfficeBrowser::new(&gateway);
    stranger.post("/sign-in", &[("mail", &person.mail), ("password", PASSWORD)]).await?;
    let code = person.next_code();
    assert_eq!(stranger.post("/sign-in/factor", &[("code", &code)]).await?.status, 429);
    // A known browser has a limit of its own, and it is as strict.
    let known = OfficeBrowser::new(&gateway);
    known.set_cookie("tillgate-device", &person.browser.cookie("tillgate-device").context("no device")?);
    known.post("/sign-in", &[("mail", &person.mail), ("password", PASSWORD)]).await?;
    let guess = async |_| anyhow::Ok(known.post("/sign-in/factor", &[("code", "000000")]).await?.status);
    let statuses: Vec<u16> = join_all((0..100).map(guess)).await.into_iter().collect::<Result<_, _>>()?;
    assert_eq!(statuses.iter().filter(|status| **status == 401).count(), 20, "{statuses:?}");
    Ok(())
}
