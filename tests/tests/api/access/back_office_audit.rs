//! The audit log in the back office: filters, values before and after, the check of the chain, and the tenants.

use anyhow::Context as _;
use tillgate_tests::{Database, MerchantClient, TestGateway};

use crate::access::office_browser::{Answer, Person};

const LIST: &str = "/administration/audit";

/// Returns the numbers of the entries that a page lists.
fn listed_numbers(page: &Answer) -> Vec<i64> {
    let links = page.page.split("href=\"/backoffice/administration/audit/").skip(1);
    links.filter_map(|rest| rest.split('"').next()?.parse().ok()).collect()
}

/// Returns the numbers of the entries with an action and an owner, newest first.
fn stored_numbers(gateway: &TestGateway, action: &str, owner: &str) -> anyhow::Result<Vec<i64>> {
    let database = Database::open(&gateway.data_folder())?;
    let mut statement = database.prepare(
        "SELECT number FROM audit_entry WHERE json_extract(CAST(document AS TEXT), '$.action') LIKE ?1 AND entity = ?2
         ORDER BY number DESC",
    )?;
    let numbers = statement.query_map([action, owner], |row| row.get(0))?.collect::<Result<_, _>>()?;
    Ok(numbers)
}

/// Enrols an administrator of an entity, or of the whole gateway.
async fn enrol(gateway: &TestGateway, mail: &str, entity: Option<&MerchantClient>) -> anyhow::Result<Person> {
    Person::enrol(gateway, mail, "administrator", entity.map(|shop| &*shop.entity_id)).await
}

#[tokio::test(flavor = "multi_thread")]
async fn an_act_is_listed_with_its_person_its_address_and_the_values_before_and_after() -> anyhow::Result<()> {
    let gateway = TestGateway::start()?;
    let shop = gateway.create_merchant()?;
    let person = enrol(&gateway, "robin@shop.example", Some(&shop)).await?;
    for (strict, brands) in [("on", "VISA"), ("off", "VISA,MASTER")] {
        gateway.run_command(&["entity", "set", "--entity", &shop.entity_id, "--strict", strict, "--brands", brands])?;
    }
    let list = person.browser.get(&format!("{LIST}?act=entity+set")).await?;
    let numbers = stored_numbers(&gateway, "entity set", &shop.entity_id)?;
    assert_eq!((list.status, listed_numbers(&list)), (200, numbers.clone()));
    for text in ["Settings changed", "brands: VISA → VISA, MASTER", "strict: true → false", "uid "] {
        assert!(list.page.contains(text), "{text} in {}", list.page);
    }
    let entry = person.browser.get(&format!("{LIST}/{}", numbers[0])).await?;
    for text in ["settings.strict", "<span class=\"wrap\">true</span>", "<span class=\"wrap\">false</span>", "uid "] {
        assert!(entry.page.contains(text), "{text} in {}", entry.page);
    }
    assert!(!entry.page.contains("<code>name</code>"), "the name was set again as it was: {}", entry.page);

    // An act of the back office has its user, by name, and the address.
    let tokens = format!("/administration/entities/{}/tokens", shop.entity_id);
    let fields = [("label", "<b>web & shop</b>"), ("scope-read", "1")];
    assert_eq!(person.browser.post(&tokens, &fields).await?.status, 200);
    let list = person.browser.get(&format!("{LIST}?act=token&actor={}", person.mail)).await?;
    assert_eq!(listed_numbers(&list), stored_numbers(&gateway, "token create", &shop.entity_id)?[..1]);
    assert!(list.page.contains("Robin Quill") && list.page.contains("127.0.0.1"), "{}", list.page);
    assert!(list.page.contains("label: &lt;b&gt;web &amp; shop&lt;/b&gt;"), "{}", list.page);
    let entry = person.browser.get(&format!("{LIST}/{}", listed_numbers(&list)[0])).await?;
    assert!(entry.page.contains("&lt;b&gt;web") && !entry.page.contains("<b>"), "{}", entry.page);
    let id = Person::find_id(&gateway, &person.mail)?;
    assert!(entry.page.contains(&format!("user {id}")) && entry.page.contains("127.0.0.1"), "{}", entry.page);
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn filters_and_pages_show_each_entry_once() -> anyhow::Result<()> {
    let gateway = TestGateway::start()?;
    let shop = gateway.create_merchant()?;
    let paid = shop.pay_by_card(&[]).await?;
    let person = enrol(&gateway, "robin@shop.example", Some(&shop)).await?;
    for number in 0..60 {
        let label = format!("token {number}");
        gateway.run_command(&["token", "create", "--entity", &shop.entity_id, "--label", &label])?;
    }
    let mut address = format!("{LIST}?act=token+create");
    let mut found = Vec::new();
    loop {
        let page = person.browser.get(&address).await?;
        found.extend(listed_numbers(&page));
        assert!(page.page.len() <= 60_000, "a page of {} bytes", page.page.len());
        let Some((before, _)) = page.page.split_once("\" rel=\"next\"") else { break };
        address = before.rsplit("href=\"/backoffice").next().unwrap_or_default().replace("&amp;", "&");
    }
    // The first token was made with the merchant.
    assert_eq!(found, stored_numbers(&gateway, "token create", &shop.entity_id)?);
    assert_eq!(found.len(), 61);

    let numbers =
        async |query: &str| anyhow::Ok(listed_numbers(&person.browser.get(&format!("{LIST}?{query}")).await?));
    let payments = stored_numbers(&gateway, "payment", &shop.entity_id)?;
    assert!(!payments.is_empty());
    let own = stored_numbers(&gateway, "%", &shop.entity_id)?;
    assert!(numbers("from=2020-01-01").await?.iter().all(|number| !payments.contains(number)));
    assert_eq!(numbers("view=all").await?, own[..50]);
    assert_eq!(numbers("act=payment").await?, payments);
    assert_eq!(numbers(&format!("subject={}&view=all", paid.id())).await?, payments);
    assert_eq!(
        numbers(&format!("subject={}", shop.entity_id)).await?,
        stored_numbers(&gateway, "entity create", &shop.entity_id)?
    );
    assert_eq!(numbers("act=token+create&to=2020-01-01").await?, [0_i64; 0]);
    assert_eq!(numbers("act=token+create&from=2020-01-01&period=today").await?.len(), 50);
    assert_eq!(numbers("act=token+create&from=2999-01-01").await?, [0_i64; 0]);
    for mistake in
        ["from=yesterday", "to=x", "zone=Nowhere", "entity=8a", "entity=gateway", "actor=nobody@shop.example"]
    {
        let page = person.browser.get(&format!("{LIST}?{mistake}")).await?;
        assert!(page.status == 200 && page.page.contains("This value is not valid."), "{mistake}: {}", page.page);
        assert_eq!(listed_numbers(&page), [0_i64; 0], "{mistake}");
    }
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn days_begin_and_end_in_the_time_zone_of_the_entity() -> anyhow::Result<()> {
    let gateway = TestGateway::start()?;
    let shop = gateway.create_merchant()?;
    let zone = ["entity", "set", "--entity", &shop.entity_id, "--time-zone", "Pacific/Kiritimati"];
    gateway.run_command(&zone)?;
    let person = enrol(&gateway, "robin@shop.example", Some(&shop)).await?;
    let now = jiff::Timestamp::now().in_tz("Pacific/Kiritimati")?;
    let (today, yesterday) = (now.date(), now.date().yesterday()?);
    let count = async |query: String| {
        anyhow::Ok(listed_numbers(&person.browser.get(&format!("{LIST}?act=entity+set&{query}")).await?).len())
    };
    assert_eq!(count(format!("from={today}&to={today}")).await?, 1);
    assert_eq!(count(format!("to={yesterday}")).await?, 0);
    // In a zone 25 hours behind, the entry is of an earlier day.
    assert_eq!(count(format!("from={today}&zone=Pacific/Niue")).await?, 0);
    let page = person.browser.get(&format!("{LIST}?act=entity+set")).await?;
    assert!(page.page.contains("Pacific/Kiritimati"), "{}", page.page);
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn entries_of_other_tenants_and_of_the_gateway_do_not_exist() -> anyhow::Result<()> {
    let gateway = TestGateway::start()?;
    let (shop, other) = (gateway.create_merchant()?, gateway.create_merchant()?);
    let person = enrol(&gateway, "robin@shop.example", Some(&shop)).await?;
    let root = enrol(&gateway, "root@gateway.example", None).await?;
    let foreign = stored_numbers(&gateway, "%", &other.entity_id)?;
    let common = stored_numbers(&gateway, "%", "")?;
    let own = stored_numbers(&gateway, "%", &shop.entity_id)?;
    assert!(!foreign.is_empty() && !common.is_empty() && !own.is_empty());
    let all = person.browser.get(&format!("{LIST}?view=all")).await?;
    assert_eq!(listed_numbers(&all), own);
    let (last, upper) = (own[0].max(foreign[0]).max(common[0]) + 1, other.entity_id.to_uppercase());
    for query in [
        format!("entity={}", other.entity_id),
        format!("entity={upper}"),
        format!("entity=%20{}", other.entity_id),
        "entity=gateway".to_owned(),
        "entity=*".to_owned(),
        format!("subject={}", other.entity_id),
        format!("subject={}&view=all", other.entity_id),
        "entity=' OR 1=1 --".to_owned(),
        "actor=root@gateway.example".to_owned(),
    ] {
        let page = person.browser.get(&format!("{LIST}?{query}")).await?;
        assert_eq!((page.status, listed_numbers(&page)), (200, Vec::new()), "{query}");
    }
    // A place in the list is only a limit. It leads to no entry of somebody else.
    for before in foreign.iter().chain(&common).copied().chain([last, i64::MAX]) {
        let page = person.browser.get(&format!("{LIST}?view=all&before={before}")).await?;
        let expected: Vec<i64> = own.iter().copied().filter(|number| *number < before).collect();
        assert_eq!(listed_numbers(&page), expected, "{before}");
    }
    let unknown = person.browser.get(&format!("{LIST}/999999")).await?;
    assert_eq!(unknown.status, 404);
    let beyond = i64::MAX.to_string();
    let numbers = foreign.iter().chain(&common).map(ToString::to_string);
    for number in numbers.chain(["0".to_owned(), "-1".to_owned(), "x".to_owned(), beyond]) {
        let page = person.browser.get(&format!("{LIST}/{number}")).await?;
        assert_eq!((page.status, &page.page), (404, &unknown.page), "{number}");
    }
    // Somebody with a role on the whole gateway sees all of them.
    let all = root.browser.get(&format!("{LIST}?view=all")).await?;
    let listed = listed_numbers(&all);
    assert!([&own, &foreign, &common].into_iter().flatten().all(|number| listed.contains(number)), "{listed:?}");
    let page = root.browser.get(&format!("{LIST}?entity=gateway&view=all")).await?;
    assert_eq!(listed_numbers(&page), stored_numbers(&gateway, "%", "")?);
    assert_eq!(root.browser.get(&format!("{LIST}/{}", foreign[0])).await?.status, 200);
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn an_administrator_of_a_psp_sees_the_entries_of_everything_below_it() -> anyhow::Result<()> {
    let gateway = TestGateway::start()?;
    let create = |arguments: &[&str]| {
        let made = gateway.run_command(&[&["entity", "create"], arguments].concat())?;
        made["entityId"].as_str().map(str::to_owned).context("no entity")
    };
    let psp = create(&["--name", "Acme <Payments>", "--level", "psp"])?;
    let merchant = create(&["--name", "Bakery", "--parent", &psp])?;
    let other = create(&["--name", "Other"])?;
    let person = Person::enrol(&gateway, "psp@acme.example", "administrator", Some(&psp)).await?;
    let all = person.browser.get(LIST).await?;
    let of = |entity: &str| stored_numbers(&gateway, "%", entity);
    let mut expected = [of(&psp)?, of(&merchant)?].concat();
    expected.sort_unstable_by(|one, two| two.cmp(one));
    assert_eq!(listed_numbers(&all), expected);
    assert!(all.page.contains("Acme &lt;Payments&gt;") && !all.page.contains(&other), "{}", all.page);
    let below = person.browser.get(&format!("{LIST}?entity={merchant}")).await?;
    assert_eq!(listed_numbers(&below), of(&merchant)?);
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn the_chain_is_checked_only_for_somebody_on_the_whole_gateway() -> anyhow::Result<()> {
    let gateway = TestGateway::start()?;
    let shop = gateway.create_merchant()?;
    shop.pay_by_card(&[]).await?;
    let person = enrol(&gateway, "robin@shop.example", Some(&shop)).await?;
    let root = enrol(&gateway, "root@gateway.example", None).await?;
    let check = format!("{LIST}/check");
    assert_eq!(person.browser.post(&check, &[]).await?.status, 404);
    assert!(!person.browser.get(LIST).await?.page.contains("audit/check"));
    assert!(root.browser.get(LIST).await?.page.contains("action=\"/backoffice/administration/audit/check\""));
    assert_eq!(root.browser.get(&check).await?.status, 405, "a check is no page");
    let sound = root.browser.post(&check, &[]).await?;
    let head = gateway.run_command(&["audit", "verify"])?;
    let hash = head["hash"].as_str().context("no hash")?;
    assert!(sound.status == 200 && sound.page.contains("The audit log is sound"), "{}", sound.page);
    assert!(sound.page.contains(&format!("{}:{hash}", head["last"])), "{} {}", head, sound.page);
    // Somebody changes an entry behind the gateway's back.
    let database = Database::open(&gateway.data_folder())?;
    let changed =
        "UPDATE audit_entry SET document = CAST(replace(CAST(document AS TEXT), 'token create', 'token secret')
         AS BLOB) WHERE number = (SELECT min(number) FROM audit_entry
         WHERE json_extract(CAST(document AS TEXT), '$.action') = 'token create')";
    assert_eq!(database.execute_without_trigger("audit_entry", "audit_entry_update", changed)?, 1);
    let broken = root.browser.post(&check, &[]).await?;
    assert!(
        broken.page.contains("The audit log is not sound") && broken.page.contains("the hash differs"),
        "{}",
        broken.page
    );
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn a_viewer_gets_no_page_of_the_audit_log_and_no_link_to_it() -> anyhow::Result<()> {
    let gateway = TestGateway::start()?;
    let shop = gateway.create_merchant()?;
    let viewer = Person::enrol(&gateway, "viewer@shop.example", "viewer", Some(&shop.entity_id)).await?;
    let number = stored_numbers(&gateway, "%", &shop.entity_id)?[0];
    for path in [LIST.to_owned(), format!("{LIST}/{number}"), format!("{LIST}?entity={}", shop.entity_id)] {
        assert_eq!(viewer.browser.get(&path).await?.status, 403, "{path}");
    }
    assert_eq!(viewer.browser.post(&format!("{LIST}/check"), &[]).await?.status, 403);
    let person = enrol(&gateway, "robin@shop.example", Some(&shop)).await?;
    let entity = format!("/administration/entities/{}", shop.entity_id);
    for path in ["/administration", &entity] {
        assert!(person.browser.get(path).await?.page.contains("/backoffice/administration/audit"), "{path}");
    }
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn the_removal_of_a_role_elsewhere_is_no_entry_of_the_tenant() -> anyhow::Result<()> {
    let gateway = TestGateway::start()?;
    let (shop, other) = (gateway.create_merchant()?, gateway.create_merchant()?);
    let person = enrol(&gateway, "robin@shop.example", Some(&shop)).await?;
    Person::invite(&gateway, "kim@both.example", "viewer", Some(&shop.entity_id))?;
    let role = ["--mail", "kim@both.example", "--role", "viewer", "--entity", &other.entity_id];
    for act in ["add", "remove"] {
        gateway.run_command(&[&["user", "role", act], &role[..]].concat())?;
    }
    let list = person.browser.get(&format!("{LIST}?act=user")).await?;
    assert!(!list.page.contains(&other.entity_id), "{}", list.page);
    assert_eq!(listed_numbers(&list), stored_numbers(&gateway, "user %", &shop.entity_id)?);
    assert_eq!(stored_numbers(&gateway, "user role-%", "")?.len(), 2);
    // The removal of the only role belongs to its entity.
    let role = ["--mail", "kim@both.example", "--role", "viewer", "--entity", &shop.entity_id];
    gateway.run_command(&[&["user", "role", "remove"], &role[..]].concat())?;
    let list = person.browser.get(&format!("{LIST}?act=user+role-remove")).await?;
    assert_eq!(listed_numbers(&list).len(), 1, "{}", list.page);
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn a_rare_act_among_many_payments_is_found_further_back() -> anyhow::Result<()> {
    let gateway = TestGateway::start()?;
    let shop = gateway.create_merchant()?;
    let person = enrol(&gateway, "robin@shop.example", Some(&shop)).await?;
    let token = stored_numbers(&gateway, "token create", &shop.entity_id)?;
    // A page reads 5,000 entries at most.
    let database = Database::open(&gateway.data_folder())?;
    let last: i64 = database.query_row("SELECT max(number) FROM audit_entry", [], |row| row.get(0))?;
    let document = r#"{"time":"2026-01-01T00:00:00Z","action":"payment","subject":"x"}"#;
    let payments = "WITH RECURSIVE counted (number) AS (
             SELECT max(number) + 1 FROM audit_entry UNION ALL SELECT number + 1 FROM counted WHERE number < ?1)
         INSERT INTO audit_entry (number, entity, document, hash) SELECT number, ?2, ?3, ?4 FROM counted";
    let values = rusqlite::params![last + 6000, shop.entity_id, document.as_bytes(), [0_u8; 32]];
    database.execute(payments, values)?;
    let acts = person.browser.get(&format!("{LIST}?act=token+create")).await?;
    assert_eq!(listed_numbers(&acts), token, "payments do not delay the list of acts");
    let mut address = format!("{LIST}?act=token+create&view=all");
    let mut pages = 0;
    loop {
        let page = person.browser.get(&address).await?;
        pages += 1;
        if !listed_numbers(&page).is_empty() {
            assert_eq!(listed_numbers(&page), token);
            break;
        }
        let (before, _) = page.page.split_once("\" rel=\"next\">Search further back").context("the list has ended")?;
        address = before.rsplit("href=\"/backoffice").next().unwrap_or_default().replace("&amp;", "&");
    }
    assert!(pages > 1, "the first page has read more than it may");
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn the_name_of_a_person_is_shown_only_to_those_who_manage_the_person() -> anyhow::Result<()> {
    let gateway = TestGateway::start()?;
    let shop = gateway.create_merchant()?;
    let person = enrol(&gateway, "robin@shop.example", Some(&shop)).await?;
    let root = enrol(&gateway, "root@gateway.example", None).await?;
    let settings = format!("/administration/entities/{}/settings/requests", shop.entity_id);
    assert_eq!(root.browser.post(&settings, &[("strict", "on")]).await?.status, 303);
    let actor = format!("<code>user {}</code>", Person::find_id(&gateway, &root.mail)?);
    let list = format!("{LIST}?act=entity+set");
    let number = listed_numbers(&root.browser.get(&list).await?)[0];
    for path in [list.clone(), format!("{LIST}/{number}")] {
        let (own, foreign) = (root.browser.get(&path).await?, person.browser.get(&path).await?);
        assert_eq!(own.page.matches("Robin Quill").count(), 2, "in the head and in the entry: {}", own.page);
        assert_eq!(foreign.page.matches("Robin Quill").count(), 1, "in the head only: {}", foreign.page);
        assert!(foreign.page.contains(&actor), "{}", foreign.page);
    }
    // A mail address finds nobody whose name the reader may not see.
    let mail = format!("{list}&actor={}", root.mail);
    assert!(person.browser.get(&mail).await?.page.contains("This value is not valid."));
    assert_eq!(listed_numbers(&root.browser.get(&mail).await?), [number]);
    let id = Person::find_id(&gateway, &root.mail)?;
    assert_eq!(listed_numbers(&person.browser.get(&format!("{list}&actor={id}")).await?), [number]);
    Ok(())
}
