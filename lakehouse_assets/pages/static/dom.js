// What the pages share: elements made of text alone, moments in words, asking again and again.

/** An element. Children are elements or text, never markup: what data says is shown as it is. */
export function el(tag, attributes = {}, ...children) {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (value === true) made.setAttribute(name, "");
    else if (value !== false && value != null) made.setAttribute(name, value);
  }
  made.append(...children.flat().filter((child) => child != null && child !== ""));
  return made;
}

/** A sentence in which `commands` stand between backticks. */
export function prose(text) {
  return text.split("`").map((part, n) => (n % 2 ? el("code", {}, part) : part));
}

export const byId = (id) => document.getElementById(id);

/** Write only what differs, so that neither a selection nor a screen reader is disturbed. */
export function write(id, text) {
  const target = byId(id);
  if (target.textContent !== text) target.textContent = text;
}

export function state(kind, sentence) {
  const target = byId("state");
  target.className = `state ${kind}`;
  if (target.textContent !== sentence.replaceAll("`", "")) {
    target.replaceChildren(el("span", {}, prose(sentence)));
  }
}

export const count = (n) => n.toLocaleString("en-US");

export const clock = (ms, seconds = false) =>
  new Date(ms).toISOString().slice(11, seconds ? 19 : 16);

/** `40 s`, `12 min`, `3 h`, `5 days`. */
export function age(ms) {
  const s = Math.max(0, Math.round(ms / 1000));
  if (s < 90) return `${s} s`;
  if (s < 5400) return `${Math.round(s / 60)} min`;
  if (s < 129600) return `${Math.round(s / 3600)} h`;
  return `${Math.round(s / 86400)} days`;
}

/** A moment, with how long ago it was; `tick` keeps that true. */
export function moment(iso) {
  if (!iso) return "–";
  const ms = Date.parse(iso);
  const title = `${iso.slice(0, 10)} ${clock(ms, true)} UTC`;
  return el("time", { datetime: iso, title, "data-ago": ms }, `${age(Date.now() - ms)} ago`);
}

export function tick() {
  for (const one of document.querySelectorAll("time[data-ago]")) {
    const text = `${age(Date.now() - Number(one.dataset.ago))} ago`;
    if (one.textContent !== text) one.textContent = text;
  }
}

/** JSON of our own server; an error has its sentence. */
export async function ask(path, patienceMs) {
  const answer = await fetch(path, { signal: AbortSignal.timeout(patienceMs) });
  const said = await answer.json();
  if (!answer.ok) throw Object.assign(new Error(said.error ?? answer.statusText), { isSaid: true });
  return said;
}

/** `look` again and again, with a pause between; not while nobody sees the page. */
export async function forever(look, everyMs) {
  for (;;) {
    if (document.hidden) {
      await new Promise((go) => document.addEventListener("visibilitychange", go, { once: true }));
      continue;
    }
    await look();
    await new Promise((go) => setTimeout(go, everyMs));
  }
}
