import { PROVIDER_NAMES } from "../../../client/dialects/providers.js";
import { define } from "../definition.js";
import { defineChoice } from "../flag-values.js";

export const login = define({
  name: "login",
  summary: "store an account: a provider or a base URL, and a key",
  description:
    "Try the key of an account and store it in a profile of the provider's name, which comes into use. " +
    "Without a provider it is a service of your own: the base URL is asked for, and the profile is `default`. " +
    "-p names another profile.",
  arguments: [
    [
      "[provider]",
      "whose account it is (written from the providers' documentation, not yet tried on a live account)",
      PROVIDER_NAMES,
    ],
  ],
  flags: {
    "--provider <name>": defineChoice("the same as the argument", PROVIDER_NAMES),
    "--with-key": "read the key from stdin",
  },
  exits: {
    0: "saved",
    2: "bad input, or the profile holds the key of another account",
    4: "the key is refused",
    9: "not the service",
    12: "not saved",
  },
  examples: [
    "research login openai",
    "research login exa",
    "research login openai -p work --with-key < keyfile",
    "research login --base-url https://research.example.com --with-key < keyfile",
  ],
  run: async () => (await import("./run.js")).runLogin,
});

export const logout = define({
  name: "logout",
  summary: "forget the stored key",
  description: "Forget the key stored in the profile in use.",
  exits: { 0: "no key is stored any more", 12: "not saved" },
  examples: ["research logout", "research logout -p exa"],
  run: async () => (await import("./run.js")).runLogout,
});
