import type { Statement } from "../connection/database.js";

/** id, name, hash, tier, creates, stops, created_at, expires_at. SQLSTATE 23505: the name is in use. */
export const ADD_KEY: Statement = {
  name: "add-key",
  text: `
    INSERT INTO research.keys (id, name, hash, tier, creates_per_hour, stops_per_hour, created_at, expires_at)
    VALUES ($1, $2, $3, $4, $5, $6, $7, $8)`,
};

export const LIST_KEYS: Statement = {
  name: "list-keys",
  text: "SELECT * FROM research.keys ORDER BY created_at, name",
};

/** name, revoked_at */
export const REVOKE_KEY: Statement = {
  name: "revoke-key",
  text: "UPDATE research.keys SET revoked_at = $2 WHERE name = $1 AND revoked_at IS NULL RETURNING id",
};

/** hash */
export const FIND_KEY: Statement = {
  name: "find-key",
  text: "SELECT * FROM research.keys WHERE hash = $1",
};

export const KEYS_IN_USE: Statement = {
  name: "keys-in-use",
  text: "SELECT EXISTS (SELECT FROM research.keys) AS yes",
};
