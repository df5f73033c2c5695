import { mkdirSync, writeFileSync } from "node:fs";
import { basename, join } from "node:path";
import { pathToFileURL } from "node:url";
import { rolldown } from "rolldown";
import { filesAsText } from "../../build/imports.js";

const root = join(import.meta.dirname, "../..");

/**
 * Imports a module of the sources as it stands, without a build: what is measured is what is there.
 * @param {string} path from the root of the repository
 * @returns {Promise<Record<string, any>>}
 */
export async function source(path) {
  const bundle = await rolldown({
    input: new URL(`../../${path}`, import.meta.url).pathname,
    platform: "node",
  });
  const { output } = await bundle.generate({ format: "esm" });
  await bundle.close();
  return import(`data:text/javascript,${encodeURIComponent(output[0].code)}`);
}

/**
 * The same for a module that imports packages: as a file where they are found.
 * @param {string} path from the root of the repository
 * @returns {Promise<Record<string, any>>}
 */
export async function sourceWithPackages(path) {
  const plugins = [filesAsText()];
  const bundle = await rolldown({ input: join(root, path), platform: "node", external: /^[^./]/, plugins });
  const { output } = await bundle.generate({ format: "esm", codeSplitting: false });
  await bundle.close();
  const folder = join(root, "node_modules/.bench");
  mkdirSync(folder, { recursive: true });
  const file = join(folder, basename(path).replace(/\.ts$/, ".mjs"));
  writeFileSync(file, output[0].code);
  return import(pathToFileURL(file).href);
}
