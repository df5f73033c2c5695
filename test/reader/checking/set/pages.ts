/** The pages of the set, invented for it; their names stand for their addresses. */
export const PAGES: Readonly<Record<string, string>> = {
  pool: `<title>PgPool settings</title><nav><a href="/v9">Version 9.4</a></nav>
<h1>Connection settings</h1>
<p>The server accepts at most 1,600 connections. Each of them takes about 9.5 MB of memory, and an idle one is closed
after 2 minutes.</p>
<h2>Time limits</h2>
<table><tr><th>Option</th><th>Default (ms)</th><th>Largest value</th></tr>
<tr><td>connect_wait</td><td>2500</td><td>60,000</td></tr>
<tr><td>query_limit</td><td>30000</td><td>3,600,000</td></tr></table>
<h2>History</h2>
<p>Version 4.2.0 was released on March 3, 2021. It had been in development since 2017, and 48 people contributed to it.</p>
<p>The maintainers wrote: &ldquo;We would rather refuse a connection than let all of them suffer.&rdquo;</p>
<footer>Page 12 of the handbook. Copyright 2009&ndash;2026.</footer>`,
  tides: `<title>Tides</title><h1>Tides at Norrhaven</h1>
<p>The tidal range at Norrhaven is 4.8 metres on average and reaches 7.2 m at spring tides. High water comes every 12 hours
and 25 minutes.</p>
<p>The gauge was built in 1893; it was moved on 14 October 1951, and has sent its readings by radio since then.</p>
<ul><li>In the storm of 1962 the water rose to 9.41 m.</li><li>About 31 % of the town lies below that level.</li></ul>
<p>Keeper Ada Lund noted that &ldquo;the sea took the lower road before the bells had stopped&rdquo;.</p>
<h2>Costs</h2><p>The barrier cost 1.9 billion crowns, of which the state paid 60 percent.</p>`,
  gezeiten: `<html lang="de"><title>Das Sperrwerk</title><h1>Das Sperrwerk von Norrhaven</h1>
<p>Das Sperrwerk wurde am 21. Juni 2011 eingeweiht. Der Bau hat 1,9 Mrd. Kronen gekostet und dauerte acht Jahre; er schützt
rund 48.000 Menschen und 12.500 Gebäude in der Stadt.</p>
<p>Die Tore sind 36 m breit und wiegen je 1.150 Tonnen. Sie schließen in 22 Minuten, wenn der Pegel über 2,60 m steigt.</p>
<p>Der Minister sagte damals: „Wir haben nicht gegen das Meer gebaut, sondern für die Stadt.“</p>
<h2>Betrieb</h2>
<table><caption>Schließungen im Jahr</caption><tr><th>Jahr</th><th>Schließungen</th><th>Kosten (Mio. Kronen)</th></tr>
<tr><td>2019</td><td>17</td><td>4,2</td></tr><tr><td>2020</td><td>23</td><td>5,1</td></tr><tr><td>2021</td><td>9</td><td>2,8</td></tr></table>`,
  market: `<title>Heat pumps in 2025</title><h1>The market for heat pumps</h1>
<p>Sales grew by 18% to 3.2 million units in 2025, after a fall of 5% the year before. The average price was $7,400, or
&euro;6,850.</p>
<p>Northern makers hold 41 percent of the market. Orvik, the largest, employs 12,300 people at 9 sites and reported revenue
of $5.6bn.</p>
<p>A typical unit draws 2.4 kW, weighs 96 kg and lasts 17 years. Its sound level is 38 dB at a distance of 3 m.</p>
<p>&ldquo;Demand has come back, but the margins have not,&rdquo; said the head of Orvik on 5 February 2026.</p>
<p>The next report is due in November.</p>`,
  paper: "",
  code: `<title>fetchall</title><h1>fetchall reference</h1><p>The function retries 5 times and waits 250 ms before the first retry; the
wait doubles each time up to 8 seconds. The body may have 64 KB.</p>
<pre>fetchall({ retries: 5, limit: 65536 })</pre><p>Since v2.3.1 it sends SHA-256 digests. It needs Node 18 or later.</p>`,
};
/** The lines of a PDF, page by page. */
export const PAPER = [
  "We surveyed 2,418 households in 37 villages between May 2022 and August 2023.",
  "The median income rose from 310 to 352 dollars, an increase of 13.5 percent.",
  "In the control group, 7 of 204 households moved away.",
] as const;
