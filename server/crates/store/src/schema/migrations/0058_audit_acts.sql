-- Acts of the audit log, newest first: all entries of an entity except those of payments, which are most of its entries.
-- The second index leads to the acts on one thing, and to the act before another one on the same thing.
CREATE INDEX audit_entry_act ON audit_entry (entity, number)
    WHERE json_extract(CAST(document AS TEXT), '$.action') <> 'payment';
CREATE INDEX audit_entry_subject ON audit_entry (entity, json_extract(CAST(document AS TEXT), '$.subject'), number)
    WHERE json_extract(CAST(document AS TEXT), '$.action') <> 'payment';
