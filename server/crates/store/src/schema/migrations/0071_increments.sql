-- An approved increment (PA) of a preauthorization raises the amount that captures can take. Captures can exceed it by
-- what they declare as overcapture, together by a fifth. A final capture is the last one of its preauthorization.
ALTER TABLE payment_link ADD COLUMN overcapture INTEGER NOT NULL DEFAULT 0;
ALTER TABLE payment_link ADD COLUMN is_final INTEGER NOT NULL DEFAULT 0;
DROP VIEW IF EXISTS payment_link_fault;
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
