/** A quote as a person would read it: without the targets of links, the bars of tables and marks that stand for nothing. */
export function readable(text: string): string {
  return text
    .replace(/\s+/g, " ")
    .replace(/!?\[([^\]]{0,300})\](?:\([^)\s]{0,500}\)|\[[^\]]{0,200}\])/g, "$1")
    .replace(/\blinkgit:([\w-]+)\[(\d+)\]/g, "$1($2)")
    .replace(/<<([\w-]+),([^>]{1,200})>>/g, "$2")
    .replace(/^\||\|$/g, "")
    .replace(/ ?\| ?/g, "; ")
    .trim();
}
