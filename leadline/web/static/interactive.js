// A chart drawn by Vega in the place of the plain one, from the specification of the plain one.
// Nothing in it is evaluated, and it fetches nothing: its values are inside.

const LEAST = 240; // pixels of a plot that can be read
const refuse = () => Promise.reject(new Error("a chart fetches nothing"));
const loader = { load: refuse, sanitize: refuse, http: refuse, file: refuse };

export async function draw(figure, plain, tell) {
  const library = import(document.body.dataset.vega);
  const answer = await fetch(figure.dataset.vega);
  if (!answer.ok) throw new Error(answer.statusText);
  const spec = await answer.json();
  const { vegaEmbed } = await library;
  delete spec.title; // the page has one
  delete spec.$schema; // of the oldest that can read it
  spec.background = "transparent"; // the page's own paper
  spec.description = plain.getAttribute("aria-label") ?? plain.alt;
  const holder = document.createElement("div");
  holder.className = "vega";
  plain.after(holder);
  figure.classList.add("drawn");
  const ended = new AbortController();
  const end = () => {
    ended.abort();
    holder.remove();
    figure.classList.remove("drawn");
    tell(null);
  };
  try {
    const { view, finalize } = await vegaEmbed(holder, spec, {
      actions: false,
      ast: true,
      defaultStyle: false,
      loader,
      mode: "vega-lite",
      renderer: "svg",
      tooltip: (_handler, event, _item, value) => tell(value || null, event),
    });
    holder.view = view;
    ended.signal.addEventListener("abort", finalize);
    const named = spec.params?.some((param) => param.name === "names");
    if (spec.params) handling(holder, named);
    if (named) names(figure, view, ended.signal);
    await fit(holder, view, ended.signal);
    for (const unnamed of holder.querySelectorAll("g[role]:not([aria-label])")) {
      unnamed.removeAttribute("role"); // nothing a reader could be told
    }
  } catch (error) {
    end();
    throw error;
  }
  return end;
}

function handling(holder, named) {
  const words = document.body.dataset;
  const told = document.createElement("p");
  told.className = "soft";
  told.textContent = named ? `${words.handling} ${words.legend}` : words.handling;
  holder.append(told);
}

// As wide as there is room: the plot takes what axes and legend leave.
async function fit(holder, view, ended) {
  const svg = holder.querySelector("svg");
  let room = 0;
  const turn = async () => {
    if (holder.clientWidth === room || !holder.clientWidth) return;
    room = holder.clientWidth;
    const beside = Number(svg.getAttribute("width")) - view.width();
    await view.width(Math.max(LEAST, Math.floor(room - beside))).resize().runAsync();
  };
  await turn();
  const watcher = new ResizeObserver(turn);
  watcher.observe(holder);
  ended.addEventListener("abort", () => watcher.disconnect());
}

// The buttons below the chart and the legend in it say the same.
function names(figure, view, ended) {
  const list = figure.querySelector(".names");
  const buttons = [...(list?.querySelectorAll("button") ?? [])];
  const on = (button) => button.getAttribute("aria-pressed") === "true";
  let following = false;
  const choose = () => {
    if (following) return;
    const shown = buttons.filter(on).map((button) => button.textContent);
    const fields = view.signal("names_tuple_fields");
    const rows = shown.length < buttons.length ? shown : [];
    view.data("names_store", rows.map((name) => ({ unit: "", fields, values: [name] }))).runAsync();
  };
  view.addDataListener("names_store", (_name, rows) => {
    const shown = rows.map((row) => row.values[0]);
    following = true;
    for (const button of buttons) {
      if (on(button) !== (!rows.length || shown.includes(button.textContent))) button.click();
    }
    following = false;
  });
  list?.addEventListener("click", choose, { signal: ended });
  choose();
}
