-- The amount of a request of which only a part was approved. NULL for every other one.
ALTER TABLE entry ADD COLUMN requested INTEGER CHECK (requested > amount);
