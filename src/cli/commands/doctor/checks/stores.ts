import { dirname, join } from "node:path";
import type { Machine } from "../../../../machine/machine.js";
import { UNKNOWN } from "../../../../store/history/records.js";
import { type Check, ok } from "../check.js";
import { placeProblem } from "./files.js";

/** More unknown outcomes than anybody settles one by one. */
const MOST_UNKNOWN = 1_000;

/** What this machine keeps: settings and history. */
export function storeChecks(machine: Machine): Check[] {
  return [
    {
      id: "settings",
      needs: [],
      run: () => {
        const { path: settingsPath } = machine.store;
        const { profile } = machine.settings;
        if (settingsPath === undefined)
          return {
            status: "warn",
            message: "there is no folder for settings",
            fix: "set HOME or RESEARCH_CONFIG_DIR to an absolute path",
          };
        const folder = dirname(settingsPath);
        const place = { what: "settings", folder, file: settingsPath, written: false };
        return placeProblem(place) ?? ok(`profile ${profile.value} (${profile.source}) in ${settingsPath}`);
      },
    },
    {
      id: "history",
      needs: ["settings"],
      run: () => {
        const { history } = machine;
        const stateFolder = machine.folders.state;
        if (machine.settings.history.value === "off") return ok("no history is kept", "no history is kept");
        if (!history || stateFolder === undefined)
          return {
            status: "fail",
            message: "there is no folder for the history",
            fix: "set HOME or RESEARCH_STATE_DIR to an absolute path",
            exitCode: 12,
          };
        const file = join(stateFolder, "history.jsonl");
        const problem = placeProblem({ what: "history", folder: stateFolder, file, written: true });
        if (problem) return problem;
        const newest = history.list({ limit: 1 });
        const message = `${newest.length === 0 ? "nothing is recorded yet" : "usable"}, in ${stateFolder}`;
        if (history.skipped === 0) return ok(message);
        return {
          status: "warn",
          message: `${message}; records that could not be read were skipped`,
          fix: "research list",
        };
      },
    },
    {
      id: "unknown-outcomes",
      needs: ["history"],
      run: () => {
        const { history } = machine;
        const isUnknown = ({ status }: { status: string }) => status === UNKNOWN;
        const unknown = history?.list({ limit: MOST_UNKNOWN, accepts: isUnknown }) ?? [];
        const [first] = unknown;
        if (!first) return ok("none", "none");
        const names = unknown.map(({ local_id }) => local_id);
        return {
          status: "warn",
          message: `${names.length} unknown: ${names.slice(0, 3).join(", ")}${names.length > 3 ? ", …" : ""}`,
          publicMessage: `${names.length} unknown`,
          fix: `research resolve ${first.local_id} --request-id ID, or --not-created`,
        };
      },
    },
  ];
}
