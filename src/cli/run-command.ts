import { UsageError } from "../machine/errors.js";
import type { Context } from "./context.js";
import { ClosedPipe, commandFailure, Interrupted, withPlace } from "./errors.js";
import { readArguments } from "./program.js";
import type { Host, ProcessEnding } from "./terminal/host.js";
import { Interruption } from "./terminal/interruption.js";
import { Reporter } from "./terminal/reporter.js";

/** Reads the arguments, runs the action, and maps an error to a message and to how the process ends. */
export async function runCommand(argv: readonly string[], host: Host): Promise<ProcessEnding> {
  const interruption = new Interruption(host);
  const reporter = new Reporter(host, wantsJson(argv, host.env), interruption.signal);
  let ctx: Context | undefined;
  // An interrupted command has to end as one, also if it wrote more: a loop around it ends only then.
  const ending = (code: number, signal = interruption.unhandled): ProcessEnding => ({
    code,
    ...(signal && { signal }),
  });
  try {
    const request = readArguments(argv, host);
    if (request.kind === "text") {
      await reporter.result(request.text);
      return { code: 0 };
    }
    if (request.kind === "help") {
      await reporter.say(request.text.trimEnd());
      throw new UsageError("no command was given");
    }
    checkOutput(host.env);
    // Help and errors of usage need no settings, history or client.
    const { Context } = await import("./context.js");
    const { keyReader } = await import("../machine/key-file.js");
    const read = request.usesKey ? await keyReader(host.env, host.clock, interruption.signal) : undefined;
    ctx = new Context(host, request.flags, reporter, interruption, read);
    return ending(await request.action(ctx));
  } catch (error) {
    reporter.stopLive();
    if (error instanceof ClosedPipe) return ending(0);
    const failure = commandFailure(await withPlace(error));
    await reporter.error(failure);
    if (failure.code === "INTERNAL" && argv.includes("--verbose") && error instanceof Error) {
      await reporter.notice("STACK", error.stack ?? "");
    }
    return ending(failure.exit_code, error instanceof Interrupted ? error.signal : undefined);
  } finally {
    await ctx?.close();
    interruption.release();
  }
}

/** Throws UsageError for a value that names no form of output. */
function checkOutput({ RESEARCH_OUTPUT: value }: Host["env"]): void {
  if (value && value !== "json" && value !== "human")
    throw new UsageError(
      `invalid value for RESEARCH_OUTPUT: ${JSON.stringify(value)}`,
      "It takes json or human, the default.",
    );
}

/** Asked before the arguments are read, since errors in those are JSON, too. */
function wantsJson(argv: readonly string[], env: Host["env"]): boolean {
  const end = argv.indexOf("--");
  return env.RESEARCH_OUTPUT === "json" || argv.slice(0, end < 0 ? undefined : end).includes("--json");
}
