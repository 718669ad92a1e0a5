//! Clients that hold connections: they send slowly, send nothing, or do not read. Each of them is disconnected in time,
//! and any number of them does not prevent other requests.

use std::net::{Ipv4Addr, SocketAddr};
use std::time::Duration;

use anyhow::Context as _;
use tillgate_tests::{PATIENCE, TestGateway, poll_until};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpSocket, TcpStream};
use tokio::task::JoinSet;

use crate::service::command_line::{RunningCommand, start_after_shell};
use crate::service::resilience::{PATIENT, lock_database};

/// The start of a payment request whose body is never completed.
const BODY_LESS: &str = "POST /v1/payments HTTP/1.1\r\nHost: x\r\n\
    Content-Type: application/x-www-form-urlencoded\r\nContent-Length: 1000\r\n\r\ncard.number=4";

/// Opens a connection from 127.0.0.`source` and sends `bytes`.
async fn connect_from(base: &str, source: u8, bytes: &str) -> anyhow::Result<TcpStream> {
    let address: SocketAddr = base.trim_start_matches("http://").trim_end_matches('/').parse()?;
    let socket = TcpSocket::new_v4()?;
    socket.bind((Ipv4Addr::new(127, 0, 0, source), 0).into())?;
    let mut stream = socket.connect(address).await?;
    stream.write_all(bytes.as_bytes()).await?;
    Ok(stream)
}

/// Returns the response of `/health` to a request from 127.0.0.`source` on a new connection.
async fn read_health(base: &str, source: u8) -> anyhow::Result<String> {
    let mut stream = connect_from(base, source, "GET /health HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n").await?;
    read_response(&mut stream).await
}

/// Reads until the gateway closes the connection, and returns what was read. Fails if it stays open.
async fn read_response(stream: &mut TcpStream) -> anyhow::Result<String> {
    let mut answer = Vec::new();
    // A connection reset is accepted too.
    let _ = tokio::time::timeout(PATIENCE, stream.read_to_end(&mut answer)).await.context("it stays open")?;
    Ok(String::from_utf8_lossy(&answer).into_owned())
}

/// Opens a connection from 127.0.0.`source` that has received one response and stays open.
async fn open_idle_connection(base: &str, source: u8) -> anyhow::Result<TcpStream> {
    let mut stream = connect_from(base, source, "GET /health HTTP/1.1\r\nHost: x\r\n\r\n").await?;
    let mut answer = Vec::new();
    while !answer.ends_with(b"}") {
        anyhow::ensure!(stream.read_buf(&mut answer).await? > 0, "closed");
    }
    Ok(stream)
}

/// Starts a gateway in a new folder, after shell commands such as `ulimit`.
async fn start_gateway(shell: &str, options: &[&str]) -> anyhow::Result<(RunningCommand, tempfile::TempDir)> {
    let folder = tempfile::tempdir()?;
    let data = folder.path().join("data");
    let arguments = ["serve", "--listen", "127.0.0.1:0", "--data", data.to_str().unwrap_or_default()];
    Ok((start_after_shell(shell, &[&arguments[..], options].concat()).await?, folder))
}

/// Opens `count` connections from each of 50 addresses: silent, with a slow head, with a slow body, and idle ones.
async fn open_slow_connections(base: &str, count: usize) -> anyhow::Result<Vec<TcpStream>> {
    let kinds =
        ["", "GET /health HTTP/1.1\r\nHost: x\r\nX-Slow: ", BODY_LESS, "GET /health HTTP/1.1\r\nHost: x\r\n\r\n"];
    let mut opening = JoinSet::new();
    for source in 2..52 {
        let base = base.to_owned();
        opening.spawn(async move {
            let mut open = Vec::new();
            for number in 0..count {
                open.push(connect_from(&base, source, kinds[number % kinds.len()]).await?);
            }
            anyhow::Ok(open)
        });
    }
    Ok(opening.join_all().await.into_iter().collect::<anyhow::Result<Vec<_>>>()?.into_iter().flatten().collect())
}

#[tokio::test]
async fn health_answers_while_5000_slow_connections_are_open() -> anyhow::Result<()> {
    tillgate_os::process::raise_file_limit();
    // The default of most systems: a soft limit of 1024 files, which the process may raise.
    let (gateway, _folder) =
        start_gateway("ulimit -Sn 1024", &["--head-timeout", "10m", "--idle-timeout", "10m"]).await?;
    let base = gateway.base();
    let open = open_slow_connections(&base, 100).await?;
    assert_eq!(open.len(), 5000);
    for source in [1, 2, 51, 52] {
        let answer = read_health(&base, source).await?;
        assert!(answer.starts_with("HTTP/1.1 200 "), "{answer}");
    }
    drop(open);
    Ok(())
}

#[tokio::test]
async fn health_answers_while_more_slow_clients_come_than_files_may_be_open() -> anyhow::Result<()> {
    for files in [64, 256] {
        let shell = format!("ulimit -n {files}");
        let (gateway, _folder) = start_gateway(&shell, &["--head-timeout", "10m", "--idle-timeout", "10m"]).await?;
        let base = gateway.base();
        // The gateway may close a connection before the client has sent its bytes.
        let mut open = Vec::new();
        for number in 0..1000_usize {
            let kind = ["", "GET /health HTTP/1.1\r\nHost: x\r\nX-Slow: "][number % 2];
            open.extend(connect_from(&base, u8::try_from(2 + number % 50)?, kind).await);
        }
        poll_until("health answers", async || {
            Ok(read_health(&base, 1).await.is_ok_and(|answer| answer.starts_with("HTTP/1.1 200 ")).then_some(()))
        })
        .await?;
    }
    Ok(())
}

#[tokio::test]
async fn every_kind_of_slow_client_is_sent_away() -> anyhow::Result<()> {
    let options = ["--head-timeout", "1s", "--idle-timeout", "1s", "--send-timeout", "1s"];
    let gateway = TestGateway::start_with(&options)?;
    let base = gateway.base_url();
    let mut closed = JoinSet::new();
    // Nothing, an incomplete head, an incomplete second head, nothing after a response, an incomplete body, an
    // incomplete body that the gateway does not read.
    let whole = "GET /health HTTP/1.1\r\nHost: x\r\n\r\n";
    let part = "GET /health HTTP/1.1\r\nHost: x\r\n";
    let unwanted = "POST /nowhere HTTP/1.1\r\nHost: x\r\nContent-Length: 1000\r\n\r\na";
    for sent in ["", "\r\n", "G", part, whole, &format!("{whole}{part}"), BODY_LESS, unwanted] {
        let mut stream = connect_from(&base, 1, sent).await?;
        let sent = sent.to_owned();
        closed.spawn(async move { read_response(&mut stream).await.context(sent) });
    }
    // A head, a body and a chunked body that are sent byte by byte without end.
    let chunked =
        BODY_LESS.replace("Content-Length: 1000", "Transfer-Encoding: chunked").replace("card.number=4", "1\r\n");
    for (sent, byte) in [(part, "x"), (BODY_LESS, "4"), (&chunked, "4\r\n1\r\n"), ("", "\r\n")] {
        let stream = connect_from(&base, 1, sent).await?;
        let sent = sent.to_owned();
        closed.spawn(async move {
            let (mut reader, mut writer) = stream.into_split();
            let trickle = async {
                let mut ticks = tokio::time::interval(Duration::from_millis(50));
                while writer.write_all(byte.as_bytes()).await.is_ok() {
                    ticks.tick().await;
                }
            };
            let mut answer = Vec::new();
            let ended = async {
                tokio::select! { _ = reader.read_to_end(&mut answer) => {}, () = trickle => {} }
            };
            tokio::time::timeout(PATIENCE, ended).await.context(format!("trickling after {sent}"))?;
            Ok(String::from_utf8_lossy(&answer).into_owned())
        });
    }
    for answer in closed.join_all().await {
        let answer = answer?;
        assert!(!answer.contains("HTTP/1.1 500"), "{answer}");
    }
    Ok(())
}

#[tokio::test]
async fn a_client_that_does_not_read_its_answers_is_sent_away() -> anyhow::Result<()> {
    let gateway = TestGateway::start_with(&["--send-timeout", "1s"])?;
    let base = gateway.base_url();
    let request = "GET /reference HTTP/1.1\r\nHost: x\r\n\r\n";
    // Reads nothing, or one byte at a time, which keeps the TCP window open.
    for reads in [false, true] {
        let stream = connect_from(&base, 1, "").await?;
        let (mut reader, mut writer) = stream.into_split();
        let ask = async { while writer.write_all(request.as_bytes()).await.is_ok() {} };
        let sip = async {
            let mut ticks = tokio::time::interval(Duration::from_millis(20));
            while reads && reader.read_u8().await.is_ok() {
                ticks.tick().await;
            }
            if !reads {
                std::future::pending::<()>().await;
            }
        };
        let ended = async {
            tokio::select! { () = ask => {}, () = sip => {} }
        };
        tokio::time::timeout(PATIENCE, ended).await.with_context(|| format!("reads: {reads}"))?;
    }
    Ok(())
}

#[tokio::test]
async fn an_address_has_its_share_of_connections_and_the_oldest_idle_one_makes_room() -> anyhow::Result<()> {
    let options = ["--connections-per-address", "4", "--trusted-proxy", "127.0.0.3/32"];
    let gateway = TestGateway::start_with(&options)?;
    let base = gateway.base_url();
    let mut open = Vec::new();
    for _ in 0..4 {
        open.push(open_idle_connection(&base, 2).await?);
    }
    // A fifth connection closes the oldest, and a sixth the second oldest. The others remain open.
    for _ in 0..2 {
        let newest = open_idle_connection(&base, 2).await?;
        assert_eq!(read_response(&mut open.remove(0)).await?, "");
        open.push(newest);
    }
    for stream in &mut open {
        stream.write_all(b"GET /health HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n").await?;
        assert!(read_response(stream).await?.starts_with("HTTP/1.1 200 "));
    }
    // Other addresses have their own limits, and a proxy has none.
    let mut others = Vec::new();
    for number in 0..20 {
        others.push(open_idle_connection(&base, 3).await?);
        others.push(open_idle_connection(&base, 10 + number).await?);
    }
    for stream in &mut others {
        stream.write_all(b"GET /health HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n").await?;
        assert!(read_response(stream).await?.starts_with("HTTP/1.1 200 "));
    }
    Ok(())
}

#[tokio::test]
async fn a_connection_that_is_worked_for_is_not_closed_to_make_room() -> anyhow::Result<()> {
    let gateway =
        TestGateway::start_with(&[&PATIENT[..], &["--connections", "5", "--connections-per-address", "0"]].concat())?;
    let shop = gateway.create_merchant()?;
    let body = format!("entityId={}&amount=1.00&currency=EUR&paymentType=DB", shop.entity_id);
    let request = |key: u8| {
        format!(
            "POST /v1/checkouts HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer {}\r\nIdempotency-Key: key{key}\r\n\
             Content-Type: application/x-www-form-urlencoded\r\nContent-Length: {}\r\n\r\n{body}",
            shop.token,
            body.len()
        )
    };
    // These requests wait for the write lock.
    let disk = lock_database(&gateway)?;
    let base = gateway.base_url();
    let mut working = Vec::new();
    for key in 0..4 {
        // Of two requests with the same key, one is refused at once. By then, the other is in flight.
        let (mut one, mut other) =
            (connect_from(&base, 2, &request(key)).await?, connect_from(&base, 2, &request(key)).await?);
        let (mut first, mut second) = ([0; 13], [0; 13]);
        tokio::select! {
            read = one.read_exact(&mut first) => { read?; working.push(other) }
            read = other.read_exact(&mut second) => { read?; working.push(one) }
        }
        assert!([first, second].contains(b"HTTP/1.1 409 "), "{first:?} {second:?}");
    }
    for _ in 0..20 {
        // The request is not for `/health`, which needs the database.
        let script = "GET /v1/simulator.js HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n";
        let answer = read_response(&mut connect_from(&base, 1, script).await?).await?;
        assert!(answer.starts_with("HTTP/1.1 200 "), "{answer}");
    }
    drop(disk);
    for stream in &mut working {
        let mut answer = [0; 13];
        stream.read_exact(&mut answer).await?;
        assert_eq!(&answer, b"HTTP/1.1 200 ");
    }
    Ok(())
}

#[tokio::test]
async fn a_gateway_with_slow_clients_stops_when_asked() -> anyhow::Result<()> {
    let (mut gateway, _folder) = start_gateway(":", &["--idle-timeout", "10m"]).await?;
    let open = open_slow_connections(&gateway.base(), 8).await?;
    gateway.send_signal("TERM").await?;
    let status = gateway.wait_for_exit().await?;
    assert!(status.success(), "{status}");
    drop(open);
    Ok(())
}

/// Sends a whole request, however early its response comes, and then reads until the gateway closes the connection.
/// Fails if one of the two fails.
async fn send_all_then_read(base: &str, head: &str, body: usize) -> anyhow::Result<String> {
    let mut stream = connect_from(base, 1, head).await?;
    let part = [b'x'; 16 * 1024];
    for sent in (0..body).step_by(part.len()) {
        stream.write_all(&part).await.with_context(|| format!("after {sent} bytes"))?;
    }
    let mut answer = String::new();
    tokio::time::timeout(PATIENCE, stream.read_to_string(&mut answer)).await.context("it stays open")??;
    Ok(answer)
}

#[tokio::test]
async fn a_client_that_sends_all_before_it_reads_gets_a_response_that_came_early() -> anyhow::Result<()> {
    const LENGTH: usize = 8 * 1024 * 1024;
    let base = &TestGateway::shared().base_url();
    let form = "Content-Type: application/x-www-form-urlencoded\r\n";
    let announced = format!("Content-Length: {LENGTH}\r\n");
    for (path, headers, status) in [
        ("v1/payments", [form, &announced].concat(), "413"),
        ("v1/payments", format!("Content-Type: text/plain\r\n{announced}"), "400"),
        ("v1/payments", format!("{form}Transfer-Encoding: chunked\r\n"), "400"),
        ("v1/nothing", [form, &announced].concat(), "404"),
    ] {
        let head = format!("POST /{path} HTTP/1.1\r\nHost: x\r\n{headers}\r\n");
        let answer = send_all_then_read(base, &head, LENGTH).await.with_context(|| head.clone())?;
        assert!(answer.starts_with(&format!("HTTP/1.1 {status} ")), "{head} {answer}");
        // A client that keeps connections does not send its next request on this one.
        assert!(answer.to_ascii_lowercase().contains("\r\nconnection: close\r\n"), "{answer}");
    }
    let head = format!("GET /health HTTP/1.1\r\nHost: x\r\nX-Long: {}", "y".repeat(LENGTH));
    let answer = send_all_then_read(base, &head, 0).await?;
    assert!(answer.starts_with("HTTP/1.1 431 "), "{answer}");
    Ok(())
}
