import type { Host } from "../../../terminal/host.js";
import { type SkillState, skillsFolder } from "../../skill/installed-skill.js";
import { type Check, type Finding, ok } from "../check.js";

/** The oldest Node.js that runs the program, as package.json has it. */
const LEAST_NODE = [20, 19] as const;

/**
 * What runs: Node.js and this program. `node` is the version of Node.js, as in `v20.19.0`; `skill` gives the state of the
 * copy that agents read in the current folder.
 */
export function programChecks(host: Pick<Host, "version">, node: string, skill: () => SkillState): Check[] {
  const [major = 0, minor = 0] = node.replace(/^v/, "").split(".").map(Number);
  const isNewEnough = major > LEAST_NODE[0] || (major === LEAST_NODE[0] && minor >= LEAST_NODE[1]);
  const least = LEAST_NODE.join(".");
  return [
    {
      id: "node",
      needs: [],
      run: () =>
        isNewEnough
          ? ok(`Node.js ${node}`, `Node.js ${node}`)
          : {
              status: "fail",
              message: `Node.js ${node} is older than ${least}`,
              publicMessage: `Node.js ${node} is older than ${least}`,
              fix: `install Node.js ${least} or later`,
              exitCode: 1,
            },
    },
    { id: "version", needs: [], run: () => versionCheck(host.version, skill()) },
  ];
}

/** An agent that reads a skill of another version is told things that do not hold. */
function versionCheck(version: string, skill: SkillState): Finding {
  const program = `research ${version}`;
  if (skill !== "stale" && skill !== "changed") return ok(program, program);
  const what = skill === "stale" ? "of another version" : "changed";
  const message = `${program}; the skill in ${skillsFolder()} is ${what}`;
  return { status: "warn", message, publicMessage: message, fix: "research skill install --force" };
}
