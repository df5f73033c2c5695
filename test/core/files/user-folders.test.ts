import { expect, test } from "vitest";
import { chooseUserFolders, FolderError } from "../../../src/core/files/user-folders.js";

test.each<[NodeJS.Platform, Record<string, string>, string | undefined, string | undefined]>([
  ["linux", { HOME: "/h" }, "/h/.config/research", "/h/.local/state/research"],
  ["freebsd", { HOME: "/h" }, "/h/.config/research", "/h/.local/state/research"],
  ["linux", { HOME: "/h", XDG_CONFIG_HOME: "/c", XDG_STATE_HOME: "/s" }, "/c/research", "/s/research"],
  [
    "linux",
    { HOME: "/h", XDG_CONFIG_HOME: "c", XDG_STATE_HOME: "" },
    "/h/.config/research",
    "/h/.local/state/research",
  ],
  ["linux", { HOME: "h" }, undefined, undefined],
  ["linux", {}, undefined, undefined],
  ["linux", { RESEARCH_CONFIG_DIR: "/c", RESEARCH_STATE_DIR: "/s" }, "/c", "/s"],
  ["linux", { HOME: "/h", RESEARCH_CONFIG_DIR: "/c" }, "/c", "/h/.local/state/research"],
  ["linux", { HOME: "/h", RESEARCH_CONFIG_DIR: "" }, "/h/.config/research", "/h/.local/state/research"],
  ["darwin", { HOME: "/h" }, "/h/Library/Preferences/research", "/h/Library/Application Support/research"],
])("%s %j", (platform, env, config, state) => {
  expect(chooseUserFolders({ platform, env })).toEqual({ config, state });
});

test.each(["RESEARCH_CONFIG_DIR", "RESEARCH_STATE_DIR"])("a relative %s is an error", (name) => {
  const read = () => chooseUserFolders({ platform: "linux", env: { HOME: "/h", [name]: "here" } });
  expect(read).toThrow(FolderError);
  expect(read).toThrow(`${name} must be an absolute path, and "here" is not`);
});
