// The main step of the action: runs one command and reports how it ended, as outputs and as the job's summary.
import { spawn, spawnSync } from "node:child_process";
import { appendFileSync, existsSync, mkdtempSync, readFileSync } from "node:fs";
import { constants, tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { commandOf, InputError, readInputs } from "./arguments.js";
import { checkOutput, stampOf } from "./files.js";
import { writeOutputs } from "./outputs.js";
import { batchSummary, summaryOf } from "./summary.js";
import { inInputs, nextStep } from "./words.js";

/** A larger result is not read for the summary, which shows 900 kB of it at most. */
const MAX_SUMMARY_SOURCE_BYTES = 64 << 20;
/** The states that the exit codes of `output --watch` stand for. */
const STATUS_OF = new Map([
  [0, "COMPLETED"],
  [3, "FAILED"],
  [10, "STOPPED"],
  [13, "COMPLETED"],
]);

const { env } = process;
// What install.js has left: the checkout of the action holds no build.
const { RESEARCH_PROGRAM: program = "" } = env;
const inputs = readInputs(env);
const { mode = "", output = "", "request-id": requestId = "" } = inputs;
const isCollect = mode === "collect";
// A history of this step alone, so that what it knows afterwards is about the step's own request.
const history =
  (isCollect && env.RESEARCH_COLLECTED) ||
  mkdtempSync(join(env.RUNNER_TEMP || tmpdir(), "research-history-"));
const childEnv = {
  ...env,
  RESEARCH_STATE_DIR: history,
  RESEARCH_NO_HISTORY: "",
  // The address is in the environment; a profile of this machine must not decide which interface it has.
  RESEARCH_PROVIDER: env.RESEARCH_PROVIDER || "research",
  RESEARCH_MODEL_NAME: inputs["check-model"] || env.RESEARCH_MODEL_NAME,
  RESEARCH_MODEL_URL: inputs["check-model-url"] || env.RESEARCH_MODEL_URL,
};

try {
  const { args, stdin } = commandOf(inputs);
  if (!env.RESEARCH_BASE_URL && !env.RESEARCH_PROVIDER)
    throw new InputError("set RESEARCH_BASE_URL, or RESEARCH_PROVIDER, in the `env` of the step");
  if (mode !== "create") checkOutput(output, mode === "batch" ? "folder" : "file");
  const before = mode === "create" ? undefined : stampOf(output);
  const exitCode = await run(args, stdin);
  process.stderr.write(nextStep(exitCode));
  const request = mode === "batch" ? {} : isCollect && requestId ? collected(exitCode) : newest();
  const after = mode === "create" ? undefined : stampOf(output);
  // A batch that had ended before changes nothing in its folder.
  const isWritten = after !== undefined && (after !== before || (mode === "batch" && exitCode === 0));
  const file = isWritten ? output : "";
  report({
    "request-id": String(request.request_id ?? ""),
    status: String(request.status ?? ""),
    "exit-code": String(exitCode),
    file,
    check: checkOf(mode === "batch" ? rowsOf(file) : [request]),
    history,
  });
  if (file !== "" && (mode === "batch" || inputs.html !== "true")) summarize(file);
  process.exitCode = exitCode;
} catch (error) {
  if (!(error instanceof InputError)) throw error;
  process.stderr.write(`error: ${error.message}\n`);
  report({ "request-id": "", status: "", "exit-code": "2", file: "", check: "", history: "" });
  process.exitCode = 2;
}

/**
 * Runs the program; resolves with its exit code, which is 128 and the signal's number if it died of one. Its stderr is
 * the job's log, in the words of the action; its stdout is, too, since a result goes to a file.
 * @param {string[]} args
 * @param {string} stdin
 * @returns {Promise<number>}
 */
function run(args, stdin) {
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, [program, ...args], {
      env: childEnv,
      stdio: ["pipe", "inherit", "pipe"],
    });
    let rest = "";
    child.stderr.setEncoding("utf8").on("data", (part) => {
      const lines = `${rest}${part}`.split("\n");
      rest = lines.pop() ?? "";
      process.stderr.write(
        lines
          .flatMap((line) => inInputs(line) ?? [])
          .map((line) => `${line}\n`)
          .join(""),
      );
    });
    child.once("error", reject);
    child.once("close", (code, signal) => {
      process.stderr.write(rest);
      resolve(code ?? 128 + (signal ? constants.signals[signal] : 0));
    });
    // The program may end before it has read its input.
    child.stdin.on("error", () => {});
    child.stdin.end(stdin);
    // A cancelled job: the program says how to go on, and ends.
    for (const signal of /** @type {const} */ (["SIGINT", "SIGTERM"]))
      process.on(signal, () => child.kill(signal));
  });
}

/**
 * The newest request in the history of this step, if there is one.
 * @returns {{ request_id?: unknown, status?: unknown, check?: { counts: Record<string, number> } }}
 */
function newest() {
  const stdout = ask(["show", "--json", "@last"]);
  return stdout === "" ? {} : JSON.parse(stdout);
}

/**
 * A request that was created elsewhere.
 * @param {number} exitCode
 */
function collected(exitCode) {
  const asked = () => (exitCode === 8 ? ask(["status", "--quiet", "--", requestId]) : "");
  return { request_id: requestId, status: STATUS_OF.get(exitCode) ?? asked() };
}

/**
 * The rows of a batch that ended.
 * @param {string} folder
 * @returns {{ check?: { counts: Record<string, number> } }[]}
 */
function rowsOf(folder) {
  const path = join(folder, "results.jsonl");
  if (folder === "" || !existsSync(path)) return [];
  return readFileSync(path, "utf8")
    .split("\n")
    .filter(Boolean)
    .map((line) => JSON.parse(line));
}

/**
 * The counts of all checks together as JSON; empty if there was none.
 * @param {{ check?: { counts: Record<string, number> }, status?: unknown }[]} requests
 */
function checkOf(requests) {
  const counts = requests.flatMap(({ check }) => (check ? [check.counts] : []));
  /** @type {Record<string, number>} */
  const all = {};
  for (const one of counts)
    for (const [name, count] of Object.entries(one)) all[name] = (all[name] ?? 0) + count;
  return counts.length > 0 && inputs.check === "true" ? JSON.stringify(all) : "";
}

/** @param {string[]} args */
function ask(args) {
  return spawnSync(process.execPath, [program, ...args], { env: childEnv, encoding: "utf8" }).stdout.trim();
}

/** @param {Readonly<Record<string, string>>} outputs */
function report(outputs) {
  if (env.GITHUB_OUTPUT) writeOutputs(env.GITHUB_OUTPUT, outputs);
}

/** @param {string} file the result, or the folder of a batch */
function summarize(file) {
  const path = mode === "batch" ? join(file, "results.jsonl") : file;
  // A batch of which nothing has ended has none.
  if (!env.GITHUB_STEP_SUMMARY || !existsSync(path)) return;
  const text = readFileSync(path).subarray(0, MAX_SUMMARY_SOURCE_BYTES).toString("utf8");
  appendFileSync(
    env.GITHUB_STEP_SUMMARY,
    mode === "batch" ? batchSummary(text, file) : summaryOf(text, file),
  );
}
