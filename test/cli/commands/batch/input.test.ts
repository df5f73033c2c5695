import { expect, test } from "vitest";
import { machine } from "../../../support/machine.js";

/** What `batch` says of an input: its exit code, and each error without its prefix. */
async function faults(name: string, text: string, ...flags: string[]) {
  const m = await machine();
  m.file(name, text);
  const { code, stdout, stderr } = await m.batch(m.path(name), "--json", ...flags);
  expect([stdout, m.creates()]).toEqual(["", 0]);
  const messages = stderr
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line).error.message as string);
  return { code, messages: messages.map((message) => message.replace(`${m.home}/`, "")) };
}

/** The prompts, keys and schemas that `batch` would send, by a dry run and by sending them. */
async function sent(name: string, text: string, ...flags: string[]) {
  const m = await machine();
  m.file(name, text);
  const { code, stderr } = await m.batch(m.path(name), ...flags);
  const bodies = m.service.server.of("create").map(({ body }) => JSON.parse(body.toString("utf8")));
  return { code, stderr, bodies, results: m.results("out") };
}

test("one prompt a line; blank lines, line ends and a byte order mark are no matter", async () => {
  const { code, bodies, results } = await sent("q.txt", "\ufeffone\r\n\r\n  \ntwo {{x}}\nthree");
  expect([code, bodies]).toEqual([0, [{ prompt: "one" }, { prompt: "two {{x}}" }, { prompt: "three" }]]);
  expect(results).toEqual(["line-1.md", "line-4.md", "line-5.md"]);
});

test("JSON Lines: prompt, key, output_schema, and whatever else", async () => {
  const schema = { type: "object", properties: { year: { type: "integer" } } };
  const rows = [
    { prompt: "one", key: "a/b", other: 1 },
    { prompt: "two\nlines", output_schema: schema },
    { prompt: "three", key: 7, structured_output: true },
  ];
  const { bodies, results } = await sent("q.jsonl", rows.map((row) => `${JSON.stringify(row)}\n`).join("\n"));
  expect(bodies).toEqual([
    { prompt: "one" },
    { prompt: "two\nlines", structured_output: true, output_schema: schema },
    { prompt: "three", structured_output: true },
  ]);
  expect(results).toEqual(["7.md", "a%2fb.md", "line-3.md"]);
});

test("CSV: a prompt column, a key, a schema as JSON text; quoted cells may hold line breaks", async () => {
  const text = 'key,prompt,output_schema\na,"two\nlines, ""quoted""",\n,plain,"{""type"":""object""}"\n';
  const { bodies, results } = await sent("q.csv", text);
  expect(bodies).toEqual([
    { prompt: 'two\nlines, "quoted"' },
    { prompt: "plain", structured_output: true, output_schema: { type: "object" } },
  ]);
  expect(results).toEqual(["a.md", "line-4.md"]);
});

test("a template fills from the columns of CSV and from the fields of JSON Lines", async () => {
  const template = ["--template", "Compare {{company}} with {{ rival }}."];
  const csv = await sent("q.csv", "company,rival\nA,B\nC,D\n", ...template);
  expect(csv.bodies).toEqual([{ prompt: "Compare A with B." }, { prompt: "Compare C with D." }]);
  const json = await sent("q.jsonl", '{"company":"$&","rival":7}\n', ...template);
  expect(json.bodies).toEqual([{ prompt: "Compare $& with 7." }]);
});

test("a file whose name says nothing is known by its first line", async () => {
  const m = await machine();
  await m.run("batch", m.file("questions", '{"prompt":"one"}\n'), "--out", m.path("known"));
  expect(m.listed("known").map(({ prompt }) => prompt)).toEqual(["one"]);
});

test("--schema is for the rows that bring none", async () => {
  const rowSchema = { type: "array" };
  const { bodies } = await sent(
    "q.jsonl",
    `{"prompt":"a"}\n${JSON.stringify({ prompt: "b", output_schema: rowSchema })}\n`,
    "--schema",
    '{"type":"object"}',
  );
  expect(bodies.map(({ output_schema }) => output_schema)).toEqual([{ type: "object" }, rowSchema]);
});

test("rows that ask the same and have no key are each sent, and that is said", async () => {
  const { code, bodies, stderr } = await sent("q.txt", "same\nsame\nother\n");
  expect([code, bodies.length]).toEqual([0, 3]);
  expect(stderr).toContain("note: line 2 repeats an earlier line; each of them is sent and paid for");
});

test("every bad line of JSON Lines is named at once, exit 2, nothing sent", async () => {
  const lines = [
    '{"prompt":"fine","key":"a"}',
    '{"key":"b"}',
    "not json",
    "",
    '{"prompt":"again","key":"a"}',
    '{"prompt":"x","output_schema":{"type":"objekt"}}',
    '{"prompt":"x","output_schema":[]}',
    '{"prompt":" \\t "}',
    '{"prompt":7}',
    "[1]",
    `{"prompt":"x","key":"${"long".repeat(60)}"}`,
  ];
  const { code, messages } = await faults("q.jsonl", lines.join("\n"));
  expect(code).toBe(2);
  expect(messages.map((message) => message.replace(/(not a JSON Schema: ).*/, "$1…"))).toEqual([
    "q.jsonl:2: no prompt",
    "q.jsonl:3: not a JSON object",
    'q.jsonl:5: line 1 has the same key, "a"',
    "q.jsonl:6: output_schema is not a JSON Schema: …",
    "q.jsonl:7: output_schema is not a JSON Schema: …",
    "q.jsonl:8: no prompt: it is blank",
    "q.jsonl:9: the prompt is not a string",
    "q.jsonl:10: not a JSON object",
    "q.jsonl:11: the key is too long to name a file",
  ]);
});

test("every bad line of CSV, by the line where its record begins", async () => {
  const text = 'prompt,key\n"two\nlines",a\n,b\n\nx,a\ny\nz,1,2\n"bad" quote,c\nlast,d\n';
  const { code, messages } = await faults("q.csv", text);
  expect(code).toBe(2);
  expect(messages).toEqual([
    "q.csv:4: no prompt: it is blank",
    'q.csv:6: line 2 has the same key, "a"',
    "q.csv:7: it has 1 cell, and the header names 2 columns",
    "q.csv:8: it has 3 cells, and the header names 2 columns",
    expect.stringMatching(/^q\.csv:9: invalid CSV: Invalid Closing Quote/),
  ]);
});

test("a missing column is a fault of the header; in JSON Lines of each row that lacks it", async () => {
  expect((await faults("q.csv", "company,x\nA,B\n")).messages).toEqual([
    "q.csv:1: the column `prompt` is missing; the columns are: company, x",
  ]);
  expect((await faults("q.csv", "company,x\nA,B\n", "--template", "{{compny}}")).messages).toEqual([
    "q.csv:1: the template names a missing column, {{compny}}; the columns are: company, x",
  ]);
  expect((await faults("q.jsonl", '{"a":1}\n{"b":1}\n', "--template", "{{a}}")).messages).toEqual([
    "q.jsonl:2: the template names a missing column, {{a}}",
  ]);
  expect((await faults("q.csv", "a\n1\n", "--template", "nothing")).messages).toEqual([
    "the template contains no column such as {{prompt}}",
  ]);
});

test("no --out and a --schema that is none are named with the bad rows", async () => {
  const m = await machine();
  const path = m.file("q.jsonl", "nope\n");
  const { code, stderr } = await m.run("batch", path, "--schema", "{");
  expect(code).toBe(2);
  expect(stderr).toMatch(
    /^error: .*q\.jsonl:1: not a JSON object\nerror: the schema is not JSON.*\nerror: --out is missing.*\n$/,
  );
});

test("an empty input, one that is not there, and one that never ends", async () => {
  expect(await faults("q.txt", "\n \n")).toEqual({ code: 2, messages: ["the input has no prompt"] });
  const m = await machine();
  expect((await m.batch(m.path("missing.txt"))).code).toBe(12);
  expect((await m.batch("/dev/zero")).code).toBe(2);
});
