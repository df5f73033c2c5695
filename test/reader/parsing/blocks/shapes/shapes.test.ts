import { expect, it } from "vitest";
import { readBlocks } from "../../../../../src/reader/parsing/blocks/read-blocks.js";

/** The sentence of each page that must be found, and what must not. */
const FOUND = "The lock opens at dawn.";
const NOT = /Menu entry|Cookie notice|Foot of the page/;

/** Pages in the form of what widespread tools make, and the headings over the sentence. */
const SHAPES: readonly [string, string, string][] = [
  [
    "mdBook",
    "Locks / Hours",
    `<!DOCTYPE HTML><html lang="en" class="sidebar-visible no-js light"><head><title>Hours - Book</title></head><body>
<div id="mdbook-help-container"><div id="mdbook-help-popup"><h2>Menu entry</h2></div></div><nav id="sidebar" class="sidebar"><ol class="chapter"><li><a href="a">Menu entry</a></li></ol></nav>
<div id="page-wrapper" class="page-wrapper"><div class="page"><div id="menu-bar" class="menu-bar sticky"><h1 class="menu-title">Menu entry</h1></div>
<div id="content" class="content"><main><h1 id="locks"><a class="header" href="#locks">Locks</a></h1>
<h2 id="hours"><a class="header" href="#hours">Hours</a></h2><p>${FOUND}</p></main>
<nav class="nav-wrapper">Menu entry</nav></div></div></div></body></html>`,
  ],
  [
    "Sphinx with the Read the Docs theme",
    "Locks / Hours",
    `<html><head><title>x</title></head><body class="wy-body-for-nav"><div class="wy-grid-for-nav">
<nav data-toggle="wy-nav-shift" class="wy-nav-side"><div class="wy-menu wy-menu-vertical" role="navigation"><ul><li>Menu entry</ul></div></nav>
<section data-toggle="wy-nav-shift" class="wy-nav-content-wrap"><div class="wy-nav-content"><div role="navigation"><ul class="wy-breadcrumbs"><li>Menu entry</ul></div>
<div role="main" class="document"><div itemprop="articleBody"><section id="locks"><h1>Locks<a class="headerlink" href="#locks" title="Permalink">¶</a></h1>
<section id="navigation"><h2>Hours<a class="headerlink" href="#navigation"></a></h2><p>${FOUND}</p></section></section></div></div>
<footer><p>Foot of the page</p></footer></div></section></div><div class="rst-versions" role="note">Menu entry</div></body></html>`,
  ],
  [
    "Sphinx with Alabaster",
    "Locks / Hours",
    `<html><body><div class="document"><div class="documentwrapper"><div class="bodywrapper"><div class="body" role="main">
<div class="section" id="menu"><h1>Locks<a class="headerlink" href="#menu">¶</a></h1><div class="section" id="sidebar"><h2>Hours</h2><p>${FOUND}</p></div></div></div></div></div>
<div class="sphinxsidebar" role="navigation"><h3>Menu entry</h3></div></div><div class="footer">Foot of the page</div></body></html>`,
  ],
  [
    "MediaWiki, Vector 2022",
    "Locks / Hours",
    `<html class="client-nojs vector-feature-main-menu-pinned-disabled vector-toc-available"><body class="skin-vector-2022 vector-sticky-header ns-0">
<div class="vector-header-container"><nav class="vector-main-menu-landmark" aria-label="Site">Menu entry</nav></div><div id="siteNotice"></div>
<nav id="mw-panel-toc" class="vector-toc-landmark">Menu entry</nav><main id="content" class="mw-body"><header class="mw-body-header"><h1 id="firstHeading"><span class="mw-page-title-main">Locks</span></h1><div id="p-lang-btn" class="vector-dropdown mw-portlet mw-portlet-lang"><ul><li>Menu entry</ul></div></header>
<div class="vector-page-toolbar vector-feature-custom-font-size-clientpref--excluded"><div id="mw-content-text"><div class="mw-parser-output">
<div class="mw-heading mw-heading2"><h2 id="Hours">Hours</h2><span class="mw-editsection">[<a>Menu entry</a>]</span></div><p>${FOUND}</p>
<div class="navbox" role="navigation">Menu entry</div></div></div></div><div id="catlinks" class="catlinks">Menu entry</div></main>
<footer id="footer" class="mw-footer">Foot of the page</footer></body></html>`,
  ],
  [
    "VitePress",
    "Locks / Hours",
    `<html><body><div id="app"><div class="Layout"><header class="VPNav"><nav class="menu">Menu entry</nav></header><aside class="VPSidebar"><nav>Menu entry</nav></aside>
<div class="VPContent has-sidebar" id="VPContent"><div class="VPDoc has-sidebar has-aside"><div class="container"><div class="aside"><nav>Menu entry</nav></div><div class="content"><main class="main"><div class="vp-doc">
<h1 id="locks" tabindex="-1">Locks <span class="VPBadge tip">beta</span> <a class="header-anchor" href="#locks">\u200b</a></h1><h2 id="hours">Hours <a class="header-anchor" href="#hours">\u200b</a></h2><p>${FOUND}</p></div></main>
<footer class="VPDocFooter">Foot of the page</footer></div></div></div></div></div></div></body></html>`,
  ],
  [
    "Docusaurus",
    "Locks / Hours",
    `<html class="docs-wrapper plugin-docs"><body class="navigation-with-keyboard"><nav class="navbar navbar--fixed-top">Menu entry</nav><div id="__docusaurus_skipToContent_fallback" class="main-wrapper"><aside class="theme-doc-sidebar-container"><ul class="theme-doc-sidebar-menu menu__list"><li>Menu entry</ul></aside>
<main><article><nav class="theme-doc-breadcrumbs">Menu entry</nav><div class="theme-doc-markdown markdown"><header><h1>Locks</h1></header><h2 class="anchor" id="hours">Hours<a href="#hours" class="hash-link">\u200b</a></h2><p>${FOUND}</p></div></article><div class="tableOfContents_x theme-doc-toc-desktop"><ul class="table-of-contents table-of-contents__left-border"><li>Menu entry</ul></div></main></div>
<footer class="footer footer--dark">Foot of the page</footer></body></html>`,
  ],
  [
    "MkDocs Material",
    "Locks / Hours",
    `<html class="no-js"><body dir="ltr"><header class="md-header"><nav class="md-header__inner">Menu entry</nav></header><div class="md-container"><main class="md-main"><div class="md-main__inner md-grid"><div class="md-sidebar md-sidebar--primary"><nav>Menu entry</nav></div>
<div class="md-content"><article class="md-content__inner md-typeset"><h1 id="l">Locks<a class="headerlink" href="#l">&para;</a></h1><h2 id="h">Hours<a class="headerlink">&para;</a></h2><p>${FOUND}</p></article></div></div></main><footer class="md-footer">Foot of the page</footer></div>
<div class="md-consent"><aside class="md-consent__overlay"><p>Cookie notice</p></aside></div></body></html>`,
  ],
  [
    "Hugo with Docsy",
    "Locks / Hours",
    `<html><body class="td-page"><header><nav class="td-navbar">Menu entry</nav></header><div class="container-fluid td-outer"><div class="td-main"><div class="row"><aside class="col-md-3 td-sidebar"><div id="td-sidebar-menu">Menu entry</div></aside>
<main class="td-content-wrapper" role="main"><nav aria-label="breadcrumb">Menu entry</nav><div class="td-content"><h1>Locks</h1><h2 id="hours">Hours<a class="td-heading-self-link" href="#hours"></a></h2><p>${FOUND}</p></div></main></div></div><footer class="td-footer">Foot of the page</footer></div></body></html>`,
  ],
  [
    "WordPress, a theme of blocks",
    "Locks / Hours",
    `<html><body class="post-template-default single wp-embed-responsive"><div class="wp-site-blocks"><header class="wp-block-template-part"><nav class="wp-block-navigation">Menu entry</nav></header><main class="wp-block-group"><h1 class="wp-block-post-title">Locks</h1><div class="entry-content"><h2 class="wp-block-heading">Hours</h2><p>${FOUND}</p></div></main>
<footer class="wp-block-template-part">Foot of the page</footer></div><div id="cookie-law-info-bar"><span>Cookie notice</span></div><div class="cky-consent-container">Cookie notice</div></body></html>`,
  ],
  [
    "WordPress, an older theme",
    "Locks / Hours",
    `<html><body class="home blog sidebar menu has-sidebar"><div id="page" class="hfeed site"><div id="masthead"><ul class="menu"><li>Menu entry</ul></div><div id="primary" class="content-area sidebar"><div id="post-1" class="post category-navigation"><h1>Locks</h1><div class="entry-content"><h2>Hours</h2><p>${FOUND} <p>It closes at dusk, when the keeper has gone home.</div></div></div>
<div id="sidebar"><h3>Menu entry</h3></div><div id="footer">Foot of the page</div></div><div id="cookie-notice" role="dialog">Cookie notice</div></body></html>`,
  ],
  [
    "Javadoc",
    "Class Lock / Method Details / opens",
    `<html lang="en"><body class="class-declaration-page"><div class="flex-box"><header role="banner" class="flex-header"><nav role="navigation"><div class="top-nav" id="navbar-top">Menu entry</div></nav></header><div class="flex-content"><main role="main"><div class="header"><h1 title="Class Lock" class="title">Class Lock</h1></div>
<section class="details"><ul class="details-list"><li><section class="method-details" id="method-detail"><h2>Method Details</h2><ul class="member-list"><li><section class="detail" id="opens()"><h3>opens</h3><div class="block">${FOUND}</div></section></li></ul></section></li></ul></section></main><footer role="contentinfo">Foot of the page</footer></div></div></body></html>`,
  ],
  [
    "Javadoc of Java 8",
    "Class Lock / Method Detail / opens",
    `<html><body><div class="topNav"><a name="navbar.top"></a><div class="skipNav">Menu entry</div><ul class="navList"><li>Menu entry</ul></div><div class="subNav">Menu entry</div><div class="header"><h2 title="Class Lock" class="title">Class Lock</h2></div>
<div class="contentContainer"><div class="details"><ul class="blockList"><li class="blockList"><ul class="blockList"><li class="blockList"><h3>Method Detail</h3><ul class="blockListLast"><li class="blockList"><h4>opens</h4><div class="block">${FOUND}</div></li></ul></li></ul></li></ul></div></div><div class="bottomNav">Menu entry</div></body></html>`,
  ],
  [
    "Doxygen",
    "Locks / Hours",
    `<html><body><div id="top"><div id="main-nav"></div><div id="nav-path" class="navpath"><ul><li>Menu entry</ul></div></div><div class="header"><div class="headertitle"><h1 class="title">Locks</h1></div></div><div class="contents"><div class="textblock"><h2><a class="anchor" id="autotoc_md1"></a>
Hours</h2><p>${FOUND}</p></div></div><!-- contents --><address class="footer"><small>Foot of the page</small></address></body></html>`,
  ],
  [
    "rustdoc",
    "Struct Lock / Examples",
    `<html><body class="rustdoc struct"><nav class="sidebar"><h2>Menu entry</h2></nav><main><div class="width-limiter"><section id="main-content" class="content"><div class="main-heading"><h1>Struct <span class="struct">Lock</span><button id="copy-path">Menu entry</button></h1></div>
<details class="toggle top-doc" open><summary class="hideme"><span>Expand</span></summary><div class="docblock"><h2 id="examples"><a class="doc-anchor" href="#examples">§</a>Examples</h2><p>${FOUND}</p></div></details></section></div></main></body></html>`,
  ],
  [
    "man2html",
    "LOCK / OPTIONS / -h, --hours",
    `<HTML><HEAD><TITLE>Man page of LOCK</TITLE></HEAD><BODY>
<H1>LOCK</H1>Section: User Commands (1)<HR><A NAME="lbAD">&nbsp;</A><H2>OPTIONS</H2>
<DL COMPACT><DT><B>-h</B><DT><B>--hours</B><DD>${FOUND}<DT><B>-q</B><DD>Quiet.</DL><HR></BODY></HTML>`,
  ],
  [
    "a README on GitHub",
    "Locks / Hours",
    `<html class="js-focus-visible"><body class="logged-out env-production page-responsive"><header class="HeaderMktg" role="banner"><nav>Menu entry</nav></header><main id="js-repo-pjax-container"><div class="Layout-sidebar"><div class="BorderGrid about-margin"></div></div><article class="markdown-body entry-content container-lg">
<div class="markdown-heading"><h1>Locks <a href="x"><img alt="build" src="b.svg"></a></h1><a class="anchor" href="#locks"><svg><path></path></svg></a></div><div class="markdown-heading"><h2>Hours</h2></div><p>${FOUND}</p></article></main><footer class="footer" role="contentinfo">Foot of the page</footer></body></html>`,
  ],
  [
    "Stack Overflow",
    "When does the lock open? / 2 Answers",
    `<html class="html__responsive"><body class="question-page unified-theme"><header class="s-topbar"><nav>Menu entry</nav></header><div class="container"><div id="left-sidebar" role="navigation">Menu entry</div><div id="content"><div id="question-header"><h1><a class="question-hyperlink">When does the lock open?</a></h1></div><div id="mainbar" role="main"><div id="answers"><div id="answers-header"><h2>2 Answers</h2></div><div id="answer-1" class="answer"><div class="s-prose js-post-body"><p>${FOUND}</p></div></div></div></div><div id="sidebar" class="show-votes" role="complementary">Menu entry</div></div></div>
<footer id="footer" class="site-footer">Foot of the page</footer><div class="js-consent-banner" role="dialog">Cookie notice</div></body></html>`,
  ],
  [
    "arXiv's HTML",
    "Locks / 1 Hours",
    `<html lang="en"><body><header class="desktop_header"><nav>Menu entry</nav></header><div class="ltx_page_main"><nav class="ltx_page_navbar"><nav class="ltx_TOC">Menu entry</nav></nav><div class="ltx_page_content"><article class="ltx_document"><h1 class="ltx_title ltx_title_document">Locks</h1><section id="S1" class="ltx_section"><h2 class="ltx_title"><span class="ltx_tag">1 </span>Hours</h2><div class="ltx_para"><p class="ltx_p">${FOUND}</p></div></section></article></div><footer class="ltx_page_footer">Foot of the page</footer></div></body></html>`,
  ],
  [
    "a news article",
    "Locks",
    `<html><body class="article-page nav-open"><div id="onetrust-consent-sdk"><p>Cookie notice</p></div><header><nav>Menu entry</nav></header><main><article><h1>Locks</h1><p class="byline">By A. Keeper<p>${FOUND}<aside class="related"><h2>Menu entry</h2></aside><p>It closes at dusk.</article></main><footer>Foot of the page</footer></body></html>`,
  ],
  [
    "a page that is a table",
    "Locks",
    `<html><body bgcolor=white><table width=100%><tr><td width=20% class="menu">Closed<td><h1>Locks</h1><p>It closes at dusk.<p>${FOUND}</table><div class="footer">Foot of the page</div></body></html>`,
  ],
  [
    "nested tables",
    "Locks",
    `<html><body><table><tr><td><table class="nav"><tr><td>Menu entry</table><td><table><tr><td><h1>Locks</h1><table><tr><td>Opens<td>${FOUND}</table></table></table></body></html>`,
  ],
];

it.each(SHAPES)("%s: the text under its headings, without what stands around it", (_name, heading, page) => {
  const blocks = readBlocks("page.html", page);
  const matches = blocks.filter(({ lines }) => lines.join(" ").includes(FOUND));
  expect(matches.map((block) => block.heading)).toEqual([heading]);
  expect(blocks.map(({ heading: above, lines }) => `${above} ${lines.join(" ")}`).join("\n")).not.toMatch(
    NOT,
  );
});

const shown = (html: string) =>
  readBlocks("page.html", html).map(({ heading, lines }) => `[${heading}] ${lines.join(" ").trim()}`);

it.each<[string, string, string[]]>([
  [
    "all terms of a group",
    "<dl><dt>a<dt>b<dd>1<dd>2<dt>c<dd>3</dl>4",
    ["[a, b] 1", "[a, b] 2", "[c] 3", "[] 4"],
  ],
  // As man2html writes options with one description.
  ["terms with an empty definition between them", "<dl><dt>a<dd><dt>b<dd>1</dl>", ["[a, b] 1"]],
  ["terms without definitions", "<h1>H</h1><dl><dt>a<dd><dt>b</dl>", ["[H] a, b"]],
  [
    "a heading with nothing under it",
    "<h1>A</h1><h2>B</h2><h2>C</h2>c<h1>D</h1>",
    ["[A] B", "[A / C] c", "[] D"],
  ],
  [
    "items that end where the next begins",
    "<ul><li>a<ul><li>b</ul><li>c</ul>d",
    ["[] a", "[] b", "[] c", "[] d"],
  ],
  ["paragraphs before lists", "<p>a<ul><li>b</ul>c", ["[] a", "[] b", "[] c"]],
  ["a heading without an end", "<h2>A<p>b</p><p>c</p>", ["[A] b", "[A] c"]],
  ["a head without an end", "<html><head><title>T</title><p>a", ["[] a"]],
  ["a title without an end tag's page", "<title>T<h1>A</h1>b", ["[A] b"]],
  [
    "raised and lowered numbers",
    "<p>10<sup>6</sup> m<sup>2</sup>, 5<sup>1</sup>0, x<sub>1</sub>, 7<sub>8</sub>, 1<sup>st</sup>",
    ["[] 10^6 m^2, 5^1 0, x1, 7_8, 1st"],
  ],
  [
    "a class that has the word within a name",
    '<div class="has-sidebar nav-open"><p>a</div>bbb',
    ["[] a", "[] bbb"],
  ],
  ["a menu that is most of the page", '<div class="menu"><p>aaaa aaaa</p></div>b', ["[] aaaa aaaa", "[] b"]],
  [
    "a main part and an article of that class",
    '<main class="sidebar"><p>a</main><article class="menu"><p>b</article><p>cccc cccc',
    ["[] a", "[] b", "[] cccc cccc"],
  ],
  ["a menu that is less", '<div class="menu"><p>aa</p></div>bbbb', ["[] bbbb"]],
  ["a note at the side of a text", '<aside class="admonition note"><p>a</aside><aside>b</aside>', ["[] a"]],
  [
    "formulas, as the HTML of arXiv and Wikipedia has them",
    '<p>a <math alttext="28.4\\%"><mn>28</mn></math> b <math><semantics><mn>5</mn><annotation encoding="application/x-tex">6</annotation></semantics></math> c',
    ["[] a 28.4% b 5 c"],
  ],
  ["marks of a heading", "<h1>A ¶</h1>a<h1>§ 5 B</h1>b", ["[A] a", "[§ 5 B] b"]],
])("%s", (_name, html, expected) => {
  expect(shown(html)).toEqual(expected);
});

it("headings of Markdown lose badges, the addresses of links and marks", () => {
  const headingOf = (line: string) => readBlocks("a.md", `${line}\n\ntext`)[0]?.heading;
  expect(headingOf("# Locks [![build](b.svg)](https://ci.example)")).toBe("Locks");
  expect(headingOf("## [Hours](hours.md) ¶")).toBe("Hours");
  expect(headingOf('## <a name="x"></a>`Array<string>` {#x}')).toBe("`Array<string>`");
  expect(readBlocks("a.md", "# A\n\n## B\n\n## C\n\nc")).toMatchObject([
    { line: 3, heading: "A", lines: ["B"] },
    { line: 7, heading: "A / C" },
  ]);
});
