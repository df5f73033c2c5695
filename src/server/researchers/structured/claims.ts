/** What a value can be said to be: the text has to say the same of it. */
export type Role = "default" | "maximum" | "minimum";

interface RoleWords {
  asked: RegExp;
  /** Right before the value, with few words between. */
  before: RegExp;
  /** Right after it. */
  after: RegExp;
  /** As the title of a table's column. */
  title: RegExp;
}

const ROLES: Readonly<Record<Role, RoleWords>> = {
  default: {
    asked:
      /\bdefaults?\b|\bunless\b|\botherwise\b|\bif (?:none|nothing|no \w+|not)\b|\bwhen (?:none|nothing|no \w+)\b/i,
    before:
      /\b(?:defaults?(?: (?:value|setting|size|limit|number|level|port|timeout|behaviou?r|is|to|of|are|as|being|set|currently|typically|usually|normally|about))*|if (?:not|no|none|omitted|un\w+)\b[^.;]{0,80})[\s:=*`'"“(]*$/i,
    after:
      /^[\s`'"”*)]*(?:(?!and\b|or\b|but\b|the\b)\w+[\s`'"”)]+){0,2}?[\s(]*(?:(?:is|as|its|the|current|currently|which|being|was)\s+)*(?:by )?default\b/i,
    title: /\bdefaults?\b/i,
  },
  maximum: {
    asked:
      /\bmax(?:imum|imal)?\b|\bmost\b|\blimit\b|\blargest\b|\blongest\b|\bup to\b|\bhow (?:long|large|big|many) (?:can|may)\b|\bwithin how\b/i,
    before:
      /\b(?:max(?:imum|imal)?|limit(?:ed)?|at most|up to|no (?:more|longer|larger|later) than|not (?:exceed|more than)|cannot exceed|(?:less|fewer|shorter|smaller) than|within|prior to)(?:[\s`'"“(:=*]+[\w./()]+){0,5}?[\s:=*`'"“(]*$/i,
    after:
      /^[\s`'"”*)]*(?:(?!and\b|or\b|but\b|the\b)\w+[\s`'"”)]+){0,2}?(?:or (?:less|fewer|shorter|smaller)|at most|(?:is |as )?(?:the |its |a )?(?:max(?:imum)?|upper limit|limit))\b/i,
    title: /\bmax(?:imum|imal)?\b|\blimit\b|\bmost\b/i,
  },
  minimum: {
    asked: /\bmin(?:imum|imal)?\b|\bleast\b|\bsmallest\b|\bshortest\b/i,
    before:
      /\b(?:min(?:imum|imal)?|at least|no (?:less|fewer|shorter|smaller) than|not less than|(?:more|greater) than)(?:[\s`'"“(:=*]+[\w./()]+){0,5}?[\s:=*`'"“(]*$/i,
    after:
      /^[\s`'"”*)]*(?:(?!and\b|or\b|but\b|the\b)\w+[\s`'"”)]+){0,2}?(?:or more|at least|(?:is |as )?(?:the |its |a )?(?:min(?:imum)?|lower limit))\b/i,
    title: /\bmin(?:imum|imal)?\b|\bleast\b/i,
  },
};

/** Words of a question that ask for a role and name no subject. */
export const ROLE_WORDS = /\b(?:by default|defaults?|max(?:imum)?|min(?:imum)?|at most|at least)\b/gi;

/** How far around a value the text is looked at, in characters. */
const AROUND = 160;

/** What a question and a property's description ask a value to be. */
export function rolesAsked(text: string): Role[] {
  return (Object.keys(ROLES) as Role[]).filter((role) => ROLES[role].asked.test(text));
}

/** Whether `text` itself says that what stands from `start` to `end` is one of `roles`. */
export function saysRole(text: string, start: number, end: number, roles: readonly Role[]): boolean {
  const before = lastSentence(text.slice(Math.max(0, start - AROUND), start));
  const after = text.slice(end, end + AROUND);
  return roles.some((role) => ROLES[role].before.test(before) || ROLES[role].after.test(after));
}

/** Whether the title of a column says that its cells are one of `roles`. */
export function titleSaysRole(title: string, roles: readonly Role[]): boolean {
  return roles.some((role) => ROLES[role].title.test(title));
}

/** The part of `text` after the last end of a sentence in it. */
function lastSentence(text: string): string {
  return text.split(/[.!?]["')*`]{0,2}\s/).at(-1) ?? "";
}
