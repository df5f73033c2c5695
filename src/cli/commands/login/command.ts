import { PROVIDER_NAMES } from "../../../client/dialects/providers.js";
import { define } from "../definition.js";
import { choice } from "../flag-values.js";

export const login = define({
  name: "login",
  summary: "store a base URL and a key",
  description:
    "Ask for the base URL and, hidden, for the key; try the key; store both in the profile in use.",
  flags: {
    "--provider <name>": choice(
      "a provider that is spoken to directly (written from its documentation, not yet tried on a live account)",
      PROVIDER_NAMES,
    ),
    "--with-key": "read the key from stdin",
  },
  exits: {
    0: "saved",
    4: "the key is refused",
    9: "not the research service",
    12: "not saved",
  },
  examples: [
    "research login",
    "research login --provider openai",
    "research login --base-url https://research.example.com --with-key < keyfile",
  ],
  run: async () => (await import("./run.js")).login,
});

export const logout = define({
  name: "logout",
  summary: "forget the stored key",
  description: "Forget the key stored in the profile in use.",
  exits: { 0: "no key is stored any more", 12: "not saved" },
  examples: ["research logout"],
  run: async () => (await import("./run.js")).logout,
});
