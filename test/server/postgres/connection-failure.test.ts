import { expect, it } from "vitest";
import { describeConnectionFailure } from "../../../src/server/postgres/database.js";

it.each([
  [{ code: "ECONNREFUSED", message: "connect /run/secret" }, "the connection to db.example:5432 was refused"],
  [{ code: "ENOTFOUND" }, "the host name of db.example:5432 is not known"],
  [{ code: "28P01", message: 'for user "secret"' }, "it refused the user or the password"],
  [{ code: "28ABC", message: "secret" }, "the connection failed with 28ABC"],
  [
    { message: "SASL: SCRAM-SERVER-FIRST-MESSAGE: client password must be a string" },
    "it asks for a password, and PGPASSWORD is not set",
  ],
  [{ message: "The server does not support SSL connections" }, "it does not offer TLS"],
  [{ message: "timeout expired" }, "it did not answer in time"],
  [{ message: "Connection terminated due to connection Timeout" }, "it did not answer in time"],
  [{ message: "secret" }, "the connection ended"],
  [{}, "the connection ended"],
])("%j is said without what the driver says of it: %s", (error, expected) => {
  expect(describeConnectionFailure(error, "db.example:5432")).toBe(expected);
});
