/** A text on one line of Markdown that shows it as it is. */
export function escapeMarkdown(text: string): string {
  return text.replace(/\s+/g, " ").replace(/[\\<>[\]`*_~]|&(?=#?\w+;)|^[#+-]|(?<=^\d{1,9})[.)]/g, "\\$&");
}
