import { spawnSync } from "node:child_process";

/** Runs a command in a PID namespace of its own, with this machine's file system, as two containers on one volume have it. */
export const CONTAINER = [
  "bwrap",
  "--unshare-pid",
  "--die-with-parent",
  "--dev-bind",
  "/",
  "/",
  "--proc",
  "/proc",
];

/** Whether this machine can do that; bubblewrap may be missing, or not allowed. */
export const hasContainers = spawnSync(CONTAINER[0] ?? "", [...CONTAINER.slice(1), "true"]).status === 0;

/** For the name of a test that is skipped without it. */
export const NEEDS_CONTAINERS = "needs bwrap";
