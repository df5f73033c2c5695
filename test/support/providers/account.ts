import { homeWith } from "../home.js";
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
  const person = homeWith<Record<string, string>>(double.env, { files, clock });
  return { ...person, double, clock, posts: () => double.server.count("create") };
}
