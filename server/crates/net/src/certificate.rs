//! The end of certificates.

use jiff::Timestamp;
use rustls::pki_types::CertificateDer;
use rustls::pki_types::pem::PemObject as _;

/// Returns the time from which a chain of certificates in PEM is not valid any more: the earliest end of them (RFC
/// 5280,
/// 4.1.2.5). `None` if the text has no certificate, or one that cannot be read.
pub fn find_end(pem: &[u8]) -> Option<Timestamp> {
    let ends = CertificateDer::pem_slice_iter(pem).map(|der| {
        let der = der.ok()?;
        let (_, certificate) = x509_parser::parse_x509_certificate(&der).ok()?;
        Timestamp::from_second(certificate.validity().not_after.timestamp()).ok()
    });
    ends.collect::<Option<Vec<_>>>()?.into_iter().min()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A self-signed certificate that is valid until 2036-11-25.
    const CERTIFICATE: &str = "-----BEGIN CERTIFICATE-----\n\
MIIBgjCCASegAwIBAgIUe/D81Hf9V+sswbzRszNOS8bGzZEwCgYIKoZIzj0EAwIw\n\
FjEUMBIGA1UEAwwLcGF5LmV4YW1wbGUwHhcNMjYxMTI4MjEyMzQxWhcNMzYxMTI1\n\
MjEyMzQxWjAWMRQwEgYDVQQDDAtwYXkuZXhhbXBsZTBZMBMGByqGSM49AgEGCCqG\n\
SM49AwEHA0IABC4bS68JobJwy3s89ABK7Yv4O8wu/Kz1rWQgZiEVuGC97JJZYBvH\n\
xWHNiCzC88OlP9oTh+oQ+OUHHot61Fc+pqqjUzBRMB0GA1UdDgQWBBRqcbnVvKld\n\
d1gJ8SqiXun+oGVWbDAfBgNVHSMEGDAWgBRqcbnVvKldd1gJ8SqiXun+oGVWbDAP\n\
BgNVHRMBAf8EBTADAQH/MAoGCCqGSM49BAMCA0kAMEYCIQD9x1s1D9+KTOgT1XpB\n\
gCuF3jrAHISp7BAI3xtTiCCj+wIhAKnZ2CAy+sxwn9stuEqtNEzlqL2+ti/5w0gm\n\
tQsJrj/S\n\
-----END CERTIFICATE-----\n";

    #[test]
    fn a_chain_ends_with_its_first_certificate_to_end() {
        assert_eq!(
            find_end(CERTIFICATE.as_bytes()).map(|end| end.to_string()).as_deref(),
            Some("2036-11-25T21:23:41Z")
        );
        assert_eq!(find_end(CERTIFICATE.repeat(2).as_bytes()), find_end(CERTIFICATE.as_bytes()));
        let broken = CERTIFICATE.replace("MII", "MIA");
        for text in ["", "no certificate", &broken, &format!("{CERTIFICATE}{broken}")] {
            assert_eq!(find_end(text.as_bytes()), None, "{text}");
        }
    }
}
