//! The memory of the running gateway: no card number stays in it once its request has been answered, also while the client
//! keeps its connection open. Only root may look, as the gateway lets no other process read its memory.

use std::fs::{self, File};
use std::os::unix::fs::{FileExt as _, MetadataExt as _, chown};
use std::process::Stdio;

use tillgate_tests::{CARD, Merchant, form, until};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;
use tokio::process::Command;

use crate::command_line::start_after;
use crate::hardship::signalled;

/// Bytes that are read at once.
const CHUNK: usize = 1 << 20;

/// First digits of every number that is looked for.
const PREFIX: &[u8] = b"428716253";

/// The numbers that stand in the writable memory of a process.
fn found(process: u32) -> anyhow::Result<Vec<String>> {
    let maps = fs::read_to_string(format!("/proc/{process}/maps"))?;
    let memory = File::open(format!("/proc/{process}/mem"))?;
    let mut found = Vec::new();
    let (mut chunk, zeros) = (vec![0; CHUNK], vec![0; CHUNK]);
    for line in maps.lines().filter(|line| line.contains(" rw")) {
        let range = line.split(' ').next().unwrap_or_default();
        let Some((start, end)) = range.split_once('-') else { continue };
        let (start, end) = (u64::from_str_radix(start, 16)?, u64::from_str_radix(end, 16)?);
        // Pieces overlap by more than a number.
        for offset in (start..end).step_by(CHUNK - 64) {
            let length = usize::try_from(end - offset)?.min(CHUNK);
            let Ok(count) = memory.read_at(&mut chunk[..length], offset) else { continue };
            // Most of what is reserved was never used.
            if chunk[..count] != zeros[..count] {
                found.extend(numbers_in(&chunk[..count]));
            }
        }
    }
    found.sort_unstable();
    found.dedup();
    Ok(found)
}

/// The numbers in these bytes.
fn numbers_in(bytes: &[u8]) -> Vec<String> {
    let mut places = bytes.iter().enumerate().filter(|(_, byte)| **byte == PREFIX[0]).map(|(place, _)| place);
    let starts = std::iter::from_fn(|| places.find(|place| bytes[*place..].starts_with(PREFIX)));
    starts.map(|place| String::from_utf8_lossy(&bytes[place..bytes.len().min(place + 16)]).into_owned()).collect()
}

/// A valid number that nothing else holds.
fn number(place: u32) -> String {
    let start = format!("42{:013}", 8_716_253_000_000_u64 + u64::from(place) * 7_919);
    let sum: u32 = start
        .bytes()
        .rev()
        .enumerate()
        .map(|(place, digit)| {
            let digit = u32::from(digit - b'0');
            if place % 2 == 1 { digit } else { digit * 2 / 10 + digit * 2 % 10 }
        })
        .sum();
    format!("{start}{}", (10 - sum % 10) % 10)
}

/// A request to pay with a card number, in pieces as they leave.
fn requests(shop: &Merchant, checkout: &str, first: u32) -> Vec<(String, Vec<String>)> {
    let order = [("entityId", shop.entity_id.as_str()), ("amount", "1.00"), ("currency", "EUR"), ("paymentType", "DB")];
    let mut requests = Vec::new();
    let mut request = |path: &str, more: &[(&str, &str)], shape: &dyn Fn(&str, &str) -> Vec<String>| {
        let number = number(first + u32::try_from(requests.len()).unwrap_or_default());
        let card: Vec<_> = CARD.iter().filter(|(name, _)| *name != "card.number").copied().collect();
        let body = form(more.iter().chain(&card).copied().chain([("card.number", number.as_str())]));
        let head = format!(
            "POST /{path} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer {}\r\n\
             Content-Type: application/x-www-form-urlencoded\r\n",
            shop.token
        );
        requests.push((number.clone(), shape(&head, &body)));
    };
    let whole = |head: &str, body: &str| vec![format!("{head}Content-Length: {}\r\n\r\n{body}", body.len())];
    let halves = |head: &str, body: &str| {
        let (one, two) = body.split_at(body.len() - 5);
        vec![format!("{head}Content-Length: {}\r\n\r\n", body.len()), one.to_owned(), two.to_owned()]
    };
    let chunked = |head: &str, body: &str| {
        vec![format!("{head}Transfer-Encoding: chunked\r\n\r\n{:x}\r\n{body}\r\n", body.len()), "0\r\n\r\n".to_owned()]
    };
    let split_head = |head: &str, body: &str| {
        let (one, two) = head.split_at(20);
        vec![one.to_owned(), format!("{two}Content-Length: {}\r\n\r\n{body}", body.len())]
    };
    let long_head = |head: &str, body: &str| {
        let long = format!("X-Long: {}\r\n", "x".repeat(20_000));
        vec![format!("{head}{long}Content-Length: {}\r\n\r\n{body}", body.len())]
    };
    let submit = format!("v1/checkouts/{checkout}/payment");
    let tokenise = format!("v1/plainForm.html?checkoutId={checkout}");
    for shape in [&whole as &dyn Fn(&str, &str) -> Vec<String>, &halves, &chunked, &split_head, &long_head] {
        request("v1/payments", &order, shape);
        request("v1/registrations", &order[..1], shape);
        request("v1/payments", &[order[0], ("amount", "x")], shape);
        request("v1/payments", &[("entityId", "0")], shape);
        request("v1/nowhere", &order, shape);
        request(&submit, &[], shape);
        request(&tokenise, &[], shape);
        request(&submit, &[("card.expiryYear", "1999")], shape);
    }
    requests
}

#[tokio::test]
async fn no_card_number_stays_in_memory_after_its_request() -> anyhow::Result<()> {
    let folder = tempfile::tempdir()?;
    let (gateway, shop) = signalled(folder.path()).await?;
    let process = gateway.id()?;
    if File::open(format!("/proc/{process}/mem")).is_err() {
        eprintln!("only root may read the memory of the gateway: nothing was tested");
        return Ok(());
    }
    let made = shop.checkout(&[]).await?;
    let host = shop.base.trim_start_matches("http://").trim_end_matches('/').to_owned();
    let mut open = Vec::new();
    let mut numbers = Vec::new();
    for (number, pieces) in requests(&shop, made.id(), 1) {
        // A connection for each, which stays open and idle.
        let mut stream = TcpStream::connect(&host).await?;
        stream.set_nodelay(true)?;
        for piece in &pieces {
            // The gateway may have answered already.
            let _ = stream.write_all(piece.as_bytes()).await;
            tokio::task::yield_now().await;
        }
        let mut answer = [0; 12];
        stream.read_exact(&mut answer).await?;
        assert!(answer.starts_with(b"HTTP/1.1 ") && answer[9] != b'5', "{}", String::from_utf8_lossy(&answer));
        open.push(stream);
        numbers.push(number);
    }
    // What was written is written in full.
    let mut left = Vec::new();
    let gone = until("no number is left", async || {
        left = found(process)?;
        left.retain(|number| numbers.contains(number));
        Ok(left.is_empty().then_some(()))
    })
    .await;
    let places: Vec<_> = left.iter().filter_map(|number| numbers.iter().position(|other| other == number)).collect();
    assert!(gone.is_ok(), "the numbers of requests {places:?} of {} are in memory", numbers.len());
    let limits = fs::read_to_string(format!("/proc/{process}/limits"))?;
    let core = limits.lines().find(|line| line.starts_with("Max core file size")).unwrap_or_default();
    assert_eq!(core.split_whitespace().skip(4).take(2).collect::<Vec<_>>(), ["0", "0"], "{core}");
    Ok(())
}

/// A user without rights, Debian's `nobody`.
const NOBODY: u32 = 65534;

/// Has the next program run as [`NOBODY`], also one in a folder that this user may not enter.
const AS_NOBODY: &str =
    r#"exec 3<"$1"; shift; set -- setpriv --reuid=65534 --regid=65534 --clear-groups /proc/self/fd/3 "$@""#;

/// The user who may read a process's memory: the one that runs it, or root if no other process of that user may.
fn owner(process: u32) -> anyhow::Result<u32> {
    Ok(fs::metadata(format!("/proc/{process}/mem"))?.uid())
}

#[tokio::test]
async fn no_other_process_of_the_same_user_may_read_the_gateways_memory() -> anyhow::Result<()> {
    let folder = tempfile::tempdir()?;
    let user = fs::metadata(folder.path())?.uid();
    let (shell, user) = if user == 0 { (AS_NOBODY, NOBODY) } else { ("true", user) };
    chown(folder.path(), Some(user), None)?;

    let script = format!("{shell}; exec \"$@\"");
    let mut other = Command::new("sh");
    other.args(["-c", &script, "sh", "/bin/cat"]).stdin(Stdio::piped()).stdout(Stdio::piped()).kill_on_drop(true);
    let mut other = other.spawn()?;
    // It answers, so it is no longer the shell.
    let mut echo = [0; 1];
    if let (Some(input), Some(output)) = (&mut other.stdin, &mut other.stdout) {
        input.write_all(b"x").await?;
        output.read_exact(&mut echo).await?;
    }
    assert_eq!(owner(other.id().unwrap_or_default())?, user, "only root may read any process here");

    let data = folder.path().join("data");
    let data = data.to_str().unwrap_or_default();
    let gateway = start_after(shell, &["serve", "--data", data, "--listen", "127.0.0.1:0"]).await?;
    assert_eq!(owner(gateway.id()?)?, 0);
    Ok(())
}

#[test]
fn the_search_finds_a_number_in_this_very_process() -> anyhow::Result<()> {
    let number = number(100);
    if File::open("/proc/self/mem").is_ok() {
        assert!(found(std::process::id())?.contains(&number));
    }
    Ok(())
}
