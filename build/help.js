import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";

/**
 * Lays out the help of every command once, by asking the program that has just been built, so that it need not be
 * done each time. For rolldown.
 *
 * @returns {import("rolldown").Plugin}
 */
export function help() {
  return {
    name: "help",
    async writeBundle({ dir = "" }) {
      /** @type {typeof import("../src/cli/main.js")} */
      const { main, systemClock } = await import(pathToFileURL(join(dir, "main.js")).href);
      /** @type {[string, string][]} */
      const pages = [];
      /** @param {string[]} words the names of a command; none for the program */
      const add = async (words) => {
        const page = await helpOf(words, main, systemClock);
        pages.push([JSON.stringify(words), page]);
        for (const name of commandsIn(page)) await add([...words, name]);
      };
      await add([]);
      writeFileSync(join(dir, "help.json"), JSON.stringify(pages));
    },
  };
}

/**
 * @param {string[]} words
 * @param {typeof import("../src/cli/main.js").main} main
 * @param {import("../src/clock.js").Clock} clock
 */
async function helpOf(words, main, clock) {
  let text = "";
  const pipe = {
    isTTY: false,
    stream: undefined,
    /** @param {string | Uint8Array} data */
    write: async (data) => {
      text += data;
    },
  };
  const { code } = await main([...words, "--help"], {
    ...{ version: "", env: {}, platform: process.platform, clock, random: () => 0 },
    ...{ stdin: { isTTY: false, stream: process.stdin }, stdout: pipe, stderr: pipe },
    ...{ onSignal: () => () => {}, die() {}, onWarning() {} },
  });
  if (code !== 0) throw new Error(`research ${words.join(" ")} --help ended with ${code}: ${text}`);
  return text;
}

/**
 * The names of the commands that a page lists, but for `help`.
 * @param {string} page
 */
function commandsIn(page) {
  const list = /\nCommands:\n(.*?)\n\n/s.exec(`${page}\n`)?.[1] ?? "";
  const names = Array.from(list.matchAll(/^ {2}([a-z]+)/gm), ([, name = ""]) => name);
  return names.filter((name) => name !== "help");
}
