import { cpSync } from "node:fs";
import { join } from "node:path";
import { rolldown } from "rolldown";
import { configuration } from "../../build/rolldown.config.js";
import { STAND_INS } from "../../build/stand-ins.js";

const root = join(import.meta.dirname, "../..");

/**
 * Builds the program with the module that a stand-in replaces, below `folder`; resolves with the path of the program.
 * @param {import("../../build/stand-ins.js").StandIn} standIn
 * @param {string} folder
 */
export async function programWithout(standIn, folder) {
  const to = join(folder, `without-${STAND_INS.indexOf(standIn)}`);
  for (const name of ["bin", "package.json"]) cpSync(join(root, name), join(to, name), { recursive: true });
  const config = configuration(STAND_INS.filter((one) => one !== standIn));
  const bundle = await rolldown({ ...config, cwd: root });
  await bundle.write({ ...[config.output].flat()[0], dir: join(to, "dist") });
  await bundle.close();
  return join(to, "bin/research.js");
}
