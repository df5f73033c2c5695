import { parseAst } from "rolldown/parseAst";

/** A text that a person would read. */
const WORDS = /\p{L}\s+\p{L}/u;

interface Node {
  type: string;
  [key: string]: unknown;
}

/**
 * Texts of two or more words in a file of TypeScript, but for those of errors: a layer
 * without prose gives values and events, and whoever shows them finds the words.
 */
export function proseIn(text: string): string[] {
  const sentences: string[] = [];
  visit(parseAst(text, { lang: "ts" }), sentences);
  return sentences;
}

function visit(value: unknown, found: string[]): void {
  if (Array.isArray(value)) for (const item of value) visit(item, found);
  if (!isNode(value) || makesError(value)) return;
  const text = textOf(value);
  if (text !== undefined && WORDS.test(text)) found.push(`holds the text ${JSON.stringify(text)}`);
  for (const part of Object.values(value)) visit(part, found);
}

/** `new SomeError(…)`, `createLocalError(…)`, `wrapFileErrors(…)`, and the class of an error. */
function makesError({ type, callee, superClass }: Node): boolean {
  if (type === "ClassDeclaration") return isNode(superClass) && /Error$/.test(String(superClass.name));
  if (!isNode(callee)) return false;
  if (type === "NewExpression") return /Error$/.test(String(callee.name));
  return type === "CallExpression" && /^(?:createLocalError|wrapFileErrors)$/.test(String(callee.name));
}

function textOf({ type, value, quasis }: Node): string | undefined {
  if (type === "Literal" && typeof value === "string") return value;
  if (type !== "TemplateLiteral" || !Array.isArray(quasis)) return undefined;
  return quasis.map(({ value }: { value: { cooked: string } }) => value.cooked).join("x");
}

function isNode(value: unknown): value is Node {
  return typeof value === "object" && value !== null && "type" in value && typeof value.type === "string";
}
