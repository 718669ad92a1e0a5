//! Acts on keys and credentials in the back office that need a second person, swept over all of them, and attacks.

use std::collections::BTreeSet;

use anyhow::Context as _;
use futures_util::future::try_join;
use tillgate_backoffice::all_routes;
use tillgate_tests::{Database, MerchantClient, TestGateway};

use crate::access::back_office_administration::read_entries;
use crate::access::back_office_approvals::read_request;
use crate::access::back_office_callbacks::form as callback_form;
use crate::access::office_browser::{Answer, Person};
use crate::delivery::file_push::set_server_with_password;

const PASSWORD: &str = "Pulled-Wool-Over-77";

/// Treatment of an act while the setting is on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Treatment {
    /// It makes or shows a secret, so it becomes a request.
    Asks,
    /// Its form has secrets that no request keeps, so it is refused.
    Refused,
    /// It takes a secret away, finishes what was approved, or has nothing to do with one.
    Free,
}

/// Every act of the subjects that have secrets.
const ACTS: [(&str, Treatment); 23] = [
    ("/administration/entities/{id}/tokens", Treatment::Asks),
    ("/administration/entities/{id}/tokens/{user}/revoke", Treatment::Free),
    ("/administration/entities/{id}/ftp-users", Treatment::Asks),
    ("/administration/entities/{id}/ftp-users/{name}/revoke", Treatment::Free),
    ("/administration/entities/{id}/wallet-keys", Treatment::Asks),
    ("/administration/entities/{id}/wallet-keys/token", Treatment::Free),
    ("/administration/entities/{id}/wallet-keys/{key}/retire", Treatment::Free),
    ("/administration/entities/{id}/settings/{form}", Treatment::Free),
    ("/administration/entities/{id}/look", Treatment::Free),
    ("/administration/entities/{id}/clock", Treatment::Free),
    ("/administration/audit/check", Treatment::Free),
    ("/deliveries/callbacks/{message}/resubmit", Treatment::Free),
    ("/deliveries/callbacks/{message}/delete", Treatment::Free),
    ("/deliveries/new", Treatment::Asks),
    ("/deliveries/pushes/new", Treatment::Asks),
    ("/deliveries/pushes/{id}/retry", Treatment::Free),
    ("/deliveries/pushes/{id}/remove", Treatment::Free),
    ("/deliveries/{id}/test", Treatment::Free),
    ("/deliveries/{id}/rotation", Treatment::Asks),
    ("/deliveries/{id}/delete", Treatment::Free),
    ("/deliveries/{id}/messages/{message}/replay", Treatment::Free),
    ("/reviews/callbacks/{entity}", Treatment::Refused),
    ("/reviews/callbacks/{entity}/test", Treatment::Free),
];

/// A shop whose acts on keys need a second person, with two administrators.
struct Shop {
    gateway: TestGateway,
    merchant: MerchantClient,
    asker: Person,
    other: Person,
    /// A webhook that the operator has made.
    webhook: String,
}

impl Shop {
    async fn open() -> anyhow::Result<Self> {
        let gateway = TestGateway::start()?;
        let merchant = gateway.create_merchant_with(&["--key-approval", "on"])?;
        let asker = Person::enrol(&gateway, "ask@shop.example", "administrator", Some(&merchant.entity_id)).await?;
        let other = Person::enrol(&gateway, "other@shop.example", "administrator", Some(&merchant.entity_id)).await?;
        let url = "https://shop.example/events";
        let made = gateway.run_command(&["webhook", "create", "--entity", &merchant.entity_id, "--url", url])?;
        let webhook = made["webhookId"].as_str().with_context(|| made.to_string())?;
        let webhook = webhook.to_owned();
        Ok(Self { gateway, merchant, asker, other, webhook })
    }

    fn account(&self, page: &str) -> String {
        format!("/administration/entities/{}/{page}", self.merchant.entity_id)
    }

    /// Sends a valid form of an act.
    async fn act(&self, person: &Person, route: &str) -> anyhow::Result<Answer> {
        let entity = ("entity", &*self.merchant.entity_id);
        let fields = match route {
            "/administration/entities/{id}/tokens" => {
                vec![("label", "<b>till"), ("scope-read", "1"), ("expires", "90d")]
            }
            "/administration/entities/{id}/ftp-users" => vec![("name", "bakery"), ("seen", "0")],
            "/administration/entities/{id}/wallet-keys" => vec![("newest", "")],
            "/deliveries/new" => vec![entity, ("url", "https://shop.example/more"), ("type-PAYMENT", "1")],
            "/deliveries/pushes/new" => vec![entity, ("url", "ftps://u@files.example/in"), ("password", PASSWORD)],
            "/deliveries/{id}/rotation" => vec![("act", "begin")],
            "/reviews/callbacks/{entity}" => {
                callback_form("https://shop.example/x", "id = field transactionId\npass = secret 1")
            }
            other => anyhow::bail!("{other} has no sample"),
        };
        let id = if route == "/deliveries/{id}/rotation" { &self.webhook } else { &self.merchant.entity_id };
        person.browser.post(&route.replace("{id}", id).replace("{entity}", id), &fields).await
    }

    /// Asks for a token. Returns the path of the request.
    async fn ask(&self) -> anyhow::Result<String> {
        read_request(&self.act(&self.asker, "/administration/entities/{id}/tokens").await?)
    }

    /// Describes the stored secrets.
    fn secrets(&self) -> anyhow::Result<Vec<String>> {
        let database = Database::open(&self.gateway.data_folder())?;
        let queries = [
            "SELECT count(*) || '' FROM token",
            "SELECT count(*) || '' FROM wallet_key",
            "SELECT count(*) || '' FROM ftp_user",
            "SELECT count(*) || ' ' || group_concat(hex(sealed) || hex(next)) FROM webhook",
            "SELECT count(*) || ' ' || coalesce(group_concat(hex(sealed)), '') FROM file_push",
            "SELECT count(*) || ' ' || coalesce(group_concat(hex(sealed)), '') FROM review_callback",
        ];
        let read = |query: &str| Ok(database.query_row(query, [], |row| row.get(0))?);
        queries.into_iter().map(read).collect()
    }
}

async fn send(person: &Person, request: &str, act: &str) -> anyhow::Result<Answer> {
    let fields = [("reason", "not now"), ("password", PASSWORD)];
    person.browser.post(&format!("{request}/{act}"), &fields).await
}

#[tokio::test]
async fn no_act_on_a_secret_runs_without_a_second_person_and_each_runs_once_for_the_user_who_asked()
-> anyhow::Result<()> {
    let known: BTreeSet<&str> = ACTS.iter().map(|(path, _)| *path).collect();
    let areas = ["/administration", "/deliveries", "/reviews/callbacks"];
    let is_act = |path: &&str| areas.iter().any(|area| path.starts_with(area));
    let routes: BTreeSet<&str> =
        all_routes().filter(|route| route.method == "POST").map(|route| route.path).filter(is_act).collect();
    assert_eq!(known, routes, "every act has its treatment in the table");
    let shop = Shop::open().await?;
    let before = shop.secrets()?;
    for (route, _) in ACTS.iter().filter(|(_, treatment)| *treatment == Treatment::Refused) {
        let refused = shop.act(&shop.asker, route).await?;
        assert!(refused.status == 422 && refused.page.contains("a second person would have to approve"), "{route}");
        assert_eq!(shop.secrets()?, before, "{route}");
    }
    let mut shown = Vec::new();
    for (route, _) in ACTS.iter().filter(|(_, treatment)| *treatment == Treatment::Asks) {
        let before = shop.secrets()?;
        let request = read_request(&shop.act(&shop.asker, route).await?)?;
        // The form that is sent twice asks once.
        assert_eq!(request, read_request(&shop.act(&shop.asker, route).await?)?, "{route}");
        for (person, act) in [(&shop.asker, "use"), (&shop.asker, "approve"), (&shop.other, "use")] {
            assert_eq!(send(person, &request, act).await?.status, 422, "{route} {act}");
        }
        let approved = send(&shop.other, &request, "approve").await?;
        assert!(approved.header("location").ends_with("?done=approval_key"), "{route} {}", approved.page);
        assert_eq!(send(&shop.other, &request, "use").await?.status, 422, "{route}");
        assert!(!shop.other.browser.get(&request).await?.page.contains("/use\""), "{route}");
        assert_eq!(shop.secrets()?, before, "{route}");
        let used = send(&shop.asker, &request, "use").await?;
        assert!([200, 303].contains(&used.status), "{route} {} {}", used.status, used.page);
        let after = shop.secrets()?;
        assert_ne!(after, before, "{route}");
        let again = send(&shop.asker, &request, "use").await?;
        assert!(again.status == 422 && again.page.contains("carried out already"), "{route} {}", again.page);
        assert_eq!(shop.secrets()?, after, "{route}");
        for id in ["token", "password", "key"] {
            let secret = used.between(&format!("id=\"{id}\"><code>"), "</code>");
            shown.extend(secret.map(str::to_owned));
        }
    }
    assert_eq!(shown.len(), 4, "a token, a password, a webhook and its next secret: {shown:?}");
    // No request and no entry has a secret.
    let database = Database::open(&shop.gateway.data_folder())?;
    let stored: String =
        database.query_row("SELECT group_concat(act || ' ' || outcome) FROM approval", [], |row| row.get(0))?;
    let entries = format!("{:?}", read_entries(&shop.gateway, "")?);
    for secret in shown.iter().map(String::as_str).chain([PASSWORD]) {
        for (name, text) in [("request", &stored), ("entry", &entries), ("log", &shop.gateway.read_log())] {
            assert!(!text.contains(secret), "{name}: {secret}");
        }
    }
    Ok(())
}

#[tokio::test]
async fn an_approved_token_is_shown_to_the_user_who_asked_and_the_audit_log_names_both() -> anyhow::Result<()> {
    let shop = Shop::open().await?;
    let request = shop.ask().await?;
    let home = shop.other.browser.get("").await?.page;
    assert!(home.contains(&request) && home.contains("New access token: &lt;b&gt;till"), "{home}");
    assert!(shop.asker.browser.get("").await?.page.contains("Nothing waits"));
    let page = shop.other.browser.get(&request).await?.page;
    assert!(page.contains("&lt;b&gt;till") && !page.contains("<b>till") && page.contains(">Approve<"), "{page}");
    // Fields of the form change nothing about what was asked.
    let forged = [("label", "other"), ("scope-refund", "1"), ("entity", "8a000000000000000000000000000000")];
    assert_eq!(shop.other.browser.post(&format!("{request}/approve"), &forged).await?.status, 303);
    let home = shop.asker.browser.get("").await?.page;
    assert!(home.contains(&request) && home.contains("Approved"), "{home}");
    assert!(shop.asker.browser.get(&request).await?.page.contains("Carry out now"));
    // Two forms at the same time make one token, which is shown once.
    let use_path = format!("{request}/use");
    let send_use = || shop.asker.browser.post(&use_path, &forged);
    let (one, two) = try_join(send_use(), send_use()).await?;
    let mut statuses = [one.status, two.status];
    statuses.sort_unstable();
    assert_eq!(statuses, [200, 422]);
    let used = if one.status == 200 { one } else { two };
    assert_eq!(used.header("cache-control"), "no-store");
    let token = used.between("id=\"token\"><code>", "</code>").context(used.page.clone())?;
    for person in [&shop.asker, &shop.other] {
        let page = person.browser.get(&request).await?.page;
        assert!(page.contains("Carried out") && !page.contains(token), "{page}");
    }
    let listed = shop.gateway.run_command(&["token", "list", "--entity", &shop.merchant.entity_id])?.to_string();
    assert!(listed.contains("<b>till") && listed.contains("read") && !listed.contains("\"other\""), "{listed}");
    let id = |person: &Person| Person::find_id(&shop.gateway, &person.mail);
    let (asker, other) = (id(&shop.asker)?, id(&shop.other)?);
    for (action, actor) in [("approval request", &asker), ("approval approve", &other), ("approval use", &asker)] {
        let entries = read_entries(&shop.gateway, action)?;
        assert_eq!(entries.len(), 1, "{action} {entries:?}");
        assert_eq!(entries[0]["actor"], format!("user {actor}"), "{action}");
        assert_eq!(
            (&entries[0]["details"]["act"], &entries[0]["details"]["asker"]),
            (&"token".into(), &asker.clone().into())
        );
    }
    assert_eq!(read_entries(&shop.gateway, "approval use")?[0]["details"]["decider"], other);
    Ok(())
}

#[tokio::test]
async fn a_request_that_was_declined_or_withdrawn_and_a_right_that_has_ended_make_nothing() -> anyhow::Result<()> {
    let shop = Shop::open().await?;
    let third =
        Person::enrol(&shop.gateway, "third@shop.example", "administrator", Some(&shop.merchant.entity_id)).await?;
    let stranger_shop = shop.gateway.create_merchant()?;
    let stranger =
        Person::enrol(&shop.gateway, "eve@other.example", "administrator", Some(&stranger_shop.entity_id)).await?;
    let developer =
        Person::enrol(&shop.gateway, "dev@shop.example", "developer", Some(&shop.merchant.entity_id)).await?;
    let before = shop.secrets()?;
    let declined = shop.ask().await?;
    for person in [&stranger, &developer] {
        for act in ["approve", "decline", "withdraw", "use"] {
            assert_eq!(send(person, &declined, act).await?.status, 404, "{} {act}", person.mail);
        }
        assert_eq!(person.browser.get(&declined).await?.status, 404);
        assert!(!person.browser.get("/approvals").await?.page.contains("till"), "{}", person.mail);
    }
    assert_eq!(send(&shop.other, &declined, "decline").await?.status, 303);
    let withdrawn = shop.ask().await?;
    assert_ne!(withdrawn, declined);
    assert_eq!(send(&shop.asker, &withdrawn, "withdraw").await?.status, 303);
    for request in [&declined, &withdrawn] {
        for (person, act) in [(&shop.other, "approve"), (&shop.asker, "use"), (&shop.asker, "withdraw")] {
            assert_eq!(send(person, request, act).await?.status, 422, "{act}");
        }
    }
    let role = |mail: &'static str| ["--mail", mail, "--role", "administrator", "--entity", &*shop.merchant.entity_id];
    let remove = |mail| shop.gateway.run_command(&[&["user", "role", "remove"], &role(mail)[..]].concat());
    // The user who approved may not do it any more when the act is carried out.
    let request = shop.ask().await?;
    assert_eq!(send(&third, &request, "approve").await?.status, 303);
    remove("third@shop.example")?;
    let refused = send(&shop.asker, &request, "use").await?;
    assert!(refused.status == 422 && refused.page.contains("one of the two users"), "{}", refused.page);
    // The right of the user who asked ends while the form arrives.
    let wallet = "/administration/entities/{id}/wallet-keys";
    let request = read_request(&shop.act(&shop.asker, wallet).await?)?;
    assert_eq!(send(&shop.other, &request, "approve").await?.status, 303);
    let late = shop.asker.browser.begin_form(&format!("{request}/use"), &[("x", "y")]).await?;
    remove("ask@shop.example")?;
    assert_eq!(late.finish().await?, 404);
    assert_eq!(shop.secrets()?, before);
    Ok(())
}

#[tokio::test]
async fn an_approved_server_replaces_no_other_one_than_the_one_that_was_shown() -> anyhow::Result<()> {
    let shop = Shop::open().await?;
    let asked = read_request(&shop.act(&shop.asker, "/deliveries/pushes/new").await?)?;
    assert_eq!(send(&shop.other, &asked, "approve").await?.status, 303);
    // Somebody sets another server meanwhile.
    let entity = &*shop.merchant.entity_id;
    set_server_with_password(&shop.gateway, &shop.merchant, "ftps://u@new.example/in", &[])?;
    let sent = send(&shop.asker, &asked, "use").await?;
    let again = read_request(&sent)?;
    assert_ne!(again, asked, "the change needs another approval");
    let page = shop.other.browser.get(&again).await?.page;
    assert!(page.contains("Replaces") && page.contains("new.example"), "{page}");
    let shown = shop.gateway.run_command(&["file-push", "list", "--entity", entity])?.to_string();
    assert!(shown.contains("new.example") && !shown.contains("files.example"), "{shown}");
    Ok(())
}

#[tokio::test]
async fn revoking_stays_immediate_and_commands_need_no_second_person() -> anyhow::Result<()> {
    let shop = Shop::open().await?;
    let entity = &*shop.merchant.entity_id;
    let token = shop.gateway.run_command(&["token", "create", "--entity", entity, "--label", "till"])?;
    let user = token["userId"].as_str().with_context(|| token.to_string())?;
    shop.gateway.run_command(&["ftp-user", "create", "--entity", entity, "--name", "bakery"])?;
    let key = shop.gateway.run_command(&["wallet-key", "create", "--entity", entity])?;
    let key = key["keyId"].as_str().context("id")?;
    for (path, done) in [
        (shop.account(&format!("tokens/{user}/revoke")), "token_revoked"),
        (shop.account("ftp-users/bakery/revoke"), "ftp_revoked"),
        (shop.account(&format!("wallet-keys/{key}/retire")), "wallet_key_retired"),
        (format!("/deliveries/{}/delete", shop.webhook), "webhook_deleted"),
    ] {
        let sent = shop.asker.browser.post(&path, &[]).await?;
        assert!(sent.header("location").ends_with(&format!("?done={done}")), "{path} {}", sent.page);
    }
    assert_eq!(read_entries(&shop.gateway, "approval request")?.len(), 0);
    Ok(())
}

#[tokio::test]
async fn only_somebody_above_the_merchant_changes_the_switches_and_a_channel_follows_its_merchant() -> anyhow::Result<()>
{
    let shop = Shop::open().await?;
    let entity = &*shop.merchant.entity_id;
    let channel = shop.gateway.create_merchant_with(&["--merchant", entity])?.entity_id;
    let path = format!("/administration/entities/{channel}/wallet-keys");
    read_request(&shop.asker.browser.post(&path, &[("newest", "")]).await?)?;
    let root = Person::enrol(&shop.gateway, "root@gateway.example", "administrator", None).await?;
    for (name, was, value) in [("key-approval", "on", "off"), ("rule-approval", "", "on")] {
        for (person, target, status) in
            [(&shop.asker, entity, 422), (&shop.asker, &*channel, 422), (&root, entity, 303)]
        {
            let path = format!("/administration/entities/{target}/settings/approvals");
            let fields = [(name, value), (&*format!("was-{name}"), was)];
            let sent = person.browser.post(&path, &fields).await?;
            assert_eq!(sent.status, status, "{name} {target} {}", sent.page);
        }
    }
    let shown = shop.gateway.run_command(&["entity", "show", "--entity", entity])?;
    assert!(shown["settings"]["rule_approval"] == true && shown["settings"]["key_approval"].is_null(), "{shown}");
    let path = shop.account("wallet-keys");
    assert!(
        shop.asker.browser.post(&path, &[("newest", "")]).await?.header("location").ends_with("wallet_key_created")
    );
    shop.gateway.run_command(&[
        "entity",
        "set",
        "--entity",
        entity,
        "--rule-approval",
        "off",
        "--key-approval",
        "on",
    ])?;
    let shown = shop.gateway.run_command(&["entity", "show", "--entity", entity])?;
    assert!(shown["settings"]["key_approval"] == true && shown["settings"]["rule_approval"].is_null(), "{shown}");
    Ok(())
}
