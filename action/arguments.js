/**
 * The inputs of the action by name, as action.yml hands them over: an empty text is an input that was not given.
 * @typedef {Readonly<Record<string, string>>} Inputs
 */

/** An input that is missing or invalid. */
export class InputError extends Error {}

/** Inputs that are a flag of the same name, with the modes that take them. `true` stands for a flag without a value. */
export const FLAGS = {
  timeout: { modes: ["run", "collect", "batch"], value: true },
  schema: { modes: ["run", "create", "batch"], value: true },
  tier: { modes: ["run", "create", "batch"], value: true },
  "per-hour": { modes: ["run", "create", "batch"], value: true },
  "max-failures": { modes: ["batch"], value: true },
  "wait-for-quota": { modes: ["run", "create"], value: false },
  force: { modes: ["run", "collect"], value: false },
  strict: { modes: ["run", "collect"], value: false },
  html: { modes: ["run", "collect", "batch"], value: false },
  check: { modes: ["run", "batch"], value: false },
  "retry-failed": { modes: ["batch"], value: false },
};

/**
 * The inputs from the environment that action.yml sets: `INPUT_PER_HOUR` is `per-hour`. `output` has a default by the mode.
 * @param {Readonly<Record<string, string | undefined>>} env
 * @returns {Inputs}
 */
export function readInputs(env) {
  const set = Object.entries(env).filter(([name]) => name.startsWith("INPUT_"));
  const inputs = set.map(([name, value = ""]) => [
    name.slice("INPUT_".length).toLowerCase().replaceAll("_", "-"),
    // Blanks around a prompt are the user's.
    name === "INPUT_PROMPT" ? value : value.trim(),
  ]);
  const given = Object.fromEntries(inputs);
  const output = given.mode === "batch" ? "research-results" : "research-report.md";
  return { ...given, output: given.output || output };
}

/**
 * The command line of a mode, and the text for its stdin. A prompt goes through stdin, so that neither a shell nor
 * an argument parser sees it. Throws InputError.
 * @param {Inputs} inputs
 * @returns {{ args: string[], stdin: string }}
 */
export function commandOf(inputs) {
  const { mode = "", output = "", "request-id": id = "", "batch-file": batchFile = "" } = inputs;
  switch (mode) {
    case "run":
      return withPrompt(inputs, ["run", `--output=${output}`, ...flags(inputs)]);
    case "create":
      return withPrompt(inputs, ["create", ...flags(inputs)]);
    case "collect": {
      const args = ["output", "--watch", `--output=${output}`, ...flags(inputs)];
      return { args: [...args, "--", id === "" ? "@last" : id], stdin: "" };
    }
    case "batch": {
      if (batchFile === "") throw new InputError("mode batch needs the input batch-file");
      return { args: ["batch", `--out=${output}`, ...flags(inputs), "--", batchFile], stdin: "" };
    }
    default:
      throw new InputError(`invalid mode: ${JSON.stringify(mode)} (run, create, collect or batch)`);
  }
}

/** @param {Inputs} inputs */
function flags(inputs) {
  const { mode = "" } = inputs;
  if ((inputs["check-model"] || inputs["check-model-url"]) && inputs.check !== "true")
    throw new InputError("check-model and check-model-url need check: true");
  return Object.entries(FLAGS).flatMap(([name, { modes, value }]) => {
    const given = inputs[name] ?? "";
    if (!value && !["", "true", "false"].includes(given))
      throw new InputError(`invalid ${name}: ${JSON.stringify(given)} (true or false)`);
    if (given === "" || given === "false") return [];
    if (modes.includes(mode)) return [value ? `--${name}=${given}` : `--${name}`];
    // It has a default, which is there in every mode.
    if (name === "timeout") return [];
    throw new InputError(`mode ${mode} does not take the input ${name} (${modes.join(", ")})`);
  });
}

/**
 * @param {Inputs} inputs
 * @param {string[]} args
 */
function withPrompt({ prompt = "", "prompt-file": file = "" }, args) {
  if (prompt !== "" && file !== "") throw new InputError("give prompt or prompt-file, not both");
  if (file !== "") return { args: [...args, `--prompt-file=${file}`], stdin: "" };
  if (prompt.trim() === "") throw new InputError("the input prompt is empty, and no prompt-file is given");
  return { args: [...args, "-"], stdin: prompt };
}
