import { defineCommand } from "../define-command.js";

export const logout = defineCommand({
  name: "logout",
  summary: "delete the stored key",
  description: "Delete the stored key of the profile in use.",
  examples: ["research logout", "research logout -p exa"],
  run: async () => (await import("./run.js")).runLogout,
});
