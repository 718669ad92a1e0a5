//! Evidence files of disputes: their types, sizes and names, their encryption, and their deletion.

use reqwest::Method;
use tillgate_tests::{ApiResponse, Database, MerchantClient, TestGateway, encode_form, poll_until};

use crate::support::*;

const REASON: (&str, &str) = ("chargebackResultCode", "000.100.203");

/// Returns a PNG file with this number of bytes as its image.
pub fn png_file(length: usize) -> Vec<u8> {
    let mut file = b"\x89PNG\r\n\x1a\n".to_vec();
    let data = vec![b'x'; length];
    for (kind, data) in [(b"IHDR", &[0; 13][..]), (b"IDAT", &data), (b"IEND", &[])] {
        file.extend_from_slice(&u32::try_from(data.len()).unwrap_or_default().to_be_bytes());
        file.extend_from_slice(kind);
        file.extend_from_slice(data);
        file.extend_from_slice(&[0; 4]);
    }
    file
}

/// Posts a file. Returns any response.
pub async fn upload(
    shop: &MerchantClient,
    path: &str,
    name: &str,
    content_type: &str,
    content: &[u8],
) -> anyhow::Result<ApiResponse> {
    let query = encode_form([("entityId", shop.entity_id.as_str()), ("name", name)]);
    let request = shop.bare_request(Method::POST, &format!("{path}?{query}")).bearer_auth(&shop.token);
    let request = request.header("content-type", content_type).body(content.to_vec());
    ApiResponse::read_from(request.send().await?).await
}

/// Pays and charges the payment back. Returns the id of the dispute.
pub async fn charge_back(shop: &MerchantClient, fields: &[(&str, &str)]) -> anyhow::Result<String> {
    let paid = shop.pay_by_card(fields).await?;
    assert_result(&paid, 200, "000.100.110");
    let charged_back = shop.post(&format!("v1/payments/{}", paid.id()), &[REASON, ("paymentType", "CB")]).await?;
    assert_result(&charged_back, 200, "000.100.203");
    let disputes = shop.get("v1/disputes").await?;
    let dispute = disputes.json["disputes"].as_array().into_iter().flatten().find(|one| one["paymentId"] == paid.id());
    Ok(dispute.and_then(|dispute| dispute["id"].as_str()).unwrap_or_default().to_owned())
}

/// Creates a dispute with an evidence file. Returns the ids of both.
pub async fn create_with_evidence(shop: &MerchantClient, fields: &[(&str, &str)]) -> anyhow::Result<(String, String)> {
    let dispute = charge_back(shop, fields).await?;
    let path = format!("v1/disputes/{dispute}/evidence");
    let stored = upload(shop, &path, "receipt.png", "image/png", &png_file(9)).await?;
    assert_result(&stored, 200, "000.000.100");
    Ok((dispute, stored.id().to_owned()))
}

/// Downloads a file. Returns the response.
async fn download(shop: &MerchantClient, id: &str) -> anyhow::Result<reqwest::Response> {
    let path = format!("v1/evidence/{id}?entityId={}", shop.entity_id);
    Ok(shop.bare_request(Method::GET, &path).bearer_auth(&shop.token).send().await?)
}

#[tokio::test]
async fn a_file_is_downloaded_as_it_was_uploaded_and_no_browser_shows_it() -> anyhow::Result<()> {
    let shop = sandbox_shop();
    let dispute = charge_back(&shop, &[]).await?;
    // More than one part.
    let file = png_file(700_000);
    let name = "../../x\"; filename=evil.html\r\nX: y.html";
    let stored = upload(&shop, &format!("v1/disputes/{dispute}/evidence"), name, "image/png", &file).await?;
    assert_result(&stored, 200, "000.000.100");
    assert_eq!((&stored.json["mediaType"], &stored.json["size"]), (&"image/png".into(), &file.len().into()));
    let response = download(&shop, stored.id()).await?;
    let header =
        |name| response.headers().get(name).and_then(|value| value.to_str().ok()).unwrap_or_default().to_owned();
    assert_eq!(header("content-type"), "image/png");
    assert_eq!(header("content-disposition"), "attachment; filename=\"x__ filename_evil.html__X_ y.png\"");
    assert_eq!(header("x-content-type-options"), "nosniff");
    assert_eq!(header("content-security-policy"), "default-src 'none'; sandbox");
    assert_eq!(header("cache-control"), "no-store");
    assert_eq!(response.bytes().await?, file);
    let read = shop.get(&format!("v1/disputes/{dispute}")).await?;
    assert_eq!((&read.json["evidence"][0]["id"], &read.json["evidenceFiles"]), (&stored.id().into(), &1.into()));
    Ok(())
}

#[tokio::test]
async fn a_file_of_another_type_than_its_content_or_with_something_behind_it_is_refused() -> anyhow::Result<()> {
    let shop = sandbox_shop();
    let path = format!("v1/disputes/{}/evidence", charge_back(&shop, &[]).await?);
    let png = png_file(9);
    let zip = [b"PK\x05\x06".as_slice(), &[0; 18]].concat();
    let polyglot =
        [b"%PDF-1.4\n<script>alert(1)</script>PK\x05\x06".as_slice(), &[0; 16], &[6, 0], b"\n%%EOF"].concat();
    for (content_type, content) in [
        ("image/jpeg", png.clone()),
        ("application/pdf", png.clone()),
        ("image/png", png[..png.len() - 1].to_vec()),
        ("image/png", [&png[..], b"<script>alert(1)</script>"].concat()),
        ("image/png", [&png[..], &zip].concat()),
        ("application/octet-stream", polyglot.clone()),
        ("application/octet-stream", b"<html>".to_vec()),
        ("application/pdf", polyglot),
        ("image/png", b"<svg xmlns='http://www.w3.org/2000/svg' onload='alert(1)'/>".to_vec()),
        ("application/pdf", b"MZ".to_vec()),
        ("image/png", Vec::new()),
    ] {
        let refused = upload(&shop, &path, "proof", content_type, &content).await?;
        assert_eq!(refused.status, 400, "{content_type} {}", refused.text);
        assert_errors(&refused, &["file"]);
    }
    // A client that knows no type leaves it to the content.
    let stored = upload(&shop, &path, "proof", "application/octet-stream", &png).await?;
    assert_eq!((stored.status, &stored.json["mediaType"]), (200, &"image/png".into()), "{}", stored.text);
    for content_type in ["text/html", "image/svg+xml", "multipart/form-data", ""] {
        assert_errors(&upload(&shop, &path, "proof.png", content_type, &png).await?, &["Content-Type"]);
    }
    assert_errors(&upload(&shop, &path, "4200 0000 0000 0000.png", "image/png", &png).await?, &["name"]);
    let compressed = shop.bare_request(Method::POST, &format!("{path}?entityId={}", shop.entity_id));
    let compressed = compressed.bearer_auth(&shop.token).header("content-type", "image/png");
    assert_eq!(compressed.header("content-encoding", "gzip").body(png).send().await?.status(), 400);
    Ok(())
}

#[tokio::test]
async fn files_are_limited_in_size_in_number_and_together() -> anyhow::Result<()> {
    let shop = sandbox_shop();
    let limit = 4 * 1024 * 1024;
    let path = format!("v1/disputes/{}/evidence", charge_back(&shop, &[]).await?);
    let largest = png_file(limit - png_file(0).len());
    assert_eq!(upload(&shop, &path, "", "image/png", &png_file(limit)).await?.status, 413);
    for _ in 0..4 {
        assert_result(&upload(&shop, &path, "", "image/png", &largest).await?, 200, "000.000.100");
    }
    assert_errors(&upload(&shop, &path, "", "image/png", &png_file(1)).await?, &["file"]);
    let path = format!("v1/disputes/{}/evidence", charge_back(&shop, &[]).await?);
    for _ in 0..10 {
        assert_result(&upload(&shop, &path, "", "image/png", &png_file(1)).await?, 200, "000.000.100");
    }
    assert_errors(&upload(&shop, &path, "", "image/png", &png_file(1)).await?, &["file"]);
    Ok(())
}

#[tokio::test]
async fn another_merchant_finds_no_evidence_and_adds_none() -> anyhow::Result<()> {
    let (owner, stranger) = (sandbox_shop(), other_shop());
    let (dispute, evidence) = create_with_evidence(&owner, &[]).await?;
    assert_eq!(download(&stranger, &evidence).await?.status(), 404);
    let path = format!("v1/disputes/{dispute}/evidence");
    assert_eq!(upload(&stranger, &path, "", "image/png", &png_file(9)).await?.status, 404);
    let (own, _) = create_with_evidence(&stranger, &[]).await?;
    assert_eq!(download(&stranger, &own).await?.status(), 404, "the id of a dispute is no evidence");
    Ok(())
}

#[tokio::test]
async fn no_byte_of_a_file_is_stored_in_clear_and_another_key_opens_it_later() -> anyhow::Result<()> {
    let gateway = TestGateway::start()?;
    let shop = gateway.create_merchant()?;
    let dispute = charge_back(&shop, &[]).await?;
    let marker = b"a-secret-that-is-found-nowhere";
    let file = [b"%PDF-1.7\n".as_slice(), marker, b"\n%%EOF\n"].concat();
    let path = format!("v1/disputes/{dispute}/evidence");
    let stored = upload(&shop, &path, "proof.pdf", "application/pdf", &file).await?;
    assert_result(&stored, 200, "000.000.100");
    for bytes in gateway.read_data_files()? {
        assert!(!bytes.windows(marker.len()).any(|window| window == marker));
    }
    let key_of_part = || -> anyhow::Result<Vec<u8>> {
        let query = "SELECT substr(sealed, 2, 4) FROM evidence_part";
        Ok(open_database(&gateway)?.query_row(query, [], |row| row.get(0))?)
    };
    let before = key_of_part()?;
    let mut command = std::process::Command::new(tillgate_tests::binary_path());
    let rotated = command.args(["vault", "rotate", "--data"]).arg(gateway.data_folder()).output()?;
    assert!(rotated.status.success(), "{}", String::from_utf8_lossy(&rotated.stderr));
    assert_ne!(key_of_part()?, before);
    assert_eq!(download(&shop, stored.id()).await?.bytes().await?, file);
    Ok(())
}

#[tokio::test]
async fn a_part_that_is_moved_or_missing_is_never_sent() -> anyhow::Result<()> {
    let gateway = TestGateway::start()?;
    let shop = gateway.create_merchant()?;
    let path = format!("v1/disputes/{}/evidence", charge_back(&shop, &[]).await?);
    let first = upload(&shop, &path, "", "image/png", &png_file(600_000)).await?;
    let second = upload(&shop, &path, "", "image/png", &png_file(600_000)).await?;
    let database = Database::open(&gateway.data_folder())?;
    database.execute(
        "UPDATE evidence_part SET sealed = (SELECT sealed FROM evidence_part WHERE evidence = ?1 AND part = 1)
         WHERE evidence = ?1 AND part = 0",
        [first.id()],
    )?;
    database.execute("DELETE FROM evidence_part WHERE evidence = ?1 AND part = 2", [second.id()])?;
    for id in [first.id(), second.id()] {
        assert_eq!(download(&shop, id).await?.status(), 500);
    }
    Ok(())
}

#[tokio::test]
async fn evidence_is_deleted_half_a_year_after_the_end_of_its_dispute() -> anyhow::Result<()> {
    let gateway = TestGateway::start()?;
    let shop = gateway.create_merchant()?;
    let (dispute, evidence) = create_with_evidence(&shop, &[]).await?;
    assert_result(&shop.post(&format!("v1/disputes/{dispute}/accept"), &[]).await?, 200, "000.000.100");
    let path = format!("v1/disputes/{dispute}/evidence");
    assert_eq!(upload(&shop, &path, "", "image/png", &png_file(9)).await?.status, 409);
    shop.advance_clock("4300h").await?;
    assert_eq!(download(&shop, &evidence).await?.status(), 200);
    shop.advance_clock("24h").await?;
    poll_until("the evidence is deleted", async || {
        Ok((download(&shop, &evidence).await?.status() == 404).then_some(()))
    })
    .await?;
    let parts: i64 = open_database(&gateway)?.query_row("SELECT count(*) FROM evidence_part", [], |row| row.get(0))?;
    assert_eq!(parts, 0);
    let read = shop.get(&format!("v1/disputes/{dispute}")).await?;
    assert_eq!((&read.json["evidenceFiles"], &read.json["stage"]), (&0.into(), &"ACCEPTED".into()));
    Ok(())
}

#[tokio::test]
async fn the_same_upload_under_the_same_key_adds_one_file_and_another_file_is_refused() -> anyhow::Result<()> {
    let shop = sandbox_shop();
    let dispute = charge_back(&shop, &[]).await?;
    let send = async |content: Vec<u8>| {
        let path = format!("v1/disputes/{dispute}/evidence?entityId={}", shop.entity_id);
        let request = shop.bare_request(Method::POST, &path).bearer_auth(&shop.token);
        let request = request.header("idempotency-key", format!("evidence-{dispute}"));
        ApiResponse::read_from(request.header("content-type", "image/png").body(content).send().await?).await
    };
    let first = send(png_file(9)).await?;
    assert_result(&first, 200, "000.000.100");
    assert_eq!(send(png_file(9)).await?.text, first.text);
    assert_eq!(send(png_file(10)).await?.status, 400);
    assert_eq!(shop.get(&format!("v1/disputes/{dispute}")).await?.json["evidenceFiles"], 1);
    Ok(())
}

#[tokio::test]
async fn the_operator_adds_and_saves_files_on_the_command_line() -> anyhow::Result<()> {
    let gateway = TestGateway::shared();
    let shop = gateway.create_merchant()?;
    let (dispute, evidence) = create_with_evidence(&shop, &[]).await?;
    let folder = tempfile::tempdir()?;
    let path_of = |name: &str| folder.path().join(name).to_string_lossy().into_owned();
    let saved = path_of("saved.png");
    let save = |dispute: &str, output: &str| {
        gateway.run_command(&["dispute", "evidence", dispute, "--save", &evidence, "--output", output])
    };
    save(&dispute, &saved)?;
    assert_eq!(std::fs::read(&saved)?, png_file(9));
    assert!(save(&dispute, &saved).is_err(), "the file exists");
    let added = gateway.run_command(&["dispute", "evidence", &dispute, "--add", &saved])?;
    let id = added["id"].as_str().unwrap_or_default();
    assert_eq!(download(&shop, id).await?.bytes().await?, png_file(9));
    let text = path_of("note.png");
    std::fs::write(&text, "no picture")?;
    assert!(gateway.run_command(&["dispute", "evidence", &dispute, "--add", &text]).is_err());
    assert!(save(&charge_back(&shop, &[]).await?, &path_of("other.png")).is_err(), "it is another dispute's");
    Ok(())
}
