import { FLAGS } from "./arguments.js";

const FLAG_INPUTS = Object.entries(FLAGS);
const SWITCHES = FLAG_INPUTS.flatMap(([name, { value }]) => (value ? [] : name));
const VALUES = ["output", "prompt-file", ...FLAG_INPUTS.flatMap(([name, { value }]) => (value ? name : []))];

/** What to do next, by the exit code, for what the program says in commands of a terminal. */
const NEXT = new Map([
  [4, "Set RESEARCH_API_KEY, or the variable of the provider, in the `env` of the step, from a secret."],
  [5, "Give `request-id`, or let a step with `mode: create` keep its history."],
  [
    8,
    "It goes on. In a later job: `mode: collect` with `request-id`, or the same batch with the folder of this one.",
  ],
  [11, "Do not run the step again before you have looked for the request at the service."],
]);

/**
 * A line that the program wrote for a terminal, in the words of the action: an input in place of a flag. Undefined for a
 * hint that names a command; `nextStep` stands in its place.
 * @param {string} line
 * @returns {string | undefined}
 */
export function inInputs(line) {
  if (/^hint: .*\bresearch( [a-z-]|`)/.test(line)) return undefined;
  return line
    .replace(/option '--([a-z-]+)[^']*' argument/, "input '$1',")
    .replace(/(?<![\w-])--[a-z-]+/g, inputOf);
}

/**
 * The input that sets a flag; the flag itself if no input does.
 * @param {string} flag
 */
function inputOf(flag) {
  const name = flag === "--out" ? "output" : flag.slice("--".length);
  if (SWITCHES.includes(name)) return `\`${name}: true\``;
  return VALUES.includes(name) ? `\`${name}\`` : flag;
}

/**
 * What to do after a step that ended with this exit code, as a line; empty if the program has said it.
 * @param {number} exitCode
 */
export function nextStep(exitCode) {
  const next = NEXT.get(exitCode);
  return next === undefined ? "" : `hint: ${next}\n`;
}
