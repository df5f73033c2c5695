-- A trigger, so that a stop by a program before this version is passed on too.
ALTER TABLE research.conversations
  ADD COLUMN remote jsonb,
  ADD COLUMN remote_begun_at timestamptz,
  ADD COLUMN remote_id text;
CREATE TABLE research.cancellations (
  request_id uuid PRIMARY KEY,
  at text NOT NULL,
  provider text NOT NULL,
  remote_id text NOT NULL,
  due_at timestamptz NOT NULL DEFAULT now()
);
CREATE FUNCTION research.stop_it_there_too() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO research.cancellations
  VALUES (NEW.request_id, NEW.remote->>'at', NEW.remote->>'provider', NEW.remote_id);
  RETURN NULL;
END $$;
CREATE TRIGGER stopped_there_too AFTER UPDATE OF status, remote_id ON research.conversations
  FOR EACH ROW WHEN (NEW.status = 'STOPPED' AND NEW.remote_id IS NOT NULL
    AND (OLD.status <> 'STOPPED' OR OLD.remote_id IS NULL))
  EXECUTE FUNCTION research.stop_it_there_too();
