import { PROVIDER_NAMES } from "../../../client/dialects/providers.js";
import { defineCommand } from "../define-command.js";
import { defineChoice } from "../flag-values.js";

export const login = defineCommand({
  name: "login",
  summary: "store the key of an account at a provider or at your own service",
  description:
    "Test the key of an account, store it in a profile named after the provider, and switch to that profile. " +
    "If no answer comes, the key is stored without a test. " +
    "Without a provider, login asks for the base URL of your own service and uses the profile `default`. " +
    "-p names another profile.",
  arguments: [
    [
      "[provider]",
      "the provider of the account, or `research` for your own service. Support for providers was written from their documentation and has not been tested on live accounts",
      PROVIDER_NAMES,
    ],
  ],
  flags: {
    "--provider <name>": defineChoice("the same as the argument", PROVIDER_NAMES),
    "--with-key": "read the key from stdin",
  },
  exits: {
    2: "bad input, or the profile has the key of another account",
    4: "the service refuses the key",
    9: "something answered at this address, but not the service or provider",
  },
  examples: [
    "research login openai",
    "research login exa",
    "research login openai -p work --with-key < keyfile",
    "research login --base-url https://research.example.com --with-key < keyfile",
  ],
  run: async () => (await import("./run.js")).runLogin,
});
