/** The roles of a process at a shared store: it answers requests ("api"), does research ("worker"), or both. */
export const ROLES = ["all", "api", "worker"] as const;
export type Role = (typeof ROLES)[number];
