import { UsageError } from "./errors.js";

export type Environment = Readonly<Record<string, string | undefined>>;

const SWITCH: Readonly<Record<string, boolean>> = {
  1: true,
  true: true,
  yes: true,
  0: false,
  false: false,
  no: false,
};

/** Whether a variable switches something on; undefined if it is unset or empty. Throws UsageError for an unusable value. */
export function switchIn(env: Environment, name: string): boolean | undefined {
  const value = env[name];
  if (!value) return undefined;
  const key = value.toLowerCase();
  if (Object.hasOwn(SWITCH, key)) return SWITCH[key];
  throw new UsageError(
    `invalid value for ${name}: ${JSON.stringify(value)}`,
    "It takes 1, true or yes, and 0, false or no.",
  );
}
