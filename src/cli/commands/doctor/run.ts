import { UsageError } from "../../../machine/errors.js";
import type { Context } from "../../context.js";
import { nearest } from "../../help/nearest.js";
import { PLAIN } from "../../terminal/style.js";
import { CHECK_IDS, type CheckId } from "./check.js";
import { checksOf } from "./checks.js";
import { runChecks } from "./run-checks.js";
import { publicResults, resultLines, resultsJson } from "./view.js";

export interface DoctorOptions {
  offline?: boolean;
  only?: string;
  report?: boolean;
}

/** Checks this machine, the settings and the service, and changes nothing. */
export async function doctor(ctx: Context, options: DoctorOptions): Promise<number> {
  const { reporter, host } = ctx;
  const selection = { only: selected(options.only), offline: options.offline ?? false };
  const { checks, close } = checksOf(ctx);
  const all = await runChecks(checks, selection).finally(close);
  const results = options.report ? publicResults(all) : all;
  if (reporter.json) await reporter.resultJson(resultsJson(results));
  else if (options.report) {
    const system = `research ${host.version}, Node.js ${process.version}, ${host.platform} ${process.arch}`;
    await reporter.result(`\`\`\`text\n${system}\n${resultLines(results, PLAIN)}\`\`\`\n`);
  } else await reporter.result(resultLines(results, await reporter.style()));
  return all.find(({ status }) => status === "fail")?.exitCode ?? 0;
}

/** The checks that `--only` names; all of them without it. Throws UsageError for an unknown one. */
function selected(only: string | undefined): readonly CheckId[] {
  if (only === undefined) return CHECK_IDS;
  const names = only.split(",").map((name) => name.trim());
  const isId = (name: string): name is CheckId => CHECK_IDS.some((id) => id === name);
  const unknown = names.find((name) => !isId(name));
  if (unknown !== undefined)
    throw new UsageError(
      `there is no check ${JSON.stringify(unknown)}`,
      `Did you mean ${nearest(unknown, CHECK_IDS)}? There are: ${CHECK_IDS.join(", ")}.`,
    );
  return names.filter(isId);
}
