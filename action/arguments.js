/**
 * The inputs of the action, as action.yml hands them over: an empty text is an input that was not given.
 * @typedef {{ mode: string, prompt: string, promptFile: string, schema: string, batchFile: string, shard: string,
 *   requestId: string, output: string, timeout: string, tier: string, jobIndex: string, jobTotal: string }} Inputs
 */

/** An input that is missing or invalid. */
export class InputError extends Error {}

/**
 * The inputs from the environment that action.yml sets.
 * @param {Readonly<Record<string, string | undefined>>} env
 * @returns {Inputs}
 */
export function readInputs(env) {
  const input = (/** @type {string} */ name) => (env[`INPUT_${name}`] ?? "").trim();
  return {
    mode: input("MODE"),
    // Blanks around a prompt are the user's.
    prompt: env.INPUT_PROMPT ?? "",
    promptFile: input("PROMPT_FILE"),
    schema: input("SCHEMA"),
    batchFile: input("BATCH_FILE"),
    shard: input("SHARD"),
    requestId: input("REQUEST_ID"),
    output: input("OUTPUT"),
    timeout: input("TIMEOUT"),
    tier: input("TIER"),
    jobIndex: env.JOB_INDEX ?? "",
    jobTotal: env.JOB_TOTAL ?? "",
  };
}

/**
 * The command line of a mode, and the text for its stdin. A prompt goes through stdin, so that neither a shell nor
 * an argument parser sees it. Throws InputError.
 * @param {Inputs} inputs
 * @returns {{ args: string[], stdin: string }}
 */
export function commandOf(inputs) {
  const { mode, schema, timeout, tier, output } = inputs;
  if (output === "" && mode !== "create") throw new InputError("the input output is empty");
  const waits = flag("--timeout", timeout);
  const asks = [...flag("--schema", schema), ...flag("--tier", tier)];
  switch (mode) {
    case "run":
      return withPrompt(inputs, ["run", "--output", output, ...waits, ...asks]);
    case "create":
      return withPrompt(inputs, ["create", ...asks]);
    case "collect": {
      const id = inputs.requestId === "" ? "@last" : inputs.requestId;
      return { args: ["output", "--watch", "--output", output, ...waits, "--", id], stdin: "" };
    }
    case "batch": {
      const { batchFile } = inputs;
      if (batchFile === "") throw new InputError("mode batch needs the input batch-file");
      const shard = flag("--shard", inputs.shard === "" ? matrixShard(inputs) : inputs.shard);
      return { args: ["batch", "--out", output, ...waits, ...asks, ...shard, "--", batchFile], stdin: "" };
    }
    default:
      throw new InputError(`invalid mode: ${JSON.stringify(mode)} (run, create, collect or batch)`);
  }
}

/**
 * The shard of a job in a matrix of several; empty for a job alone. `strategy.job-index` counts from 0, a shard
 * from 1.
 * @param {Pick<Inputs, "jobIndex" | "jobTotal">} inputs
 */
function matrixShard({ jobIndex, jobTotal }) {
  const [index, total] = [Number(jobIndex || "0"), Number(jobTotal || "1")];
  return total > 1 ? `${index + 1}/${total}` : "";
}

/**
 * @param {Inputs} inputs
 * @param {string[]} args
 */
function withPrompt({ prompt, promptFile }, args) {
  if (prompt !== "" && promptFile !== "") throw new InputError("give prompt or prompt-file, not both");
  if (promptFile !== "") return { args: [...args, "--prompt-file", promptFile], stdin: "" };
  if (prompt.trim() === "") throw new InputError("the input prompt is empty, and no prompt-file is given");
  return { args: [...args, "-"], stdin: prompt };
}

/**
 * @param {string} name
 * @param {string} value
 */
function flag(name, value) {
  return value === "" ? [] : [`${name}=${value}`];
}
