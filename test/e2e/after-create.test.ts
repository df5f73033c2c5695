import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { answer, type Behaviour, only, refuse } from "../support/behaviours.js";
import type { Operation } from "../support/request-reader.js";
import { jsonErrors, world } from "../support/world.js";

// Once the id is known, an exit code that says "nothing was created" would have a script create it again.

const LIMITED: Behaviour = answer({
  status: 429,
  headers: { "retry-after": 3600 },
  body: '{"status":false,"version":"1.0.0","error":{"code":"RATE_LIMIT_EXCEEDED","message":"enough"}}',
});

const BOTH = ["run", "create -w"];
const IMPATIENT = ["--patience", "300ms", "--interval", "50ms"];
const CASES: [what: string, code: string, on: Operation, does: Behaviour, flags?: string[]][] = [
  ["the key is refused", "INVALID_API_KEY", "status", refuse(401, "INVALID_API_KEY")],
  ["an answer that cannot change", "TEAPOT", "status", refuse(400, "TEAPOT")],
  ["no poll succeeds", "GONE", "status", refuse(503, "GONE"), IMPATIENT],
  ["its id is never found", "UNREACHABLE", "status", answer({ status: 404 }), IMPATIENT],
  ["it is not known there", "REQUEST_NOT_FOUND", "status", refuse(404, "REQUEST_NOT_FOUND"), IMPATIENT],
  ["the output is rate limited", "RATE_LIMIT_EXCEEDED", "output", LIMITED],
  ["the output's key is refused", "INVALID_API_KEY", "output", refuse(403, "INVALID_API_KEY")],
  ["the output is not found", "BAD_RESPONSE", "output", refuse(404, "REQUEST_NOT_FOUND")],
  ["the output cannot be read", "BAD_RESPONSE", "output", answer({ body: "oops" })],
];

describe.each(CASES)("%s:", (_what, code, on, does, flags = []) => {
  test.each(on === "output" ? ["run"] : BOTH)(
    "%s ends with 8, the id and the command that goes on",
    async (verb) => {
      const { research } = await world({ fault: (operation) => (operation === on ? does : undefined) });
      const args = [...verb.split(" "), "x => COMPLETED", ...flags, "--json"];
      const ended = await research(args, { env: { RESEARCH_OUTPUT: "json" } });
      const [error] = jsonErrors(ended.stderr);
      expect(ended.code).toBe(8);
      expect(error).toMatchObject({
        code,
        exit_code: 8,
        request_id: expect.stringMatching(/^[0-9a-f-]{36}$/),
      });
      const id = String(error?.request_id);
      const goOn = verb === "run" ? `research output -w ${id}` : `research watch ${id}`;
      expect(error?.hint).toContain(goOn);
    },
  );
});

test("what run names after a fault delivers the result as run would have", async () => {
  let isDown = true;
  const schema = '{"type":"object"}';
  const { bash, home } = await world({
    fault: (operation) => (operation === "output" && isDown ? refuse(401, "INVALID_API_KEY") : undefined),
  });
  const run = await bash(`research run "x => COMPLETED" --schema '${schema}' -o 'my file' --force --strict`);
  expect(run).toMatchObject({ code: 8, stdout: "" });
  const command = /go on with: (.*)$/m.exec(run.stderr)?.[1] ?? "";
  expect(command).toMatch(/^research output -w \S+ -o 'my file' --force --strict$/);
  isDown = false;
  // The happy service answers with a text, which is no object: --strict went along.
  expect(await bash(command)).toMatchObject({ code: 13 });
  expect(readFileSync(join(home, "my file"), "utf8")).toBe("An answer to: x => COMPLETED");
});

test("an interrupted run names the whole command", async () => {
  const { start, service } = await world();
  const run = start(["run", "x => PROCESSING", "-o", "out.md", "--strict", "--base-url", service.url]);
  await run.waitFor(/PROCESSING/, { on: "stderr" });
  run.signal("SIGINT");
  const { signal, stderr } = await run.done;
  expect(signal).toBe("SIGINT");
  expect(stderr).toMatch(/research output -w \S+ -o out\.md --strict --base-url http\S+$/m);
});

test("without a history, the command that goes on is told the schema", async () => {
  const { research } = await world({
    fault: only("status", refuse(401, "INVALID_API_KEY")),
  });
  const args = ["run", "x => COMPLETED", "--strict", "--schema", '{"type":"string"}'];
  const { code, stderr } = await research(args, { env: { RESEARCH_NO_HISTORY: "1" } });
  expect(code).toBe(8);
  expect(stderr).toMatch(/research output -w \S+ --strict --schema '{"type":"string"}'$/m);
});

test("nothing was created: the codes of a create alone stay", async () => {
  const { research } = await world({
    fault: only("create", refuse(401, "INVALID_API_KEY")),
  });
  for (const verb of BOTH) expect(await research([...verb.split(" "), "x"])).toMatchObject({ code: 4 });
});
