/** @typedef {import("./record.js").Run} Run */
/** @typedef {"light" | "dark"} Theme */

/** Sizes in pixels. A character of the font is 0.6 of its size wide. */
const FONT = 14;
const CHARACTER = FONT * 0.6;
const LINE = 20;
const PADDING = 20;
const BAR = 36;

const THEMES = {
  light: {
    ...{ background: "#ffffff", border: "#d0d7de", bar: "#f6f8fa", text: "#1f2328", dim: "#656d76" },
    colors: ["#24292f", "#cf222e", "#116329", "#7d4e00", "#0969da", "#8250df", "#1b7c83", "#6e7781"],
  },
  dark: {
    ...{ background: "#0d1117", border: "#30363d", bar: "#161b22", text: "#e6edf3", dim: "#8b949e" },
    colors: ["#6e7681", "#ff7b72", "#3fb950", "#d29922", "#58a6ff", "#bc8cff", "#39c5cf", "#b1bac4"],
  },
};

/**
 * A terminal window with these lines as an SVG. Its text is text, which can be searched and copied.
 * @param {readonly (readonly Run[])[]} lines
 * @param {Theme} theme
 * @param {string} title for those who do not see the picture
 */
export function terminalSvg(lines, theme, title) {
  const { background, border, bar, text, dim } = THEMES[theme];
  const columns = Math.max(...lines.map((runs) => runs.reduce((sum, run) => sum + run.text.length, 0)));
  const width = Math.ceil(columns * CHARACTER + 2 * PADDING);
  const height = BAR + lines.length * LINE + 2 * PADDING;
  const dots = [0, 1, 2].map(
    (n) => `<circle cx="${PADDING + n * 18}" cy="${BAR / 2}" r="5" fill="${border}"/>`,
  );
  const rows = lines.map((runs, index) => row(runs, BAR + PADDING + index * LINE + FONT, theme));
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}" role="img">`,
    `<title>${escapeXml(title)}</title>`,
    `<style>text{font:${FONT}px ui-monospace,SFMono-Regular,Menlo,Consolas,monospace;fill:${text};white-space:pre}.b{font-weight:600}.d{fill:${dim}}.i{font-style:italic}.u{text-decoration:underline}</style>`,
    `<rect x=".5" y=".5" width="${width - 1}" height="${height - 1}" rx="8" fill="${background}" stroke="${border}"/>`,
    `<path d="M.5 ${BAR}V8.5a8 8 0 0 1 8-8h${width - 17}a8 8 0 0 1 8 8V${BAR}z" fill="${bar}" stroke="${border}"/>`,
    ...dots,
    ...rows,
    "</svg>",
    "",
  ].join("\n");
}

/**
 * @param {readonly Run[]} runs
 * @param {number} y
 * @param {Theme} theme
 */
function row(runs, y, theme) {
  let column = 0;
  const spans = runs.map((run) => {
    const x = (PADDING + column * CHARACTER).toFixed(1);
    column += run.text.length;
    return `<tspan x="${x}"${look(run, theme)}>${escapeXml(run.text)}</tspan>`;
  });
  return `<text y="${y}" xml:space="preserve">${spans.join("")}</text>`;
}

/**
 * @param {Run} run
 * @param {Theme} theme
 */
function look({ color, bold, dim, italic, underline }, theme) {
  const marks = [bold && "b", dim && "d", italic && "i", underline && "u"].filter(Boolean);
  const fill = color >= 0 ? ` style="fill:${THEMES[theme].colors[color % 8]}"` : "";
  return `${marks.length > 0 ? ` class="${marks.join(" ")}"` : ""}${fill}`;
}

/** @param {string} text */
function escapeXml(text) {
  return text
    .replaceAll("&", "&amp;")
    .replaceAll("<", "&lt;")
    .replaceAll(">", "&gt;")
    .replaceAll('"', "&quot;");
}
