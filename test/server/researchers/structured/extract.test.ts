import { join } from "node:path";
import { beforeAll, describe, expect, it } from "vitest";
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

const DOCUMENT = `# Service

Rate limits are counted per hour by tier:

| Tier | Create conversation | Stop conversation |
|---|---|---|
| Free | 10 requests per hour | 20 requests per hour |
| Pro | 100 requests per hour | 200 requests per hour |
| Enterprise | custom | custom |

The service was released on March 5, 2024. Write to help@example.org for support.

A basket holds 12 apples. The depot in Berlin is open from 9 to 17.
`;

let corpus: Corpus;
beforeAll(async () => {
  corpus = new Corpus({ root: folderWith({ "doc.md": DOCUMENT }) });
  await corpus.refresh();
});

describe("what the document says is filled", () => {
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
      "the other column",
      "What are the limits?",
      object({ limits: list(object({ stops_per_hour: whole, tier: text })) }),
      {
        limits: [
          { tier: "Free", stops_per_hour: 20 },
          { tier: "Pro", stops_per_hour: 200 },
        ],
      },
    ],
    [
      "cells by row and column",
      "limits",
      object({ free: object({ creates_per_hour: whole }), pro_stops_per_hour: whole }),
      { free: { creates_per_hour: 10 }, pro_stops_per_hour: 200 },
    ],
    [
      "through $ref and $defs",
      "limits",
      {
        ...object({ limits: list({ $ref: "#/$defs/limit" }) }),
        $defs: { limit: object({ tier: text, creates_per_hour: whole }) },
      },
      {
        limits: [
          { tier: "Free", creates_per_hour: 10 },
          { tier: "Pro", creates_per_hour: 100 },
        ],
      },
    ],
    [
      "a date",
      "When was it released?",
      object({ released: { type: "string", format: "date" } }),
      { released: "2024-03-05" },
    ],
    [
      "a number in a sentence",
      "How many apples does a basket hold?",
      object({ apples: whole }),
      { apples: 12 },
    ],
    [
      "an address",
      "Where to get support?",
      object({ support: { type: "string", format: "email" } }),
      { support: "help@example.org" },
    ],
    [
      "one of several values",
      "Where is the depot?",
      object({ depot: { enum: ["Paris", "Berlin"] } }),
      { depot: "Berlin" },
    ],
    [
      "null where nothing is known and null will do",
      "apples?",
      object({ apples: whole, pears: { type: ["integer", "null"] } }),
      { apples: 12, pears: null },
    ],
    [
      "nothing for what is optional",
      "apples in a basket",
      object({ apples: whole, pears: whole }, ["apples"]),
      { apples: 12 },
    ],
    [
      "where it is said",
      "How many apples does a basket hold?",
      object({ answer: text, sources: list(text) }),
      { answer: "A basket holds 12 apples.", sources: ["doc.md:13"] },
    ],
  ])("%s", async (_name, prompt, schema, output) => {
    expect(await extract(corpus, prompt, schema)).toMatchObject({ kind: "output", output });
  });
});

describe("nothing is invented", () => {
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
    ["a number that is not clear", "When is the depot open?", object({ depot_open: whole }), "depot_open"],
    [
      "a number about something else",
      "How many pears does a basket hold?",
      object({ pears: whole }),
      "pears",
    ],
    ["a number of that name on another matter", "What about pears?", object({ apples: whole }), "apples"],
    [
      "a value that does not occur",
      "Where is the depot?",
      object({ depot: { enum: ["Paris", "Rome"] } }),
      "depot",
    ],
    ["a subject that is not there", "zebra", object({ zebra: text }), "zebra"],
    ["yes or no", "Is the depot open?", object({ open: { type: "boolean" } }), "open"],
  ])("%s", async (_name, prompt, schema, path) => {
    expect(await extract(corpus, prompt, schema)).toEqual({
      kind: "failure",
      reason: `The sources do not say ${path}.`,
    });
  });

  it("what breaks the schema otherwise", async () => {
    const schema = object({
      limits: { ...list(object({ tier: text, creates_per_hour: whole })), minItems: 3 },
    });
    expect(await extract(corpus, "limits", schema)).toEqual({
      kind: "failure",
      reason: expect.stringContaining("at /limits: must NOT have fewer than 3 items"),
    });
  });
});

it("this repository's own document gives the true numbers", async () => {
  const own = new Corpus({ root: join(import.meta.dirname, "../../../..") });
  await own.refresh();
  const schema = object({ limits: list(object({ tier: text, creates_per_hour: whole })) });
  expect(await extract(own, "What are the hourly limits?", schema)).toMatchObject({
    kind: "output",
    output: {
      limits: [
        { tier: "Free", creates_per_hour: 10 },
        { tier: "Pro", creates_per_hour: 100 },
      ],
    },
  });
});
