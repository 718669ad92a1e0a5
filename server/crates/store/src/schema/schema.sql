CREATE TABLE entity (
    id TEXT PRIMARY KEY, name TEXT NOT NULL, live INTEGER NOT NULL, settings TEXT NOT NULL, created INTEGER NOT NULL
, parent TEXT REFERENCES entity (id), ahead INTEGER NOT NULL DEFAULT 0, level TEXT NOT NULL DEFAULT 'merchant'
    CHECK (level IN ('psp', 'division', 'merchant', 'channel')), merchant TEXT GENERATED ALWAYS AS (CASE level WHEN 'channel' THEN parent END) VIRTUAL) WITHOUT ROWID;
CREATE TABLE token (
    user_id TEXT PRIMARY KEY, entity TEXT NOT NULL REFERENCES entity (id), hash BLOB NOT NULL, label TEXT NOT NULL,
    created INTEGER NOT NULL, revoked INTEGER
, keyed INTEGER NOT NULL DEFAULT 0, expires INTEGER, networks TEXT NOT NULL DEFAULT '', scopes TEXT NOT NULL DEFAULT 'read,pay,refund,admin', used INTEGER) WITHOUT ROWID;
CREATE TABLE checkout (id TEXT PRIMARY KEY, document BLOB NOT NULL) WITHOUT ROWID;
CREATE TABLE card (purge_at INTEGER NOT NULL, payment TEXT NOT NULL, sealed BLOB NOT NULL,
    PRIMARY KEY (purge_at, payment)) WITHOUT ROWID;
CREATE TABLE form_build (build TEXT PRIMARY KEY, seen INTEGER NOT NULL, seal BLOB) WITHOUT ROWID;
CREATE TABLE form_file (
    build TEXT NOT NULL REFERENCES form_build (build) ON DELETE CASCADE, path TEXT NOT NULL, content BLOB NOT NULL,
    PRIMARY KEY (build, path)
);
CREATE TABLE "payment" (
    entity TEXT NOT NULL, id TEXT NOT NULL, document BLOB NOT NULL, PRIMARY KEY (entity, id)
) WITHOUT ROWID;
CREATE TABLE payment_link (
    referenced TEXT NOT NULL, id TEXT NOT NULL, type TEXT NOT NULL, hundredths INTEGER NOT NULL,
    approved INTEGER NOT NULL, entity TEXT, overcapture INTEGER NOT NULL DEFAULT 0, is_final INTEGER NOT NULL DEFAULT 0, PRIMARY KEY (referenced, id)
) WITHOUT ROWID;
CREATE TABLE payment_reference (
    entity TEXT NOT NULL, reference TEXT NOT NULL, payment TEXT NOT NULL,
    PRIMARY KEY (entity, reference, payment)
) WITHOUT ROWID;
CREATE TABLE answer (
    entity TEXT NOT NULL, key TEXT NOT NULL, fingerprint BLOB NOT NULL, status INTEGER NOT NULL,
    body BLOB NOT NULL, until INTEGER NOT NULL, owner TEXT, PRIMARY KEY (entity, key)
) WITHOUT ROWID;
CREATE INDEX answer_until ON answer (until);
CREATE TABLE wallet_key (
    entity TEXT NOT NULL REFERENCES entity (id), id TEXT NOT NULL, public BLOB NOT NULL, sealed BLOB NOT NULL,
    created INTEGER NOT NULL, retired INTEGER, PRIMARY KEY (entity, id)
) WITHOUT ROWID;
CREATE TABLE wallet_token (
    until INTEGER NOT NULL, entity TEXT NOT NULL, id TEXT NOT NULL, PRIMARY KEY (until, entity, id)
) WITHOUT ROWID;
CREATE TABLE registration (
    entity TEXT NOT NULL, id TEXT NOT NULL, document BLOB NOT NULL, PRIMARY KEY (entity, id)
) WITHOUT ROWID;
CREATE TABLE registration_account (
    registration TEXT PRIMARY KEY, entity TEXT NOT NULL, purge_at INTEGER,
    sealed BLOB NOT NULL
) WITHOUT ROWID;
CREATE INDEX registration_account_purge ON registration_account (purge_at) WHERE purge_at IS NOT NULL;
CREATE TABLE standing_instruction (
    entity TEXT NOT NULL, initial TEXT NOT NULL, registration TEXT, document BLOB NOT NULL,
    PRIMARY KEY (entity, initial)
) WITHOUT ROWID;
CREATE INDEX standing_instruction_registration ON standing_instruction (registration)
    WHERE registration IS NOT NULL;
CREATE TABLE page (id TEXT PRIMARY KEY, entity TEXT NOT NULL, payment TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE promise (
    payment TEXT PRIMARY KEY, entity TEXT NOT NULL, document BLOB NOT NULL, sealed BLOB,
    until INTEGER NOT NULL
, card BLOB) WITHOUT ROWID;
CREATE INDEX promise_until ON promise (until);
CREATE TABLE timer (
    kind TEXT NOT NULL, subject TEXT NOT NULL, entity TEXT NOT NULL, since INTEGER NOT NULL, detail TEXT, attempt TEXT, waits INTEGER NOT NULL DEFAULT 0,
    PRIMARY KEY (kind, subject)
) WITHOUT ROWID;
CREATE TABLE message (
    id TEXT PRIMARY KEY, entity TEXT NOT NULL, queue TEXT NOT NULL, what TEXT NOT NULL, address TEXT NOT NULL,
    due INTEGER, failures INTEGER NOT NULL DEFAULT 0, leased INTEGER NOT NULL DEFAULT 0, node TEXT
, webhook TEXT, document BLOB, owner TEXT NOT NULL DEFAULT '', callback TEXT, failed INTEGER, resubmitted INTEGER NOT NULL DEFAULT 0) WITHOUT ROWID;
CREATE INDEX message_due ON message (due) WHERE due IS NOT NULL;
CREATE TABLE delivery (
    message TEXT NOT NULL, at INTEGER NOT NULL, milliseconds INTEGER NOT NULL, status INTEGER, fault TEXT,
    PRIMARY KEY (message, at)
) WITHOUT ROWID;
CREATE TABLE webhook (
    id TEXT PRIMARY KEY, entity TEXT NOT NULL REFERENCES entity (id), url TEXT NOT NULL, sealed BLOB NOT NULL,
    types TEXT NOT NULL, without_customer INTEGER NOT NULL, wrapped INTEGER NOT NULL, active INTEGER NOT NULL,
    created INTEGER NOT NULL
, next BLOB) WITHOUT ROWID;
CREATE INDEX webhook_entity ON webhook (entity);
CREATE INDEX message_webhook ON message (webhook) WHERE webhook IS NOT NULL;
CREATE TRIGGER payment_link_insert AFTER INSERT ON payment_link WHEN NEW.approved BEGIN
    SELECT RAISE(ABORT, 'the follow-up payments of a payment do not fit it') FROM payment_link_fault
        WHERE referenced = NEW.referenced AND id = NEW.id;
END;
CREATE TRIGGER payment_link_update AFTER UPDATE ON payment_link WHEN NEW.approved BEGIN
    SELECT RAISE(ABORT, 'the follow-up payments of a payment do not fit it') FROM payment_link_fault
        WHERE referenced = NEW.referenced AND id = NEW.id;
END;
CREATE TRIGGER payment_link_stays BEFORE DELETE ON payment_link BEGIN
    SELECT RAISE(ABORT, 'a follow-up payment is never deleted');
END;
CREATE TABLE checkout_payment (checkout TEXT PRIMARY KEY, payment TEXT NOT NULL) WITHOUT ROWID;
CREATE TRIGGER checkout_payment_update BEFORE UPDATE ON checkout_payment WHEN NEW.payment <> OLD.payment BEGIN
    SELECT RAISE(ABORT, 'a checkout has a second pending or approved payment');
END;
CREATE TRIGGER payment_stays BEFORE DELETE ON payment BEGIN
    SELECT RAISE(ABORT, 'a payment is never deleted');
END;
CREATE INDEX message_owner ON message (owner, due) WHERE due IS NOT NULL;
CREATE INDEX message_owner_queue ON message (owner, queue, due) WHERE due IS NOT NULL;
CREATE TABLE policy_report (
    entity TEXT NOT NULL, directive TEXT NOT NULL, blocked TEXT NOT NULL, document TEXT NOT NULL,
    source TEXT NOT NULL, enforced INTEGER NOT NULL, count INTEGER NOT NULL, first INTEGER NOT NULL,
    last INTEGER NOT NULL, PRIMARY KEY (entity, directive, blocked, document, source, enforced)
) WITHOUT ROWID;
CREATE TABLE health (id INTEGER PRIMARY KEY CHECK (id = 1), checked INTEGER NOT NULL);
CREATE TABLE sealed_key (name TEXT PRIMARY KEY, sealed BLOB NOT NULL) WITHOUT ROWID;
CREATE TABLE velocity (
    kind INTEGER NOT NULL, name BLOB NOT NULL, until INTEGER NOT NULL, PRIMARY KEY (kind, name)
) WITHOUT ROWID;
CREATE INDEX velocity_until ON velocity (until);
CREATE TABLE vault_key (
    id BLOB PRIMARY KEY, created INTEGER NOT NULL, loaded INTEGER NOT NULL DEFAULT 0, retired INTEGER
) WITHOUT ROWID;
CREATE TRIGGER card_key BEFORE INSERT ON card
    WHEN EXISTS (SELECT 1 FROM vault_key WHERE id = substr(NEW.sealed, 2, 4) AND retired IS NOT NULL)
BEGIN SELECT RAISE(ABORT, 'a record is sealed under a retired key of the vault'); END;
CREATE TRIGGER registration_account_key BEFORE INSERT ON registration_account
    WHEN EXISTS (SELECT 1 FROM vault_key WHERE id = substr(NEW.sealed, 2, 4) AND retired IS NOT NULL)
BEGIN SELECT RAISE(ABORT, 'a record is sealed under a retired key of the vault'); END;
CREATE TRIGGER promise_key BEFORE INSERT ON promise
    WHEN EXISTS (SELECT 1 FROM vault_key
        WHERE id IN (substr(NEW.sealed, 2, 4), substr(NEW.card, 2, 4)) AND retired IS NOT NULL)
BEGIN SELECT RAISE(ABORT, 'a record is sealed under a retired key of the vault'); END;
CREATE TRIGGER wallet_key_key BEFORE INSERT ON wallet_key
    WHEN EXISTS (SELECT 1 FROM vault_key WHERE id = substr(NEW.sealed, 2, 4) AND retired IS NOT NULL)
BEGIN SELECT RAISE(ABORT, 'a record is sealed under a retired key of the vault'); END;
CREATE TRIGGER webhook_key BEFORE INSERT ON webhook
    WHEN EXISTS (SELECT 1 FROM vault_key WHERE id = substr(NEW.sealed, 2, 4) AND retired IS NOT NULL)
BEGIN SELECT RAISE(ABORT, 'a record is sealed under a retired key of the vault'); END;
CREATE TRIGGER webhook_next_key BEFORE UPDATE OF next ON webhook
    WHEN EXISTS (SELECT 1 FROM vault_key WHERE id = substr(NEW.next, 2, 4) AND retired IS NOT NULL)
BEGIN SELECT RAISE(ABORT, 'a record is sealed under a retired key of the vault'); END;
CREATE INDEX timer_since ON timer (kind, since) WHERE waits = 0;
CREATE INDEX entity_parent ON entity (parent) WHERE parent IS NOT NULL;
CREATE TABLE entity_level (level TEXT NOT NULL, parent TEXT NOT NULL, PRIMARY KEY (level, parent)) WITHOUT ROWID;
CREATE VIEW entity_fault AS SELECT entity.id, entity.parent FROM entity
    LEFT JOIN entity AS above ON above.id = entity.parent
    WHERE (entity.level = 'channel' AND entity.parent IS NULL)
    OR (entity.parent IS NOT NULL
        AND NOT EXISTS (SELECT 1 FROM entity_level WHERE level = entity.level AND parent = above.level));
CREATE TRIGGER entity_tree_insert AFTER INSERT ON entity BEGIN
    SELECT RAISE(ABORT, 'an entity stands below one of a higher level') FROM entity_fault WHERE id = NEW.id;
    SELECT RAISE(ABORT, 'live and sandbox entities are in trees of their own') FROM entity
        WHERE id = NEW.parent AND live <> NEW.live;
END;
CREATE TRIGGER entity_tree_update AFTER UPDATE ON entity
    WHEN NEW.id <> OLD.id OR NEW.level <> OLD.level OR NEW.parent IS NOT OLD.parent
BEGIN
    SELECT RAISE(ABORT, 'an entity stands below one of a higher level') FROM entity_fault
        WHERE id = NEW.id OR parent = NEW.id;
    SELECT RAISE(ABORT, 'live and sandbox entities are in trees of their own') FROM entity
        WHERE id = NEW.parent AND live <> NEW.live;
END;
CREATE TABLE risk_counter (
    owner INTEGER NOT NULL, name BLOB NOT NULL, purge_at INTEGER NOT NULL, value BLOB NOT NULL,
    PRIMARY KEY (owner, name)
) WITHOUT ROWID;
CREATE TABLE risk_version (
    entity TEXT NOT NULL REFERENCES entity (id), version TEXT NOT NULL, text TEXT NOT NULL,
    author TEXT NOT NULL, created INTEGER NOT NULL, PRIMARY KEY (entity, version)
);
CREATE TABLE risk_entity (
    entity TEXT PRIMARY KEY REFERENCES entity (id), active TEXT, shadow TEXT, entries INTEGER NOT NULL DEFAULT 0,
    FOREIGN KEY (entity, active) REFERENCES risk_version (entity, version),
    FOREIGN KEY (entity, shadow) REFERENCES risk_version (entity, version)
) WITHOUT ROWID;
CREATE TABLE risk_list (
    entity TEXT NOT NULL REFERENCES entity (id), key TEXT NOT NULL, value TEXT NOT NULL,
    list TEXT NOT NULL CHECK (list IN ('allow', 'review', 'deny')), reason TEXT NOT NULL, author TEXT NOT NULL,
    created INTEGER NOT NULL, expires INTEGER, source TEXT NOT NULL DEFAULT 'any' CHECK (source IN ('server', 'any')), PRIMARY KEY (entity, key, value, list)
) WITHOUT ROWID;
CREATE TRIGGER risk_list_insert AFTER INSERT ON risk_list BEGIN
    INSERT INTO risk_entity (entity, entries) VALUES (NEW.entity, 1)
        ON CONFLICT (entity) DO UPDATE SET entries = entries + 1;
END;
CREATE TRIGGER risk_list_delete AFTER DELETE ON risk_list BEGIN
    UPDATE risk_entity SET entries = entries - 1 WHERE entity = OLD.entity;
END;
CREATE TABLE risk_change (
    id INTEGER PRIMARY KEY, entity TEXT NOT NULL REFERENCES entity (id), kind TEXT NOT NULL, action TEXT NOT NULL,
    subject TEXT NOT NULL, reason TEXT NOT NULL, author TEXT NOT NULL, at INTEGER NOT NULL
);
CREATE INDEX risk_change_entity ON risk_change (entity, kind, id);
CREATE TABLE review_callback (
    entity TEXT PRIMARY KEY REFERENCES entity (id), sealed BLOB NOT NULL, sends INTEGER NOT NULL, changed INTEGER NOT NULL
) WITHOUT ROWID;
CREATE TRIGGER review_callback_key BEFORE INSERT ON review_callback
    WHEN EXISTS (SELECT 1 FROM vault_key WHERE id = substr(NEW.sealed, 2, 4) AND retired IS NOT NULL)
BEGIN SELECT RAISE(ABORT, 'a record is sealed under a retired key of the vault'); END;
CREATE TRIGGER review_callback_next_key BEFORE UPDATE OF sealed ON review_callback
    WHEN EXISTS (SELECT 1 FROM vault_key WHERE id = substr(NEW.sealed, 2, 4) AND retired IS NOT NULL)
BEGIN SELECT RAISE(ABORT, 'a record is sealed under a retired key of the vault'); END;
CREATE INDEX message_callback ON message (callback, failed) WHERE callback IS NOT NULL;
CREATE TABLE review_callback_audit (
    number INTEGER PRIMARY KEY, at INTEGER NOT NULL, entity TEXT NOT NULL, action TEXT NOT NULL, actor TEXT NOT NULL,
    message TEXT, detail TEXT
);
CREATE INDEX review_callback_audit_entity ON review_callback_audit (entity, number);
CREATE TABLE review (
    payment TEXT PRIMARY KEY, entity TEXT NOT NULL REFERENCES entity (id),
    since INTEGER NOT NULL, ended INTEGER, analyst TEXT, claimed INTEGER
) WITHOUT ROWID;
CREATE INDEX review_open ON review (entity, since) WHERE ended IS NULL;
CREATE TABLE review_action (
    number INTEGER PRIMARY KEY, payment TEXT NOT NULL REFERENCES review (payment), at INTEGER NOT NULL,
    action TEXT NOT NULL, analyst TEXT NOT NULL, reason INTEGER, note TEXT
, processed INTEGER);
CREATE INDEX review_action_payment ON review_action (payment, number);
CREATE INDEX review_ended ON review (entity, since) WHERE ended IS NOT NULL;
CREATE TABLE "risk_counter_owner" (
    id INTEGER PRIMARY KEY, entity TEXT NOT NULL, kind TEXT NOT NULL CHECK (kind IN ('counter', 'account')),
    counters INTEGER NOT NULL DEFAULT 0, UNIQUE (entity, kind)
);
CREATE TABLE schedule (
    id TEXT PRIMARY KEY, entity TEXT NOT NULL, registration TEXT NOT NULL, due INTEGER, document BLOB NOT NULL
) WITHOUT ROWID;
CREATE INDEX schedule_due ON schedule (due) WHERE due IS NOT NULL;
CREATE INDEX schedule_registration ON schedule (registration);
CREATE TABLE schedule_step (
    id TEXT PRIMARY KEY, schedule TEXT NOT NULL, document BLOB NOT NULL
) WITHOUT ROWID;
CREATE INDEX schedule_step_schedule ON schedule_step (schedule);
CREATE TABLE schedule_run (
    schedule TEXT NOT NULL, occurrence INTEGER NOT NULL, attempt INTEGER NOT NULL, document BLOB NOT NULL,
    PRIMARY KEY (schedule, occurrence, attempt)
) WITHOUT ROWID;
CREATE TABLE reconciliation_record (
    owner TEXT NOT NULL, day TEXT NOT NULL, id TEXT NOT NULL, account TEXT NOT NULL, document BLOB NOT NULL, merchant TEXT NOT NULL DEFAULT '', filed BLOB, unfiled INTEGER NOT NULL DEFAULT 0,
    PRIMARY KEY (owner, day, id)
) WITHOUT ROWID;
CREATE INDEX reconciliation_record_account ON reconciliation_record (account, day, id);
CREATE TABLE audit_entry (
    number INTEGER PRIMARY KEY, entity TEXT NOT NULL, document BLOB NOT NULL, hash BLOB NOT NULL
) STRICT;
CREATE INDEX audit_entry_entity ON audit_entry (entity, number);
CREATE TRIGGER audit_entry_stays BEFORE DELETE ON audit_entry BEGIN
    SELECT RAISE(ABORT, 'an entry of the audit log is never deleted');
END;
CREATE TRIGGER audit_entry_update BEFORE UPDATE ON audit_entry BEGIN
    SELECT RAISE(ABORT, 'an entry of the audit log never changes');
END;
CREATE TABLE balance (
    entity TEXT NOT NULL, currency TEXT NOT NULL,
    receivable INTEGER NOT NULL, payable INTEGER NOT NULL, fees INTEGER NOT NULL, reserve INTEGER NOT NULL,
    cash INTEGER NOT NULL,
    PRIMARY KEY (entity, currency), CHECK (receivable + payable + fees + reserve + cash = 0)
) STRICT, WITHOUT ROWID;
CREATE TABLE settlement_terms (entity TEXT PRIMARY KEY, document BLOB NOT NULL) WITHOUT ROWID;
CREATE TABLE fx_rate (
    source TEXT NOT NULL, target TEXT NOT NULL, day TEXT NOT NULL, rate TEXT NOT NULL,
    PRIMARY KEY (source, target, day)
) WITHOUT ROWID;
CREATE TABLE settlement_state (entity TEXT PRIMARY KEY, version INTEGER NOT NULL, document BLOB NOT NULL) WITHOUT ROWID;
CREATE TABLE settlement_batch (
    entity TEXT NOT NULL, day TEXT NOT NULL, currency TEXT NOT NULL, document BLOB NOT NULL, merchant TEXT NOT NULL DEFAULT '',
    PRIMARY KEY (entity, day, currency)
) WITHOUT ROWID;
CREATE TABLE settlement_postponed (
    entity TEXT NOT NULL, number INTEGER NOT NULL, PRIMARY KEY (entity, number)
) WITHOUT ROWID;
CREATE INDEX reconciliation_record_merchant ON reconciliation_record (merchant, day, id);
CREATE UNIQUE INDEX reconciliation_record_id ON reconciliation_record (id);
CREATE TABLE reconciliation_calendar (owner TEXT PRIMARY KEY, closed TEXT NOT NULL, filed TEXT) WITHOUT ROWID;
CREATE TABLE reconciliation_file (
    owner TEXT NOT NULL, day TEXT NOT NULL, records INTEGER NOT NULL, bytes INTEGER NOT NULL, PRIMARY KEY (owner, day)
) WITHOUT ROWID;
CREATE TABLE ftp_user (
    name TEXT PRIMARY KEY, entity TEXT NOT NULL REFERENCES entity (id), salt BLOB NOT NULL, hash BLOB NOT NULL,
    created INTEGER NOT NULL, revoked INTEGER
, session_reuse INTEGER NOT NULL DEFAULT 1) WITHOUT ROWID;
CREATE TABLE dispute (
    id TEXT PRIMARY KEY, entity TEXT NOT NULL, payment TEXT NOT NULL, chargeback TEXT, open INTEGER NOT NULL,
    document BLOB NOT NULL
) WITHOUT ROWID;
CREATE UNIQUE INDEX dispute_open ON dispute (payment) WHERE open;
CREATE UNIQUE INDEX dispute_chargeback ON dispute (chargeback) WHERE chargeback IS NOT NULL;
CREATE INDEX dispute_entity ON dispute (entity, open, id);
CREATE TABLE evidence (
    id TEXT PRIMARY KEY, dispute TEXT NOT NULL, document BLOB NOT NULL
) WITHOUT ROWID;
CREATE INDEX evidence_dispute ON evidence (dispute, id);
CREATE TABLE evidence_part (
    evidence TEXT NOT NULL, part INTEGER NOT NULL, sealed BLOB NOT NULL, PRIMARY KEY (evidence, part)
);
CREATE TABLE payment_connector_id (
    connector_id TEXT NOT NULL, entity TEXT NOT NULL, payment TEXT NOT NULL,
    PRIMARY KEY (connector_id, entity, payment)
) WITHOUT ROWID;
CREATE TABLE settlement_file (
    institute TEXT NOT NULL, hash BLOB NOT NULL, document BLOB NOT NULL, PRIMARY KEY (institute, hash)
) WITHOUT ROWID;
CREATE TABLE settlement_line (
    institute TEXT NOT NULL, line BLOB NOT NULL, content BLOB NOT NULL, record TEXT NOT NULL,
    PRIMARY KEY (institute, line)
) WITHOUT ROWID;
CREATE TABLE settlement_match (
    payment TEXT NOT NULL, record TEXT NOT NULL, hundredths INTEGER NOT NULL, PRIMARY KEY (payment, record)
) WITHOUT ROWID;
CREATE TABLE settlement_unmatched (
    entity TEXT NOT NULL, record TEXT NOT NULL, PRIMARY KEY (entity, record)
) WITHOUT ROWID;
CREATE INDEX settlement_unmatched_record ON settlement_unmatched (record);
CREATE TABLE file_push (
    entity TEXT PRIMARY KEY REFERENCES entity (id), url TEXT NOT NULL, sealed BLOB NOT NULL, host_key TEXT, ca TEXT,
    changed INTEGER NOT NULL, version INTEGER NOT NULL, leased INTEGER NOT NULL DEFAULT 0, node TEXT
) WITHOUT ROWID;
CREATE TRIGGER file_push_key BEFORE INSERT ON file_push
    WHEN EXISTS (SELECT 1 FROM vault_key WHERE id = substr(NEW.sealed, 2, 4) AND retired IS NOT NULL)
BEGIN SELECT RAISE(ABORT, 'a record is sealed under a retired key of the vault'); END;
CREATE TRIGGER file_push_next_key BEFORE UPDATE OF sealed ON file_push
    WHEN EXISTS (SELECT 1 FROM vault_key WHERE id = substr(NEW.sealed, 2, 4) AND retired IS NOT NULL)
BEGIN SELECT RAISE(ABORT, 'a record is sealed under a retired key of the vault'); END;
CREATE TABLE file_delivery (
    entity TEXT NOT NULL, day TEXT NOT NULL, due INTEGER, failures INTEGER NOT NULL DEFAULT 0, sent INTEGER,
    tried INTEGER, fault TEXT, PRIMARY KEY (entity, day)
) WITHOUT ROWID;
CREATE INDEX file_delivery_due ON file_delivery (entity, day, due) WHERE due IS NOT NULL;
CREATE INDEX schedule_entity ON schedule (entity, due) WHERE due IS NOT NULL;
CREATE TABLE record_digest (id INTEGER PRIMARY KEY CHECK (id = 1), digest BLOB NOT NULL, bound INTEGER NOT NULL);
CREATE INDEX settlement_batch_merchant ON settlement_batch (merchant, day, entity, currency);
CREATE TABLE booking_check (id INTEGER PRIMARY KEY CHECK (id = 1), until INTEGER NOT NULL) STRICT;
CREATE TABLE clock_jump (
    clock TEXT NOT NULL, began INTEGER NOT NULL, ended INTEGER NOT NULL, PRIMARY KEY (clock, began)
) STRICT, WITHOUT ROWID;
CREATE TABLE store_seal (id INTEGER PRIMARY KEY CHECK (id = 1), sums BLOB NOT NULL) STRICT;
CREATE TABLE unmasked_index (entity TEXT NOT NULL, payment TEXT NOT NULL, PRIMARY KEY (entity, payment)) WITHOUT ROWID;
CREATE TABLE user (
    id TEXT PRIMARY KEY, mail TEXT NOT NULL UNIQUE, name TEXT NOT NULL,
    state TEXT NOT NULL CHECK (state IN ('invited', 'active', 'disabled')), created INTEGER NOT NULL,
    salt BLOB NOT NULL DEFAULT x'', hash BLOB NOT NULL DEFAULT x'', sealed BLOB NOT NULL DEFAULT x'', step INTEGER,
    recovery BLOB NOT NULL DEFAULT x'', failures INTEGER NOT NULL DEFAULT 0, failed INTEGER,
    epoch INTEGER NOT NULL DEFAULT 0
) STRICT, WITHOUT ROWID;
CREATE TRIGGER user_key BEFORE INSERT ON user
    WHEN EXISTS (SELECT 1 FROM vault_key WHERE id = substr(NEW.sealed, 2, 4) AND retired IS NOT NULL)
BEGIN SELECT RAISE(ABORT, 'a record is sealed under a retired key of the vault'); END;
CREATE TRIGGER user_next_key BEFORE UPDATE OF sealed ON user
    WHEN EXISTS (SELECT 1 FROM vault_key WHERE id = substr(NEW.sealed, 2, 4) AND retired IS NOT NULL)
BEGIN SELECT RAISE(ABORT, 'a record is sealed under a retired key of the vault'); END;
CREATE TABLE user_role (
    user TEXT NOT NULL REFERENCES user (id), role TEXT NOT NULL, reach TEXT NOT NULL, PRIMARY KEY (user, role, reach)
) STRICT, WITHOUT ROWID;
CREATE TABLE user_session (
    number INTEGER PRIMARY KEY, hash BLOB NOT NULL UNIQUE, user TEXT NOT NULL REFERENCES user (id),
    created INTEGER NOT NULL, used INTEGER NOT NULL, confirmed INTEGER, ended INTEGER, address TEXT NOT NULL,
    agent TEXT NOT NULL
, factor INTEGER) STRICT;
CREATE INDEX user_session_user ON user_session (user, ended);
CREATE TABLE user_invitation (
    hash BLOB PRIMARY KEY, user TEXT NOT NULL REFERENCES user (id), created INTEGER NOT NULL, expires INTEGER NOT NULL,
    used INTEGER, inviter TEXT REFERENCES user (id)
) STRICT, WITHOUT ROWID;
CREATE INDEX user_invitation_inviter ON user_invitation (inviter, used);
CREATE INDEX user_invitation_user ON user_invitation (user, used);
CREATE TABLE payment_search (
    entity TEXT NOT NULL, term TEXT NOT NULL, payment TEXT NOT NULL, PRIMARY KEY (entity, term, payment)
) WITHOUT ROWID;
CREATE INDEX audit_entry_act ON audit_entry (entity, number)
    WHERE json_extract(CAST(document AS TEXT), '$.action') <> 'payment';
CREATE INDEX audit_entry_subject ON audit_entry (entity, json_extract(CAST(document AS TEXT), '$.subject'), number)
    WHERE json_extract(CAST(document AS TEXT), '$.action') <> 'payment';
CREATE INDEX schedule_ended ON schedule (entity, id) WHERE due IS NULL;
CREATE TABLE passkey (
    id TEXT PRIMARY KEY, user TEXT NOT NULL REFERENCES user (id), credential BLOB NOT NULL UNIQUE, host TEXT NOT NULL,
    name TEXT NOT NULL, key BLOB NOT NULL, created INTEGER NOT NULL, used INTEGER
) STRICT, WITHOUT ROWID;
CREATE INDEX passkey_user ON passkey (user);
CREATE TABLE passkey_challenge (
    hash BLOB PRIMARY KEY, purpose TEXT NOT NULL CHECK (purpose IN ('add', 'sign-in', 'factor')), session INTEGER,
    name TEXT NOT NULL, state BLOB NOT NULL, created INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX passkey_challenge_created ON passkey_challenge (created);
CREATE INDEX passkey_challenge_session ON passkey_challenge (session) WHERE session IS NOT NULL;
CREATE TABLE payment_comment (
    payment TEXT NOT NULL, number INTEGER NOT NULL, entity TEXT NOT NULL, user TEXT NOT NULL REFERENCES user (id),
    written INTEGER NOT NULL, key TEXT NOT NULL, text TEXT NOT NULL, PRIMARY KEY (payment, number), UNIQUE (payment, key)
) STRICT, WITHOUT ROWID;
CREATE TABLE saved_view (
    user TEXT NOT NULL REFERENCES user (id), name TEXT NOT NULL, query TEXT NOT NULL, PRIMARY KEY (user, name)
) STRICT, WITHOUT ROWID;
CREATE TABLE approval (
    id TEXT PRIMARY KEY, entity TEXT NOT NULL,
    kind TEXT NOT NULL CHECK (kind IN ('refund', 'rules', 'credential', 'receiver')), act TEXT NOT NULL,
    asker TEXT NOT NULL, form TEXT NOT NULL, created INTEGER NOT NULL,
    state TEXT NOT NULL CHECK (state IN ('open', 'approved', 'used', 'declined', 'withdrawn')), decider TEXT,
    decided INTEGER, outcome TEXT NOT NULL DEFAULT '', UNIQUE (asker, form)
) STRICT, WITHOUT ROWID;
CREATE INDEX approval_entity ON approval (entity, kind, state, created);
CREATE INDEX approval_latest ON approval (entity, kind, created);
CREATE TABLE connector_message (
    payment TEXT NOT NULL, number INTEGER NOT NULL, entity TEXT NOT NULL, document BLOB NOT NULL, PRIMARY KEY (payment, number)
) STRICT, WITHOUT ROWID;
CREATE TRIGGER payment_update BEFORE UPDATE ON payment WHEN
    NEW.id <> OLD.id OR NEW.entity <> OLD.entity
    OR (json_extract(CAST(NEW.document AS TEXT), '$.amount') IS NOT json_extract(CAST(OLD.document AS TEXT), '$.amount')
        AND (json_extract(CAST(NEW.document AS TEXT), '$.requested') IS NOT json_extract(CAST(OLD.document AS TEXT), '$.amount')
            OR (json_extract(CAST(OLD.document AS TEXT), '$.result') NOT GLOB '000.200.*'
                AND json_extract(CAST(OLD.document AS TEXT), '$.result') NOT GLOB '800.400.5*'
                AND json_extract(CAST(OLD.document AS TEXT), '$.result') <> '100.400.500')))
    OR (json_extract(CAST(NEW.document AS TEXT), '$.result') IS NOT json_extract(CAST(OLD.document AS TEXT), '$.result')
        AND json_extract(CAST(OLD.document AS TEXT), '$.result') NOT GLOB '000.200.*'
        AND json_extract(CAST(OLD.document AS TEXT), '$.result') NOT GLOB '800.400.5*'
        AND json_extract(CAST(OLD.document AS TEXT), '$.result') <> '100.400.500')
BEGIN
    SELECT RAISE(ABORT, 'the amount and the final result of a payment never change');
END;
CREATE TABLE card_attempt (
    name BLOB PRIMARY KEY, purge_at INTEGER NOT NULL, history BLOB NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX card_attempt_purge ON card_attempt (purge_at);
CREATE VIEW payment_link_fault AS SELECT link.referenced, link.id FROM payment_link AS link WHERE
    typeof(link.hundredths) <> 'integer' OR link.hundredths < 0
    OR NOT (link.type = 'CP' OR link.type = 'RV' OR link.type = 'RF' OR link.type = 'CB' OR link.type = 'CR'
        OR link.type = 'PA')
    OR coalesce(
        (SELECT CAST(replace(json_extract(CAST(document AS TEXT), '$.amount[0]'), '.', '') AS INTEGER) FROM payment
            WHERE entity = link.entity AND id = link.referenced), -1)
        + (SELECT total(CASE type WHEN 'PA' THEN hundredths ELSE overcapture END) FROM payment_link
            WHERE referenced = link.referenced AND approved AND type IN ('PA', 'CP'))
        < max(CASE WHEN link.type = 'CB' OR link.type = 'CR' THEN link.hundredths ELSE 0 END,
            (SELECT total(hundredths) FROM payment_link
                WHERE referenced = link.referenced AND approved AND type IN ('CP', 'RF')))
    OR link.overcapture < 0 OR link.overcapture > link.hundredths
    OR 5 * (SELECT total(hundredths) FROM payment_link WHERE referenced = link.referenced AND approved AND type = 'CP')
        > 6 * (coalesce(
        (SELECT CAST(replace(json_extract(CAST(document AS TEXT), '$.amount[0]'), '.', '') AS INTEGER) FROM payment
            WHERE entity = link.entity AND id = link.referenced), -1)
        + (SELECT total(hundredths) FROM payment_link
            WHERE referenced = link.referenced AND approved AND type = 'PA'))
    OR (link.type = 'CR' AND (SELECT json_extract(CAST(document AS TEXT), '$.payment_type') FROM payment
            WHERE entity = link.entity AND id = link.referenced) IS NOT 'CB')
    OR (link.type = 'PA' AND NOT EXISTS (SELECT 1 FROM payment WHERE entity = link.entity AND id = link.referenced
            AND json_extract(CAST(document AS TEXT), '$.payment_type') IS 'PA'
            AND json_extract(CAST(document AS TEXT), '$.referenced') IS NULL))
    OR (SELECT count(*) FILTER (WHERE type = 'RV') > 1 OR count(*) FILTER (WHERE type = 'CB') > 1
            OR count(*) FILTER (WHERE type = 'CR') > 1 OR count(*) FILTER (WHERE is_final) > 1
            OR (count(*) FILTER (WHERE type = 'RV') = 1 AND count(*) FILTER (WHERE type IN ('CP', 'RF')) > 0)
        FROM payment_link WHERE referenced = link.referenced AND approved);
INSERT INTO entity_level (level, parent) VALUES ('channel', 'merchant');
INSERT INTO entity_level (level, parent) VALUES ('division', 'psp');
INSERT INTO entity_level (level, parent) VALUES ('merchant', 'division');
INSERT INTO entity_level (level, parent) VALUES ('merchant', 'psp');
