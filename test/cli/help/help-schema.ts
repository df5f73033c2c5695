const text = { type: "string", minLength: 1 };
const maybe = { type: ["string", "null"], minLength: 1 };
const choices = { type: ["array", "null"], items: text, minItems: 1 };
const exactly = (properties: Record<string, unknown>) => ({
  type: "object",
  properties,
  required: Object.keys(properties),
  additionalProperties: false,
});
const list = (items: unknown, minItems = 0) => ({ type: "array", items, minItems });
const exitCode = exactly({ code: { type: "integer", minimum: 0, maximum: 255 }, meaning: text });
const option = exactly({
  flags: text,
  name: { type: "string", pattern: "^--[a-z][a-z-]*$" },
  short: { type: ["string", "null"], pattern: "^-[a-zA-Z]$" },
  description: text,
  group: { type: ["string", "null"], pattern: ":$" },
  value: maybe,
  choices,
  default: true,
  environment: maybe,
  global: { type: "boolean" },
});
const argument = exactly({
  name: text,
  description: text,
  required: { type: "boolean" },
  variadic: { type: "boolean" },
  choices,
  default: true,
});
const command = exactly({
  name: { type: "string", pattern: "^[a-z]+( [a-z]+)*$" },
  summary: text,
  description: text,
  usage: text,
  group: { type: ["string", "null"], pattern: ":$" },
  arguments: list(argument),
  options: list(option, 1),
  exit_codes: list(exitCode),
  output: maybe,
  examples: list({ type: "string", pattern: "research" }, 1),
});

/** JSON Schema of what `research help --json` prints. */
export const HELP_SCHEMA = exactly({
  schema_version: { const: 1 },
  version: text,
  description: text,
  options: list(option, 1),
  commands: list(command, 1),
  exit_codes: list(exitCode, 17),
  environment: list(
    exactly({
      name: text,
      description: text,
      flag: maybe,
      commands: { type: ["array", "null"], items: text },
    }),
    1,
  ),
  settings: list(
    exactly({
      name: { type: "string", pattern: "^[a-z-]+$" },
      description: text,
      default: maybe,
      choices,
      flags: list({ type: "string", pattern: "^--" }),
      variables: list({ type: "string", pattern: "^RESEARCH_" }),
    }),
    12,
  ),
  topics: list(exactly({ name: text, summary: text, text: { type: "string", pattern: "\\n$" } }), 7),
});
