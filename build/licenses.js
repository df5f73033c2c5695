import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

const PACKAGE = /^(.*\/node_modules\/(?:@[^/]+\/)?[^/]+)\//;

/**
 * Puts the licence of each package that is in the bundle beside it, as those licences ask for. Fails the build
 * where one has none. For rolldown.
 *
 * @returns {import("rolldown").Plugin}
 */
export function licenses() {
  return {
    name: "licenses",
    generateBundle(_options, bundle) {
      const modules = Object.values(bundle).flatMap((file) => (file.type === "chunk" ? file.moduleIds : []));
      const folders = new Set(modules.flatMap((id) => PACKAGE.exec(id)?.[1] ?? []));
      const parts = [...folders].sort().map(describe);
      this.emitFile({
        type: "asset",
        fileName: "THIRD_PARTY_LICENSES",
        source: `This package contains code of the following packages.\n\n${parts.join("\n")}`,
      });
    },
  };
}

/** @param {string} folder of one package */
function describe(folder) {
  const { name, version, license } = JSON.parse(readFileSync(join(folder, "package.json"), "utf8"));
  const file = readdirSync(folder).find((entry) => /^licen[cs]e/i.test(entry));
  if (!file) throw new Error(`${name} ${version} (${license}) has no licence text`);
  const title = `${name} ${version} (${license})`;
  return `${title}\n${"-".repeat(title.length)}\n\n${readFileSync(join(folder, file), "utf8").trim()}\n`;
}
