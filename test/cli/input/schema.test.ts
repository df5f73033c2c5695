import { Readable } from "node:stream";
import { describe, expect, test } from "vitest";
import { readSchema } from "../../../src/cli/input/read-request.js";
import { LocalError } from "../../../src/core/files/local-error.js";
import { folderWith } from "../../support/folder.js";

const { signal } = new AbortController();
const stdin = (text: string) => ({
  ...{ isTTY: false, stream: Readable.from([Buffer.from(text)]) as NodeJS.ReadStream },
});

describe("a schema", () => {
  const read = (source: string | undefined, given = stdin("")) => readSchema(source, given, signal);

  test("is JSON text, a file, or stdin", async () => {
    const folder = folderWith({ schema: '{"type":"object"}' });
    expect(await read(undefined)).toBeUndefined();
    expect(await read(' {"type":"array"}')).toEqual({ type: "array" });
    expect(await read(`${folder}/schema`)).toEqual({ type: "object" });
    expect(await read("-", stdin('{"type":"null"}'))).toEqual({ type: "null" });
  });

  test.each([
    ["[]", "the schema is an invalid JSON Schema: it must be a JSON object"],
    ["7", "the schema is an invalid JSON Schema: it must be a JSON object"],
    ["{", "the schema is not JSON: line 1"],
    [`${" ".repeat(1 << 20)}{}`, "the schema is over 1 MiB"],
  ])("%.10j is invalid", async (source, message) => {
    await expect(read(source)).rejects.toThrow(message);
  });

  test("of a file or of stdin is named by it", async () => {
    const folder = folderWith({ schema: "7" });
    await expect(read(`${folder}/schema`)).rejects.toThrow(`the schema in ${folder}/schema is an invalid`);
    await expect(read("-", stdin("null"))).rejects.toThrow("the schema on stdin is an invalid");
    await expect(read(`${folder}/missing`)).rejects.toThrow(LocalError);
  });
});
