CREATE TABLE research.processes (
  id uuid PRIMARY KEY,
  role text NOT NULL,
  settings text,
  expires_at timestamptz NOT NULL
);
CREATE TABLE research.keys (
  id text PRIMARY KEY,
  name text NOT NULL,
  hash text NOT NULL UNIQUE,
  tier text NOT NULL,
  creates_per_hour double precision NOT NULL,
  stops_per_hour double precision NOT NULL,
  created_at timestamptz(3) NOT NULL,
  expires_at timestamptz(3),
  revoked_at timestamptz(3)
);
CREATE UNIQUE INDEX key_names ON research.keys (name) WHERE revoked_at IS NULL;
CREATE TABLE research.windows (
  key text NOT NULL,
  operation text NOT NULL,
  times timestamptz[] NOT NULL,
  PRIMARY KEY (key, operation)
);
CREATE TABLE research.conversations (
  request_id uuid PRIMARY KEY,
  key text NOT NULL,
  status text NOT NULL DEFAULT 'PENDING'
    CHECK (status IN ('PENDING', 'PROCESSING', 'COMPLETED', 'FAILED', 'STOPPED')),
  created_at timestamptz(3) NOT NULL DEFAULT now(),
  due_at timestamptz NOT NULL,
  claims integer NOT NULL DEFAULT 0,
  starts integer NOT NULL DEFAULT 0,
  worker uuid REFERENCES research.processes ON DELETE SET NULL,
  completed_at timestamptz(3),
  job text,
  output text,
  reason text
) WITH (fillfactor = 80);
CREATE INDEX queue ON research.conversations (due_at) WHERE job IS NOT NULL AND worker IS NULL;
CREATE INDEX claims ON research.conversations (worker) WHERE worker IS NOT NULL;
CREATE INDEX ended ON research.conversations (completed_at) WHERE completed_at IS NOT NULL;
