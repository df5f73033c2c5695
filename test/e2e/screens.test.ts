import { createHash } from "node:crypto";
import { describe, expect, test } from "vitest";
import { folderWith } from "../support/folder.js";
import { HappyService } from "../support/happy-service.js";
import { screenHere } from "../support/screen-here.js";

// No line that is laid out for people is wider than the terminal: in any command, with ids of every provider, wide
// characters and long prompts. A raw result, JSON, curl, and an id on stdout are what they are.

const hex = (text: string, length: number) =>
  createHash("sha512").update(text).digest("hex").slice(0, length);
const uuid = (text: string) => hex(text, 32).replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, "$1-$2-$3-$4-$5");
/** As each service gives them. */
const IDS: readonly ((seed: string) => string)[] = [
  uuid,
  (seed) => `resp_68${hex(seed, 46)}`,
  (seed) => `resp_${uuid(seed)}`,
  (seed) => `agent_run_01k${hex(seed, 23)}`,
  (seed) => `trun_${hex(seed, 32)}`,
  (seed) => `v1_ChdpZGVu${hex(seed, 80)}`,
];
const STATES = ["COMPLETED", "FAILED", "PROCESSING", "STOPPED", "PENDING"];
const PROMPTS = [
  "How do tide mills work, and which of them are still in use in Brittany today? ".repeat(4),
  "潮の満ち引きはどのように起こるのか、そして潮汐発電所はどのように働くのか。".repeat(4),
  "Compare heat pumps 😀😀 with district heating",
];

/** Requests of all services at `origin`, and one whose outcome is unknown. */
function history(origin: string): Record<string, string> {
  const lines = Array.from({ length: 15 }, (_, n) => {
    const at = new Date(Date.UTC(2026, 0, 1, n)).toISOString();
    const request_id = IDS[n % IDS.length]?.(`${n}`) ?? "";
    const [status, prompt] = [STATES[n % STATES.length], PROMPTS[n % PROMPTS.length]];
    const made = {
      local_id: `local-${hex(`l${n}`, 12)}`,
      sent_at: at,
      created_at: at,
      at,
      prompt,
      key_id: "k",
    };
    const seen = { duration_ms: 754_000, cost_dollars: 1.25, message: "a long sentence about it ".repeat(9) };
    return [
      { kind: "created", ...made, request_id, origin, profile: null, status: "PENDING" },
      { kind: "status", request_id, origin, status, at, ...(n % 5 < 2 && seen) },
    ];
  }).flat();
  const unknown = { kind: "intent", local_id: "local-0123456789ab", sent_at: "2026-01-02T00:00:00Z", origin };
  return {
    ".local/state/research/history.jsonl": lines.map((line) => `${JSON.stringify(line)}\n`).join(""),
    ".local/state/research/open/local-0123456789ab.json": JSON.stringify({ ...unknown, prompt: PROMPTS[0] }),
    "q.csv": `key,prompt\n${PROMPTS.map((prompt, n) => `key-${"日本".repeat(9)}-${n},"${prompt} => FAILED"`).join("\n")}\n`,
    // A private address is not asked for.
    "cited.md": `The pool takes ${"many and ".repeat(30)}1,700 connections (http://10.0.0.1/${hex("a", 80)}).\n`,
    "sources/a.md":
      "# Tides\n\nTides `form` by the moon[^1], see <https://example.com/a>.\n\n[^1]: Somebody.\n",
  };
}

const ID = IDS[1]?.("1") ?? "";
const GONE = "RESEARCH_BASE_URL=http://127.0.0.1:1";
/** Each command, by what is typed; variables before it as a shell has them. */
const TYPED: readonly string[] = [
  "",
  "--help",
  "run --help",
  "serve --help",
  "batch --help",
  "serve keys add --help",
  "serve keys list --data nowhere",
  "help",
  // wrap.test.ts has each topic.
  "help exit-codes",
  "list",
  "list --status NOWHERE",
  `show ${ID}`,
  "show resp_",
  "show 0000",
  "show",
  `stop ${ID} ${IDS[5]?.("5")}`,
  "history forget --older-than 1d",
  "quota",
  "quota --all",
  "config list",
  "config get nothing",
  "doctor --offline",
  "batch q.csv --dry-run --per-hour 5",
  "batch q.csv --out out --interval 50ms",
  `status ${"x".repeat(86)}`,
  `watch ${IDS[5]?.("5")} --timeout 1ms`,
  `watch ${IDS[5]?.("5")}`,
  `status ${IDS[5]?.("11")}`,
  `output ${IDS[1]?.("7")}`,
  "output -w --patience 1ms nobody-knows-it",
  "run question=>FAILED --interval 50ms",
  "run question=>COMPLETED --interval 50ms",
  "try tides --sources sources",
  "check cited.md",
  "create",
  "creat question",
  `${GONE} create question`,
  `${GONE} doctor`,
  "HTTPS_PROXY=http://127.0.0.1:1 RESEARCH_BASE_URL=https://api.openai.com create question",
  "RESEARCH_BASE_URL= create question",
  "RESEARCH_API_KEY= create question",
  "resolve local-0123456789ab",
  "logout",
  "completion",
  "login --provider nothing",
];

/** What is laid out by the columns that there are; other lines are parted at the same words in any width. */
const TABLES = TYPED.filter((typed) =>
  /^(?:list|show|stop|quota|config list|doctor|batch|run|check)\b/.test(typed),
);

describe.each([
  [60, TYPED],
  [100, TABLES],
])("in %i columns no line is too wide", (cols, commands) => {
  test.each(commands)("research %s", async (typed) => {
    const service = await HappyService.start();
    const words = typed === "" ? [] : typed.split(" ");
    const args = words.filter((word) => !/^[A-Z_]+=/.test(word));
    const set = words
      .filter((word) => /^[A-Z_]+=/.test(word))
      .map((word) => word.split(/=(.*)/s).slice(0, 2));
    const env = { ...service.env, ...Object.fromEntries(set) };
    const shown = screenHere(args, { home: folderWith(history(service.url)), env, cols, rows: 60 });
    // What asks gets an answer that does nothing.
    void shown.waitFor(/\[y\/N\]|\[1-\d+, Enter for 1\]|URL:/).then(
      () => shown.type("n\r"),
      () => {},
    );
    await shown.done;
    expect(shown.text()).not.toBe("");
    expect(shown.wideLines()).toEqual([]);
  });
});
