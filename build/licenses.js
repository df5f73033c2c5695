import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

const PACKAGE = /^(.*\/node_modules\/(?:@[^/]+\/)?[^/]+)\//;

/**
 * A rolldown plugin that puts the licence of each bundled package beside the bundle, as those licences require. Many
 * packages have the same licence but for the line of the copyright: its text is there once, below the packages and
 * their copyrights. The build fails if a package has no licence text.
 *
 * @returns {import("rolldown").Plugin}
 */
export function licenses() {
  return {
    name: "licenses",
    generateBundle(_options, bundle) {
      const modules = Object.values(bundle).flatMap((file) => (file.type === "chunk" ? file.moduleIds : []));
      const folders = new Set(modules.flatMap((id) => PACKAGE.exec(id)?.[1] ?? []));
      this.emitFile({
        type: "asset",
        fileName: "THIRD_PARTY_LICENSES",
        source: `This package contains code of the following packages.\n\n${licenceTexts([...folders].sort())}`,
      });
    },
  };
}

/** @param {readonly string[]} folders of packages */
function licenceTexts(folders) {
  /** @type {Map<string, string[]>} the packages of each licence text */
  const packages = new Map();
  for (const folder of folders) {
    const { title, copyrights, text } = readLicence(folder);
    packages.set(text, [...(packages.get(text) ?? []), [title, ...copyrights].join("\n  ")]);
  }
  const rule = `\n\n${"-".repeat(80)}\n\n`;
  return Array.from(packages, ([text, titles]) => `${titles.join("\n")}\n\n${text}\n`).join(rule);
}

/** @param {string} folder of one package */
function readLicence(folder) {
  const { name, version, license } = JSON.parse(readFileSync(join(folder, "package.json"), "utf8"));
  const file = readdirSync(folder).find((entry) => /^licen[cs]e/i.test(entry));
  if (!file) throw new Error(`${name} ${version} (${license}) has no licence text`);
  const lines = readFileSync(join(folder, file), "utf8").split(/\r?\n/);
  const isCopyright = (/** @type {string} */ line) => /^\s*copyright (\(c\)|©|\d{4})/i.test(line);
  // Licences of one kind differ in their line breaks and in whether they begin with their name.
  const text = lines
    .filter((line) => !isCopyright(line))
    .join("\n")
    .split(/\n\s*\n/)
    .map((paragraph) => paragraph.trim().replace(/\s+/g, " "))
    .filter((paragraph) => paragraph !== "" && !/^\(?(the )?mit license( \(mit\))?\)?$/i.test(paragraph))
    .join("\n\n");
  const copyrights = lines.filter(isCopyright).map((line) => line.trim());
  return { title: `${name} ${version} (${license})`, copyrights, text };
}
