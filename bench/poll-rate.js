// How often a watch of 1,000 ids polls, beside bare undici with as many connections, at the same server.
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { background } from "./support/background.js";

const TURN_MS = 1_000;
const WARM_UPS = 3;

/**
 * Polls a second, in pairs. Both clients run all the time and one of them is suspended: within seconds a shared
 * machine gets twice as fast or half as fast.
 * @param {number} pairs
 */
export async function pollRates(pairs) {
  const program = join(import.meta.dirname, "../bin/research.js");
  const support = (/** @type {string} */ name) => join(import.meta.dirname, "support", name);
  const service = background([support("service.js")]);
  const baseUrl = await service.url();
  const env = { RESEARCH_API_KEY: "sk-bench", RESEARCH_BASE_URL: baseUrl, RESEARCH_NO_HISTORY: "1" };
  const ids = Array.from({ length: 1_000 }, (_, i) => `watched-${i}`);
  const watch = background([program, "watch", "--interval", "1ms", ...ids], env);
  const load = background(
    [support("load.js"), "GET", `${baseUrl}/api/v1/conversation/x/status`, "3600"],
    env,
  );
  await sleep(TURN_MS);
  for (const { pid } of [watch, load]) process.kill(pid, "SIGSTOP");
  const polls = async () => Number(await (await fetch(`${baseUrl}/polls`)).text());
  const rate = async (/** @type {number} */ pid) => {
    const [before, start] = [await polls(), performance.now()];
    process.kill(pid, "SIGCONT");
    await sleep(TURN_MS);
    process.kill(pid, "SIGSTOP");
    return ((await polls()) - before) / ((performance.now() - start) / 1_000);
  };
  const taken = [];
  for (let i = -WARM_UPS; i < pairs; i++) {
    const pair = { ours: await rate(watch.pid), bare: await rate(load.pid) };
    if (i >= 0) taken.push(pair);
  }
  await Promise.all([watch.stop(), load.stop(), service.stop()]);
  return taken;
}
