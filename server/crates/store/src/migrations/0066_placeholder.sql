-- Holds the number for another migration.
SELECT 1;
