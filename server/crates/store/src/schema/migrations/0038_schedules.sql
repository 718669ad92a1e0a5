-- Schedules, the requests of their chains, and their runs. `due` is by the machine's clock, and NULL once a schedule has ended.
-- A run has one row for each attempt, so that no attempt is made twice.
CREATE TABLE schedule (
    id TEXT PRIMARY KEY, entity TEXT NOT NULL, registration TEXT NOT NULL, due INTEGER, document BLOB NOT NULL
) WITHOUT ROWID;
CREATE INDEX schedule_due ON schedule (due) WHERE due IS NOT NULL;
CREATE INDEX schedule_entity ON schedule (entity) WHERE due IS NOT NULL;
CREATE INDEX schedule_registration ON schedule (registration);
CREATE TABLE schedule_step (
    id TEXT PRIMARY KEY, schedule TEXT NOT NULL, document BLOB NOT NULL
) WITHOUT ROWID;
CREATE INDEX schedule_step_schedule ON schedule_step (schedule);
CREATE TABLE schedule_run (
    schedule TEXT NOT NULL, occurrence INTEGER NOT NULL, attempt INTEGER NOT NULL, document BLOB NOT NULL,
    PRIMARY KEY (schedule, occurrence, attempt)
) WITHOUT ROWID;
