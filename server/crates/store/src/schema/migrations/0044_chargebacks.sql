-- Reversals of chargebacks (CR): they refer to a chargeback (CB), one to each, with at most its amount. The other constraints
-- are as before. The triggers of `payment_link` use the view by its name.
DROP VIEW payment_link_fault;
CREATE VIEW payment_link_fault AS SELECT link.referenced, link.id FROM payment_link AS link WHERE
    typeof(link.hundredths) <> 'integer' OR link.hundredths < 0
    OR NOT (link.type = 'CP' OR link.type = 'RV' OR link.type = 'RF' OR link.type = 'CB' OR link.type = 'CR')
    OR coalesce(
        (SELECT CAST(replace(json_extract(CAST(document AS TEXT), '$.amount[0]'), '.', '') AS INTEGER) FROM payment
            WHERE entity = link.entity AND id = link.referenced), -1)
        < max(CASE WHEN link.type = 'CB' OR link.type = 'CR' THEN link.hundredths ELSE 0 END,
            (SELECT total(hundredths) FROM payment_link
                WHERE referenced = link.referenced AND approved AND type IN ('CP', 'RF')))
    OR (link.type = 'CR' AND (SELECT json_extract(CAST(document AS TEXT), '$.payment_type') FROM payment
            WHERE entity = link.entity AND id = link.referenced) IS NOT 'CB')
    OR (SELECT count(*) FILTER (WHERE type = 'RV') > 1 OR count(*) FILTER (WHERE type = 'CB') > 1
            OR count(*) FILTER (WHERE type = 'CR') > 1
            OR (count(*) FILTER (WHERE type = 'RV') = 1 AND count(*) FILTER (WHERE type IN ('CP', 'RF')) > 0)
        FROM payment_link WHERE referenced = link.referenced AND approved);

-- Disputes: at most one open dispute of a payment, and one dispute of a chargeback.
CREATE TABLE dispute (
    id TEXT PRIMARY KEY, entity TEXT NOT NULL, payment TEXT NOT NULL, chargeback TEXT, open INTEGER NOT NULL,
    document BLOB NOT NULL
) WITHOUT ROWID;
CREATE UNIQUE INDEX dispute_open ON dispute (payment) WHERE open;
CREATE UNIQUE INDEX dispute_chargeback ON dispute (chargeback) WHERE chargeback IS NOT NULL;
CREATE INDEX dispute_entity ON dispute (entity, open, id);
-- Evidence files, in sealed parts, so that a part is resealed quickly under another key.
CREATE TABLE evidence (
    id TEXT PRIMARY KEY, dispute TEXT NOT NULL, document BLOB NOT NULL
) WITHOUT ROWID;
CREATE INDEX evidence_dispute ON evidence (dispute, id);
CREATE TABLE evidence_part (
    evidence TEXT NOT NULL, part INTEGER NOT NULL, sealed BLOB NOT NULL, PRIMARY KEY (evidence, part)
);
