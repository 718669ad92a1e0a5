-- Search for payments by a term: 'd' with the last four digits of the account, 'm' with the customer's e-mail address in
-- lower case.
CREATE TABLE payment_search (
    entity TEXT NOT NULL, term TEXT NOT NULL, payment TEXT NOT NULL, PRIMARY KEY (entity, term, payment)
) WITHOUT ROWID;
INSERT INTO payment_search (entity, term, payment)
    SELECT entity, 'd' || digits, id FROM (
        SELECT entity, id, coalesce(json_extract(text, '$.account.card.last4'), json_extract(text, '$.account.bank.last4'))
            AS digits
        FROM (SELECT entity, id, CAST(document AS TEXT) AS text FROM payment)
    ) WHERE digits IS NOT NULL ORDER BY 1, 2, 3;
INSERT INTO payment_search (entity, term, payment)
    SELECT entity, 'm' || lower(mail), id FROM (
        SELECT entity, id, json_extract(CAST(document AS TEXT), '$.parameters."customer.email"') AS mail FROM payment
    ) WHERE mail IS NOT NULL ORDER BY 1, 2, 3;
