// What a page can do more where scripts run; without them it is complete.
// Parts are fetched only where there is something for them to do, in the version of this file.

const version = new URL(import.meta.url).search;
export const root = new URL("../", import.meta.url);

const load = (name) => import(`./${name}.js${version}`);

export async function enrich(within) {
  if (within.querySelector("svg.chart, figure[data-vega]")) {
    (await load("charts")).attach(within);
  }
  if (within.querySelector("input[name=where]")) {
    (await load("complete")).attach(within, root);
  }
}

await enrich(document);
if (document.body.dataset.refresh) {
  (await load("refresh")).start(Number(document.body.dataset.refresh), enrich);
}
document.documentElement.dataset.enriched = "yes";
