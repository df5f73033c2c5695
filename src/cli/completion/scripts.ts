import { BASH } from "./scripts/bash.js";
import { FISH } from "./scripts/fish.js";
import { POWERSHELL } from "./scripts/powershell.js";
import { ZSH } from "./scripts/zsh.js";
import type { Shell } from "./shells.js";

/** The completion script of each shell. */
export const SCRIPTS: Readonly<Record<Shell, string>> = {
  bash: BASH,
  zsh: ZSH,
  fish: FISH,
  powershell: POWERSHELL,
};
