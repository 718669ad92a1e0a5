//! The ports of outgoing requests: 80, 443, and every port from 1024 that does not belong to a database, mail server,
//! cache or administration service. Such a service may interpret a line of an HTTP request as a command of its own
//! protocol.

use std::collections::BTreeSet;
use std::sync::Arc;

use tillgate_domain::delivery::target_url::TargetUrl;

/// Parameters with an address to which the gateway may send a request.
pub const ADDRESS_PARAMETERS: [&str; 2] = ["notificationUrl", "shopperResultUrl"];

/// Allowed ports below 1024.
const LOW_PORTS: [u16; 2] = [80, 443];

/// Refused ports from 1024, with the service that uses them. The table ends at 32768, because systems assign higher
/// ports to clients, so that no service is expected there.
pub const REFUSED_PORTS: &[(u16, u16, &str)] = &[
    (1080, 1080, "SOCKS proxy"),
    (1099, 1099, "Java RMI"),
    (1433, 1434, "Microsoft SQL Server"),
    (1521, 1521, "Oracle Database"),
    (1883, 1883, "MQTT"),
    (2049, 2049, "NFS"),
    (2181, 2181, "ZooKeeper"),
    (2375, 2377, "Docker"),
    (2379, 2380, "etcd"),
    (2525, 2525, "mail submission"),
    (3128, 3128, "web proxy"),
    (3268, 3269, "Active Directory"),
    (3306, 3306, "MySQL"),
    (3389, 3389, "remote desktop"),
    (4222, 4222, "NATS"),
    (4369, 4369, "Erlang port mapper"),
    (4505, 4506, "Salt"),
    (4646, 4648, "Nomad"),
    (5060, 5061, "SIP"),
    (5432, 5433, "PostgreSQL"),
    (5601, 5601, "Kibana"),
    (5671, 5672, "RabbitMQ"),
    (5900, 5909, "VNC"),
    (5984, 5984, "CouchDB"),
    (5985, 5986, "Windows remote management"),
    (6000, 6063, "X11"),
    (6379, 6380, "Redis"),
    (6432, 6432, "PgBouncer"),
    (6443, 6443, "Kubernetes"),
    (6660, 6669, "IRC"),
    (6697, 6697, "IRC"),
    (7000, 7001, "Cassandra"),
    (7199, 7199, "Cassandra"),
    (7474, 7474, "Neo4j"),
    (7687, 7687, "Neo4j"),
    (8009, 8009, "AJP"),
    (8086, 8086, "InfluxDB"),
    (8123, 8123, "ClickHouse"),
    (8200, 8201, "HashiCorp Vault"),
    (8300, 8302, "Consul"),
    (8500, 8502, "Consul"),
    (8529, 8529, "ArangoDB"),
    (8600, 8600, "Consul"),
    (8883, 8883, "MQTT"),
    (8983, 8983, "Solr"),
    (9000, 9000, "FastCGI, ClickHouse"),
    (9001, 9001, "Supervisor"),
    (9042, 9042, "Cassandra"),
    (9090, 9090, "Prometheus, Cockpit"),
    (9092, 9094, "Kafka"),
    (9100, 9100, "printers, Prometheus"),
    (9160, 9160, "Cassandra"),
    (9200, 9200, "Elasticsearch"),
    (9300, 9300, "Elasticsearch"),
    (10000, 10000, "Webmin"),
    (10050, 10051, "Zabbix"),
    (10250, 10259, "Kubernetes"),
    (11211, 11211, "memcached"),
    (11300, 11300, "beanstalkd"),
    (15672, 15672, "RabbitMQ"),
    (16379, 16379, "Redis"),
    (25672, 25672, "RabbitMQ"),
    (26257, 26257, "CockroachDB"),
    (26379, 26379, "Redis"),
    (27017, 27020, "MongoDB"),
    (28015, 28015, "RethinkDB"),
    (28017, 28017, "MongoDB"),
];

/// The ports that outgoing requests may use.
#[derive(Debug, Clone, Default)]
pub struct Ports(Arc<BTreeSet<u16>>);

impl Ports {
    /// Allows the usual ports and these, also if they are in the table of refused ports.
    pub fn new(allowed: impl IntoIterator<Item = u16>) -> Self {
        Self(Arc::new(allowed.into_iter().collect()))
    }

    /// Returns true if requests may use this port: 80, 443, one that the operator allows, or one from 1024 that is not
    /// in the table of refused ports.
    pub fn allows(&self, port: u16) -> bool {
        let refused = || REFUSED_PORTS.iter().any(|(first, last, _)| (*first..=*last).contains(&port));
        LOW_PORTS.contains(&port) || self.0.contains(&port) || (port >= 1024 && !refused())
    }

    /// Checks an address that requests are sent to, and its port.
    ///
    /// # Errors
    /// The message for `parameterErrors`: the fault of the address, or a port that is not allowed.
    pub fn check_address(&self, address: &str) -> Result<TargetUrl, String> {
        let target = TargetUrl::parse(address).map_err(|fault| fault.to_string())?;
        if !self.allows(target.port()) {
            return Err("names a port that requests may not go to".to_owned());
        }
        Ok(target)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn web_ports_and_high_ports_are_allowed_and_ports_of_other_services_are_not() {
        let ports = Ports::default();
        for port in 0..=u16::MAX {
            let listed = REFUSED_PORTS.iter().any(|(first, last, _)| *first <= port && port <= *last);
            assert_eq!(ports.allows(port), port == 80 || port == 443 || (port >= 1024 && !listed), "{port}");
        }
        let ports = Ports::new([25, 6379]);
        for (port, allowed) in [(25, true), (26, false), (6379, true), (6380, false)] {
            assert_eq!(ports.allows(port), allowed, "{port}");
        }
    }

    #[test]
    fn the_table_is_sorted_and_ends_below_the_ports_of_clients() {
        assert!(REFUSED_PORTS.iter().all(|(first, last, _)| first <= last));
        assert!(REFUSED_PORTS.windows(2).all(|pair| pair[0].1 < pair[1].0));
        assert!(REFUSED_PORTS.iter().all(|(first, last, _)| *first >= 1024 && *last < 32768));
    }

    #[test]
    fn the_document_lists_every_refused_port_beside_its_service() {
        let document = include_str!("../../../../../docs/outgoing.md");
        for (first, last, service) in REFUSED_PORTS {
            let ports = if first == last { first.to_string() } else { format!("{first}–{last}") };
            let row = document.lines().find(|line| line.starts_with(&format!("| {service} |"))).unwrap_or_default();
            let listed = row.trim_matches('|').rsplit('|').next().unwrap_or_default().split(", ");
            assert!(listed.map(str::trim).any(|listed| listed == ports), "docs/outgoing.md lacks {ports} of {service}");
        }
    }

    #[test]
    fn the_port_of_an_address_is_found_however_it_is_written() {
        let ports = Ports::default();
        for (address, allowed) in [
            ("https://shop.example", true),
            ("https://shop.example/:25", true),
            ("https://shop.example?x=:25", true),
            ("https://shop.example#:25", true),
            ("HTTP://shop.example:80/", true),
            ("https://shop.example:8443/", true),
            ("https://shop.example:/", true),
            ("https://shop.example:25", false),
            ("https://shop.example:00025/", false),
            ("https://shop.example:25?x", false),
            ("https://shop.example:25#x", false),
            ("https://shop.example:+443/", false),
            ("https://shop.example:65536/", false),
            ("https://shop.example:x/", false),
            ("https://shop.example:443:25/", false),
            ("https://[2001:db8::25]/", true),
            ("https://[2001:db8::1]:25/", false),
            ("https://[2001:db8::1]:443/", true),
        ] {
            assert_eq!(ports.check_address(address).is_ok(), allowed, "{address}");
        }
    }
}
