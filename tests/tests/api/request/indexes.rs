//! Indexes of lists: each item is returned at the index that it was sent with, in every response and event, and omitted
//! indexes do not inflate responses.

use serde_json::Value;
use tillgate_shared::parameter::{Parameter, ParameterGroup, all_parameters};
use tillgate_tests::{ApiResponse, CARD, MerchantClient, TestGateway, encode_form};

use crate::checkout::browser_parameters::sample_value;
use crate::delivery::webhooks::WebhookScene;
use crate::request::catalogue::repeated_value;
use crate::support::*;

type SentFields = Vec<(String, String)>;

/// Returns the rows with an index in their name, with their number in the catalogue. The offered registrations have
/// their own test, because each must exist.
fn indexed_parameters() -> impl Iterator<Item = (usize, &'static Parameter)> {
    all_parameters()
        .enumerate()
        .filter(|(_, row)| row.name.contains("[n]") && row.group != ParameterGroup::Registration)
}

/// Returns every indexed parameter with its sample value. `indexes` are those of the lists in its name, from the
/// outermost.
fn indexed_fields(indexes: &[u16]) -> SentFields {
    let rows = indexed_parameters().map(|(number, row)| {
        let mut name = row.name.to_owned();
        for index in indexes {
            name = name.replacen("[n]", &format!("[{index}]"), 1);
        }
        (name, sample_value(row.format, number, 0))
    });
    rows.collect()
}

fn borrow_fields(sent: &SentFields) -> Vec<(&str, &str)> {
    sent.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect()
}

/// The outermost lists of a response, as paths for `repeated_value`.
const LISTS: [&str; 3] = ["cart.items", "cart.payments", "airline.passengers"];

/// Asserts that each value is at its index, and that every list ends there and has only null before. `indexes` are
/// those that the fields were sent with.
#[track_caller]
fn assert_in_place(answer: &ApiResponse, sent: &SentFields, indexes: &[u16]) {
    for (name, value) in sent {
        assert_eq!(repeated_value(answer, name), value, "{name}: {}", answer.text);
    }
    let mut lists: Vec<(String, u16)> = LISTS.iter().map(|list| ((*list).to_owned(), indexes[0])).collect();
    lists.push((format!("airline.passengers[{}].legs", indexes[0]), indexes[1]));
    for (list, index) in lists {
        let items = repeated_value(answer, &list).as_array().cloned().unwrap_or_default();
        assert_eq!(items.len(), usize::from(index) + 1, "{list}: {}", answer.text);
        assert!(items[..usize::from(index)].iter().all(Value::is_null), "{list}: {}", answer.text);
    }
}

/// Returns the payload of an event as a response, for the assertions about responses.
fn payload_as_response(event: &Value) -> ApiResponse {
    let json = event["payload"].clone();
    ApiResponse { status: 200, headers: reqwest::header::HeaderMap::default(), text: json.to_string(), json }
}

#[tokio::test(flavor = "multi_thread")]
async fn an_item_that_is_sent_alone_at_index_3_stays_at_3_in_every_answer_and_webhook() -> anyhow::Result<()> {
    let scene = WebhookScene::new(&[]).await?;
    let shop = &scene.shop;
    for indexes in [[3, 1], [0, 0], [1, 999], [999, 7], [999, 999]] {
        let sent = indexed_fields(&indexes);
        assert!(sent.len() > 80, "{}", sent.len());
        let fields = borrow_fields(&sent);
        let reference = format!("order-{}-{}", indexes[0], indexes[1]);
        let paid = shop.pay_by_card(&[&fields[..], &[("merchantTransactionId", &reference)]].concat()).await?;
        assert_result(&paid, 200, "000.100.110");
        let status = shop.get(&format!("v1/payments/{}", paid.id())).await?;
        let query = shop.get(&format!("v1/query/{}", paid.id())).await?;
        let event = payload_as_response(&scene.next_event().await?.1);
        let list = shop.get(&format!("v1/query?merchantTransactionId={reference}")).await?;
        let entry = payload_as_response(&serde_json::json!({ "payload": list.json["payments"][0] }));
        let declined = shop.pay_by_card(&[&fields[..], &[("card.number", "4200000000000001")]].concat()).await?;
        let declined_event = payload_as_response(&scene.next_event().await?.1);
        let amount = [("paymentType", "RF"), ("amount", "1.00"), ("currency", "EUR")];
        let refund = shop.post(&format!("v1/payments/{}", paid.id()), &[&amount[..], &fields].concat()).await?;
        let refund_event = payload_as_response(&scene.next_event().await?.1);
        let made = shop.create_checkout(&fields).await?;
        shop.submit_card(made.id(), &[]).await?;
        let submitted_event = payload_as_response(&scene.next_event().await?.1);
        let checkout = shop.read_status(made.id()).await?;
        let registered = shop.post("v1/registrations", &[&CARD[..], &fields].concat()).await?;
        let registered_event = payload_as_response(&scene.next_event().await?.1);
        let stored = shop.get(&format!("v1/registrations/{}", registered.id())).await?;
        for answer in [
            &paid,
            &status,
            &query,
            &event,
            &entry,
            &declined,
            &declined_event,
            &refund,
            &refund_event,
            &submitted_event,
            &checkout,
            &registered,
            &registered_event,
            &stored,
        ] {
            assert_in_place(answer, &sent, &indexes);
        }
    }
    Ok(())
}

#[tokio::test]
async fn registrations_that_a_checkout_offers_stay_at_their_index() -> anyhow::Result<()> {
    let shop = sandbox_shop();
    let stored = shop.post("v1/registrations", &CARD).await?;
    let made =
        shop.create_checkout(&[("registrations[3].id", stored.id()), ("registrations[999].id", stored.id())]).await?;
    shop.submit_card(made.id(), &[]).await?;
    let status = shop.read_status(made.id()).await?;
    assert_result(&status, 200, "000.100.110");
    let offered = status.json["registrations"].as_array().cloned().unwrap_or_default();
    assert_eq!(offered.len(), 1000);
    for (index, entry) in offered.iter().enumerate() {
        let expected = if [3, 999].contains(&index) { Value::from(stored.id()) } else { Value::Null };
        assert_eq!(entry["id"], expected, "{index}");
    }
    Ok(())
}

#[tokio::test]
async fn items_come_back_in_the_order_of_their_indexes_whatever_order_they_were_sent_in() -> anyhow::Result<()> {
    let mut indexes = [7_u16, 2, 11, 0, 5];
    for _ in 0..indexes.len() {
        indexes.rotate_left(1);
        let sent: SentFields =
            indexes.iter().map(|index| (format!("cart.items[{index}].name"), format!("n{index}"))).collect();
        let paid = sandbox_shop().pay_by_card(&borrow_fields(&sent)).await?;
        let items = paid.json["cart"]["items"].as_array().cloned().unwrap_or_default();
        let told: Vec<Value> = items.iter().map(|item| item["name"].clone()).collect();
        let expected: Vec<Value> = (0..12)
            .map(|index| if indexes.contains(&index) { format!("n{index}").into() } else { Value::Null })
            .collect();
        assert_eq!(told, expected, "{}", paid.text);
    }
    Ok(())
}

#[tokio::test]
async fn an_update_fills_the_gaps_that_a_checkout_left() -> anyhow::Result<()> {
    let shop = sandbox_shop();
    let names = async |checkout: &str| -> anyhow::Result<Vec<Value>> {
        shop.submit_card(checkout, &[]).await?;
        let status = shop.read_status(checkout).await?;
        Ok(status.json["cart"]["items"].as_array().into_iter().flatten().map(|item| item["name"].clone()).collect())
    };
    let made = shop.create_checkout(&[("cart.items[3].name", "Clay"), ("cart.items[1].name", "Bowl")]).await?;
    let path = format!("v1/checkouts/{}", made.id());
    let update = [("cart.items[0].name", "Cup"), ("cart.items[5].name", "Jug"), ("cart.items[3].name", "Glaze")];
    assert_result(&shop.post(&path, &update).await?, 200, "000.200.101");
    let expected =
        ["Cup", "Bowl", "", "Glaze", "", "Jug"].map(|name| if name.is_empty() { Value::Null } else { name.into() });
    assert_eq!(names(made.id()).await?, expected);
    // An attempt that shares its parameters with the previous one returns the same lists.
    let made = shop.create_checkout(&[("cart.items[2].name", "Bowl")]).await?;
    shop.submit_card(made.id(), &[("card.number", "4200000000000001")]).await?;
    shop.post(&format!("v1/checkouts/{}", made.id()), &[("cart.items[0].name", "Cup")]).await?;
    assert_eq!(names(made.id()).await?, [Value::from("Cup"), Value::Null, "Bowl".into()]);
    Ok(())
}

#[tokio::test]
async fn a_browser_neither_adds_an_item_nor_moves_one() -> anyhow::Result<()> {
    let shop = sandbox_shop();
    let made = shop.create_checkout(&[("cart.items[3].name", "Clay")]).await?;
    let mut posted = indexed_fields(&[0, 0]);
    posted.extend(indexed_fields(&[3, 3]));
    posted.extend(indexed_fields(&[999, 999]));
    posted.push(("registrations[0].id".to_owned(), "8a".repeat(16)));
    assert_result(&shop.submit_card(made.id(), &borrow_fields(&posted)).await?, 200, "000.000.100");
    let status = shop.read_status(made.id()).await?;
    let told =
        [&Value::Null, &Value::Null, &Value::Null, &serde_json::json!({ "name": "Clay", "quantityUnit": "COUNT" })];
    assert_eq!(status.json["cart"]["items"].as_array().map(|items| items.iter().collect()), Some(told.to_vec()));
    for name in ["airline", "registrations"] {
        assert!(status.json[name].is_null(), "{}", status.text);
    }
    assert!(status.json["cart"]["payments"].is_null(), "{}", status.text);
    Ok(())
}

#[tokio::test]
async fn an_index_is_written_in_one_way_so_two_names_never_mean_one_item() -> anyhow::Result<()> {
    let shop = sandbox_shop();
    let lists = ["cart.items[{}].name", "cart.payments[{}].name", "airline.passengers[{}].name"];
    let inner = "airline.passengers[0].legs[{}].fareBasis";
    for list in lists.into_iter().chain([inner]) {
        for index in ["03", "003", "+3", "-3", "-0", "00", "3.0", "1000", "65536", "65539", "4294967299", "1e1", "0x3"]
        {
            let (name, plain) = (list.replace("{}", index), list.replace("{}", "3"));
            let fields = [(plain.as_str(), "x"), (name.as_str(), "y")];
            let made = shop.create_checkout(&[]).await?;
            let path = format!("v1/checkouts/{}", made.id());
            for answer in [
                shop.pay_by_card(&fields).await?,
                shop.create_checkout(&fields).await?,
                shop.post(&path, &fields).await?,
                shop.submit_card(made.id(), &fields).await?,
                shop.post("v1/registrations", &[&CARD[..], &fields].concat()).await?,
            ] {
                assert_errors(&answer, &[&name]);
            }
        }
    }
    // An index in another notation makes the name unknown, and it is ignored.
    for index in [" 3", "٣", "x3", "", "[3"] {
        let name = format!("cart.items[{index}].name");
        let paid = shop.pay_by_card(&[("cart.items[3].name", "x"), (name.as_str(), "y")]).await?;
        let told = &paid.json["cart"]["items"][3]["name"];
        assert!(paid.status == 400 || *told == "x", "{name}: {}", paid.text);
    }
    // A duplicate name is refused for requests of a server.
    let twice =
        encode_form([("cart.items[3].name", "a"), ("entityId", shop.entity_id.as_str()), ("cart.items[3].name", "b")]);
    let request = shop.bare_request(reqwest::Method::POST, "v1/checkouts").bearer_auth(&shop.token);
    let request = request.header("content-type", "application/x-www-form-urlencoded").body(twice);
    assert_errors(&ApiResponse::read_from(request.send().await?).await?, &["cart.items[3].name"]);
    Ok(())
}

/// Returns `legs[index].fareBasis` of these passengers.
fn leg_fields(passengers: std::ops::Range<u16>, index: u16) -> SentFields {
    passengers
        .map(|passenger| (format!("airline.passengers[{passenger}].legs[{index}].fareBasis"), "Y".to_owned()))
        .collect()
}

#[tokio::test]
async fn lists_inside_lists_leave_out_999_indexes_together_and_no_more() -> anyhow::Result<()> {
    let shop = sandbox_shop();
    // 333 times three omitted indexes are 999.
    let most = leg_fields(0..333, 3);
    let paid = shop.pay_by_card(&borrow_fields(&most)).await?;
    assert_result(&paid, 200, "000.100.110");
    assert_eq!(repeated_value(&paid, "airline.passengers[332].legs[3].fareBasis"), "Y");
    for (sent, at_fault) in [
        (leg_fields(0..334, 3), "airline.passengers[333].legs[3].fareBasis"),
        (leg_fields(0..2, 999), "airline.passengers[1].legs[999].fareBasis"),
        (leg_fields(0..1000, 999), "airline.passengers[1].legs[999].fareBasis"),
    ] {
        let fields = borrow_fields(&sent);
        for answer in [
            shop.pay_by_card(&fields).await?,
            shop.create_checkout(&fields).await?,
            shop.post("v1/registrations", &[&CARD[..], &fields].concat()).await?,
        ] {
            assert_errors(&answer, &[at_fault]);
        }
    }
    // Several requests cannot exceed the limit either.
    let made = shop.create_checkout(&borrow_fields(&leg_fields(0..333, 3))).await?;
    let path = format!("v1/checkouts/{}", made.id());
    let more = leg_fields(400..401, 1);
    assert_errors(&shop.post(&path, &borrow_fields(&more)).await?, &["airline.passengers[400].legs[1].fareBasis"]);
    // An update that fills gaps makes room for others.
    let filled: SentFields = (0..3).flat_map(|index| leg_fields(0..1, index)).collect();
    assert_result(&shop.post(&path, &borrow_fields(&filled)).await?, 200, "000.200.101");
    assert_result(&shop.post(&path, &borrow_fields(&more)).await?, 200, "000.200.101");
    Ok(())
}

#[tokio::test]
async fn the_highest_indexes_add_a_few_kilobytes_to_an_answer_and_no_more() -> anyhow::Result<()> {
    let gateway = TestGateway::start()?;
    let shop: MerchantClient = gateway.create_merchant()?;
    let reference = ("merchantTransactionId", "order-4711");
    for (lowest, highest, bound) in [
        (vec!["cart.items[0].name"], vec!["cart.items[999].name"], 5_000),
        (
            vec!["cart.items[0].name", "cart.payments[0].name", "airline.passengers[0].legs[0].fareBasis"],
            vec!["cart.items[999].name", "cart.payments[999].name", "airline.passengers[999].legs[999].fareBasis"],
            20_000,
        ),
    ] {
        let size = async |names: &[&str]| -> anyhow::Result<usize> {
            let fields: Vec<(&str, &str)> = names.iter().map(|name| (*name, "x")).chain([reference]).collect();
            Ok(shop.pay_by_card(&fields).await?.text.len())
        };
        let (small, large) = (size(&lowest).await?, size(&highest).await?);
        assert!(large > small && large - small < bound + 100, "{highest:?}: {small} {large}");
    }
    // A longer request has no more nulls: half of the indexes are sent, half are omitted.
    let many: SentFields =
        (0..500).map(|index| (format!("cart.items[{}].name", index * 2 + 1), "x".to_owned())).collect();
    let paid = shop.pay_by_card(&borrow_fields(&many)).await?;
    assert_eq!(paid.text.matches("null").count(), 500, "{}", paid.text);
    Ok(())
}
