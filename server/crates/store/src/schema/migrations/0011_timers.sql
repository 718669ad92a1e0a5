-- Timers: actions that are due a certain time after their start. Payments that await their shopper get one now.
CREATE TABLE timer (
    kind TEXT NOT NULL, subject TEXT NOT NULL, entity TEXT NOT NULL, since INTEGER NOT NULL,
    PRIMARY KEY (kind, subject)
) WITHOUT ROWID;
CREATE INDEX timer_since ON timer (kind, since);
INSERT INTO timer (kind, subject, entity, since)
    SELECT 'end', id, entity, CAST(unixepoch('subsec') * 1000 AS INTEGER)
    FROM (SELECT id, entity, CAST(document AS TEXT) AS text FROM payment)
    WHERE json_extract(text, '$.result') LIKE '000.200.%' AND json_extract(text, '$.redirect') IS NOT NULL;
