CREATE TABLE research.exchanges (
  request_id uuid NOT NULL REFERENCES research.conversations ON DELETE CASCADE,
  number bigint GENERATED ALWAYS AS IDENTITY,
  record text NOT NULL,
  PRIMARY KEY (request_id, number)
);
