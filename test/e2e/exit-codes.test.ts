import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import * as does from "../support/behaviours.js";
import { REFUSED_URL } from "../support/fault-server.js";
import type { HappyOptions } from "../support/happy-service.js";
import { InProcess } from "../support/in-process.js";
import { environment, type RunOptions } from "../support/run.js";
import { jsonErrors, world } from "../support/world.js";

interface Row {
  exit: number;
  what: string;
  /** What is typed, by words: `ID` is a request of the service, `HOME/` the home with the files below. */
  typed: string;
  /** The states of the request `ID`. */
  id?: string;
  /** The `code` of the one error in JSON mode; absent where the state is the outcome and no error need be said. */
  code?: string | RegExp;
  /** How many creates the service may see; default 0. */
  posts?: number;
  service?: HappyOptions;
  /** Runs in a process of its own for the reader of JSON: some rows, for a process ends with whatever code it is given. */
  built?: true;
  /** Loads something before the program, which needs a process. */
  preloads?: true;
  env?: RunOptions["env"];
}

const refusing = (status: number, code: string): HappyOptions => ({
  fault: does.only("create", does.refuse(status, code)),
});
const WATCH = "watch --interval 20ms ID";
const SCHEMA = '{"type":"object","required":["n"],"properties":{"n":{"type":"number"}}}';
const FILES = { "p.txt": "x", "out.txt": "precious", "broken/config.json": "{oops" };
const BROKEN_CLOCK = 'Date.now = () => { throw new TypeError("broken on purpose"); };';
const NODE_OPTIONS = `--import=data:text/javascript,${encodeURIComponent(BROKEN_CLOCK)}`;

/** test/faults has what follows from each answer of a service. */
const ROWS: Row[] = [
  { exit: 0, built: true, what: "create", posts: 1, typed: "create x" },
  { exit: 0, what: "status, whatever the state", id: "FAILED", typed: "status ID" },
  { exit: 0, what: "watch that ends COMPLETED", id: "PENDING COMPLETED", typed: WATCH },
  { exit: 0, what: "run that ends COMPLETED", posts: 1, typed: "run x=>COMPLETED" },
  { exit: 0, what: "stop", id: "PENDING", typed: "stop ID" },
  { exit: 0, what: "stop of what is stopped", id: "STOPPED", typed: "stop ID" },
  { exit: 0, what: "list of nothing", typed: "list" },
  {
    ...{ exit: 1, preloads: true, what: "a defect: a clock that throws", code: "INTERNAL" },
    ...{ id: "PENDING COMPLETED", typed: WATCH, env: { NODE_OPTIONS } },
  },
  { exit: 2, what: "an unknown command", code: "USAGE", typed: "stauts x" },
  { exit: 2, built: true, what: "an unknown flag", code: "USAGE", typed: "create x --shcema {}" },
  { exit: 2, what: "no prompt", code: "USAGE", typed: "create" },
  { exit: 2, what: "a blank prompt", code: "USAGE", typed: "create \n\t" },
  { exit: 2, what: "two prompts", code: "USAGE", typed: "create x --prompt-file HOME/p.txt" },
  { exit: 2, what: "an empty output path", code: "USAGE", typed: "run -o  x=>COMPLETED" },
  { exit: 2, what: "a prompt over 1 MiB", code: "USAGE", typed: "create --prompt-file /dev/zero" },
  { exit: 2, what: "a schema that is not JSON", code: "USAGE", typed: "create x --schema {oops" },
  {
    exit: 2,
    what: "one that is not JSON Schema",
    code: "USAGE",
    typed: 'create x --schema {"type":"nonsense"}',
  },
  { exit: 2, what: "a bad duration", code: "USAGE", id: "PENDING", typed: "watch --timeout soon ID" },
  { exit: 2, what: "an id that cannot be one", code: "USAGE", typed: "status .." },
  { exit: 2, what: "no base URL", code: "NOT_CONFIGURED", typed: "create x", env: { RESEARCH_BASE_URL: "" } },
  {
    exit: 2,
    what: "an invalid base URL",
    code: /USAGE|NOT_CONFIGURED/,
    typed: "create x --base-url not-a-url",
  },
  {
    ...{ exit: 2, what: "http to another machine", code: /USAGE|NOT_CONFIGURED/ },
    typed: "create x --base-url http://example.com",
  },
  {
    ...{ exit: 2, what: "VALIDATION_ERROR", code: "VALIDATION_ERROR", posts: 1, typed: "create x" },
    service: refusing(400, "VALIDATION_ERROR"),
  },
  { exit: 3, what: "watch that ends FAILED", id: "PENDING FAILED", typed: WATCH },
  { exit: 3, what: "run that ends FAILED", code: "RESEARCH_FAILED", posts: 1, typed: "run x=>FAILED" },
  {
    ...{ exit: 3, what: "output of what FAILED", code: /^(RESEARCH_FAILED|OUTPUT_NOT_AVAILABLE)$/ },
    ...{ id: "FAILED", typed: "output ID" },
  },
  { exit: 3, what: "status --exit-status of what FAILED", id: "FAILED", typed: "status --exit-status ID" },
  {
    ...{ exit: 4, built: true, what: "no key", code: "NOT_AUTHENTICATED", typed: "create x" },
    env: { RESEARCH_API_KEY: undefined },
  },
  {
    ...{ exit: 4, what: "a key the service refuses", code: "INVALID_API_KEY", posts: 1, typed: "create x" },
    env: { RESEARCH_API_KEY: "sk-wrong" },
  },
  {
    ...{ exit: 5, what: "REQUEST_NOT_FOUND", code: "REQUEST_NOT_FOUND" },
    typed: "status 00000000-0000-4000-8000-000000000000",
  },
  { exit: 5, what: "@last with an empty history", code: "NOT_FOUND", typed: "status @last" },
  {
    ...{ exit: 6, what: "stop of what is COMPLETED", code: "CONVERSATION_ALREADY_COMPLETED" },
    ...{ id: "COMPLETED", typed: "stop ID" },
  },
  {
    ...{
      exit: 7,
      built: true,
      what: "rate limited",
      code: "RATE_LIMIT_EXCEEDED",
      posts: 1,
      typed: "create x",
    },
    service: refusing(429, "RATE_LIMIT_EXCEEDED"),
  },
  {
    ...{ exit: 8, built: true, what: "watch --timeout", id: "PENDING" },
    typed: "watch --timeout 300ms --interval 50ms ID",
  },
  {
    ...{ exit: 8, what: "output asked too early", code: /^(NOT_FINISHED|CONVERSATION_NOT_COMPLETED)$/ },
    ...{ id: "PROCESSING", typed: "output ID" },
  },
  { exit: 8, what: "status --exit-status while it runs", id: "PENDING", typed: "status --exit-status ID" },
  {
    ...{ exit: 9, what: "refused connections", code: "UNREACHABLE", typed: "create x" },
    env: { RESEARCH_BASE_URL: REFUSED_URL },
  },
  { exit: 10, what: "watch that ends STOPPED", id: "PENDING STOPPED", typed: WATCH },
  { exit: 10, what: "run that ends STOPPED", code: "RESEARCH_STOPPED", posts: 1, typed: "run x=>STOPPED" },
  {
    ...{
      exit: 11,
      built: true,
      what: "a create whose connection is reset",
      code: "OUTCOME_UNKNOWN",
      posts: 1,
    },
    service: { fault: does.only("create", does.reset()) },
    typed: "create x",
  },
  { exit: 12, what: "a missing prompt file", code: "LOCAL_IO", typed: "create --prompt-file nowhere.txt" },
  {
    ...{ exit: 12, what: "an output that exists", code: "LOCAL_IO" },
    ...{ id: "COMPLETED", typed: "output -o HOME/out.txt ID" },
  },
  {
    ...{ exit: 12, what: "an output of run that exists, before anything is spent", code: "LOCAL_IO" },
    typed: "run -o HOME/out.txt x=>COMPLETED",
  },
  {
    ...{ exit: 12, what: "settings that are no JSON", code: "LOCAL_IO", typed: "config set tier free" },
    env: { RESEARCH_CONFIG_DIR: "HOME/broken" },
  },
  {
    ...{ exit: 13, built: true, what: "--strict and a result that does not fit", code: "SCHEMA_MISMATCH" },
    ...{ posts: 1, service: { output: () => ({ n: "not a number" }) } },
    typed: `run x=>COMPLETED --strict --schema ${SCHEMA}`,
  },
];

async function carryOut({ typed, id, service, env, preloads, built }: Row, json: boolean) {
  const here = await world(service);
  for (const [name, text] of Object.entries(FILES)) {
    mkdirSync(join(here.home, name, ".."), { recursive: true });
    writeFileSync(join(here.home, name), text);
  }
  const request = id === undefined ? "" : here.service.add(`x => ${id}`);
  const placed = (text: string) => text.replace(/^HOME\//, `${here.home}/`);
  const words = typed.split(" ").map((word) => (word === "ID" ? request : placed(word)));
  const args = [...words, ...(json ? ["--json"] : [])];
  const set = Object.entries(env ?? {}).map(([name, text]) => [name, text && placed(text)]);
  const options = { env: Object.fromEntries(set) };
  const isProcess = preloads || (built && json);
  const run = await (isProcess ? here.start(args, options).done : here.research(args, options));
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
