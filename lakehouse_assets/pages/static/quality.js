// The board of all checks. What did not change is not touched: what is open stays open, the focus
// stays where it is.

import { ask, byId, clock, count, el, forever, moment, prose, state, tick, write } from "./dom.js";

const EVERY_MS = 3000;
const PATIENCE_MS = 90000; // of the first look
const WORDS = { failed: "red", warned: "yellow", passed: "green", unknown: "not yet executed" };
const BAD = ["failed", "warned"];
const DAY = { f: "red", w: "yellow", p: "green", "-": "nothing judged" };

let board = null;
let known = null; // "table:check" -> state, of the look before

const verdict = (kind, text = WORDS[kind]) => el("span", { class: `v ${kind}` }, text);
const link = (href, text, what) => el("a", { href, target: "_blank", rel: "noopener", "data-k": href },
  text, el("span", { class: "unseen" }, ` ${what} (opens Dagster)`));
const cell = (label, attributes, ...children) =>
  el("td", { role: "cell", "data-l": label, ...attributes }, ...children);

/** Make or replace the children whose content changed, by key, in the order of the items. */
function sync(place, items, keyOf, build) {
  const old = new Map([...place.children].map((child) => [child.dataset.key, child]));
  const wanted = items.map((item) => {
    const sign = JSON.stringify(item);
    const there = old.get(keyOf(item));
    if (there?.sign === sign) return there;
    const made = build(item);
    made.dataset.key = keyOf(item);
    made.sign = sign;
    if (there) carryOver(there, made);
    return made;
  });
  wanted.forEach((child, n) => {
    if (place.children[n] !== child) place.insertBefore(child, place.children[n] ?? null);
  });
  while (place.children.length > wanted.length) place.lastChild.remove();
}

/** What is open, and what has the focus. */
function carryOver(from, to) {
  const focused = from.contains(document.activeElement) ? document.activeElement.dataset.k : null;
  for (const one of [from, ...from.querySelectorAll("details")]) {
    if (!one.open) continue;
    const same = [to, ...to.querySelectorAll("details")].find((d) => d.dataset.d === one.dataset.d);
    if (same) { same.open = true; same.fill?.(); }
  }
  if (from.isConnected) from.replaceWith(to);
  if (focused) [...to.querySelectorAll("[data-k]")].find((e) => e.dataset.k === focused)?.focus();
}

/** Details whose content is made when it is first opened. */
function fold(key, summary, content, attributes = {}) {
  const made = el("details", { "data-d": key, ...attributes }, summary);
  made.fill = () => { if (made.children.length === 1) made.append(content()); };
  made.addEventListener("toggle", () => { if (made.open) made.fill(); });
  return made;
}

/** Thirty days, each by its worst verdict. */
function days(check, shownDays) {
  const bad = [...check.days].map((mark, n) => [mark, shownDays[n]]).filter(([m]) => "fw".includes(m));
  const judged = [...check.days].filter((mark) => mark !== "-").length;
  const label = `The last 30 days: judged on ${judged}, not green on ${bad.length}` +
    (bad.length ? `, the last time ${bad.at(-1)[1]}` : "");
  const marks = [...check.days].map((mark, n) =>
    el("i", { class: mark === "-" ? "" : mark, title: `${shownDays[n]}: ${DAY[mark]}` }));
  return el("span", { class: "days", role: "img", "aria-label": label }, marks);
}

function value(check) {
  if (check.failed == null) return "";
  if (check.rows == null) return `${count(check.failed)} failed`;
  const share = check.rows ? ` (${(100 * check.failed / check.rows).toFixed(check.failed ? 2 : 0)} %)` : "";
  return `${count(check.failed)} of ${count(check.rows)} rows${share}`;
}

function limit(check) {
  if (check.allowed == null) return "";
  return check.threshold ? `${count(check.allowed)} (${100 * check.threshold} %)` : count(check.allowed);
}

function more(table, check) {
  const parts = [];
  if (check.doc) parts.push(el("p", { class: "quiet" }, prose(check.doc)));
  if (check.examples.length) {
    parts.push(el("p", {}, "Examples", check.examples_at ? [", stored ", moment(check.examples_at)] : "",
      "; what is private is masked:"));
    parts.push(...check.examples.map((row) => el("pre", { tabindex: 0 }, JSON.stringify(row, null, 1))));
  } else if (check.failed) {
    parts.push(el("p", { class: "quiet" }, "No example was stored; execute this check alone in Dagster to see some."));
  }
  for (const [name, said] of Object.entries(check.told)) {
    parts.push(el("p", {}, el("b", {}, `${name}: `), prose(said)));
  }
  return el("div", { class: "list" }, parts);
}

/** To the table's own place below, which it opens. */
function jump(name) {
  const made = el("a", { href: `#t:${name}`, "data-k": `jump:${name}` }, name);
  made.addEventListener("click", (event) => {
    event.preventDefault();
    byId("filter").value = "";
    byId("only").checked = false;
    filtered();
    const card = byId(`t:${name}`);
    card.open = true;
    card.fill();
    card.scrollIntoView();
    card.querySelector("summary").focus({ preventScroll: true });
  });
  return made;
}

function alarm({ table, check }) {
  const key = `${table.name}:${check.check}`;
  const figures = [value(check) && check.allowed != null ? `value ${value(check)}, allowed ${limit(check)}` : value(check)];
  return el("li", { class: `alarm ${check.state}` },
    el("p", {}, verdict(check.state), " since ", moment(check.since),
      el("span", { class: "quiet" }, check.since ? ` (${check.since.slice(0, 10)} ${clock(Date.parse(check.since))} UTC)` : "",
        ` · ${table.owner}`)),
    el("h3", { class: "mono" }, jump(table.name), ` · ${check.check}`),
    el("p", {}, prose(check.why)),
    el("p", { class: "do" }, el("b", {}, "What to do: "), prose(check.step)),
    el("p", { class: "row" }, days(check, board.days),
      el("span", { class: "quiet" }, [...figures,
        check.judged ? `${count(check.days_failed)} of ${count(check.judged)} verdicts in 30 days failed` : ""]
        .filter(Boolean).join(" · ")),
      link(check.url, "The check in Dagster ↗", check.check)),
    fold(`why:${key}`, el("summary", { "data-k": `why:${key}` }, check.examples.length ? `Examples (${check.examples.length}) and more` : "More"),
      () => more(table, check)));
}

function checkRow(table, check) {
  const key = `${table.name}:${check.check}`;
  return el("tr", { role: "row" },
    el("th", { role: "rowheader", scope: "row" }, el("span", { class: "mono" }, check.check),
      fold(`row:${key}`, el("summary", { "data-k": `row:${key}`, "aria-label": `More of ${check.check}` }, "more"), () => more(table, check))),
    cell("Now", { class: "nowrap" }, verdict(check.state), check.since ? [" since ", moment(check.since)] : ""),
    cell("Value", { class: "num" }, value(check)),
    cell("Allowed", { class: "num" }, limit(check)),
    cell("Judged", { class: "nowrap" }, check.at ? moment(check.at) : check.state === "unknown" ? "" : "just now"),
    cell("30 days", { class: "nowrap" }, days(check, board.days)),
    cell("", {}, link(check.url, "Dagster ↗", check.check)));
}

function tableCard(table) {
  const bad = BAD.filter((kind) => table.states[kind]).map((kind) => verdict(kind, `${table.states[kind]} ${WORDS[kind]}`));
  const summary = el("summary", { "data-k": `t:${table.name}` }, el("b", {}, table.name),
    bad.length ? bad : verdict(table.states.passed ? "passed" : "unknown",
      table.states.passed ? `${table.states.passed} green` : WORDS.unknown),
    el("span", { class: "quiet" }, [
      table.rows == null ? table.note : `${count(table.rows)} rows`,
      table.unread ? `${count(table.unread)} records unread` : "",
      table.behind ? `${count(table.behind)} batches behind` : "",
    ].filter(Boolean).join(" · ")));
  return fold(`t:${table.name}`, summary, () => inside(table), { class: "one", id: `t:${table.name}` });
}

function inside(table) {
  const heads = ["Check", "Now", "Value", "Allowed", "Judged", "30 days", "In Dagster"].map((title) =>
    el("th", { role: "columnheader", scope: "col", class: ["Value", "Allowed"].includes(title) ? "num" : "" }, title));
  const rows = table.checks.map((check) => checkRow(table, check));
  return el("div", { class: "in" },
    el("p", { class: "row quiet" }, el("span", {}, prose(table.doc)), el("span", {}, `owner ${table.owner}`),
      table.published_at ? el("span", {}, "newest batch ", moment(table.published_at)) : "",
      table.note ? el("span", {}, prose(table.note)) : "", link(table.url, "The asset in Dagster ↗", table.name)),
    table.held ? el("p", {}, verdict("failed", "held"), ` since ${table.held.since.slice(0, 16).replace("T", " ")} UTC: batch ` +
      `${table.held.batch}, ${table.held.why}. Once the input is mended: `, el("code", {}, table.held.release)) : "",
    el("div", { class: "scroll" }, el("table", { class: "stacked", role: "table", "aria-label": `Checks of ${table.name}` },
      el("thead", { role: "rowgroup" }, el("tr", { role: "row" }, heads)), el("tbody", { role: "rowgroup" }, rows))));
}

function sourceRow(source) {
  const fresh = source.late.length ? verdict("warned", `late: ${source.late.join(", ")}`)
    : !source.newest_at ? verdict("unknown", "nothing came yet")
    : source.unread == null ? verdict("unknown", "cannot be told") : verdict("passed", source.unread ? "being read" : "up to date");
  const checks = BAD.filter((kind) => source[kind]).map((kind) => [verdict(kind, `${source[kind]} ${WORDS[kind]}`), " "]);
  return el("tr", { role: "row" },
    el("th", { role: "rowheader", scope: "row" }, source.source, el("div", { class: "quiet" }, `${source.made} of ${source.tables} tables made`)),
    cell("Fresh?", {}, fresh, source.notes.map((note) => el("p", { class: "quiet" }, prose(note)))),
    cell("Newest batch", { class: "nowrap" }, moment(source.newest_at)),
    cell("Unread", { class: "num" }, source.unread == null ? "?" : count(source.unread)),
    cell("Set aside", { class: "num" }, count(source.set_aside)),
    cell("Checks", {}, checks.length ? checks.flat() : verdict(source.made ? "passed" : "unknown", source.made ? "none red or yellow" : "–")),
    cell("Owner", { class: "nowrap" }, source.owner));
}

const quarantineRow = (one) => el("tr", { role: "row" },
  el("th", { role: "rowheader", scope: "row", class: "mono" }, one.table),
  cell("Reason", {}, one.reason), cell("Stage", {}, one.stage),
  cell("Records", { class: "num" }, count(one.records)),
  cell("First", { class: "nowrap" }, moment(one.since)), cell("Newest", { class: "nowrap" }, moment(one.newest)));

function alarms(kind, id, places) {
  const found = places.filter((place) => place.check.state === kind);
  byId(`${id}-section`).hidden = !found.length;
  sync(byId(id), found, (p) => `${p.table.name}:${p.check.check}`, alarm);
}

/** The tables that the filter leaves. */
function filtered() {
  const wanted = byId("filter").value.trim().toLowerCase();
  const only = byId("only").checked;
  const isBad = (table) => table.states.failed || table.states.warned;
  const isFound = (table) => !wanted || table.name.includes(wanted) || table.source.includes(wanted) ||
    table.checks.some((check) => check.check.toLowerCase().includes(wanted));
  const found = board.tables.filter((table) => isFound(table) && (!only || isBad(table)));
  sync(byId("tables"), found, (table) => table.name, tableCard);
  const checks = found.reduce((sum, table) => sum + table.checks.length, 0);
  write("found", `${count(found.length)} tables, ${count(checks)} checks`);
}

/** For who does not see it: what turned red since the last look. */
function announce(every) {
  const now = new Map([...every].map(([place, { check }]) => [place, check.state]));
  if (known) {
    const news = [...now].filter(([place, kind]) => kind === "failed" && known.get(place) !== "failed");
    if (news.length) byId("news").textContent = `Turned red: ${news.map(([place]) => place.replace(":", " ")).join(", ")}`;
  }
  known = now;
}

function show(said) {
  board = said;
  const every = new Map(said.tables.flatMap((table) =>
    table.checks.map((check) => [`${table.name}:${check.check}`, { table, check }])));
  const { failed, warned, passed } = said.summary;
  const held = said.tables.filter((table) => table.held).length;
  const s = failed === 1 ? " is" : "s are";
  write("headline", failed ? `${count(failed)} check${s} red` : passed ? "Nothing is red" : "Nothing was judged yet");
  document.title = failed ? `(${failed} red) Quality` : "Quality";
  const rest = warned ? ` ${count(warned)} worth a look.` : "";
  state(failed ? "bad" : passed ? "good" : "late",
    failed ? `${held ? `${held} table${held > 1 ? "s hold" : " holds"} a batch back. ` : ""}Below: since when, why, and what to do.`
      : passed ? `Every table is published and every strict check passes.${rest}`
        : "The first runs judge their tables by themselves: `lakehouse up` starts them.");
  sync(byId("summary"), Object.entries(said.summary).map(([kind, n]) => ({ kind, n })), (one) => one.kind,
    (one) => el("li", {}, verdict(one.kind, `${count(one.n)} ${WORDS[one.kind]}`)));
  const places = said.attention.map((place) => every.get(place));
  alarms("failed", "red", places);
  alarms("warned", "yellow", places);
  sync(byId("sources"), said.sources, (one) => one.source, sourceRow);
  sync(byId("quarantine"), said.quarantine, (one) => `${one.table}:${one.stage}:${one.reason}`, quarantineRow);
  byId("sources-section").hidden = byId("tables-section").hidden = false;
  byId("quarantine-section").hidden = !said.quarantine.length;
  filtered();
  announce(every);
  write("as-of", `as of ${clock(Date.parse(said.as_of), true)} UTC` +
    (said.days_are_whole ? "" : "; the 30 days are still being read"));
}

async function look() {
  try {
    show(await ask("/api/quality", PATIENCE_MS));
  } catch (error) {
    state("bad", error.isSaid ? error.message
      : "This page's server does not answer. `lakehouse up pages` starts it; what stands here is as it was.");
  }
  tick();
}

byId("filter").addEventListener("input", () => board && filtered());
byId("only").addEventListener("change", () => board && filtered());
forever(look, EVERY_MS);
