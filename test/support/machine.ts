import { mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach } from "vitest";
import type { Clock } from "../../src/core/clock.js";
import { folderWith } from "./folder.js";
import { type HappyOptions, HappyService } from "./happy-service.js";
import { InProcess, inProcess } from "./in-process.js";
import type { RunResult } from "./run.js";
import { VirtualClock } from "./virtual-clock.js";
import { jsonLines } from "./world.js";

const closing: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0)) await close();
});

/** Closes something when the test is over. */
export function closeLater(close: () => Promise<void>): void {
  closing.push(close);
}

type Service = { url: string; env: { RESEARCH_BASE_URL: string; RESEARCH_API_KEY: string } };

/** One person's machine: commands run in this process, and share a home. */
export class Machine<C extends Clock> {
  readonly home = folderWith();
  readonly env: Record<string, string>;
  readonly clock: C;

  constructor(service: Pick<Service, "env">, clock: C) {
    this.clock = clock;
    this.env = { PATH: process.env.PATH ?? "", HOME: this.home, ...service.env };
  }

  readonly run = (...argv: string[]): Promise<RunResult> => inProcess(argv, this);

  /** Runs a batch of which the results are in the folder `out`. */
  readonly batch = (file: string, ...flags: string[]): Promise<RunResult> =>
    this.run("batch", file, "--out", this.path("out"), ...flags);

  readonly start = (...argv: string[]): InProcess => new InProcess(argv, this);

  /** Writes a file in the home, and returns its path. */
  file(name: string, text: string): string {
    const path = join(this.home, name);
    mkdirSync(join(path, ".."), { recursive: true });
    writeFileSync(path, text);
    return path;
  }

  /** The path of something in the home. */
  path(...names: string[]): string {
    return join(this.home, ...names);
  }

  read(...names: string[]): string {
    return readFileSync(this.path(...names), "utf8");
  }

  /** The results in an output folder: every file but those with a dot. */
  results(out: string): string[] {
    return readdirSync(this.path(out))
      .filter((name) => !name.startsWith(".") && name !== "results.jsonl")
      .sort();
  }

  /** The lines of `results.jsonl` in an output folder. */
  listed(out: string): Record<string, unknown>[] {
    return jsonLines(this.read(out, "results.jsonl"));
  }
}

/** A machine and a service that follows the interface, in virtual time. */
export async function machine(options: HappyOptions = {}) {
  const service = await HappyService.start(options);
  closeLater(() => service.server.close());
  const creates = () => service.server.count("create");
  return Object.assign(new Machine(service, new VirtualClock()), { service, creates });
}

/** The prompts a service was sent, in order. */
export function promptsOf({ server }: HappyService): string[] {
  return server.of("create").map(({ body }) => JSON.parse(body.toString("utf8")).prompt);
}
