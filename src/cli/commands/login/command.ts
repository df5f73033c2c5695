import type { Define } from "../definition.js";

export const login: Define = (program, perform) => {
  program
    .command("login")
    .summary("store a base URL and a key")
    .description(
      "Ask for the base URL and, hidden, for the key; try the key; store both in the profile in use.",
    )
    .option("--with-key", "read the key from stdin")
    .document({
      exits: {
        0: "saved",
        2: "bad input",
        4: "the key is refused",
        9: "not the research service",
        12: "not saved",
      },
      examples: [
        "research login",
        "research login --base-url https://research.example.com --with-key < keyfile",
      ],
    })
    .action((options) => perform(async (ctx) => (await import("./run.js")).login(ctx, options)));
};

export const logout: Define = (program, perform) => {
  program
    .command("logout")
    .summary("forget the stored key")
    .description("Forget the key stored in the profile in use.")
    .document({ exits: { 0: "no key is stored any more", 12: "not saved" }, examples: ["research logout"] })
    .action(() => perform(async (ctx) => (await import("./run.js")).logout(ctx)));
};
