import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

const COPYRIGHT = /^.*copyright \(c\).*$/gim;
const PACKAGE = /^(.*\/node_modules\/(?:@[^/]+\/)?[^/]+)\//;

/**
 * A rolldown plugin that puts the licence of each bundled package beside the bundle, as those licences require, with equal
 * terms once. The build fails if a package has no licence text.
 * @returns {import("rolldown").Plugin}
 */
export function licenses() {
  return {
    name: "licenses",
    generateBundle(_options, bundle) {
      const modules = Object.values(bundle).flatMap((file) => (file.type === "chunk" ? file.moduleIds : []));
      /** @type {Record<string, string[]>} */
      const texts = { "This package contains code of the following packages.": [] };
      for (const folder of [...new Set(modules.flatMap((id) => PACKAGE.exec(id)?.[1] ?? []))].sort()) {
        const { owner, terms } = licenceOf(folder);
        texts[terms] = [...(texts[terms] ?? []), owner];
      }
      const source = Object.entries(texts).map(([terms, owners]) => [...owners, terms].join("\n\n"));
      this.emitFile({ type: "asset", fileName: "THIRD_PARTY_LICENSES", source: source.join("\n\n---\n\n") });
    },
  };
}

/** @param {string} folder of one package */
function licenceOf(folder) {
  const { name, version, license } = JSON.parse(readFileSync(join(folder, "package.json"), "utf8"));
  const file = readdirSync(folder).find((entry) => /^licen[cs]e/i.test(entry));
  if (!file) throw new Error(`${name} ${version} (${license}) has no licence text`);
  const text = readFileSync(join(folder, file), "utf8");
  const owner = [`${name} ${version} (${license})`, ...(text.match(COPYRIGHT) ?? [])].join("\n");
  const terms = text.replace(COPYRIGHT, "").replace(/\s*\n\s*/g, "\n");
  return { owner, terms };
}
