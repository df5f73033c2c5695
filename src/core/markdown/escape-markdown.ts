import { escapeResult } from "../text/safe-text.js";

/** Puts a text on one line and escapes it so that Markdown renders it unchanged and nothing in it acts on a terminal. */
export function escapeMarkdown(text: string): string {
  const line = escapeResult(text.replace(/\s+/g, " "));
  return line.replace(/[\\<>[\]`*_~]|&(?=#?\w+;)|^[#+-]|(?<=^\d{1,9})[.)]/g, "\\$&");
}

/** Formats an address as a Markdown link that ends where the address does. */
export function formatAutolink(url: string): string {
  return `<${url.replace(/[\s<>\p{Cc}\p{Cf}]/gu, encodeURIComponent)}>`;
}
