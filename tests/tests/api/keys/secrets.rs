//! Card numbers and security codes are not stored in clear text anywhere. The tests pay, decline and abandon with
//! unique numbers, then search all files, a backup, the log at its most detailed level, and all responses.

use memchr::memmem;
use tillgate_tests::{ApiResponse, CARD, MerchantClient, TestGateway, is_on_postgres, poll_until};

use crate::support::*;

/// Returns the number with this beginning and a valid check digit. `off` is added to the check digit, modulo 10, and
/// makes it wrong unless it is 0.
pub fn number_with_check_digit(start: &str, off: u32) -> String {
    let doubled = |digit: u32| if digit > 4 { 2 * digit - 9 } else { 2 * digit };
    let digits = start.chars().rev().filter_map(|character| character.to_digit(10)).enumerate();
    let sum: u32 = digits.map(|(place, digit)| if place % 2 == 0 { doubled(digit) } else { digit }).sum();
    format!("{start}{}", (10 - sum % 10 + off) % 10)
}

/// Returns a number in groups of four digits, as people write it.
pub fn group_digits(number: &str, separator: &str) -> String {
    let digits: Vec<char> = number.chars().collect();
    digits.chunks(4).map(|group| group.iter().collect::<String>()).collect::<Vec<_>>().join(separator)
}

/// Headers and body of each recorded response.
#[derive(Default)]
pub struct RecordedResponses(pub Vec<String>);

impl RecordedResponses {
    /// Records a response and returns it.
    pub fn record(&mut self, answer: ApiResponse) -> ApiResponse {
        self.0.push(format!("{:?}\n{}", answer.headers, answer.text));
        answer
    }
}

/// Returns true if `text` contains `secret`. A secret of at most eight bytes must not be part of a longer word or
/// number, such as one of the digit groups of a descriptor, `7953.7267.0835`.
fn has_secret(text: &[u8], secret: &str) -> bool {
    let matches =
        |place: Option<usize>, kind: fn(&u8) -> bool| place.and_then(|place| text.get(place)).is_some_and(kind);
    let continues = |neighbor: Option<usize>, next: Option<usize>| {
        matches(neighbor, u8::is_ascii_alphanumeric)
            || (matches(neighbor, |byte| *byte == b'.') && matches(next, u8::is_ascii_digit))
    };
    let is_match = |at: usize| {
        let end = at + secret.len();
        let is_part = continues(at.checked_sub(1), at.checked_sub(2)) || continues(Some(end), Some(end + 1));
        secret.len() > 8 || !is_part
    };
    memmem::find_iter(text, secret).any(is_match)
}

#[test]
fn a_code_by_itself_is_found_and_digits_that_happen_to_be_alike_are_not() {
    for text in ["0835", "cvv=0835&", "the code 0835.", "\"0835\"", "1. 0835"] {
        assert!(has_secret(text.as_bytes(), "0835"), "{text}");
    }
    for text in ["10835", "0835ab", "7953.7267.0835 Kiln", "0835.7267.7953", "7267.0835.7953"] {
        assert!(!has_secret(text.as_bytes(), "0835"), "{text}");
    }
}

fn count_cards(gateway: &TestGateway) -> anyhow::Result<u32> {
    Ok(open_database(gateway)?.query_row("SELECT count(*) FROM card", [], |row| row.get(0))?)
}

/// Sends a card number in all places where a shopper or a merchant may put it by mistake, and records the responses.
/// Asserts that payments with the number in free text succeed.
async fn send_misplaced_number(
    shop: &MerchantClient,
    answers: &mut RecordedResponses,
    number: &str,
    code: &str,
) -> anyhow::Result<()> {
    let spaced = group_digits(number, " ");
    for field in [
        "card.number",
        "card.cvv",
        "card.expiryMonth",
        "card.expiryYear",
        "amount",
        "currency",
        "paymentType",
        "paymentBrand",
        "testMode",
        "customer.birthDate",
        "billing.country",
        "billing.state",
        "shopperResultUrl",
        "customer.sex",
    ] {
        answers.record(shop.pay_by_card(&[(field, &spaced), ("card.holder", &spaced)]).await?);
        answers.record(shop.pay_by_card(&[(field, number)]).await?);
    }
    // In free text, with a card of another number.
    let note = format!("the old one was {spaced}, or {number}");
    let texts = [("card.holder", number), ("merchantMemo", &note), ("billing.street1", &note), ("descriptor", &spaced)];
    let paid = answers.record(shop.pay_by_card(&texts).await?);
    assert_result(&paid, 200, "000.100.110");
    let made =
        answers.record(shop.create_checkout(&[("merchantMemo", &note), ("customParameters[note]", &spaced)]).await?);
    let texts = [("card.holder", number), ("customParameters[SHOPPER_note]", &note)];
    answers.record(shop.submit_card(made.id(), &texts).await?);
    assert_result(&answers.record(shop.read_status(made.id()).await?), 200, "000.100.110");
    // In the name of a parameter, which a strict entity would repeat.
    let key = format!("customParameters[{number}]");
    let shopper_key = format!("customParameters[SHOPPER_{number}]");
    for name in [number, &spaced, &key, &shopper_key] {
        answers.record(shop.pay_by_card(&[(name, "x")]).await?);
        let made = answers.record(shop.create_checkout(&[]).await?);
        answers.record(shop.submit_card(made.id(), &[(name, "x")]).await?);
        answers.record(shop.read_status(made.id()).await?);
    }
    // In a query, which does not take it.
    let path = format!("v1/payments/x?card.number={number}&card.cvv={code}");
    answers.record(shop.get(&path).await?);
    // In a body with a syntax error after the number.
    let body = format!("entityId={}&card.number={number}&card.cvv={code}&broken=%ZZ", shop.entity_id);
    let request = shop.bare_request(reqwest::Method::POST, "v1/payments").bearer_auth(&shop.token);
    let request = request.header("content-type", "application/x-www-form-urlencoded").body(body);
    answers.record(ApiResponse::read_from(request.send().await?).await?);
    Ok(())
}

#[tokio::test]
async fn numbers_and_codes_are_found_nowhere_and_the_sealed_ones_go_with_their_window() -> anyhow::Result<()> {
    let gateway = TestGateway::start_with_environment(&["--card-window", "3s"], &[("TILLGATE_LOG", "trace")])?;
    let strict = gateway.create_merchant_with(&["--strict", "--customer-names-optional", "--sandbox-any-number"])?;
    let shop = gateway.create_merchant_with(&["--customer-names-optional", "--sandbox-any-number"])?;
    let mut answers = RecordedResponses::default();
    // American Express has codes of four digits. These begin with a zero, unlike any count or duration.
    let amex = |n: u32| number_with_check_digit(&format!("3782917{n}356420"), 0);
    let (paid, declined, posted, refused, lost, merchants) = (amex(1), amex(2), amex(3), amex(4), amex(5), amex(6));
    let wrong = number_with_check_digit("37829177356420", 3);
    let (registered, stored) = (amex(8), amex(9));
    let codes = ["0917", "0382", "0746", "0591", "0268", "0653", "0835", "0479", "0967"];
    let numbers = [&paid, &declined, &posted, &refused, &lost, &merchants, &wrong, &registered, &stored];

    // Approved and declined server to server, with the number in every free text as well.
    for (number, code, force) in [(&paid, codes[0], "000.100.110"), (&declined, codes[1], "800.100.151")] {
        let (spaced, dashed) = (group_digits(number, " "), group_digits(number, "-"));
        let note = format!("my card is {dashed}, thanks");
        let fields = [
            ("paymentBrand", "AMEX"),
            ("card.number", number.as_str()),
            ("card.cvv", code),
            ("card.holder", spaced.as_str()),
            ("customer.givenName", number),
            ("customer.companyName", &spaced),
            ("billing.street1", &note),
            ("descriptor", number),
            ("merchantMemo", &note),
            ("merchantTransactionId", number),
            ("customParameters[note]", &note),
            ("customParameters[forceResultCode]", force),
        ];
        let answer = answers.record(shop.pay_by_card(&fields).await?);
        assert_eq!(answer.result_code(), force, "{}", answer.text);
        answers.record(shop.get(&format!("v1/payments/{}", answer.id())).await?);
    }
    // An invalid number must not be stored either.
    let fields =
        [("paymentBrand", "AMEX"), ("card.number", wrong.as_str()), ("card.cvv", codes[6]), ("card.holder", &wrong)];
    let answer = answers.record(shop.pay_by_card(&fields).await?);
    assert_result(&answer, 400, "100.100.101");

    // Approved in the form after a decline.
    let made = answers.record(shop.create_checkout(&[]).await?);
    let note = group_digits(&posted, " ");
    let mut fields = vec![
        ("paymentBrand", "AMEX"),
        ("card.number", posted.as_str()),
        ("card.cvv", codes[2]),
        ("card.holder", &posted),
        ("card.expiryYear", "2001"),
        ("customParameters[SHOPPER_note]", &note),
    ];
    answers.record(shop.submit_card(made.id(), &fields).await?);
    fields.retain(|(name, _)| *name != "card.expiryYear");
    answers.record(shop.submit_card(made.id(), &fields).await?);
    assert_result(&answers.record(shop.read_status(made.id()).await?), 200, "000.100.110");

    // Abandoned after an error: the shopper does not return.
    let made = answers.record(shop.create_checkout(&[]).await?);
    let fields = [
        ("card.number", refused.as_str()),
        ("card.cvv", codes[3]),
        ("card.expiryMonth", "13"),
        ("card.holder", &refused),
    ];
    assert_errors(&answers.record(shop.submit_card(made.id(), &fields).await?), &["card.expiryMonth"]);

    // A merchant that sends card data with the checkout and its update.
    let fields = [
        ("card.number", merchants.as_str()),
        ("card.cvv", codes[4]),
        ("card.holder", &merchants),
        ("merchantMemo", &merchants),
    ];
    let made = answers.record(shop.create_checkout(&fields).await?);
    assert_result(&made, 200, "000.200.100");
    answers.record(shop.post(&format!("v1/checkouts/{}", made.id()), &fields).await?);
    answers.record(shop.submit_card(made.id(), &[]).await?);
    answers.record(shop.read_status(made.id()).await?);
    let path = format!("v1/pciIframe.html?checkoutId={}&brands=AMEX", made.id());
    answers.record(ApiResponse::read_from(shop.bare_request(reqwest::Method::GET, &path).send().await?).await?);

    // Stored for later payments: one registered alone and then deleted, and one with its payment, which remains.
    let fields = [
        ("paymentBrand", "AMEX"),
        ("card.number", registered.as_str()),
        ("card.cvv", codes[7]),
        ("card.holder", &registered),
        ("card.expiryMonth", "05"),
        ("card.expiryYear", "2034"),
    ];
    let made = answers.record(shop.post("v1/registrations", &fields).await?);
    assert_result(&made, 200, "000.100.110");
    let registration = format!("v1/registrations/{}", made.id());
    let charge = [("amount", "1.00"), ("currency", "EUR"), ("paymentType", "DB"), ("card.cvv", codes[7])];
    let charged = answers.record(shop.post(&format!("{registration}/payments"), &charge).await?);
    assert_result(&charged, 200, "000.100.110");
    answers.record(shop.get(&registration).await?);
    let deleted: Vec<u8> =
        open_database(&gateway)?.query_row("SELECT sealed FROM registration_account", [], |row| row.get(0))?;
    let path = format!("{registration}?entityId={}", shop.entity_id);
    let request = shop.bare_request(reqwest::Method::DELETE, &path).bearer_auth(&shop.token);
    assert_result(&answers.record(ApiResponse::read_from(request.send().await?).await?), 200, "000.100.110");
    let fields = [
        ("createRegistration", "true"),
        ("paymentBrand", "AMEX"),
        ("card.number", stored.as_str()),
        ("card.cvv", codes[8]),
        ("standingInstruction.mode", "INITIAL"),
    ];
    assert_result(&answers.record(shop.pay_by_card(&fields).await?), 200, "000.100.110");

    send_misplaced_number(&shop, &mut answers, &lost, codes[5]).await?;
    send_misplaced_number(&strict, &mut answers, &lost, codes[5]).await?;

    // The sealed numbers of approved payments exist during their retention period.
    let fresh = answers.record(shop.pay_by_card(&CARD).await?);
    assert_result(&fresh, 200, "000.100.110");
    assert!(count_cards(&gateway)? > 0);
    let sealed: Vec<u8> =
        open_database(&gateway)?.query_row("SELECT sealed FROM card ORDER BY purge_at DESC", [], |row| row.get(0))?;

    let backup = gateway.folder().join("backup.db");
    gateway.copy_store(&backup)?;
    let search = || -> anyhow::Result<()> {
        let mut places = vec![("the log".to_owned(), gateway.read_log().into_bytes())];
        places.extend(answers.0.iter().map(|answer| ("an answer".to_owned(), answer.clone().into_bytes())));
        for folder in [gateway.data_folder().as_path(), gateway.folder()] {
            for file in std::fs::read_dir(folder)? {
                let path = file?.path();
                if path.is_file() {
                    places.push((path.display().to_string(), std::fs::read(&path)?));
                }
            }
        }
        let has_log = places.iter().any(|(place, _)| place.ends_with("-wal"));
        assert!((has_log || is_on_postgres()) && places.len() > 60, "{}", places.len());
        for (place, content) in &places {
            for number in numbers {
                let hexadecimal: String = number.bytes().map(|byte| format!("{byte:02x}")).collect();
                for secret in [
                    number.clone(),
                    group_digits(number, " "),
                    group_digits(number, "-"),
                    group_digits(number, "+"),
                    hexadecimal,
                ] {
                    assert!(!has_secret(content, &secret), "{place} holds {secret}: {}", text_around(content, &secret));
                }
            }
            for token in [&shop.token, &strict.token] {
                assert!(!has_secret(content, token), "{place} holds a token: {}", text_around(content, token));
            }
            for code in codes {
                assert!(!has_secret(content, code), "{place} holds the code {code}: {}", text_around(content, code));
            }
        }
        Ok(())
    };
    search()?;

    poll_until("the sealed numbers are deleted", async || Ok((count_cards(&gateway)? == 0).then_some(()))).await?;
    gateway.wait_for_log("deleted").await?;
    // Their bytes are also overwritten in the database and in the write-ahead log.
    poll_until("the sealed numbers are overwritten", async || {
        let mut left = false;
        for content in gateway.read_data_files()? {
            for gone in [&sealed, &deleted] {
                left |= content.windows(gone.len()).any(|window| window == gone.as_slice());
            }
        }
        Ok((!left).then_some(()))
    })
    .await?;
    search()
}

/// Returns up to 150 bytes before and 100 after the start of a secret.
fn text_around(content: &[u8], secret: &str) -> String {
    let at = content.windows(secret.len()).position(|window| window == secret.as_bytes()).unwrap_or_default();
    let around = &content[at.saturating_sub(150)..(at + 100).min(content.len())];
    String::from_utf8_lossy(around).into_owned()
}

#[tokio::test]
async fn a_declined_card_is_not_kept_sealed_either() -> anyhow::Result<()> {
    let gateway = TestGateway::start()?;
    let shop = gateway.create_merchant()?;
    shop.pay_by_card(&[("card.number", "4200000000000001")]).await?;
    shop.pay_by_card(&[("customParameters[forceResultCode]", "800.100.151")]).await?;
    let made = shop.create_checkout(&[]).await?;
    shop.submit_card(made.id(), &[("card.expiryYear", "2001")]).await?;
    shop.submit_card(made.id(), &[("card.expiryMonth", "13")]).await?;
    assert_eq!(count_cards(&gateway)?, 0);
    assert_result(&shop.pay_by_card(&[]).await?, 200, "000.100.110");
    assert_eq!(count_cards(&gateway)?, 1);
    Ok(())
}

#[tokio::test]
async fn a_sealed_number_is_unlike_any_other_of_the_same_card() -> anyhow::Result<()> {
    let gateway = TestGateway::start()?;
    let shop = gateway.create_merchant()?;
    for number in ["4200000000000000", "4200000000000000", "4822000000000000003", "30082246403846"] {
        assert_eq!(shop.pay_by_card(&[("card.number", number), ("paymentBrand", "")]).await?.status, 200);
    }
    let database = open_database(&gateway)?;
    let mut statement = database.prepare("SELECT sealed FROM card")?;
    let sealed: Vec<Vec<u8>> = statement.query_map([], |row| row.get(0))?.collect::<Result<_, _>>()?;
    assert_eq!(sealed.len(), 4);
    for (index, one) in sealed.iter().enumerate() {
        // The lengths of the sealed numbers do not depend on the numbers.
        assert_eq!(one.len(), sealed[0].len());
        assert!(sealed[..index].iter().all(|other| other[5..] != one[5..]));
    }
    Ok(())
}
