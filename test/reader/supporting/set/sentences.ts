/** What is true or wrong of a sentence. */
export type Kind =
  | "true"
  | "computed"
  | "figure of another place"
  | "wrong subject"
  | "denial"
  | "turned round"
  | "too much or too little"
  | "miscomputed";

/**
 * A sentence of the set, the pages that it cites, and what an honest reader replies who has the passages in view: a verdict
 * and the words that show it. Written by hand.
 */
export interface Labelled {
  kind: Kind;
  text: string;
  pages: readonly string[];
  verdict: "supported" | "contradicted" | "not_stated";
  quote: string;
}

const supported = (kind: "true" | "computed", pages: string, text: string, quote: string): Labelled => ({
  ...{ kind, text, quote, pages: pages.split(" ") },
  verdict: "supported",
});
const wrong = (kind: Kind, pages: string, text: string, quote = ""): Labelled => ({
  ...{ kind, text, quote, pages: pages.split(" ") },
  verdict: quote === "" ? "not_stated" : "contradicted",
});

export const SENTENCES: readonly Labelled[] = [
  // What the pages say, in other words or in another language.
  supported(
    "true",
    "ferry",
    "Sound Ferries carried 4.31 million people in 2024, up 6.2 % on the year before.",
    "In 2024 the six lines carried 4.31 million passengers, 6.2 % more than in 2023.",
  ),
  supported(
    "true",
    "ferry",
    "The line from Kallvik to Norholm had 1.56 million passengers in 2024.",
    "Kallvik–Norholm | 1,480,000 | 1,560,000 | 94.1",
  ),
  supported(
    "true",
    "ferry",
    "Fares have stayed the same since 2020.",
    "The company has not raised its fares since 2020",
  ),
  supported(
    "true",
    "ferry",
    "Die Fähre Ada fährt seit Mai 2021 und fasst 140 Autos.",
    "The Ada entered service in May 2021 and takes 140 cars.",
  ),
  supported(
    "true",
    "ferry",
    "The battery ships need 12 minutes of charging at each end.",
    "They charge for 12 minutes at each end, from a connection of 6.5 megawatts.",
  ),
  supported(
    "true",
    "drug",
    "BREATHE-2 enrolled 1,247 adults at 61 sites.",
    "we randomly assigned 1,247 adults at 61 sites in nine countries",
  ),
  supported(
    "true",
    "drug",
    "With the higher dose patients had 0.62 exacerbations a year, against 0.97 on placebo.",
    "The rate of exacerbations was 0.62 a year with 40 mg, 0.88 with 20 mg and 0.97 with placebo.",
  ),
  supported(
    "true",
    "drug",
    "The maker of the drug, Halden Pharma, financed the trial.",
    "The trial was paid for by Halden Pharma, which also makes the drug.",
  ),
  supported(
    "true",
    "drug",
    "El ensayo excluyó a los fumadores.",
    "Smokers and patients with a heart attack in the year before were excluded.",
  ),
  supported(
    "true",
    "deich",
    "Der neue Deich ist 14,8 km lang und wurde im September 2022 übergeben.",
    "Nach zwölf Jahren Planung und sieben Jahren Bau wurde der neue Deich am 3. September 2022 übergeben. Er ist 14,8 km lang",
  ),
  supported("true", "deich", "The dike cost 187 million euros.", "Der Bau hat 187 Millionen Euro gekostet."),
  supported(
    "true",
    "deich",
    "Auf dem Deich weiden 2300 Schafe, aber keine Rinder.",
    "Schafe halten die Grasnarbe kurz. Derzeit weiden dort 2.300 Tiere von sieben Betrieben; Rinder sind nicht erlaubt.",
  ),
  supported(
    "true",
    "solar",
    "Block D of the Kaveh plant has a capacity of 520 MW.",
    "Block D | 520 | 1,265 | Orion Glass",
  ),
  supported(
    "true",
    "solar",
    "Its panels are cleaned at night by 260 robots without any water.",
    "The panels are cleaned at night by 260 robots that use no water.",
  ),
  supported(
    "true",
    "solar",
    "A development bank contributed a loan of $900 million at 3.1 %.",
    "A development bank lent 900 million dollars of the sum at 3.1 %.",
  ),
  supported(
    "true",
    "biblio",
    "La biblioteca de Torrelva dejó de cobrar multas por retraso en 2018.",
    "La biblioteca no cobra multas por retraso desde 2018.",
  ),
  supported(
    "true",
    "biblio",
    "In 2023 the library counted 512,000 visits.",
    "2023 | 512.000 | 286.000 | 42.700",
  ),
  supported(
    "true",
    "memory",
    "By default mcached uses no more than 2 GB of memory.",
    "By default it takes at most 2 GB; the option max_memory sets another limit.",
  ),
  supported("true", "memory", "The default of io_threads is 4.", "io_threads | 4 | 64 | 2.1"),
  supported(
    "true",
    "wine",
    "La cosecha de 2024 fue de 74.200 toneladas, un 11 % inferior a la de 2023.",
    "La vendimia terminó el 21 de octubre, nueve días más tarde que en 2023. Se recogieron 74.200 toneladas de uva, un 11 % menos que el año anterior",
  ),
  supported(
    "true",
    "wine ferry",
    "Each kilogram of Albilla grapes was paid 0.94 euros.",
    "Las bodegas pagaron más por la Albilla (0,94 euros) que por la Morera (0,82 euros)",
  ),
  // What follows from the numbers of the pages.
  supported(
    "computed",
    "deich",
    "Der Bau wurde 45 Millionen Euro teurer als geplant.",
    "Der Bau hat 187 Millionen Euro gekostet. Geplant waren 142 Millionen.",
  ),
  supported(
    "computed",
    "solar",
    "Blocks A and B together have a power of 550 MW.",
    "Block A | 210 | 478 | Lumio […] Block B | 340 | 801 | Lumio",
  ),
  supported(
    "computed",
    "biblio",
    "El ayuntamiento paga el 79 % del presupuesto de la biblioteca.",
    "El presupuesto de 2024 es de 3,9 millones de euros, de los que el ayuntamiento aporta 3,1 millones y la región 0,8 millones.",
  ),

  // The figure stands on the page, but says something else.
  wrong(
    "figure of another place",
    "ferry",
    "The line from Kallvik to Sandö had 598,000 passengers in 2024.",
    "Kallvik–Sandö | 912,000 | 1,010,000 | 91.8",
  ),
  wrong(
    "figure of another place",
    "ferry",
    "The ferry company earned 101.7 million crowns in 2024.",
    "Revenue rose to 96.4 million crowns, from 91.0 million in 2023, while costs rose faster, to 101.7 million",
  ),
  wrong(
    "figure of another place",
    "drug",
    "Adverse events made 3.9 % of the patients with 40 mg stop the treatment.",
    "Adverse events that led to a stop of the treatment occurred in 7.4 % of the patients with 40 mg",
  ),
  wrong("figure of another place", "deich", "Die Planung des Deichs dauerte sieben Jahre und begann 1962."),
  wrong(
    "figure of another place",
    "deich",
    "Der Abschnitt Mitte kostete 58 Millionen Euro.",
    "Mitte | 6,5 | 71 | 2020",
  ),
  wrong(
    "figure of another place",
    "solar",
    "Block B delivered 1,012 GWh in 2024.",
    "Block B | 340 | 801 | Lumio",
  ),
  wrong(
    "figure of another place",
    "biblio",
    "En 2022 la biblioteca tuvo 512.000 visitas.",
    "2022 | 455.000 | 298.000 | 39.900",
  ),
  wrong(
    "figure of another place",
    "memory",
    "A key in mcached may have up to 8 MB.",
    "A value may have up to 8 MB, a key up to 250 bytes.",
  ),
  wrong(
    "figure of another place",
    "wine",
    "La bodega San Telmo elabora el 64 % del vino del valle.",
    "19 son cooperativas, que elaboran el 64 % del vino",
  ),

  wrong(
    "wrong subject",
    "ferry",
    "The Berta entered service in May 2021.",
    "The Ada entered service in May 2021 and takes 140 cars. The Berta followed in 2022",
  ),
  wrong(
    "wrong subject",
    "drug",
    "The trial of Velotrin was sponsored by the 61 hospitals that took part.",
    "The trial was paid for by Halden Pharma",
  ),
  wrong(
    "wrong subject",
    "solar",
    "The utility Norgen owns 60 % of the Kaveh plant.",
    "the Aram Fund with 60 % and the utility Norgen with 40 %",
  ),
  wrong(
    "wrong subject",
    "deich",
    "Der Bund trug 70 Prozent der Kosten des Deichs.",
    "Das Land trug 70 Prozent, der Bund den Rest",
  ),
  wrong(
    "wrong subject",
    "biblio",
    "La arquitecta Carmen Vidal fundó la biblioteca en 1886.",
    "La biblioteca fue fundada en 1886 por el maestro Julián Otero",
  ),
  wrong(
    "wrong subject",
    "wine",
    "La variedad Albilla perdió una quinta parte de su cosecha en 2024.",
    "La Morera perdió una quinta parte de su cosecha; la Albilla, que brota más tarde, apenas sufrió daños.",
  ),
  wrong(
    "wrong subject",
    "solar",
    "The panels of Block C were made by Lumio.",
    "Block C | 415 | 1,012 | Tessel",
  ),

  wrong(
    "denial",
    "ferry",
    "Sound Ferries has raised its fares since 2020.",
    "The company has not raised its fares since 2020",
  ),
  wrong(
    "denial",
    "drug",
    "Velotrin improved the lung function of patients with moderate asthma.",
    "It did not improve lung function.",
  ),
  wrong(
    "denial",
    "drug",
    "The difference between 20 mg and placebo was significant (P=0.21).",
    "that between 20 mg and placebo was not (P=0.21)",
  ),
  wrong(
    "denial",
    "deich",
    "Der alte Deich wurde seit 1962 dreimal erhöht.",
    "Seither wurde er dreimal ausgebessert, aber nie erhöht.",
  ),
  wrong(
    "denial",
    "memory",
    "mcached writes values to the disk when the limit of 2 GB is reached.",
    "It never writes values to the disk.",
  ),
  wrong(
    "denial",
    "wine",
    "El consejo regulador autorizó el riego de emergencia que habían pedido las cooperativas.",
    "El consejo regulador no autorizó el riego de emergencia",
  ),
  wrong(
    "denial",
    "solar",
    "An audit in 2022 found violations of labour law at the Kaveh site.",
    "An audit in 2022 found no violation of labour law at the site",
  ),

  wrong(
    "turned round",
    "ferry",
    "In 2024 revenue rose faster than costs.",
    "Revenue rose to 96.4 million crowns, from 91.0 million in 2023, while costs rose faster",
  ),
  wrong(
    "turned round",
    "wine",
    "En 2024 las bodegas pagaron más por la Morera que por la Albilla.",
    "Las bodegas pagaron más por la Albilla (0,94 euros) que por la Morera (0,82 euros)",
  ),
  wrong(
    "turned round",
    "deich",
    "Die Zahl der Brutpaare des Rotschenkels sank von 81 auf 34.",
    "Die Zahl der Brutpaare des Rotschenkels ist dort von 34 auf 81 gestiegen",
  ),
  wrong(
    "turned round",
    "biblio",
    "En 2023 los préstamos de libros aumentaron un 4 % y los de libros electrónicos cayeron un 22 %.",
    "tomaron en préstamo 286.000 libros, un 4 % menos que el año anterior, y 97.000 libros electrónicos, un 22 % más",
  ),
  wrong(
    "turned round",
    "memory",
    "Version 3.0 uses 27 % more memory than 2.4 for values under 100 bytes.",
    "it used 27 % less memory than 2.4 for values under 100 bytes",
  ),

  wrong(
    "too much or too little",
    "drug",
    "Velotrin prevents exacerbations in all patients with moderate asthma.",
    "The effect was seen only in patients with at least 300 eosinophils per microlitre",
  ),
  wrong(
    "too much or too little",
    "ferry",
    "All eleven ships of the fleet run on batteries alone.",
    "Three of them, the Ada, the Berta and the Carin, run on batteries alone",
  ),
  wrong(
    "too much or too little",
    "solar",
    "The plant supplies most of the country’s electricity.",
    "about 7 % of the country’s consumption",
  ),
  wrong(
    "too much or too little",
    "biblio",
    "Los domingos abren todas las salas de barrio.",
    "Los domingos solo abre la sede central.",
  ),
  wrong(
    "too much or too little",
    "memory",
    "mcached is the fastest cache of its kind, and version 3.0 increased its throughput.",
    "Throughput did not change.",
  ),
  wrong("too much or too little", "drug solar", "Velotrin is approved for children under 18."),

  wrong("miscomputed", "solar", "Blocks A and B together have a power of 610 MW."),
  wrong("miscomputed", "deich", "Der Bau wurde 54 Millionen Euro teurer als geplant."),
];
