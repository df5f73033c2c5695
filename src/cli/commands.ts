import type { Define } from "./commands/define-command.js";

/** The commands by the headings of the help, each with the function that loads its definition. Help and usage errors load no others. */
export const GROUPS: Readonly<Record<string, Readonly<Record<string, () => Promise<Define>>>>> = {
  "Research:": {
    run: async () => (await import("./commands/run/command.js")).run,
    create: async () => (await import("./commands/create/command.js")).create,
    status: async () => (await import("./commands/status/command.js")).status,
    watch: async () => (await import("./commands/watch/command.js")).watch,
    output: async () => (await import("./commands/output/command.js")).output,
    stop: async () => (await import("./commands/stop/command.js")).stop,
    check: async () => (await import("./commands/check/command.js")).check,
    diff: async () => (await import("./commands/diff/command.js")).diff,
  },
  "History:": {
    list: async () => (await import("./commands/list/command.js")).list,
    show: async () => (await import("./commands/show/command.js")).show,
    rerun: async () => (await import("./commands/rerun/command.js")).rerun,
    resolve: async () => (await import("./commands/resolve/command.js")).resolve,
    history: async () => (await import("./commands/history/command.js")).history,
  },
  "Many questions:": {
    batch: async () => (await import("./commands/batch/command.js")).batch,
    compare: async () => (await import("./commands/compare/command.js")).compare,
    quota: async () => (await import("./commands/quota/command.js")).quota,
  },
  "Settings:": {
    login: async () => (await import("./commands/login/command.js")).login,
    logout: async () => (await import("./commands/logout/command.js")).logout,
    config: async () => (await import("./commands/config/command.js")).config,
  },
  "Local service:": {
    try: async () => (await import("./commands/serve/command.js")).tryOut,
    serve: async () => (await import("./commands/serve/command.js")).serve,
  },
  "Agents:": {
    mcp: async () => (await import("./commands/mcp/command.js")).mcp,
  },
  "Help:": {
    help: async () => (await import("./commands/help/command.js")).help,
    completion: async () => (await import("./commands/completion/command.js")).completion,
    doctor: async () => (await import("./commands/doctor/command.js")).doctor,
  },
};
