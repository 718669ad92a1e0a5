//! Memory of the running gateway: no card number remains in it after its request was answered, even if the client keeps
//! its connection open. Only root can run this test, because no other user may read the gateway's memory.

use std::fs::{self, File};
use std::os::unix::fs::{FileExt as _, MetadataExt as _, chown};
use std::process::Stdio;

use tillgate_tests::{CARD, MerchantClient, encode_form, poll_until};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;
use tokio::process::Command;

use crate::service::command_line::start_after_shell;
use crate::service::resilience::start_gateway_process;

/// Number of bytes per read.
const CHUNK: usize = 1 << 20;

/// First digits of every number that is searched.
const PREFIX: &[u8] = b"428716253";

/// Returns the numbers that begin with [`PREFIX`] in the writable memory of a process, sorted and without duplicates.
/// Skips memory that cannot be read.
fn numbers_in_memory(process: u32) -> anyhow::Result<Vec<String>> {
    let maps = fs::read_to_string(format!("/proc/{process}/maps"))?;
    let memory = File::open(format!("/proc/{process}/mem"))?;
    let mut found = Vec::new();
    let (mut chunk, zeros) = (vec![0; CHUNK], vec![0; CHUNK]);
    for line in maps.lines().filter(|line| line.contains(" rw")) {
        let range = line.split(' ').next().unwrap_or_default();
        let Some((start, end)) = range.split_once('-') else { continue };
        let (start, end) = (u64::from_str_radix(start, 16)?, u64::from_str_radix(end, 16)?);
        // The chunks overlap by more than the length of a number.
        for offset in (start..end).step_by(CHUNK - 64) {
            let length = usize::try_from(end - offset)?.min(CHUNK);
            let Ok(count) = memory.read_at(&mut chunk[..length], offset) else { continue };
            // Most reserved memory was never used and is skipped.
            if chunk[..count] != zeros[..count] {
                found.extend(numbers_in(&chunk[..count]));
            }
        }
    }
    found.sort_unstable();
    found.dedup();
    Ok(found)
}

/// Returns every text of up to 16 bytes that begins with [`PREFIX`].
fn numbers_in(bytes: &[u8]) -> Vec<String> {
    let mut places = bytes.iter().enumerate().filter(|(_, byte)| **byte == PREFIX[0]).map(|(place, _)| place);
    let starts = std::iter::from_fn(|| places.find(|place| bytes[*place..].starts_with(PREFIX)));
    starts.map(|place| String::from_utf8_lossy(&bytes[place..bytes.len().min(place + 16)]).into_owned()).collect()
}

/// Returns a Luhn-valid number that begins with [`PREFIX`], another one for each index.
fn unique_number(index: u32) -> String {
    let start = format!("42{:013}", 8_716_253_000_000_u64 + u64::from(index) * 7_919);
    let sum: u32 = start
        .bytes()
        .rev()
        .enumerate()
        .map(|(index, digit)| {
            let digit = u32::from(digit - b'0');
            if index % 2 == 1 { digit } else { digit * 2 / 10 + digit * 2 % 10 }
        })
        .sum();
    format!("{start}{}", (10 - sum % 10) % 10)
}

/// Returns requests with a card number each: the number, and the pieces of the request, which are sent separately.
/// Routes, results and splits differ. `first` is the index of the first number.
fn payment_requests(shop: &MerchantClient, checkout: &str, first: u32) -> Vec<(String, Vec<String>)> {
    let order = [("entityId", shop.entity_id.as_str()), ("amount", "1.00"), ("currency", "EUR"), ("paymentType", "DB")];
    let mut requests = Vec::new();
    let mut request = |path: &str, more: &[(&str, &str)], shape: &dyn Fn(&str, &str) -> Vec<String>| {
        let number = unique_number(first + u32::try_from(requests.len()).unwrap_or_default());
        let card: Vec<_> = CARD.iter().filter(|(name, _)| *name != "card.number").copied().collect();
        let body = encode_form(more.iter().chain(&card).copied().chain([("card.number", number.as_str())]));
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
    let (gateway, shop) = start_gateway_process(folder.path(), &[]).await?;
    let process = gateway.id()?;
    if File::open(format!("/proc/{process}/mem")).is_err() {
        eprintln!("only root may read the memory of the gateway: nothing was tested");
        return Ok(());
    }
    let made = shop.create_checkout(&[]).await?;
    let host = shop.base.trim_start_matches("http://").trim_end_matches('/').to_owned();
    let mut open = Vec::new();
    let mut numbers = Vec::new();
    for (number, pieces) in payment_requests(&shop, made.id(), 1) {
        // Each request has its own connection, which stays open and idle.
        let mut stream = TcpStream::connect(&host).await?;
        stream.set_nodelay(true)?;
        for piece in &pieces {
            // The gateway may have answered and closed already, so errors are ignored.
            let _ = stream.write_all(piece.as_bytes()).await;
            tokio::task::yield_now().await;
        }
        let mut answer = [0; 12];
        stream.read_exact(&mut answer).await?;
        assert!(answer.starts_with(b"HTTP/1.1 ") && answer[9] != b'5', "{}", String::from_utf8_lossy(&answer));
        open.push(stream);
        numbers.push(number);
    }
    // The gateway may need a moment to clear the numbers from its memory.
    let mut left = Vec::new();
    let gone = poll_until("no number is left", async || {
        left = numbers_in_memory(process)?;
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

/// An unprivileged user, Debian's `nobody`.
const NOBODY: u32 = 65534;

/// Shell script that runs a program as [`NOBODY`], even from a folder that this user may not enter.
const AS_NOBODY: &str =
    r#"exec 3<"$1"; shift; set -- setpriv --reuid=65534 --regid=65534 --clear-groups /proc/self/fd/3 "$@""#;

/// Returns the user who may read a process's memory: the one that runs it, or root if no other process of that user
/// may.
fn memory_owner(process: u32) -> anyhow::Result<u32> {
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
    // After the echo, the process is no longer the shell.
    let mut echo = [0; 1];
    if let (Some(input), Some(output)) = (&mut other.stdin, &mut other.stdout) {
        input.write_all(b"x").await?;
        output.read_exact(&mut echo).await?;
    }
    assert_eq!(memory_owner(other.id().unwrap_or_default())?, user, "only root may read any process here");

    let data = folder.path().join("data");
    let data = data.to_str().unwrap_or_default();
    let gateway = start_after_shell(shell, &["serve", "--data", data, "--listen", "127.0.0.1:0"]).await?;
    assert_eq!(memory_owner(gateway.id()?)?, 0);
    Ok(())
}

#[test]
fn the_search_finds_a_number_in_this_very_process() -> anyhow::Result<()> {
    let number = unique_number(100);
    if File::open("/proc/self/mem").is_ok() {
        assert!(numbers_in_memory(std::process::id())?.contains(&number));
    }
    Ok(())
}
