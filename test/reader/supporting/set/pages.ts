/** Pages that were invented for the set; their names stand for their addresses. */
export const PAGES: Readonly<Record<string, string>> = {
  ferry: `<title>Sound Ferries: annual review 2024</title><h1>Annual review 2024</h1>
<p>Sound Ferries runs six lines between the mainland and the islands of the Sound. The company was founded in 1911 as a
cooperative of fishermen, and has belonged to the three island municipalities since 1974. Its head office is in Kallvik.</p>
<h2>Passengers</h2>
<p>In 2024 the six lines carried 4.31 million passengers, 6.2 % more than in 2023. Most of the growth came from the summer
months: in July alone 812,000 people travelled, the highest figure of any month since records began in 1963. Outside of the
summer, traffic was nearly unchanged.</p>
<p>Commuters account for 38 % of all journeys. Their number has fallen since 2019, which the company puts down to work from
home. Tourists, by contrast, made 1.9 million journeys, a third more than five years before.</p>
<table><caption>Passengers and punctuality by line</caption>
<tr><th>Line</th><th>Passengers 2023</th><th>Passengers 2024</th><th>On time (%)</th></tr>
<tr><td>Kallvik–Norholm</td><td>1,480,000</td><td>1,560,000</td><td>94.1</td></tr>
<tr><td>Kallvik–Sandö</td><td>912,000</td><td>1,010,000</td><td>91.8</td></tr>
<tr><td>Norholm–Sandö</td><td>604,000</td><td>598,000</td><td>96.4</td></tr>
<tr><td>Sandö–Outer Skerries</td><td>233,000</td><td>264,000</td><td>83.7</td></tr>
<tr><td>Hamn–Lillö</td><td>511,000</td><td>540,000</td><td>89.9</td></tr>
<tr><td>Hamn–Brask</td><td>318,000</td><td>338,000</td><td>92.5</td></tr></table>
<h2>Ships</h2>
<p>The fleet has eleven ships. Three of them, the Ada, the Berta and the Carin, run on batteries alone; the Disa is a hybrid.
The Ada entered service in May 2021 and takes 140 cars. The Berta followed in 2022, the Carin in March 2024. The older ships
burn diesel, and the oldest of them, the Vega of 1968, will be retired in 2026.</p>
<p>Each of the battery ships saves about 2,900 tonnes of carbon dioxide a year compared with the diesel ship that it replaced.
They charge for 12 minutes at each end, from a connection of 6.5 megawatts. An order for two more was postponed in the autumn
after the yard had raised its price.</p>
<h2>Accounts</h2>
<p>Revenue rose to 96.4 million crowns, from 91.0 million in 2023, while costs rose faster, to 101.7 million, mainly for wages
and electricity. The municipalities covered the loss of 5.3 million. The company has not raised its fares since 2020, and the
board rejected a proposal to do so in November.</p>
<p>The chair, Ingrid Holm, said: “We do not intend to close any line, whatever the result of next year’s review.”</p>
<p>At the end of the year the company had 418 employees, 23 more than a year earlier; 31 % of the crew are women.</p>`,

  drug: `<title>Velotrin in moderate asthma: results of the BREATHE-2 trial</title><h1>Velotrin in moderate asthma: results of the
BREATHE-2 trial</h1>
<h2>Abstract</h2>
<p>Background. Velotrin is an inhaled antibody. In an earlier trial, BREATHE-1, it reduced exacerbations in severe asthma by
half. Whether it helps in moderate asthma was not known.</p>
<p>Methods. Between June 2019 and March 2022 we randomly assigned 1,247 adults at 61 sites in nine countries to Velotrin 40 mg
twice a day, Velotrin 20 mg twice a day, or placebo, for 52 weeks. The primary endpoint was the yearly rate of
exacerbations. Smokers and patients with a heart attack in the year before were excluded.</p>
<p>Results. The rate of exacerbations was 0.62 a year with 40 mg, 0.88 with 20 mg and 0.97 with placebo. The difference between
40 mg and placebo was significant (rate ratio 0.64; P&lt;0.001), that between 20 mg and placebo was not (P=0.21). Quality of
life did not differ between the groups.</p>
<p>Conclusions. At the higher dose, Velotrin reduced exacerbations in moderate asthma. It did not improve lung function.</p>
<h2>Adverse events</h2>
<p>Adverse events that led to a stop of the treatment occurred in 7.4 % of the patients with 40 mg, 4.1 % with 20 mg and 3.9 %
with placebo. The most frequent one was hoarseness. Two patients died in the placebo group and one in the group with 20 mg;
none of the deaths was attributed to the treatment by the investigators.</p>
<p>Serious infections were rare and equally frequent in the three groups (1.2 %, 1.0 % and 1.3 %). Antibodies against the drug
were found in 19 patients, and had no visible effect on its action.</p>
<h2>Patients</h2>
<table><tr><th>Group</th><th>Patients</th><th>Mean age (years)</th><th>Women (%)</th><th>Exacerbations in the year before</th></tr>
<tr><td>40 mg</td><td>418</td><td>47.3</td><td>61</td><td>1.8</td></tr>
<tr><td>20 mg</td><td>412</td><td>46.1</td><td>63</td><td>1.7</td></tr>
<tr><td>Placebo</td><td>417</td><td>48.0</td><td>59</td><td>1.9</td></tr></table>
<h2>Discussion</h2>
<p>The effect was seen only in patients with at least 300 eosinophils per microlitre; in the others, a third of all, the drug
did nothing that could be measured. The trial was not designed to compare Velotrin with other antibodies, and it had no
patients under 18.</p>
<p>The trial was paid for by Halden Pharma, which also makes the drug. The sponsor had no part in the analysis. Two of the
authors own shares in the company.</p>
<p>A larger trial in adolescents, BREATHE-3, began in September 2023 and is to report in 2027.</p>`,

  deich: `<html lang="de"><title>Der neue Deich von Westerhever</title><h1>Der neue Deich von Westerhever</h1>
<p>Nach zwölf Jahren Planung und sieben Jahren Bau wurde der neue Deich am 3. September 2022 übergeben. Er ist 14,8 km lang und
an der Krone 8,90 m hoch, 1,40 m höher als der alte. Dahinter leben rund 9.600 Menschen.</p>
<p>Der alte Deich stammte von 1863. Er war in der Sturmflut vom 16. Februar 1962 an zwei Stellen gebrochen; damals starben in der
Gemeinde vier Menschen. Seither wurde er dreimal ausgebessert, aber nie erhöht.</p>
<h2>Kosten</h2>
<p>Der Bau hat 187 Millionen Euro gekostet. Geplant waren 142 Millionen. Das Land trug 70 Prozent, der Bund den Rest; die Gemeinde
zahlte nichts. Die Mehrkosten gehen vor allem auf den Klei zurück, der aus 40 km Entfernung geholt werden musste, weil die
Gruben am Ort nicht genügten.</p>
<table><caption>Kosten nach Abschnitten</caption><tr><th>Abschnitt</th><th>Länge (km)</th><th>Kosten (Mio. Euro)</th><th>Fertig</th></tr>
<tr><td>Nord</td><td>4,1</td><td>58</td><td>2018</td></tr>
<tr><td>Mitte</td><td>6,5</td><td>71</td><td>2020</td></tr>
<tr><td>Süd</td><td>4,2</td><td>58</td><td>2022</td></tr></table>
<h2>Natur</h2>
<p>Für den breiteren Fuß des Deichs gingen 62 Hektar Salzwiese verloren. Zum Ausgleich wurden 110 Hektar im Koog Tetenbüll wieder
der Tide überlassen. Die Zahl der Brutpaare des Rotschenkels ist dort von 34 auf 81 gestiegen, während die der Uferschnepfe
weiter zurückging.</p>
<p>Der Naturschutzbund hatte gegen den Bau geklagt und vor dem Oberverwaltungsgericht im März 2014 verloren. Das Gericht ließ eine
Revision nicht zu.</p>
<h2>Betrieb</h2>
<p>Der Deich wird zweimal im Jahr geschaut, im Frühjahr und im Herbst. Die Schleuse am Südende schließt bei einem Wasserstand von
2,10 m über Normalnull von selbst. Seit der Übergabe war das elfmal der Fall, zuletzt am 9. Januar 2025.</p>
<p>Der Deichgraf Hauke Petersen sagte bei der Übergabe: „Dieser Deich hält, was wir heute wissen. Für das Ende des Jahrhunderts
verspreche ich nichts.“</p>
<p>Schafe halten die Grasnarbe kurz. Derzeit weiden dort 2.300 Tiere von sieben Betrieben; Rinder sind nicht erlaubt.</p>`,

  solar: `<title>Solar power in the Kaveh desert</title><h1>Solar power in the Kaveh desert</h1>
<p>The Kaveh plant is the largest solar power station of the region. Its first block was connected to the grid in August 2017, the
fourth and last in December 2023. Together the four blocks have 2.14 million panels on an area of 37 square kilometres.</p>
<h2>Output</h2>
<table><tr><th>Block</th><th>Power (MW)</th><th>Output 2024 (GWh)</th><th>Maker of the panels</th></tr>
<tr><td>Block A</td><td>210</td><td>478</td><td>Lumio</td></tr>
<tr><td>Block B</td><td>340</td><td>801</td><td>Lumio</td></tr>
<tr><td>Block C</td><td>415</td><td>1,012</td><td>Tessel</td></tr>
<tr><td>Block D</td><td>520</td><td>1,265</td><td>Orion Glass</td></tr></table>
<p>In 2024 the plant delivered 3,556 GWh, about 7 % of the country’s consumption. On 41 days it had to be throttled, because the
line to the capital could not take its power. A second line is planned for 2028.</p>
<p>Dust lowers the output by up to a fifth within a month. The panels are cleaned at night by 260 robots that use no water. Before
they came, in 2019, cleaning took 90 litres a panel and year.</p>
<h2>Cost</h2>
<p>The builders invested 1.62 billion dollars. The state buys the power at 2.4 cents a kilowatt-hour for 25 years; the price is not
adjusted for inflation. Block A, the oldest, still gets 5.9 cents.</p>
<p>A development bank lent 900 million dollars of the sum at 3.1 %. The rest came from the owners, the Aram Fund with 60 % and the
utility Norgen with 40 %.</p>
<h2>Critics</h2>
<p>Herders of the Sarva complain that they lost pastures and got no compensation. The operator says that it paid 4.5 million dollars
to the district, which did not pass the money on. A court has yet to decide.</p>
<p>An audit in 2022 found no violation of labour law at the site, but criticised that only 12 % of the 640 permanent jobs went to
people from the district.</p>
<p>Birds die less often than was feared: a count over two years found 31 carcasses a year, none of a protected species.</p>`,

  biblio: `<html lang="es"><title>La biblioteca municipal de Torrelva</title><h1>La biblioteca municipal de Torrelva</h1>
<p>La biblioteca fue fundada en 1886 por el maestro Julián Otero, que donó sus 3.200 libros. Desde 1994 ocupa la antigua fábrica de
tejidos, un edificio de cinco plantas reformado por la arquitecta Carmen Vidal.</p>
<h2>Fondos</h2>
<p>Hoy conserva 412.000 volúmenes, de los que 18.500 son anteriores a 1850. El fondo antiguo no se presta. La pieza más valiosa es
un atlas de 1587, comprado en 1923 por 900 pesetas.</p>
<p>En 2023 los lectores tomaron en préstamo 286.000 libros, un 4 % menos que el año anterior, y 97.000 libros electrónicos, un
22 % más. La biblioteca no cobra multas por retraso desde 2018.</p>
<table><tr><th>Año</th><th>Visitas</th><th>Préstamos</th><th>Socios</th></tr>
<tr><td>2021</td><td>301.000</td><td>271.000</td><td>38.400</td></tr>
<tr><td>2022</td><td>455.000</td><td>298.000</td><td>39.900</td></tr>
<tr><td>2023</td><td>512.000</td><td>286.000</td><td>42.700</td></tr></table>
<h2>Personal y presupuesto</h2>
<p>Trabajan en ella 57 personas. El presupuesto de 2024 es de 3,9 millones de euros, de los que el ayuntamiento aporta 3,1 millones y
la región 0,8 millones. Para comprar libros hay 420.000 euros, la misma suma que en 2015.</p>
<p>La directora, Elena Ruiz, dijo en la radio: «No vamos a cerrar ninguna sala de barrio mientras yo dirija esta casa».</p>
<h2>Salas de barrio</h2>
<p>Además de la sede central hay siete salas de barrio. La de San Roque, abierta en 2009, es la más visitada; la del Puerto cerró en
2020 por falta de personal y reabrió en marzo de 2023. Los domingos solo abre la sede central.</p>
<p>El plan de 2025 prevé una octava sala en el barrio de La Vega, si la región aprueba la subvención.</p>`,

  memory: `<title>mcached 3 reference: memory and eviction</title><h1>Memory and eviction</h1>
<p>mcached keeps all values in memory. By default it takes at most 2 GB; the option max_memory sets another limit. When the limit
is reached, it evicts the values that were read least recently. It never writes values to the disk.</p>
<p>A value may have up to 8 MB, a key up to 250 bytes. Keys are case-sensitive. Larger values are refused with the error TOO_LARGE;
they are not cut.</p>
<h2>Expiry</h2>
<p>A value without an expiry lives until it is evicted. An expiry is given in seconds, up to 30 days; a larger number is read as a
Unix time. Expired values are removed by a sweep that runs every 10 seconds, and are never returned before that either.</p>
<h2>Options</h2>
<table><tr><th>Option</th><th>Default</th><th>Largest value</th><th>Since</th></tr>
<tr><td>max_memory</td><td>2 GB</td><td>512 GB</td><td>1.0</td></tr>
<tr><td>max_clients</td><td>1,024</td><td>65,535</td><td>1.0</td></tr>
<tr><td>io_threads</td><td>4</td><td>64</td><td>2.1</td></tr>
<tr><td>idle_timeout</td><td>0 (off)</td><td>86,400 s</td><td>2.4</td></tr>
<tr><td>sweep_interval</td><td>10 s</td><td>600 s</td><td>3.0</td></tr></table>
<h2>Changes in version 3</h2>
<p>Version 3.0, released on 12 February 2025, replaced the allocator. In our benchmark it used 27 % less memory than 2.4 for values
under 100 bytes, and 3 % more for values over 1 MB. Throughput did not change.</p>
<p>The text protocol is deprecated since 3.0 and will be removed in 4.0. The command flush_all no longer takes a delay.</p>
<h2>Security</h2>
<p>mcached listens on 127.0.0.1 only, unless the option bind says otherwise. It has no encryption of its own. Since 2.2 a password can
be required; without one, everybody who reaches the port can read all values.</p>
<p>UDP has been off by default since 1.6, after servers were misused for amplification attacks with a factor of up to 51,000.</p>`,

  wine: `<html lang="es"><title>La vendimia de 2024 en el valle del Arlo</title><h1>La vendimia de 2024 en el valle del Arlo</h1>
<p>La vendimia terminó el 21 de octubre, nueve días más tarde que en 2023. Se recogieron 74.200 toneladas de uva, un 11 % menos que el
año anterior, a causa de la helada del 23 de abril.</p>
<p>La variedad tinta Morera ocupa el 58 % de la superficie, la blanca Albilla el 27 %. La Morera perdió una quinta parte de su
cosecha; la Albilla, que brota más tarde, apenas sufrió daños.</p>
<h2>Precios</h2>
<p>El precio medio de la uva subió de 0,71 a 0,86 euros por kilo. Las bodegas pagaron más por la Albilla (0,94 euros) que por la
Morera (0,82 euros), al revés que el año anterior.</p>
<p>El consejo regulador no autorizó el riego de emergencia que habían pedido las cooperativas. Su presidente, Luis Armada, explicó que
las reservas del embalse estaban al 34 %.</p>
<h2>Bodegas</h2>
<p>De las 112 bodegas del valle, 19 son cooperativas, que elaboran el 64 % del vino. La mayor, San Telmo, exporta a 26 países y facturó
41 millones de euros en 2023. Ninguna bodega cerró en 2024.</p>`,
};
