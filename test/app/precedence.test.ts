import { expect, test } from "vitest";
import { chooseSettingsOrigin, type SettingChoices } from "../../src/app/resolve-settings.js";

const PROFILE = { "base-url": "https://stored.example", provider: "exa" };
const URL_FLAG = { baseUrl: "https://flag.example" };
const URL_VARIABLE = { RESEARCH_BASE_URL: "https://variable.example" };

test.each<[string, SettingChoices, Record<string, string>, string, string | undefined, boolean]>([
  ["nothing else", {}, {}, "exa", "https://stored.example", true],
  ["a flag", URL_FLAG, {}, "research", "https://flag.example", false],
  [
    "a flag and the provider's variable",
    URL_FLAG,
    { RESEARCH_PROVIDER: "openai" },
    "openai",
    "https://flag.example",
    false,
  ],
  ["a provider's flag", { provider: "openai" }, URL_VARIABLE, "openai", "https://api.openai.com", false],
  ["a variable", {}, URL_VARIABLE, "research", "https://variable.example", false],
  [
    "the provider's variable alone",
    {},
    { RESEARCH_PROVIDER: "openai" },
    "openai",
    "https://api.openai.com",
    false,
  ],
  [
    "a variable, and --profile, which beats it",
    { profile: "p" },
    URL_VARIABLE,
    "exa",
    "https://stored.example",
    true,
  ],
])(
  "beside a profile of a provider, %s decides on service and address together",
  (_, choices, env, provider, url, isStored) => {
    const site = chooseSettingsOrigin(choices, env, "p", PROFILE);
    expect([site.provider.value, site.baseUrl?.value, site.isStored]).toEqual([provider, url, isStored]);
  },
);

test("without any setting the service is the interface, at no address", () => {
  expect(chooseSettingsOrigin({}, {}, "default", undefined)).toEqual({
    provider: { value: "research", source: "default" },
    baseUrl: undefined,
    isStored: true,
  });
});
