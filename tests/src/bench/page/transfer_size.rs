//! Transfer sizes of files, requested with brotli as browsers do.

use anyhow::ensure;
use serde::Serialize;

/// Transfer size of a file.
#[derive(Debug, Serialize)]
pub struct TransferSize {
    /// Address without host and query.
    pub path: String,
    /// Size of the encoded body in bytes.
    pub bytes: u64,
    /// Size of the response head in bytes.
    pub head: u64,
    /// Content encoding of the body.
    pub encoding: String,
}

/// Fetches each address of the gateway and measures the response. The merchant's own page is left out. Fails if a
/// status is no success.
pub(super) async fn measure_transfer_sizes(addresses: &[String]) -> anyhow::Result<Vec<TransferSize>> {
    let client = reqwest::Client::new();
    let mut sizes = Vec::new();
    for address in addresses.iter().filter(|address| address.starts_with("http://pay.localhost")) {
        let local = address.replacen("pay.localhost", "127.0.0.1", 1);
        let response = client.get(local).header("accept-encoding", "br, gzip").send().await?;
        ensure!(response.status().is_success(), "{address}: {}", response.status());
        let fields = response.headers().iter().map(|(name, value)| name.as_str().len() + value.len() + 4);
        let head = "HTTP/1.1 200 OK\r\n\r\n".len() + fields.sum::<usize>();
        let encoding = response.headers().get("content-encoding").and_then(|it| it.to_str().ok()).unwrap_or("none");
        let encoding = encoding.to_owned();
        let path = response.url().path().to_owned();
        // The client was built without decoders, so these are the bytes on the wire.
        let bytes = response.bytes().await?.len() as u64;
        sizes.push(TransferSize { path, bytes, head: head as u64, encoding });
    }
    Ok(sizes)
}
