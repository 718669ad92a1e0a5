-- A second line of defence below the rules of the domain: the sums of captures and refunds, one payment per checkout,
-- and payments that stay. A write that breaks one of these is undone as a whole. Existing follow-up payments get the
-- entity of the payment that they refer to.
ALTER TABLE payment_link ADD COLUMN entity TEXT;
CREATE INDEX payment_by_id ON payment (id);
UPDATE payment_link SET entity = (SELECT payment.entity FROM payment WHERE payment.id = payment_link.referenced);
DROP INDEX payment_by_id;

CREATE VIEW payment_link_fault AS SELECT link.referenced, link.id FROM payment_link AS link WHERE
    typeof(link.hundredths) <> 'integer' OR link.hundredths < 0
    OR link.type NOT IN ('CP', 'RV', 'RF', 'CB')
    OR coalesce(
        (SELECT CAST(replace(json_extract(CAST(document AS TEXT), '$.amount[0]'), '.', '') AS INTEGER) FROM payment
            WHERE entity = link.entity AND id = link.referenced), -1)
        < max(CASE link.type WHEN 'CB' THEN link.hundredths ELSE 0 END,
            (SELECT total(hundredths) FROM payment_link
                WHERE referenced = link.referenced AND approved AND type IN ('CP', 'RF')))
    OR (SELECT count(*) FILTER (WHERE type = 'RV') > 1 OR count(*) FILTER (WHERE type = 'CB') > 1
            OR (count(*) FILTER (WHERE type = 'RV') = 1 AND count(*) FILTER (WHERE type IN ('CP', 'RF')) > 0)
        FROM payment_link WHERE referenced = link.referenced AND approved);
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
INSERT INTO checkout_payment (checkout, payment)
    SELECT id, json_extract(text, '$.attempt') FROM (SELECT id, CAST(document AS TEXT) AS text FROM checkout)
    WHERE json_extract(text, '$.paid') AND json_extract(text, '$.attempt') IS NOT NULL;
CREATE TRIGGER checkout_payment_update BEFORE UPDATE ON checkout_payment WHEN NEW.payment <> OLD.payment BEGIN
    SELECT RAISE(ABORT, 'a checkout has a second pending or approved payment');
END;

CREATE TRIGGER payment_stays BEFORE DELETE ON payment BEGIN
    SELECT RAISE(ABORT, 'a payment is never deleted');
END;
CREATE TRIGGER payment_update BEFORE UPDATE ON payment WHEN
    NEW.id <> OLD.id OR NEW.entity <> OLD.entity
    OR json_extract(CAST(NEW.document AS TEXT), '$.amount') IS NOT json_extract(CAST(OLD.document AS TEXT), '$.amount')
    OR (json_extract(CAST(NEW.document AS TEXT), '$.result') IS NOT json_extract(CAST(OLD.document AS TEXT), '$.result')
        AND json_extract(CAST(OLD.document AS TEXT), '$.result') NOT GLOB '000.200.*'
        AND json_extract(CAST(OLD.document AS TEXT), '$.result') NOT GLOB '800.400.5*'
        AND json_extract(CAST(OLD.document AS TEXT), '$.result') <> '100.400.500')
BEGIN
    SELECT RAISE(ABORT, 'the amount and the final result of a payment never change');
END;
