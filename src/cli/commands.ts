import type { Define } from "./commands/definition.js";

/** The commands in the groups of the help, each with what loads its table: help and errors of usage load no other. */
export const GROUPS: readonly {
  heading: string;
  commands: Readonly<Record<string, () => Promise<Define>>>;
}[] = [
  {
    heading: "Research:",
    commands: {
      run: async () => (await import("./commands/run/command.js")).run,
      create: async () => (await import("./commands/create/command.js")).create,
      status: async () => (await import("./commands/status/command.js")).status,
      watch: async () => (await import("./commands/watch/command.js")).watch,
      output: async () => (await import("./commands/output/command.js")).output,
      stop: async () => (await import("./commands/stop/command.js")).stop,
      check: async () => (await import("./commands/check/command.js")).check,
    },
  },
  {
    heading: "History:",
    commands: {
      list: async () => (await import("./commands/list/command.js")).list,
      show: async () => (await import("./commands/show/command.js")).show,
      rerun: async () => (await import("./commands/create/command.js")).rerun,
      resolve: async () => (await import("./commands/resolve/command.js")).resolve,
      history: async () => (await import("./commands/history/command.js")).history,
    },
  },
  {
    heading: "Many questions:",
    commands: {
      batch: async () => (await import("./commands/batch/command.js")).batch,
      compare: async () => (await import("./commands/compare/command.js")).compare,
      quota: async () => (await import("./commands/quota/command.js")).quota,
    },
  },
  {
    heading: "Settings:",
    commands: {
      login: async () => (await import("./commands/login/command.js")).login,
      logout: async () => (await import("./commands/login/command.js")).logout,
      config: async () => (await import("./commands/config/command.js")).config,
    },
  },
  {
    heading: "Local service:",
    commands: {
      try: async () => (await import("./commands/serve/command.js")).tryOut,
      serve: async () => (await import("./commands/serve/command.js")).serve,
    },
  },
  {
    heading: "Agents:",
    commands: {
      mcp: async () => (await import("./commands/mcp/command.js")).mcp,
      skill: async () => (await import("./commands/skill/command.js")).skill,
    },
  },
  {
    heading: "Help:",
    commands: {
      help: async () => (await import("./commands/help/command.js")).help,
      completion: async () => (await import("./commands/completion/command.js")).completion,
      doctor: async () => (await import("./commands/doctor/command.js")).doctor,
    },
  },
];
