import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { systemClock } from "../../../../src/core/clock.js";
import { withoutKeys } from "../../../../src/core/secrets/environment.js";
import { Corpus } from "../../../../src/reader/finding/corpus.js";
import { documentReader } from "../../../../src/reader/reading/documents/document.js";
import { requireBuild } from "../../../support/build.js";
import { folderWith } from "../../../support/folder.js";
import { research } from "../../../support/run.js";
import { until } from "../../../support/service.js";

const never = new AbortController().signal;
const env = { PATH: process.env.PATH ?? "" };
const node = (script: string, ...rest: string[]) => ({
  words: [process.execPath, "-e", script, ...rest],
  env,
});
/** What becomes of a file whose program is this script. */
const read = (script: string, name = "a.odd", clock: Pick<typeof systemClock, "sleep"> = systemClock) => {
  requireBuild();
  return documentReader(clock, 1)({ name, bytes: new Uint8Array(), pre: node(script, "{}") }, never);
};

describe("a file that a program makes text of", () => {
  it("is found, a spreadsheet by its rows, and one whose program fails is named while the rest goes on", async () => {
    requireBuild();
    const root = folderWith({
      "costs.XLSX": "PK harbour;fee",
      "talk.pptx": "PK",
      "scan.pdf": "PK",
      "b c.epub": "The tide is high at dawn.",
    });
    const print = "process.stdout.write(require('fs').readFileSync(process.argv[1]))";
    const corpus = new Corpus({
      root,
      pre: {
        xlsx: node("console.log('port,fee\\nHamburg,15\\nBremen,9')", "{}"),
        epub: node(print),
        pptx: { words: ["no-such-program", "{}"], env },
        pdf: node("console.error('broken\\nno pages'); process.exit(3)"),
      },
    });
    expect((await corpus.search("fee of Bremen", 1))[0]?.passage).toMatchObject({
      id: "costs.XLSX",
      cells: ["Bremen", "9"],
      header: ["port", "fee"],
    });
    // Without {} the path stands at the end.
    expect((await corpus.search("tide at dawn", 1))[0]?.passage.lines).toEqual(["The tide is high at dawn."]);
    expect((await corpus.describe()).unread).toEqual([
      { name: "scan.pdf", reason: `it cannot be read: ${process.execPath} ended with exit code 3: no pages` },
      { name: "talk.pptx", reason: "it cannot be read: the command no-such-program does not exist" },
    ]);
  });

  it("is no word of a shell", async () => {
    const name = join(folderWith(), "$(touch x); 'y\".odd");
    expect(await read("console.log('The path is ' + process.argv[1])", name)).toMatchObject({
      blocks: [{ lines: [`The path is ${name}`] }],
    });
  });

  it("is left out if its program takes too long, prints too much or takes too much memory", async () => {
    const late = { sleep: (ms: number) => systemClock.sleep(ms === 30_000 ? 1_000 : ms) };
    expect(await read("setInterval(() => {}, 1000)", "a.odd", late)).toEqual({
      reason: "reading it took more than 30 s",
    });
    expect(await read("process.stdout.write('x'.repeat(9e6))")).toEqual({
      reason: expect.stringContaining("printed more than 8 MiB"),
    });
    const filling = `const b = Buffer.alloc(9e8, 1); setInterval(() => b.at(0), 1000)`;
    const nested = `require('child_process').spawnSync(process.execPath, ['-e', ${JSON.stringify(filling)}])`;
    // Filling the memory can take more than 30 s on a busy machine.
    const patient = { sleep: (ms: number) => systemClock.sleep(ms === 30_000 ? 110_000 : ms) };
    expect(await read(nested, "a.odd", patient)).toEqual({
      reason: "reading it took more than 640 MiB of memory",
    });
  });

  it("leaves no process behind", async () => {
    const script =
      "const c = require('child_process').spawn(process.execPath, ['-e', 'setInterval(() => {}, 1000)'], " +
      "{ stdio: 'ignore' }); console.log('Its child is ' + c.pid + '.'); c.unref()";
    const got = await read(script);
    const [, pid] = /is (\d+)/.exec(JSON.stringify(got)) ?? [];
    expect(pid).toBeDefined();
    const isGone = () => {
      try {
        process.kill(Number(pid), 0);
        return undefined;
      } catch {
        return true;
      }
    };
    await until(async () => isGone());
  });
});

it("`try --pre` reads through the program, without a key, and an invalid --pre is bad input", async () => {
  const files = {
    "costs.xlsx": "PK",
    "talk.pptx": "PK",
    "print.cjs":
      "console.log('The harbour fee is nine; the key is ' + Object.keys(process.env).filter((n) => /RESEARCH|KEY/.test(n)) + '.')",
  };
  const root = folderWith(files);
  const pre = [
    "--pre",
    `xlsx='${process.execPath}' ${join(root, "print.cjs")} {}`,
    "--pre",
    "pptx=no-such {}",
  ];
  const env = { RESEARCH_API_KEY: "k-0123456789", OPENAI_API_KEY: "k-0123456789" };
  const run = await research(["try", "--sources", root, ...pre, "What is the harbour fee?"], { env });
  expect(run).toMatchObject({
    code: 0,
    stdout: expect.stringContaining("> The harbour fee is nine; the key is ."),
  });
  expect(run.stdout).toContain("talk.pptx (it cannot be read: the command no-such does not exist)");
  for (const invalid of ["xlsx", "xlsx=", "=cat", "a/b=cat"]) {
    const refused = await research(["try", "--pre", invalid, "Why?"], {});
    expect(refused).toMatchObject({ code: 2, stderr: expect.stringContaining("an ending and a command") });
  }
});

it("a program gets no variable that sounds like a secret", () => {
  const given = {
    PATH: "/bin",
    LANG: "C",
    RESEARCH_BASE_URL: "x",
    RESEARCH_API_KEY: "x",
    OPENAI_API_KEY: "x",
    PGPASSWORD: "x",
    GITHUB_TOKEN: "x",
    MY_SECRET: "x",
  };
  expect(withoutKeys(given)).toEqual({ PATH: "/bin", LANG: "C" });
});
