//! The documentation that the service provides for programs and for people: both documents contain every route and
//! every parameter, and agree with the behavior.

use std::collections::BTreeSet;

use reqwest::Method;
use serde_json::Value;
use tillgate_api::reference::{Caller, ROUTES};
use tillgate_shared::brand::{AccountType, Brand};
use tillgate_shared::parameter::all_parameters;
use tillgate_shared::result::ResultCode;
use tillgate_tests::{ApiResponse, encode_form};

use crate::support::*;

/// Gets a document of the shared gateway without credentials.
async fn get_document(path: &str) -> anyhow::Result<ApiResponse> {
    ApiResponse::read_from(sandbox_shop().bare_request(Method::GET, path).send().await?).await
}

/// Returns the keys of the object at a JSON pointer. The list is empty if there is no object.
fn object_keys(document: &Value, pointer: &str) -> Vec<String> {
    document.pointer(pointer).map(member_names).unwrap_or_default().into_iter().map(str::to_owned).collect()
}

#[tokio::test]
async fn both_documents_name_every_route() -> anyhow::Result<()> {
    let (description, page) = (get_document("openapi.json").await?, get_document("reference").await?);
    assert_eq!((description.status, page.status), (200, 200));
    assert_eq!(description.json["openapi"], "3.1.0");
    let mut described = BTreeSet::new();
    for (path, item) in description.json["paths"].as_object().into_iter().flatten() {
        for (method, operation) in item.as_object().into_iter().flatten() {
            described.insert((method.to_uppercase(), path.clone(), operation["operationId"].to_string()));
        }
    }
    let table: BTreeSet<_> = ROUTES
        .iter()
        .map(|route| {
            let operation = format!("{:?}", route.operation);
            (route.method.as_str().to_owned(), route.path.replace("{*", "{"), operation)
        })
        .collect();
    assert_eq!(described, table);
    for route in ROUTES.iter() {
        assert!(page.text.contains(&format!(r#"id="{}""#, route.operation)), "{}", route.operation);
        assert!(page.text.contains(&format!("<code>{}</code>", route.path)), "{}", route.path);
        assert!(page.text.contains(route.summary), "{}", route.summary);
    }
    Ok(())
}

#[tokio::test]
async fn both_documents_name_every_parameter_and_say_how_many_there_are() -> anyhow::Result<()> {
    let (description, page) = (get_document("openapi.json").await?, get_document("reference").await?);
    let count = all_parameters().count();
    assert_eq!(description.json["x-parameters"], count);
    assert!(page.text.contains(&format!(r#"<b id="parameter-count">{count}</b> parameters"#)));

    let schemas = description.json["components"]["schemas"].as_object().cloned().unwrap_or_default();
    let plain: BTreeSet<&str> = schemas
        .values()
        .flat_map(|schema| schema["properties"].as_object())
        .flatten()
        .map(|(name, _)| name.as_str())
        .collect();
    let patterns = schemas.values().flat_map(|schema| schema["patternProperties"].as_object()).flatten().count();
    assert_eq!(patterns, all_parameters().filter(|row| row.name.contains('[')).count());
    let schemes = description.json["components"]["securitySchemes"].to_string();
    for row in all_parameters() {
        if !row.name.contains('[') {
            let is_credential = schemes.contains(&format!("\"{}\"", row.name));
            assert!(plain.contains(row.name) != is_credential, "{}", row.name);
        }
        let anchor = format!(r#"<tr id="p.{}">"#, row.name.replace(['[', ']'], "-"));
        assert_eq!(page.text.matches(&anchor).count(), 1, "{}", row.name);
        let told = page.text.split(&anchor).nth(1).and_then(|rest| rest.split("</tr>").next()).unwrap_or_default();
        assert_eq!(told.contains(" Default: "), row.default.is_some(), "{}", row.name);
    }
    for code in ResultCode::all() {
        assert!(page.text.contains(&format!("<code>{}</code>", code.code())), "{code}");
    }
    Ok(())
}

#[tokio::test]
async fn the_page_needs_nothing_but_itself() -> anyhow::Result<()> {
    let page = get_document("reference").await?;
    let policy = page.headers["content-security-policy"].to_str()?;
    assert!(policy.starts_with("default-src 'none'; style-src 'sha256-"), "{policy}");
    assert!(!policy.contains("unsafe") && !policy.contains("http"), "{policy}");
    for loaded in ["<script", "<link", "<img", "<iframe", "@import", "url(", " style=", "src=", " on"] {
        let found = page
            .text
            .split('<')
            .filter(|tag| format!("<{}", tag.split('>').next().unwrap_or_default()).contains(loaded));
        assert_eq!(found.count(), 0, "{loaded}");
    }
    let style = page.text.split("<style>").nth(1).and_then(|rest| rest.split("</style>").next()).unwrap_or_default();
    let hash = {
        use base64::Engine as _;
        use sha2::Digest as _;
        base64::engine::general_purpose::STANDARD.encode(sha2::Sha256::digest(style))
    };
    assert!(policy.contains(&hash), "{policy}");
    assert!(!style.contains("url(") && !style.contains("@import"));

    // Every link within the page has its anchor, and every anchor is unique.
    let ids: Vec<&str> = page.text.split(" id=\"").skip(1).filter_map(|rest| rest.split('"').next()).collect();
    let distinct: BTreeSet<&str> = ids.iter().copied().collect();
    assert_eq!(ids.len(), distinct.len());
    for target in page.text.split("href=\"#").skip(1).filter_map(|rest| rest.split('"').next()) {
        assert!(distinct.contains(target), "#{target}");
    }
    Ok(())
}

#[tokio::test]
async fn every_status_and_every_required_parameter_is_documented() -> anyhow::Result<()> {
    let shop = sandbox_shop();
    let description = get_document("openapi.json").await?.json;
    // A review system has credentials, too, which are not a merchant's.
    let has_credentials = |caller| matches!(caller, Caller::Merchant | Caller::ReviewSystem);
    for route in ROUTES.iter().filter(|route| has_credentials(route.caller)) {
        let is_merchant = route.caller == Caller::Merchant;
        let path = route.path.replace("{*", "{");
        let operation = &description["paths"][&path][route.method.as_str().to_lowercase()];
        let documented = |status: u16| !operation["responses"][status.to_string()].is_null();
        let address = path.trim_start_matches('/').replace("{id}", "8a0123456789abcdef0123456789abcd");
        let method: Method = route.method.as_str().parse()?;
        let entity = encode_form([("entityId", shop.entity_id.as_str())]);
        let ask = |query: bool| {
            let address = if query { format!("{address}?{entity}") } else { address.clone() };
            let request = shop.bare_request(method.clone(), &address);
            if query {
                request
            } else {
                request.header("content-type", "application/x-www-form-urlencoded").body(entity.clone())
            }
        };
        let query = method != Method::POST || route.has_file;
        for request in [ask(query), ask(query).bearer_auth("eDp5"), ask(query).bearer_auth(&shop.token)] {
            let answer = ApiResponse::read_from(request.send().await?).await?;
            assert!(documented(answer.status), "{} {path}: {}", route.method.as_str(), answer.text);
            // Missing required parameters are named.
            if answer.status == 400 && !route.required.is_empty() {
                for name in route.required {
                    assert!(answer.invalid_parameters().contains(name), "{name}: {}", answer.text);
                }
            }
        }
        let required = operation.pointer("/requestBody/content/application~1x-www-form-urlencoded/schema/required");
        if !query {
            let names: Vec<&str> =
                required.and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_str).collect();
            assert_eq!(names.contains(&"entityId"), is_merchant, "{path}: {names:?}");
            assert!(route.required.iter().all(|name| names.contains(name)), "{path}: {names:?}");
        }
        let pair = serde_json::json!({ "userId": [], "password": [] });
        let security = if is_merchant { vec![serde_json::json!({ "bearer": [] }), pair] } else { Vec::new() };
        assert_eq!(operation["security"], Value::from(security), "{path}");
    }
    assert_eq!(object_keys(&description, "/components/securitySchemes"), ["bearer", "userId", "password"]);
    Ok(())
}

#[tokio::test]
async fn every_message_to_a_merchants_server_is_described() -> anyhow::Result<()> {
    let page = get_document("reference").await?;
    let section = page.text.split(r#"id="notifications""#).nth(1).unwrap_or_default();
    let section = section.split("</section>").next().unwrap_or_default();
    let callback = ["Review decision callbacks", "Expect: 100-continue", "APPROVE", "CANCEL", "PENDING", "user id"];
    for word in ["Reminder:", "Notification:", "Webhooks", "X-Initialization-Vector"].iter().chain(&callback) {
        assert!(section.contains(word), "{word}: {section}");
    }
    Ok(())
}

#[tokio::test]
async fn result_codes_come_with_their_group() -> anyhow::Result<()> {
    let codes = get_document("v1/resultcodes").await?.json["resultCodes"].clone();
    let listed = codes.as_array().cloned().unwrap_or_default();
    assert_eq!(listed.len(), ResultCode::all().count());
    for (entry, code) in listed.iter().zip(ResultCode::all()) {
        assert_eq!(entry["code"], code.code());
        assert_eq!(entry["group"], code.group().as_str());
        assert_eq!(entry["description"], code.description());
    }
    Ok(())
}

/// Returns the rows of the table with this anchor in the reference page, as lists of the cells' text without tags.
/// Panics if the table is missing or empty.
pub fn table_rows(page: &ApiResponse, anchor: &str) -> Vec<Vec<String>> {
    let table = page.text.split(&format!(r#"<table id="{anchor}">"#)).nth(1).unwrap_or_default();
    let body = table.split("<tbody>").nth(1).and_then(|rest| rest.split("</tbody>").next()).unwrap_or_default();
    let text = |cell: &str| {
        let parts = cell.split('<').enumerate().map(|(place, part)| match place {
            0 => part,
            _ => part.split_once('>').map_or("", |(_, text)| text),
        });
        parts.collect::<String>().trim().replace("&amp;", "&")
    };
    let cells = |row: &str| row.split("<td>").skip(1).map(text).collect();
    let rows: Vec<Vec<String>> = body.split("<tr>").skip(1).map(cells).collect();
    assert!(!rows.is_empty(), "no table {anchor}");
    rows
}

/// Returns the pairs `name=value` in a text with blanks between them. Skips other words.
fn name_value_pairs(text: &str) -> Vec<(&str, &str)> {
    text.split(' ').filter_map(|pair| pair.split_once('=')).collect()
}

#[tokio::test]
async fn every_test_card_of_the_page_has_the_outcome_that_the_page_says() -> anyhow::Result<()> {
    let (shop, page) = (sandbox_shop(), get_document("reference").await?);
    for card in table_rows(&page, "test-cards") {
        let code = if card[1] == "AMEX" { "1234" } else { "123" };
        let fields = [("card.number", card[0].as_str()), ("paymentBrand", &card[1]), ("card.cvv", code)];
        let paid = shop.pay_by_card(&fields).await?;
        assert_eq!(paid.result_code(), card[2], "{card:?}: {}", paid.text);
    }
    Ok(())
}

#[tokio::test]
async fn every_code_and_postcode_of_the_page_gives_the_letter_that_the_page_says() -> anyhow::Result<()> {
    let (shop, page) = (sandbox_shop(), get_document("reference").await?);
    for code in table_rows(&page, "test-codes") {
        let sent = match code[0].as_str() {
            "any other" => "123",
            missing if missing.starts_with("none") => "",
            known => known,
        };
        let paid = shop.pay_by_card(&[("card.cvv", sent)]).await?;
        assert_result(&paid, 200, "000.100.110");
        assert_eq!(paid.json["result"]["cvvResponse"], code[1], "{code:?}");
        let amex = [("paymentBrand", "AMEX"), ("card.number", "377777777777770"), ("card.cvv", &format!("0{sent}"))];
        if !sent.is_empty() {
            assert_eq!(shop.pay_by_card(&amex).await?.json["result"]["cvvResponse"], code[1], "{code:?}");
        }
    }
    for postcode in table_rows(&page, "test-addresses") {
        let sent = match postcode[0].as_str() {
            "any other" => "LS1 4DY",
            missing if missing.starts_with("none") => "",
            known => known,
        };
        let paid = shop.pay_by_card(&[("billing.street1", "Mill Lane"), ("billing.postcode", sent)]).await?;
        assert_result(&paid, 200, "000.100.110");
        assert_eq!(paid.json["result"]["avsResponse"], postcode[1], "{postcode:?}");
    }
    Ok(())
}

#[tokio::test]
async fn every_bank_account_of_the_page_has_the_outcome_that_the_page_says() -> anyhow::Result<()> {
    let (shop, page) = (sandbox_shop(), get_document("reference").await?);
    let accounts = table_rows(&page, "test-accounts");
    let countries: BTreeSet<&str> = accounts.iter().map(|account| &account[0][..2]).collect();
    assert_eq!(countries.len(), 3, "{countries:?}");
    let order = [("amount", "92.00"), ("currency", "EUR"), ("paymentType", "DB"), ("paymentBrand", "SEPA")];
    for account in accounts {
        let fields = [
            ("bankAccount.holder", "Jane Jones"),
            ("bankAccount.iban", account[0].as_str()),
            ("bankAccount.bic", &account[1]),
        ];
        let paid = shop.post("v1/payments", &[&order[..], &fields].concat()).await?;
        assert_eq!(paid.result_code(), account[2], "{account:?}: {}", paid.text);
        assert_eq!(paid.json["resultDetails"]["AcquirerResponse"], account[3], "{account:?}");
    }
    Ok(())
}

#[tokio::test]
async fn every_transfer_and_wallet_of_the_page_is_answered_as_the_page_says() -> anyhow::Result<()> {
    let (shop, page) = (sandbox_shop(), get_document("reference").await?);
    let order = [("amount", "92.00"), ("currency", "EUR"), ("paymentType", "DB")];
    for transfer in table_rows(&page, "test-transfers") {
        let to = [("paymentBrand", transfer[1].as_str()), ("shopperResultUrl", "https://shop.example/result")];
        let paid = shop.post("v1/payments", &[&order[..], &to, &name_value_pairs(&transfer[0])].concat()).await?;
        assert_eq!(paid.status, 200, "{transfer:?}: {}", paid.text);
        if transfer[2].starts_with("merchant.bankAccount") {
            assert!(paid.json["merchant"]["bankAccount"]["number"].is_string(), "{transfer:?}: {}", paid.text);
        } else {
            assert_result(&paid, 200, "000.200.000");
            assert!(paid.json["redirect"]["url"].is_string(), "{transfer:?}: {}", paid.text);
        }
    }
    let wallets = table_rows(&page, "test-wallets");
    let decrypted = name_value_pairs(&wallets[0][0]);
    for brand in Brand::all().iter().filter(|brand| brand.kind == AccountType::Wallet) {
        assert!(page.text.contains(brand.code));
        let back = [("paymentBrand", brand.code), ("shopperResultUrl", "https://shop.example/result")];
        let paid = shop.post("v1/payments", &[&order[..], &back, &decrypted].concat()).await?;
        assert_result(&paid, 200, if brand.is_synchronous() { "000.100.110" } else { "000.200.000" });
    }
    Ok(())
}

#[tokio::test]
async fn every_answer_on_a_providers_page_has_the_code_that_the_reference_says() -> anyhow::Result<()> {
    let (shop, page) = (sandbox_shop(), get_document("reference").await?);
    let answers = table_rows(&page, "test-page");
    assert_eq!(answers.len(), 4);
    for answer in answers {
        let back = ("shopperResultUrl", "https://shop.example/result");
        let paid = shop.pay_by_card(&[("paymentBrand", "PAYPAL"), back]).await?;
        let url = paid.json["redirect"]["url"].as_str().unwrap_or_default();
        let provider = shop.client.get(url).send().await?.text().await?;
        let button = format!(r#"value="{}">{}"#, answer[0], answer[1]);
        assert!(provider.contains(&button), "{button}: {provider}");
        let post = shop.client.post(url).header("content-type", "application/x-www-form-urlencoded");
        post.body(format!("answer={}", answer[0])).send().await?;
        assert_eq!(shop.get(&format!("v1/payments/{}", paid.id())).await?.result_code(), answer[2]);
    }
    Ok(())
}

#[tokio::test]
async fn every_fault_of_the_page_has_the_code_that_the_page_says() -> anyhow::Result<()> {
    let (shop, page) = (sandbox_shop(), get_document("reference").await?);
    let sepa = [
        ("paymentBrand", "SEPA"),
        ("card.number", ""),
        ("card.expiryMonth", ""),
        ("card.expiryYear", ""),
        ("card.cvv", ""),
        ("bankAccount.holder", "Jane Jones"),
        ("bankAccount.iban", "DE23100000001234567890"),
    ];
    let bic = ("bankAccount.bic", "MARKDEF1100");
    let faults: [(&str, Vec<(&str, &str)>); 8] = [
        ("a card number with a wrong check digit", vec![("card.number", "4200000000000001")]),
        (
            "a card number that is no documented test number, unless the entity takes any (--sandbox-any-number)",
            vec![("card.number", "4716029384756009")],
        ),
        ("a card number that is not of the brand", vec![("paymentBrand", "MASTER")]),
        ("a card that has expired", vec![("card.expiryYear", "2001")]),
        ("a security code of a length that the brand does not have", vec![("card.cvv", "1234")]),
        ("a direct debit of SEPA in another currency than EUR", [&sepa[..], &[bic, ("currency", "USD")]].concat()),
        ("a BIC of another country than the IBAN", [&sepa[..], &[("bankAccount.bic", "ABNANL2A")]].concat()),
        (
            "a mandate that was signed in the future",
            [&sepa[..], &[bic, ("bankAccount.mandate.dateOfSignature", "2099-01-01")]].concat(),
        ),
    ];
    let listed = table_rows(&page, "test-outcomes");
    let (forced, listed) = listed.split_first().ok_or_else(|| anyhow::anyhow!("no rows"))?;
    assert_eq!(name_value_pairs(&forced[0]), [("customParameters[forceResultCode]", "CODE")]);
    let whens: Vec<&str> = listed.iter().map(|row| row[0].as_str()).collect();
    assert_eq!(whens, faults.each_ref().map(|(when, _)| *when));
    for (row, (_, fields)) in listed.iter().zip(&faults) {
        let paid = shop.pay_by_card(fields).await?;
        assert_result(&paid, 400, &row[1]);
        assert_eq!(paid.json["resultDetails"]["AcquirerResponse"], row[2], "{row:?}");
    }
    Ok(())
}
