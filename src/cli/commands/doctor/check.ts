/** The checks, in the order in which they run and are shown (contract §7). */
export const CHECK_IDS = [
  "node",
  "version",
  "settings",
  "history",
  "unknown-outcomes",
  "base-url",
  "key",
  "proxy",
  "dns",
  "tls",
  "clock",
  "auth",
  "quota",
  "completion",
] as const;

export type CheckId = (typeof CHECK_IDS)[number];

/** What a check found. */
export interface Finding {
  status: "ok" | "warn" | "fail" | "skipped";
  message: string;
  /** The command that fixes it, or what else to do. */
  fix?: string;
  /** Of a failed one: the exit code of a command that meets this. */
  exitCode?: number;
  /** The message without names of hosts and folders, for a report that is made public. */
  publicMessage?: string;
}

/** A check and those it depends on. */
export interface Check {
  id: CheckId;
  needs: readonly CheckId[];
  /** Whether it speaks to the network. */
  network?: boolean;
  run(): Finding | Promise<Finding>;
}

export interface CheckResult extends Finding {
  id: CheckId;
}

export const ok = (message: string, publicMessage?: string): Finding => ({
  status: "ok",
  message,
  ...(publicMessage !== undefined && { publicMessage }),
});
