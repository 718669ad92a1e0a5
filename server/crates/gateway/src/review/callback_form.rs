//! The configuration of review callbacks as a form: shown without its secrets, and set with the secrets that stay.

use std::fmt::Write as _;

use tillgate_domain::id::EntityId;
use tillgate_message::review_callback::{
    CallbackConfig, CallbackKey, ReceivingCredential, SecretValue, ValueSource, parse_config, render_body,
};
use tillgate_net::outgoing::{ExpectingPost, OutgoingClient};

use super::callback::SampleCallback;
use crate::administration::{ActError, Administration};

/// Largest number of destinations.
pub const MAX_URLS: usize = 3;
/// Text in place of a secret.
const MASK: &str = "***";

/// A configuration as people type it. Each line of `keys` and `headers` is a name, an equals sign, one of the words
/// `field`, `constant` and `secret`, and a value.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct CallbackForm {
    /// The destinations. Empty ones are left out.
    pub urls: Vec<String>,
    /// Number of the active destination; the first is 1.
    pub active: String,
    /// Wait after a failed attempt, in minutes.
    pub retry_minutes: String,
    /// Maximum number of attempts after the first one.
    pub retries: String,
    /// Statuses with which the receiver accepts a callback.
    pub accepted: String,
    /// The pairs of the body. A secret without a value stays as it is.
    pub keys: String,
    /// Additional headers, like the pairs.
    pub headers: String,
}

/// The configuration that applies to an entity.
#[derive(Debug, Clone)]
pub struct AppliedCallback {
    /// The entity that has it.
    pub owner: EntityId,
    /// The configuration without its secrets.
    pub form: CallbackForm,
    /// True if an external review system may post decisions.
    pub receives: bool,
}

impl CallbackForm {
    /// Describes a configuration without its secrets.
    fn from_config(config: &CallbackConfig) -> Self {
        let accepted: Vec<String> = config.accepted.iter().map(ToString::to_string).collect();
        Self {
            urls: config.urls.clone(),
            active: config.active.to_string(),
            retry_minutes: config.retry_minutes.to_string(),
            retries: config.retries.to_string(),
            accepted: accepted.join(" "),
            keys: format_keys(&config.keys),
            headers: format_keys(&config.headers),
        }
    }

    /// Formats the file that the command takes. Secrets without a value are those of `current`, and so is the receiving
    /// side, which has no field in the form.
    ///
    /// # Errors
    /// The name of the field at fault.
    fn to_file(&self, current: Option<&CallbackConfig>) -> Result<ConfigFile, ActError> {
        let mut file = ConfigFile::default();
        let urls: Vec<String> =
            self.urls.iter().map(|url| url.trim()).filter(|url| !url.is_empty()).map(quote).collect();
        file.add_line("urls", 0, &format!("urls = [{}]", urls.join(", ")));
        for (field, name, text) in [
            ("active", "active", &self.active),
            ("retry_minutes", "retry-minutes", &self.retry_minutes),
            ("retries", "retries", &self.retries),
        ] {
            file.add_line(field, 0, &format!("{name} = {}", parse_number(field, text)?));
        }
        let accepted = self.accepted.split([' ', ',']).filter(|text| !text.is_empty());
        let accepted: Result<Vec<String>, ActError> = accepted.map(|text| parse_number("accepted", text)).collect();
        file.add_line("accepted", 0, &format!("accepted = [{}]", accepted?.join(", ")));
        file.add_keys("keys", &self.keys, current.map_or(&[], |config| &config.keys))?;
        file.add_keys("headers", &self.headers, current.map_or(&[], |config| &config.headers))?;
        if let Some(receiving) = current.and_then(|config| config.receiving.as_ref()) {
            let credentials = receiving.credentials.iter().map(|credential| match credential {
                ReceivingCredential::Header(name, secret) => format_credential("header", name, secret),
                ReceivingCredential::Key(name, secret) => format_credential("key", name, secret),
            });
            let credentials: Vec<String> = credentials.collect();
            file.add_line("keys", 0, "[receiving]");
            file.add_line("keys", 0, &format!("credentials = [{}]", credentials.join(", ")));
        }
        Ok(file)
    }
}

/// A configuration file that is made of a form.
#[derive(Default)]
struct ConfigFile {
    text: String,
    /// For each line of the file the field of the form, and the line in it; 0 for a field of one line.
    sources: Vec<(&'static str, usize)>,
}

impl ConfigFile {
    fn add_line(&mut self, field: &'static str, line: usize, text: &str) {
        let _ = writeln!(self.text, "{text}");
        self.sources.push((field, line));
    }

    /// Adds pairs or headers.
    fn add_keys(&mut self, field: &'static str, typed: &str, current: &[CallbackKey]) -> Result<(), ActError> {
        self.add_line(field, 0, &format!("{field} = ["));
        for (number, line) in (1..).zip(typed.lines()).filter(|(_, line)| !line.trim().is_empty()) {
            let key = format_key(line, current).map_err(|message| refuse_line(field, number, &message))?;
            self.add_line(field, number, &format!("{key},"));
        }
        self.add_line(field, 0, "]");
        Ok(())
    }

    /// Parses the file with the checks of the command.
    fn parse(&self, is_live: bool) -> Result<CallbackConfig, ActError> {
        parse_config(&self.text, is_live).map_err(|faults| {
            let Some(fault) = faults.into_iter().next() else { return ActError::refuse("keys", "is not valid") };
            let source = fault.line.checked_sub(1).and_then(|line| self.sources.get(line));
            let (field, line) = source.copied().unwrap_or(("keys", 0));
            match line {
                0 => ActError::refuse(field, fault.message),
                line => refuse_line(field, line, &fault.message),
            }
        })
    }
}

fn refuse_line(field: &'static str, line: usize, message: &str) -> ActError {
    ActError::refuse(field, format!("line {line}: {message}"))
}

/// Returns true if a configuration sends or expects a secret.
fn has_secret(config: &CallbackConfig) -> bool {
    let mut keys = config.keys.iter().chain(&config.headers);
    config.receiving.is_some() || keys.any(|key| matches!(key.source, ValueSource::Secret(_)))
}

/// Quotes a text. What JSON escapes, TOML reads as well.
fn quote(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}

fn format_credential(kind: &str, name: &str, secret: &SecretValue) -> String {
    format!("{{ {kind} = {}, secret = {} }}", quote(name), quote(secret.expose()))
}

/// Checks that a text is a number with at most three digits.
fn parse_number(field: &'static str, text: &str) -> Result<String, ActError> {
    let text = text.trim();
    match text.parse::<u16>() {
        Ok(number) if text.len() <= 3 => Ok(number.to_string()),
        _ => Err(ActError::refuse(field, "must be a number")),
    }
}

/// Formats pairs or headers, one a line, without their secrets.
fn format_keys(keys: &[CallbackKey]) -> String {
    let line = |key: &CallbackKey| match &key.source {
        ValueSource::Field(field) => format!("{} = field {field}", key.name),
        ValueSource::Constant(text) => format!("{} = constant {text}", key.name),
        ValueSource::Secret(_) => format!("{} = secret", key.name),
    };
    keys.iter().map(line).collect::<Vec<_>>().join("\n")
}

/// Formats a line of a form as it is in a file.
///
/// # Errors
/// The message about the line.
fn format_key(line: &str, current: &[CallbackKey]) -> Result<String, String> {
    let form = "must be a name, `=`, one of the words field, constant and secret, and a value";
    let (name, rest) = line.split_once('=').ok_or(form)?;
    let (name, rest) = (name.trim(), rest.trim());
    let (kind, value) = rest.split_once(char::is_whitespace).unwrap_or((rest, ""));
    let value = value.trim();
    if !["field", "constant", "secret"].contains(&kind) {
        return Err(form.to_owned());
    }
    let mut value = value.to_owned();
    if kind == "secret" && value.is_empty() {
        let known = current.iter().find_map(|key| match &key.source {
            ValueSource::Secret(secret) if key.name == name => Some(secret.expose()),
            _ => None,
        });
        value = known.ok_or("the secret needs a value, because none is stored")?.to_owned();
    }
    Ok(format!("{{ name = {}, {kind} = {} }}", quote(name), quote(&value)))
}

impl SampleCallback {
    /// Returns the request as it is sent, with `***` in place of each secret.
    pub fn describe_request(&self) -> String {
        let mut masked = self.config().clone();
        for key in masked.keys.iter_mut().chain(&mut masked.headers) {
            if let ValueSource::Secret(secret) = &mut key.source {
                *secret = SecretValue::new(MASK);
            }
        }
        let (sent, shown) = (self.body(), render_body(&masked, self.document()));
        let Some(target) = self.target() else { return shown };
        let post = ExpectingPost { uri: target.uri(), headers: &masked.user_headers(), body: &shown };
        let length = |body: &str| format!("Content-Length: {}\r\n", body.len());
        // The length is that of the body with its secrets.
        post.describe().map(|text| text.replacen(&length(&shown), &length(&sent), 1)).unwrap_or(shown)
    }
}

impl Administration {
    /// Loads the configuration that applies to an entity, without its secrets. `None` if there is none.
    ///
    /// # Errors
    /// If the store or the vault fails.
    pub fn load_callback_form(&self, entity: &EntityId) -> Result<Option<AppliedCallback>, ActError> {
        if self.store.find_review_callback(entity)?.is_none() {
            return Ok(None);
        }
        let (owner, config) = self.find_review_callback(&self.load_entity(entity)?)?;
        let receives = config.receiving.is_some();
        Ok(Some(AppliedCallback { owner, form: CallbackForm::from_config(&config), receives }))
    }

    /// Sets the configuration of an entity as a form has it, with the checks of the command. Secrets without a value
    /// stay as they are.
    ///
    /// # Errors
    /// The name of the field at fault; if the client may not call a destination; if there is a secret, and acts on
    /// secrets need a second person.
    pub fn set_callback_form(
        &self,
        entity: &EntityId,
        form: &CallbackForm,
        client: &OutgoingClient,
    ) -> Result<(), ActError> {
        let entity = self.load_entity(entity)?;
        let current = match self.store.find_review_callback(&entity.id)? {
            Some(stored) if stored.entity == entity.id => Some(self.find_review_callback(&entity)?.1),
            // The secrets of an entity above are not those of this one.
            _ => None,
        };
        let config = form.to_file(current.as_ref())?.parse(entity.live)?;
        let has_secret = std::iter::once(&config).chain(&current).any(has_secret);
        // A request for a second person must not keep the secrets that are typed into this form, and another
        // destination would get the ones that are stored.
        if has_secret && self.needs_key_approval(&entity)? {
            let message = "this configuration has a secret, which a second person would have to approve: \
                           an operator changes it with `tillgate review-callback set`";
            return Err(ActError::refuse("keys", message));
        }
        self.set_review_callback(&entity, &config, client, self.actor())
    }

    /// Records that a sample was sent, with the response.
    ///
    /// # Errors
    /// If the store cannot be written.
    pub fn record_sample(&self, sample: &SampleCallback, result: &str) -> Result<(), ActError> {
        let (owner, now) = (sample.owner().as_str(), self.now());
        let record = |store: &tillgate_store::AdminStore| {
            Ok::<_, ActError>(store.record_callback_action(owner, "test", self.actor(), None, Some(result), now)?)
        };
        self.store.in_transaction(record)
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    fn form() -> CallbackForm {
        CallbackForm {
            urls: vec!["https://shop.example/decisions".to_owned(), String::new()],
            active: "1".to_owned(),
            retry_minutes: "2".to_owned(),
            retries: "3".to_owned(),
            accepted: "200, 204".to_owned(),
            keys: "id = field transactionId\n\npassword = secret a \"b\"".to_owned(),
            headers: "X-Shop = constant kiln".to_owned(),
        }
    }

    #[test]
    fn a_form_shows_no_secret_and_keeps_it() {
        let config = form().to_file(None).unwrap().parse(true).unwrap();
        let shown = CallbackForm::from_config(&config);
        assert_eq!(shown.keys, "id = field transactionId\npassword = secret");
        assert_eq!((shown.accepted.as_str(), shown.urls.len()), ("200 204", 1));
        assert_eq!(shown.to_file(Some(&config)).unwrap().parse(true).unwrap(), config);
        assert!(shown.to_file(None).is_err_and(|error| error.to_string().contains("line 2: the secret needs")));
    }

    #[test]
    fn a_fault_names_the_field_and_its_line() {
        let refused = |form: CallbackForm| match form.to_file(None).and_then(|file| file.parse(true)) {
            Err(ActError::Refused { parameter, message }) => (parameter, message),
            _ => ("", String::new()),
        };
        for (change, field, text) in [
            (CallbackForm { urls: vec!["http://shop.example".to_owned()], ..form() }, "urls", ""),
            (CallbackForm { urls: Vec::new(), ..form() }, "urls", ""),
            (CallbackForm { active: "2".to_owned(), ..form() }, "active", ""),
            (CallbackForm { retries: "x\n[receiving]".to_owned(), ..form() }, "retries", ""),
            (CallbackForm { accepted: "200]".to_owned(), ..form() }, "accepted", ""),
            (CallbackForm { keys: "id = field transactionId\nx".to_owned(), ..form() }, "keys", "line 2"),
            (
                CallbackForm { keys: "id = field transactionId\nx = field nothing".to_owned(), ..form() },
                "keys",
                "line 2",
            ),
            (CallbackForm { keys: String::new(), ..form() }, "keys", ""),
            (CallbackForm { headers: "X-A = field amount".to_owned(), ..form() }, "headers", "line 1"),
            (CallbackForm { headers: "X = constant a\"}, {name=\"b".to_owned(), ..form() }, "", ""),
        ] {
            let (found, message) = refused(change);
            assert_eq!(found, field, "{message}");
            assert!(message.contains(text), "{message}");
        }
    }
}
