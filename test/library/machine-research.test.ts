import { execFileSync, spawn } from "node:child_process";
import { join } from "node:path";
import { expect, test } from "vitest";
import { openResearch, parseExact } from "../../src/index.js";
import { answer } from "../support/behaviours.js";
import { faultServer } from "../support/fault-server.js";
import { folderWith } from "../support/folder.js";
import { foldersIn } from "../support/home.js";

const CREATED = answer({
  body: '{"status":true,"version":"1.0.0","data":{"request_id":"id-1","status":"PENDING"}}',
});

async function opened(env: Record<string, string>) {
  const server = await faultServer(() => CREATED);
  const own = foldersIn(folderWith());
  return { server, research: openResearch({ env: { ...own, RESEARCH_BASE_URL: server.url, ...env } }) };
}

test("a key may come out of a FIFO", async () => {
  const folder = folderWith();
  execFileSync("mkfifo", [join(folder, "fifo")]);
  const { server, research } = await opened({ RESEARCH_API_KEY_FILE: join(folder, "fifo") });
  spawn("sh", ["-c", "echo key-12345678 > fifo"], { cwd: folder });
  await research.submit("x");
  await research.submit("y");
  expect(server.requests.map(({ headers }) => headers.authorization)).toEqual(
    Array(2).fill("Bearer key-12345678"),
  );
  await research.close();
});

test("a schema is sent as exactly as JavaScript holds it, and as JSON.rawJSON made it", async () => {
  const { server, research } = await opened({ RESEARCH_API_KEY: "key-12345678" });
  const raw = (JSON as { rawJSON?: (text: string) => unknown }).rawJSON;
  const exact = raw ? { const: raw("12345678901234567890") } : {};
  await research.submit({ prompt: "x", schema: { minimum: -0, maximum: 1e21, ...exact } });
  const rest = raw ? ',"const":12345678901234567890' : "";
  expect(server.requests[0]?.body.toString()).toContain(
    `"output_schema":{"minimum":-0,"maximum":1e+21${rest}}`,
  );
  await research.close();
});

test("a schema that parseExact has read is sent as it stands", async () => {
  const { server, research } = await opened({ RESEARCH_API_KEY: "key-12345678" });
  const schema = '{"maximum":12345678901234567890,"minimum":-0,"a":1.0,"a":2}';
  await research.submit({ prompt: "x", schema: parseExact(schema) as Record<string, unknown> });
  expect(server.requests[0]?.body.toString()).toContain(`"output_schema":${schema}`);
  await research.close();
});
