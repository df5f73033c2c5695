import { rolldown } from "rolldown";

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
