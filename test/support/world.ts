import { folderWith } from "./folder.js";
import { type HappyOptions, HappyService } from "./happy-service.js";
import { research } from "./in-process.js";
import { bash, type Running, type RunOptions, type RunResult, start, startBash } from "./run.js";

type Options = Omit<RunOptions, "home">;

/** One person's machine and one service: an empty home that several commands share, set up for the service. */
export interface World {
  service: HappyService;
  home: string;
  env: Readonly<Record<string, string>>;
  /** Runs a command line in this process. */
  research(args: readonly string[], options?: Pick<Options, "cwd" | "env" | "input">): Promise<RunResult>;
  /** Starts the built program. */
  start(args: readonly string[], options?: Options): Running;
  bash(script: string, options?: Options): Promise<RunResult>;
  startBash(script: string, options?: Options): Running;
}

/** Starts the service; see HappyOptions for what can go wrong in it. */
export async function world(options: HappyOptions = {}): Promise<World> {
  const service = await HappyService.start(options);
  const home = folderWith();
  const with_ = (given: Options = {}): RunOptions => ({
    ...given,
    home,
    env: { ...service.env, ...given.env },
  });
  return {
    service,
    home,
    env: service.env,
    research: (args, given) => research(args, with_(given)),
    start: (args, given) => start(args, with_(given)),
    bash: (script, given) => bash(script, with_(given)),
    startBash: (script, given) => startBash(script, with_(given)),
  };
}

/** The lines of NDJSON text; throws at the first that is no JSON object. */
export function jsonLines(text: string): Record<string, unknown>[] {
  if (text === "") return [];
  if (!text.endsWith("\n")) throw new Error(`the last line does not end: ${JSON.stringify(text)}`);
  return text
    .slice(0, -1)
    .split("\n")
    .map((line) => {
      const value: unknown = JSON.parse(line);
      if (typeof value !== "object" || value === null) throw new Error(`no object: ${line}`);
      return value as Record<string, unknown>;
    });
}

export interface JsonError {
  code: string;
  message: string;
  exit_code: number;
  [field: string]: unknown;
}

/** The errors among the lines of stderr in JSON mode; throws where a line is neither an error nor a notice. */
export function jsonErrors(stderr: string): JsonError[] {
  const lines = jsonLines(stderr);
  for (const line of lines) {
    const keys = Object.keys(line).join();
    if (keys !== "error" && keys !== "notice") throw new Error(`neither error nor notice: ${keys}`);
  }
  return lines.flatMap(({ error }) => (error ? [error as JsonError] : []));
}
