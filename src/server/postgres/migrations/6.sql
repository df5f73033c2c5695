-- How far the work is, and what an outcome says beside the output. Both are JSON.
ALTER TABLE research.conversations ADD COLUMN progress text, ADD COLUMN data text;
