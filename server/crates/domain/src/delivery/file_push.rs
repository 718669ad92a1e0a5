//! Addresses of the servers that reconciliation files are pushed to, fingerprints of their host keys, and names of
//! files while they are sent.

use std::borrow::Cow;
use std::fmt;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD_NO_PAD;
use percent_encoding::percent_decode_str;
use url::Host;

use crate::delivery::target_url;
use crate::settlement::reconciliation::file::FileName;

/// Largest length of an address in bytes.
const MAX_ADDRESS: usize = 1024;
/// Beginning of a fingerprint, as OpenSSH prints it.
const FINGERPRINT_PREFIX: &str = "SHA256:";

/// Protocol of a push.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PushProtocol {
    /// FTP without encryption, for sandboxes only.
    Ftp,
    /// FTP with TLS that the client requests (`AUTH TLS`, RFC 4217), for commands and data.
    Ftps,
    /// SFTP over SSH.
    Sftp,
}

impl PushProtocol {
    /// Returns the scheme of addresses.
    pub fn scheme(self) -> &'static str {
        match self {
            Self::Ftp => "ftp",
            Self::Ftps => "ftps",
            Self::Sftp => "sftp",
        }
    }

    /// Returns the port that servers usually have.
    pub fn usual_port(self) -> u16 {
        match self {
            Self::Ftp | Self::Ftps => 21,
            Self::Sftp => 22,
        }
    }

    /// Parses the scheme of an address, in any case.
    fn parse(scheme: &str) -> Option<Self> {
        [Self::Ftp, Self::Ftps, Self::Sftp].into_iter().find(|known| known.scheme().eq_ignore_ascii_case(scheme))
    }
}

/// Address of a folder on a server: `sftp://user@host:22/folder`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PushAddress {
    /// The protocol.
    pub protocol: PushProtocol,
    /// The user's name at the server.
    pub user: String,
    /// The host name in lowercase letters, or an IP address without brackets.
    pub host: String,
    /// The port.
    pub port: u16,
    /// The folder. It is relative to the folder in which the server begins, or absolute with a slash at its beginning.
    /// Empty for the folder in which the server begins.
    pub folder: String,
}

/// Fault of an address.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum PushAddressError {
    /// The scheme is another one.
    #[error("is not an address of ftps, sftp or ftp, such as sftp://user@files.example/folder")]
    Scheme,
    /// The address is too long, or has characters that it may not have.
    #[error("has more than {MAX_ADDRESS} characters, spaces, control characters, `?` or `#`")]
    Text,
    /// There is no user name.
    #[error("names no user, such as sftp://user@files.example/folder")]
    User,
    /// There is a password.
    #[error("contains a password: give the password separately")]
    Password,
    /// The host is missing or is none.
    #[error("names no valid host")]
    Host,
    /// The port is no number from 1 to 65535.
    #[error("names no valid port")]
    Port,
    /// A percent-encoded part is no text, or has control characters.
    #[error("has a part that is not well encoded")]
    Encoding,
}

impl PushAddress {
    /// Parses an address. Its path without the first slash is the folder, so an absolute folder begins with two.
    ///
    /// # Errors
    /// The fault of the address. An address with a password is refused, because addresses are shown.
    pub fn parse(text: &str) -> Result<Self, PushAddressError> {
        let is_printable = |c: char| !c.is_control() && !c.is_whitespace() && !matches!(c, '?' | '#' | '\\');
        let (scheme, rest) = text.split_once("://").ok_or(PushAddressError::Scheme)?;
        let protocol = PushProtocol::parse(scheme).ok_or(PushAddressError::Scheme)?;
        let (authority, path) = rest.split_once('/').unwrap_or((rest, ""));
        // The password is looked for first, so that no other message makes the user repeat it.
        let (user, host) = match authority.rsplit_once('@') {
            Some((user, _)) if user.contains(':') => return Err(PushAddressError::Password),
            Some((user, host)) if !user.is_empty() => (user, host),
            _ => return Err(PushAddressError::User),
        };
        if text.len() > MAX_ADDRESS || !text.chars().all(is_printable) {
            return Err(PushAddressError::Text);
        }
        let (host, port) = parse_host(host)?;
        let user = decode_part(user)?;
        if user.contains(':') {
            return Err(PushAddressError::Password);
        }
        let folder = decode_part(path.trim_end_matches('/'))?;
        // Of a path of slashes only, the absolute root is left.
        let folder = if folder.is_empty() && path.starts_with('/') { "/".to_owned() } else { folder };
        Ok(Self { protocol, user, host, port: port.unwrap_or_else(|| protocol.usual_port()), folder })
    }

    /// Returns host and port, for logs.
    pub fn host_and_port(&self) -> String {
        let brackets = if self.host.contains(':') { ["[", "]"] } else { ["", ""] };
        format!("{}{}{}:{}", brackets[0], self.host, brackets[1], self.port)
    }
}

/// Splits and checks host and port. The host is converted to its IDNA form.
fn parse_host(text: &str) -> Result<(String, Option<u16>), PushAddressError> {
    let end = if text.starts_with('[') { text.find(']').map(|end| end + 1) } else { text.find(':') };
    let (host, port) = text.split_at(end.unwrap_or(text.len()));
    let host = match target_url::parse_host(host).ok_or(PushAddressError::Host)? {
        Host::Domain(name) => name,
        Host::Ipv4(address) => address.to_string(),
        Host::Ipv6(address) => address.to_string(),
    };
    if port.is_empty() {
        return Ok((host, None));
    }
    let digits = port.strip_prefix(':').filter(|digits| digits.bytes().all(|byte| byte.is_ascii_digit()));
    let port = digits.and_then(|digits| digits.parse().ok()).filter(|port| *port > 0);
    Ok((host, Some(port.ok_or(PushAddressError::Port)?)))
}

/// Decodes the percent signs of a part. Control characters are refused, because they would end a command of FTP.
fn decode_part(text: &str) -> Result<String, PushAddressError> {
    let decoded = percent_decode_str(text).decode_utf8().map_err(|_| PushAddressError::Encoding)?;
    if decoded.contains(char::is_control) {
        return Err(PushAddressError::Encoding);
    }
    Ok(Cow::into_owned(decoded))
}

/// SHA-256 of a server's host key. Its text is that of OpenSSH: `SHA256:` and base64 without padding.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct HostKeyFingerprint([u8; 32]);

impl HostKeyFingerprint {
    /// Parses a fingerprint. Returns `None` for any other text.
    pub fn parse(text: &str) -> Option<Self> {
        let bytes = STANDARD_NO_PAD.decode(text.strip_prefix(FINGERPRINT_PREFIX)?).ok()?;
        Some(Self(bytes.try_into().ok()?))
    }
}

impl From<[u8; 32]> for HostKeyFingerprint {
    fn from(digest: [u8; 32]) -> Self {
        Self(digest)
    }
}

impl fmt::Display for HostKeyFingerprint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{FINGERPRINT_PREFIX}{}", STANDARD_NO_PAD.encode(self.0))
    }
}

/// Returns the name under which a file is sent, until it is complete. It is the same for every attempt, so that an
/// attempt replaces what one before has left.
pub fn partial_name(name: &FileName) -> String {
    format!(".{name}.part")
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use crate::delivery::file_push::*;

    #[test]
    fn an_address_has_protocol_user_host_port_and_folder() {
        for (text, protocol, user, host, port, folder) in [
            ("sftp://shop@files.example", PushProtocol::Sftp, "shop", "files.example", 22, ""),
            ("sftp://shop@files.example/", PushProtocol::Sftp, "shop", "files.example", 22, ""),
            ("FTPS://shop@Files.Example/in/daily/", PushProtocol::Ftps, "shop", "files.example", 21, "in/daily"),
            ("ftp://a%40b@10.0.0.1:2121//in%20box", PushProtocol::Ftp, "a@b", "10.0.0.1", 2121, "/in box"),
            ("sftp://shop@[2001:db8::1]:2222//", PushProtocol::Sftp, "shop", "2001:db8::1", 2222, "/"),
            (
                "sftp://jürgen@BÜCHER.example/täglich",
                PushProtocol::Sftp,
                "jürgen",
                "xn--bcher-kva.example",
                22,
                "täglich",
            ),
        ] {
            let expected =
                PushAddress { protocol, user: user.to_owned(), host: host.to_owned(), port, folder: folder.to_owned() };
            assert_eq!(PushAddress::parse(text), Ok(expected), "{text}");
        }
        assert_eq!(PushAddress::parse("sftp://a@[::1]").unwrap().host_and_port(), "[::1]:22");
    }

    #[test]
    fn an_address_without_a_user_or_with_a_password_is_refused() {
        let long = format!("sftp://shop@files.example/{}", "x".repeat(MAX_ADDRESS));
        for (text, fault) in [
            ("https://shop@files.example/", PushAddressError::Scheme),
            ("files.example", PushAddressError::Scheme),
            ("sftp://files.example/", PushAddressError::User),
            ("sftp://@files.example/", PushAddressError::User),
            ("sftp://shop:secret@files.example/", PushAddressError::Password),
            ("sftp://shop:@files.example/", PushAddressError::Password),
            ("sftp://shop%3Asecret@files.example/", PushAddressError::Password),
            ("sftp://shop@/in", PushAddressError::Host),
            ("sftp://shop@files example/in", PushAddressError::Text),
            ("sftp://shop@files.example/in?x", PushAddressError::Text),
            (&long, PushAddressError::Text),
            ("sftp://shop@[::1", PushAddressError::Host),
            ("sftp://shop@fi%6Ces.example", PushAddressError::Host),
            ("sftp://shop@files.example:0/", PushAddressError::Port),
            ("sftp://shop@files.example:65536/", PushAddressError::Port),
            ("sftp://shop@files.example:+22/", PushAddressError::Port),
            ("sftp://shop@files.example:/", PushAddressError::Port),
            ("sftp://shop@[::1]22/", PushAddressError::Port),
            ("ftp://shop@files.example/in%0D%0ADELE%20x", PushAddressError::Encoding),
            ("ftp://shop%00@files.example/", PushAddressError::Encoding),
            ("ftp://shop@files.example/%FF", PushAddressError::Encoding),
        ] {
            assert_eq!(PushAddress::parse(text), Err(fault), "{text}");
        }
    }

    #[test]
    fn a_fingerprint_is_written_like_that_of_openssh() {
        let text = "SHA256:Nh0Me49Zh9fDw/VYUfq43IJmI1T+XrjiYONPND8GzaM";
        assert_eq!(HostKeyFingerprint::parse(text).unwrap().to_string(), text);
        for other in ["", "SHA256:", "SHA256:Nh0Me4", "MD5:aa:bb", &text[7..], &format!("{text}=")] {
            assert_eq!(HostKeyFingerprint::parse(other), None, "{other}");
        }
    }

    #[test]
    fn a_file_that_is_being_sent_has_a_hidden_name() {
        let name = FileName::parse("reconciliation_8a0000000000000000000000000000aa_2026-10-01.csv").unwrap();
        assert_eq!(partial_name(&name), ".reconciliation_8a0000000000000000000000000000aa_2026-10-01.csv.part");
    }
}
