//! Card data: no log, record or debug text has it.

use tillgate_domain::payment::connector_message::MessageOutcome;

use super::*;
use crate::recorded_messages::collect_messages;

#[tokio::test]
async fn an_exchange_is_recorded_without_card_data() {
    for (dialect, field) in [("iso87-ascii-4a", "39 response code"), ("iso93-ebcdic-2b", "39 action code")] {
        let (mut host, connector) = start_single(dialect, "").await;
        let mut paid = order(PaymentType::Debit, amount("92.00", "EUR"));
        if let FullAccount::Card(card) = &mut paid.account {
            let value = zeroize::Zeroizing::new("AAABBBCCCDDDEEEFFFGGGHHHIII=".to_owned());
            card.cryptogram = Some(crate::Cryptogram { value, eci: "05".to_owned() });
        }
        let reference = id(1);
        let order_request = request(&reference, &paid);
        let exchange =
            async { tokio::join!(connector.authorize(&order_request), async { host.next().await.approve() }) };
        let ((outcome, ()), messages) = within(collect_messages(exchange)).await;
        assert_eq!(code(&outcome), "000.100.112");
        let [message] = messages.as_slice() else { panic!("{messages:?}") };
        assert_eq!((message.outcome, message.reference.as_str()), (MessageOutcome::Approved, reference.as_str()));
        let value = |name: &str| message.request.iter().find(|(found, _)| found == name).unwrap().1.as_str();
        assert_eq!(value("2 primary account number"), "411111******1111");
        assert_eq!((value("48.92 card security code"), value("48.43 authentication value")), ("•••", "•••"));
        assert!(message.answer.iter().any(|(name, _)| name == field), "{:?}", message.answer);
        // The digits of a time or of a port can be those of an expiry date.
        let (sent, address) = (message.sent.to_string(), host.address().to_string());
        let port = address.rsplit(':').next().unwrap();
        let shown = format!("{message:?} {connector:?} {outcome:?}").replace(&sent, "").replace(port, "");
        for secret in [PAN, "987\"", "AAABBB", "3405"] {
            assert!(!shown.contains(secret), "{secret} in {shown}");
        }
    }
}

#[tokio::test]
async fn a_request_without_an_answer_is_recorded_with_its_reason() {
    let (mut host, connector) = start_single("iso87-ascii-4a", "answer_timeout_ms = 300").await;
    let paid = order(PaymentType::Debit, amount("92.00", "EUR"));
    let reference = id(1);
    let (outcome, messages) = within(collect_messages(connector.authorize(&request(&reference, &paid)))).await;
    assert_eq!(outcome, ConnectorOutcome::Unknown);
    let fault = messages[0].fault.as_ref().unwrap();
    assert_eq!((messages[0].outcome.as_str(), fault.kind.as_str()), ("noAnswer", "late"));
    host.next().await;

    // A caller that gives up leaves a message as well.
    let reference = id(2);
    let order_request = request(&reference, &paid);
    let given_up = tokio::time::timeout(Duration::from_millis(50), connector.authorize(&order_request));
    let (result, messages) = collect_messages(given_up).await;
    assert!(result.is_err());
    assert_eq!(messages[0].outcome, MessageOutcome::NoAnswer);
}
