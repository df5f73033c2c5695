import { type FaultServer, type FaultServerOptions, faultServer, type Script } from "./fault-server.js";
import { type HappyOptions, HappyService } from "./happy-service.js";
import { homeWith } from "./home.js";
import { research } from "./in-process.js";
import { bash, type RunOptions, start, startBash } from "./run.js";

type Options = Omit<RunOptions, "home">;

/** One person's machine, an empty home that several commands share, set up for a service. */
function personAt({ env: own }: Pick<FaultServer, "env">) {
  const { home, env } = homeWith(own);
  const with_ = (given: Options = {}): RunOptions => ({ ...given, home, env: { ...env, ...given.env } });
  return {
    ...{ home, env },
    /** Runs a command line in this process. */
    research: (args: readonly string[], given?: Pick<Options, "cwd" | "env" | "input">) =>
      research(args, with_(given)),
    /** Starts the built program. */
    start: (args: readonly string[], given?: Options) => start(args, with_(given)),
    bash: (script: string, given?: Options) => bash(script, with_(given)),
    startBash: (script: string, given?: Options) => startBash(script, with_(given)),
  };
}

export type World = Awaited<ReturnType<typeof world>>;

/** Starts the service; see HappyOptions for what can go wrong in it. */
export async function world(options: HappyOptions = {}) {
  const service = await HappyService.start(options);
  return { service, ...personAt(service) };
}

/** The same with a service that does to each request what a script says. */
export async function worldOf(script: Script, options?: FaultServerOptions) {
  const server = await faultServer(script, options);
  return { server, ...personAt(server) };
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
