//! Delivery of messages to merchants: the queue of a message and the retention.

pub mod file_push;
pub mod retry;
pub mod review_callback_retry;
pub mod target_url;

use jiff::SignedDuration;
use url::Url;

/// Retention of a message and its delivery attempts, for inspection by the operator.
pub const RETENTION: SignedDuration = SignedDuration::from_hours(31 * 24);

/// Returns the queue of the messages to an address: its host in IDNA form and its port, so that all messages to one
/// server share a queue, however its address is written. Empty if the text is not an address. The name is logged, so it
/// leaves out the user and password of the address.
pub fn queue_name(address: &str) -> String {
    let url = Url::parse(address).ok();
    let host = url.as_ref().and_then(|url| Some((url.host_str()?, url.port())));
    match host {
        Some((host, Some(port))) => format!("{host}:{port}"),
        Some((host, None)) => host.to_owned(),
        None => String::new(),
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn messages_to_one_server_stand_in_one_queue_whose_name_is_no_secret() {
        for address in [
            "https://Shop.example/a?b#c",
            "https://user:password@shop.example",
            "https://shop.example?x=/",
            "https://shop.example:443/",
            "https://ｓｈｏｐ.example/grüße",
        ] {
            assert_eq!(queue_name(address), "shop.example", "{address}");
        }
        assert_eq!(queue_name("http://127.0.0.1:8080/"), "127.0.0.1:8080");
        assert_eq!(queue_name("https://bücher.example"), queue_name("https://xn--bcher-kva.example/"));
        assert_eq!(queue_name("nonsense"), "");
    }
}
