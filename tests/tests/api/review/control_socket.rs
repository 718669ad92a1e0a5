//! The socket of the gateway for commands: clients that stall or send garbage, what may be in its place, other users,
//! two gateways on one data folder, and long paths.

use std::fs::{self, Permissions};
use std::io::{BufRead as _, BufReader, ErrorKind, Read as _, Write as _};
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _, symlink};
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::Context as _;
use serde_json::{Value, json};
use tillgate_tests::{MerchantClient, TestGateway, binary_path, poll_until};

use crate::payment::held_payments::create_reviewed_shop;
use crate::review::commands::{audit, review, review_error, run_review};
use crate::review::queue::hold_payment;
use crate::service::command_line::start_tillgate;
use crate::support::*;

/// An unprivileged user, Debian's `nobody`.
const NOBODY: u32 = 65534;

fn socket_path(data: &Path) -> PathBuf {
    data.join("control.sock")
}

/// Returns a line that approves a payment, as the command sends it.
fn approval(payment: &str) -> String {
    let request = json!({ "command": "decide-review", "payment": payment, "decision": "APPROVE", "analyst": "eve",
        "reason": null, "note": null, "user": "eve" });
    format!("{request}\n")
}

/// Sends bytes to the socket, and returns the answer.
fn exchange(data: &Path, bytes: &[u8]) -> anyhow::Result<Value> {
    let mut stream = UnixStream::connect(socket_path(data))?;
    // The gateway may have refused the request before its end.
    let _ = stream.write_all(bytes);
    let mut line = String::new();
    BufReader::new(stream).read_line(&mut line)?;
    serde_json::from_str(&line).with_context(|| format!("not JSON: {line:?}"))
}

/// Starts a gateway with a held payment.
async fn hold_in_new_gateway() -> anyhow::Result<(TestGateway, MerchantClient, String)> {
    let gateway = TestGateway::start()?;
    let shop = create_reviewed_shop(&gateway, "hold", &[]).await?;
    let id = hold_payment(&shop, &[]).await?;
    Ok((gateway, shop, id))
}

#[tokio::test]
async fn garbage_is_refused_with_its_parameter_and_decides_nothing() -> anyhow::Result<()> {
    let gateway = TestGateway::shared();
    let shop = create_reviewed_shop(gateway, "hold", &[]).await?;
    let (data, id) = (gateway.data_folder(), hold_payment(&shop, &[]).await?);
    let plain = sandbox_shop().pay_by_card(&[]).await?.id().to_owned();
    let valid: Value = serde_json::from_str(&approval(&id))?;
    let with = |name: &str, value: Value| {
        let mut request = valid.clone();
        request[name] = value;
        format!("{request}\n")
    };
    for (line, parameter) in [
        ("\n".to_owned(), "request"),
        ("{}\n".to_owned(), "request"),
        ("\0\u{ff}\n".to_owned(), "request"),
        (format!("{}\n", "[".repeat(10_000)), "request"),
        (format!("{}\n", "x".repeat(1_000_000)), "request"),
        (with("command", "restart".into()), "request"),
        (with("decision", "MAYBE".into()), "request"),
        (with("reason", (-1).into()), "request"),
        (with("more", 1.into()), "request"),
        (with("payment", "x".into()), "payment"),
        (with("payment", plain.into()), "payment"),
        (with("payment", "8a000000000000000000000000000000".into()), "payment"),
        (with("analyst", "".into()), "analyst"),
        (with("analyst", "a\nb".into()), "analyst"),
        (with("note", "4200 0000 0000 0000".into()), "note"),
        (with("note", "x".repeat(1001).into()), "note"),
        (with("reason", 7.into()), "reason"),
        (with("decision", "CANCEL".into()), "reason"),
    ] {
        let answer = exchange(&data, line.as_bytes())?;
        assert_eq!((&answer["outcome"], &answer["parameter"]), (&"refused".into(), &parameter.into()), "{answer}");
        assert!(!answer.to_string().contains("4200 0000"), "{answer}");
    }
    assert!(audit(&data, &id)?.is_empty());
    // A name that would confuse the audit log is left out there.
    assert_eq!(exchange(&data, with("user", "\u{1b}[2J".into()).as_bytes())?["outcome"], "done");
    let again = exchange(&data, approval(&id).as_bytes())?;
    assert_eq!((&again["outcome"], &again["result"]), (&"done".into(), &"000.100.110".into()), "{again}");
    assert_eq!(audit(&data, &id)?, ["approve eve"]);
    Ok(())
}

#[tokio::test]
async fn a_thousand_silent_clients_keep_nobody_out() -> anyhow::Result<()> {
    let (gateway, shop, id) = hold_in_new_gateway().await?;
    let data = gateway.data_folder();
    let mut silent = Vec::new();
    for number in 0..1_000 {
        let mut stream = UnixStream::connect(socket_path(&data))?;
        if number % 2 == 0 {
            stream.write_all(b"{\"command\":")?;
        }
        silent.push(stream);
    }
    assert_eq!(review(&data, &["approve", &id])?["result"], "000.100.110");
    // The oldest were closed, to make room. The system reports a reset for what the gateway had not read by then.
    let closed = silent[0].read_to_end(&mut Vec::new());
    assert!(closed.as_ref().err().is_none_or(|error| error.kind() == ErrorKind::ConnectionReset), "{closed:?}");
    assert_result(&shop.get(&format!("v1/payments/{id}")).await?, 200, "000.100.110");
    Ok(())
}

#[tokio::test]
async fn a_decision_of_a_client_that_leaves_is_carried_out_once() -> anyhow::Result<()> {
    let (gateway, _shop, id) = hold_in_new_gateway().await?;
    let data = gateway.data_folder();
    let clients: Vec<UnixStream> = (0..20)
        .map(|_| {
            let mut stream = UnixStream::connect(socket_path(&data))?;
            stream.write_all(approval(&id).as_bytes())?;
            Ok(stream)
        })
        .collect::<anyhow::Result<_>>()?;
    drop(clients);
    poll_until("the payment is approved", async || Ok((!audit(&data, &id)?.is_empty()).then_some(()))).await?;
    assert_eq!(exchange(&data, approval(&id).as_bytes())?["outcome"], "done");
    assert_eq!(audit(&data, &id)?, ["approve eve"]);
    Ok(())
}

#[tokio::test]
async fn what_is_in_the_place_of_the_socket_is_replaced_or_left_and_gets_no_decision() -> anyhow::Result<()> {
    let (gateway, _shop, id) = hold_in_new_gateway().await?;
    let mode = fs::symlink_metadata(socket_path(&gateway.data_folder()))?.mode();
    assert_eq!(mode & 0o777, 0o600);
    // The socket of a killed gateway, and a link to a socket of somebody else.
    let other = gateway.folder().join("other.sock");
    let listener = UnixListener::bind(&other)?;
    listener.set_nonblocking(true)?;
    let gateway = gateway.kill_and_restart_after(&[], |data| {
        assert!(socket_path(data).symlink_metadata().is_ok());
        assert!(review_error(data, &["approve", &id])?.contains("no gateway is running"));
        fs::remove_file(socket_path(data))?;
        symlink(&other, socket_path(data))?;
        let error = review_error(data, &["approve", &id])?;
        assert!(error.contains("no socket of the folder's owner"), "{error}");
        Ok(())
    })?;
    let data = gateway.data_folder();
    assert_eq!(review(&data, &["pend", &id])?["result"], "100.400.500");
    assert!(listener.accept().is_err() && other.exists());
    // A file that is no socket is left as it is. The gateway serves without a socket.
    let gateway = gateway.kill_and_restart_after(&[], |data| {
        fs::remove_file(socket_path(data))?;
        Ok(fs::write(socket_path(data), "mine")?)
    })?;
    gateway.wait_for_log("opening the socket for commands failed").await?;
    assert!(review_error(&data, &["approve", &id])?.contains("no socket of the folder's owner"));
    assert_eq!(fs::read_to_string(socket_path(&data))?, "mine");
    fs::remove_file(socket_path(&data))?;
    assert!(review_error(&data, &["approve", &id])?.contains("does not accept commands"));
    Ok(())
}

#[tokio::test]
async fn a_gateway_that_closes_without_an_answer_is_reported() -> anyhow::Result<()> {
    let folder = tempfile::tempdir()?;
    let listener = UnixListener::bind(socket_path(folder.path()))?;
    let server = tokio::task::spawn_blocking(move || {
        let (stream, _) = listener.accept()?;
        BufReader::new(stream).read_line(&mut String::new())
    });
    let error = review_error(folder.path(), &["approve", "8a000000000000000000000000000000"])?;
    assert!(error.contains("closed the connection without an answer"), "{error}");
    assert!(server.await?? > 0);
    let missing = review_error(&folder.path().join("x"), &["approve", "8a000000000000000000000000000000"])?;
    assert!(missing.contains("opening the data folder"), "{missing}");
    Ok(())
}

#[tokio::test]
async fn the_second_gateway_of_a_folder_takes_the_socket_over_when_the_first_ends() -> anyhow::Result<()> {
    let (first, shop, id) = hold_in_new_gateway().await?;
    let data = first.data_folder();
    let path = data.display().to_string();
    let mut second = start_tillgate(&["serve", "--listen", "127.0.0.1:0", "--data", &path]).await?;
    let socket = fs::symlink_metadata(socket_path(&data))?.ino();
    assert_eq!(review(&data, &["pend", &id])?["result"], "100.400.500");
    assert_eq!(fs::symlink_metadata(socket_path(&data))?.ino(), socket);
    let other = hold_payment(&shop, &[]).await?;
    let restarted = first.kill_and_restart_after(&[], |_| Ok(()))?;
    poll_until("one of the gateways listens", async || {
        let (succeeded, text) = run_review(&data, &["approve", &id])?;
        anyhow::ensure!(succeeded || text.contains("does not accept commands"), "{text}");
        Ok(succeeded.then_some(()))
    })
    .await?;
    // Its end is awaited: until then its socket may take a connection that it never answers.
    second.send_signal("KILL").await?;
    second.wait_for_exit().await?;
    poll_until("the restarted gateway listens", async || {
        let (succeeded, text) = run_review(&data, &["approve", &other])?;
        anyhow::ensure!(succeeded || text.contains("does not accept commands"), "{text}");
        Ok(succeeded.then_some(()))
    })
    .await?;
    drop(restarted);
    Ok(())
}

#[tokio::test]
async fn a_long_path_of_the_data_folder_is_no_obstacle() -> anyhow::Result<()> {
    let (gateway, _shop, id) = hold_in_new_gateway().await?;
    let long = gateway.folder().join("x".repeat(100)).join("y".repeat(100)).join("data");
    fs::create_dir_all(long.parent().context("no parent")?)?;
    let gateway = gateway.kill_and_restart_after(&[], |data| {
        // The gateway of the test keeps its own path, so the long one gets a copy.
        fs::create_dir(&long)?;
        for file in ["tillgate.db", "tillgate.db-wal"] {
            fs::copy(data.join(file), long.join(file))?;
        }
        Ok(fs::copy(data.with_extension("key"), long.with_extension("key")).map(drop)?)
    })?;
    let path = long.display().to_string();
    assert!(path.len() > 200);
    let served = start_tillgate(&["serve", "--listen", "127.0.0.1:0", "--data", &path]).await?;
    assert_eq!(review(&long, &["approve", &id])?["result"], "000.100.110");
    assert!(audit(&gateway.data_folder(), &id)?.is_empty());
    drop(served);
    Ok(())
}

#[tokio::test]
async fn only_the_owner_of_the_folder_and_root_may_decide() -> anyhow::Result<()> {
    let (gateway, _shop, id) = hold_in_new_gateway().await?;
    let data = gateway.data_folder();
    if fs::metadata(&data)?.uid() != 0 {
        eprintln!("only root may run a command as another user: nothing was tested");
        return Ok(());
    }
    let approve_as_nobody = || {
        let script = format!(
            r#"exec 3<"$1"; shift; exec setpriv --reuid={NOBODY} --regid={NOBODY} --clear-groups /proc/self/fd/3 "$@""#
        );
        let mut command = Command::new("sh");
        command.args(["-c", &script, "sh"]).arg(binary_path()).args(["review", "approve", &id, "--data"]).arg(&data);
        let output = command.output()?;
        anyhow::ensure!(!output.status.success(), "nobody has approved the payment");
        Ok(String::from_utf8_lossy(&output.stderr).into_owned())
    };
    assert!(approve_as_nobody()?.contains("opening the data folder"));
    for folder in [gateway.folder(), &data] {
        fs::set_permissions(folder, Permissions::from_mode(0o755))?;
    }
    assert!(approve_as_nobody()?.contains("connecting to the gateway's socket"));
    fs::set_permissions(socket_path(&data), Permissions::from_mode(0o666))?;
    let refused = approve_as_nobody()?;
    assert!(refused.contains("only the owner of the data folder and root"), "{refused}");
    assert!(audit(&data, &id)?.is_empty());
    Ok(())
}
