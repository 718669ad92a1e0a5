-- The due schedules of each entity, so that no entity waits for all runs of another one.
DROP INDEX schedule_entity;
CREATE INDEX schedule_entity ON schedule (entity, due) WHERE due IS NOT NULL;
