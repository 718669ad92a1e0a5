//! Invitations of the back office: links that outlive the right of their inviter, the roles that they were made for, or
//! the credentials that they replace.

use anyhow::Context as _;
use futures_util::future::join_all;
use tillgate_tests::{TestGateway, poll_until};

use crate::access::office_browser::{OfficeBrowser, PASSWORD, Person};

/// Creates a user by the page of an administrator. Returns the link.
async fn invite_by(admin: &Person, mail: &str, role: &str, reach: &str) -> anyhow::Result<String> {
    let fields = [("mail", mail), ("name", "New"), ("role", role), ("reach", reach)];
    let created = admin.browser.post("/users", &fields).await?;
    Ok(created.between("<code id=\"link\">", "</code>").context(created.page.clone())?.to_owned())
}

#[tokio::test]
async fn a_link_ends_with_a_change_of_roles_and_with_the_rights_of_its_inviter() -> anyhow::Result<()> {
    let gateway = TestGateway::start()?;
    let shop = gateway.create_merchant()?;
    let entity = &*shop.entity_id;
    let admin = Person::enrol(&gateway, "admin@shop.example", "administrator", Some(entity)).await?;
    let (stranger, role) = (OfficeBrowser::new(&gateway), ["--role", "analyst", "--entity", entity]);
    let ends: [(&str, Vec<&str>); 4] = [
        ("role-add", [&["user", "role", "add", "--mail", "role-add@shop.example"], &role[..]].concat()),
        ("role-remove", [&["user", "role", "remove", "--mail", "role-remove@shop.example"], &role[..]].concat()),
        ("inviter-role", [&["user", "role", "add", "--mail", "admin@shop.example"], &role[..]].concat()),
        ("inviter-state", vec!["user", "disable", "--mail", "admin@shop.example"]),
    ];
    for (name, command) in ends {
        let invited = if name == "role-add" { "viewer" } else { "analyst" };
        let link = invite_by(&admin, &format!("{name}@shop.example"), invited, entity).await?;
        assert_eq!(stranger.get(&link).await?.status, 200, "{name}");
        gateway.run_command(&command)?;
        assert_eq!(stranger.get(&link).await?.status, 410, "{name}");
        assert_eq!(stranger.post(&link, &[("password", PASSWORD)]).await?.status, 410, "{name}");
    }
    Ok(())
}

#[tokio::test]
async fn a_link_to_a_part_that_its_inviter_has_lost_is_refused() -> anyhow::Result<()> {
    let gateway = TestGateway::start()?;
    let (own, other) = (gateway.create_merchant()?, gateway.create_merchant()?);
    let channel = gateway.create_merchant_with(&["--merchant", &own.entity_id])?;
    let admin = Person::enrol(&gateway, "admin@shop.example", "administrator", Some(&own.entity_id)).await?;
    let link = invite_by(&admin, "robin@shop.example", "viewer", &channel.entity_id).await?;
    let stranger = OfficeBrowser::new(&gateway);
    assert_eq!(stranger.get(&link).await?.status, 200);
    gateway.run_command(&["entity", "set", "--entity", &channel.entity_id, "--merchant", &other.entity_id])?;
    poll_until("the link is closed", async || Ok((stranger.get(&link).await?.status == 410).then_some(()))).await?;
    Ok(())
}

#[tokio::test]
async fn a_role_elsewhere_gives_nothing_to_somebody_who_was_invited_under_a_foreign_address() -> anyhow::Result<()> {
    let gateway = TestGateway::start()?;
    let (own, other) = (gateway.create_merchant()?, gateway.create_merchant()?);
    let operator = Person::enrol(&gateway, "operator@gateway.example", "administrator", None).await?;
    let admin = Person::enrol(&gateway, "admin@own.example", "administrator", Some(&own.entity_id)).await?;
    // The administrator of a shop takes the address of somebody else.
    let link = invite_by(&admin, "chief@other.example", "viewer", &own.entity_id).await?;
    let squatter = Person::accept(&gateway, &link, "chief@other.example").await?;
    let id = Person::find_id(&gateway, "chief@other.example")?;
    // A role where the user has one already changes no credentials.
    let role = [("act", "add"), ("role", "analyst"), ("reach", &*own.entity_id)];
    assert_eq!(operator.browser.post(&format!("/users/{id}/roles"), &role).await?.status, 303);
    assert!(squatter.browser.is_signed_in().await?);
    let role = [("act", "add"), ("role", "administrator"), ("reach", &*other.entity_id)];
    let given = operator.browser.post(&format!("/users/{id}/roles"), &role).await?;
    let link = given.between("<code id=\"link\">", "</code>").context("no link")?.to_owned();
    assert!(!squatter.browser.is_signed_in().await?);
    let sign_in = [("mail", "chief@other.example"), ("password", PASSWORD)];
    assert_eq!(squatter.browser.post("/sign-in", &sign_in).await?.status, 401);
    // Nor does the administrator of the shop get a link to the user.
    assert_eq!(admin.browser.post(&format!("/users/{id}/invite"), &[]).await?.status, 404);
    let chief = Person::accept(&gateway, &link, "chief@other.example").await?;
    assert!(chief.browser.get("/users").await?.status == 200);
    Ok(())
}

#[tokio::test]
async fn a_link_ends_when_its_user_changes_a_credential() -> anyhow::Result<()> {
    let gateway = TestGateway::start()?;
    let mut person = Person::enrol(&gateway, "robin@shop.example", "viewer", None).await?;
    let url = gateway.base_url();
    let made = gateway.run_command(&["user", "invite", "--mail", &person.mail, "--public-url", &url])?;
    let link = made["link"].as_str().context("no link")?;
    let code = person.recovery.pop().context("no recovery code")?;
    let new = "seven quiet herons over mud";
    let fields = [("code", &*code), ("password", new), ("repeated", new)];
    assert_eq!(OfficeBrowser::new(&gateway).get(link).await?.status, 200);
    assert_eq!(person.browser.post("/account/password", &fields).await?.status, 200);
    assert_eq!(OfficeBrowser::new(&gateway).get(link).await?.status, 410);
    Ok(())
}

#[tokio::test]
async fn two_administrators_who_disable_each_other_leave_one() -> anyhow::Result<()> {
    let gateway = TestGateway::start()?;
    let one = Person::enrol(&gateway, "one@gateway.example", "administrator", None).await?;
    let two = Person::enrol(&gateway, "two@gateway.example", "administrator", None).await?;
    let ids = [Person::find_id(&gateway, &one.mail)?, Person::find_id(&gateway, &two.mail)?];
    let paths = ids.map(|id| format!("/users/{id}/state"));
    let (first, second) = tokio::join!(one.browser.post(&paths[1], &[]), two.browser.post(&paths[0], &[]));
    first?;
    second?;
    let is_in = [one.browser.is_signed_in().await?, two.browser.is_signed_in().await?];
    assert_eq!(is_in.iter().filter(|is_in| **is_in).count(), 1);
    // Nor does a command disable or demote the last one.
    let last = if is_in[0] { &one.mail } else { &two.mail };
    let role = ["user", "role", "remove", "--mail", last, "--role", "administrator"];
    for command in [&["user", "disable", "--mail", last][..], &role[..]] {
        assert!(gateway.run_command(command).is_err_and(|error| format!("{error:#}").contains("last active")));
    }
    Ok(())
}

#[tokio::test]
async fn many_passwords_without_a_second_factor_hide_no_session() -> anyhow::Result<()> {
    let gateway = TestGateway::start()?;
    let person = Person::enrol(&gateway, "robin@shop.example", "viewer", None).await?;
    let guesser = OfficeBrowser::new(&gateway);
    let begin = async |_| guesser.post("/sign-in", &[("mail", &person.mail), ("password", PASSWORD)]).await;
    let begun = join_all((0..110).map(begin)).await;
    let statuses: Vec<u16> = begun.into_iter().map(|answer| Ok(answer?.status)).collect::<anyhow::Result<_>>()?;
    assert!(statuses.iter().filter(|status| **status == 303).count() > 100, "{statuses:?}");
    let account = person.browser.get("/account").await?;
    assert!(account.page.contains("This session"), "{}", account.page);
    Ok(())
}
