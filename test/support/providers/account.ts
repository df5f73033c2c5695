import { folderWith } from "../folder.js";
import { foldersIn } from "../home.js";
import { inProcess } from "../in-process.js";
import { VirtualClock } from "../virtual-clock.js";
import type { ProviderName } from "./bodies.js";
import { type DoubleOptions, ProviderDouble } from "./double.js";

/** A machine that is set up for a double, with these files at home. Time is virtual: waiting costs none. */
export async function account(
  name: ProviderName,
  options: DoubleOptions = {},
  files: Readonly<Record<string, string>> = {},
  clock = new VirtualClock(),
) {
  const double = await ProviderDouble.start(name, options);
  const home = folderWith(files);
  const env: Record<string, string> = { HOME: home, ...foldersIn(home), ...double.env };
  const run = (...argv: string[]) => inProcess(argv, { env, clock });
  return { double, home, env, clock, run, posts: () => double.server.count("create") };
}
