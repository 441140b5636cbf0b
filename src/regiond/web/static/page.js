// The page of a region: nodes as the record has them, kept up to date by a stream of events.
// Only the rows in view exist as elements, so ten thousand nodes cost as much as forty.

const ROW = 34, MARGIN = 6;              // height of a row in pixels; rows kept beyond the view
const MANY = 20;                         // above this many nodes, a release is confirmed first
const SET_LENGTH = 15_000;               // longest node set of one request, in characters
const SILENCE = 40;                      // seconds without a sign of life until the stream counts as cut
const FEW = 300;                         // up to here each node's outcome is fetched while others run

const $ = id => document.getElementById(id);
const now = () => performance.now() / 1000;
const sleep = ms => new Promise(resolve => setTimeout(resolve, ms));
const set = (element, text) => { if (element.textContent !== text) element.textContent = text; };

const nodes = new Map();                 // name -> node, with seenAt and statusAt on our clock
const selected = new Set();
const pending = new Map();               // name -> the job of this page that it waits for
const notes = new Map();                 // name -> what to say of it for some seconds
const jobs = new Map();                  // number -> job of this page
const filter = { words: [], status: new Set(), power: new Set(), chassis: new Set() };
let names = [], unsorted = false, shown = [], chassis = new Map(), active = null, anchor = null, complete = false;

const TONES = {
  new: "grey", ready: "green", allocated: "violet", deploying: "amber", deployed: "blue", releasing: "amber",
  cleaning: "amber", broken: "red", retired: "grey",
};
const POWER_TONES = { on: "green", off: "grey", unknown: "amber", error: "red" };
const VERBS = {
  query: { label: "Check now", doing: "Check", done: "checked just now" },
  release: { label: "Release", doing: "Release", done: "released" },
  "mark-broken": { label: "Mark broken", doing: "Mark broken", done: "marked broken" },
  "mark-fixed": { label: "Mark fixed", doing: "Mark fixed", done: "marked fixed" },
};
const tone = status => TONES[status] ?? (status.startsWith("failed") ? "red" : "grey");
const number = count => count.toLocaleString("en");
const many = count => `${number(count)} ${count === 1 ? "node" : "nodes"}`;
const faultText = fault => fault ? `${fault.kind}: ${fault.text}` : "";

// ------------------------------------------------------------------ the record, as told

function take(list) {
  const at = now();
  for (const told of list) {
    if (!nodes.has(told.name)) { names.push(told.name); unsorted = true; }
    told.seenAt = told.seen_age === null ? null : at - told.seen_age;
    told.statusAt = at - told.status_age;
    told.text = [told.name, `${told.chassis}/${told.slot}`, told.status, told.power, told.owner, told.reason,
      faultText(told.fault)].join(" ").toLowerCase();
    nodes.set(told.name, told);
    const wait = pending.get(told.name);
    if (!wait) continue;
    if (told.operation) wait.begun = true;
    else if (wait.begun && wait.verb === "query") settle(told.name, wait.verb, told.fault);
    jobs.get(wait.job)?.hint();
  }
}

function keepOnly(fresh) {
  for (const name of [...nodes.keys()]) {
    if (fresh.has(name)) continue;
    nodes.delete(name);
    selected.delete(name);
    pending.delete(name);
  }
  names = [...nodes.keys()];
  unsorted = true;
}

// ------------------------------------------------------------------ the stream

let source = null, heard = now(), last = "", fresh = new Set(), trouble = "", state = "connecting";

function connect() {
  source?.close();
  heard = now();
  const opened = new EventSource("/api/stream" + (last ? `?after=${encodeURIComponent(last)}` : ""));
  source = opened;
  const on = (kind, act) => opened.addEventListener(kind, event => {
    heard = now();
    if (event.lastEventId) last = event.lastEventId;
    act(JSON.parse(event.data));
  });
  opened.onopen = () => { heard = now(); if (complete) setState("live"); };
  opened.onerror = () => {
    setState("reconnecting");
    // An answer that is no stream (the region starts, or its record is away) ends an EventSource for good.
    if (opened.readyState === EventSource.CLOSED) setTimeout(() => { if (source === opened) connect(); }, 2000);
  };
  on("snapshot", told => {
    if (told.first) fresh = new Set();
    for (const node of told.nodes) fresh.add(node.name);
    take(told.nodes);
    if (told.last) { keepOnly(fresh); complete = true; setState("live"); }
    draw(true);
  });
  on("nodes", told => { take(told.nodes); draw(true); });
  on("chassis", told => { takeChassis(told.chassis); draw(true); });
  on("event", told => takeEvents(told.events));
  on("trouble", told => { trouble = told.text; setState(trouble ? "away" : "live"); });
  on("beat", () => { if (complete && !trouble) setState("live"); });
}

function setState(next) {
  if (next === "reconnecting") trouble = "";
  if (next === state) return;
  state = next;
  $("live").dataset.state = state;
  set($("live").lastElementChild, state === "away" ? "record away" : state);
  const text = { away: `The region can't read its record just now: ${trouble}`,
    reconnecting: "Not live: the region can't be reached. What you see is from before; trying again." }[state];
  $("banner").hidden = !text;
  set($("banner"), text ?? "");
}

function takeChassis(list) {
  const at = now();
  chassis = new Map(list.map(one => [one.name, { ...one, since: at - (one.fault_age ?? 0) }]));
}

function takeEvents(list) {
  const box = $("events"), part = document.createDocumentFragment();
  for (const event of list.slice(-100).reverse()) {
    const line = document.createElement("li"), time = document.createElement("time");
    time.dateTime = event.at;
    time.textContent = new Date(event.at).toLocaleTimeString();
    line.append(time, bold(event.node ?? event.chassis ?? ""), ` ${event.text}`);
    part.append(line);
  }
  box.prepend(part);
  while (box.childElementCount > 100) box.lastElementChild.remove();
}

// ------------------------------------------------------------------ which rows, and how many of what

function matches(node) {
  return filter.words.every(word => node.text.includes(word))
    && ["status", "power", "chassis"].every(kind => !filter[kind].size || filter[kind].has(node[kind]));
}

function recount() {
  if (unsorted) { names.sort(); unsorted = false; }
  const counts = { status: new Map(), power: new Map(), chassis: new Map() };
  shown = [];
  for (const name of names) {
    const node = nodes.get(name);
    for (const kind in counts) counts[kind].set(node[kind], (counts[kind].get(node[kind]) ?? 0) + 1);
    if (matches(node)) shown.push(name);
  }
  const others = [...counts.status.keys()].filter(status => !(status in TONES)).sort();
  chips("statuses", "status", [...Object.keys(TONES), ...others], counts.status, tone);
  chips("powers", "power", Object.keys(POWER_TONES), counts.power, power => POWER_TONES[power]);
  const known = [...new Set([...chassis.keys(), ...counts.chassis.keys()])].sort();
  chips("chassis", "chassis", known.slice(0, 200), counts.chassis, chassisTone, true);
  faults();
}

// Whoever acts on what is shown must not act on what was shown before the last key or change.
function current() {
  if (recounting) { recounting = false; recount(); }
  return shown;
}

function chassisTone(name) {
  const one = chassis.get(name);
  return !one ? "grey" : one.fault ? "red" : one.rack ? "green" : "amber";
}

function chassisTitle(name) {
  const one = chassis.get(name);
  return !one ? "" : one.fault ? faultText(one.fault) : one.rack ? `held by rack ${one.rack}` : "no rack speaks to it now";
}

function chips(id, kind, values, counts, toneOf, always = false) {
  const box = $(id), held = new Map([...box.children].map(chip => [chip.dataset.value, chip]));
  let place = 0;
  for (const value of values) {
    const count = counts.get(value) ?? 0;
    if (!count && !always && !filter[kind].has(value)) continue;
    const chip = held.get(value) ?? newChip(kind, value);
    held.delete(value);
    set(chip.firstElementChild, number(count));
    chip.dataset.tone = toneOf(value);
    chip.setAttribute("aria-pressed", filter[kind].has(value));
    if (kind === "chassis") chip.title = chassisTitle(value);
    if (box.children[place] !== chip) box.insertBefore(chip, box.children[place] ?? null);
    place += 1;
  }
  for (const chip of held.values()) chip.remove();
}

function newChip(kind, value) {
  const chip = document.createElement("button");
  chip.type = "button";
  chip.className = "chip";
  chip.dataset.value = value;
  chip.append(bold(""), ` ${value}`);
  chip.addEventListener("click", () => {
    if (!filter[kind].delete(value)) filter[kind].add(value);
    draw(true);
  });
  return chip;
}

function faults() {
  const bad = [...chassis.values()].filter(one => one.fault).slice(0, 20);
  const told = bad.map(one => [one.name, ` ${faultText(one.fault)} (${ago(now() - one.since)})`]);
  $("faults").hidden = !bad.length;
  const text = JSON.stringify(told);
  if ($("faults").dataset.text === text) return;
  $("faults").dataset.text = text;
  $("faults").replaceChildren(...told.map(([name, why]) => {
    const line = document.createElement("li");
    line.append(bold(name), why);
    return line;
  }));
}

// ------------------------------------------------------------------ drawing

const elements = new Map();              // name -> the element of a row in view
let drawing = false, recounting = true;

function draw(recountToo = false) {
  recounting ||= recountToo;
  if (drawing) return;
  drawing = true;
  // A page in the background gets no frames; it must not pile up work for when it is looked at again.
  (document.hidden ? setTimeout : requestAnimationFrame)(() => {
    drawing = false;
    current();
    bar();
    rows();
  });
}

function bold(text) {
  const b = document.createElement("b");
  b.textContent = text;
  return b;
}

function bar() {
  const count = selected.size, hidden = [...selected].filter(name => !matches(nodes.get(name))).length;
  const total = nodes.size === shown.length ? many(nodes.size) : `${number(shown.length)} of ${many(nodes.size)}`;
  const parts = [bold(`${number(count)} selected`), hidden ? ` (${number(hidden)} not shown)` : "", ` · ${total}`];
  $("count").replaceChildren(...count ? parts : [total]);
  $("none").disabled = !count;
  $("all").disabled = !shown.length;
  $("unfilter").hidden = !(filter.words.length || filter.status.size || filter.power.size || filter.chassis.size);
  for (const verb in VERBS) $(`do-${verb}`).disabled = !count;
  $("empty").hidden = shown.length > 0;
  set($("empty"), !complete ? "Loading the record …" : nodes.size ? "No node fits the filter."
    : "There are no nodes yet. Enrol a chassis: switchgear chassis add, then switchgear discover.");
}

function rows() {
  const grid = $("grid");
  $("rows").style.height = `${shown.length * ROW}px`;
  grid.setAttribute("aria-rowcount", shown.length + 1);
  const first = Math.max(0, Math.floor(grid.scrollTop / ROW) - MARGIN);
  const end = Math.min(shown.length, first + Math.ceil(grid.clientHeight / ROW) + 2 * MARGIN);
  const wanted = new Set(shown.slice(first, end));
  for (const [name, element] of elements) {
    if (wanted.has(name)) continue;
    // A row that has the focus stays, out of view, so that the focus is not lost.
    if (nodes.has(name) && element.contains(document.activeElement)) element.style.translate = `0 ${-2 * ROW}px`;
    else { element.remove(); elements.delete(name); }
  }
  for (let place = first; place < end; place++) row(shown[place], place);
  if (active && elements.has(active)) grid.setAttribute("aria-activedescendant", `node-${active}`);
  else grid.removeAttribute("aria-activedescendant");
}

function row(name, place) {
  let element = elements.get(name);
  if (!element) {
    element = newRow(name);
    elements.set(name, element);
    $("rows").append(element);
  }
  const node = nodes.get(name), part = element.parts, picked = selected.has(name);
  element.style.translate = `0 ${place * ROW}px`;
  element.setAttribute("aria-rowindex", place + 2);
  element.setAttribute("aria-selected", picked);
  element.classList.toggle("active", active === name);
  part.check.checked = picked;
  set(part.where, `${node.chassis} / ${node.slot}`);
  set(part.badge, node.status);
  part.badge.dataset.tone = tone(node.status);
  set(part.power, node.power);
  part.power.dataset.power = node.power;
  part.power.dataset.tone = POWER_TONES[node.power];
  set(part.owner, node.owner ?? "");
  set(part.fix, node.status === "broken" ? "Mark fixed" : "Mark broken");
  times(name, element);
}

// What changes by itself as time goes on: how old the knowledge is, and what is said for some seconds.
function times(name, element) {
  const node = nodes.get(name), wait = pending.get(name), part = element.parts;
  if (notes.has(name) && now() > notes.get(name).until) notes.delete(name);
  const note = notes.get(name), busy = Boolean(wait || node.operation);
  const age = node.seenAt === null ? "never" : ago(now() - node.seenAt);
  part.spin.hidden = !busy;
  element.setAttribute("aria-busy", busy);
  set(part.age, wait?.verb === "query" ? "checking …" : busy ? "working …" : note && !note.bad ? note.text : age);
  part.seen.title = node.seenAt === null ? "no read has shown its power yet" : `its power was read ${age}`;
  part.badge.title = `${node.status} since ${ago(now() - node.statusAt)}`;
  const why = note?.bad ? note.text : node.fault ? faultText(node.fault) : node.reason ?? "";
  set(part.why, why);
  part.why.title = why;
  part.why.classList.toggle("bad", Boolean(node.fault || note?.bad));
  if (note && !note.flashed) {
    note.flashed = true;
    element.classList.remove("flash");
    void element.offsetWidth;            // lets the same animation run once more
    element.classList.add("flash");
  }
}

function newRow(name) {
  const element = document.createElement("div"), part = {};
  element.className = "row";
  element.id = `node-${name}`;
  element.dataset.name = name;
  element.setAttribute("role", "row");
  const make = (tag, kind) => Object.assign(document.createElement(tag), { className: kind });
  const cell = (kind, ...inside) => {
    const span = make("span", kind);
    span.setAttribute("role", "gridcell");
    span.append(...inside);
    element.append(span);
    return span;
  };
  const button = (text, kind, verb) => {
    const made = Object.assign(make("button", kind), { type: "button", tabIndex: -1, textContent: text });
    made.addEventListener("click", () => act(verb(), [name]));
    return made;
  };
  part.check = Object.assign(make("input", "check-box"), { type: "checkbox", tabIndex: -1, ariaLabel: `Select ${name}` });
  cell("tick", part.check);
  cell("node", name).title = name;
  part.where = cell("where");
  part.badge = make("span", "badge");
  cell("status", part.badge);
  part.power = make("span", "power");
  cell("power-cell", part.power);
  part.spin = make("i", "spin");
  part.age = make("span", "age");
  part.seen = cell("seen", part.spin, part.age);
  part.why = cell("why");
  part.owner = cell("owner");
  part.fix = button("Mark broken", "more fix", () => nodes.get(name).status === "broken" ? "mark-fixed" : "mark-broken");
  cell("acts", button("Check now", "check", () => "query"), button("Release", "more release", () => "release"), part.fix);
  element.parts = part;
  return element;
}

function ago(seconds) {
  const s = Math.max(0, Math.round(seconds));
  if (s < 3) return "just now";
  if (s < 60) return `${s} s ago`;
  if (s < 3600) return `${Math.floor(s / 60)} min ago`;
  if (s < 2 * 86400) return `${Math.floor(s / 3600)} h ago`;
  return `${Math.floor(s / 86400)} days ago`;
}

// ------------------------------------------------------------------ selecting

function choose(name, { range = false, extend = false } = {}) {
  const from = current().indexOf(anchor), to = shown.indexOf(name);
  if (range && from >= 0 && to >= 0) {
    const on = extend || selected.has(anchor);
    for (const one of shown.slice(Math.min(from, to), Math.max(from, to) + 1)) {
      if (on) selected.add(one); else selected.delete(one);
    }
  } else {
    if (!selected.delete(name)) selected.add(name);
    anchor = name;
  }
  active = name;
  draw();
}

$("rows").addEventListener("click", event => {
  const element = event.target.closest(".row");
  if (!element || event.target.closest("button") || getSelection().toString()) return;
  choose(element.dataset.name, { range: event.shiftKey });
  $("grid").focus({ preventScroll: true });
});
$("all").addEventListener("click", () => { for (const name of current()) selected.add(name); draw(); });
$("none").addEventListener("click", () => { selected.clear(); draw(); });
$("unfilter").addEventListener("click", () => {
  for (const kind of ["status", "power", "chassis"]) filter[kind].clear();
  $("filter").value = "";
  filter.words = [];
  draw(true);
});
$("filter").addEventListener("input", () => {
  filter.words = $("filter").value.toLowerCase().split(/\s+/).filter(Boolean);
  $("grid").scrollTop = 0;
  draw(true);
});
$("filter").addEventListener("keydown", event => {
  if (event.key !== "Enter" && event.key !== "ArrowDown") return;
  event.preventDefault();
  $("grid").focus();
  if (current().length) move(0);
});
for (const kind of ["scroll", "focus", "blur"]) $("grid").addEventListener(kind, () => draw(), { passive: true });
new ResizeObserver(() => draw()).observe($("grid"));
document.addEventListener("keydown", event => {
  if (event.key !== "/" || event.target.closest("input, dialog")) return;
  event.preventDefault();
  $("filter").select();
});

function move(place) {
  const at = Math.max(0, Math.min(shown.length - 1, place)), grid = $("grid");
  active = shown[at];
  // Two rows less than the height: one is the head, and one may be cut off.
  const top = at * ROW, room = grid.clientHeight - 3 * ROW;
  if (top < grid.scrollTop) grid.scrollTop = top;
  else if (top > grid.scrollTop + room) grid.scrollTop = top - room;
  draw();
}

function moveBy(event, place) {
  event.preventDefault();
  if (!event.shiftKey || !active) { move(place); return; }
  if (!selected.has(active) || !shown.includes(anchor)) { selected.add(active); anchor = active; }
  move(place);
  choose(active, { range: true, extend: true });
}

$("grid").addEventListener("keydown", event => {
  if (event.target !== event.currentTarget) {
    if (event.key === "Escape") $("grid").focus();
    return;
  }
  const at = current().indexOf(active), page = Math.max(1, Math.floor($("grid").clientHeight / ROW) - 2);
  const to = { ArrowDown: at + 1, ArrowUp: at - 1, PageDown: at + page, PageUp: at - page, Home: 0, End: shown.length - 1 }[event.key];
  const control = event.ctrlKey || event.metaKey;
  if (to !== undefined && shown.length) moveBy(event, to);
  else if (event.key === " " && active) { event.preventDefault(); choose(active, { range: event.shiftKey }); }
  else if (event.key === "a" && control) { event.preventDefault(); $("all").click(); }
  else if (event.key === "Escape") $("none").click();
  else if (event.key === "Enter" && elements.has(active)) { event.preventDefault(); elements.get(active).querySelector("button").focus(); }
  else if (event.key === "c" && !control && (selected.size || active)) act("query", selected.size ? [...selected] : [active]);
});
$("rows").addEventListener("keydown", event => {
  const buttons = [...event.target.closest(".row").querySelectorAll("button")], at = buttons.indexOf(event.target);
  const to = buttons[{ ArrowRight: at + 1, ArrowLeft: at - 1 }[event.key]];
  if (at >= 0 && to) { event.preventDefault(); to.focus(); }
});

// ------------------------------------------------------------------ asking

for (const verb in VERBS) $(`do-${verb}`).addEventListener("click", () => act(verb, [...selected]));

async function act(verb, list) {
  let reason = null;
  if (verb === "mark-broken" || (verb === "release" && list.length > MANY)) {
    const answer = await confirmed(verb, list);
    if (!answer) return;
    reason = answer.reason;
  }
  for (const part of sets(list)) ask(verb, part.names, part.text, reason);
}

function confirmed(verb, list) {
  const box = $("ask"), broken = verb === "mark-broken", label = VERBS[verb].label;
  const some = list.slice(0, 6).join(", ") + (list.length > 6 ? `, … and ${number(list.length - 6)} more` : "");
  set($("ask-title"), `${label}: ${many(list.length)}`);
  set($("ask-text"), (broken ? "Powered off, and taken out of use until marked fixed: "
    : "Powered off, addresses freed, and then ready for others: ") + some);
  $("ask-why").hidden = !broken;
  $("ask-reason").required = broken;
  $("ask-reason").value = "";
  set($("ask-yes"), `${label}: ${many(list.length)}`);
  box.showModal();
  (broken ? $("ask-reason") : $("ask-no")).focus();
  return new Promise(resolve => {
    const gone = new AbortController(), { signal } = gone;
    const end = answer => { gone.abort(); box.close(); resolve(answer); };
    $("ask-form").addEventListener("submit", event => {
      event.preventDefault();
      const reason = $("ask-reason").value.trim();
      if (!broken || reason) end({ reason: reason || null });
      else { $("ask-reason").value = ""; $("ask-reason").reportValidity(); }
    }, { signal });
    $("ask-no").addEventListener("click", () => end(null), { signal });
    box.addEventListener("close", () => end(null), { signal });
  });
}

// Writes names as node sets, n[001-064,070], each short enough for one request.
function sets(list) {
  const groups = new Map(), parts = [];
  for (const name of [...new Set(list)].sort()) {
    const match = /^(.*\D)(\d{1,9})(\D*)$/.exec(name);
    if (!match) { parts.push({ text: name, names: [name] }); continue; }
    const [, before, digits, behind] = match, same = JSON.stringify([before, digits.length, behind]);
    if (!groups.has(same)) groups.set(same, { before, behind, members: [] });
    groups.get(same).members.push({ value: Number(digits), digits, name });
  }
  for (const { before, behind, members } of groups.values()) {
    // 1,000 names keep each part far below the longest set.
    for (let start = 0; start < members.length; start += 1000) {
      const some = members.slice(start, start + 1000);
      const text = some.length === 1 ? some[0].name : `${before}[${ranges(some)}]${behind}`;
      parts.push({ text, names: some.map(one => one.name) });
    }
  }
  return joined(parts);
}

function ranges(members) {
  const runs = [];
  for (const one of members.sort((a, b) => a.value - b.value)) {
    const run = runs.at(-1);
    if (run && run.end.value + 1 === one.value) run.end = one;
    else runs.push({ start: one, end: one });
  }
  return runs.map(run => run.start === run.end ? run.start.digits : `${run.start.digits}-${run.end.digits}`).join(",");
}

function joined(parts) {
  const whole = [];
  for (const part of parts) {
    const at = whole.at(-1);
    if (at && at.text.length + part.text.length < SET_LENGTH) { at.text += `,${part.text}`; at.names.push(...part.names); }
    else whole.push({ text: part.text, names: [...part.names] });
  }
  return whole;
}

let lastJob = 0;

async function ask(verb, list, text, reason) {
  const job = new Job(verb, list);
  for (const name of list) {
    pending.set(name, { job: job.number, verb, begun: false });
    notes.delete(name);
  }
  draw();
  try {
    const answer = await call("/api/ask", { verb, nodes: text, key: key(), ...reason && { reason } });
    job.request = answer.request;
    await job.follow();
  } catch (error) {
    job.end(`${VERBS[verb].doing}, ${job.who()}: ${error.message}`, true);
  }
}

// The same key is the same request, so asking again after a lost answer asks for nothing twice.
function key() {
  return [...crypto.getRandomValues(new Uint8Array(16))].map(byte => byte.toString(16).padStart(2, "0")).join("");
}

async function call(path, body) {
  const options = body && { method: "POST", body: JSON.stringify(body),
    headers: { "Content-Type": "application/json", "X-Switchgear": "1" } };
  let problem = "the region can't be reached";
  for (let attempt = 1; attempt <= 6; attempt++) {
    const answer = await fetch(path, options).catch(() => null);
    const told = await answer?.json().catch(() => null);
    if (answer?.ok && told) return told;
    if (answer && !answer.ok && answer.status !== 503) throw new Error(told?.error ?? `the region answered ${answer.status}`);
    problem = told?.error ?? problem;
    await sleep(Math.min(250 * 2 ** attempt, 5000));
  }
  throw new Error(problem);
}

function settle(name, verb, fault, refused = false) {
  pending.delete(name);
  notes.set(name, fault ? { bad: true, text: refused ? `refused: ${fault.text}` : faultText(fault), until: now() + 20 }
    : { bad: false, text: VERBS[verb].done, until: now() + 5 });
}

// One request of this page, followed until every node has its outcome.
class Job {
  constructor(verb, list) {
    Object.assign(this, { number: ++lastJob, verb, list, request: "", pause: 300, wake: null });
    this.line = document.createElement("li");
    this.bar = Object.assign(document.createElement("progress"), { max: list.length, value: 0, ariaLabel: "Progress" });
    this.text = document.createElement("span");
    this.line.append(this.bar, this.text);
    jobs.set(this.number, this);
    $("jobs").prepend(this.line);
    this.show(0, 0);
  }

  who() { return this.list.length === 1 ? this.list[0] : many(this.list.length); }

  // Something changed for one of its nodes: look soon.
  hint() {
    const wake = this.wake;
    this.wake = null;
    this.pause = 300;
    if (wake) setTimeout(wake, 150);
  }

  show(done, failed) {
    this.bar.value = done;
    set(this.text, `${VERBS[this.verb].doing}: ${number(done)} of ${many(this.list.length)}${failed ? `, ${number(failed)} failed` : ""}`);
  }

  async follow() {
    for (;;) {
      const { request } = await call(`/api/requests/${this.request}`);
      const failed = request.failed + request.refused;
      this.show(request.succeeded + failed, failed);
      if (!request.running || this.list.length <= FEW) await this.items();
      if (!request.running) { this.finish(request); return; }
      await new Promise(resolve => { this.wake = resolve; setTimeout(resolve, this.pause); });
      this.wake = null;
      this.pause = Math.min(this.pause * 1.5, 3000);
    }
  }

  async items() {
    for (let after = "", more = true; more;) {
      const page = await call(`/api/requests/${this.request}/items?after=${encodeURIComponent(after)}`);
      for (const item of page.items) {
        after = item.node;
        if (!item.outcome || pending.get(item.node)?.job !== this.number) continue;
        const fault = item.outcome === "succeeded" ? null : item.fault ?? { kind: item.outcome, text: "no reason is known" };
        settle(item.node, this.verb, fault, item.refused);
      }
      more = page.more && page.items.length > 0;
    }
    draw();
  }

  finish(request) {
    const bad = request.failed + request.refused, done = VERBS[this.verb].done;
    const parts = [bad && request.succeeded ? `${number(request.succeeded)} ${done}` : request.succeeded ? done : "",
      request.failed ? `${number(request.failed)} failed` : "", request.refused ? `${number(request.refused)} refused` : ""];
    const note = this.list.length === 1 && notes.get(this.list[0]);
    this.end(`${this.who()}: ${bad && note?.bad ? note.text : parts.filter(Boolean).join(", ")}`, bad > 0);
  }

  end(text, bad) {
    for (const name of this.list) if (pending.get(name)?.job === this.number) pending.delete(name);
    jobs.delete(this.number);
    this.bar.remove();
    set(this.text, text);
    this.line.classList.toggle("bad", bad);
    const dismiss = Object.assign(document.createElement("button"), { type: "button", textContent: "Dismiss" });
    dismiss.addEventListener("click", () => this.line.remove());
    this.line.append(dismiss);
    if (!bad) setTimeout(() => this.line.remove(), 8000);
    while ($("jobs").childElementCount > 50) $("jobs").lastElementChild.remove();
    $("said").textContent = text;
    draw();
  }
}

// ------------------------------------------------------------------ time goes on

setInterval(() => {
  for (const [name, element] of elements) if (nodes.has(name)) times(name, element);
  faults();
  if (now() - heard > SILENCE) { setState("reconnecting"); connect(); }
}, 1000);
connect();
draw();
