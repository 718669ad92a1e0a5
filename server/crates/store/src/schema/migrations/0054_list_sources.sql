-- Whose word about a payment an entry of a list believes: 'server' (the merchant's server or the gateway) or 'any' (the
-- shopper's browser, too). An entry of the list allow that believes a browser accepts whoever knows its value.
ALTER TABLE risk_list ADD COLUMN source TEXT NOT NULL DEFAULT 'any' CHECK (source IN ('server', 'any'));
UPDATE risk_list SET source = 'server' WHERE list = 'allow';
