import { crc32, deflateSync } from "node:zlib";

/** Of two colours in a palette: the sum of the squares of what their channels differ by. */
const LEAST_DISTANCE = 200;
const SIGNATURE = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]);

/**
 * A picture as a PNG of a few colours, a quarter as large as one of all colours: the most frequent ones, and for each
 * other pixel the nearest of them.
 *
 * @param {Uint8Array} pixels red, green, blue and alpha of each pixel, in rows
 * @param {number} width of the picture, pixels
 * @param {number} colours at most 256
 * @returns {Buffer}
 */
export function indexedPng(pixels, width, colours) {
  const height = pixels.length / 4 / width;
  const counts = new Map();
  for (let at = 0; at < pixels.length; at += 4) {
    const colour = colourAt(pixels, at);
    counts.set(colour, (counts.get(colour) ?? 0) + 1);
  }
  const palette = paletteOf(counts, colours);
  const indexes = new Map();
  for (const colour of counts.keys()) indexes.set(colour, nearest(palette, colour));
  // Each row begins with the number of its filter: none.
  const rows = Buffer.alloc(height * (width + 1));
  for (let y = 0; y < height; y++)
    for (let x = 0; x < width; x++)
      rows[y * (width + 1) + 1 + x] = indexes.get(colourAt(pixels, (y * width + x) * 4));
  const head = Buffer.alloc(13);
  head.writeUInt32BE(width, 0);
  head.writeUInt32BE(height, 4);
  // Eight bits for each pixel, which name a colour of the palette.
  head.set([8, 3, 0, 0, 0], 8);
  const table = Buffer.from(palette.flatMap(channels));
  const parts = [chunk("IHDR", head), chunk("PLTE", table), chunk("IDAT", deflateSync(rows, { level: 9 }))];
  return Buffer.concat([SIGNATURE, ...parts, chunk("IEND", Buffer.alloc(0))]);
}

/**
 * The most frequent colours that differ from each other, so that shades of one do not displace a rarer colour.
 *
 * @type {(counts: ReadonlyMap<number, number>, colours: number) => number[]}
 */
function paletteOf(counts, colours) {
  /** @type {number[]} */
  const palette = [];
  for (const [colour] of [...counts].sort(([, a], [, b]) => b - a)) {
    if (palette.length === colours) break;
    if (palette.every((other) => distance(colour, other) > LEAST_DISTANCE)) palette.push(colour);
  }
  return palette;
}

/** @type {(pixels: Uint8Array, at: number) => number} */
function colourAt(pixels, at) {
  return ((pixels[at] ?? 0) << 16) | ((pixels[at + 1] ?? 0) << 8) | (pixels[at + 2] ?? 0);
}

/** @type {(colour: number) => [number, number, number]} */
function channels(colour) {
  return [colour >> 16, (colour >> 8) & 255, colour & 255];
}

/** @type {(one: number, other: number) => number} */
function distance(one, other) {
  const channelsOfOther = channels(other);
  return channels(one).reduce((sum, value, i) => sum + (value - (channelsOfOther[i] ?? 0)) ** 2, 0);
}

/** @type {(palette: readonly number[], colour: number) => number} */
function nearest(palette, colour) {
  let [best, least] = [0, Number.POSITIVE_INFINITY];
  for (const [index, other] of palette.entries()) {
    const away = distance(other, colour);
    if (away < least) [best, least] = [index, away];
  }
  return best;
}

/** @type {(type: string, data: Buffer) => Buffer} */
function chunk(type, data) {
  const body = Buffer.concat([Buffer.from(type, "latin1"), data]);
  const length = Buffer.alloc(4);
  length.writeUInt32BE(data.length);
  const sum = Buffer.alloc(4);
  sum.writeUInt32BE(crc32(body));
  return Buffer.concat([length, body, sum]);
}
