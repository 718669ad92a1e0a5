-- The whole schema of version 68 on PostgreSQL. It says what the migrations 1 to 68 say for SQLite, table by table and
-- rule by rule; their files have the reasons. Every later migration has a variant for each database.
--
-- A truth value is a boolean, which a statement may compare with TRUE and FALSE on both; a time is a bigint in
-- milliseconds since 1970, a document a bytea of JSON in UTF-8. Texts are compared by their bytes, as ids have to be: the
-- database has the collation C.

-- The text of a document. PostgreSQL's own function may not be part of an index, because it could change with the
-- encoding of the database, which is UTF-8.
CREATE FUNCTION utf8(document bytea) RETURNS text LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
    RETURN convert_from(document, 'UTF8');

-- The text at a path such as $.amount[0] of a document, as SQLite's function of this name finds it.
CREATE FUNCTION json_extract(document text, path text) RETURNS text LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
    RETURN document::json #>> string_to_array(ltrim(replace(replace(substr(path, 2), '[', '.'), ']', ''), '.'), '.');

-- The items of a list in JSON, as SQLite's json_each lists them.
CREATE FUNCTION json_items(list text) RETURNS TABLE (value text) LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
    BEGIN ATOMIC SELECT item FROM json_array_elements_text(list::json) AS item; END;

-- The columns of a table, as SQLite's pragma of this name lists them.
CREATE FUNCTION pragma_table_info(of_table text) RETURNS TABLE (name text) LANGUAGE sql STABLE STRICT
    BEGIN ATOMIC SELECT column_name::text FROM information_schema.columns
        WHERE table_schema = current_schema() AND table_name = of_table; END;

-- The place of a part in a text, counted from 1. 0 if it is not in it.
CREATE FUNCTION instr(whole text, part text) RETURNS bigint LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
    RETURN strpos(whole, part);

-- The same for bytes.
CREATE DOMAIN blob AS bytea;
CREATE FUNCTION instr(whole bytea, part bytea) RETURNS bigint LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
    RETURN position(part IN whole);

-- The greater and the smaller of two values.
CREATE FUNCTION max(a bigint, b bigint) RETURNS bigint LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
    RETURN greatest(a, b);
CREATE FUNCTION min(a bigint, b bigint) RETURNS bigint LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
    RETURN least(a, b);
CREATE FUNCTION max(a text, b text) RETURNS text LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
    RETURN greatest(a, b);

CREATE TABLE answer (
    entity text NOT NULL, key text NOT NULL, fingerprint bytea NOT NULL, status bigint NOT NULL,
    body bytea NOT NULL, until bigint NOT NULL, owner text, PRIMARY KEY (entity, key)
);
CREATE INDEX answer_until ON answer (until);

CREATE TABLE approval (
    id text PRIMARY KEY, entity text NOT NULL,
    kind text NOT NULL CHECK (kind IN ('refund', 'rules', 'credential', 'receiver')), act text NOT NULL,
    asker text NOT NULL, form text NOT NULL, created bigint NOT NULL,
    state text NOT NULL CHECK (state IN ('open', 'approved', 'used', 'declined', 'withdrawn')), decider text,
    decided bigint, outcome text NOT NULL DEFAULT '', UNIQUE (asker, form)
);
CREATE INDEX approval_entity ON approval (entity, kind, state, created);
CREATE INDEX approval_latest ON approval (entity, kind, created);

-- Several writers take numbers at once.
CREATE SEQUENCE audit_entry_number;
CREATE TABLE audit_entry (
    number bigint PRIMARY KEY, entity text NOT NULL, document bytea NOT NULL,
    hash bytea NOT NULL
);
CREATE INDEX audit_entry_act ON audit_entry (entity, number)
    WHERE json_extract(utf8(document), '$.action') <> 'payment';
CREATE INDEX audit_entry_entity ON audit_entry (entity, number);
CREATE INDEX audit_entry_subject ON audit_entry (entity, json_extract(utf8(document), '$.subject'), number)
    WHERE json_extract(utf8(document), '$.action') <> 'payment';

CREATE TABLE balance (
    entity text NOT NULL, currency text NOT NULL, receivable bigint NOT NULL, payable bigint NOT NULL,
    fees bigint NOT NULL, reserve bigint NOT NULL, cash bigint NOT NULL, PRIMARY KEY (entity, currency),
    CHECK (receivable + payable + fees + reserve + cash = 0)
);

CREATE TABLE booking_check (id bigint PRIMARY KEY CHECK (id = 1), until bigint NOT NULL);

CREATE TABLE card (
    purge_at bigint NOT NULL, payment text NOT NULL, sealed bytea NOT NULL, PRIMARY KEY (purge_at, payment)
);

CREATE TABLE checkout (id text PRIMARY KEY, document bytea NOT NULL);

CREATE TABLE checkout_payment (checkout text PRIMARY KEY, payment text NOT NULL);

CREATE TABLE clock_jump (
    clock text NOT NULL, began bigint NOT NULL, ended bigint NOT NULL, PRIMARY KEY (clock, began)
);

CREATE TABLE connector_message (
    payment text NOT NULL, number bigint NOT NULL, entity text NOT NULL, document bytea NOT NULL,
    PRIMARY KEY (payment, number)
);

CREATE TABLE delivery (
    message text NOT NULL, at bigint NOT NULL, milliseconds bigint NOT NULL, status bigint, fault text,
    PRIMARY KEY (message, at)
);

CREATE TABLE dispute (
    id text PRIMARY KEY, entity text NOT NULL, payment text NOT NULL, chargeback text, open boolean NOT NULL,
    document bytea NOT NULL
);
CREATE UNIQUE INDEX dispute_chargeback ON dispute (chargeback) WHERE chargeback IS NOT NULL;
CREATE INDEX dispute_entity ON dispute (entity, open, id);
CREATE UNIQUE INDEX dispute_open ON dispute (payment) WHERE open;

CREATE TABLE entity (
    id text PRIMARY KEY, name text NOT NULL, live boolean NOT NULL, settings text NOT NULL, created bigint NOT NULL,
    parent text REFERENCES entity (id), ahead bigint NOT NULL DEFAULT 0,
    level text NOT NULL DEFAULT 'merchant' CHECK (level IN ('psp', 'division', 'merchant', 'channel')),
    merchant text GENERATED ALWAYS AS (CASE level WHEN 'channel' THEN parent END) STORED
);
CREATE INDEX entity_parent ON entity (parent) WHERE parent IS NOT NULL;

CREATE TABLE entity_level (level text NOT NULL, parent text NOT NULL, PRIMARY KEY (level, parent));

CREATE TABLE evidence (id text PRIMARY KEY, dispute text NOT NULL, document bytea NOT NULL);
CREATE INDEX evidence_dispute ON evidence (dispute, id);

CREATE TABLE evidence_part (
    evidence text NOT NULL, part bigint NOT NULL, sealed bytea NOT NULL, PRIMARY KEY (evidence, part)
);

CREATE TABLE file_delivery (
    entity text NOT NULL, day text NOT NULL, due bigint, failures bigint NOT NULL DEFAULT 0, sent bigint,
    tried bigint, fault text, PRIMARY KEY (entity, day)
);
CREATE INDEX file_delivery_due ON file_delivery (entity, day, due) WHERE due IS NOT NULL;

CREATE TABLE file_push (
    entity text PRIMARY KEY REFERENCES entity (id), url text NOT NULL, sealed bytea NOT NULL, host_key text,
    ca text, changed bigint NOT NULL, version bigint NOT NULL, leased bigint NOT NULL DEFAULT 0, node text
);

CREATE TABLE form_build (build text PRIMARY KEY, seen bigint NOT NULL, seal bytea);

CREATE TABLE form_file (
    build text NOT NULL REFERENCES form_build (build) ON DELETE CASCADE, path text NOT NULL, content bytea NOT NULL,
    PRIMARY KEY (build, path)
);

CREATE TABLE ftp_user (
    name text PRIMARY KEY, entity text NOT NULL REFERENCES entity (id), salt bytea NOT NULL, hash bytea NOT NULL,
    created bigint NOT NULL, revoked bigint, session_reuse boolean NOT NULL DEFAULT true
);

CREATE TABLE fx_rate (
    source text NOT NULL, target text NOT NULL, day text NOT NULL, rate text NOT NULL,
    PRIMARY KEY (source, target, day)
);

CREATE TABLE health (id bigint PRIMARY KEY CHECK (id = 1), checked bigint NOT NULL);

CREATE TABLE message (
    id text PRIMARY KEY, entity text NOT NULL, queue text NOT NULL, what text NOT NULL, address text NOT NULL,
    due bigint, failures bigint NOT NULL DEFAULT 0, leased bigint NOT NULL DEFAULT 0, node text, webhook text,
    document bytea, owner text NOT NULL DEFAULT '', callback text, failed bigint,
    resubmitted bigint NOT NULL DEFAULT 0
);
CREATE INDEX message_callback ON message (callback, failed) WHERE callback IS NOT NULL;
CREATE INDEX message_due ON message (due) WHERE due IS NOT NULL;
CREATE INDEX message_owner ON message (owner, due) WHERE due IS NOT NULL;
CREATE INDEX message_owner_queue ON message (owner, queue, due) WHERE due IS NOT NULL;
CREATE INDEX message_webhook ON message (webhook) WHERE webhook IS NOT NULL;

CREATE TABLE page (id text PRIMARY KEY, entity text NOT NULL, payment text NOT NULL);

CREATE TABLE passkey_challenge (
    hash bytea PRIMARY KEY, purpose text NOT NULL CHECK (purpose IN ('add', 'sign-in', 'factor')), session bigint,
    name text NOT NULL, state bytea NOT NULL, created bigint NOT NULL
);
CREATE INDEX passkey_challenge_created ON passkey_challenge (created);
CREATE INDEX passkey_challenge_session ON passkey_challenge (session) WHERE session IS NOT NULL;

CREATE TABLE payment (entity text NOT NULL, id text NOT NULL, document bytea NOT NULL, PRIMARY KEY (entity, id));

CREATE TABLE payment_connector_id (
    connector_id text NOT NULL, entity text NOT NULL, payment text NOT NULL,
    PRIMARY KEY (connector_id, entity, payment)
);

CREATE TABLE payment_link (
    referenced text NOT NULL, id text NOT NULL, type text NOT NULL, hundredths bigint NOT NULL,
    approved boolean NOT NULL, entity text, PRIMARY KEY (referenced, id)
);

CREATE TABLE payment_reference (
    entity text NOT NULL, reference text NOT NULL, payment text NOT NULL, PRIMARY KEY (entity, reference, payment)
);

CREATE TABLE payment_search (
    entity text NOT NULL, term text NOT NULL, payment text NOT NULL, PRIMARY KEY (entity, term, payment)
);

CREATE TABLE policy_report (
    entity text NOT NULL, directive text NOT NULL, blocked text NOT NULL, document text NOT NULL,
    source text NOT NULL, enforced boolean NOT NULL, count bigint NOT NULL, first bigint NOT NULL,
    last bigint NOT NULL, PRIMARY KEY (entity, directive, blocked, document, source, enforced)
);

CREATE TABLE promise (
    payment text PRIMARY KEY, entity text NOT NULL, document bytea NOT NULL, sealed bytea, until bigint NOT NULL,
    card bytea
);
CREATE INDEX promise_until ON promise (until);

CREATE TABLE reconciliation_calendar (owner text PRIMARY KEY, closed text NOT NULL, filed text);

CREATE TABLE reconciliation_file (
    owner text NOT NULL, day text NOT NULL, records bigint NOT NULL, bytes bigint NOT NULL, PRIMARY KEY (owner, day)
);

CREATE TABLE reconciliation_record (
    owner text NOT NULL, day text NOT NULL, id text NOT NULL, account text NOT NULL, document bytea NOT NULL,
    merchant text NOT NULL DEFAULT '', filed bytea, unfiled boolean NOT NULL DEFAULT false, PRIMARY KEY (owner, day, id)
);
CREATE INDEX reconciliation_record_account ON reconciliation_record (account, day, id);
CREATE UNIQUE INDEX reconciliation_record_id ON reconciliation_record (id);
CREATE INDEX reconciliation_record_merchant ON reconciliation_record (merchant, day, id);

CREATE TABLE record_digest (id bigint PRIMARY KEY CHECK (id = 1), digest bytea NOT NULL, bound boolean NOT NULL);

CREATE TABLE registration (entity text NOT NULL, id text NOT NULL, document bytea NOT NULL, PRIMARY KEY (entity, id));

CREATE TABLE registration_account (
    registration text PRIMARY KEY, entity text NOT NULL, purge_at bigint, sealed bytea NOT NULL
);
CREATE INDEX registration_account_purge ON registration_account (purge_at) WHERE purge_at IS NOT NULL;

CREATE TABLE review (
    payment text PRIMARY KEY, entity text NOT NULL REFERENCES entity (id), since bigint NOT NULL, ended bigint,
    analyst text, claimed bigint
);
CREATE INDEX review_ended ON review (entity, since) WHERE ended IS NOT NULL;
CREATE INDEX review_open ON review (entity, since) WHERE ended IS NULL;

CREATE TABLE review_action (
    number bigint GENERATED BY DEFAULT AS IDENTITY PRIMARY KEY, payment text NOT NULL REFERENCES review (payment),
    at bigint NOT NULL, action text NOT NULL, analyst text NOT NULL, reason bigint, note text, processed bigint
);
CREATE INDEX review_action_payment ON review_action (payment, number);

CREATE TABLE review_callback (
    entity text PRIMARY KEY REFERENCES entity (id), sealed bytea NOT NULL, sends bigint NOT NULL,
    changed bigint NOT NULL
);

CREATE TABLE review_callback_audit (
    number bigint GENERATED BY DEFAULT AS IDENTITY PRIMARY KEY, at bigint NOT NULL, entity text NOT NULL,
    action text NOT NULL, actor text NOT NULL, message text, detail text
);
CREATE INDEX review_callback_audit_entity ON review_callback_audit (entity, number);

CREATE TABLE risk_change (
    id bigint GENERATED BY DEFAULT AS IDENTITY PRIMARY KEY, entity text NOT NULL REFERENCES entity (id),
    kind text NOT NULL, action text NOT NULL, subject text NOT NULL, reason text NOT NULL, author text NOT NULL,
    at bigint NOT NULL
);
CREATE INDEX risk_change_entity ON risk_change (entity, kind, id);

CREATE TABLE risk_counter (
    owner bigint NOT NULL, name bytea NOT NULL, purge_at bigint NOT NULL, value bytea NOT NULL,
    PRIMARY KEY (owner, name)
);

CREATE TABLE risk_counter_owner (
    id bigint GENERATED BY DEFAULT AS IDENTITY PRIMARY KEY, entity text NOT NULL,
    kind text NOT NULL CHECK (kind IN ('counter', 'account')), counters bigint NOT NULL DEFAULT 0,
    UNIQUE (entity, kind)
);

CREATE TABLE risk_list (
    entity text NOT NULL REFERENCES entity (id), key text NOT NULL, value text NOT NULL,
    list text NOT NULL CHECK (list IN ('allow', 'review', 'deny')), reason text NOT NULL, author text NOT NULL,
    created bigint NOT NULL, expires bigint, source text NOT NULL DEFAULT 'any' CHECK (source IN ('server', 'any')),
    PRIMARY KEY (entity, key, value, list)
);

CREATE TABLE risk_version (
    entity text NOT NULL REFERENCES entity (id), version text NOT NULL, text text NOT NULL, author text NOT NULL,
    created bigint NOT NULL, PRIMARY KEY (entity, version)
);

CREATE TABLE risk_entity (
    entity text PRIMARY KEY REFERENCES entity (id), active text, shadow text, entries bigint NOT NULL DEFAULT 0,
    FOREIGN KEY (entity, active) REFERENCES risk_version (entity, version),
    FOREIGN KEY (entity, shadow) REFERENCES risk_version (entity, version)
);

CREATE TABLE schedule (
    id text PRIMARY KEY, entity text NOT NULL, registration text NOT NULL, due bigint, document bytea NOT NULL
);
CREATE INDEX schedule_due ON schedule (due) WHERE due IS NOT NULL;
CREATE INDEX schedule_ended ON schedule (entity, id) WHERE due IS NULL;
CREATE INDEX schedule_entity ON schedule (entity, due) WHERE due IS NOT NULL;
CREATE INDEX schedule_registration ON schedule (registration);

CREATE TABLE schedule_run (
    schedule text NOT NULL, occurrence bigint NOT NULL, attempt bigint NOT NULL, document bytea NOT NULL,
    PRIMARY KEY (schedule, occurrence, attempt)
);

CREATE TABLE schedule_step (id text PRIMARY KEY, schedule text NOT NULL, document bytea NOT NULL);
CREATE INDEX schedule_step_schedule ON schedule_step (schedule);

CREATE TABLE sealed_key (name text PRIMARY KEY, sealed bytea NOT NULL);

CREATE TABLE settlement_batch (
    entity text NOT NULL, day text NOT NULL, currency text NOT NULL, document bytea NOT NULL,
    merchant text NOT NULL DEFAULT '', PRIMARY KEY (entity, day, currency)
);
CREATE INDEX settlement_batch_merchant ON settlement_batch (merchant, day, entity, currency);

CREATE TABLE settlement_file (
    institute text NOT NULL, hash bytea NOT NULL, document bytea NOT NULL, PRIMARY KEY (institute, hash)
);

CREATE TABLE settlement_line (
    institute text NOT NULL, line bytea NOT NULL, content bytea NOT NULL, record text NOT NULL,
    PRIMARY KEY (institute, line)
);

CREATE TABLE settlement_match (
    payment text NOT NULL, record text NOT NULL, hundredths bigint NOT NULL, PRIMARY KEY (payment, record)
);

CREATE TABLE settlement_postponed (entity text NOT NULL, number bigint NOT NULL, PRIMARY KEY (entity, number));

CREATE TABLE settlement_state (entity text PRIMARY KEY, version bigint NOT NULL, document bytea NOT NULL);

CREATE TABLE settlement_terms (entity text PRIMARY KEY, document bytea NOT NULL);

CREATE TABLE settlement_unmatched (entity text NOT NULL, record text NOT NULL, PRIMARY KEY (entity, record));
CREATE INDEX settlement_unmatched_record ON settlement_unmatched (record);

CREATE TABLE standing_instruction (
    entity text NOT NULL, initial text NOT NULL, registration text, document bytea NOT NULL,
    PRIMARY KEY (entity, initial)
);
CREATE INDEX standing_instruction_registration ON standing_instruction (registration) WHERE registration IS NOT NULL;

CREATE TABLE store_seal (id bigint PRIMARY KEY CHECK (id = 1), sums bytea NOT NULL);

CREATE TABLE timer (
    kind text NOT NULL, subject text NOT NULL, entity text NOT NULL, since bigint NOT NULL, detail text,
    attempt text, waits bigint NOT NULL DEFAULT 0, PRIMARY KEY (kind, subject)
);
CREATE INDEX timer_since ON timer (kind, since) WHERE waits = 0;

CREATE TABLE token (
    user_id text PRIMARY KEY, entity text NOT NULL REFERENCES entity (id), hash bytea NOT NULL, label text NOT NULL,
    created bigint NOT NULL, revoked bigint, keyed boolean NOT NULL DEFAULT false, expires bigint,
    networks text NOT NULL DEFAULT '', scopes text NOT NULL DEFAULT 'read,pay,refund,admin', used bigint
);

CREATE TABLE unmasked_index (entity text NOT NULL, payment text NOT NULL, PRIMARY KEY (entity, payment));

CREATE TABLE "user" (
    id text PRIMARY KEY, mail text NOT NULL UNIQUE, name text NOT NULL,
    state text NOT NULL CHECK (state IN ('invited', 'active', 'disabled')), created bigint NOT NULL,
    salt bytea NOT NULL DEFAULT ''::bytea, hash bytea NOT NULL DEFAULT ''::bytea,
    sealed bytea NOT NULL DEFAULT ''::bytea, step bigint, recovery bytea NOT NULL DEFAULT ''::bytea,
    failures bigint NOT NULL DEFAULT 0, failed bigint, epoch bigint NOT NULL DEFAULT 0
);

CREATE TABLE passkey (
    id text PRIMARY KEY, "user" text NOT NULL REFERENCES "user" (id), credential bytea NOT NULL UNIQUE,
    host text NOT NULL, name text NOT NULL, key bytea NOT NULL, created bigint NOT NULL, used bigint
);
CREATE INDEX passkey_user ON passkey ("user");

CREATE TABLE payment_comment (
    payment text NOT NULL, number bigint NOT NULL, entity text NOT NULL,
    "user" text NOT NULL REFERENCES "user" (id), written bigint NOT NULL, key text NOT NULL, text text NOT NULL,
    PRIMARY KEY (payment, number), UNIQUE (payment, key)
);

CREATE TABLE saved_view (
    "user" text NOT NULL REFERENCES "user" (id), name text NOT NULL, query text NOT NULL, PRIMARY KEY ("user", name)
);

CREATE TABLE user_invitation (
    hash bytea PRIMARY KEY, "user" text NOT NULL REFERENCES "user" (id), created bigint NOT NULL,
    expires bigint NOT NULL, used bigint, inviter text REFERENCES "user" (id)
);
CREATE INDEX user_invitation_inviter ON user_invitation (inviter, used);
CREATE INDEX user_invitation_user ON user_invitation ("user", used);

CREATE TABLE user_role (
    "user" text NOT NULL REFERENCES "user" (id), role text NOT NULL, reach text NOT NULL,
    PRIMARY KEY ("user", role, reach)
);

CREATE TABLE user_session (
    number bigint GENERATED BY DEFAULT AS IDENTITY PRIMARY KEY, hash bytea NOT NULL UNIQUE,
    "user" text NOT NULL REFERENCES "user" (id), created bigint NOT NULL, used bigint NOT NULL, confirmed bigint,
    ended bigint, address text NOT NULL, agent text NOT NULL, factor bigint
);
CREATE INDEX user_session_user ON user_session ("user", ended);

CREATE TABLE vault_key (
    id bytea PRIMARY KEY, created bigint NOT NULL, loaded bigint NOT NULL DEFAULT 0, retired bigint
);

-- `changed` is the time of the last change in milliseconds since 1970, by the clock of the database: each node reads what
-- the others have counted.
CREATE TABLE velocity (
    kind bigint NOT NULL, name bytea NOT NULL, until bigint NOT NULL, changed bigint NOT NULL DEFAULT 0,
    PRIMARY KEY (kind, name)
);
CREATE INDEX velocity_until ON velocity (until);
CREATE INDEX velocity_changed ON velocity (changed);

CREATE TABLE wallet_key (
    entity text NOT NULL REFERENCES entity (id), id text NOT NULL, public bytea NOT NULL, sealed bytea NOT NULL,
    created bigint NOT NULL, retired bigint, PRIMARY KEY (entity, id)
);

CREATE TABLE wallet_token (
    until bigint NOT NULL, entity text NOT NULL, id text NOT NULL, PRIMARY KEY (until, entity, id)
);

CREATE TABLE webhook (
    id text PRIMARY KEY, entity text NOT NULL REFERENCES entity (id), url text NOT NULL, sealed bytea NOT NULL,
    types text NOT NULL, without_customer boolean NOT NULL, wrapped boolean NOT NULL, active boolean NOT NULL,
    created bigint NOT NULL, next bytea
);
CREATE INDEX webhook_entity ON webhook (entity);
INSERT INTO entity_level (level, parent) VALUES
    ('channel', 'merchant'), ('division', 'psp'), ('merchant', 'division'), ('merchant', 'psp');

-- The number of changes that every node has to load: entities, tokens, rules, keys. A node that finds another number
-- loads them again. Payments change none of them, so the row is quiet.
CREATE TABLE revision (id bigint PRIMARY KEY CHECK (id = 1), number bigint NOT NULL);
INSERT INTO revision (id, number) VALUES (1, 0);
CREATE FUNCTION count_revision() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
    UPDATE revision SET number = number + 1;
    RETURN NULL;
END $$;
CREATE TRIGGER entity_revision AFTER INSERT OR UPDATE OR DELETE ON entity EXECUTE FUNCTION count_revision();
-- The time of the latest use of a token is no change of it.
CREATE TRIGGER token_revision AFTER INSERT OR DELETE OR UPDATE OF hash, revoked, keyed, expires, networks, scopes ON token
    EXECUTE FUNCTION count_revision();
CREATE TRIGGER risk_entity_revision AFTER INSERT OR DELETE OR UPDATE OF active, shadow ON risk_entity
    EXECUTE FUNCTION count_revision();
-- Each node notes in `loaded` what it has, which is no change for the others.
CREATE TRIGGER vault_key_revision AFTER INSERT OR DELETE OR UPDATE OF created, retired ON vault_key
    EXECUTE FUNCTION count_revision();

-- The number of each writer's last commit, which tells whether a commit was done whose answer was lost. A writer is a
-- thread of a start of a node.
CREATE TABLE commit_mark (writer bytea PRIMARY KEY, number bigint NOT NULL, began bigint NOT NULL);
CREATE INDEX commit_mark_began ON commit_mark (began);

-- The clock of the database in milliseconds since 1970, as it is now and not as the transaction began.
CREATE FUNCTION clock_milliseconds() RETURNS bigint LANGUAGE sql VOLATILE
    RETURN CAST(extract(epoch FROM clock_timestamp()) * 1000 AS bigint);

-- The time of the last change of a count, which the statements do not set.
CREATE FUNCTION date_change() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
    NEW.changed = clock_milliseconds();
    RETURN NEW;
END $$;
CREATE TRIGGER velocity_changed BEFORE INSERT OR UPDATE ON velocity FOR EACH ROW EXECUTE FUNCTION date_change();

-- Leases: each is held by one process at a time, until a time by the clock of the database. A holder is a start of a
-- node.
CREATE TABLE lease (work text PRIMARY KEY, holder text NOT NULL, until bigint NOT NULL);
CREATE INDEX lease_holder ON lease (holder);

-- Rules that a faulty program cannot break either.

-- Refuses a statement with the text of the trigger.
CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
    RAISE EXCEPTION '%', TG_ARGV[0];
END $$;

CREATE TRIGGER audit_entry_stays BEFORE DELETE ON audit_entry FOR EACH ROW
    EXECUTE FUNCTION refuse('an entry of the audit log is never deleted');
CREATE TRIGGER audit_entry_update BEFORE UPDATE ON audit_entry FOR EACH ROW
    EXECUTE FUNCTION refuse('an entry of the audit log never changes');
CREATE TRIGGER checkout_payment_update BEFORE UPDATE ON checkout_payment FOR EACH ROW WHEN (NEW.payment <> OLD.payment)
    EXECUTE FUNCTION refuse('a checkout has a second pending or approved payment');
CREATE TRIGGER payment_stays BEFORE DELETE ON payment FOR EACH ROW
    EXECUTE FUNCTION refuse('a payment is never deleted');
CREATE TRIGGER payment_link_stays BEFORE DELETE ON payment_link FOR EACH ROW
    EXECUTE FUNCTION refuse('a follow-up payment is never deleted');

-- True if a payment with this result may get another one.
CREATE FUNCTION is_open_result(result text) RETURNS boolean LANGUAGE sql IMMUTABLE PARALLEL SAFE
    RETURN result LIKE '000.200.%' OR result LIKE '800.400.5%' OR result = '100.400.500';

CREATE TRIGGER payment_update BEFORE UPDATE ON payment FOR EACH ROW WHEN (
    NEW.id <> OLD.id OR NEW.entity <> OLD.entity
    OR json_extract(utf8(NEW.document), '$.amount')
        IS DISTINCT FROM json_extract(utf8(OLD.document), '$.amount')
    OR (json_extract(utf8(NEW.document), '$.result')
            IS DISTINCT FROM json_extract(utf8(OLD.document), '$.result')
        AND NOT is_open_result(json_extract(utf8(OLD.document), '$.result')))
) EXECUTE FUNCTION refuse('the amount and the final result of a payment never change');

-- Records sealed under a key of the vault that is retired are refused. The arguments name the columns.
CREATE FUNCTION refuse_retired_key() RETURNS trigger LANGUAGE plpgsql AS $$ DECLARE
    name text;
    sealed bytea;
BEGIN
    FOREACH name IN ARRAY TG_ARGV LOOP
        EXECUTE format('SELECT ($1).%I', name) INTO sealed USING NEW;
        IF EXISTS (SELECT 1 FROM vault_key WHERE id = substr(sealed, 2, 4) AND retired IS NOT NULL) THEN
            RAISE EXCEPTION 'a record is sealed under a retired key of the vault';
        END IF;
    END LOOP;
    RETURN NEW;
END $$;

CREATE TRIGGER card_key BEFORE INSERT ON card FOR EACH ROW EXECUTE FUNCTION refuse_retired_key('sealed');
CREATE TRIGGER file_push_key BEFORE INSERT OR UPDATE OF sealed ON file_push FOR EACH ROW
    EXECUTE FUNCTION refuse_retired_key('sealed');
CREATE TRIGGER promise_key BEFORE INSERT ON promise FOR EACH ROW EXECUTE FUNCTION refuse_retired_key('sealed', 'card');
CREATE TRIGGER registration_account_key BEFORE INSERT ON registration_account FOR EACH ROW
    EXECUTE FUNCTION refuse_retired_key('sealed');
CREATE TRIGGER review_callback_key BEFORE INSERT OR UPDATE OF sealed ON review_callback FOR EACH ROW
    EXECUTE FUNCTION refuse_retired_key('sealed');
CREATE TRIGGER user_key BEFORE INSERT OR UPDATE OF sealed ON "user" FOR EACH ROW
    EXECUTE FUNCTION refuse_retired_key('sealed');
CREATE TRIGGER wallet_key_key BEFORE INSERT ON wallet_key FOR EACH ROW EXECUTE FUNCTION refuse_retired_key('sealed');
CREATE TRIGGER webhook_key BEFORE INSERT ON webhook FOR EACH ROW EXECUTE FUNCTION refuse_retired_key('sealed');
CREATE TRIGGER webhook_next_key BEFORE UPDATE OF next ON webhook FOR EACH ROW
    EXECUTE FUNCTION refuse_retired_key('next');

CREATE VIEW entity_fault AS SELECT entity.id, entity.parent FROM entity
    LEFT JOIN entity AS above ON above.id = entity.parent
    WHERE (entity.level = 'channel' AND entity.parent IS NULL)
    OR (entity.parent IS NOT NULL
        AND NOT EXISTS (SELECT 1 FROM entity_level WHERE level = entity.level AND parent = above.level));

CREATE FUNCTION check_entity_tree() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
    IF EXISTS (SELECT 1 FROM entity_fault WHERE id = NEW.id OR parent = NEW.id) THEN
        RAISE EXCEPTION 'an entity stands below one of a higher level';
    END IF;
    IF EXISTS (SELECT 1 FROM entity WHERE id = NEW.parent AND live <> NEW.live) THEN
        RAISE EXCEPTION 'live and sandbox entities are in trees of their own';
    END IF;
    RETURN NULL;
END $$;
CREATE TRIGGER entity_tree_insert AFTER INSERT ON entity FOR EACH ROW EXECUTE FUNCTION check_entity_tree();
CREATE TRIGGER entity_tree_update AFTER UPDATE ON entity FOR EACH ROW
    WHEN (NEW.id <> OLD.id OR NEW.level <> OLD.level OR NEW.parent IS DISTINCT FROM OLD.parent)
    EXECUTE FUNCTION check_entity_tree();

CREATE VIEW payment_link_fault AS SELECT link.referenced, link.id FROM payment_link AS link WHERE
    link.hundredths < 0
    OR link.type NOT IN ('CP', 'RV', 'RF', 'CB', 'CR')
    OR coalesce(
        (SELECT CAST(replace(json_extract(utf8(document), '$.amount[0]'), '.', '') AS bigint) FROM payment
            WHERE entity = link.entity AND id = link.referenced), -1)
        < greatest(CASE WHEN link.type = 'CB' OR link.type = 'CR' THEN link.hundredths ELSE 0 END,
            (SELECT coalesce(sum(hundredths), 0) FROM payment_link
                WHERE referenced = link.referenced AND approved AND type IN ('CP', 'RF')))
    OR (link.type = 'CR' AND (SELECT json_extract(utf8(document), '$.payment_type') FROM payment
            WHERE entity = link.entity AND id = link.referenced) IS DISTINCT FROM 'CB')
    OR (SELECT count(*) FILTER (WHERE type = 'RV') > 1 OR count(*) FILTER (WHERE type = 'CB') > 1
            OR count(*) FILTER (WHERE type = 'CR') > 1
            OR (count(*) FILTER (WHERE type = 'RV') = 1 AND count(*) FILTER (WHERE type IN ('CP', 'RF')) > 0)
        FROM payment_link WHERE referenced = link.referenced AND approved);

CREATE FUNCTION check_payment_link() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
    IF EXISTS (SELECT 1 FROM payment_link_fault WHERE referenced = NEW.referenced AND id = NEW.id) THEN
        RAISE EXCEPTION 'the follow-up payments of a payment do not fit it';
    END IF;
    RETURN NULL;
END $$;
CREATE TRIGGER payment_link_check AFTER INSERT OR UPDATE ON payment_link FOR EACH ROW WHEN (NEW.approved)
    EXECUTE FUNCTION check_payment_link();

-- The number of entries in an entity's lists, so that a limit needs no count of them.
CREATE FUNCTION count_risk_list() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
    IF TG_OP = 'INSERT' THEN
        INSERT INTO risk_entity (entity, entries) VALUES (NEW.entity, 1)
            ON CONFLICT (entity) DO UPDATE SET entries = risk_entity.entries + 1;
    ELSE
        UPDATE risk_entity SET entries = entries - 1 WHERE entity = OLD.entity;
    END IF;
    RETURN NULL;
END $$;
CREATE TRIGGER risk_list_count AFTER INSERT OR DELETE ON risk_list FOR EACH ROW EXECUTE FUNCTION count_risk_list();
