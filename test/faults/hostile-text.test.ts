import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import fc from "fast-check";
import { expect, test } from "vitest";
import { escapeLine, escapeResult, escapeText, stringifySafe } from "../../src/core/text/safe-text.js";
import * as does from "../support/behaviours.js";
import { faultServer, type Script } from "../support/fault-server.js";
import { folderWith } from "../support/folder.js";
import { HappyService, KEY } from "../support/happy-service.js";
import { foldersIn, historyLine, homeWith, plant } from "../support/home.js";
import { inProcess } from "../support/in-process.js";
import { screenHere } from "../support/screen-here.js";
import { ID, OTHER_ID } from "./plays.js";

/** Whatever acts on a terminal, hides or turns text, or is half a character; written out, not taken from the code. */
const DANGEROUS =
  /[\0-\x08\x0b-\x1f\x7f-\x9f\u00ad\u061c\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb\u{e0000}-\u{e007f}]|[\ud800-\udbff](?![\udc00-\udfff])|(?<![\ud800-\udbff])[\udc00-\udfff]/u;
/** In what a CI runner reads: GitHub takes `::` at the start of a line, and both take `##[` and `##vso[` anywhere. */
const COMMAND = /^\s*::|##\[|##vso\[/m;

const PIECES = [
  ...[
    "\x1b[2J",
    "\x1b]0;owned\x07",
    "\x9b31m",
    "\u202e",
    "\u200b",
    "\u2066",
    "\ufeff",
    "\u{e0041}",
    "\ud800",
    "\udfff",
  ],
  ...[
    "\r",
    "\b",
    "\0",
    "\x7f",
    "\u0085",
    "\u2028",
    "\n",
    "\t",
    "::error::x",
    "##[error]x",
    "##vso[task.x]y",
    "##",
    "[",
    ":",
  ],
  ...["::set-output name=a::b", " ", "text", "ü", "🥧", "\\u{1b}", "\\", '"'],
];
const hostile = fc.oneof(
  fc.array(fc.constantFrom(...PIECES), { maxLength: 12 }).map((pieces) => pieces.join("")),
  fc.string({ unit: "binary" }),
);
const runs = { numRuns: 500 };

test("text for people: nothing acts on a terminal or a runner, and what is harmless stays", () => {
  fc.assert(
    fc.property(hostile, (text) => {
      expect(escapeText(text)).not.toMatch(DANGEROUS);
      expect(escapeText(text)).not.toMatch(COMMAND);
      if (!DANGEROUS.test(text) && !COMMAND.test(text)) expect(escapeText(text)).toBe(text);
      expect(escapeLine(text)).not.toMatch(DANGEROUS);
      expect(escapeLine(text)).not.toMatch(/[\n\t]/);
      expect(escapeLine(text)).not.toMatch(COMMAND);
    }),
    runs,
  );
});

test("a result on a terminal: the same, but that its joiners are text", () => {
  fc.assert(
    fc.property(hostile, (text) => {
      expect(escapeResult(text).replace(/[\u200c\u200d]/g, "")).not.toMatch(DANGEROUS);
      if (!DANGEROUS.test(text)) expect(escapeResult(text)).toBe(text);
    }),
    runs,
  );
  expect(escapeResult("نمی\u200cخواهم 👩\u200d🚀")).toBe("نمی\u200cخواهم 👩\u200d🚀");
});

test("JSON: the same, on one line, and exact", () => {
  fc.assert(
    fc.property(fc.dictionary(hostile, fc.oneof(hostile, fc.array(hostile))), (value) => {
      const text = stringifySafe(value);
      expect(text).not.toMatch(DANGEROUS);
      expect(text).not.toMatch(COMMAND);
      expect(text).not.toContain("\n");
      expect(JSON.parse(text)).toEqual(JSON.parse(JSON.stringify(value)));
      expect(JSON.parse(stringifySafe(value, 2))).toEqual(JSON.parse(JSON.stringify(value)));
    }),
    runs,
  );
});

const NASTY =
  "a\x1b[2J\x1b]0;owned\x07\u202eb\r\n::error::c\n ##[set-env name=d]e ##vso[task.setvariable variable=f]g\u0085\ud800";

/** A service all of whose words are hostile. */
const words: Script = (operation, nth) => {
  if (operation === "create") return does.ok({ request_id: ID, status: NASTY, created_at: NASTY });
  if (operation === "status")
    return does.ok({ request_id: ID, status: nth % 2 ? NASTY : "COMPLETED", more: NASTY });
  if (operation === "stop") return does.ok({ request_id: ID, status: NASTY, message: NASTY });
  return does.refuse(400, NASTY, {}, NASTY);
};
const refusals: Script = (_, nth) =>
  nth % 2 ? does.refuse(418, NASTY, {}, NASTY) : does.redirect(302, "http://127.0.0.2:9/\x9b31m##[x]");

function machine(url: string) {
  const home = folderWith();
  const folders = foldersIn(home);
  const origin = new URL(url).origin;
  const now = Date.now();
  plant(home, { requestId: ID, origin, createdAt: now, prompt: NASTY, status: NASTY });
  const line = historyLine({ requestId: OTHER_ID, origin, createdAt: now, prompt: "x" });
  // Somebody else's line, with ids that are none.
  for (const id of [`\x1b[2J${OTHER_ID}`, "::error::x", "##[x]"]) {
    writeFileSync(
      join(folders.RESEARCH_STATE_DIR, "history.jsonl"),
      `${line.replaceAll(OTHER_ID, JSON.stringify(id).slice(1, -1))}\n`,
      {
        flag: "a",
      },
    );
  }
  return { home, env: { HOME: home, ...folders, RESEARCH_BASE_URL: url, RESEARCH_API_KEY: KEY } };
}

const COMMANDS = [
  ["create", "x"],
  ["create", NASTY, "--dry-run"],
  ["run", "x", "--timeout", "10s"],
  ["rerun", ID],
  ["status", ID],
  ["status", NASTY],
  ["watch", ID, "--timeout", "10s"],
  ["stop", "-y", ID],
  ["output", ID],
  ["output", ID, "-o", `/nowhere/${NASTY}`],
  ["list"],
  ["list", "--status", NASTY],
  ["show", ID],
  ["show", NASTY],
  ["resolve", NASTY, "--not-created"],
  ["config", "get", NASTY],
  ["config", "set", "output-field", NASTY],
  ["config", "list"],
  ["create", "--prompt-file", NASTY],
  ["create", "x", "--schema", NASTY],
  ["list", "--profile", NASTY],
  ["status", ID, "--base-url", `http://127.0.0.1/${NASTY}`],
  [NASTY],
  ["list", `--${NASTY}`],
];

for (const [what, script] of Object.entries({ words, refusals })) {
  test.each(COMMANDS.map((argv) => ({ argv })))(`hostile ${what}: $argv`, async ({ argv }) => {
    const server = await faultServer(script);
    const { env } = machine(server.url);
    for (const flags of [["--verbose"], ["--verbose", "--json"]]) {
      const run = await inProcess([...argv, ...flags], { env });
      for (const text of [run.stdout, run.stderr]) {
        expect(text).not.toMatch(DANGEROUS);
        // A here-document of `--dry-run` is for a shell; its JSON has no command in it either.
        expect(text).not.toMatch(COMMAND);
      }
      if (!flags.includes("--json")) continue;
      for (const line of `${run.stdout}${run.stderr}`.split("\n").filter(Boolean)) JSON.parse(line);
    }
  });
}

test("in JSON the words of the service are exact", async () => {
  const server = await faultServer(words);
  const { env } = machine(server.url);
  const status = await inProcess(["status", ID, "--json"], { env });
  expect(JSON.parse(status.stdout)).toEqual({ request_id: ID, status: NASTY, more: NASTY });
  const shown = await inProcess(["show", ID, "--json"], { env });
  expect(JSON.parse(shown.stdout).prompt).toBe(NASTY);
});

const RESULTS = { text: NASTY, joiners: "نمی\u200cخواهم", structured: { [NASTY]: [NASTY] } };

test.each(Object.entries(RESULTS))(
  "the result of output and run is exact in a pipe: %s",
  async (_, output) => {
    const service = await HappyService.start({ output: () => output });
    const { env } = homeWith({ ...service.env, CI: "true" });
    const id = service.add("x => COMPLETED");
    const exact = (text: string) => (typeof output === "string" ? text : JSON.parse(text));
    // What cannot be said in UTF-8 at all becomes U+FFFD on its way through any pipe.
    const sent = typeof output === "string" ? Buffer.from(output).toString() : output;
    expect(exact((await inProcess(["output", id], { env })).stdout)).toEqual(sent);
    expect(exact((await inProcess(["run", "x => COMPLETED"], { env })).stdout)).toEqual(sent);
    const json = await inProcess(["output", id, "--json"], { env });
    expect(JSON.parse(json.stdout).output).toEqual(output);
  },
);

test("on a real terminal nothing hostile is ever written", async () => {
  const service = await HappyService.start({ output: () => NASTY });
  const { home, env } = machine(service.url);
  const id = service.add(`x => ${NASTY.replace(/\s/g, "_")} COMPLETED`);
  mkdirSync(home, { recursive: true });
  for (const argv of [
    ["watch", id, "--interval", "50ms"],
    ["status", id],
    ["output", id],
    ["list"],
    ["show", ID],
  ]) {
    const shown = screenHere(argv, { home, env });
    await shown.done;
    expect(shown.raw).not.toMatch(/\x1b\]|\x07|\x1b\[2J|\u202e|\x85/);
  }
});
