/** Puts a text on one line and escapes it so that Markdown renders it unchanged. */
export function escapeMarkdown(text: string): string {
  return text.replace(/\s+/g, " ").replace(/[\\<>[\]`*_~]|&(?=#?\w+;)|^[#+-]|(?<=^\d{1,9})[.)]/g, "\\$&");
}
