//! FTP users and wallet keys in the back office: shown once or never, used, ended, and attacks on their forms.

use anyhow::Context as _;
use tillgate_tests::ftp::{FtpAccount, RawFtpClient};
use tillgate_tests::{MerchantClient, TestGateway};

use crate::access::back_office_administration::read_entries;
use crate::access::office_browser::{Answer, Person};
use crate::support::assert_result;

async fn open() -> anyhow::Result<(TestGateway, MerchantClient, Person)> {
    let gateway = TestGateway::start_with(&["--ftp", "127.0.0.1:0", "--ftp-plain"])?;
    let shop = gateway.create_merchant()?;
    let person = Person::enrol(&gateway, "robin@shop.example", "administrator", Some(&shop.entity_id)).await?;
    Ok((gateway, shop, person))
}

fn count_entries(gateway: &TestGateway, action: &str) -> anyhow::Result<usize> {
    Ok(read_entries(gateway, action)?.len())
}

#[track_caller]
fn assert_page(answer: &Answer, text: &str) {
    assert_eq!(answer.status, 200, "{}", answer.page);
    assert!(answer.page.contains(text), "{}", answer.page);
}

#[tokio::test(flavor = "multi_thread")]
async fn an_ftp_user_logs_in_with_the_password_that_is_shown_once_and_is_revoked() -> anyhow::Result<()> {
    let (gateway, shop, person) = open().await?;
    let (browser, account) = (&person.browser, format!("/administration/entities/{}", shop.entity_id));
    let page = format!("{account}/ftp-users");
    assert_page(&browser.get(&account).await?, &format!("href=\"/backoffice{page}\""));
    let created = browser.post(&page, &[("name", "corner-bakery"), ("without-resumption", "1"), ("seen", "0")]).await?;
    let password = created.between("id=\"password\"><code>", "</code>").context("no password")?.to_owned();
    assert_eq!(created.header("cache-control"), "no-store");
    let listed = browser.get(&page).await?;
    assert_page(&listed, "corner-bakery");
    assert!(!listed.page.contains(&password));
    let address = tillgate_tests::poll_until("FTP listens", async || Ok(gateway.ftp_address().ok())).await?;
    let login = FtpAccount { address, user: "corner-bakery".to_owned(), password: password.clone() };
    RawFtpClient::log_in(&login).await?;
    // The form that is sent twice makes no second user, whose password somebody would take for that of the first.
    for name in ["corner-bakery", ""] {
        let twice = browser.post(&page, &[("name", name), ("seen", "0")]).await?;
        assert!(twice.status == 422 && twice.page.contains("A user was created since"), "{}", twice.page);
    }
    let again = browser.post(&page, &[("name", "corner-bakery"), ("seen", "1")]).await?;
    assert_eq!(again.status, 422);
    assert!(again.page.contains("choose another name") && again.page.contains("f-name-help"), "{}", again.page);
    let long = "x".repeat(5000);
    for name in ["Upper", "a b", "<b>", "ä", "a/b", &*long] {
        let refused = browser.post(&page, &[("name", name)]).await?;
        assert_eq!(refused.status, 422, "{name}");
        assert!(refused.page.contains("lowercase letters") && !refused.page.contains("<b>"), "{name}");
    }
    let revoke = format!("{page}/corner-bakery/revoke");
    for _ in 0..2 {
        let revoked = browser.post(&revoke, &[]).await?;
        assert_eq!(revoked.header("location"), format!("/backoffice{page}?done=ftp_revoked"));
    }
    assert!(RawFtpClient::log_in(&login).await.is_err());
    assert_eq!((count_entries(&gateway, "ftp-user create")?, count_entries(&gateway, "ftp-user revoke")?), (1, 1));
    let unnamed = browser.post(&page, &[("seen", "1")]).await?;
    assert_page(&unnamed, "ftp-");
    let listed = gateway.run_command(&["ftp-user", "list", "--entity", &shop.entity_id])?;
    assert_eq!(listed.as_array().map(Vec::len), Some(2));
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn a_wallet_key_is_made_once_by_a_form_pays_with_a_test_token_and_is_retired() -> anyhow::Result<()> {
    let (gateway, shop, person) = open().await?;
    let (browser, account) = (&person.browser, format!("/administration/entities/{}", shop.entity_id));
    let page = format!("{account}/wallet-keys");
    assert_page(&browser.get(&account).await?, &format!("href=\"/backoffice{page}\""));
    let early = browser.post(&format!("{page}/token"), &[]).await?;
    assert_eq!(early.status, 422);
    assert!(early.page.contains("no such active wallet key"), "{}", early.page);
    for _ in 0..2 {
        let created = browser.post(&page, &[("newest", "")]).await?;
        assert_eq!(created.header("location"), format!("/backoffice{page}?done=wallet_key_created"));
    }
    let listed = gateway.run_command(&["wallet-key", "list", "--entity", &shop.entity_id])?;
    assert_eq!(listed.as_array().map(Vec::len), Some(1), "{listed}");
    let (key, public) = (listed[0]["keyId"].as_str().context("id")?, listed[0]["publicKey"].as_str().context("key")?);
    let shown = browser.get(&page).await?;
    assert_page(&shown, key);
    assert!(shown.page.contains(public), "{}", shown.page);
    for derivation in ["hkdf", "x963", "none"] {
        let made = browser.post(&format!("{page}/token"), &[("derivation", derivation)]).await?;
        let token = made.between("id=\"token\"><code>", "</code>").context("no token")?.replace("&quot;", "\"");
        let fields = [
            ("amount", "92.00"),
            ("currency", "EUR"),
            ("paymentType", "DB"),
            ("paymentBrand", "APPLEPAY"),
            ("walletPay.paymentToken", &*token),
        ];
        assert_result(&shop.post("v1/payments", &fields).await?, 200, "000.100.110");
    }
    for _ in 0..2 {
        let retired = browser.post(&format!("{page}/{key}/retire"), &[]).await?;
        assert_eq!(retired.header("location"), format!("/backoffice{page}?done=wallet_key_retired"));
    }
    let unknown = browser.post(&format!("{page}/%3Cb%3E/retire"), &[]).await?;
    assert!(unknown.status == 422 && !unknown.page.contains("<b>"), "{} {}", unknown.status, unknown.page);
    assert_eq!((count_entries(&gateway, "wallet-key create")?, count_entries(&gateway, "wallet-key retire")?), (1, 1));
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn levels_without_files_or_payments_have_no_form() -> anyhow::Result<()> {
    let (gateway, shop, person) = open().await?;
    let channel = gateway.create_merchant_with(&["--merchant", &shop.entity_id])?.entity_id;
    let page = format!("/administration/entities/{channel}/ftp-users");
    assert_page(&person.browser.get(&page).await?, "Only divisions and merchants have reconciliation files.");
    let refused = person.browser.post(&page, &[("name", "x"), ("seen", "0")]).await?;
    assert_eq!(refused.status, 422);
    assert!(refused.page.contains("divisions and merchants"), "{}", refused.page);
    assert_eq!(count_entries(&gateway, "ftp-user create")?, 0);
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn credentials_of_other_tenants_do_not_exist_and_a_late_form_makes_none() -> anyhow::Result<()> {
    let (gateway, shop, person) = open().await?;
    let other = gateway.create_merchant()?;
    let stranger = Person::enrol(&gateway, "kim@other.example", "administrator", Some(&other.entity_id)).await?;
    let merchant = Person::enrol(&gateway, "lee@shop.example", "merchant", Some(&shop.entity_id)).await?;
    gateway.run_command(&["ftp-user", "create", "--entity", &shop.entity_id, "--name", "bakery"])?;
    let key = gateway.run_command(&["wallet-key", "create", "--entity", &shop.entity_id])?;
    let key = key["keyId"].as_str().context("id")?;
    let (foreign, own) = (&shop.entity_id, &other.entity_id);
    let acts = |entity: &str| {
        [
            "ftp-users",
            "ftp-users/bakery/revoke",
            "wallet-keys",
            "wallet-keys/token",
            &format!("wallet-keys/{key}/retire"),
        ]
        .map(|act| format!("/administration/entities/{entity}/{act}"))
    };
    for path in acts(foreign) {
        assert_eq!(stranger.browser.post(&path, &[]).await?.status, 404, "{path}");
        assert_eq!(merchant.browser.post(&path, &[]).await?.status, 403, "{path}");
    }
    for page in ["ftp-users", "wallet-keys"] {
        assert_eq!(stranger.browser.get(&format!("/administration/entities/{foreign}/{page}")).await?.status, 404);
    }
    // By the address of an own entity.
    let [_, revoke, .., retire] = acts(own);
    assert_eq!(stranger.browser.post(&revoke, &[]).await?.status, 404);
    assert_eq!(stranger.browser.post(&retire, &[]).await?.status, 422);
    let mut late = Vec::new();
    for path in acts(foreign) {
        late.push(person.browser.begin_form(&path, &[("confirmed", "yes"), ("seen", "1")]).await?);
    }
    let lost = ["--mail", "robin@shop.example", "--role", "administrator", "--entity", &**foreign];
    gateway.run_command(&[&["user", "role", "remove"], &lost[..]].concat())?;
    for form in late {
        assert_eq!(form.finish().await?, 404);
    }
    for (action, count) in
        [("ftp-user create", 1), ("ftp-user revoke", 0), ("wallet-key create", 1), ("wallet-key retire", 0)]
    {
        assert_eq!(count_entries(&gateway, action)?, count, "{action}");
    }
    Ok(())
}
