import type { Style } from "../../src/cli/terminal/style.js";

const named = (name: keyof Style) => (text: string) => `<${name}>${text}</>`;

/** A style in which a test can read which colour a text has. */
export const NAMED: Style = {
  ...{ bold: named("bold"), dim: named("dim"), good: named("good"), bad: named("bad"), busy: named("busy") },
};
