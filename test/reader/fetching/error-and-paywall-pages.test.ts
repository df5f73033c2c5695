import { expect, test } from "vitest";
import { detectErrorPage, isBehindPayment } from "../../../src/reader/fetching/error-and-paywall-pages.js";
import { splitDocument } from "../../../src/reader/parsing/documents/split-document.js";

async function read(html: string) {
  const bytes = new TextEncoder().encode(`${html}<p>Try the search.</p><p>Contact us</p>`);
  const page = { type: "text/html", charset: "utf-8" };
  const document = await splitDocument({ name: "/p", bytes, page, wantsText: true });
  if ("reason" in document) throw new Error(document.reason);
  return document;
}
const LONG = `<p>${"It is a long text about what is there. ".repeat(200)}</p>`;

test.each([
  ["<title>Page not found | GOV.UK</title><h1>Page not found</h1>"],
  ["<title>404 - File or directory not found.</title><h1>Server Error</h1>"],
  ["<title>404 Not Found</title><h1>Not Found</h1>"],
  ["<title>Error 404 (Not Found)!!1</title><p><b>404.</b> That’s an error.</p>"],
  ["<title>Blog</title><h1>Oops! That page can’t be found.</h1>"],
  ["<title>Sorry</title><h2>Sorry, this page isn't available.</h2>"],
  ["<title>Shop</title><h1>We can't find the page you're looking for</h1>"],
  ["<title>Stadt</title><h1>Die Seite wurde nicht gefunden</h1>"],
  ["<title>Fehler 404 - Seite nicht vorhanden</title>"],
  ["<title>Ville</title><h1>Oups, cette page est introuvable</h1>"],
  ["<title>Página no encontrada - Gob</title><h1>Error 404</h1>"],
  ["<title>Comune</title><h1>Pagina non trovata</h1>"],
  ["<title>Pagina niet gevonden | Rijk</title>"],
  ["<title>Página não encontrada</title>"],
  ["<title>お探しのページは見つかりませんでした | 市</title>"],
  ["<title>页面不存在</title>"],
  ["<title>페이지를 찾을 수 없습니다</title>"],
])("is not there: %s", async (html) => {
  expect(detectErrorPage(await read(html))).toBe("it says that the page does not exist");
});

test.each([
  ["it shows its text only after a login", "<title>Sign in - Accounts</title><h1>Sign in</h1>"],
  ["it shows its text only after a login", "<title>X</title><h1>Please log in to continue</h1>"],
  ["it shows its text only after a login", "<title>Anmelden - Portal</title>"],
  ["it shows its text only after a login", "<title>Se connecter | Le Monde</title>"],
  ["it shows its text only after a consent", "<title>Before you continue to the search</title>"],
  ["it shows its text only after a consent", "<title>X</title><h1>Nous respectons votre vie privée</h1>"],
  ["it asks whether the reader is human", "<title>Just a moment...</title>"],
])("%s: %s", async (reason, html) => {
  expect(detectErrorPage(await read(html))).toBe(reason);
});

test.each([
  ["<title>404 ways to cook rice</title><h1>404 ways to cook rice</h1>"],
  ["<title>Peugeot 404</title><h1>Peugeot 404</h1><p>A car of 1960.</p>"],
  ["<title>How to fix “page not found” errors</title><h1>How to fix “page not found” errors</h1>"],
  ["<title>Missing persons found in 2023</title><h1>Missing persons found</h1>"],
  [`<title>Not found</title><h1>Not found</h1>${LONG}`],
  [`<title>Sign in with a button</title><h1>Sign in with a button</h1>${LONG}`],
  [`<title>Your privacy</title><h1>Your privacy</h1>${LONG}`],
])("was delivered: %s", async (html) => {
  expect(detectErrorPage(await read(html))).toBeUndefined();
});

test.each([
  [true, '<script type="application/ld+json">{"isAccessibleForFree": false}</script>'],
  [true, '<script type="application/ld+json">{"isAccessibleForFree":"False"}</script>'],
  [false, '<script type="application/ld+json">{"isAccessibleForFree":true}</script>'],
  [true, "<div class='article__paywall'>Read on</div>"],
  [false, "<div class='no-paywall'>Read on</div>"],
  [true, "<p>Subscribe to continue reading</p>"],
  [true, "<p>Cet article est réservé aux abonnés</p>"],
  [true, "<p>Jetzt weiterlesen mit Plus</p>"],
  [false, "<p>Subscribe to our newsletter</p>"],
  [false, `<p>Subscribe to continue reading</p>${LONG}`],
])("is behind payment: %s, %s", async (isPaid, html) => {
  expect(isBehindPayment(await read(`<h1>News</h1><p>The first words.</p>${html}`))).toBe(isPaid);
});
