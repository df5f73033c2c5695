// The main step of the action: runs one command and reports how it ended, as outputs and as the job's summary.
import { spawn, spawnSync } from "node:child_process";
import { appendFileSync, existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import process from "node:process";
import { commandOf, InputError, readInputs } from "./arguments.js";
import { writeOutputs } from "./outputs.js";
import { summaryOf } from "./summary.js";

/** A larger result is not read for the summary, which shows 900 kB of it at most. */
const MAX_SUMMARY_SOURCE_BYTES = 64 << 20;

const { env } = process;
const program = env.RESEARCH_PROGRAM || join(import.meta.dirname, "..", "bin", "research.js");
// The history of this job alone: what it knows afterwards is about this action's own request.
const childEnv = { ...env, RESEARCH_STATE_DIR: join(env.RUNNER_TEMP ?? "", "research-history") };
const inputs = readInputs(env);

try {
  const { args, stdin } = commandOf(inputs);
  const exitCode = await run(args, stdin);
  const { requestId, status } = inputs.mode === "batch" ? { requestId: "", status: "" } : newest();
  const file = inputs.mode !== "create" && existsSync(inputs.output) ? inputs.output : "";
  report({ "request-id": requestId, status, "exit-code": String(exitCode), file });
  if (file !== "" && inputs.mode !== "batch") summarize(file);
  process.exitCode = exitCode;
} catch (error) {
  if (!(error instanceof InputError)) throw error;
  process.stderr.write(`error: ${error.message}\n`);
  report({ "request-id": "", status: "", "exit-code": "2", file: "" });
  process.exitCode = 2;
}

/**
 * Runs the program; resolves with its exit code. Its stderr is the job's log; its stdout is, too, since a result
 * goes to a file.
 * @param {string[]} args
 * @param {string} stdin
 * @returns {Promise<number>}
 */
function run(args, stdin) {
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, [program, ...args], {
      env: childEnv,
      stdio: ["pipe", "inherit", "inherit"],
    });
    child.once("error", reject);
    child.once("exit", (code) => resolve(code ?? 1));
    // The program may end before it has read its input.
    child.stdin.on("error", () => {});
    child.stdin.end(stdin);
    // A cancelled job: the program says how to go on, and ends.
    for (const signal of /** @type {const} */ (["SIGINT", "SIGTERM"]))
      process.on(signal, () => child.kill(signal));
  });
}

/** The request of this job, as the history knows it. */
function newest() {
  if (inputs.mode === "collect" && inputs.requestId !== "")
    return { requestId: inputs.requestId, status: status() };
  const [entry] = list();
  return { requestId: String(entry?.request_id ?? ""), status: String(entry?.status ?? "") };
}

/** The state of a request that was created elsewhere. */
function status() {
  const { stdout } = spawnSync(process.execPath, [program, "status", "--quiet", "--", inputs.requestId], {
    env: childEnv,
    encoding: "utf8",
  });
  return stdout.trim();
}

/** @returns {{ request_id?: unknown, status?: unknown }[]} */
function list() {
  const { stdout } = spawnSync(process.execPath, [program, "list", "--json", "--limit", "1"], {
    env: childEnv,
    encoding: "utf8",
  });
  return stdout === "" ? [] : JSON.parse(stdout);
}

/** @param {Readonly<Record<string, string>>} outputs */
function report(outputs) {
  if (env.GITHUB_OUTPUT) writeOutputs(env.GITHUB_OUTPUT, outputs);
}

/** @param {string} file */
function summarize(file) {
  if (!env.GITHUB_STEP_SUMMARY) return;
  const bytes = readFileSync(file).subarray(0, MAX_SUMMARY_SOURCE_BYTES);
  appendFileSync(env.GITHUB_STEP_SUMMARY, summaryOf(bytes.toString("utf8"), file));
}
