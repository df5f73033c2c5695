import { describe, expect, it } from "vitest";
import type { Table } from "../../../../src/server/researchers/sources/corpus.js";
import { words } from "../../../../src/server/researchers/sources/words.js";
import { propertyWords } from "../../../../src/server/researchers/structured/names.js";
import { SchemaReader } from "../../../../src/server/researchers/structured/schema.js";
import {
  agreed,
  cellFor,
  type Demand,
  rowsFor,
} from "../../../../src/server/researchers/structured/tables.js";

const integer = { type: "integer" };
const text = { type: "string" };
/** The first row stands in line 3. */
const table = (header: string[], rows: string[][], around = ""): Table => ({
  ...{ file: "a.md", header, around },
  rows: rows.map((cells, i) => ({ line: i + 3, cells })),
});

it("cells agree on one value, given with its first place", () => {
  const at = (value: unknown, place: string) => ({ value, place });
  expect(agreed([at(1, "a:1"), at(1, "a:2")])).toEqual(at(1, "a:1"));
  expect(agreed([at(1, "a:1"), at(2, "a:2")])).toBeUndefined();
  expect(agreed([])).toBeUndefined();
});

describe("a cell", () => {
  const cell = (name: string, tables: Table[], more: Partial<Demand> = {}) =>
    cellFor({ schema: integer, type: "integer", nullable: false }, { ...demandOf(name), ...more }, tables);
  const demandOf = (name: string): Demand => ({
    ...{ named: propertyWords(name), roles: [], units: new Set(), known: new Set(words(name)) },
    isAbout: () => false,
  });
  const limits = (pro: string, around = "per hour") =>
    table(
      ["Tier", "Creates"],
      [
        ["Free", "10"],
        ["Pro", pro],
      ],
      around,
    );

  it.each<[string, string, Table[], object | undefined]>([
    ["is found by row and column", "pro creates per hour", [limits("100")], { value: 100, place: "a.md:4" }],
    ["has every word of the name around it", "pro creates per day", [limits("100")], undefined],
    [
      "shares a word with the name in its row and in its column",
      "pro stops",
      [table(["Tier", "Limit"], [["Pro", "100"]], "stops"), table(["Pro", "Stops"], [["Limit", "100"]])],
      undefined,
    ],
    [
      "that says nothing of the kind is passed over",
      "pro creates",
      [limits("custom"), limits("7")],
      { value: 7 },
    ],
    ["is not the one that another contradicts", "pro creates", [limits("8"), limits("7")], undefined],
  ])("%s", (_name, name, tables, expected) => {
    const found = cell(name, tables);
    if (expected === undefined) expect(found).toBeUndefined();
    else expect(found).toMatchObject(expected);
  });

  describe("under a title that says what is asked", () => {
    const asked = {
      roles: ["maximum"] as const,
      known: new Set(words("columns table maximum")),
      isAbout: (label: readonly string[]) =>
        label.length === 0 || words("columns").every((word) => label.includes(word)),
    };
    const sizes = (label: string, value = "1,600") => [
      table(["", "Default", "Upper limit"], [[label, "5", value]]),
    ];
    it.each<[string, Table[], Partial<Demand>, number | undefined]>([
      ["is one of the row that the question is about", sizes("Columns per table"), {}, 1_600],
      ["is none of a row about something else too", sizes("Columns per index"), {}, undefined],
      ["is none of a row about another thing", sizes("Table"), {}, undefined],
      ["is none of a row without a label", sizes(""), {}, undefined],
      ["is the one under that title", sizes("Columns"), { roles: ["default"] }, 5],
      ["is none if nothing is asked", sizes("Columns"), { roles: [] }, undefined],
      ["is none in a unit that is not asked for", sizes("Columns", "1,600 bytes"), {}, undefined],
      [
        "may have the unit that is",
        sizes("Columns", "1,600 bytes"),
        { units: new Set(["byte", "kB"]) },
        1_600,
      ],
    ])("%s", (_name, tables, more, expected) => {
      expect(cell("size", tables, { ...asked, ...more })?.value).toBe(expected);
    });

    it("comes after one that has the whole name", () => {
      expect(
        cell("columns maximum", [...sizes("Columns"), table(["", "Columns"], [["Columns", "7"]])], asked)
          ?.value,
      ).toBe(7);
    });
  });
});

describe("rows of a table", () => {
  const rows = (schema: Record<string, unknown>, tables: Table[], topic = "") =>
    rowsFor(schema, topic, tables, new SchemaReader(schema));
  const values = (...given: Parameters<typeof rows>) => rows(...given).map(({ value }) => value);
  const both = { properties: { tier: text, creates: integer } };
  const limits = (more = {}) => ({
    ...table(
      ["Tier", "Create"],
      [
        ["Free", "10"],
        ["Pro", "custom"],
      ],
    ),
    ...more,
  });

  it("are objects, each with its place", () => {
    expect(rows(both, [limits()])).toEqual([{ value: { tier: "Free", creates: 10 }, place: "a.md:3" }]);
  });

  it.each<[string, Record<string, unknown>, Table[], object[]]>([
    [
      "have null where it will do",
      { properties: { tier: text, creates: { type: ["integer", "null"] } } },
      [limits()],
      [
        { tier: "Free", creates: 10 },
        { tier: "Pro", creates: null },
      ],
    ],
    [
      "leave out what is optional",
      { ...both, required: ["tier"] },
      [limits()],
      [{ tier: "Free", creates: 10 }, { tier: "Pro" }],
    ],
    [
      "need no column for what is optional",
      { ...both, required: ["tier"] },
      [table(["Tier"], [["Free"]])],
      [{ tier: "Free" }],
    ],
    ["need a column for the rest", both, [table(["Tier"], [["Free"]])], []],
    [
      "need no column for what cannot be",
      { properties: { tier: text, no: false }, required: ["tier"] },
      [limits()],
      [{ tier: "Free" }, { tier: "Pro" }],
    ],
    [
      "have a column for each property",
      { properties: { creates: integer, max_creates: integer } },
      [limits()],
      [],
    ],
    [
      "have one column for a property",
      both,
      [table(["Tier", "Create file", "Create page"], [["Free", "1", "2"]])],
      [],
    ],
    ["need columns", both, [table([], [["Free", "10"]])], []],
    [
      "are those of the first table of several",
      both,
      [limits(), limits({ rows: [{ line: 3, cells: ["A", "1"] }] })],
      [{ tier: "Free", creates: 10 }],
    ],
    [
      "are those of a table that has some",
      both,
      [limits({ rows: [] }), limits()],
      [{ tier: "Free", creates: 10 }],
    ],
    [
      "may be all there are, of a table that fits less",
      both,
      [limits({ rows: [] }), table(["Tier", "Create page"], [["A", "1"]])],
      [{ tier: "A", creates: 1 }],
    ],
  ])("%s", (_name, schema, tables, expected) => {
    expect(values(schema, tables)).toEqual(expected);
  });

  it("are of the table that fits best, and of those of the one that is spoken of", () => {
    const other = limits({ around: "of the orchard", rows: [{ line: 9, cells: ["A", "1"] }] });
    expect(values(both, [limits(), other], "limits of the orchard")).toEqual([{ tier: "A", creates: 1 }]);
    const loose = { ...other, header: ["Tier", "Create or update"] };
    expect(values(both, [limits(), loose], "limits of the orchard")).toEqual([{ tier: "Free", creates: 10 }]);
  });

  describe("have the column that a description names", () => {
    const ceiling = (description: string) => ({ properties: { ceiling: { ...integer, description } } });
    it.each<[string, string, string[], object[]]>([
      ["with all its words", "The upper limit.", ["Upper limit"], [{ ceiling: 7 }]],
      ["none with a part of them", "The limit.", ["Upper limit"], []],
      ["none without a title", "The limit.", [""], []],
    ])("%s", (_name, description, header, expected) => {
      expect(values(ceiling(description), [table(header, [["7"]])])).toEqual(expected);
    });
  });
});
