-- A reminder belongs to one attempt, and is paused while that attempt is pending.
ALTER TABLE timer ADD COLUMN attempt TEXT;
ALTER TABLE timer ADD COLUMN waits INTEGER NOT NULL DEFAULT 0;
UPDATE timer SET attempt = (
    SELECT coalesce(json_extract(text, '$.attempt'), json_extract(text, '$.registration'))
    FROM (SELECT CAST(document AS TEXT) AS text FROM checkout WHERE checkout.id = timer.subject)
) WHERE kind = 'remind';
UPDATE timer SET waits = 1 WHERE kind = 'remind'
    AND EXISTS (SELECT 1 FROM timer AS ending WHERE ending.kind = 'end' AND ending.subject = timer.attempt);
DROP INDEX timer_since;
CREATE INDEX timer_since ON timer (kind, since) WHERE waits = 0;
