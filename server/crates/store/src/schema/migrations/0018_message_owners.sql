-- The owner of a message, for a fair order among owners: an entity that is not a channel, with its channels.
ALTER TABLE message ADD COLUMN owner TEXT NOT NULL DEFAULT '';
UPDATE message SET owner = coalesce((SELECT merchant FROM entity WHERE entity.id = message.entity), entity);
DROP INDEX message_queue;
CREATE INDEX message_owner ON message (owner, due) WHERE due IS NOT NULL;
CREATE INDEX message_owner_queue ON message (owner, queue, due) WHERE due IS NOT NULL;
