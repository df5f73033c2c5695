import { spawnSync } from "node:child_process";

/** What runs a command in a PID namespace of its own, on this machine's file system, as two containers on one volume have it. */
const UNSHARE = ["unshare", "--pid", "--fork", "--kill-child", "--mount-proc"];

const works = ([command = "", ...args]: readonly string[]) =>
  spawnSync(command, [...args, "true"]).status === 0;

/** The words before such a command: root may make namespaces, others where the system allows it. */
export const CONTAINER = [UNSHARE, [...UNSHARE, "--map-root-user"]].find(works) ?? [];

export const hasContainers = CONTAINER.length > 0;

/** For the name of a test that is skipped without it. */
export const NEEDS_CONTAINERS = "needs unshare";
