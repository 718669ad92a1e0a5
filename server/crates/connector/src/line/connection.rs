//! One connection of a line, from its sign-on to its end. One task reads and writes, so events have one order, and no
//! lock is held while the host is slow.

use std::io;
use std::sync::Arc;

use tokio::io::{AsyncReadExt as _, ReadHalf};
use tokio::time::{Instant, sleep_until, timeout};

use super::config::LineLimits;
use super::connect::HostStream;
use super::protocol::{ControlMessage, FrameDecoder, IncomingMessage, KeyUse, LineMessage, RequestKey};
use super::request_table::{ConnectionEnd, LineIntent};
use super::shared::LineShared;
use super::state::LinePhase;
use super::writer::LineWriter;

/// Size of a read, in bytes. Some answers fit; larger messages take several reads.
const READ_SIZE: usize = 16 * 1024;
/// Number of keys that are tried for a control message. A protocol that counts has a free one at once.
const CONTROL_KEYS: usize = 8;
/// Time limit for reading the answers that arrived before a write failed.
const LAST_READ_LIMIT: std::time::Duration = std::time::Duration::from_millis(100);

/// A signed-on connection, or one that is about to be.
pub(super) struct LineConnection {
    shared: Arc<LineShared>,
    reader: ReadHalf<Box<dyn HostStream>>,
    writer: LineWriter,
    decoder: Box<dyn FrameDecoder>,
    buffer: Vec<u8>,
    limits: LineLimits,
    step: ConnectionStep,
    control: Option<AwaitedControl>,
    /// Time of the latest whole message of the host. Bytes without an end do not show that the host is healthy.
    last_message: Instant,
    is_proven: bool,
    has_logged_foreign: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum ConnectionStep {
    SigningOn,
    Ready,
    Leaving,
}

/// A control message that waits for its answer.
struct AwaitedControl {
    kind: ControlKind,
    key: RequestKey,
    deadline: Instant,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum ControlKind {
    SignOn,
    Echo,
    SignOff,
}

enum ConnectionEvent {
    Read(io::Result<usize>),
    Written(io::Result<()>),
    /// A request waits, the intent has changed, or a time has come.
    Woken,
}

/// A connection that has ended.
pub(super) struct FinishedConnection {
    /// The reason of the end.
    pub(super) end: ConnectionEnd,
    /// True if the host has answered a request or an echo.
    pub(super) is_proven: bool,
}

impl LineConnection {
    /// Takes over a new stream.
    pub(super) fn new(shared: Arc<LineShared>, stream: Box<dyn HostStream>, is_encrypted: bool) -> Self {
        let (reader, half) = tokio::io::split(stream);
        Self {
            writer: LineWriter::new(half, Arc::clone(&shared), is_encrypted),
            decoder: shared.protocol.create_decoder(),
            buffer: vec![0; READ_SIZE],
            limits: shared.config.limits,
            step: ConnectionStep::SigningOn,
            control: None,
            last_message: Instant::now(),
            is_proven: false,
            has_logged_foreign: false,
            shared,
            reader,
        }
    }

    /// Uses the connection until it ends. All requests in flight have then ended as well.
    pub(super) async fn run(mut self) -> FinishedConnection {
        let end = match self.exchange_messages().await {
            Ok(()) => ConnectionEnd::Left,
            Err(reason) => ConnectionEnd::Broken(reason),
        };
        // Callers get their results before the connection is closed, which may take a while.
        self.shared.end_connection(&end, true);
        if end == ConnectionEnd::Left {
            self.writer.close(self.limits.write_timeout).await;
        }
        FinishedConnection { end, is_proven: self.is_proven }
    }

    /// Signs on, and exchanges messages until the line leaves.
    ///
    /// # Errors
    /// The reason why the connection is broken, in plain words.
    async fn exchange_messages(&mut self) -> Result<(), String> {
        if self.send_control(ControlKind::SignOn)? {
            self.shared.set_phase(LinePhase::SigningOn);
        } else {
            self.accept_requests();
        }
        // Reads come first, except after a read: a connection that has ended while the line was idle must not get a
        // request, and a host that always sends must not keep requests from being written.
        let mut reads_first = true;
        loop {
            let now = Instant::now();
            if self.do_due_work(now)? {
                return Ok(());
            }
            self.writer.choose_frame(self.step == ConnectionStep::Ready, now);
            let event = self.await_event(reads_first, self.find_next_time(now)).await;
            reads_first = !matches!(event, ConnectionEvent::Read(_));
            match event {
                ConnectionEvent::Read(read) => self.take_bytes(read)?,
                ConnectionEvent::Written(Err(error)) => {
                    self.read_last_answers().await;
                    return Err(format!("writing failed: {error}"));
                }
                ConnectionEvent::Written(Ok(())) | ConnectionEvent::Woken => {}
            }
        }
    }

    /// Waits for the next event, at most until a time.
    async fn await_event(&mut self, reads_first: bool, next_time: Instant) -> ConnectionEvent {
        let Self { reader, buffer, writer, shared, .. } = self;
        let has_output = writer.has_output();
        let woken = async {
            tokio::select! {
                () = shared.wake.notified() => {}
                () = sleep_until(next_time) => {}
            }
        };
        if reads_first {
            tokio::select! {
                biased;
                read = reader.read(buffer) => ConnectionEvent::Read(read),
                written = writer.write_some(), if has_output => ConnectionEvent::Written(written),
                () = woken => ConnectionEvent::Woken,
            }
        } else {
            tokio::select! {
                biased;
                written = writer.write_some(), if has_output => ConnectionEvent::Written(written),
                read = reader.read(buffer) => ConnectionEvent::Read(read),
                () = woken => ConnectionEvent::Woken,
            }
        }
    }

    fn accept_requests(&mut self) {
        self.step = ConnectionStep::Ready;
        self.shared.set_phase(LinePhase::Connected);
        tracing::info!(line = %self.shared.name, host = %self.shared.config.address, "a line is connected");
    }

    /// Sends a control message, whose answer is awaited. Returns false if the host needs none of this kind.
    fn send_control(&mut self, kind: ControlKind) -> Result<bool, String> {
        let Some(control) = self.create_control(kind)? else { return Ok(false) };
        self.writer.queue_reply(&control.message)?;
        let limit = if kind == ControlKind::SignOn { self.limits.answer_timeout } else { self.limits.echo_timeout };
        self.shared.with_table(|table| table.set_control_key(Some(control.key.clone())));
        self.control = Some(AwaitedControl { kind, key: control.key, deadline: Instant::now() + limit });
        Ok(true)
    }

    /// Creates a control message with a key that is not in use, so that its answer cannot be taken for the answer to a
    /// request, nor the reverse.
    fn create_control(&self, kind: ControlKind) -> Result<Option<ControlMessage>, String> {
        let protocol = &self.shared.protocol;
        for _ in 0..CONTROL_KEYS {
            let created = match kind {
                ControlKind::SignOn => protocol.create_sign_on(),
                ControlKind::Echo => protocol.create_echo(),
                ControlKind::SignOff => protocol.create_sign_off(),
            };
            let Some(control) = created else { return Ok(None) };
            if !self.shared.with_table(|table| table.is_key_used(&control.key, KeyUse::New, Instant::now())) {
                return Ok(Some(control));
            }
        }
        Err("the protocol has no free key for a control message".to_owned())
    }

    /// Does everything whose time has come. Returns true if the connection has no further purpose.
    fn do_due_work(&mut self, now: Instant) -> Result<bool, String> {
        let limits = self.limits;
        self.shared.with_table(|table| table.end_late_requests(now));
        if self.writer.deadline(limits.write_timeout).is_some_and(|deadline| deadline <= now) {
            return Err(format!("the host has accepted no byte within {} ms", limits.write_timeout.as_millis()));
        }
        if let Some(kind) = self.control.as_ref().filter(|control| control.deadline <= now).map(|control| control.kind)
        {
            return match kind {
                ControlKind::SignOn => {
                    Err(format!("no answer to the sign-on within {} ms", limits.answer_timeout.as_millis()))
                }
                ControlKind::Echo => {
                    Err(format!("no answer to the echo within {} ms", limits.echo_timeout.as_millis()))
                }
                // The requests are finished, so the line can leave without the answer.
                ControlKind::SignOff => Ok(true),
            };
        }
        let intent = self.shared.intent();
        match self.step {
            _ if intent == LineIntent::Abandon => Ok(true),
            ConnectionStep::SigningOn => Ok(intent != LineIntent::Run),
            ConnectionStep::Leaving => Ok(self.control.is_none() && !self.writer.has_replies()),
            // One control message at a time: its answer needs no more than one place.
            ConnectionStep::Ready if self.control.is_some() => Ok(false),
            ConnectionStep::Ready if intent != LineIntent::Run => self.start_leaving(),
            ConnectionStep::Ready => self.send_due_echo(now).map(|()| false),
        }
    }

    /// Signs off if no request is in flight. Returns true if nothing is left to send.
    fn start_leaving(&mut self) -> Result<bool, String> {
        if !self.shared.with_table(|table| table.start_leaving()) {
            return Ok(false);
        }
        self.step = ConnectionStep::Leaving;
        Ok(!self.send_control(ControlKind::SignOff)? && !self.writer.has_replies())
    }

    /// Sends an echo if the host has sent no message for the interval.
    fn send_due_echo(&mut self, now: Instant) -> Result<(), String> {
        if self.last_message + self.limits.echo_interval > now {
            return Ok(());
        }
        if !self.send_control(ControlKind::Echo)? {
            self.last_message = now;
        }
        Ok(())
    }

    /// Returns the time at which something is due, if nothing happens before.
    fn find_next_time(&self, now: Instant) -> Instant {
        let control = self.control.as_ref().map(|control| control.deadline);
        // An echo that is sent already is not due again, and a line that is taken out sends none. The line sleeps at
        // most this long in any case.
        let has_no_echo = self.control.is_some() || self.shared.intent() != LineIntent::Run;
        let echo = if has_no_echo { now } else { self.last_message } + self.limits.echo_interval;
        let requests = self.shared.with_table(|table| table.next_deadline());
        let write = self.writer.deadline(self.limits.write_timeout);
        [control, requests, write].into_iter().flatten().fold(echo, Instant::min)
    }

    /// Takes the result of a read. All messages are used, also those before a fault: they may be answers.
    fn take_bytes(&mut self, read: io::Result<usize>) -> Result<(), String> {
        let count = match read {
            Ok(0) => return Err("the host has closed the connection".to_owned()),
            Ok(count) => count,
            Err(error) => return Err(format!("reading failed: {error}")),
        };
        let mut messages = Vec::new();
        let bytes = self.buffer.get(..count).unwrap_or_default();
        let mut result = self.decoder.decode(bytes, &mut messages);
        if !messages.is_empty() {
            self.last_message = Instant::now();
        }
        for message in messages {
            let taken = self.take_message(message);
            result = result.and(taken);
        }
        result
    }

    /// Uses a message of the host.
    fn take_message(&mut self, message: LineMessage) -> Result<(), String> {
        match self.shared.protocol.classify_message(&message) {
            IncomingMessage::Answer(key) => {
                if let Some(control) = self.control.take_if(|control| control.key == key) {
                    self.shared.with_table(|table| table.set_control_key(None));
                    return self.take_control_answer(control.kind, &message);
                }
                self.is_proven |= self.shared.take_answer(key, message);
            }
            IncomingMessage::Request(reply) => self.writer.queue_reply(&reply)?,
            IncomingMessage::Ignored => {}
            IncomingMessage::Foreign(reason) if self.has_logged_foreign => {
                tracing::debug!(line = %self.shared.name, reason, "a line failed to understand a message");
            }
            IncomingMessage::Foreign(reason) => {
                // Once for each connection: a host that sends nothing else would fill the log.
                self.has_logged_foreign = true;
                tracing::warn!(line = %self.shared.name, reason, "a line failed to understand a message");
            }
        }
        Ok(())
    }

    fn take_control_answer(&mut self, kind: ControlKind, answer: &LineMessage) -> Result<(), String> {
        let checked = self.shared.protocol.check_control_answer(answer);
        match kind {
            ControlKind::SignOn => {
                checked.map_err(|reason| format!("the host has refused the sign-on: {reason}"))?;
                self.accept_requests();
            }
            ControlKind::Echo => {
                checked.map_err(|reason| format!("the host has refused the echo: {reason}"))?;
                self.is_proven = true;
            }
            // Any answer shows that the sign-off has arrived.
            ControlKind::SignOff => {}
        }
        Ok(())
    }

    /// Reads answers that arrived before a write failed. They are results that their callers would otherwise not get.
    async fn read_last_answers(&mut self) {
        let read_all = async {
            loop {
                let read = self.reader.read(&mut self.buffer).await;
                if self.take_bytes(read).is_err() {
                    return;
                }
            }
        };
        // Only bytes that are already here count, so the limit is short.
        let _ = timeout(LAST_READ_LIMIT, read_all).await;
    }
}
