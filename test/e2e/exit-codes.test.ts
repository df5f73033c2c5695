import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { describe, expect, test } from "vitest";
import * as does from "../support/behaviours.js";
import { REFUSED_URL } from "../support/fault-server.js";
import type { HappyOptions } from "../support/happy-service.js";
import { InProcess } from "../support/in-process.js";
import { environment, type RunOptions } from "../support/run.js";
import { jsonErrors, type World, world } from "../support/world.js";

interface Row {
  exit: number;
  what: string;
  /** The `code` of the one error in JSON mode; absent where the state is the outcome and no error need be said. */
  code?: string | RegExp;
  /** How many creates the service may see; default 0. */
  posts?: number;
  service?: HappyOptions;
  /** Runs in a process of its own for the reader of JSON: some rows, for a process ends with whatever code it is given. */
  built?: true;
  /** Loads something before the program, which needs a process. */
  preloads?: true;
  command: (here: World) => string[] | Promise<string[]>;
  env?: () => RunOptions["env"] | Promise<RunOptions["env"]>;
}

const failing = (operation: string, behaviour: does.AnswerParts): HappyOptions => ({
  fault: (seen) => (seen === operation ? does.answer(behaviour) : undefined),
});
const refusing = (operation: string, status: number, code: string): HappyOptions =>
  failing(operation, { status, body: does.errorEnvelope(code) });
const write = (here: World, name: string, text: string): string => {
  const path = join(here.home, name);
  writeFileSync(path, text);
  return path;
};
const watched = (prompt: string) => (here: World) => [
  "watch",
  "--interval",
  "20ms",
  here.service.add(prompt),
];
const SCHEMA = '{"type":"object","required":["n"],"properties":{"n":{"type":"number"}}}';

const ROWS: Row[] = [
  { exit: 0, built: true, what: "create", posts: 1, command: () => ["create", "x"] },
  {
    exit: 0,
    what: "status, whatever the state",
    command: (here) => ["status", here.service.add("x => FAILED")],
  },
  { exit: 0, what: "watch that ends COMPLETED", command: watched("x => PENDING COMPLETED") },
  { exit: 0, what: "run that ends COMPLETED", posts: 1, command: () => ["run", "x => COMPLETED"] },
  { exit: 0, what: "stop", command: (here) => ["stop", here.service.add("x")] },
  { exit: 0, what: "stop of what is stopped", command: (here) => ["stop", here.service.add("x => STOPPED")] },
  { exit: 0, what: "list of nothing", command: () => ["list"] },
  {
    exit: 1,
    preloads: true,
    what: "a defect: a clock that throws",
    code: "INTERNAL",
    command: watched("x => PENDING COMPLETED"),
    env: () => ({ NODE_OPTIONS: `--import=data:text/javascript,${encodeURIComponent(BROKEN_CLOCK)}` }),
  },
  { exit: 2, what: "an unknown command", code: "USAGE", command: () => ["stauts", "x"] },
  {
    exit: 2,
    built: true,
    what: "an unknown flag",
    code: "USAGE",
    command: () => ["create", "x", "--shcema", "{}"],
  },
  { exit: 2, what: "no prompt", code: "USAGE", command: () => ["create"] },
  { exit: 2, what: "a blank prompt", code: "USAGE", command: () => ["create", " \n\t"] },
  {
    exit: 2,
    what: "two prompts",
    code: "USAGE",
    command: (here) => {
      return ["create", "x", "--prompt-file", write(here, "p.txt", "x")];
    },
  },
  {
    exit: 2,
    what: "a prompt over 1 MiB",
    code: "USAGE",
    command: () => ["create", "--prompt-file", "/dev/zero"],
  },
  {
    exit: 2,
    what: "a schema that is not JSON",
    code: "USAGE",
    command: () => ["create", "x", "--schema", "{oops"],
  },
  {
    exit: 2,
    what: "a schema that is not JSON Schema",
    code: "USAGE",
    command: () => ["create", "x", "--schema", '{"type":"nonsense"}'],
  },
  {
    exit: 2,
    what: "a bad duration",
    code: "USAGE",
    command: (here) => ["watch", "--timeout", "soon", here.service.add("x")],
  },
  { exit: 2, what: "an id that cannot be one", code: "USAGE", command: () => ["status", ".."] },
  {
    exit: 2,
    what: "no base URL",
    code: "NOT_CONFIGURED",
    command: () => ["create", "x"],
    env: () => ({ RESEARCH_BASE_URL: "" }),
  },
  {
    exit: 2,
    what: "a base URL that is none",
    code: /USAGE|NOT_CONFIGURED/,
    command: () => ["create", "x", "--base-url", "not a url"],
  },
  {
    exit: 2,
    what: "http to another machine",
    code: /USAGE|NOT_CONFIGURED/,
    command: () => ["create", "x", "--base-url", "http://example.com"],
  },
  {
    exit: 2,
    what: "VALIDATION_ERROR",
    code: "VALIDATION_ERROR",
    posts: 1,
    service: refusing("create", 400, "VALIDATION_ERROR"),
    command: () => ["create", "x"],
  },
  { exit: 3, what: "watch that ends FAILED", command: watched("x => PENDING FAILED") },
  {
    exit: 3,
    what: "run that ends FAILED",
    code: "RESEARCH_FAILED",
    posts: 1,
    command: () => ["run", "x => FAILED"],
  },
  {
    exit: 3,
    what: "output of what FAILED",
    code: /^(RESEARCH_FAILED|OUTPUT_NOT_AVAILABLE)$/,
    command: (here) => ["output", here.service.add("x => FAILED")],
  },
  {
    exit: 3,
    what: "status --exit-status of what FAILED",
    command: (here) => ["status", "--exit-status", here.service.add("x => FAILED")],
  },
  {
    exit: 4,
    built: true,
    what: "no key",
    code: "NOT_AUTHENTICATED",
    command: () => ["create", "x"],
    env: () => ({ RESEARCH_API_KEY: undefined }),
  },
  {
    exit: 4,
    what: "a key the service refuses",
    code: "INVALID_API_KEY",
    posts: 1,
    command: () => ["create", "x"],
    env: () => ({ RESEARCH_API_KEY: "sk-wrong" }),
  },
  {
    exit: 4,
    what: "a 403 without an envelope",
    code: "NOT_AUTHENTICATED",
    service: failing("status", { status: 403, body: "no" }),
    command: () => ["status", "abcd"],
  },
  {
    exit: 5,
    what: "REQUEST_NOT_FOUND",
    code: "REQUEST_NOT_FOUND",
    command: () => ["status", "00000000-0000-4000-8000-000000000000"],
  },
  {
    exit: 5,
    what: "a 404 page",
    code: "NOT_FOUND",
    posts: 1,
    service: failing("create", {
      status: 404,
      headers: { "content-type": "text/html" },
      body: "<h1>404</h1>",
    }),
    command: () => ["create", "x"],
  },
  { exit: 5, what: "@last with an empty history", code: "NOT_FOUND", command: () => ["status", "@last"] },
  {
    exit: 6,
    what: "stop of what is COMPLETED",
    code: "CONVERSATION_ALREADY_COMPLETED",
    command: (here) => ["stop", here.service.add("x => COMPLETED")],
  },
  {
    exit: 6,
    what: "a refusal nobody knows",
    code: "TEAPOT",
    posts: 1,
    service: refusing("create", 418, "TEAPOT"),
    command: () => ["create", "x"],
  },
  {
    exit: 7,
    built: true,
    what: "rate limited",
    code: "RATE_LIMIT_EXCEEDED",
    posts: 1,
    service: refusing("create", 429, "RATE_LIMIT_EXCEEDED"),
    command: () => ["create", "x"],
  },
  {
    exit: 8,
    built: true,
    what: "watch --timeout",
    command: (here) => [
      "watch",
      "--timeout",
      "300ms",
      "--interval",
      "50ms",
      here.service.add("x => PENDING"),
    ],
  },
  {
    exit: 8,
    what: "output asked too early",
    code: /^(NOT_FINISHED|CONVERSATION_NOT_COMPLETED)$/,
    command: (here) => ["output", here.service.add("x => PROCESSING")],
  },
  {
    exit: 8,
    what: "status --exit-status while it runs",
    command: (here) => ["status", "--exit-status", here.service.add("x => PENDING")],
  },
  {
    exit: 9,
    what: "refused connections",
    code: "UNREACHABLE",
    command: () => ["create", "x"],
    env: () => ({ RESEARCH_BASE_URL: REFUSED_URL }),
  },
  {
    exit: 9,
    what: "a redirect",
    code: "BAD_RESPONSE",
    service: failing("status", { status: 302, headers: { location: "https://login.example/" } }),
    command: () => ["status", "abcd"],
  },
  {
    exit: 9,
    what: "an answer that is no envelope",
    code: "BAD_RESPONSE",
    service: failing("status", { body: "<h1>hello</h1>" }),
    command: () => ["status", "abcd"],
  },
  { exit: 10, what: "watch that ends STOPPED", command: watched("x => PENDING STOPPED") },
  {
    exit: 10,
    what: "run that ends STOPPED",
    code: "RESEARCH_STOPPED",
    posts: 1,
    command: () => ["run", "x => STOPPED"],
  },
  {
    exit: 11,
    built: true,
    what: "a create whose connection is reset",
    code: "OUTCOME_UNKNOWN",
    posts: 1,
    service: { fault: (operation) => (operation === "create" ? does.reset() : undefined) },
    command: () => ["create", "x"],
  },
  {
    exit: 11,
    what: "a create answered with a 502",
    code: "OUTCOME_UNKNOWN",
    posts: 1,
    service: failing("create", { status: 502, body: "<h1>bad gateway</h1>" }),
    command: () => ["create", "x"],
  },
  {
    exit: 12,
    what: "a prompt file that is not there",
    code: "LOCAL_IO",
    command: () => ["create", "--prompt-file", "nowhere.txt"],
  },
  {
    exit: 12,
    what: "an output that exists",
    code: "LOCAL_IO",
    command: (here) => {
      return ["output", "-o", write(here, "out.txt", "precious"), here.service.add("x => COMPLETED")];
    },
  },
  {
    exit: 12,
    what: "an output of run that exists, before anything is spent",
    code: "LOCAL_IO",
    command: (here) => {
      return ["run", "-o", write(here, "out.txt", "precious"), "x => COMPLETED"];
    },
  },
  {
    exit: 12,
    what: "settings that are no JSON",
    code: "LOCAL_IO",
    command: async (here) => {
      const path = (await here.research(["config", "path"])).stdout.trim();
      mkdirSync(dirname(path), { recursive: true });
      writeFileSync(path, "{oops");
      return ["config", "set", "tier", "free"];
    },
  },
  {
    exit: 13,
    built: true,
    what: "--strict and a result that does not fit",
    code: "SCHEMA_MISMATCH",
    posts: 1,
    service: { output: () => ({ n: "not a number" }) },
    command: () => ["run", "x => COMPLETED", "--strict", "--schema", SCHEMA],
  },
];

const BROKEN_CLOCK = 'Date.now = () => { throw new TypeError("broken on purpose"); };';

async function carryOut(row: Row, json: boolean) {
  const here = await world(row.service);
  const args = [...(await row.command(here)), ...(json ? ["--json"] : [])];
  const env = (await row.env?.()) ?? {};
  const run = await (row.preloads || (row.built && json)
    ? here.start(args, { env }).done
    : here.research(args, { env }));
  return { run, here };
}

describe.each(["human", "JSON"])("exit codes for a %s reader", (mode) => {
  test.each(ROWS)("$exit: $what", async (row) => {
    const json = mode === "JSON";
    const { run, here } = await carryOut(row, json);
    expect(run, run.stderr).toMatchObject({ code: row.exit, signal: null });
    expect(here.service.server.count("create")).toBe(row.posts ?? 0);
    expect(run.stdout + run.stderr).not.toMatch(/sk-test-sentinel|\x1b/);
    if (json) {
      const errors = jsonErrors(run.stderr);
      if (row.code)
        expect(errors).toMatchObject([{ code: expect.stringMatching(row.code), exit_code: row.exit }]);
      for (const error of errors) expect(error.message).toMatch(/\S/);
    } else if (row.code) {
      // A result that does not fit its schema is a result all the same.
      if (row.exit !== 13) expect(run.stdout).toBe("");
      expect(run.stderr).toMatch(/\w+ \w+/);
      expect(run.stderr).not.toMatch(/^\s*[{[]|\n\s+at .*:\d+:\d+/);
    }
  });
});

test.each([
  ["SIGINT", 130],
  ["SIGTERM", 143],
] as const)(
  "%s: the watch says how to resume and dies of it, which a shell sees as %i",
  async (signal, code) => {
    const { service, home, env } = await world();
    const id = service.add("x => PROCESSING");
    const argv = ["watch", id, "--interval", "20ms", "--json"];
    const running = new InProcess(argv, { env: environment(home, env) });
    await running.waitFor(/PROCESSING/);
    running.signal(signal);
    expect(await running.done).toMatchObject({ code: null, signal });
    expect(jsonErrors(running.stderr)).toMatchObject([
      {
        ...{ code: "INTERRUPTED", exit_code: code, request_id: id },
        hint: expect.stringContaining(`research watch ${id}`),
      },
    ]);
    expect(service.server.count("stop")).toBe(0);
  },
);
