/** The look of every page: one column of text, the contents beside it where there is room, light, dark and on paper. */
export const STYLE = `
:root {
  color-scheme: light dark;
  --paper: #fdfcfa; --ink: #23262b; --soft: #646a73; --line: #e3e1dc; --tint: #f4f2ee; --link: #1f5fa8; --mark: #b4673a;
  --done: #27804f; --bad: #c2453d; --idle: #6f7580; --busy: #3f7fc9;
}
@media (prefers-color-scheme: dark) {
  :root {
    --paper: #16181c; --ink: #dddfe3; --soft: #959ca7; --line: #2d3138; --tint: #1f2228; --link: #82b4ee; --mark: #dc9a70;
    --done: #55b483; --bad: #e5756d; --idle: #8d95a1; --busy: #69a2e3;
  }
}
* { box-sizing: border-box; }
html { -webkit-text-size-adjust: 100%; scroll-behavior: smooth; }
body {
  margin: 0 auto; padding: 3.5rem 1.5rem 4rem; max-width: 46rem; background: var(--paper); color: var(--ink);
  font: 1.0625rem/1.68 ui-serif, Charter, "Iowan Old Style", Georgia, "Noto Serif", serif;
  overflow-wrap: break-word; font-variant-numeric: lining-nums;
}
body.wide { max-width: 68rem; }
h1, h2, h3, h4, h5, h6, nav, footer, table, dt, .summary {
  font-family: ui-sans-serif, system-ui, -apple-system, "Segoe UI", "Noto Sans", sans-serif;
}
h1, h2, h3, h4, h5, h6 { line-height: 1.25; font-weight: 650; letter-spacing: -0.011em; margin: 2.2em 0 0.6em; text-wrap: balance; }
h1 { font-size: 2rem; letter-spacing: -0.02em; margin-bottom: 0.8em; }
h2 { font-size: 1.4rem; padding-bottom: 0.3em; border-bottom: 1px solid var(--line); }
h3 { font-size: 1.13rem; }
h4, h5, h6 { font-size: 1rem; color: var(--soft); }
main > :first-child, header > :first-child { margin-top: 0; }
p, ul, ol, dl, blockquote, pre, .table, .plain { margin: 0 0 1.1em; }
a { color: var(--link); text-decoration-thickness: 1px; text-underline-offset: 0.18em; }
a:hover { text-decoration-thickness: 2px; }
:focus-visible { outline: 2px solid var(--link); outline-offset: 2px; border-radius: 2px; }
ul, ol { padding-left: 1.6em; }
li { margin: 0.25em 0; }
li > ul, li > ol { margin: 0.25em 0; }
.loose > li { margin: 0.8em 0; }
li.task { list-style: none; }
.box { display: inline-block; width: 1.3em; margin-left: -1.5em; color: var(--mark); }
ul.values { padding-left: 1.1em; }
li::marker { color: var(--soft); }
blockquote { padding: 0.1em 0 0.1em 1.2em; border-left: 3px solid var(--mark); color: var(--soft); }
blockquote > :last-child { margin-bottom: 0; }
code, pre { font-family: ui-monospace, "SF Mono", "Cascadia Mono", Menlo, Consolas, "DejaVu Sans Mono", monospace; font-size: 0.86em; }
code { padding: 0.12em 0.32em; border-radius: 4px; background: var(--tint); overflow-wrap: anywhere; }
pre { padding: 1em 1.15em; border: 1px solid var(--line); border-radius: 8px; background: var(--tint); white-space: pre-wrap; line-height: 1.55; tab-size: 4; }
pre code { padding: 0; background: none; font-size: 1em; }
.plain, .text { white-space: pre-wrap; overflow-wrap: anywhere; }
hr { border: 0; border-top: 1px solid var(--line); margin: 2.5em 0; }
.table { overflow-x: auto; }
table { border-collapse: collapse; min-width: 50%; font-size: 0.89rem; line-height: 1.5; font-variant-numeric: tabular-nums lining-nums; }
th, td { padding: 0.5em 0.9em; text-align: start; vertical-align: top; border-bottom: 1px solid var(--line); }
th:first-child, td:first-child { padding-left: 0; }
th { font-weight: 600; color: var(--soft); border-bottom: 2px solid var(--line); }
.left { text-align: left; } .right { text-align: right; } .center { text-align: center; }
dl { display: grid; grid-template-columns: minmax(6rem, max-content) minmax(0, 1fr); gap: 0.45em 1.5em; }
dt { color: var(--soft); font-size: 0.89rem; padding-top: 0.13em; max-width: 14rem; overflow-wrap: anywhere; }
dd { margin: 0; min-width: 0; }
dd > :last-child, li > :last-child, td > :last-child { margin-bottom: 0; }
dd > dl { grid-template-columns: minmax(3rem, max-content) minmax(0, 1fr); padding-left: 1rem; border-left: 2px solid var(--line); }
.literal { font-variant-numeric: tabular-nums lining-nums; color: var(--mark); overflow-wrap: anywhere; }
.question { font-size: 1.5rem; white-space: pre-wrap; }
nav { margin: 0 0 2.5rem; padding: 1rem 1.25rem; border: 1px solid var(--line); border-radius: 8px; font-size: 0.89rem; line-height: 1.5; }
nav h2 { margin: 0 0 0.5em; padding: 0; border: 0; font-size: 0.78rem; text-transform: uppercase; letter-spacing: 0.08em; color: var(--soft); }
nav ul { list-style: none; margin: 0; padding: 0; }
nav a { color: inherit; text-decoration: none; }
nav a:hover { color: var(--link); text-decoration: underline; }
nav .l3 { padding-left: 1em; } nav .l4 { padding-left: 2em; } nav .l5, nav .l6 { padding-left: 3em; }
footer { margin-top: 4rem; padding-top: 1.4rem; border-top: 1px solid var(--line); font-size: 0.82rem; line-height: 1.55; color: var(--soft); }
footer dt { font-size: inherit; padding: 0; }
footer dl { grid-template-columns: max-content minmax(0, 1fr); gap: 0.25em 1.5em; margin: 0; }
footer dd { overflow-wrap: anywhere; white-space: pre-wrap; }
.summary { color: var(--soft); font-size: 0.95rem; }
.timeline { display: block; width: 100%; height: auto; margin: 0 0 2.5rem; }
.timeline text { font: 11px ui-sans-serif, system-ui, sans-serif; fill: var(--soft); }
.timeline line { stroke: var(--line); }
.state { white-space: nowrap; }
.state::before { content: ""; display: inline-block; width: 0.6em; height: 0.6em; margin-right: 0.5em; border-radius: 50%; background: currentColor; }
.done { color: var(--done); fill: var(--done); } .bad { color: var(--bad); fill: var(--bad); }
.idle { color: var(--idle); fill: var(--idle); } .busy { color: var(--busy); fill: var(--busy); }
.batch td:nth-child(2) { min-width: 18rem; overflow-wrap: anywhere; }
.batch td:last-child { white-space: nowrap; }
@media (min-width: 82rem) {
  nav { position: fixed; top: 3.5rem; left: max(1.5rem, calc(50vw - 40rem)); width: 14.5rem; max-height: calc(100vh - 7rem); overflow-y: auto; padding: 0; border: 0; }
}
@media (max-width: 34rem) {
  body { padding-top: 2rem; font-size: 1rem; }
  h1 { font-size: 1.6rem; }
  dl, footer dl { grid-template-columns: 1fr; gap: 0.1em; }
  dd { margin-bottom: 0.6em; }
}
@media print {
  :root { --paper: #fff; --ink: #000; --soft: #444; --line: #bbb; --tint: #f5f5f5; --link: #000; --mark: #555; }
  @page { margin: 2cm; }
  body { max-width: none; padding: 0; font-size: 10.5pt; }
  h1, h2, h3, h4, h5, h6 { break-after: avoid; }
  pre, blockquote, tr, li, svg { break-inside: avoid; }
  thead { display: table-header-group; }
  .table { overflow: visible; }
  main a[rel]::after { content: " (" attr(href) ")"; font-size: 0.82em; color: var(--soft); overflow-wrap: anywhere; }
  nav { position: static; width: auto; max-height: none; break-inside: avoid; }
}
`;
