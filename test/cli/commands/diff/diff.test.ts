import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { ok } from "../../../support/behaviours.js";
import { folderWith } from "../../../support/folder.js";
import { research } from "../../../support/in-process.js";
import { jsonErrors, world } from "../../../support/world.js";

const OLD = `The Free tier allows 120 requests an hour [1]. It is slow.

The service began on 3 May 2024 [2]. Its first office had 14 desks [2].

1. https://www.a.example/limits/
2. https://b.example/history
`;
const NEW = `- Since 3 May 2024 the service runs [1]
- Free tier: 250 requests an hour [2]
- A Pro tier costs 19 euros [3]

[1]: https://b.example/history?utm_source=x
[2]: https://a.example/limits
[3]: https://c.example/pro
`;

function files(extra: Record<string, string> = {}) {
  const home = folderWith({ "old.md": OLD, "new.md": NEW, "empty.md": "", ...extra });
  return { home, diff: (...args: string[]) => research(["diff", ...args], { home, cwd: home }) };
}

test("prints what only one says and where figures differ, and ends with 15", async () => {
  const { diff } = files();
  expect(await diff("old.md", "new.md")).toEqual({
    code: 15,
    signal: null,
    stdout: `# What changed

From old.md to new.md.

## Another figure

- Free tier: 250 requests an hour
  - before: The Free tier allows 120 requests an hour.

## Only in the new one

- A Pro tier costs 19 euros

## Only in the old one

- Its first office had 14 desks.

## Sources that came

- <https://c.example/pro>
`,
    stderr: "0 sentences of the new result have no number, date or quotation to compare\n",
  });
});

test("prints nothing and ends with 0 if nothing changed; also with --html and -o", async () => {
  const { diff, home } = files({
    "same.md": `${OLD.replace("It is slow.", "It is fast!")}3. https://d.example\n`,
  });
  const silent = {
    code: 0,
    stdout: "",
    stderr: expect.stringContaining("nothing changed; 1 sentence of the new result has "),
  };
  expect(await diff("old.md", "same.md")).toMatchObject(silent);
  expect(await diff("old.md", "same.md", "--html", "-o", "page.html")).toMatchObject(silent);
  expect(() => readFileSync(join(home, "page.html"))).toThrow("ENOENT");
  const json = await diff("old.md", "same.md", "--json");
  expect(json).toMatchObject({ code: 0, stderr: "" });
  expect(JSON.parse(json.stdout)).toEqual({
    old: { request_id: null, file: "old.md" },
    new: { request_id: null, file: "same.md" },
    changes: [],
    sources: { added: [], removed: [] },
    counts: { added: 0, removed: 0, changed: 0, same: 3, not_compared: 1 },
  });
});

test("sources that went are listed, and names and addresses keep their characters", async () => {
  const links = `It has 4 doors ([a](https://a.example/1)), 5 lamps ([b](<https://b.example/a b>)).`;
  const { diff } = files({ "a_b.md": links, "c*d.md": "It has 3 doors ([a](https://a.example/1))." });
  const { stdout } = await diff("a_b.md", "c*d.md");
  expect(stdout).toContain("\nFrom a\\_b.md to c\\*d.md.\n");
  expect(stdout).toContain("\n## Sources that went\n\n- <https://b.example/a%20b>\n");
});

test("--json: one object with both sentences of a change", async () => {
  const { diff } = files();
  const { code, stdout, stderr } = await diff("old.md", "new.md", "--json");
  expect({ code, stderr }).toEqual({ code: 15, stderr: "" });
  expect(JSON.parse(stdout)).toEqual({
    old: { request_id: null, file: "old.md" },
    new: { request_id: null, file: "new.md" },
    changes: [
      {
        kind: "changed",
        claim: "Free tier: 250 requests an hour",
        was: "The Free tier allows 120 requests an hour.",
      },
      { kind: "added", claim: "A Pro tier costs 19 euros", was: null },
      { kind: "removed", claim: "Its first office had 14 desks.", was: null },
    ],
    sources: { added: ["https://c.example/pro"], removed: [] },
    counts: { added: 1, removed: 1, changed: 1, same: 1, not_compared: 0 },
  });
});

test("either report may be stdin, and a bound that the figure keeps is the same", async () => {
  const home = folderWith({ "old.md": "The club has 1,450 members in 12 towns." });
  const input = "The club has more than 1,000 members in 12 towns.";
  const diff = (...args: string[]) => research(["diff", ...args, "--json"], { home, cwd: home, input });
  for (const args of [
    ["old.md", "-"],
    ["-", "old.md"],
  ]) {
    const { code, stdout } = await diff(...args);
    expect(code).toBe(0);
    expect(JSON.parse(stdout)).toMatchObject({ changes: [], counts: { same: 1, not_compared: 0 } });
  }
});

test("--html is a page, -o a file that is never overwritten without --force", async () => {
  const { diff, home } = files({ "evil.md": "It costs 7 <script>alert(1)</script> **euros** & `x`." });
  expect(await diff("old.md", "evil.md", "--html", "-o", "page.html")).toMatchObject({
    code: 15,
    stdout: "",
    stderr: expect.stringContaining("wrote page.html\n"),
  });
  const page = readFileSync(join(home, "page.html"), "utf8");
  expect(page).toMatch(/<h2 [^>]*>Only in the new one<\/h2>/);
  expect(page).not.toContain("<script");
  expect(await diff("old.md", "new.md", "-o", "page.html")).toMatchObject({ code: 12, stdout: "" });
  expect(await diff("old.md", "new.md", "-o", "page.html", "--force")).toMatchObject({ code: 15 });
  expect(readFileSync(join(home, "page.html"), "utf8")).toMatch(/^# What changed\n/);
});

test("nothing in a report acts on the terminal of whoever reads the changes", async () => {
  const { diff } = files({ "evil.md": "It costs 7 \u001b]0;x\u0007 euros, see https://a.example/\u202ex" });
  const { stdout } = await diff("empty.md", "evil.md");
  expect(stdout).toContain("7 \\\\u{1b}\\]0;x\\\\u{7} euros");
  expect(stdout).not.toMatch(/[\p{Cc}\p{Cf}](?<!\n)/u);
});

test.each([
  [["-", "-"], 2, "stdin can be read only once"],
  [["old.md", "value.json"], 2, "one of the results is structured"],
  [["old.md", "none.md"], 12, "none.md could not be read"],
  [["big.md", "new.md"], 2, "the report is over 2 MiB"],
  [["old.md", "big.md"], 2, "the report is over 2 MiB"],
  [["old.md", "new.md", "--html", "--json"], 2, "cannot be used together"],
])("%j ends with %i", async (args, code, message) => {
  const { diff } = files({ "value.json": '{"output":{"a":1}}', "big.md": "a ".repeat(1_100_000) });
  const refused = await diff(...args);
  expect(refused).toMatchObject({ code, stdout: "" });
  expect(refused.stderr).toContain(message);
});

test("compares results of ids, structured ones by their fields; one of them and a text are 2", async () => {
  const answers = [{ price: 10 }, { price: 12 }, { price: 10 }, "It costs 10 euros."];
  const m = await world({
    fault: (operation, nth) =>
      operation === "output" ? ok({ status: "COMPLETED", output: answers[nth - 1] }) : undefined,
  });
  const [a = "", b = "", c = "", text = ""] = [1, 2, 3, 4].map((n) => m.service.add(`${n} => COMPLETED`));
  const run = await m.research(["diff", a, b, "--json"]);
  expect(JSON.parse(run.stdout)).toMatchObject({
    old: { request_id: a, file: null },
    new: { request_id: b, file: null },
    changes: [{ kind: "changed", claim: "price: 12", was: "price: 10" }],
  });
  expect(run.code).toBe(15);
  expect((await m.research(["diff", c, text])).code).toBe(2);
});

test("a result that has not ended is 8, a FAILED one 3, an unknown id 5, which wins", async () => {
  const m = await world();
  const [done = "", running = "", failed = ""] = ["a => COMPLETED", "b => PROCESSING", "c => FAILED"].map(
    (one) => m.service.add(one),
  );
  const codeOf = async (...ids: string[]) => {
    const { code, stdout, stderr } = await m.research(["diff", ...ids, "--json"]);
    expect(stdout).toBe("");
    return [code, ...jsonErrors(stderr).map(({ exit_code }) => exit_code)];
  };
  expect(await codeOf(done, running)).toEqual([8, 8]);
  expect(await codeOf(failed, done)).toEqual([3, 3]);
  expect(await codeOf(running, "no-such-id")).toEqual([5, 8, 5]);
  expect(await codeOf(running, failed)).toEqual([3, 8, 3]);
  expect(m.service.server.count("create")).toBe(0);
});

test.each([
  ["paper.pdf", 2],
  ["broken.json", 2],
  ["none.md", 12],
  ["no id", 2],
  ["@last", 5],
])("an id beside %j, which ends with %i, sends nothing", async (other, code) => {
  const m = await world();
  writeFileSync(join(m.home, "broken.json"), "{");
  const id = m.service.add("a => COMPLETED");
  for (const args of [
    [id, other],
    [other, id],
  ])
    expect(await m.research(["diff", ...args], { cwd: m.home })).toMatchObject({ code, stdout: "" });
  expect(m.service.server.requests).toEqual([]);
});
