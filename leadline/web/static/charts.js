// Charts that answer: values under the pointer or the arrow keys, names that can be switched off,
// and a span that is dragged becomes the period of the question.

const EDGE = 8; // pixels of a drag that is meant
const version = new URL(import.meta.url).search;

export function attach(within) {
  for (const svg of within.querySelectorAll("figure svg.chart, figure[data-vega] img")) {
    const figure = svg.closest("figure");
    if (figure.dataset.ready) continue;
    figure.dataset.ready = "yes";
    figure.classList.add("live");
    if (figure.dataset.vega) offer(figure, svg);
    const tip = make(figure, "div", "tip");
    tip.hidden = true;
    if (svg instanceof HTMLImageElement) continue;
    if (svg.dataset.series) overTime(figure, svg, tip, JSON.parse(svg.dataset.series));
    else marks(svg, tip, figure);
  }
}

function make(parent, tag, name) {
  const found = document.createElement(tag);
  found.className = name;
  return parent.appendChild(found);
}

const spoken = document.documentElement.lang || "en";
const colon = spoken === "fr" ? "\u00a0:" : ":";
const locale = spoken === "en" ? "en-GB" : spoken;

function figureOf(value) {
  if (value === null) return document.body.dataset.unmeasured;
  const digits = Math.abs(value) < 9.95 ? 1 : 0;
  return value.toLocaleString(locale, { maximumFractionDigits: digits });
}

function place(tip, figure, x, y) {
  tip.hidden = false;
  const room = figure.clientWidth - tip.offsetWidth - 4;
  tip.style.left = `${Math.max(0, Math.min(x + 12, room))}px`;
  tip.style.top = `${Math.max(0, y - tip.offsetHeight - 8)}px`;
}

// A button that draws the chart by Vega, and takes that away again; nothing is fetched before.
function offer(figure, svg) {
  const words = document.body.dataset;
  const button = make(figure, "button", "interactive");
  svg.after(button);
  button.type = "button";
  button.textContent = words.interactive;
  let end = null;
  const shown = () => button.setAttribute("aria-pressed", String(end !== null));
  shown();
  button.addEventListener("click", async () => {
    if (button.getAttribute("aria-busy")) return;
    button.setAttribute("aria-busy", "true");
    figure.querySelector(".failed")?.remove();
    try {
      if (end) end = end();
      else end = await (await import(`./interactive.js${version}`)).draw(figure, svg, teller(figure));
    } catch {
      const told = make(figure, "p", "failed soft");
      button.after(told);
      told.setAttribute("role", "status");
      told.textContent = words.plain;
    }
    end ??= null;
    button.removeAttribute("aria-busy");
    shown();
  });
}

// What a mark of Vega's says: a heading, and figures with their names.
function teller(figure) {
  const tip = figure.querySelector(".tip");
  return (told, event) => {
    tip.hidden = true;
    if (!told) return;
    const { title, ...figures } = told;
    tip.replaceChildren();
    make(tip, "strong", "").textContent = title;
    for (const [name, value] of Object.entries(figures)) {
      const line = make(tip, "div", "line");
      if (name.trim()) make(line, "span", "").textContent = name;
      make(line, "b", "").textContent = value;
    }
    const box = figure.getBoundingClientRect();
    place(tip, figure, event.clientX - box.left, event.clientY - box.top);
  };
}

// Bars, slices, cells, dots: each mark knows what it stands for.
function marks(svg, tip, figure) {
  svg.addEventListener("pointermove", (event) => {
    const mark = event.target.closest("[role=graphics-symbol]");
    const label = mark?.getAttribute("aria-label");
    if (!label || mark.getAttribute("aria-roledescription")?.match(/axis|legend|title/)) {
      tip.hidden = true;
      return;
    }
    const parts = label.split("; ").map((part) => part.split(": "));
    const names = parts.filter(([key]) => ["name", "down", "across"].includes(key)).reverse();
    const figures = parts.filter(([key]) => !["name", "down", "across", "order"].includes(key));
    tip.replaceChildren();
    make(tip, "strong", "").textContent = names.map(([, value]) => value).join(", ");
    const bare = mark.getAttribute("fill")?.includes("hatch");
    for (const [key, value] of bare ? [["", document.body.dataset.unmeasured]] : figures) {
      make(tip, "div", "").textContent = key && key !== "value" ? `${key}${colon} ${value}` : value;
    }
    const box = figure.getBoundingClientRect();
    place(tip, figure, event.clientX - box.left, event.clientY - box.top);
  });
  svg.addEventListener("pointerleave", () => (tip.hidden = true));
}

function overTime(figure, svg, tip, known) {
  const count = known.rows[0][2].length;
  const times = known.times ?? Array.from({ length: count }, (_, n) => known.from + n * known.step);
  const [first, last] = [times[0], times[times.length - 1]];
  const off = new Set();
  const rule = make(figure, "div", "rule");
  const brush = make(figure, "div", "brush");
  rule.hidden = brush.hidden = true;
  let at = count - 1;

  // The plot's own rectangle, on the screen and within the figure.
  const plot = () => {
    const box = svg.querySelector("path.background").getBoundingClientRect();
    const outer = figure.getBoundingClientRect();
    const height = svg.getBoundingClientRect().bottom - box.top;
    return { left: box.left - outer.left, top: box.top - outer.top, width: box.width, height, outer };
  };
  const share = (event, box) =>
    Math.max(0, Math.min(1, (event.clientX - box.outer.left - box.left) / box.width));

  const show = (number, y) => {
    at = Math.max(0, Math.min(count - 1, number));
    const box = plot();
    const x = box.left + (box.width * (times[at] - first)) / (last - first || 1);
    rule.hidden = false;
    rule.style.left = `${x}px`;
    rule.style.top = `${box.top}px`;
    rule.style.height = `${box.height}px`;
    tip.replaceChildren();
    make(tip, "strong", "").textContent = moment(times[at], known.step ?? 86400);
    for (const [name, hue, values] of [...known.rows].reverse()) {
      if (off.has(name) || values[at] === 0) continue;
      const line = make(tip, "div", "line");
      line.appendChild(swatch(hue));
      make(line, "span", "").textContent = name;
      make(line, "b", "").textContent = figureOf(values[at]);
    }
    place(tip, figure, x, y ?? box.top + 40);
  };
  const hide = () => (rule.hidden = tip.hidden = true);
  const nearest = (part) => {
    const wanted = first + part * (last - first);
    let best = 0;
    times.forEach((time, n) => {
      if (Math.abs(time - wanted) < Math.abs(times[best] - wanted)) best = n;
    });
    return best;
  };

  let begun = null;
  svg.addEventListener("pointermove", (event) => {
    const box = plot();
    show(nearest(share(event, box)), event.clientY - box.outer.top);
    if (begun === null) return;
    const [low, high] = [begun, share(event, box)].sort((a, b) => a - b);
    brush.hidden = false;
    brush.style.left = `${box.left + low * box.width}px`;
    brush.style.width = `${(high - low) * box.width}px`;
    brush.style.top = `${box.top}px`;
    brush.style.height = `${box.height}px`;
  });
  svg.addEventListener("pointerleave", () => begun ?? hide());
  svg.addEventListener("pointerdown", (event) => {
    if (event.pointerType !== "mouse" || event.button) return;
    begun = share(event, plot());
    svg.setPointerCapture(event.pointerId);
    event.preventDefault();
  });
  svg.addEventListener("pointerup", (event) => {
    if (begun === null) return;
    const box = plot();
    const [low, high] = [begun, share(event, box)].sort((a, b) => a - b);
    begun = null;
    brush.hidden = true;
    if ((high - low) * box.width >= EDGE && figure.dataset.ask) {
      zoom(figure.dataset.ask, first + low * (last - first), first + high * (last - first));
    }
  });
  svg.tabIndex = 0;
  svg.addEventListener("keydown", (event) => {
    const step = { ArrowLeft: -1, ArrowRight: 1, Home: -count, End: count }[event.key];
    if (event.key === "Escape") hide();
    if (!step) return;
    event.preventDefault();
    show(at + step);
  });
  svg.addEventListener("blur", hide);
  tip.setAttribute("role", "status");
  if (known.rows.length > 1 && known.unit) names(figure, svg, known.rows, off);
}

// A button for each name: pressed in means drawn.
function names(figure, svg, rows, off) {
  const list = make(figure, "div", "names");
  for (const [name, hue] of rows) {
    const button = make(list, "button", "");
    button.type = "button";
    button.setAttribute("aria-pressed", "true");
    button.appendChild(swatch(hue));
    button.append(name);
    button.addEventListener("click", () => {
      const gone = !off.delete(name);
      if (gone) off.add(name);
      button.setAttribute("aria-pressed", String(!gone));
      for (const mark of svg.querySelectorAll(`[fill="${hue}"], [stroke="${hue}"]`)) {
        mark.classList.toggle("off", gone);
      }
    });
  }
}

function swatch(hue) {
  const svg = document.createElementNS("http://www.w3.org/2000/svg", "svg");
  const rect = svg.appendChild(document.createElementNS(svg.namespaceURI, "rect"));
  for (const [name, value] of Object.entries({ width: 10, height: 10, fill: hue })) {
    rect.setAttribute(name, value);
  }
  svg.setAttribute("class", "key");
  svg.setAttribute("aria-hidden", "true");
  return svg;
}

// Times are as the cluster's clocks show them, written as if that were UTC.
function moment(seconds, step) {
  const shown = new Date(seconds * 1000);
  const day = { timeZone: "UTC", day: "numeric", month: "short", year: "numeric" };
  if (step >= 86400) return shown.toLocaleDateString(locale, day);
  const clock = { hour: "2-digit", minute: "2-digit", hourCycle: "h23" };
  return shown.toLocaleString(locale, { ...day, ...clock });
}

function zoom(address, from, to) {
  const asked = new URL(address, location.href);
  const text = (seconds) => new Date(seconds * 1000).toISOString().slice(0, 16);
  asked.searchParams.set("period", `${text(from)}..${text(to)}`);
  location.assign(asked);
}
