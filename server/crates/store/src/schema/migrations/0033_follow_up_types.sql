-- The same constraints as before, evaluated faster: SQLite makes a temporary table for a list of more than two values
-- after IN, at every follow-up payment. The triggers of `payment_link` use the view by its name.
DROP VIEW payment_link_fault;
CREATE VIEW payment_link_fault AS SELECT link.referenced, link.id FROM payment_link AS link WHERE
    typeof(link.hundredths) <> 'integer' OR link.hundredths < 0
    OR NOT (link.type = 'CP' OR link.type = 'RV' OR link.type = 'RF' OR link.type = 'CB')
    OR coalesce(
        (SELECT CAST(replace(json_extract(CAST(document AS TEXT), '$.amount[0]'), '.', '') AS INTEGER) FROM payment
            WHERE entity = link.entity AND id = link.referenced), -1)
        < max(CASE link.type WHEN 'CB' THEN link.hundredths ELSE 0 END,
            (SELECT total(hundredths) FROM payment_link
                WHERE referenced = link.referenced AND approved AND type IN ('CP', 'RF')))
    OR (SELECT count(*) FILTER (WHERE type = 'RV') > 1 OR count(*) FILTER (WHERE type = 'CB') > 1
            OR (count(*) FILTER (WHERE type = 'RV') = 1 AND count(*) FILTER (WHERE type IN ('CP', 'RF')) > 0)
        FROM payment_link WHERE referenced = link.referenced AND approved);
