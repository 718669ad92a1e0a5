-- Schedules that have ended, newest first. Those that are active are found by `schedule_entity`.
CREATE INDEX schedule_ended ON schedule (entity, id) WHERE due IS NULL;
