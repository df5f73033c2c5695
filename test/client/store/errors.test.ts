import { expect, test } from "vitest";
import { InvalidSettingsError } from "../../../src/client/store/settings-file.js";
import { getErrorCode } from "../../../src/core/files/file-access.js";
import { describeSystemError, LocalError } from "../../../src/core/files/local-error.js";

const failed = (code: unknown, message = "failed") => Object.assign(new Error(message), { code });

test.each([
  ["EACCES", "permission denied (EACCES)"],
  ["EDQUOT", "the disk quota is used up (EDQUOT)"],
  ["EEXIST", "it exists already (EEXIST)"],
  ["EFBIG", "it would grow beyond the allowed size (EFBIG)"],
  ["EISDIR", "it is a folder (EISDIR)"],
  ["ENOENT", "no such file or folder (ENOENT)"],
  ["ENOSPC", "the disk is full (ENOSPC)"],
  ["ENOTDIR", "a part of the path is not a folder (ENOTDIR)"],
  ["EPERM", "not permitted (EPERM)"],
  ["EROFS", "the file system is read-only (EROFS)"],
  ["EIO", "failed"],
  [undefined, "failed"],
])("a system error with the code %s is %j", (code, words) => {
  expect(describeSystemError(failed(code))).toBe(words);
});

test.each([
  [failed("EIO"), "EIO", "failed"],
  [failed(5), undefined, "failed"],
  [new Error("no code"), undefined, "no code"],
  [{ code: "ENOSPC" }, undefined, "[object Object]"],
  ["text", undefined, "text"],
  [undefined, undefined, "undefined"],
])("of %j the code is %j, in words %j", (error, code, words) => {
  expect(getErrorCode(error)).toBe(code);
  expect(describeSystemError(error)).toBe(words);
});

test("an error of this machine has its name and keeps its cause", () => {
  const cause = new Error("cause");
  expect(new LocalError("message", { cause })).toMatchObject({
    ...{ name: "LocalError", message: "message", cause },
  });
});

test("invalid settings are named by their path and never quoted", () => {
  const error = new InvalidSettingsError("/p", "not valid JSON", "secret");
  expect(error).toMatchObject({
    message: "the settings in /p are not valid JSON",
    path: "/p",
    text: "secret",
  });
});
