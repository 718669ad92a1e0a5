//! Stored accounts in the form for old browsers: stored by a checkout, chosen, and paid with.

use tillgate_tests::MerchantClient;

use crate::checkout::plain_form::{CARD, NUMBER, get_form, redirect_target, submit_form};
use crate::support::*;

#[tokio::test]
async fn an_account_is_stored_where_the_checkout_is_for_that() -> anyhow::Result<()> {
    let shop = sandbox_shop();
    let wish = [("createRegistration", "true"), ("shopperResultUrl", "https://shop.example/")];
    let made = shop.post("v1/checkouts", &wish).await?;
    let (_, page) = get_form(&shop, &format!("{}/registration", made.id()), "&brands=VISA").await?;
    assert!(page.contains(">Save</button>"), "{page}");
    let answer = submit_form(&shop, made.id(), "&brands=VISA", &CARD).await?;
    assert_eq!(answer.status().as_u16(), 303);
    assert!(redirect_target(&answer).ends_with("%2Fregistration"), "{answer:?}");
    Ok(())
}

/// Stores a Visa card with a holder and a Mastercard without one, and returns their ids in this order.
async fn store_two_cards(shop: &MerchantClient) -> anyhow::Result<[String; 2]> {
    let expiry = [("card.expiryMonth", "05"), ("card.expiryYear", "2034")];
    let visa = [("paymentBrand", "VISA"), ("card.number", NUMBER), ("card.holder", "Rita Relay"), expiry[0], expiry[1]];
    let master = [("paymentBrand", "MASTER"), ("card.number", "5454545454545454"), expiry[0], expiry[1]];
    let visa = shop.post("v1/registrations", &visa).await?;
    let master = shop.post("v1/registrations", &master).await?;
    assert_eq!((visa.result_code(), master.result_code()), ("000.100.110", "000.100.110"));
    Ok([visa.id().to_owned(), master.id().to_owned()])
}

#[tokio::test]
async fn a_stored_card_is_chosen_and_its_code_is_asked_where_the_page_wants_that() -> anyhow::Result<()> {
    let shop = sandbox_shop();
    let ids = store_two_cards(&shop).await?;
    let fields = [
        ("registrations[0].id", ids[0].as_str()),
        ("registrations[1].id", ids[1].as_str()),
        ("overrideHolder", "true"),
        ("shopperResultUrl", "https://shop.example/"),
    ];
    let made = shop.create_checkout(&fields).await?;
    let (_, page) = get_form(&shop, made.id(), "&brands=VISA&locale=en").await?;
    for part in [
        format!(
            "<input type=\"radio\" name=\"registrationId\" value=\"{}\" checked>Visa, **** 0000, 05/34, Rita Relay",
            ids[0]
        ),
        format!("name=\"registrationId\" value=\"{}\">Mastercard, **** 5454, 05/34<", ids[1]),
        format!("name=\"holder.{}\"", ids[1]),
        "<h2>Show other payment methods</h2>".to_owned(),
        "name=\"card.number\"".to_owned(),
    ] {
        assert!(page.contains(&part), "{part}: {page}");
    }
    assert_eq!(page.matches("name=\"card.cvv\"").count(), 1, "of the card form alone: {page}");
    let (_, page) = get_form(&shop, made.id(), "&brands=VISA&locale=en&requireCvv=true").await?;
    assert_eq!(page.matches("name=\"card.cvv\"").count(), 2, "{page}");
    assert!(page.contains("&amp;requireCvv=true"), "it is asked for again: {page}");

    let asked = "&brands=VISA&locale=en&requireCvv=true";
    let holder = format!("holder.{}", ids[1]);
    for (fields, error) in [
        (vec![("registrationId", ids[0].as_str())], "stored-cvv-error"),
        (vec![("registrationId", &ids[0]), ("card.cvv", "1234")], "stored-cvv-error"),
        (vec![("registrationId", &ids[1]), ("card.cvv", "123")], &format!("{}-cardHolder-error", ids[1])),
        (
            vec![("registrationId", &ids[1]), ("card.cvv", "123"), (&holder, NUMBER)],
            &format!("{}-cardHolder-error", ids[1]),
        ),
    ] {
        let answer = submit_form(&shop, made.id(), asked, &fields).await?;
        let (status, page) = (answer.status().as_u16(), answer.text().await?);
        assert_eq!((status, page.matches(&format!("id=\"{error}\"")).count()), (400, 1), "{fields:?}: {page}");
        assert_eq!(page.matches("class=\"error\"").count(), 1, "nothing is said in the card form: {page}");
        assert!(page.contains(&format!("value=\"{}\" checked", fields[0].1)) && !page.contains(NUMBER), "{page}");
    }
    let answer =
        submit_form(&shop, made.id(), asked, &[("registrationId", "8a000000000000000000000000000000")]).await?;
    assert_eq!(answer.status().as_u16(), 400);
    assert!(answer.text().await?.contains("role=\"alert\""));
    assert_eq!(shop.read_status(made.id()).await?.result_code(), "000.200.000");

    let paid =
        [("registrationId", ids[1].as_str()), ("card.cvv", "1 2 3"), (&holder, "Mara Made"), ("holder.other", "x")];
    let answer = submit_form(&shop, made.id(), asked, &paid).await?;
    assert_eq!(
        (answer.status().as_u16(), redirect_target(&answer).starts_with("https://shop.example/?id=")),
        (303, true)
    );
    let status = shop.read_status(made.id()).await?;
    assert_result(&status, 200, "000.100.110");
    assert_eq!(
        (&status.json["registrationId"], &status.json["card"]["holder"]),
        (&ids[1].as_str().into(), &"Mara Made".into())
    );
    Ok(())
}

#[tokio::test]
async fn stored_cards_alone_make_a_form_and_other_cards_need_the_page() -> anyhow::Result<()> {
    let shop = sandbox_shop();
    let ids = store_two_cards(&shop).await?;
    let made = shop
        .create_checkout(&[("registrations[0].id", &ids[0]), ("shopperResultUrl", "https://shop.example/")])
        .await?;
    let (_, page) = get_form(&shop, made.id(), "&brands=NOBODY").await?;
    assert_eq!(
        (page.matches("<form ").count(), page.contains("card.number"), page.contains("<h2>")),
        (1, false, false),
        "{page}"
    );
    let (_, page) = get_form(&shop, made.id(), "").await?;
    assert!(page.contains("registrationId") && page.contains("card.number"), "{page}");
    let answer = submit_form(&shop, made.id(), "", &[("registrationId", &ids[0])]).await?;
    assert_eq!(answer.status().as_u16(), 303);
    assert_eq!(shop.read_status(made.id()).await?.result_code(), "000.100.110");
    Ok(())
}
