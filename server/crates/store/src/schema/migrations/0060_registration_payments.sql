-- Search for payments by the registration that they created or used: 'r' with its id.
INSERT OR IGNORE INTO payment_search (entity, term, payment)
    SELECT entity, 'r' || registration, id FROM (
        SELECT entity, id, json_extract(CAST(document AS TEXT), '$.registration') AS registration FROM payment
    ) WHERE registration IS NOT NULL ORDER BY 1, 2, 3;
