import { join } from "node:path";
import { beforeAll, describe, expect, it } from "vitest";
import { ResearchFailure } from "../../../../src/server/researchers/researcher.js";
import { Corpus } from "../../../../src/server/researchers/sources/corpus.js";
import { extract } from "../../../../src/server/researchers/structured/extract.js";
import { folderWith } from "../../../support/folder.js";

const text = { type: "string" };
const whole = { type: "integer" };
const list = (items: object) => ({ type: "array", items });
const object = (properties: object, required = Object.keys(properties)) => ({
  type: "object",
  properties,
  required,
});

/** A schema or a value that many levels down. */
const nested = (inner: object, levels: number): Record<string, unknown> =>
  levels === 0 ? { ...inner } : object({ a: nested(inner, levels - 1) });
const deep = (inner: object, levels: number): object =>
  levels === 0 ? inner : { a: deep(inner, levels - 1) };

const DOCUMENT = `# Service

Rate limits are counted per hour by tier:

| Tier | Create conversation | Stop conversation |
|---|---|---|
| Free | 10 requests per hour | 20 requests per hour |
| Pro | 100 requests per hour | 200 requests per hour |
| Enterprise | custom | custom |

The service was released on 2024-03-05. Write to help@example.org for support.

A basket holds 12 apples. The depot in Berlin is open from 9 to 17.

## Settings of the orchard

- Support: help@example.org
- Crates: 40
- Founded: 1998-04-01
- \`ladder_size\` {number} In metres. **Default:** \`5\`.

### tree_distance (integer)

In metres. (In 2003) the default row distance was doubled, as planting(8) says.

### row_count (integer)

How many rows of trees there are; 30 by default.

### watering

The default is \`drip\`. In a dry year, the default is \`hose\`.

## Stock

- Nails: 500 in the shed

## Sale

- Nails: 700
  behind the shed
`;

let corpus: Corpus;
beforeAll(async () => {
  corpus = new Corpus({ root: folderWith({ "doc.md": DOCUMENT }) });
  await corpus.refresh();
});

/** The sentence of the ResearchFailure that it comes to. */
async function failureOf(prompt: string, schema: object): Promise<string> {
  const result = extract(corpus, prompt, { ...schema });
  const error: unknown = await result.catch((failure: unknown) => failure);
  expect(error).toBeInstanceOf(ResearchFailure);
  return (error as ResearchFailure).message;
}

describe("what the document says outright is filled", () => {
  it.each([
    [
      "rows of a table",
      "What are the limits?",
      object({ limits: list(object({ tier: text, creates_per_hour: whole })) }),
      {
        limits: [
          { tier: "Free", creates_per_hour: 10 },
          { tier: "Pro", creates_per_hour: 100 },
        ],
      },
    ],
    [
      "one column of a table",
      "Which tiers are there?",
      object({ tiers: list(text) }),
      { tiers: ["Free", "Pro", "Enterprise"] },
    ],
    [
      "cells by row and column",
      "limits",
      object({ free: object({ creates_per_hour: whole }), pro_stops_per_hour: whole }),
      { free: { creates_per_hour: 10 }, pro_stops_per_hour: 200 },
    ],
    [
      "through $ref, $defs and allOf",
      "limits",
      {
        ...object({ limits: list({ $ref: "#/$defs/limit" }) }),
        $defs: { limit: { allOf: [object({ tier: text }), object({ creates_per_hour: whole })] } },
      },
      {
        limits: [
          { tier: "Free", creates_per_hour: 10 },
          { tier: "Pro", creates_per_hour: 100 },
        ],
      },
    ],
    ["key: value", "How many crates has the orchard?", object({ crates: whole }), { crates: 40 }],
    [
      "an address beside its name",
      "Where does the orchard give support?",
      object({ support: { type: "string", format: "email" } }),
      { support: "help@example.org" },
    ],
    [
      "a date beside its name",
      "When was the orchard founded?",
      object({ founded: { type: "string", format: "date" } }),
      { founded: "1998-04-01" },
    ],
    [
      "the default of a named item",
      "What is the default ladder size in the orchard?",
      object({ ladder_size_metres: whole }),
      { ladder_size_metres: 5 },
    ],
    [
      "the default under a heading",
      "What is the default row count of the orchard?",
      object({ row_count: whole }),
      { row_count: 30 },
    ],
    [
      "null where nothing is known and null will do",
      "crates of the orchard",
      object({ crates: whole, pears: { type: ["integer", "null"] } }),
      { crates: 40, pears: null },
    ],
    [
      "null where that is one of several",
      "crates of the orchard",
      object({ crates: { anyOf: [{ type: "null" }, whole] }, pears: { oneOf: [whole, { type: "null" }] } }),
      { crates: 40, pears: null },
    ],
    [
      "what the schema leaves no choice of",
      "crates of the orchard",
      object({ kind: { const: 7 }, crates: whole }),
      { kind: 7, crates: 40 },
    ],
    [
      "a list of what it may be",
      "Which tiers are there?",
      object({ tiers: { type: "array" } }),
      { tiers: ["Free", "Pro", "Enterprise"] },
    ],
    [
      "a list alone",
      "limits",
      list(object({ tier: text, creates_per_hour: whole })),
      [
        { tier: "Free", creates_per_hour: 10 },
        { tier: "Pro", creates_per_hour: 100 },
      ],
    ],
    [
      "at most as much as is wanted",
      "limits",
      { ...list(object({ tier: text, creates_per_hour: whole })), maxItems: 1 },
      [{ tier: "Free", creates_per_hour: 10 }],
    ],
    [
      "a name that the question does not repeat",
      "settings of the orchard",
      object({ crates: whole }),
      { crates: 40 },
    ],
    [
      "the value nearest to the question, where another is of something else",
      "How many nails are in the shed?",
      object({ nails: whole }),
      { nails: 500 },
    ],
    [
      "eight levels down",
      "crates of the orchard",
      nested(object({ crates: whole }), 7),
      deep({ crates: 40 }, 7),
    ],
    [
      "nothing for what is optional",
      "crates of the orchard",
      object({ crates: whole, pears: whole }, ["crates"]),
      { crates: 40 },
    ],
  ])("%s", async (_name, prompt, schema, output) => {
    expect(await extract(corpus, prompt, schema)).toMatchObject({ output });
  });
});

it("a value is given with the places where it stands", async () => {
  const placesOf = async (schema: object) =>
    (await extract(corpus, "crates of the orchard", schema as Record<string, unknown>)) as {
      sources?: string[];
    };
  expect((await placesOf(object({ crates: whole }))).sources).toEqual(["doc.md:18"]);
  expect((await placesOf(object({ tiers: list(text) }))).sources).toEqual([
    "doc.md:7",
    "doc.md:8",
    "doc.md:9",
  ]);
});

describe("nothing is guessed", () => {
  it.each([
    [
      "another unit",
      "What are the limits?",
      object({ limits: list(object({ tier: text, creates_per_day: whole })) }),
      "limits",
    ],
    [
      "a column that is not there",
      "What are the limits?",
      object({ limits: list(object({ tier: text, price: whole })) }),
      "limits",
    ],
    [
      "another unit in the description",
      "What is the default ladder size in the orchard?",
      object({ ladder_size: { ...whole, description: "In seconds." } }),
      "ladder_size",
    ],
    [
      "one of two that have to be there",
      "crates of the orchard",
      object({ crates: whole, pears: whole }),
      "pears",
    ],
    [
      "the parts of what is not there",
      "pears",
      object({ orchard: object({ pears: whole }) }),
      "orchard.pears",
    ],
    [
      "a value that is not said to be the default",
      "What is the default number of crates in the orchard?",
      object({ crates: whole }),
      "crates",
    ],
    [
      "a default where the most is asked",
      "What is the maximum ladder size in the orchard?",
      object({ ladder_size: whole }),
      "ladder_size",
    ],
    [
      "the first three of what is not there",
      "fruit of the orchard",
      object({ pears: whole, plums: whole, figs: whole, quinces: whole }),
      "pears, plums, figs",
    ],
    ["a number in a sentence", "How many apples does a basket hold?", object({ apples: whole }), "apples"],
    ["a number that is not clear", "When is the depot open?", object({ depot_open: whole }), "depot_open"],
    [
      "a year, and the section of a manual",
      "What is the default tree distance?",
      object({ tree_distance: whole }),
      "tree_distance",
    ],
    [
      "two values for one name",
      "What is the default watering of the orchard?",
      object({ watering: text }),
      "watering",
    ],
    ["a name on another matter", "What about pears?", object({ crates: whole }), "crates"],
    ["a subject that is not there", "zebra", object({ zebra: text }), "zebra"],
    ["yes or no", "Is the depot open?", object({ open: { type: "boolean" } }), "open"],
  ])("%s", async (_name, prompt, schema, path) => {
    const failure = await failureOf(prompt, schema);
    expect(failure).toContain(`The sources do not say ${path} outright.`);
    expect(failure).toContain("--model");
  });

  it("what breaks the schema otherwise", async () => {
    const schema = object({
      limits: { ...list(object({ tier: text, creates_per_hour: whole })), minItems: 3 },
    });
    expect(await failureOf("limits", schema)).toContain("at /limits: must NOT have fewer than 3 items");
  });
});

describe("a schema without an end is refused with a sentence:", () => {
  const node = { $ref: "#/$defs/node" };
  const tree = (level: number): object =>
    level === 0 ? whole : object({ left: tree(level - 1), right: tree(level - 1) });
  it.each<[string, object]>([
    [
      "a linked list",
      { ...node, $defs: { node: object({ value: text, next: { anyOf: [node, { type: "null" }] } }) } },
    ],
    ["a tree", { ...node, $defs: { node: object({ left: node, right: node }) } }],
    ["a reference to itself", { ...node, $defs: { node } }],
    ["alternatives of alternatives", { ...node, $defs: { node: { anyOf: [node, node] } } }],
    ["nine levels", nested(object({ crates: whole }), 8)],
    ["a thousand parts", tree(10)],
  ])("%s", async (_name, schema) => {
    expect(await failureOf("limits", schema)).toBe(
      "The schema cannot be filled: it has more than 8 levels or 1000 parts with its references resolved.",
    );
  });
});

it("this repository's own document gives the true numbers", async () => {
  const own = new Corpus({ root: join(import.meta.dirname, "../../../../docs") });
  await own.refresh();
  const schema = object({ limits: list(object({ tier: text, creates_per_hour: whole })) });
  expect(await extract(own, "What are the hourly limits?", schema)).toMatchObject({
    output: {
      limits: [
        { tier: "Free", creates_per_hour: 10 },
        { tier: "Pro", creates_per_hour: 100 },
      ],
    },
  });
});

it("of two tables that fit, an array is from the one that its name and its description speak of", async () => {
  const tableOf = (place: string, tier: string) =>
    `## ${place}\n\n| Tier | Creates |\n|---|---|\n| ${tier} | 1 |\n`;
  const places = `${tableOf("Orchard", "apple")}\n${tableOf("Harbour", "boat")}`;
  const folder = new Corpus({ root: folderWith({ "places.md": places }) });
  const rows = list(object({ tier: text, creates: whole }));
  const orchard = { ...rows, description: "in the orchard" };
  expect(await extract(folder, "all", object({ orchard: rows, harbour: rows }))).toMatchObject({
    output: { orchard: [{ tier: "apple" }], harbour: [{ tier: "boat" }] },
  });
  const harbour = { ...rows, description: "at the harbour" };
  expect(await extract(folder, "all", object({ a: orchard, b: harbour }))).toMatchObject({
    output: { a: [{ tier: "apple" }], b: [{ tier: "boat" }] },
  });
});
