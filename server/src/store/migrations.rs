//! The migrations of the store. The place of a migration in the list is the version that it leads to: new ones go to the end,
//! and none is ever changed.

use rusqlite_migration::M;

use super::{guards, vault_keys};

/// Every migration, oldest first.
pub(super) const MIGRATIONS: &[M<'static>] = &[
    M::up(
    "CREATE TABLE entity (
         id TEXT PRIMARY KEY, name TEXT NOT NULL, live INTEGER NOT NULL, settings TEXT NOT NULL, created INTEGER NOT NULL
     ) WITHOUT ROWID;
     CREATE TABLE token (
         user_id TEXT PRIMARY KEY, entity TEXT NOT NULL REFERENCES entity (id), hash BLOB NOT NULL, label TEXT NOT NULL,
         created INTEGER NOT NULL, revoked INTEGER
     ) WITHOUT ROWID;
     CREATE TABLE checkout (id TEXT PRIMARY KEY, document BLOB NOT NULL) WITHOUT ROWID;
     CREATE TABLE payment (id TEXT PRIMARY KEY, document BLOB NOT NULL) WITHOUT ROWID;
     CREATE TABLE card (purge_at INTEGER NOT NULL, payment TEXT NOT NULL, sealed BLOB NOT NULL,
         PRIMARY KEY (purge_at, payment)) WITHOUT ROWID;
     CREATE TABLE form_build (build TEXT PRIMARY KEY, seen INTEGER NOT NULL) WITHOUT ROWID;
     CREATE TABLE form_file (
         build TEXT NOT NULL REFERENCES form_build (build) ON DELETE CASCADE, path TEXT NOT NULL, content BLOB NOT NULL,
         PRIMARY KEY (build, path)
     );",
    ),
    // A payment is found by its entity first: what is another's cannot be found, and an entity's payments stand in the
    // order of time. What refers to a payment, and what its merchant calls it, have rows of their own.
    M::up(
        "CREATE TABLE payment_of_entity (
             entity TEXT NOT NULL, id TEXT NOT NULL, document BLOB NOT NULL, PRIMARY KEY (entity, id)
         ) WITHOUT ROWID;
         INSERT INTO payment_of_entity
             SELECT json_extract(text, '$.entity'), id,
                 CAST(json_set(json_remove(text, '$.card'), '$.account',
                     json_object('card', json_extract(text, '$.card'))) AS BLOB)
             FROM (SELECT id, CAST(document AS TEXT) AS text FROM payment) WHERE TRUE ORDER BY 1, 2;
         DROP TABLE payment;
         ALTER TABLE payment_of_entity RENAME TO payment;
         CREATE TABLE payment_link (
             referenced TEXT NOT NULL, id TEXT NOT NULL, type TEXT NOT NULL, hundredths INTEGER NOT NULL,
             approved INTEGER NOT NULL, PRIMARY KEY (referenced, id)
         ) WITHOUT ROWID;
         CREATE TABLE payment_reference (
             entity TEXT NOT NULL, reference TEXT NOT NULL, payment TEXT NOT NULL,
             PRIMARY KEY (entity, reference, payment)
         ) WITHOUT ROWID;",
    ),
    // What was answered to requests that their merchant named (`Idempotency-Key`).
    M::up(
        "CREATE TABLE answer (
             entity TEXT NOT NULL, key TEXT NOT NULL, fingerprint BLOB NOT NULL, status INTEGER NOT NULL,
             body BLOB NOT NULL, until INTEGER NOT NULL, PRIMARY KEY (entity, key)
         ) WITHOUT ROWID;
         CREATE INDEX answer_until ON answer (until);",
    ),
    // Whose payment a shopper's page is about; the keys that wallets encrypt for, the private half sealed; and the wallet
    // tokens that have paid, until they would be too old anyway.
    M::up(
        "CREATE TABLE payment_page (payment TEXT PRIMARY KEY, entity TEXT NOT NULL) WITHOUT ROWID;
         CREATE TABLE wallet_key (
             entity TEXT NOT NULL REFERENCES entity (id), id TEXT NOT NULL, public BLOB NOT NULL, sealed BLOB NOT NULL,
             created INTEGER NOT NULL, PRIMARY KEY (entity, id)
         ) WITHOUT ROWID;
         CREATE TABLE wallet_token (
             until INTEGER NOT NULL, entity TEXT NOT NULL, id TEXT NOT NULL, PRIMARY KEY (until, entity, id)
         ) WITHOUT ROWID;",
    ),
    // An entity may be the channel of a merchant.
    M::up("ALTER TABLE entity ADD COLUMN merchant TEXT REFERENCES entity (id);"),
    // Registrations, their sealed accounts with the blind index that finds them, and what cardholders agreed to.
    M::up(
        "CREATE TABLE registration (
             entity TEXT NOT NULL, id TEXT NOT NULL, document BLOB NOT NULL, PRIMARY KEY (entity, id)
         ) WITHOUT ROWID;
         CREATE TABLE registration_account (
             registration TEXT PRIMARY KEY, entity TEXT NOT NULL, blind BLOB NOT NULL, purge_at INTEGER,
             sealed BLOB NOT NULL
         ) WITHOUT ROWID;
         CREATE INDEX registration_account_blind ON registration_account (entity, blind);
         CREATE INDEX registration_account_purge ON registration_account (purge_at) WHERE purge_at IS NOT NULL;
         CREATE TABLE standing_instruction (
             entity TEXT NOT NULL, initial TEXT NOT NULL, registration TEXT, document BLOB NOT NULL,
             PRIMARY KEY (entity, initial)
         ) WITHOUT ROWID;
         CREATE INDEX standing_instruction_registration ON standing_instruction (registration)
             WHERE registration IS NOT NULL;",
    ),
    // A wallet key may be retired.
    M::up("ALTER TABLE wallet_key ADD COLUMN retired INTEGER;"),
    // A page has an id of its own: whoever knows it decides about the payment, whose id many know.
    M::up(
        "CREATE TABLE page (id TEXT PRIMARY KEY, entity TEXT NOT NULL, payment TEXT NOT NULL) WITHOUT ROWID;
         INSERT INTO page SELECT payment, entity, payment FROM payment_page ORDER BY payment;
         DROP TABLE payment_page;",
    ),
    // What a pending payment puts on file once it has succeeded, with its sealed account.
    M::up(
        "CREATE TABLE promise (
             payment TEXT PRIMARY KEY, entity TEXT NOT NULL, document BLOB NOT NULL, blind BLOB, sealed BLOB,
             until INTEGER NOT NULL
         ) WITHOUT ROWID;
         CREATE INDEX promise_until ON promise (until);",
    ),
    // A sandbox entity's clock may be ahead of the machine's, in milliseconds.
    M::up("ALTER TABLE entity ADD COLUMN ahead INTEGER NOT NULL DEFAULT 0;"),
    // What happens when enough time has passed. Payments that wait for their shopper as this is made have from now on.
    M::up(
        "CREATE TABLE timer (
             kind TEXT NOT NULL, subject TEXT NOT NULL, entity TEXT NOT NULL, since INTEGER NOT NULL,
             PRIMARY KEY (kind, subject)
         ) WITHOUT ROWID;
         CREATE INDEX timer_since ON timer (kind, since);
         INSERT INTO timer (kind, subject, entity, since)
             SELECT 'end', id, entity, CAST(unixepoch('subsec') * 1000 AS INTEGER)
             FROM (SELECT id, entity, CAST(document AS TEXT) AS text FROM payment)
             WHERE json_extract(text, '$.result') LIKE '000.200.%' AND json_extract(text, '$.redirect') IS NOT NULL;",
    ),
    // What is to be sent to merchants, and how it went. A message without a time has been settled.
    M::up(
        "ALTER TABLE timer ADD COLUMN detail TEXT;
         CREATE TABLE message (
             id TEXT PRIMARY KEY, entity TEXT NOT NULL, queue TEXT NOT NULL, what TEXT NOT NULL, address TEXT NOT NULL,
             due INTEGER, failures INTEGER NOT NULL DEFAULT 0, leased INTEGER NOT NULL DEFAULT 0, node TEXT
         ) WITHOUT ROWID;
         CREATE INDEX message_due ON message (due) WHERE due IS NOT NULL;
         CREATE INDEX message_queue ON message (queue, due) WHERE due IS NOT NULL;
         CREATE TABLE delivery (
             message TEXT NOT NULL, at INTEGER NOT NULL, milliseconds INTEGER NOT NULL, status INTEGER, fault TEXT,
             PRIMARY KEY (message, at)
         ) WITHOUT ROWID;",
    ),
    // A payment whose cardholder is being authenticated needs its card once more.
    M::up("ALTER TABLE promise ADD COLUMN card BLOB;"),
    // Where entities are told what becomes of their payments and registrations, the keys sealed, and what they are told.
    M::up(
        "CREATE TABLE webhook (
             id TEXT PRIMARY KEY, entity TEXT NOT NULL REFERENCES entity (id), url TEXT NOT NULL, sealed BLOB NOT NULL,
             types TEXT NOT NULL, without_customer INTEGER NOT NULL, wrapped INTEGER NOT NULL, active INTEGER NOT NULL,
             created INTEGER NOT NULL
         ) WITHOUT ROWID;
         CREATE INDEX webhook_entity ON webhook (entity);
         ALTER TABLE message ADD COLUMN webhook TEXT;
         ALTER TABLE message ADD COLUMN document BLOB;
         CREATE INDEX message_webhook ON message (webhook) WHERE webhook IS NOT NULL;",
    ),
    // An agreement is compared with later charges by the part of its account that answers show. The index of the whole number
    // goes: comparing by it told right numbers from wrong ones.
    M::up(
        "UPDATE standing_instruction SET document = CAST(json_remove(json_set(CAST(document AS TEXT), '$.shown', (
             SELECT CASE
                 WHEN json_extract(text, '$.account.card') IS NOT NULL THEN
                     'card ' || json_extract(text, '$.account.card.bin') || ' ' || json_extract(text, '$.account.card.last4')
                 WHEN json_extract(text, '$.account.bank.iban') IS NOT NULL THEN
                     'iban ' || json_extract(text, '$.account.bank.iban')
             END
             FROM (SELECT CAST(coalesce(
                 (SELECT document FROM registration
                  WHERE registration.entity = standing_instruction.entity AND id = standing_instruction.registration),
                 (SELECT document FROM payment
                  WHERE payment.entity = standing_instruction.entity
                      AND id = json_extract(CAST(standing_instruction.document AS TEXT), '$.payment'))
             ) AS TEXT) AS text)
         )), '$.account') AS BLOB);",
    ),
    // A second line of defence below the rules of the domain: the sums of captures and refunds, one payment per checkout, and
    // payments that stay. A write that breaks one of these is undone as a whole.
    M::up(guards::MIGRATION),
    // A stored response may be about a channel, which may get another merchant.
    M::up("ALTER TABLE answer ADD COLUMN owner TEXT;"),
    // Messages are sent fairly among owners: an entity that stands for itself, with its channels.
    M::up(
        "ALTER TABLE message ADD COLUMN owner TEXT NOT NULL DEFAULT '';
         UPDATE message SET owner = coalesce((SELECT merchant FROM entity WHERE entity.id = message.entity), entity);
         DROP INDEX message_queue;
         CREATE INDEX message_owner ON message (owner, due) WHERE due IS NOT NULL;
         CREATE INDEX message_owner_queue ON message (owner, queue, due) WHERE due IS NOT NULL;",
    ),
    // Browsers could always store accounts and name the customer. Merchants that rely on it keep it; new ones choose.
    M::up(
        "UPDATE entity SET settings = json_set(settings, '$.browser_registrations', json('true'),
             '$.browser_customer_ids', json('true'));",
    ),
    // Violations of policies that browsers have reported, and what vouches for the stored builds of the form. Builds of before
    // have nothing, and are stored anew when a server starts with them.
    M::up(
        "CREATE TABLE policy_report (
             entity TEXT NOT NULL, directive TEXT NOT NULL, blocked TEXT NOT NULL, document TEXT NOT NULL,
             source TEXT NOT NULL, enforced INTEGER NOT NULL, count INTEGER NOT NULL, first INTEGER NOT NULL,
             last INTEGER NOT NULL, PRIMARY KEY (entity, directive, blocked, document, source, enforced)
         ) WITHOUT ROWID;
         ALTER TABLE form_build ADD COLUMN seal BLOB;",
    ),
    // A row that is written to know that the disk takes writes.
    M::up("CREATE TABLE health (id INTEGER PRIMARY KEY CHECK (id = 1), checked INTEGER NOT NULL);"),
    // Limits and usage of access tokens; keys that the vault seals, such as the one of the token hashes.
    M::up(
        "ALTER TABLE token ADD COLUMN keyed INTEGER NOT NULL DEFAULT 0;
         ALTER TABLE token ADD COLUMN expires INTEGER;
         ALTER TABLE token ADD COLUMN networks TEXT NOT NULL DEFAULT '';
         ALTER TABLE token ADD COLUMN scopes TEXT NOT NULL DEFAULT 'read,pay,refund,admin';
         ALTER TABLE token ADD COLUMN used INTEGER;
         CREATE TABLE sealed_key (name TEXT PRIMARY KEY, sealed BLOB NOT NULL) WITHOUT ROWID;",
    ),
    // The counts of the velocity limiter.
    M::up(
        "CREATE TABLE velocity (
             kind INTEGER NOT NULL, name BLOB NOT NULL, until INTEGER NOT NULL, PRIMARY KEY (kind, name)
         ) WITHOUT ROWID;
         CREATE INDEX velocity_until ON velocity (until);",
    ),
    // The ids of the vault's keys.
    M::up(vault_keys::MIGRATION),
    // A webhook's next secret, while it is being rotated.
    M::up(
        "ALTER TABLE webhook ADD COLUMN next BLOB;
         CREATE TRIGGER webhook_next_key BEFORE UPDATE OF next ON webhook
             WHEN EXISTS (SELECT 1 FROM vault_key WHERE id = substr(NEW.next, 2, 4) AND retired IS NOT NULL)
         BEGIN SELECT RAISE(ABORT, 'a record is sealed under a retired key of the vault'); END;",
    ),
    // A reminder is about one attempt, and waits until that has ended: as long as the attempt has a timer of its own.
    M::up(
        "ALTER TABLE timer ADD COLUMN attempt TEXT;
         ALTER TABLE timer ADD COLUMN waits INTEGER NOT NULL DEFAULT 0;
         UPDATE timer SET attempt = (
             SELECT coalesce(json_extract(text, '$.attempt'), json_extract(text, '$.registration'))
             FROM (SELECT CAST(document AS TEXT) AS text FROM checkout WHERE checkout.id = timer.subject)
         ) WHERE kind = 'remind';
         UPDATE timer SET waits = 1 WHERE kind = 'remind'
             AND EXISTS (SELECT 1 FROM timer AS ending WHERE ending.kind = 'end' AND ending.subject = timer.attempt);
         DROP INDEX timer_since;
         CREATE INDEX timer_since ON timer (kind, since) WHERE waits = 0;",
    ),
];

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use rusqlite::Connection;
    use rusqlite_migration::Migrations;

    use super::*;

    #[test]
    fn the_migrations_are_valid() {
        assert!(Migrations::from_slice(MIGRATIONS).validate().is_ok());
    }

    #[test]
    fn entities_from_before_browsers_had_to_be_allowed_to_register_still_let_them() {
        let mut connection = Connection::open_in_memory().unwrap();
        let migrations = Migrations::from_slice(MIGRATIONS);
        let permission =
            MIGRATIONS.iter().position(|step| format!("{step:?}").contains("browser_registrations")).unwrap();
        migrations.to_version(&mut connection, permission).unwrap();
        let old =
            "INSERT INTO entity (id, name, live, settings, created) VALUES ('e1', 'Old', 0, '{\"strict\":true}', 0)";
        connection.execute(old, []).unwrap();
        migrations.to_latest(&mut connection).unwrap();
        let settings: String = connection.query_row("SELECT settings FROM entity", [], |row| row.get(0)).unwrap();
        let settings: crate::domain::entity::Settings = serde_json::from_str(&settings).unwrap();
        assert!(settings.strict && settings.browser_registrations && settings.browser_customer_ids);
        let new = crate::domain::entity::Settings::default();
        assert!(!new.browser_registrations && !new.browser_customer_ids);
    }

    #[test]
    fn payments_of_the_first_version_are_found_by_their_entity_and_keep_their_card() {
        let mut connection = Connection::open_in_memory().unwrap();
        let migrations = Migrations::from_slice(MIGRATIONS);
        migrations.to_version(&mut connection, 1).unwrap();
        let document = br#"{"id":"8a1","entity":"e1","card":{"bin":"420000"},"result":"000.100.110"}"#;
        connection.execute("INSERT INTO payment (id, document) VALUES ('8a1', ?1)", [&document[..]]).unwrap();
        migrations.to_latest(&mut connection).unwrap();
        let kept: Vec<u8> = connection
            .query_row("SELECT document FROM payment WHERE entity = 'e1' AND id = '8a1'", [], |row| row.get(0))
            .unwrap();
        let kept: serde_json::Value = serde_json::from_slice(&kept).unwrap();
        assert_eq!(kept["account"]["card"]["bin"], "420000");
        assert_eq!(kept.get("card"), None);
    }

    #[test]
    fn agreements_from_before_keep_the_shown_part_of_their_account_and_lose_its_index() {
        let mut connection = Connection::open_in_memory().unwrap();
        let migrations = Migrations::from_slice(MIGRATIONS);
        migrations.to_version(&mut connection, 14).unwrap();
        let card = r#"{"account":{"card":{"bin":"420000","last4":"0000"}}}"#;
        let bank = r#"{"account":{"bank":{"iban":"DE23**7890"}}}"#;
        let insert = |table: &str, id: &str, document: &str| {
            let insert = format!("INSERT INTO {table} (entity, id, document) VALUES ('e1', ?1, ?2)");
            connection.execute(&insert, rusqlite::params![id, document.as_bytes()]).unwrap();
        };
        insert("payment", "p1", card);
        insert("registration", "r1", bank);
        for (initial, registration, payment) in [("A", None, "p1"), ("B", Some("r1"), "p1"), ("C", None, "p2")] {
            let document = format!(r#"{{"initial":"{initial}","payment":"{payment}","account":"00ff"}}"#);
            connection
                .execute(
                    "INSERT INTO standing_instruction (entity, initial, registration, document) VALUES ('e1', ?1, ?2, ?3)",
                    rusqlite::params![initial, registration, document.as_bytes()],
                )
                .unwrap();
        }
        migrations.to_latest(&mut connection).unwrap();
        let shown = |initial: &str| -> serde_json::Value {
            let document: Vec<u8> = connection
                .query_row("SELECT document FROM standing_instruction WHERE initial = ?1", [initial], |row| row.get(0))
                .unwrap();
            let document: serde_json::Value = serde_json::from_slice(&document).unwrap();
            assert_eq!((document["initial"].as_str(), document.get("account")), (Some(initial), None));
            document["shown"].clone()
        };
        assert_eq!((shown("A"), shown("B")), ("card 420000 0000".into(), "iban DE23**7890".into()));
        assert_eq!(shown("C"), serde_json::Value::Null);
    }

    #[test]
    fn reminders_from_before_are_about_the_last_attempt_and_wait_where_that_does() {
        let mut connection = Connection::open_in_memory().unwrap();
        let migrations = Migrations::from_slice(MIGRATIONS);
        let attempts =
            MIGRATIONS.iter().position(|step| format!("{step:?}").contains("timer ADD COLUMN attempt")).unwrap();
        migrations.to_version(&mut connection, attempts).unwrap();
        for (checkout, document) in [
            ("pending", r#"{"attempt":"p1","registration":"r0"}"#),
            ("paid", r#"{"attempt":"p2"}"#),
            ("stored", r#"{"registration":"r1"}"#),
        ] {
            let insert = "INSERT INTO checkout (id, document) VALUES (?1, ?2)";
            connection.execute(insert, rusqlite::params![checkout, document.as_bytes()]).unwrap();
        }
        for (kind, subject) in
            [("remind", "pending"), ("remind", "paid"), ("remind", "stored"), ("remind", "gone"), ("end", "p1")]
        {
            let insert = "INSERT INTO timer (kind, subject, entity, since, detail) VALUES (?1, ?2, 'e1', 7, 'x')";
            connection.execute(insert, [kind, subject]).unwrap();
        }
        migrations.to_latest(&mut connection).unwrap();
        let row = |subject: &str| -> (Option<String>, bool, i64) {
            let query = "SELECT attempt, waits, since FROM timer WHERE kind = 'remind' AND subject = ?1";
            connection.query_row(query, [subject], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?))).unwrap()
        };
        assert_eq!(row("pending"), (Some("p1".to_owned()), true, 7));
        assert_eq!(row("paid"), (Some("p2".to_owned()), false, 7));
        assert_eq!(row("stored"), (Some("r1".to_owned()), false, 7));
        assert_eq!(row("gone"), (None, false, 7));
    }
}
