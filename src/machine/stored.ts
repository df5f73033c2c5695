import { isObject } from "../json/is-object.js";
import type { Environment, Folders } from "../store/folders.js";
import { type Choices, profileIn, siteIn } from "./precedence.js";

/** What completion has to know of the settings. */
export interface StoredSettings {
  profiles: string[];
  /** The origin in force; undefined if no usable base URL is configured. */
  origin: string | undefined;
  keepsHistory: boolean;
}

/** The largest settings file that is read, in bytes. */
const MAX_BYTES = 1 << 20;

/** Reads the settings as they are, without the checks and repairs that a command makes. What is unusable is as if unset. */
export function readStored(folder: Folders["config"], env: Environment, choices: Choices): StoredSettings {
  const store = parse(folder);
  const profiles = objectIn(store, "profiles");
  const inUse = store.profile;
  const name = profileIn(choices, env, typeof inUse === "string" ? { profile: inUse } : {}).value;
  const own = objectIn(profiles, name);
  const text = (key: string) => (typeof own[key] === "string" && own[key] !== "" ? own[key] : undefined);
  const sourced = (key: string) => {
    const value = text(key);
    return typeof value === "string" ? { value, source: "" } : undefined;
  };
  const url = siteIn(choices, env, { baseUrl: sourced("base-url"), provider: sourced("provider") }).baseUrl
    ?.value;
  return {
    profiles: Object.keys(profiles),
    origin: url !== undefined && URL.canParse(url) ? new URL(url).origin : undefined,
    keepsHistory: text("history") !== "off" && !/^(?:1|true|yes)$/i.test(env.RESEARCH_NO_HISTORY ?? ""),
  };
}

function parse(folder: string | undefined): Record<string, unknown> {
  const fs = process.getBuiltinModule("node:fs");
  try {
    if (folder === undefined) return {};
    const path = `${folder}/config.json`;
    const stats = fs.statSync(path);
    if (!stats.isFile() || stats.size > MAX_BYTES) return {};
    return objectOr(JSON.parse(fs.readFileSync(path, "utf8")));
  } catch {
    return {};
  }
}

function objectIn(value: Record<string, unknown>, key: string): Record<string, unknown> {
  return Object.hasOwn(value, key) ? objectOr(value[key]) : {};
}

function objectOr(value: unknown): Record<string, unknown> {
  return isObject(value) ? value : {};
}
