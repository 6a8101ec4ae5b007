// Pages that show "now" renew themselves in place: nothing jumps, and nobody's typing is lost.

export function start(seconds, enrich) {
  let gone = null;
  setInterval(async () => {
    if (document.hidden || busy()) return;
    try {
      const answer = await fetch(location.href);
      if (!answer.ok) throw new Error(answer.statusText);
      const page = new DOMParser().parseFromString(await answer.text(), "text/html");
      const [now, next] = [document.querySelector("main"), page.querySelector("main")];
      if (busy() || !next) return;
      now.replaceChildren(...next.childNodes);
      document.title = page.title;
      await enrich(now);
      gone?.remove();
      gone = null;
    } catch {
      gone ??= told();
    }
  }, seconds * 1000);
}

// Somebody fills in a form, reads a tip, handles a chart, or has marked some text.
function busy() {
  const main = document.querySelector("main");
  const focused = document.activeElement;
  const marked = getSelection();
  return (
    main.contains(focused) ||
    main.querySelector(".tip:not([hidden]), .vega") !== null ||
    (marked && !marked.isCollapsed)
  );
}

function told() {
  const line = document.createElement("p");
  line.className = "trouble";
  line.setAttribute("role", "alert");
  const clock = new Date().toLocaleTimeString(document.documentElement.lang);
  line.textContent = `${document.body.dataset.gone} ${clock}`;
  document.querySelector("main").prepend(line);
  return line;
}
