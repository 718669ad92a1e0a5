//! Card numbers and security codes are kept nowhere: pay, decline and abandon with numbers that occur nowhere else, then
//! look for them in every file, in a backup, in the log at its most talkative, and in every answer.

use tillgate_tests::{Answer, CARD, Gateway, Merchant, until};

use crate::support::*;

/// The number with this beginning and the check digit that makes it a card's; with `off` another last digit, which
/// makes it nobody's.
pub fn number(start: &str, off: u32) -> String {
    let doubled = |digit: u32| if digit > 4 { 2 * digit - 9 } else { 2 * digit };
    let digits = start.chars().rev().filter_map(|character| character.to_digit(10)).enumerate();
    let sum: u32 = digits.map(|(place, digit)| if place % 2 == 0 { doubled(digit) } else { digit }).sum();
    format!("{start}{}", (10 - sum % 10 + off) % 10)
}

/// A number as people write it.
pub fn grouped(number: &str, separator: &str) -> String {
    let digits: Vec<char> = number.chars().collect();
    digits.chunks(4).map(|group| group.iter().collect::<String>()).collect::<Vec<_>>().join(separator)
}

/// Everything that was answered.
#[derive(Default)]
pub struct Answers(pub Vec<String>);

impl Answers {
    pub fn keep(&mut self, answer: Answer) -> Answer {
        self.0.push(format!("{:?}\n{}", answer.headers, answer.text));
        answer
    }
}

/// Whether `text` holds `secret`, or, for a secret so short that it may be part of something else, holds it by itself: not
/// as one of the groups of a descriptor, `7953.7267.0835`, which are any digits.
fn holds(text: &[u8], secret: &str) -> bool {
    let is = |place: Option<usize>, kind: fn(&u8) -> bool| place.and_then(|place| text.get(place)).is_some_and(kind);
    let goes_on = |beside: Option<usize>, beyond: Option<usize>| {
        is(beside, u8::is_ascii_alphanumeric) || (is(beside, |byte| *byte == b'.') && is(beyond, u8::is_ascii_digit))
    };
    let whole = |at: usize| {
        let end = at + secret.len();
        let is_part = goes_on(at.checked_sub(1), at.checked_sub(2)) || goes_on(Some(end), Some(end + 1));
        secret.len() > 8 || !is_part
    };
    text.windows(secret.len()).enumerate().any(|(at, window)| window == secret.as_bytes() && whole(at))
}

#[test]
fn a_code_by_itself_is_found_and_digits_that_happen_to_be_alike_are_not() {
    for text in ["0835", "cvv=0835&", "the code 0835.", "\"0835\"", "1. 0835"] {
        assert!(holds(text.as_bytes(), "0835"), "{text}");
    }
    for text in ["10835", "0835ab", "7953.7267.0835 Kiln", "0835.7267.7953", "7267.0835.7953"] {
        assert!(!holds(text.as_bytes(), "0835"), "{text}");
    }
}

fn cards(gateway: &Gateway) -> anyhow::Result<u32> {
    Ok(database(gateway)?.query_row("SELECT count(*) FROM card", [], |row| row.get(0))?)
}

/// What a shopper and a merchant can get wrong with a card number.
async fn misplace(shop: &Merchant, answers: &mut Answers, number: &str, code: &str) -> anyhow::Result<()> {
    let spaced = grouped(number, " ");
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
        answers.keep(shop.pay(&[(field, &spaced), ("card.holder", &spaced)]).await?);
        answers.keep(shop.pay(&[(field, number)]).await?);
    }
    // In what people write, with a card of another number.
    let note = format!("the old one was {spaced}, or {number}");
    let texts = [("card.holder", number), ("merchantMemo", &note), ("billing.street1", &note), ("descriptor", &spaced)];
    let paid = answers.keep(shop.pay(&texts).await?);
    assert_answer(&paid, 200, "000.100.110");
    let made = answers.keep(shop.checkout(&[("merchantMemo", &note), ("customParameters[note]", &spaced)]).await?);
    let texts = [("card.holder", number), ("customParameters[SHOPPER_note]", &note)];
    answers.keep(shop.submit(made.id(), &texts).await?);
    assert_answer(&answers.keep(shop.status(made.id()).await?), 200, "000.100.110");
    // As the name of a parameter, which a strict entity would repeat.
    let key = format!("customParameters[{number}]");
    let shopper_key = format!("customParameters[SHOPPER_{number}]");
    for name in [number, &spaced, &key, &shopper_key] {
        answers.keep(shop.pay(&[(name, "x")]).await?);
        let made = answers.keep(shop.checkout(&[]).await?);
        answers.keep(shop.submit(made.id(), &[(name, "x")]).await?);
        answers.keep(shop.status(made.id()).await?);
    }
    // In a query, where it has no business.
    let path = format!("v1/payments/x?card.number={number}&card.cvv={code}");
    answers.keep(shop.get(&path).await?);
    // In a body that breaks behind it.
    let body = format!("entityId={}&card.number={number}&card.cvv={code}&broken=%ZZ", shop.entity_id);
    let request = shop.bare(reqwest::Method::POST, "v1/payments").bearer_auth(&shop.token);
    let request = request.header("content-type", "application/x-www-form-urlencoded").body(body);
    answers.keep(Answer::read(request.send().await?).await?);
    Ok(())
}

#[tokio::test]
async fn numbers_and_codes_are_found_nowhere_and_the_sealed_ones_go_with_their_window() -> anyhow::Result<()> {
    let gateway = Gateway::start_env(&["--card-window", "3s"], &[("TILLGATE_LOG", "trace")])?;
    let strict = gateway.merchant_with(&["--strict", "--customer-names-optional", "--sandbox-any-number"])?;
    let shop = gateway.merchant_with(&["--customer-names-optional", "--sandbox-any-number"])?;
    let mut answers = Answers::default();
    // American Express: its codes have four digits, and these begin with a zero, as no count and no duration does.
    let amex = |n: u32| number(&format!("3782917{n}356420"), 0);
    let (paid, declined, posted, refused, lost, merchants) = (amex(1), amex(2), amex(3), amex(4), amex(5), amex(6));
    let wrong = number("37829177356420", 3);
    let (registered, stored) = (amex(8), amex(9));
    let codes = ["0917", "0382", "0746", "0591", "0268", "0653", "0835", "0479", "0967"];
    let numbers = [&paid, &declined, &posted, &refused, &lost, &merchants, &wrong, &registered, &stored];

    // Paid and declined, server to server, with the number in every free text as well.
    for (number, code, force) in [(&paid, codes[0], "000.100.110"), (&declined, codes[1], "800.100.151")] {
        let (spaced, dashed) = (grouped(number, " "), grouped(number, "-"));
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
        let answer = answers.keep(shop.pay(&fields).await?);
        assert_eq!(answer.code(), force, "{}", answer.text);
        answers.keep(shop.get(&format!("v1/payments/{}", answer.id())).await?);
    }
    // A number that no scheme would know is the shopper's all the same.
    let fields =
        [("paymentBrand", "AMEX"), ("card.number", wrong.as_str()), ("card.cvv", codes[6]), ("card.holder", &wrong)];
    let answer = answers.keep(shop.pay(&fields).await?);
    assert_answer(&answer, 400, "100.100.101");

    // Paid through the form after a decline.
    let made = answers.keep(shop.checkout(&[]).await?);
    let note = grouped(&posted, " ");
    let mut fields = vec![
        ("paymentBrand", "AMEX"),
        ("card.number", posted.as_str()),
        ("card.cvv", codes[2]),
        ("card.holder", &posted),
        ("card.expiryYear", "2001"),
        ("customParameters[SHOPPER_note]", &note),
    ];
    answers.keep(shop.submit(made.id(), &fields).await?);
    fields.retain(|(name, _)| *name != "card.expiryYear");
    answers.keep(shop.submit(made.id(), &fields).await?);
    assert_answer(&answers.keep(shop.status(made.id()).await?), 200, "000.100.110");

    // Abandoned: what was wrong was told, and the shopper did not come back.
    let made = answers.keep(shop.checkout(&[]).await?);
    let fields = [
        ("card.number", refused.as_str()),
        ("card.cvv", codes[3]),
        ("card.expiryMonth", "13"),
        ("card.holder", &refused),
    ];
    assert_errors(&answers.keep(shop.submit(made.id(), &fields).await?), &["card.expiryMonth"]);

    // A merchant that sends card data where it has no business: with the checkout and with its update.
    let fields = [
        ("card.number", merchants.as_str()),
        ("card.cvv", codes[4]),
        ("card.holder", &merchants),
        ("merchantMemo", &merchants),
    ];
    let made = answers.keep(shop.checkout(&fields).await?);
    assert_answer(&made, 200, "000.200.100");
    answers.keep(shop.post(&format!("v1/checkouts/{}", made.id()), &fields).await?);
    answers.keep(shop.submit(made.id(), &[]).await?);
    answers.keep(shop.status(made.id()).await?);
    let path = format!("v1/pciIframe.html?checkoutId={}&brands=AMEX", made.id());
    answers.keep(Answer::read(shop.bare(reqwest::Method::GET, &path).send().await?).await?);

    // Stored for later payments: one by itself, which is deleted, and one with its payment, which stays.
    let fields = [
        ("paymentBrand", "AMEX"),
        ("card.number", registered.as_str()),
        ("card.cvv", codes[7]),
        ("card.holder", &registered),
        ("card.expiryMonth", "05"),
        ("card.expiryYear", "2034"),
    ];
    let made = answers.keep(shop.post("v1/registrations", &fields).await?);
    assert_answer(&made, 200, "000.100.110");
    let registration = format!("v1/registrations/{}", made.id());
    let charge = [("amount", "1.00"), ("currency", "EUR"), ("paymentType", "DB"), ("card.cvv", codes[7])];
    let charged = answers.keep(shop.post(&format!("{registration}/payments"), &charge).await?);
    assert_answer(&charged, 200, "000.100.110");
    answers.keep(shop.get(&registration).await?);
    let deleted: Vec<u8> =
        database(&gateway)?.query_row("SELECT sealed FROM registration_account", [], |row| row.get(0))?;
    let path = format!("{registration}?entityId={}", shop.entity_id);
    let request = shop.bare(reqwest::Method::DELETE, &path).bearer_auth(&shop.token);
    assert_answer(&answers.keep(Answer::read(request.send().await?).await?), 200, "000.100.110");
    let fields = [
        ("createRegistration", "true"),
        ("paymentBrand", "AMEX"),
        ("card.number", stored.as_str()),
        ("card.cvv", codes[8]),
        ("standingInstruction.mode", "INITIAL"),
    ];
    assert_answer(&answers.keep(shop.pay(&fields).await?), 200, "000.100.110");

    misplace(&shop, &mut answers, &lost, codes[5]).await?;
    misplace(&strict, &mut answers, &lost, codes[5]).await?;

    // The sealed numbers of what succeeded are there for their window.
    let fresh = answers.keep(shop.pay(&CARD).await?);
    assert_answer(&fresh, 200, "000.100.110");
    assert!(cards(&gateway)? > 0);
    let sealed: Vec<u8> =
        database(&gateway)?.query_row("SELECT sealed FROM card ORDER BY purge_at DESC", [], |row| row.get(0))?;

    let backup = gateway.folder().join("backup.db");
    gateway.command(&["backup", "--to", backup.to_str().unwrap_or_default()])?;
    let search = || -> anyhow::Result<()> {
        let mut places = vec![("the log".to_owned(), gateway.log().into_bytes())];
        places.extend(answers.0.iter().map(|answer| ("an answer".to_owned(), answer.clone().into_bytes())));
        for folder in [gateway.data().as_path(), gateway.folder()] {
            for file in std::fs::read_dir(folder)? {
                let path = file?.path();
                if path.is_file() {
                    places.push((path.display().to_string(), std::fs::read(&path)?));
                }
            }
        }
        assert!(places.iter().any(|(place, _)| place.ends_with("-wal")) && places.len() > 60, "{}", places.len());
        for (place, content) in &places {
            for number in numbers {
                let hexadecimal: String = number.bytes().map(|byte| format!("{byte:02x}")).collect();
                for secret in
                    [number.clone(), grouped(number, " "), grouped(number, "-"), grouped(number, "+"), hexadecimal]
                {
                    assert!(!holds(content, &secret), "{place} holds {secret}: {}", shown(content, &secret));
                }
            }
            for token in [&shop.token, &strict.token] {
                assert!(!holds(content, token), "{place} holds a token: {}", shown(content, token));
            }
            for code in codes {
                assert!(!holds(content, code), "{place} holds the code {code}: {}", shown(content, code));
            }
        }
        Ok(())
    };
    search()?;

    until("the sealed numbers are deleted", async || Ok((cards(&gateway)? == 0).then_some(()))).await?;
    assert!(gateway.log().contains("deleted"));
    // And so are the bytes they left behind, in the file and in its write-ahead log.
    until("the sealed numbers are overwritten", async || {
        let mut left = false;
        for file in std::fs::read_dir(gateway.data())? {
            let content = std::fs::read(file?.path())?;
            for gone in [&sealed, &deleted] {
                left |= content.windows(gone.len()).any(|window| window == gone.as_slice());
            }
        }
        Ok((!left).then_some(()))
    })
    .await?;
    search()
}

/// What stands around a secret that was found.
fn shown(content: &[u8], secret: &str) -> String {
    let at = content.windows(secret.len()).position(|window| window == secret.as_bytes()).unwrap_or_default();
    let around = &content[at.saturating_sub(150)..(at + 100).min(content.len())];
    String::from_utf8_lossy(around).into_owned()
}

#[tokio::test]
async fn a_declined_card_is_not_kept_sealed_either() -> anyhow::Result<()> {
    let gateway = Gateway::start()?;
    let shop = gateway.merchant()?;
    shop.pay(&[("card.number", "4200000000000001")]).await?;
    shop.pay(&[("customParameters[forceResultCode]", "800.100.151")]).await?;
    let made = shop.checkout(&[]).await?;
    shop.submit(made.id(), &[("card.expiryYear", "2001")]).await?;
    shop.submit(made.id(), &[("card.expiryMonth", "13")]).await?;
    assert_eq!(cards(&gateway)?, 0);
    assert_answer(&shop.pay(&[]).await?, 200, "000.100.110");
    assert_eq!(cards(&gateway)?, 1);
    Ok(())
}

#[tokio::test]
async fn a_sealed_number_is_unlike_any_other_of_the_same_card() -> anyhow::Result<()> {
    let gateway = Gateway::start()?;
    let shop = gateway.merchant()?;
    for number in ["4200000000000000", "4200000000000000", "4822000000000000003", "30082246403846"] {
        assert_eq!(shop.pay(&[("card.number", number), ("paymentBrand", "")]).await?.status, 200);
    }
    let database = database(&gateway)?;
    let mut statement = database.prepare("SELECT sealed FROM card")?;
    let sealed: Vec<Vec<u8>> = statement.query_map([], |row| row.get(0))?.collect::<Result<_, _>>()?;
    assert_eq!(sealed.len(), 4);
    for (index, one) in sealed.iter().enumerate() {
        // Their lengths tell nothing about the numbers'.
        assert_eq!(one.len(), sealed[0].len());
        assert!(sealed[..index].iter().all(|other| other[5..] != one[5..]));
    }
    Ok(())
}
