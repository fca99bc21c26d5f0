// The dashboard: a chart for each city, kept up with what was written since the last look.

import uPlot from "/static/vendor/uPlot.esm.js";
import { age, ask, byId, clock, count, el, forever, state, write } from "./dom.js";

const EVERY_MS = 2000;
const PATIENCE_MS = 10000;
const WHOLE_MS = 60000; // how often everything is read anew: what was taken away goes then
const SILENT_MS = 5 * 60000; // a city that is so far behind the others says so
const SAID_MS = 60000; // how long a correction is told
const GAP_S = 180; // minutes farther apart are not joined by a line
const LISTED = 15; // minutes in a city's table
const COLORS = ["#7cc4ff", "#f2b56b", "#8fd694", "#e89ac7", "#b9a6ff",
                "#6fd6cf", "#f08f83", "#d6cf6b", "#9fb4ff", "#d7a8f0"];

const cities = new Map(); // name -> City
let since = null;
let wholeAt = 0;
let kept = 180;
let staleMs = 120000;
let skewMs = 0; // the server's clock less ours

class City {
  constructor(name) {
    this.name = name;
    this.color = COLORS[cities.size % COLORS.length];
    this.minutes = new Map(); // epoch seconds -> {temperature, readings}
    this.now = el("span", { class: "now" });
    this.note = el("p", { class: "note quiet" });
    this.plotted = el("div", { class: "plot", role: "img" });
    this.list = el("details", {}, el("summary", {}, "Minutes"));
    this.list.addEventListener("toggle", () => this.fill());
    this.card = el("li", { class: "card", "data-city": name },
      el("div", { class: "head" }, el("h2", {}, name), this.now),
      this.plotted, this.note, this.list);
    new ResizeObserver(() => this.chart?.setSize(this.size())).observe(this.plotted);
  }

  size() {
    return { width: Math.max(120, this.plotted.clientWidth), height: 170 };
  }

  /** Returns the minutes that were there already and say otherwise now, but for the newest. */
  take(points, isWhole) {
    const newest = this.times().at(-1);
    const before = this.minutes;
    if (isWhole) this.minutes = new Map();
    const corrected = [];
    for (const point of points) {
      const at = Date.parse(point.time) / 1000;
      const old = before.get(at);
      if (old && old.temperature !== point.temperature && at !== newest) corrected.push(at);
      this.minutes.set(at, point);
    }
    for (const at of this.times().slice(0, -kept)) this.minutes.delete(at);
    return corrected;
  }

  times() {
    return [...this.minutes.keys()].sort((a, b) => a - b);
  }

  draw(span, newest) {
    const times = this.times();
    const xs = [];
    const ys = [];
    times.forEach((at, n) => {
      if (n && at - times[n - 1] > GAP_S) { xs.push(at - 60); ys.push(null); }
      xs.push(at);
      ys.push(this.minutes.get(at).temperature);
    });
    this.span = span;
    this.chart ??= new uPlot(this.options(), [xs, ys], this.plotted);
    this.chart.setData([xs, ys]);
    const last = times.at(-1);
    const isSilent = newest - last > SILENT_MS / 1000;
    this.card.classList.toggle("silent", isSilent);
    this.silent = isSilent ? `silent since ${clock(last * 1000)}` : "";
    this.say(this.standing());
    this.now.textContent = degrees(this.minutes.get(last)?.temperature);
    this.plotted.setAttribute("aria-label", this.summary(times));
    this.fill();
  }

  summary(times) {
    const known = [...this.minutes.values()].map((m) => m.temperature).filter((t) => t != null);
    if (!known.length) return `${this.name}: no figures`;
    return `${this.name}: ${times.length} minutes from ${clock(times[0] * 1000)} to ` +
      `${clock(times.at(-1) * 1000)} UTC, lowest ${degrees(Math.min(...known))}, ` +
      `highest ${degrees(Math.max(...known))}, newest ${this.now.textContent}`;
  }

  /** What is said while no minute is pointed at. */
  standing() {
    return this.silent || this.corrected || "";
  }

  say(text) {
    if (this.note.textContent !== text) this.note.textContent = text;
  }

  /** The newest minutes as a table, for who does not see the chart. */
  fill() {
    if (!this.list.open) return;
    const rows = this.times().slice(-LISTED).reverse().map((at) => {
      const minute = this.minutes.get(at);
      return el("tr", {}, el("th", { scope: "row" }, clock(at * 1000)),
        el("td", { class: "num" }, degrees(minute.temperature)),
        el("td", { class: "num" }, count(minute.readings)));
    });
    const heads = el("tr", {}, el("th", { scope: "col" }, "Minute"),
      el("th", { scope: "col", class: "num" }, "Average"),
      el("th", { scope: "col", class: "num" }, "Readings"));
    this.list.replaceChildren(this.list.firstChild,
      el("table", {}, el("thead", {}, heads), el("tbody", {}, rows)));
  }

  options() {
    const color = this.color;
    const axis = { stroke: "#a5b1bf", grid: { stroke: "#26303c", width: 1 }, ticks: { show: false },
                   font: "12px system-ui, sans-serif" };
    return {
      ...this.size(),
      tzDate: (ts) => uPlot.tzDate(new Date(ts * 1000), "Etc/UTC"),
      legend: { show: false },
      cursor: { y: false, drag: { x: false, y: false } },
      scales: {
        x: { range: () => this.span },
        y: { range: (_, low, high) => padded(low, high) },
      },
      axes: [
        { ...axis, size: 26, space: 70, values: (_, ticks) => ticks.map((t) => clock(t * 1000)) },
        { ...axis, size: 46, values: (_, ticks) => ticks.map((t) => `${t}°`) },
      ],
      series: [{}, { stroke: color, width: 2, fill: `${color}1c`, spanGaps: false,
                     points: { size: 5, fill: color } }],
      hooks: { setCursor: [(chart) => this.point(chart)] },
    };
  }

  /** Under the pointer: which minute, what it says. */
  point(chart) {
    const at = chart.data[0][chart.cursor.idx ?? -1];
    const minute = this.minutes.get(at);
    this.say(minute ? `${clock(at * 1000)} · ${degrees(minute.temperature)} · ` +
      `${count(minute.readings)} reading${minute.readings === 1 ? "" : "s"}` : this.standing());
  }
}

function padded(low, high) {
  if (low == null) return [0, 100];
  const rest = Math.max(0, 10 - (high - low)) / 2 + Math.max(1, (high - low) * 0.08);
  return [low - rest, high + rest];
}

const degrees = (t) => (t == null ? "–" : `${t.toFixed(1)} °F`);

function take(said, isWhole) {
  kept = said.minutes_kept;
  staleMs = said.stale_after_s * 1000;
  skewMs = Date.parse(said.now) - Date.now();
  if (isWhole) {
    for (const name of [...cities.keys()].filter((name) => !(name in said.data))) {
      cities.get(name).card.remove();
      cities.get(name).chart?.destroy();
      cities.delete(name);
    }
  }
  for (const [name, points] of Object.entries(said.data)) {
    const city = cities.get(name) ?? new City(name);
    cities.set(name, city);
    tell(city, city.take(points, isWhole));
  }
  if (isWhole || Object.keys(said.data).length) draw(said);
  since = said.since ?? since;
}

function tell(city, corrected) {
  if (!corrected.length) return;
  city.corrected = `corrected: ${corrected.map((at) => clock(at * 1000)).slice(-3).join(", ")}`;
  city.card.classList.add("changed");
  setTimeout(() => city.card.classList.remove("changed"), 2000);
  clearTimeout(city.forgetting);
  city.forgetting = setTimeout(() => { city.corrected = ""; city.say(city.standing()); }, SAID_MS);
}

function draw(said) {
  const place = byId("cities");
  const sorted = [...cities.values()].sort((a, b) => (a.name < b.name ? -1 : 1));
  sorted.forEach((city, n) => {
    if (place.children[n] !== city.card) place.insertBefore(city.card, place.children[n] ?? null);
  });
  const ends = sorted.flatMap((city) => { const t = city.times(); return [t[0], t.at(-1)]; });
  const newest = Math.max(...ends);
  const first = Math.max(Math.min(...ends), newest - kept * 60);
  for (const city of sorted) city.draw([Math.min(first, newest - 600), newest + 30], newest);
  stats(sorted, said.cities_in_all);
}

function stats(shown, inAll) {
  const minutes = shown.flatMap((city) => [...city.minutes.values()]);
  const known = minutes.filter((m) => m.temperature != null && m.readings);
  const readings = known.reduce((sum, m) => sum + m.readings, 0);
  const sum = known.reduce((sum, m) => sum + m.temperature * m.readings, 0);
  write("cities-count", inAll > shown.length ? `${shown.length} of ${count(inAll)}` : count(shown.length));
  write("points", count(minutes.length));
  write("average", readings ? degrees(sum / readings) : "–");
}

/** Once a second: how old the newest data is, and whether that is too old. */
function watch() {
  if (!since) return;
  const at = Date.parse(since);
  const old = Date.now() + skewMs - at;
  const shown = byId("updated");
  shown.replaceChildren(clock(at, true), el("small", {}, `${age(old)} ago`));
  if (trouble) return;
  if (old > staleMs) {
    const day = since.slice(0, 10);
    state("late", `Data has stopped: nothing new since ${day} ${clock(at, true)} UTC. ` +
      "`lakehouse status` tells what does not run; `lakehouse generate weather` sends readings.");
  } else {
    state("good", "Live: new minutes and corrections show by themselves.");
  }
}

let trouble = "";

async function look() {
  const isWhole = !since || Date.now() - wholeAt > WHOLE_MS;
  try {
    const path = isWhole ? "/api/weather" : `/api/weather/latest?since=${encodeURIComponent(since)}`;
    const said = await ask(path, PATIENCE_MS);
    trouble = said.note;
    if (isWhole) {
      wholeAt = Date.now();
      since = said.since;
    }
    take(said, isWhole);
    if (trouble) state("late", trouble);
  } catch (error) {
    trouble = error.isSaid ? error.message : "This page's server does not answer. `lakehouse up pages` " +
      "starts it; the charts show what was known until then.";
    wholeAt = 0; // afterwards everything anew
    state("bad", trouble);
  }
  watch();
}

setInterval(watch, 1000);
forever(look, EVERY_MS);
