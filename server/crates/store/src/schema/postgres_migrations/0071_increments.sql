-- An approved increment (PA) of a preauthorization raises the amount that captures can take. Captures can exceed it by
-- what they declare as overcapture, together by a fifth. A final capture is the last one of its preauthorization.
ALTER TABLE payment_link ADD COLUMN overcapture bigint NOT NULL DEFAULT 0;
ALTER TABLE payment_link ADD COLUMN is_final boolean NOT NULL DEFAULT FALSE;
CREATE OR REPLACE VIEW payment_link_fault AS SELECT link.referenced, link.id FROM payment_link AS link WHERE
    link.hundredths < 0
    OR link.type NOT IN ('CP', 'RV', 'RF', 'CB', 'CR', 'PA')
    OR coalesce(
        (SELECT CAST(replace(json_extract(utf8(document), '$.amount[0]'), '.', '') AS bigint) FROM payment
            WHERE entity = link.entity AND id = link.referenced), -1)
        + (SELECT coalesce(sum(CASE type WHEN 'PA' THEN hundredths ELSE overcapture END), 0) FROM payment_link
            WHERE referenced = link.referenced AND approved AND type IN ('PA', 'CP'))
        < greatest(CASE WHEN link.type = 'CB' OR link.type = 'CR' THEN link.hundredths ELSE 0 END,
            (SELECT coalesce(sum(hundredths), 0) FROM payment_link
                WHERE referenced = link.referenced AND approved AND type IN ('CP', 'RF')))
    OR link.overcapture < 0 OR link.overcapture > link.hundredths
    OR 5 * (SELECT coalesce(sum(hundredths), 0) FROM payment_link
            WHERE referenced = link.referenced AND approved AND type = 'CP')
        > 6 * (coalesce(
        (SELECT CAST(replace(json_extract(utf8(document), '$.amount[0]'), '.', '') AS bigint) FROM payment
            WHERE entity = link.entity AND id = link.referenced), -1)
        + (SELECT coalesce(sum(hundredths), 0) FROM payment_link
            WHERE referenced = link.referenced AND approved AND type = 'PA'))
    OR (link.type = 'CR' AND (SELECT json_extract(utf8(document), '$.payment_type') FROM payment
            WHERE entity = link.entity AND id = link.referenced) IS DISTINCT FROM 'CB')
    OR (link.type = 'PA' AND NOT EXISTS (SELECT 1 FROM payment WHERE entity = link.entity AND id = link.referenced
            AND json_extract(utf8(document), '$.payment_type') = 'PA'
            AND json_extract(utf8(document), '$.referenced') IS NULL))
    OR (SELECT count(*) FILTER (WHERE type = 'RV') > 1 OR count(*) FILTER (WHERE type = 'CB') > 1
            OR count(*) FILTER (WHERE type = 'CR') > 1 OR count(*) FILTER (WHERE is_final) > 1
            OR (count(*) FILTER (WHERE type = 'RV') = 1 AND count(*) FILTER (WHERE type IN ('CP', 'RF')) > 0)
        FROM payment_link WHERE referenced = link.referenced AND approved);
