import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { completionTable } from "./completion-table.js";
import { manPage } from "./man-page.js";

/**
 * Asks the program that has just been built for its help, as one JSON document, and makes of it what need not be made
 * each time: the help page of every command, the table of the shell completion, and the man page. For rolldown.
 * @returns {import("rolldown").Plugin}
 */
export function help() {
  return {
    name: "help",
    async writeBundle({ dir = "" }) {
      /** @type {typeof import("../src/cli/main.js")} */
      const { main, systemClock } = await import(pathToFileURL(join(dir, "main.js")).href);
      const { version } = JSON.parse(readFileSync(new URL("../package.json", import.meta.url), "utf8"));
      /** @param {string[]} argv */
      const ask = (argv) => textOf(argv, version, main, systemClock);
      /** @type {import("../src/cli/help/help-document.js").HelpDocument} */
      const document = JSON.parse(await ask(["help", "--json"]));
      /** @type {[string, string][]} */
      const pages = [];
      for (const words of [[], ...document.commands.map(({ name }) => name.split(" "))])
        pages.push([JSON.stringify(words), await ask([...words, "--help"])]);
      writeFileSync(join(dir, "help.json"), JSON.stringify(pages));
      writeFileSync(join(dir, "completion.json"), JSON.stringify(completionTable(document)));
      // The day of the build, or of a reproducible one (https://reproducible-builds.org/specs/source-date-epoch/).
      const { SOURCE_DATE_EPOCH } = process.env;
      mkdirSync(join(dir, "man"), { recursive: true });
      writeFileSync(
        join(dir, "man", "research.1"),
        manPage(document, SOURCE_DATE_EPOCH ? new Date(Number(SOURCE_DATE_EPOCH) * 1_000) : new Date()),
      );
    },
  };
}

/**
 * What the program prints for a command line.
 * @param {string[]} argv
 * @param {string} version
 * @param {typeof import("../src/cli/main.js").main} main
 * @param {import("../src/core/clock.js").Clock} clock
 */
async function textOf(argv, version, main, clock) {
  let text = "";
  const pipe = {
    isTTY: false,
    stream: undefined,
    /** @param {string | Uint8Array} data */
    write: async (data) => {
      text += data;
    },
  };
  const { code } = await main(argv, {
    ...{
      version,
      program: /** @type {const} */ (["", ""]),
      env: {},
      platform: process.platform,
      clock,
      random: () => 0,
    },
    ...{ stdin: { isTTY: false, stream: process.stdin }, stdout: pipe, stderr: pipe },
    ...{ onSignal: () => () => {}, die() {}, onWarning() {} },
  });
  if (code !== 0) throw new Error(`research ${argv.join(" ")} ended with ${code}: ${text}`);
  return text;
}
