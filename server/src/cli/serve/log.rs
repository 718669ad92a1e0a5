//! The log of a server: lines on the standard error stream, and the latest warnings for the back office.

use std::fmt::Write as _;
use std::io::IsTerminal as _;
use std::sync::Arc;

use clap::ValueEnum;
use jiff::Timestamp;
use tillgate_os::warning_log::WarningLog;
use tracing::field::{Field, Visit};
use tracing::{Event, Level, Subscriber};
use tracing_subscriber::filter::{LevelFilter, Targets};
use tracing_subscriber::layer::{Context, Layer, SubscriberExt as _};
use tracing_subscriber::util::SubscriberInitExt as _;
use tracing_subscriber::{EnvFilter, Registry};

/// Crates that check passkeys. They log what anybody may send as errors of their own; the gateway logs what matters.
const PASSKEY_CHECKS: [&str; 2] = ["webauthn_rs", "webauthn_rs_core"];

/// Format of log lines.
#[derive(Debug, Clone, Copy, ValueEnum)]
pub(super) enum LogFormat {
    /// For people.
    Text,
    /// For programs.
    Json,
}

/// Starts logging to the standard error stream, filtered by TILLGATE_LOG or at the level `info`. Returns the list of
/// the warnings, which has them whatever the filter says. A second call in the same process changes nothing.
pub(super) fn start_log(format: LogFormat) -> Arc<WarningLog> {
    let warnings = Arc::new(WarningLog::default());
    let usual = PASSKEY_CHECKS.iter().fold("info".to_owned(), |filter, target| format!("{filter},{target}=off"));
    let filter = EnvFilter::try_from_env("TILLGATE_LOG").unwrap_or_else(|_| EnvFilter::new(usual));
    let lines = tracing_subscriber::fmt::layer::<Registry>()
        .with_writer(std::io::stderr)
        .with_ansi(std::io::stderr().is_terminal());
    let lines = match format {
        LogFormat::Text => lines.boxed(),
        LogFormat::Json => lines.json().boxed(),
    };
    let own = Targets::new().with_default(LevelFilter::WARN);
    let own = PASSKEY_CHECKS.iter().fold(own, |own, target| own.with_target(*target, LevelFilter::OFF));
    let kept = WarningLayer(Arc::clone(&warnings)).with_filter(own);
    let _ = tracing_subscriber::registry().with(lines.with_filter(filter)).with(kept).try_init();
    warnings
}

/// Adds each warning and error to the list.
struct WarningLayer(Arc<WarningLog>);

impl<S: Subscriber> Layer<S> for WarningLayer {
    fn on_event(&self, event: &Event<'_>, _: Context<'_, S>) {
        let mut text = EventText::default();
        event.record(&mut text);
        self.0.record(*event.metadata().level() == Level::ERROR, &text.message, text.details.trim(), Timestamp::now());
    }
}

/// The message of an event, and its other values as `name=value`.
#[derive(Default)]
struct EventText {
    message: String,
    details: String,
}

impl Visit for EventText {
    fn record_str(&mut self, field: &Field, value: &str) {
        self.record_debug(field, &format_args!("{value}"));
    }

    fn record_debug(&mut self, field: &Field, value: &dyn std::fmt::Debug) {
        // Writing to a string does not fail.
        let _ = if field.name() == "message" {
            write!(self.message, "{value:?}")
        } else {
            write!(self.details, " {}={value:?}", field.name())
        };
    }
}
