/** The role of a process at a shared store: answers requests, does research, or both. */
export const ROLES = ["all", "api", "worker"] as const;
export type Role = (typeof ROLES)[number];
