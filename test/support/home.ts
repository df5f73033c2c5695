import { appendFileSync, mkdirSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect } from "vitest";
import { systemClock } from "../../src/cli/main.js";
import { hashApiKey } from "../../src/client/store/history/history-records.js";
import type { Clock } from "../../src/core/clock.js";
import { folderWith } from "./folder.js";
import { KEY } from "./happy-service.js";
import { inProcess } from "./in-process.js";

/** Where the program keeps its things in these tests: two folders below `home`. */
export function foldersIn(home: string): { RESEARCH_CONFIG_DIR: string; RESEARCH_STATE_DIR: string } {
  return { RESEARCH_CONFIG_DIR: join(home, "config"), RESEARCH_STATE_DIR: join(home, "state") };
}

/** A home with these files, and the environment of a person whose home it is, with `given` in it. */
export function homeWith<Given extends object = object>(
  given?: Given,
  { files = {}, clock = systemClock }: { files?: Readonly<Record<string, string>>; clock?: Clock } = {},
) {
  const home = folderWith(files);
  const env = { HOME: home, ...foldersIn(home), ...(given as Given) };
  /** Runs a command line of that person in this process. */
  const run = (...argv: string[]) => inProcess(argv, { env, clock });
  /** The same with one that has to succeed. */
  const succeed = async (...argv: string[]) => {
    const seen = await run(...argv);
    expect(seen, seen.stderr).toMatchObject({ code: 0 });
    return seen;
  };
  return { home, env, run, succeed };
}

export interface Planted {
  requestId: string;
  origin: string;
  /** Epoch milliseconds at which it was created. */
  createdAt: number;
  status?: string;
  prompt?: string;
}

/** One line of the history, as the program writes it. */
export function historyLine({ requestId, origin, createdAt, status, prompt }: Planted): string {
  const date = new Date(createdAt).toISOString();
  return JSON.stringify({
    ...{ kind: "created", local_id: `local-${requestId.slice(0, 12)}`, request_id: requestId },
    ...{ sent_at: date, created_at: date, at: date, origin, profile: null, key_id: hashApiKey(KEY) },
    ...{ prompt: prompt ?? "planted", structured_output: false, output_schema: null },
    status: status ?? "PENDING",
  });
}

/** Puts a request into the history that was created earlier. */
export function plant(home: string, planted: Planted): void {
  const { RESEARCH_STATE_DIR } = foldersIn(home);
  mkdirSync(RESEARCH_STATE_DIR, { recursive: true });
  appendFileSync(join(RESEARCH_STATE_DIR, "history.jsonl"), `\n${historyLine(planted)}\n`);
}

export interface Listed {
  local_id: string;
  request_id: string | null;
  status: string;
  prompt: string;
  origin: string;
  profile: string | null;
}

/** What `research list` shows. */
export async function listed(home: string, limit = 20): Promise<Listed[]> {
  const env = { HOME: home, ...foldersIn(home) };
  const { code, stdout, stderr } = await inProcess(["list", "--json", "--limit", String(limit)], { env });
  if (code !== 0) throw new Error(`list ended with ${code}: ${stderr}`);
  return JSON.parse(stdout);
}

/** The paths of all files below a folder that contain `text`, but those for which `except` says so. */
export function filesWith(
  folder: string,
  text: string,
  except: (path: string) => boolean = () => false,
): string[] {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))
    .filter((path) => !except(path) && readFileSync(path).includes(text));
}
