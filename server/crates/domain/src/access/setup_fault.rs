//! Mistakes in the set-up of a gateway that open it to strangers, and faults of its clock and its database. A gateway
//! with one of them serves no live entity, except after a loss of commits.

use std::net::IpAddr;

use ipnet::IpNet;

use crate::delivery::target_url::TargetUrl;
use crate::ip_text::is_nearly_everything;

/// A mistake in the set-up.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SetupFault {
    /// `--trusted-proxy` names nearly every address.
    TrustedProxies,
    /// `--allow-network` names nearly every address.
    AllowedNetworks,
    /// Every user of the machine may write the data folder or a file in it.
    DataFolder,
    /// `--public-url` is plain HTTP on another machine than this one.
    PublicUrl,
    /// The machine's clock differs from that of the database of its cluster. It is found while the gateway runs, and
    /// ends when the clock is right.
    Clock,
    /// The database of the cluster lacks commits that it had confirmed. Live entities are served: a refusal would bring
    /// nothing back.
    LostCommits,
}

impl SetupFault {
    /// Returns its name in `/health` and in the log.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::TrustedProxies => "trusted-proxy",
            Self::AllowedNetworks => "allow-network",
            Self::DataFolder => "data-folder",
            Self::PublicUrl => "public-url",
            Self::Clock => "clock",
            Self::LostCommits => "lost-commits",
        }
    }

    /// Returns a description of the danger and of the operator's remedy.
    pub fn description(self) -> &'static str {
        match self {
            Self::TrustedProxies => {
                "--trusted-proxy names nearly every address, so that every client can claim any address of its own: \
                 name your proxies alone"
            }
            Self::AllowedNetworks => {
                "--allow-network names nearly every address, so that merchants' addresses reach the inside of your \
                 network: name the networks of your receivers alone"
            }
            Self::DataFolder => "Every user of this machine may write the data folder or a file in it: chmod o-w",
            Self::PublicUrl => {
                "--public-url is http, so that card data can be read on its way to the gateway: use https"
            }
            Self::Clock => "The machine's clock differs from that of the database by more than two seconds: set it",
            Self::LostCommits => {
                "The database lacks commits that it has confirmed, so payments may be gone that merchants were told of: \
                 compare the acquirer's records with the payments of this time, and restart the nodes"
            }
        }
    }
}

/// Finds the mistakes in options. `folder_is_writable` says if every user of the machine may write the data folder.
pub fn find_setup_faults(
    trusted_proxies: &[IpNet],
    allowed_networks: &[IpNet],
    public_url: Option<&str>,
    folder_is_writable: bool,
) -> Vec<SetupFault> {
    let found = [
        (SetupFault::TrustedProxies, is_nearly_everything(trusted_proxies)),
        (SetupFault::AllowedNetworks, is_nearly_everything(allowed_networks)),
        (SetupFault::DataFolder, folder_is_writable),
        (SetupFault::PublicUrl, public_url.is_some_and(is_plain_http)),
    ];
    found.into_iter().filter_map(|(fault, is_found)| is_found.then_some(fault)).collect()
}

/// Returns true for an address of http that is not on this machine.
fn is_plain_http(address: &str) -> bool {
    TargetUrl::parse(address).is_ok_and(|target| {
        let is_local = target.host() == "localhost"
            || target.host().ends_with(".localhost")
            || target.ip_address().as_ref().is_some_and(IpAddr::is_loopback);
        !target.is_https() && !is_local
    })
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use crate::access::setup_fault::*;

    #[test]
    fn each_mistake_is_found_and_a_sound_setup_has_none() {
        let networks = |texts: &[&str]| -> Vec<IpNet> { texts.iter().map(|text| text.parse().unwrap()).collect() };
        let private = networks(&["10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16", "fd00::/8"]);
        for url in [None, Some("https://pay.example/"), Some("http://127.0.0.1:8080/"), Some("http://a.localhost/")] {
            assert_eq!(find_setup_faults(&private, &private, url, false), [], "{url:?}");
        }
        for (trusted, allowed, url, writable, fault) in [
            (&["0.0.0.0/0"][..], &[][..], None, false, SetupFault::TrustedProxies),
            (&["::/1", "8000::/1"], &[], None, false, SetupFault::TrustedProxies),
            (&[], &["0.0.0.0/1", "128.0.0.0/1"], None, false, SetupFault::AllowedNetworks),
            (&[], &[], Some("http://pay.example/"), false, SetupFault::PublicUrl),
            (&[], &[], Some("http://10.0.0.1/pay/"), false, SetupFault::PublicUrl),
            (&[], &[], None, true, SetupFault::DataFolder),
        ] {
            let found = find_setup_faults(&networks(trusted), &networks(allowed), url, writable);
            assert_eq!(found, [fault]);
            assert!(!fault.as_str().is_empty() && !fault.description().is_empty());
        }
    }
}
