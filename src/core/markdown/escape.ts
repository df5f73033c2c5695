/** Escapes a text so that Markdown shows it unchanged, on one line. */
export function escapeMarkdown(text: string): string {
  return text.replace(/\s+/g, " ").replace(/[\\<>[\]`*_~]|&(?=#?\w+;)|^[#+-]|(?<=^\d{1,9})[.)]/g, "\\$&");
}
