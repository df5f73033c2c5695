import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

const PACKAGE = /^(.*\/node_modules\/(?:@[^/]+\/)?[^/]+)\//;

/**
 * A rolldown plugin that puts the licence of each bundled package beside the bundle, as those licences require. The build
 * fails if a package has no licence text.
 * @returns {import("rolldown").Plugin}
 */
export function licenses() {
  return {
    name: "licenses",
    generateBundle(_options, bundle) {
      const modules = Object.values(bundle).flatMap((file) => (file.type === "chunk" ? file.moduleIds : []));
      const folders = new Set(modules.flatMap((id) => PACKAGE.exec(id)?.[1] ?? []));
      const rule = `\n\n${"-".repeat(80)}\n\n`;
      const source = [
        "This package contains code of the following packages.",
        ...[...folders].sort().map(licenceOf),
      ];
      this.emitFile({ type: "asset", fileName: "THIRD_PARTY_LICENSES", source: source.join(rule) });
    },
  };
}

/** @param {string} folder of one package */
function licenceOf(folder) {
  const { name, version, license } = JSON.parse(readFileSync(join(folder, "package.json"), "utf8"));
  const file = readdirSync(folder).find((entry) => /^licen[cs]e/i.test(entry));
  if (!file) throw new Error(`${name} ${version} (${license}) has no licence text`);
  return `${name} ${version} (${license})\n\n${readFileSync(join(folder, file), "utf8").trim()}`;
}
