//! Encrypted lines. The certificates are valid until 2126. CA `one` has issued the certificate of `localhost`; CA `two`
//! has issued none.

use std::io::Write as _;

use rustls::ServerConfig;
use rustls::crypto::ring;
use rustls::pki_types::pem::PemObject as _;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use tempfile::NamedTempFile;
use tokio::net::TcpStream;
use tokio_rustls::TlsAcceptor;
use tokio_rustls::server::TlsStream;

use super::host::HostConnection;
use super::*;

const CA_ONE: &str = "-----BEGIN CERTIFICATE-----\n\
MIIBhDCCASmgAwIBAgIUXZq956g7s3zoQ6yCbP8S07SparEwCgYIKoZIzj0EAwIw\n\
FjEUMBIGA1UEAwwLVGVzdCBDQSBvbmUwIBcNMjYxMjAxMDAyNDEyWhgPMjEyNjEx\n\
MDcwMDI0MTJaMBYxFDASBgNVBAMMC1Rlc3QgQ0Egb25lMFkwEwYHKoZIzj0CAQYI\n\
KoZIzj0DAQcDQgAELEYaIvNTWDU2LodBuMyAjVcxkM708GGBsqKdo51z05fb4lYC\n\
5VFVIXATu/K9RptPdTDyyAxl1Rgr/oVq6Mh/bqNTMFEwHQYDVR0OBBYEFKAd2TZ1\n\
92bFb6wtrGRDSltwCwYKMB8GA1UdIwQYMBaAFKAd2TZ192bFb6wtrGRDSltwCwYK\n\
MA8GA1UdEwEB/wQFMAMBAf8wCgYIKoZIzj0EAwIDSQAwRgIhALpv5kyLrRujKsmn\n\
kbpdS4bxID/WFIKuO7rDlZTY6SC2AiEAsTudhxLhjAQuH07G9poriYJ0UwL2QdG4\n\
Y7hEgJ5+d8Y=\n\
-----END CERTIFICATE-----\n";
const CA_TWO: &str = "-----BEGIN CERTIFICATE-----\n\
MIIBgzCCASmgAwIBAgIUYx7whrHLiR/i9o3lIAbg+v4g2XIwCgYIKoZIzj0EAwIw\n\
FjEUMBIGA1UEAwwLVGVzdCBDQSB0d28wIBcNMjYxMjAxMDAyNDEyWhgPMjEyNjEx\n\
MDcwMDI0MTJaMBYxFDASBgNVBAMMC1Rlc3QgQ0EgdHdvMFkwEwYHKoZIzj0CAQYI\n\
KoZIzj0DAQcDQgAErPi2hgPKe9Gm+326NiOkKH1t9Yh8BhML8lH00d/Fmr2wjrNC\n\
FhLstTA73nUHpLYVFJW2Nxd24qerKG0z5W0vpqNTMFEwHQYDVR0OBBYEFJopXA3w\n\
0GbI1a8FS79aFwrljNGfMB8GA1UdIwQYMBaAFJopXA3w0GbI1a8FS79aFwrljNGf\n\
MA8GA1UdEwEB/wQFMAMBAf8wCgYIKoZIzj0EAwIDSAAwRQIhAJL4HmkQqnMPM+XX\n\
ZEks/4SY+M1R1v/N8Y/WIYRRQG/LAiAb3rOPQZoJICtZ0Rx635gdin9yyIxg5+Fu\n\
fvfm5wG7bw==\n\
-----END CERTIFICATE-----\n";
const LOCALHOST: &str = "-----BEGIN CERTIFICATE-----\n\
MIIBpjCCAUygAwIBAgIUVPFRjlTCppWzU8RaavrV7U70Z4owCgYIKoZIzj0EAwIw\n\
FjEUMBIGA1UEAwwLVGVzdCBDQSBvbmUwIBcNMjYxMjAxMDAyNDEyWhgPMjEyNjEx\n\
MDcwMDI0MTJaMBQxEjAQBgNVBAMMCWxvY2FsaG9zdDBZMBMGByqGSM49AgEGCCqG\n\
SM49AwEHA0IABOCsQJ7TK0Aq5okHyOYTxVBpjlD+y4xRb8P3fZv3Wzkmt9GLjS1Y\n\
+9wGbDE/IDf/NZSxz51BBB6ZE3iAPt4fEXyjeDB2MBQGA1UdEQQNMAuCCWxvY2Fs\n\
aG9zdDAJBgNVHRMEAjAAMBMGA1UdJQQMMAoGCCsGAQUFBwMBMB0GA1UdDgQWBBTu\n\
qCVHqlKE/klDOWQC4W6vKuWzgTAfBgNVHSMEGDAWgBSgHdk2dfdmxW+sLaxkQ0pb\n\
cAsGCjAKBggqhkjOPQQDAgNIADBFAiB2A6jhFgxBhhDG6IwGF076HdyYh2GBSt8u\n\
n9Hnk5ShhgIhANDEyann0wXiIc6HquH6pfaIbWUWQSNcOCB0RcM80RW6\n\
-----END CERTIFICATE-----\n";
const LOCALHOST_KEY: &str = "-----BEGIN PRIVATE KEY-----\n\
MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQgVWaGqsi9N8HrjFqh\n\
P9XgdnaiHDWL8BkUMMPqaytIx/ehRANCAATgrECe0ytAKuaJB8jmE8VQaY5Q/suM\n\
UW/D932b91s5JrfRi40tWPvcBmwxPyA3/zWUsc+dQQQemRN4gD7eHxF8\n\
-----END PRIVATE KEY-----\n";

/// Accepts a connection with the certificate of `localhost`.
async fn accept(host: &PeerHost) -> std::io::Result<HostConnection<TlsStream<TcpStream>>> {
    let chain = CertificateDer::pem_slice_iter(LOCALHOST.as_bytes()).map(Result::unwrap).collect();
    let private_key = PrivateKeyDer::from_pem_slice(LOCALHOST_KEY.as_bytes()).unwrap();
    let config = ServerConfig::builder_with_provider(Arc::new(ring::default_provider()))
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_no_client_auth()
        .with_single_cert(chain, private_key)
        .unwrap();
    let stream = host.accept().await.stream;
    within(TlsAcceptor::from(Arc::new(config)).accept(stream)).await.map(|stream| HostConnection { stream })
}

fn start(host: &PeerHost, name: &str, ca: &str, limits: LineLimits) -> TestLine {
    let mut file = NamedTempFile::new().unwrap();
    file.write_all(ca.as_bytes()).unwrap();
    let address = LineAddress { host: name.to_owned(), ..host.address() };
    let security = LineSecurity::Tls { ca_file: Some(file.path().to_owned()) };
    let config = LineConfig { address, security, ..plain_config(host, limits) };
    // The file is read when the line starts, and is not needed later.
    TestLine::start(config, WordProtocol::default())
}

#[tokio::test]
async fn an_encrypted_line_carries_requests_in_flight() {
    let host = PeerHost::listen().await;
    let test = start(&host, "localhost", CA_ONE, patient());
    let mut peer = accept(&host).await.unwrap();
    reach(&test.line, LinePhase::Connected).await;
    let requests: Vec<_> = (0..64).map(|number| test.spawn(&number.to_string())).collect();
    let mut keys = Vec::new();
    for _ in 0..64 {
        keys.push(peer.read_key("Q").await);
    }
    for key in keys.iter().rev() {
        peer.write(&format!("A:{key}:ok")).await;
    }
    for request in requests {
        assert_eq!(within(request).await.unwrap(), Ok("ok".to_owned()));
    }
    within(test.line.take_out()).await;
    assert!(peer.read_to_end().await.is_empty());
}

#[tokio::test]
async fn a_broken_encrypted_connection_ends_requests_as_unknown() {
    let host = PeerHost::listen().await;
    let test = start(&host, "localhost", CA_ONE, patient());
    let mut peer = accept(&host).await.unwrap();
    reach(&test.line, LinePhase::Connected).await;
    let request = test.spawn("1");
    peer.read().await;
    drop(peer);
    assert!(is_unknown(&within(request).await.unwrap()));
    accept(&host).await.unwrap();
}

#[tokio::test]
async fn an_encrypted_host_that_does_not_read_loses_its_connection() {
    let host = PeerHost::listen().await;
    let test = start(&host, "localhost", CA_ONE, LineLimits { write_timeout: ms(300), ..patient() });
    let peer = accept(&host).await.unwrap();
    reach(&test.line, LinePhase::Connected).await;
    let body = format!("Q:1:{}", "x".repeat(1_000_000));
    let lines = (0..64).map(|number| {
        let (line, body) = (Arc::clone(&test.line), body.clone());
        tokio::spawn(async move { line.send_request(key(&number.to_string()), KeyUse::New, body.as_bytes()).await })
    });
    let requests: Vec<_> = lines.collect();
    let (mut not_sent, mut unknown) = (0, 0);
    for request in requests {
        match within(request).await.unwrap().unwrap_err() {
            SendFault::NotSent(_) => not_sent += 1,
            SendFault::Unknown(_) => unknown += 1,
        }
    }
    let state = test.line.read_state();
    assert!(not_sent > 0 && unknown > 0);
    assert_eq!((state.sent, state.failed), (unknown, unknown));
    drop(peer);
}

/// Returns the error of a line whose handshake fails.
async fn find_error(name: &str, ca: &str) -> String {
    let host = PeerHost::listen().await;
    let test = start(&host, name, ca, patient());
    assert!(accept(&host).await.is_err());
    observe(&test.line, |state| state.last_error.is_some()).await;
    assert!(is_not_sent(&send(&test.line, "1").await));
    test.line.read_state().last_error.unwrap()
}

#[tokio::test]
async fn a_certificate_for_another_host_is_refused_with_the_reason() {
    let error = find_error("127.0.0.1", CA_ONE).await;
    assert!(error.ends_with(" failed: its certificate is for another host name"), "{error}");
}

#[tokio::test]
async fn a_certificate_of_an_unknown_issuer_is_refused_with_the_reason() {
    let error = find_error("localhost", CA_TWO).await;
    assert!(error.ends_with("its certificate is from an issuer that is not trusted; check the CA file"), "{error}");
}

#[tokio::test]
async fn a_host_without_encryption_is_refused() {
    let host = PeerHost::listen().await;
    let test = start(&host, "localhost", CA_ONE, patient());
    let mut peer = host.accept().await;
    peer.write("P:1:").await;
    observe(&test.line, |state| state.last_error.is_some()).await;
    let error = test.line.read_state().last_error.unwrap();
    assert!(error.contains("the TLS handshake with localhost:"), "{error}");
}

#[tokio::test]
async fn a_silent_host_does_not_hold_up_the_handshake() {
    let host = PeerHost::listen().await;
    let test = start(&host, "localhost", CA_ONE, LineLimits { connect_timeout: ms(200), ..patient() });
    let _peer = host.accept().await;
    observe(&test.line, |state| state.last_error.is_some()).await;
    let error = test.line.read_state().last_error.unwrap();
    assert!(error.contains("took longer than 200 ms"), "{error}");
}

#[tokio::test]
async fn a_ca_file_that_cannot_be_used_is_refused_at_the_start() {
    let host = PeerHost::listen().await;
    let start = |ca_file: std::path::PathBuf| {
        let config =
            LineConfig { security: LineSecurity::Tls { ca_file: Some(ca_file) }, ..plain_config(&host, patient()) };
        let (sink, _) = mpsc::unbounded_channel();
        let started = HostLine::start(config, Arc::new(WordProtocol::default()), Arc::new(LateChannel(sink)));
        started.unwrap_err().to_string()
    };
    let missing = start("/no/such/file.pem".into());
    assert!(missing.starts_with("the CA file /no/such/file.pem: "), "{missing}");
    let mut file = NamedTempFile::new().unwrap();
    file.write_all(b"no certificate").unwrap();
    assert!(start(file.path().to_owned()).ends_with("the file has no certificate"));
}
