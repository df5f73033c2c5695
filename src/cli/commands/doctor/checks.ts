import type { Context } from "../../context.js";
import { type SkillState, skillState, skillsFolder } from "../skill/installed-skill.js";
import type { Check } from "./check.js";
import { configurationChecks } from "./checks/configuration.js";
import { networkChecks } from "./checks/network.js";
import { programChecks } from "./checks/program.js";
import { storeChecks } from "./checks/stores.js";
import { usageChecks } from "./checks/usage.js";
import { Probe } from "./probe.js";

/** Every check of the machine that `ctx` shows, in order. `close` ends the connections that they opened. */
export function checksOf(ctx: Context): { checks: Check[]; close: () => Promise<void> } {
  const { host } = ctx;
  const machine = ctx.reopened({ isInspected: true });
  const probe = new Probe(ctx, machine);
  const checks = [
    ...programChecks(host, process.version, installedSkill),
    ...storeChecks(machine),
    ...configurationChecks(machine, host),
    ...networkChecks(machine, probe, host),
    ...usageChecks(machine, host),
  ];
  return { checks, close: () => probe.close() };
}

/** The state of the skill in the current folder; one that cannot be read concerns no command. */
function installedSkill(): SkillState {
  try {
    return skillState(skillsFolder());
  } catch {
    return "missing";
  }
}
