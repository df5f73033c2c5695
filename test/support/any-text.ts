import fc from "fast-check";

/** Any code point but half a pair. fast-check's own unit "binary" first makes a table of all of them: 1 s. */
const codePoint = fc
  .oneof(fc.integer({ min: 0, max: 0xd7ff }), fc.integer({ min: 0xe000, max: 0x10ffff }))
  .map((code) => String.fromCodePoint(code));

/** Text of any characters. */
export const anyText = fc.string({ unit: codePoint });
