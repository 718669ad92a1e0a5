//! Requests about the network, in both directions.

use super::*;
use crate::iso8583::{IsoMessage, Mti};

#[tokio::test]
async fn a_line_signs_on_and_answers_the_echo_of_its_host_and_refuses_a_change_of_keys() {
    for (dialect, types, field, [echo, keys], accepted, refused) in [
        ("iso87-ascii-4a", ["0800", "0810"], 70, ["301", "161"], "00", "40"),
        ("iso87-bcd-tpdu-2b", ["0800", "0810"], 70, ["301", "161"], "00", "40"),
        ("iso93-ebcdic-2b", ["1804", "1814"], 24, ["831", "811"], "800", "115"),
    ] {
        let (mut host, _connector) = start_single(dialect, "").await;
        let sign_on = within(host.network.recv()).await.unwrap();
        assert_eq!(sign_on.mti().to_string(), types[0]);
        let connection = host.next_connection().await;
        for (function, expected) in [(echo, accepted), (keys, refused)] {
            let request = IsoMessage::new(Mti::parse(types[0]).unwrap())
                .with_text(7, "1123102030")
                .with_text(11, "000042")
                .with_text(12, if types[0] == "1804" { "261123102030" } else { "102030" })
                .with_text(41, "HOST0001")
                .with_text(field, function);
            connection.send(Some(host.frame(&request))).unwrap();
            let reply = within(host.network.recv()).await.unwrap();
            assert_eq!((reply.mti().to_string().as_str(), reply.text(39)), (types[1], Some(expected)), "{dialect}");
            assert_eq!((reply.text(11), reply.text(41)), (Some("000042"), Some("HOST0001")));
        }
    }
}

#[tokio::test]
async fn a_payment_that_a_host_sends_gets_no_answer_and_harms_nothing() {
    let (mut host, connector) = start_single("iso87-ascii-4a", "").await;
    let connection = host.next_connection().await;
    let request = IsoMessage::new(Mti::parse("0420").unwrap()).with_text(7, "1123102030").with_text(11, "000042");
    connection.send(Some(host.frame(&request))).unwrap();
    approve_payment(&mut host, &connector, &id(1)).await;
    assert!(host.is_idle());
}
