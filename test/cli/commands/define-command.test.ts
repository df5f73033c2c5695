import { expect, test } from "vitest";
import type { Context } from "../../../src/cli/command-context.js";
import { DocumentedCommand, defineCommand } from "../../../src/cli/commands/define-command.js";
import {
  createWholeNumberParser,
  defineRepeatable,
  defineValue,
} from "../../../src/cli/commands/flag-values.js";

const flags = {
  "-q, --quiet": "say less",
  "--max-failures <n>": defineValue("how many", createWholeNumberParser(1)),
  "--name <name>": defineRepeatable("a name"),
};
type Options = { quiet?: boolean; maxFailures?: number; name: string[] };
const about = { name: "a", description: "d", flags };
const taking =
  <Taken>() =>
  async () =>
  async (_ctx: Context, _options: Taken) =>
    0;

// The compiler refuses the line after each of these; `npm run check` reports one that it takes.
defineCommand({ ...about, run: taking<Options>() });
// @ts-expect-error An option that no flag gives.
defineCommand({ ...about, run: taking<Options & { maxErrors?: number }>() });
// @ts-expect-error A flag that the action does not take.
defineCommand({ ...about, run: taking<Omit<Options, "quiet">>() });
// @ts-expect-error A number where the action takes a text.
defineCommand({ ...about, run: taking<Omit<Options, "maxFailures"> & { maxFailures?: string }>() });
// @ts-expect-error A flag that may be absent where the action needs it.
defineCommand({ ...about, run: taking<Options & { quiet: boolean }>() });

test("an action gets its arguments, and the flags that stood before and after its name", async () => {
  const given: unknown[] = [];
  const below = defineCommand({
    name: "below",
    description: "d",
    arguments: [["<id...>", "ids"]],
    flags: { "--own <text>": defineValue("a text", String, "default"), "-q, --quiet": "say less" },
    run: async () => async (_ctx, ids, options) => given.push(ids, options),
  });
  const program = new DocumentedCommand("research").exitOverride().configureOutput({ writeErr: () => {} });
  const above = defineCommand({ ...about, run: taking<Options>(), commands: [below] });
  let action: ((ctx: Context) => Promise<number>) | undefined;
  above(program, (performed) => {
    action = performed;
  });
  const read = async (...argv: string[]) => {
    program.parse(["a", ...argv], { from: "user" });
    await action?.(undefined as never);
    return given.splice(0);
  };
  expect(await read("-q", "below", "x", "y")).toEqual([["x", "y"], { own: "default", quiet: true }]);
  // commander gives a flag to the command above that has one of its name, wherever it stands.
  expect(await read("below", "x", "--own", "o", "-q")).toEqual([["x"], { own: "o", quiet: true }]);
  await expect(read("below", "x", "--max-failures", "3")).rejects.toThrow("unknown option '--max-failures'");
});
