import { chmodSync, statSync } from "node:fs";
import { join } from "node:path";
import { expect, it, test } from "vitest";
import { readOrCreateOwnKey } from "../../../src/server/keys/own-key.js";
import { folderWith } from "../../support/folder.js";

it("the key is kept with the data, else fresh each time", async () => {
  const dataDir = join(folderWith(), "deep", "data");
  const first = await readOrCreateOwnKey(dataDir);
  expect(first).toEqual({ apiKey: expect.stringMatching(/^research-[\w-]{32}$/), fresh: true });
  expect(await readOrCreateOwnKey(dataDir)).toEqual({ apiKey: first.apiKey, fresh: false });
  expect((await readOrCreateOwnKey()).apiKey).not.toBe((await readOrCreateOwnKey()).apiKey);
  expect(await readOrCreateOwnKey()).toMatchObject({ fresh: true });
});

it("its file is for the user alone, also one that was open to others", async () => {
  const dataDir = folderWith();
  const path = join(dataDir, "api-key");
  const modeAfterUse = async () => {
    await readOrCreateOwnKey(dataDir);
    return statSync(path).mode & 0o777;
  };
  expect(await modeAfterUse()).toBe(0o600);
  chmodSync(path, 0o644);
  expect(await modeAfterUse()).toBe(0o600);
});

test.each([
  ["is a file", () => join(folderWith({ file: "" }), "file"), ".*file cannot be used: it is not a folder$"],
  ...["", "\n", "two words"].map(
    (text) =>
      [
        `has ${JSON.stringify(text)} for a key`,
        () => folderWith({ "api-key": text }),
        ".*api-key holds no key; remove the file to get a new one",
      ] as const,
  ),
] as const)("a data folder that %s cannot be used, and why is said", async (_, folder, why) => {
  await expect(readOrCreateOwnKey(folder())).rejects.toThrow(
    new RegExp(`^The data folder .* cannot be used: ${why}`),
  );
});
