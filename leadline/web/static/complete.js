// Filters that complete what is typed: first the dimension, then its values, from the API.

const WAIT = 120; // milliseconds without a key before anything is asked
let dimensions = null;

export function attach(within, root) {
  for (const input of within.querySelectorAll("input[name=where]")) {
    if (!input.hasAttribute("role")) complete(input, root);
  }
}

function complete(input, root) {
  const list = document.createElement("ul");
  list.id = `choices-${input.name}`;
  list.className = "choices";
  list.setAttribute("role", "listbox");
  list.setAttribute("aria-label", input.labels[0]?.firstChild.textContent ?? input.name);
  list.hidden = true;
  input.after(list);
  const attributes = { role: "combobox", "aria-controls": list.id, "aria-autocomplete": "list" };
  for (const [name, value] of Object.entries({ ...attributes, "aria-expanded": "false" })) {
    input.setAttribute(name, value);
  }
  let timer = 0;
  let asked = 0;
  let chosen = -1;

  const close = () => {
    list.hidden = true;
    chosen = -1;
    input.setAttribute("aria-expanded", "false");
    input.removeAttribute("aria-activedescendant");
  };
  const mark = (place) => {
    chosen = place;
    [...list.children].forEach((item, n) => {
      item.setAttribute("aria-selected", String(n === place));
      if (n !== place) return;
      input.setAttribute("aria-activedescendant", item.id);
      item.scrollIntoView({ block: "nearest" });
    });
  };
  const take = (item) => {
    const begin = input.value.slice(0, input.value.length - part(input.value).length);
    input.value = begin + item.dataset.text;
    close();
    input.focus();
    if (item.dataset.text.endsWith("=")) look();
  };
  const show = (texts) => {
    list.replaceChildren();
    texts.forEach(({ text, shown }, n) => {
      const item = list.appendChild(document.createElement("li"));
      item.id = `${list.id}-${n}`;
      item.setAttribute("role", "option");
      item.setAttribute("aria-selected", "false");
      item.dataset.text = text;
      item.textContent = shown;
      item.addEventListener("pointerdown", (event) => {
        event.preventDefault();
        take(item);
      });
    });
    list.hidden = texts.length === 0;
    input.setAttribute("aria-expanded", String(!list.hidden));
    chosen = -1;
  };
  const look = async () => {
    const mine = ++asked;
    const found = await choices(part(input.value), root).catch(() => []);
    if (mine === asked && document.activeElement === input) show(found);
  };

  input.addEventListener("input", () => {
    close();
    clearTimeout(timer);
    timer = setTimeout(look, WAIT);
  });
  input.addEventListener("blur", close);
  input.addEventListener("keydown", (event) => {
    if (list.hidden) {
      if (event.key === "ArrowDown") look();
      return;
    }
    const count = list.children.length;
    if (event.key === "ArrowDown") mark((chosen + 1) % count);
    else if (event.key === "ArrowUp") mark((chosen - 1 + count) % count);
    else if (event.key === "Escape") close();
    else if (event.key === "Enter" && chosen >= 0) take(list.children[chosen]);
    else return;
    event.preventDefault();
  });
}

// The filter that is being written: what stands behind the last comma, blanks before it left out.
function part(text) {
  return text.slice(text.lastIndexOf(",") + 1).trimStart();
}

async function choices(text, root) {
  const [, name, sign, typed] = text.match(/^(\w*)\s*(!?=)?\s*"?(.*)$/) ?? [];
  if (!sign) {
    dimensions ??= (await fetched(new URL("api/v1/dimensions", root))).rows;
    return dimensions
      .filter((known) => known.name.startsWith(name.toLowerCase()))
      .map((known) => ({ text: `${known.name}=`, shown: `${known.name}  ${title(known)}` }));
  }
  const address = new URL("api/v1/values", root);
  address.search = new URLSearchParams({ dimension: name, starts: typed.split("|").pop() });
  const before = typed.includes("|") ? typed.slice(0, typed.lastIndexOf("|") + 1) : "";
  const { values } = await fetched(address);
  const words = name === "state" ? JSON.parse(document.body.dataset.states ?? "{}") : {};
  return values.map((value) => ({
    text: `${name}${sign}${before}${quoted(value)}`,
    shown: words[value] ? `${value}  ${words[value]}` : value,
  }));
}

// The API speaks English; a page in another language has the titles in its own form, or none.
function title(known) {
  const option = document.querySelector(`select[name=by] option[value="${known.name}"]`);
  if (option) return option.textContent.trim();
  return document.documentElement.lang === "en" ? known.title : "";
}

// As the question writes it: what holds blanks or signs stands in quotes.
function quoted(value) {
  return /^[\w.@:\/+-]+$/.test(value) ? value : `"${value.replace(/["\\]/g, "\\$&")}"`;
}

async function fetched(address) {
  const answer = await fetch(address);
  if (!answer.ok) throw new Error(answer.statusText);
  return answer.json();
}
