//! Edge cases of parameter names: spellings, indexes, brackets, and empty names and values.

use ExpectedResult::{Paid, RefusedBody, RefusedParameter};
use reqwest::Method;
use tillgate_tests::{ApiResponse, CARD, encode_form};

use crate::request::encodings::{ExpectedResult, FORM, assert_expected, assert_rows, order_without, post_body};
use crate::support::*;

#[tokio::test]
async fn a_parameter_comes_once_however_it_is_spelt() -> anyhow::Result<()> {
    let shop = sandbox_shop();
    let rows: &[(&[u8], ExpectedResult)] = &[
        (b"amount=92.00&amount=92.00", RefusedParameter("amount")),
        (b"amount=92.00&amount=1.00", RefusedParameter("amount")),
        (b"amount=92.00&%61mount=92.00", RefusedParameter("amount")),
        (b"amount=92.00&amoun%74", RefusedParameter("amount")),
        (b"amount=92.00&amount=", RefusedParameter("amount")),
        (b"amount&amount=92.00", RefusedParameter("amount")),
        (b"testMode=INTERNAL&testMode=INTERNAL", RefusedParameter("testMode")),
        (b"card.cvv=123&card.cvv=123", RefusedParameter("card.cvv")),
        (b"cart.items[0].name=a&cart.items[0].name=b", RefusedParameter("cart.items[0].name")),
        (b"cart.items[0].name=a&cart.items%5B0%5D.name=b", RefusedParameter("cart.items[0].name")),
        (b"customParameters[colour]=a&customParameters[colour]=b", RefusedParameter("customParameters[colour]")),
        (b"customParameters[colour]=a&customParameters%5bcolour%5d=b", RefusedParameter("customParameters[colour]")),
        (b"nobodys=1&nobodys=2", RefusedParameter("nobodys")),
        // A different spelling is a different, unknown name.
        (b"amount=92.00&Amount=1.00", Paid("amount", Some("92.00"))),
        (b"amount=92.00&amount[]=1.00", Paid("amount", Some("92.00"))),
        (b"amount=92.00&amount[0]=1.00", Paid("amount", Some("92.00"))),
        (b"amount=92.00&+amount=1.00", Paid("amount", Some("92.00"))),
        (b"amount=92.00&%EF%BB%BFamount=1.00", Paid("amount", Some("92.00"))),
        (b"card.holder=Jane Jones&card[holder]=Mallory", Paid("card.holder", Some("Jane Jones"))),
        (b"card[holder]=Mallory&card.holder=Jane Jones", Paid("card.holder", Some("Jane Jones"))),
        (b"customParameters[colour]=blue&customParameters.colour=red", Paid("customParameters[colour]", Some("blue"))),
        (b"customParameters[colour]=blue&customParameters[Colour]=red", Paid("customParameters[colour]", Some("blue"))),
    ];
    assert_rows(&shop, rows).await?;
    // From a page, the last value is used: pages combine hidden inputs with check boxes of the same name.
    for (twice, holder) in [
        ("card.holder=Hidden+Field&card.holder=Jane+Jones", "Jane Jones"),
        ("card.holder=Jane+Jones&card%2Eholder=Last+One", "Last One"),
        ("card.holder=Jane+Jones&card[holder]=Mallory", "Jane Jones"),
    ] {
        let made = shop.create_checkout(&[]).await?;
        let card = encode_form(CARD.into_iter().filter(|(name, _)| *name != "card.holder"));
        let path = format!("v1/checkouts/{}/payment", made.id());
        let request =
            shop.bare_request(Method::POST, &path).header("content-type", FORM).body(format!("{card}&{twice}"));
        ApiResponse::read_from(request.send().await?).await?;
        let paid = shop.read_status(made.id()).await?;
        assert_expected(&paid, Paid("card.holder", Some(holder)), twice);
    }
    Ok(())
}

#[tokio::test]
async fn an_index_is_a_number_from_0_to_999_with_or_without_others_before_it() -> anyhow::Result<()> {
    let item = |index: &str, then: Option<bool>| {
        let name = format!("cart.items[{index}].name");
        (name, then)
    };
    let shop = sandbox_shop();
    let rows = [
        item("0", Some(true)),
        item("1", Some(true)),
        item("999", Some(true)),
        item("1000", Some(false)),
        item("00", Some(false)),
        item("007", Some(false)),
        item("-1", Some(false)),
        item("+1", Some(false)),
        item("-0", Some(false)),
        item("1e1", Some(false)),
        item("1.0", Some(false)),
        item("0x1", Some(false)),
        item("1 ", Some(false)),
        item("65536", Some(false)),
        item("4294967296", Some(false)),
        item("18446744073709551616", Some(false)),
        item(&"9".repeat(200), Some(false)),
        // Without a number, the name is unknown.
        item("", None),
        item("n", None),
        item(" 1", None),
        item("٣", None),
        item("\u{ff13}", None),
        item("\u{202e}1", None),
    ];
    for (name, then) in rows {
        let fields = encode_form([(name.as_str(), "A"), ("cart.items[5].name", "with holes before it")]);
        let body = format!("{}&{fields}", order_without(&shop, "")).into_bytes();
        let answer = post_body(&shop, "v1/payments", &[("content-type", FORM)], body).await?;
        if then == Some(false) {
            assert_result(&answer, 400, "200.300.404");
            assert!(
                answer.invalid_parameters().len() == 1 && name.starts_with(answer.invalid_parameters()[0]),
                "{name}: {}",
                answer.text
            );
            assert!(answer.invalid_parameters()[0].starts_with("cart.items["), "{name}: {}", answer.text);
        } else {
            assert_result(&answer, 200, "000.100.110");
            assert_eq!(answer.text.contains(r#""A""#), then == Some(true), "{name}: {}", answer.text);
            assert!(answer.text.contains("with holes before it"), "{name}: {}", answer.text);
        }
    }
    // In every bracket of a name, and in nested lists.
    let nested: &[(&[u8], ExpectedResult)] = &[
        (
            b"airline.passengers[0].legs[1000].fareBasis=A",
            RefusedParameter("airline.passengers[0].legs[1000].fareBasis"),
        ),
        (b"airline.passengers[01].legs[0].fareBasis=A", RefusedParameter("airline.passengers[01].legs[0].fareBasis")),
        (b"registrations[1000].id=A", RefusedParameter("registrations[1000].id")),
        (b"a[0][1000]=A", RefusedParameter("a[0][1000]")),
        // A key chosen by the sender is a word, not an index.
        (b"customParameters[1000]=A", Paid("customParameters[1000]", Some("A"))),
        (b"customParameters[007]=A", Paid("customParameters[007]", Some("A"))),
        (b"customParameters[-1]=A", RefusedParameter("customParameters[-1]")),
    ];
    assert_rows(&shop, nested).await
}

#[tokio::test]
async fn empty_names_and_values_and_odd_brackets_are_told_apart() -> anyhow::Result<()> {
    let rows: &[(&[u8], ExpectedResult)] = &[
        // An empty value is treated as absent.
        (b"amount=", RefusedParameter("amount")),
        (b"amount", RefusedParameter("amount")),
        (b"card.holder=", Paid("card.holder", None)),
        (b"card.holder", Paid("card.holder", None)),
        (b"customParameters[colour]=", Paid("customParameters", None)),
        (b"registrations[0].id=", Paid("registrations", None)),
        // Blanks only are treated as absent too.
        (b"amount=+", RefusedParameter("amount")),
        (b"testMode=%20", Paid("testMode", None)),
        // Separators only are ignored.
        (b"&&&", Paid("amount", Some("92.00"))),
        (b"=", RefusedBody),
        (b"=value", RefusedBody),
        (b"==", RefusedBody),
        (b"&=&", RefusedBody),
        (b"customParameters[]=1", RefusedParameter("customParameters[]")),
        (b"customParameters[ab]=1", RefusedParameter("customParameters[ab]")),
        (b"customParameters[a b c]=1", RefusedParameter("customParameters[a b c]")),
        (b"customParameters[[abc]]=1", RefusedParameter("customParameters[[abc]]")),
        (b"customParameters[abc=1", RefusedParameter("customParameters[abc")),
        (b"customParameters]abc[=1", RefusedParameter("customParameters]abc[")),
        (b"[]=1", Paid("amount", Some("92.00"))),
        (b"[=1", RefusedParameter("[")),
        (b"]=1", RefusedParameter("]")),
        (b"%20=1", Paid("amount", Some("92.00"))),
        (b"a%00b=1", RefusedParameter("a\u{fffd}b")),
        (b"a%0Ab=1", RefusedParameter("a\u{fffd}b")),
        (b"a%7Fb=1", RefusedParameter("a\u{fffd}b")),
        (b"__proto__=1&constructor.prototype=2", Paid("amount", Some("92.00"))),
        (b"result.code=000.000.000&id=1&ndc=2", Paid("amount", Some("92.00"))),
    ];
    assert_rows(&sandbox_shop(), rows).await
}
