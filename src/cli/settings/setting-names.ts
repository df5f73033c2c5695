/** The settings that a profile can hold, as `config set` names them. */
export const SETTING_NAMES = [
  "base-url",
  "api-key",
  "tier",
  "history",
  "status-method",
  "output-method",
  "output-path",
  "output-field",
] as const;

export type SettingName = (typeof SETTING_NAMES)[number];
