ALTER TABLE research.conversations
  ADD COLUMN started_at timestamptz(3),
  ADD COLUMN ended_job text;
CREATE INDEX newest ON research.conversations (created_at DESC);
