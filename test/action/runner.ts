import { type ChildProcess, spawn } from "node:child_process";
import { existsSync, mkdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { requireBuild } from "../support/build.js";
import { folderOnDisk, folderWith } from "../support/folder.js";
import { environment, NODE, PROGRAM } from "../support/run.js";

const ACTION = join(import.meta.dirname, "../../action");

/** A job on a runner: a checkout, the runner's temporary folder and its files. */
export class Job {
  readonly workspace = folderOnDisk();
  readonly temp: string;
  readonly #action: string;
  readonly #env: Readonly<Record<string, string>>;

  /** `temp`: that of an earlier job, whose artifact this one has downloaded. */
  constructor(env: Readonly<Record<string, string>>, temp = folderWith(), action = ACTION) {
    this.#action = action;
    this.#env = env;
    this.temp = temp;
  }

  /** Runs the script of a step with these inputs, and reads what it left for the runner. */
  async step(
    script: "run" | "install",
    inputs: Readonly<Record<string, string>>,
    meanwhile?: (child: ChildProcess) => Promise<void>,
    args: readonly string[] = [],
  ) {
    if (script === "run") requireBuild();
    const files = folderWith({ output: "", summary: "" });
    const [GITHUB_OUTPUT, GITHUB_STEP_SUMMARY] = [join(files, "output"), join(files, "summary")];
    mkdirSync(this.temp, { recursive: true });
    const env = environment(folderWith(), {
      // Of the step before, `install`.
      RESEARCH_PROGRAM: PROGRAM,
      ...{ CI: "true", GITHUB_ACTIONS: "true", RUNNER_TEMP: this.temp, GITHUB_OUTPUT, GITHUB_STEP_SUMMARY },
      ...{ ...this.#env, ...inputs },
    });
    const { code, log } = await run(
      [join(this.#action, `${script}.js`), ...args],
      env,
      this.workspace,
      meanwhile,
    );
    const outputs = parseOutputs(readFileSync(GITHUB_OUTPUT, "utf8"));
    return { code, log, outputs, summary: readFileSync(GITHUB_STEP_SUMMARY, "utf8") };
  }

  has(name: string): boolean {
    return existsSync(join(this.workspace, name));
  }

  read(name: string): string {
    return readFileSync(join(this.workspace, name), "utf8");
  }
}

function run(
  args: string[],
  env: Record<string, string>,
  cwd: string,
  meanwhile?: (child: ChildProcess) => Promise<void>,
) {
  return new Promise<{ code: number | null; log: string }>((resolve, reject) => {
    const child = spawn(NODE, args, { env, cwd });
    let log = "";
    for (const stream of [child.stdout, child.stderr])
      stream.setEncoding("utf8").on("data", (part: string) => {
        log += part;
      });
    child.once("error", reject);
    meanwhile?.(child).catch(reject);
    child.once("close", (code) => resolve({ code, log }));
  });
}

/** Reads `$GITHUB_OUTPUT` as the runner does: `name=value`, or `name<<delimiter`, lines, and the delimiter. */
export function parseOutputs(text: string): Record<string, string> {
  const outputs: Record<string, string> = {};
  const lines = text.split("\n");
  for (let line = lines.shift(); line !== undefined; line = lines.shift()) {
    if (line === "") continue;
    const [, name = "", separator, rest = ""] = /^(.*?)(<<|=)(.*)$/.exec(line) ?? [];
    if (separator === undefined) throw new Error(`invalid format: ${line}`);
    if (separator === "=") outputs[name] = rest;
    else {
      const end = lines.indexOf(rest);
      if (end < 0) throw new Error(`no end of ${name}`);
      outputs[name] = lines
        .splice(0, end + 1)
        .slice(0, -1)
        .join("\n");
    }
  }
  return outputs;
}
