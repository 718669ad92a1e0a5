//! Clients that hold connections: they send slowly, send nothing, or do not read. Each is sent away in time, and however many
//! there are, others are served.

use std::net::{Ipv4Addr, SocketAddr};
use std::time::Duration;

use anyhow::Context as _;
use tillgate_tests::{Gateway, PATIENCE, until};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpSocket, TcpStream};
use tokio::task::JoinSet;

use crate::command_line::{Running, start_after};
use crate::hardship::{PATIENT, hog};

/// The start of a payment whose body does not come.
const BODY_LESS: &str = "POST /v1/payments HTTP/1.1\r\nHost: x\r\n\
    Content-Type: application/x-www-form-urlencoded\r\nContent-Length: 1000\r\n\r\ncard.number=4";

/// A connection from 127.0.0.`source` on which `bytes` have been sent.
async fn connect(base: &str, source: u8, bytes: &str) -> anyhow::Result<TcpStream> {
    let address: SocketAddr = base.trim_start_matches("http://").trim_end_matches('/').parse()?;
    let socket = TcpSocket::new_v4()?;
    socket.bind((Ipv4Addr::new(127, 0, 0, source), 0).into())?;
    let mut stream = socket.connect(address).await?;
    stream.write_all(bytes.as_bytes()).await?;
    Ok(stream)
}

/// The status of `/health`, asked from 127.0.0.`source` on a new connection.
async fn health(base: &str, source: u8) -> anyhow::Result<String> {
    let mut stream = connect(base, source, "GET /health HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n").await?;
    read(&mut stream).await
}

/// Reads until the gateway closes the connection.
async fn read(stream: &mut TcpStream) -> anyhow::Result<String> {
    let mut answer = Vec::new();
    // Closing may be abrupt.
    let _ = tokio::time::timeout(PATIENCE, stream.read_to_end(&mut answer)).await.context("it stays open")?;
    Ok(String::from_utf8_lossy(&answer).into_owned())
}

/// A connection that has had one answer and is idle.
async fn idle(base: &str, source: u8) -> anyhow::Result<TcpStream> {
    let mut stream = connect(base, source, "GET /health HTTP/1.1\r\nHost: x\r\n\r\n").await?;
    let mut answer = Vec::new();
    while !answer.ends_with(b"}") {
        anyhow::ensure!(stream.read_buf(&mut answer).await? > 0, "closed");
    }
    Ok(stream)
}

/// A gateway after what a shell does first.
async fn start(shell: &str, options: &[&str]) -> anyhow::Result<(Running, tempfile::TempDir)> {
    let folder = tempfile::tempdir()?;
    let data = folder.path().join("data");
    let arguments = ["serve", "--listen", "127.0.0.1:0", "--data", data.to_str().unwrap_or_default()];
    Ok((start_after(shell, &[&arguments[..], options].concat()).await?, folder))
}

/// Opens `count` connections from each of 50 addresses, of every slow kind.
async fn flood(base: &str, count: usize) -> anyhow::Result<Vec<TcpStream>> {
    let kinds =
        ["", "GET /health HTTP/1.1\r\nHost: x\r\nX-Slow: ", BODY_LESS, "GET /health HTTP/1.1\r\nHost: x\r\n\r\n"];
    let mut opening = JoinSet::new();
    for source in 2..52 {
        let base = base.to_owned();
        opening.spawn(async move {
            let mut open = Vec::new();
            for number in 0..count {
                open.push(connect(&base, source, kinds[number % kinds.len()]).await?);
            }
            anyhow::Ok(open)
        });
    }
    Ok(opening.join_all().await.into_iter().collect::<anyhow::Result<Vec<_>>>()?.into_iter().flatten().collect())
}

#[tokio::test]
async fn health_answers_while_5000_slow_connections_are_open() -> anyhow::Result<()> {
    tillgate::process::raise_file_limit();
    // As most systems start a process: 1024 files, of which the process may ask for more.
    let (gateway, _folder) = start("ulimit -Sn 1024", &["--head-timeout", "10m", "--idle-timeout", "10m"]).await?;
    let base = gateway.base();
    let open = flood(&base, 100).await?;
    assert_eq!(open.len(), 5000);
    for source in [1, 2, 51, 52] {
        let answer = health(&base, source).await?;
        assert!(answer.starts_with("HTTP/1.1 200 "), "{answer}");
    }
    drop(open);
    Ok(())
}

#[tokio::test]
async fn health_answers_while_more_slow_clients_come_than_files_may_be_open() -> anyhow::Result<()> {
    for files in [64, 256] {
        let shell = format!("ulimit -n {files}");
        let (gateway, _folder) = start(&shell, &["--head-timeout", "10m", "--idle-timeout", "10m"]).await?;
        let base = gateway.base();
        // Those that are sent away at once may not even get their bytes out.
        let mut open = Vec::new();
        for number in 0..1000_usize {
            let kind = ["", "GET /health HTTP/1.1\r\nHost: x\r\nX-Slow: "][number % 2];
            open.extend(connect(&base, u8::try_from(2 + number % 50)?, kind).await);
        }
        until("health answers", async || {
            Ok(health(&base, 1).await.is_ok_and(|answer| answer.starts_with("HTTP/1.1 200 ")).then_some(()))
        })
        .await?;
    }
    Ok(())
}

#[tokio::test]
async fn every_kind_of_slow_client_is_sent_away() -> anyhow::Result<()> {
    let options = ["--head-timeout", "1s", "--idle-timeout", "1s", "--send-timeout", "1s"];
    let gateway = Gateway::start_with(&options)?;
    let base = gateway.base();
    let mut closed = JoinSet::new();
    // Nothing, a part of a head, a part of a second head, nothing after an answer, a part of a body that nobody reads.
    let whole = "GET /health HTTP/1.1\r\nHost: x\r\n\r\n";
    let part = "GET /health HTTP/1.1\r\nHost: x\r\n";
    let unwanted = "POST /nowhere HTTP/1.1\r\nHost: x\r\nContent-Length: 1000\r\n\r\na";
    for sent in ["", "\r\n", "G", part, whole, &format!("{whole}{part}"), BODY_LESS, unwanted] {
        let mut stream = connect(&base, 1, sent).await?;
        let sent = sent.to_owned();
        closed.spawn(async move { read(&mut stream).await.context(sent) });
    }
    // One byte after another, of a head, of a body, of a chunked body, for ever.
    let chunked =
        BODY_LESS.replace("Content-Length: 1000", "Transfer-Encoding: chunked").replace("card.number=4", "1\r\n");
    for (sent, byte) in [(part, "x"), (BODY_LESS, "4"), (&chunked, "4\r\n1\r\n"), ("", "\r\n")] {
        let stream = connect(&base, 1, sent).await?;
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
    let gateway = Gateway::start_with(&["--send-timeout", "1s"])?;
    let base = gateway.base();
    let request = "GET /reference HTTP/1.1\r\nHost: x\r\n\r\n";
    // Not a byte; and a byte at a time, which keeps the window open.
    for reads in [false, true] {
        let stream = connect(&base, 1, "").await?;
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
    let gateway = Gateway::start_with(&options)?;
    let base = gateway.base();
    let mut open = Vec::new();
    for _ in 0..4 {
        open.push(idle(&base, 2).await?);
    }
    // A fifth makes the first go, a sixth the second; the others stay.
    for _ in 0..2 {
        let newest = idle(&base, 2).await?;
        assert_eq!(read(&mut open.remove(0)).await?, "");
        open.push(newest);
    }
    for stream in &mut open {
        stream.write_all(b"GET /health HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n").await?;
        assert!(read(stream).await?.starts_with("HTTP/1.1 200 "));
    }
    // Other addresses have shares of their own, and a proxy has no limit.
    let mut others = Vec::new();
    for number in 0..20 {
        others.push(idle(&base, 3).await?);
        others.push(idle(&base, 10 + number).await?);
    }
    for stream in &mut others {
        stream.write_all(b"GET /health HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n").await?;
        assert!(read(stream).await?.starts_with("HTTP/1.1 200 "));
    }
    Ok(())
}

#[tokio::test]
async fn a_connection_that_is_worked_for_is_not_closed_to_make_room() -> anyhow::Result<()> {
    let gateway =
        Gateway::start_with(&[&PATIENT[..], &["--connections", "5", "--connections-per-address", "0"]].concat())?;
    let shop = gateway.merchant()?;
    let body = format!("entityId={}&amount=1.00&currency=EUR&paymentType=DB", shop.entity_id);
    let request = |key: u8| {
        format!(
            "POST /v1/checkouts HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer {}\r\nIdempotency-Key: key{key}\r\n\
             Content-Type: application/x-www-form-urlencoded\r\nContent-Length: {}\r\n\r\n{body}",
            shop.token,
            body.len()
        )
    };
    // Requests that wait for the disk.
    let disk = hog(&gateway)?;
    let base = gateway.base();
    let mut working = Vec::new();
    for key in 0..4 {
        // Of two requests with one key, one is refused at once. The other is being worked on then.
        let (mut one, mut other) = (connect(&base, 2, &request(key)).await?, connect(&base, 2, &request(key)).await?);
        let (mut first, mut second) = ([0; 13], [0; 13]);
        tokio::select! {
            read = one.read_exact(&mut first) => { read?; working.push(other) }
            read = other.read_exact(&mut second) => { read?; working.push(one) }
        }
        assert!([first, second].contains(b"HTTP/1.1 409 "), "{first:?} {second:?}");
    }
    for _ in 0..20 {
        // Not the health: it asks the disk.
        let script = "GET /v1/simulator.js HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n";
        let answer = read(&mut connect(&base, 1, script).await?).await?;
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
    let (mut gateway, _folder) = start(":", &["--idle-timeout", "10m"]).await?;
    let open = flood(&gateway.base(), 8).await?;
    gateway.signal("TERM").await?;
    let status = gateway.ended().await?;
    assert!(status.success(), "{status}");
    drop(open);
    Ok(())
}
