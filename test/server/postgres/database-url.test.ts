import { expect, it } from "vitest";
import { findUrlProblem } from "../../../src/server/postgres/database-url.js";

it.each([
  "postgresql://host/research",
  "postgres://user@host:5433/research?sslmode=require",
  "postgresql:///research?host=/run/postgresql",
  "postgresql://user@/research?host=/run/postgresql",
  "postgresql://user@",
  "postgresql://",
  "postgresql://[::1]/research",
])("%s is a database URL without a password", (url) => {
  expect(findUrlProblem(url, "argument")).toBeUndefined();
});

it.each([
  "postgresql://user:hunter2@host/research",
  "postgresql://user:hunter2@/research?host=/run/postgresql",
  "postgresql://:hunter2@host/research",
  "postgresql://user:%68unter2@host/research",
  "postgresql://user%3Ahunter2@host/research",
  "postgresql://user:hunter2@a@host/research",
  "postgresql://host/research?password=hunter2",
  "postgresql://host/research?user=u&PassWord=hunter2",
  "postgresql://host/research?%70assword=hunter2",
  "postgresql://host/research?sslpassword=hunter2",
  "POSTGRES://user:hunter2@host/research",
])("%s holds a password: only a variable may, and the message does not repeat it", (url) => {
  expect(findUrlProblem(url, "argument")).toMatch(/^(?!.*hunter2)holds a password/);
  expect(findUrlProblem(url, "variable")).toBeUndefined();
});

it.each([
  "",
  "research",
  "host=db password=hunter2",
  "/run/postgresql research",
  "http://host/research",
  "socket:/run/postgresql?password=hunter2",
  "postgresql://user:hun#ter2@host/research",
  "postgresql://host/research#password=hunter2",
  "postgresql://user:hunter2@host:port/research",
])("%j is no database URL, and the message does not repeat it", (url) => {
  expect(findUrlProblem(url, "argument")).toMatch(/^(?!.*hun)is not a PostgreSQL URL/);
});
