-- The process date in the callback of a decision, in ms. `at` is the time by the clock of the entity. Rows from before have
-- no process date; the `at` of a review system's decision is the process date that it sent.
ALTER TABLE review_action ADD COLUMN processed INTEGER;
