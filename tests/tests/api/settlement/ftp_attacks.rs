//! Attacks on the FTP server: other merchants' files, bounces, guessed passwords, and floods of connections.

use std::sync::OnceLock;

use tillgate_tests::ftp::{FtpAccount, RawFtpClient, read_data_from};
use tillgate_tests::{TestGateway, poll_until};

use crate::settlement::ftp::create_reader;
use crate::support::*;

/// Returns the gateway with plain FTP for this machine. The first call starts it.
fn plain_gateway() -> &'static TestGateway {
    static SHARED: OnceLock<TestGateway> = OnceLock::new();
    SHARED.get_or_init(|| {
        match TestGateway::start_with(&["--ftp", "127.0.0.1:0", "--ftp-sessions-per-address", "100"]) {
            Ok(gateway) => gateway,
            Err(error) => panic!("no gateway with FTP: {error:#}"),
        }
    })
}

#[tokio::test(flavor = "multi_thread")]
async fn another_merchants_file_is_as_unknown_as_one_that_never_was() -> anyhow::Result<()> {
    let gateway = plain_gateway();
    let (_, _, foreign, _) = create_reader(gateway, 1).await?;
    let (_, account, own, content) = create_reader(gateway, 1).await?;
    let mut client = RawFtpClient::log_in(&account).await?;
    let missing = client.send("SIZE nothing.csv").await?;
    assert!(missing.starts_with("550"), "{missing}");
    let paths = [
        foreign.clone(),
        format!("/{foreign}"),
        format!("../{foreign}"),
        format!("/../{own}"),
        format!("//{own}"),
        format!("./../{own}"),
        format!("{own}/"),
        format!("{own}/."),
        format!("x/../{own}"),
        own.to_uppercase(),
        "../../../etc/passwd".to_owned(),
        "/etc/passwd".to_owned(),
        "..\\data\\tillgate.db".to_owned(),
        "../*".to_owned(),
        "x/*".to_owned(),
        foreign.replace(".csv", "*"),
        "~".to_owned(),
    ];
    for path in &paths {
        for command in ["SIZE", "MDTM", "MLST"] {
            assert_eq!(client.send(&format!("{command} {path}")).await?, missing, "{command} {path}");
        }
        for command in ["RETR", "LIST", "MLSD", "NLST"] {
            client.open_passive().await?;
            assert_eq!(client.send(&format!("{command} {path}")).await?, missing, "{command} {path}");
        }
        assert!(client.send(&format!("CWD {path}")).await?.starts_with("550"), "{path}");
    }
    // A pattern finds the files of the user's folder only.
    for pattern in ["*", "/*", "reconciliation_*"] {
        let read = tokio::spawn(read_data_from("127.0.0.1", client.open_passive().await?));
        assert!(client.send(&format!("NLST {pattern}")).await?.starts_with("150"), "{pattern}");
        assert_eq!(read.await??, format!("{own}\r\n").as_bytes(), "{pattern}");
        assert!(client.read_reply().await?.starts_with("226"), "{pattern}");
    }
    for command in ["CWD ..", "CWD ../..", "CWD /data"] {
        assert!(client.send(command).await?.starts_with("550"), "{command}");
    }
    assert_eq!(client.send(&format!("SIZE {own}")).await?, format!("213 {}\r\n", content.len()));
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn nothing_is_sent_to_another_address_and_nothing_is_written() -> anyhow::Result<()> {
    let gateway = plain_gateway();
    let (_, account, own, content) = create_reader(gateway, 1).await?;
    let mut client = RawFtpClient::log_in(&account).await?;
    for command in ["PORT 127,0,0,1,0,22", "EPRT |1|127.0.0.1|22|", "LPRT 4,4,127,0,0,1,2,0,22", "SITE CHMOD 777 x"] {
        assert!(client.send(command).await?.starts_with("502"), "{command}");
    }
    for command in ["STOR x", "APPE x", "STOU", "DELE x", "MKD x", "RMD x", "RNFR x", "RNTO x", "MFMT 20260101000000 x"]
    {
        assert!(client.send(command).await?.starts_with("550"), "{command}");
    }
    // A transfer needs a data connection of its own, which is not left from before.
    assert!(client.send(&format!("RETR {own}")).await?.starts_with("425"));
    // Somebody else who finds the port first gets nothing, and the client gets its file.
    let address = client.open_passive().await?;
    let thief = tokio::spawn(read_data_from("127.0.0.2", address));
    client.send_bytes(format!("RETR {own}\r\n").as_bytes()).await?;
    assert!(client.read_reply().await?.starts_with("150"));
    assert_eq!(thief.await??, b"");
    assert_eq!(read_data_from("127.0.0.1", address).await?, content.as_bytes());
    assert!(client.read_reply().await?.starts_with("226"));
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn sessions_of_one_user_leave_ports_for_the_files_of_others() -> anyhow::Result<()> {
    let gateway = TestGateway::start_with(&["--ftp", "127.0.0.1:0", "--ftp-passive-ports", "39100-39107"])?;
    let (_, greedy, _, _) = create_reader(&gateway, 1).await?;
    let (_, account, own, content) = create_reader(&gateway, 1).await?;
    let mut holders = Vec::new();
    for _ in 0..2 {
        let mut holder = RawFtpClient::log_in(&greedy).await?;
        holder.open_passive().await?;
        holders.push(holder);
    }
    let mut late = RawFtpClient::log_in(&greedy).await?;
    let refused = late.send("EPSV").await?;
    assert!(refused.starts_with("425"), "{refused}");
    let mut client = RawFtpClient::log_in(&account).await?;
    let read = tokio::spawn(read_data_from("127.0.0.1", client.open_passive().await?));
    assert!(client.send(&format!("RETR {own}")).await?.starts_with("150"));
    assert_eq!(read.await??, content.as_bytes());
    holders.pop();
    poll_until("the port of the ended session is free", async || {
        let reply = late.send("EPSV").await?;
        Ok(Some(()).filter(|()| reply.starts_with("229")))
    })
    .await
}

#[tokio::test(flavor = "multi_thread")]
async fn an_unknown_user_is_refused_like_a_wrong_password_and_guessing_ends() -> anyhow::Result<()> {
    let gateway = TestGateway::start_with(&["--ftp", "127.0.0.1:0"])?;
    let (_, account, ..) = create_reader(&gateway, 1).await?;
    let wrong = FtpAccount { password: "x".to_owned(), ..account.clone() };
    let unknown = FtpAccount { user: "nobody".to_owned(), ..account.clone() };
    let mut replies = Vec::new();
    for guess in [&wrong, &unknown].into_iter().cycle().take(30) {
        let (mut client, _) = RawFtpClient::connect(account.address).await?;
        let user = client.send(&format!("USER {}", guess.user)).await?;
        replies.push([user, client.send(&format!("PASS {}", guess.password)).await?].concat());
    }
    replies.dedup();
    assert_eq!(replies, ["331 Send the password.\r\n530 Wrong user or password.\r\n"]);
    // The right password is not even checked now, and the session ends.
    let (mut client, _) = RawFtpClient::connect(account.address).await?;
    client.send(&format!("USER {}", account.user)).await?;
    assert!(client.send(&format!("PASS {}", account.password)).await?.starts_with("421"));
    assert!(client.is_closed().await?);
    let log = gateway.read_log();
    assert!(!log.contains(&account.password), "{log}");
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn a_flood_of_connections_is_refused_while_payments_go_on() -> anyhow::Result<()> {
    let gateway = TestGateway::start_with(&["--ftp", "127.0.0.1:0", "--ftp-sessions-per-address", "5"])?;
    let (shop, account, own, content) = create_reader(&gateway, 1).await?;
    let mut open = Vec::new();
    for _ in 0..5 {
        let (client, greeting) = RawFtpClient::connect(account.address).await?;
        assert!(greeting.starts_with("220"), "{greeting}");
        open.push(client);
    }
    for _ in 0..1000 {
        let (mut client, refusal) = RawFtpClient::connect(account.address).await?;
        assert!(refusal.starts_with("421"), "{refusal}");
        assert!(client.is_closed().await?);
    }
    assert_result(&shop.pay_by_card(&[]).await?, 200, "000.100.110");
    drop(open);
    // A place is free again as soon as its client has gone.
    let mut client = poll_until("a place is free", async || Ok(RawFtpClient::log_in(&account).await.ok())).await?;
    assert_eq!(client.send(&format!("SIZE {own}")).await?, format!("213 {}\r\n", content.len()));
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn endless_lines_and_endless_faults_end_a_session() -> anyhow::Result<()> {
    let (_, account, ..) = create_reader(plain_gateway(), 1).await?;
    let mut client = RawFtpClient::log_in(&account).await?;
    client.send_bytes(&[b'A'; 4096]).await?;
    assert!(client.is_closed().await?);
    let (mut client, _) = RawFtpClient::connect(account.address).await?;
    let mut refused = 0;
    while client.send("\u{fffd}\0 nonsense").await.is_ok() {
        refused += 1;
        assert!(refused < 50);
    }
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn a_revoked_user_reads_nothing_more_in_an_open_session() -> anyhow::Result<()> {
    let gateway = plain_gateway();
    let (_, account, own, _) = create_reader(gateway, 1).await?;
    let mut client = RawFtpClient::log_in(&account).await?;
    assert!(client.send(&format!("SIZE {own}")).await?.starts_with("213"));
    gateway.run_command(&["ftp-user", "revoke", "--name", &account.user])?;
    assert!(client.send(&format!("SIZE {own}")).await?.starts_with("421"));
    assert!(client.is_closed().await?);
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn a_user_of_a_live_entity_cannot_log_in_without_encryption() -> anyhow::Result<()> {
    let gateway = TestGateway::start_with(&[&LIVE[..], &["--ftp", "127.0.0.1:0"]].concat())?;
    let live = gateway.create_merchant_with(&["--live"])?;
    let account = gateway.create_ftp_user(&live.entity_id)?;
    let error = RawFtpClient::log_in(&account).await.err();
    assert!(error.is_some_and(|error| error.to_string().starts_with("530")));
    Ok(())
}
