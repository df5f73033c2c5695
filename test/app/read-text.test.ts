import { Readable } from "node:stream";
import { describe, expect, test } from "vitest";
import { checkTextSize, readSmallFile, readText } from "../../src/app/read-text.js";
import { folderWith } from "../support/folder.js";

const { signal } = new AbortController();
const stream = (...chunks: Buffer[]) => Readable.from(chunks);

describe("text", () => {
  const latin1 = Buffer.from([0xe9]);

  test("is UTF-8, whole, even if a character comes in two pieces", async () => {
    const bytes = Buffer.from("é");
    expect(await readText(stream(bytes.subarray(0, 1), bytes.subarray(1)), "x", signal)).toBe("é");
    await expect(readText(stream(latin1), "x", signal)).rejects.toThrow("x is not UTF-8 text");
  });

  test.each([
    [4, undefined],
    [5, /^x is over 0 KiB$/],
  ])("of %d bytes, of which 4 are allowed", async (size, message) => {
    const text = "a".repeat(size);
    const path = `${folderWith({ file: text })}/file`;
    const reads = [
      async () => readText(stream(Buffer.from("a"), Buffer.from(text.slice(1))), "x", signal, 4),
      async () => readText(path, "x", signal, 4),
      async () => readSmallFile(path, "x", 4),
      async () => checkTextSize(text, "x", 4),
    ];
    for (const read of reads) {
      if (message) await expect(read()).rejects.toThrow(message);
      else expect(await read()).toBe(text);
    }
  });

  test.each([
    [64 << 10, "x is over 64 KiB"],
    [1 << 20, "x is over 1 MiB"],
    [3 << 20, "x is over 3 MiB"],
  ])("over %d bytes: %s", (limit, message) => {
    expect(() => checkTextSize("a".repeat(limit + 1), "x", limit)).toThrow(message);
  });

  test("of a missing file names the file, of a broken stdin its reason", async () => {
    await expect(readText("/missing/file", "the prompt file", signal)).rejects.toThrow(
      /^the prompt file \/missing\/file could not be read: ./,
    );
    expect(() => readSmallFile("/missing/file", "the key", 9)).toThrow(/^the key \/missing\/file could not/);
    const broken = new Readable({ read: () => broken.destroy(new Error("EIO")) });
    await expect(readText(broken, "the prompt", signal)).rejects.toThrow(
      /^the prompt could not be read from stdin: ./,
    );
  });

  test("that does not come is given up with the signal, and with its reason", async () => {
    const control = new AbortController();
    const waiting = readText(new Readable({ read() {} }), "x", control.signal);
    const reason = new Error("interrupted");
    control.abort(reason);
    await expect(waiting).rejects.toBe(reason);
  });
});
