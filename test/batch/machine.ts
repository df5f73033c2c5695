import { afterEach } from "vitest";
import "../../src/client/direct.js";
import { folderWith } from "../support/folder.js";
import { HappyService } from "../support/happy-service.js";
import { perform, type Ran } from "../support/host.js";
import { VirtualClock } from "../support/virtual-clock.js";

const closing: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0)) await close();
});

/** Closes something when the test is over. */
export function closeLater(close: () => Promise<void>): void {
  closing.push(close);
}

/** One machine and one service that follows the interface, in virtual time. */
export async function machine(options: Parameters<typeof HappyService.start>[0] = {}) {
  const service = await HappyService.start(options);
  closeLater(() => service.server.close());
  const clock = new VirtualClock();
  const home = folderWith();
  const env: Record<string, string> = { PATH: process.env.PATH ?? "", HOME: home, ...service.env };
  const run = (...argv: string[]): Promise<Ran> => perform(argv, { env, clock });
  return { service, clock, run, env, home, creates: () => service.server.count("create") };
}
