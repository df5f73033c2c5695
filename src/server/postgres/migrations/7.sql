-- Creates that another service has refused, whatever they asked: one row each for conversations and for creates.
CREATE TABLE research.refusals (
  what text PRIMARY KEY,
  in_a_row integer NOT NULL,
  next_at timestamptz NOT NULL
);
ALTER TABLE research.conversations ADD COLUMN cost_dollars double precision;
CREATE INDEX costs ON research.conversations (completed_at) WHERE cost_dollars IS NOT NULL;
