import { expect, it } from "vitest";
import { detectLanguage } from "../../../src/reader/languages/vocabulary.js";

it.each([
  ["The server listens on port 8080 and it is not open to the world.", "en"],
  ["Der Server lauscht auf Port 8080 und ist nicht von außen zu erreichen.", "de"],
  ["Le serveur écoute sur le port 8080 et il est fermé pour les autres.", "fr"],
  ["El servidor escucha en el puerto 8080 y no está abierto para los demás.", "es"],
  ["サーバーはポート8080で待ち受けます。", "ja"],
  ["Сервер слушает порт 8080.", "ru"],
  ["listen.port 8080", undefined],
  // A word that two languages have tells neither, and one that leads by a word is not told.
  ["La inversión en depuradoras alcanzará 1.150 millones de euros hasta 2030.", "es"],
  ["L'investissement s'élève à 1,5 Md€.", undefined],
  ["de la en de", undefined],
  // Five words of Spanish, of which Portuguese has four.
  ["de a que no el", undefined],
  ["", undefined],
])("%s", (text, expected) => {
  expect(detectLanguage(text)).toBe(expected);
});
