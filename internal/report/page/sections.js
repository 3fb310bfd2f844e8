"use strict";
// The sections of the report, each a function that returns an element, or null.
let view = null; // of the timeline

function figure(value, label, share, color) {
  return el("div", { class: "card figure" }, el("b", null, value), el("span", null, label),
    share === undefined ? null : el("div", { class: "meter", "aria-hidden": "true" }, el("i", { style: `width:${(100 * Math.min(1, share)).toFixed(1)}%;background:var(${color || "--gpu"})` })));
}

function overview() {
  const t = data.totals, d = data.devices.find(d => d.busy > 0) || data.devices[0];
  const peak = Math.max(0, ...(data.memory || []).map(m => m.peak));
  const wall = data.duration || 1;
  const figures = el("div", { class: "figures" },
    figure(time(data.duration), "recorded time"),
    d ? figure(percent(d.busy / wall), `${d.process} busy`, d.busy / wall) : null,
    figure(time(t.kernels), "in " + some(t.launches, "launch"), t.kernels / wall),
    figure(time(t.copies), `copying ${bytes(t.copied)}`, t.copies / wall, "--copy"),
    t.waiting > 0 ? figure(time(t.waiting), "host waiting for the device", t.waiting / wall, "--wait") : null,
    t.cpu > 0 ? figure(time(t.cpu), "of CPU time", t.cpu / wall, "--cpu") : null,
    peak > 0 ? figure(bytes(peak), "most device memory in use", d && d.memory ? peak / d.memory : undefined, "--accent") : null);
  const findings = (data.findings || []).map(f => el("li", null, el("span", { class: "badge " + (f.warn ? "warn" : "") }, f.topic), el("a", { href: "#" + f.section }, f.text)));
  const notes = (data.notes || []).map(n => el("li", null, n));
  return el("div", { id: "overview" }, figures,
    findings.length || notes.length || data.exit ? el("section", { class: "card", style: "margin-top:20px", "aria-labelledby": "findings-title" },
      el("header", null, el("h2", { id: "findings-title" }, "What stands out")),
      data.exit ? el("p", { class: "warn-text" }, data.exit) : null,
      findings.length ? el("ul", { class: "findings" }, findings) : empty("Nothing."),
      notes.length ? el("ul", { class: "notes" }, notes) : null) : null);
}

function timelineSection() {
  if (!data.timeline.tracks?.length) return section("timeline", "Timeline", "", empty("Nothing was recorded."));
  view = new TimelineView(data.timeline, data.duration);
  const button = (text, label, f) => el("button", { type: "button", "aria-label": label, title: label, onclick: f }, text);
  const middle = () => (view.from + view.to) / 2;
  const search = el("input", { type: "search", placeholder: "Find an event", "aria-label": "Find events by name", oninput: e => view.search(e.target.value) });
  const s = section("timeline", "Timeline", "Drag to move. Click it, then scroll or press + and − to zoom.",
    el("div", { class: "timeline" }, view.canvas), view.info,
    el("div", { class: "legend" }, [["--copy", "copy"], ["--wait", "wait"], ["--accent", "section"], ["--cpu", "actor"]].map(([c, n]) => el("span", null, el("i", { style: `background:var(${c})` }), n)),
      el("span", null, "kernels have a colour each")));
  s.firstChild.append(el("span", { class: "spacer" }), search, el("span", null,
    button("−", "Zoom out", () => view.zoom(1 / .5, middle())), " ", button("+", "Zoom in", () => view.zoom(.5, middle())), " ", button("All", "Show all", () => view.show(0, view.full))));
  return s;
}

function kernelsSection() {
  const list = data.kernels || [], total = list.reduce((n, k) => n + k.total, 0) || 1;
  const columns = [
    ["Kernel", k => [el("b", null, k.name), el("span", { class: "where" }, k.graph ? "graph" : k.source)]],
    ["Share", k => bar(k.total / total, percent(k.total / total)), k => k.total, { style: "text-align:left" }],
    ["Time", k => time(k.total), k => k.total],
    ["Launches", k => number(k.calls), k => k.calls],
    ["Median", k => time(k.median), k => k.median],
    ["Longest", k => time(k.max), k => k.max],
    ["Bandwidth", k => k.bandwidth ? (k.counted ? "" : "≥ ") + rate(k.bandwidth) : "", k => k.bandwidth],
    ["Occupancy", k => k.occupancy ? percent(k.occupancy) : "", k => k.occupancy],
    ["Advice", k => k.advice?.length ? el("span", { class: "badge warn" }, k.advice.length) : "", k => k.advice?.length || 0],
  ];
  return section("kernels", "Hot kernels", "Choose a kernel for its shape, its limits and advice.",
    list.length ? [table(columns, list, kernelDetail, 15), roofline(list)] : empty("No kernel ran."));
}

function kernelDetail(k) {
  const facts = [
    ["grid", k.block[0] ? `${dims(k.grid)} blocks of ${dims(k.block)} threads` : "unknown"],
    ["registers", k.registers || ""], ["shared memory", k.shared ? bytes(k.shared) + " per block" : ""],
    ["times", `${time(k.min)} to ${time(k.max)}`],
    ["occupancy", k.occupancy ? `${percent(k.occupancy)} in theory, limited by ${k.limit}` : ""],
    ["waves", k.waves ? k.waves.toFixed(1) : ""],
    ["moves", k.bytes ? bytes(k.bytes) + (k.counted ? " per launch, counted" : " per launch if it uses each slice once") : ""],
    ["counts", k.note],
    ["computes", k.operations ? scaled(k.operations, 1000, ["FLOP", "kFLOP", "MFLOP", "GFLOP", "TFLOP"]) + " per launch, counted" : ""],
    ["of a copy's speed", k.bandwidth && data.machine?.copyBandwidth ? percent(k.bandwidth / data.machine.copyBandwidth) : ""],
  ].filter(([, v]) => v !== "");
  return el("div", { class: "grid2" },
    el("dl", { class: "facts" }, facts.map(([a, b]) => [el("dt", null, a), el("dd", null, String(b))])),
    el("div", null,
      k.advice?.length ? el("ul", { class: "advice" }, k.advice.map(a => el("li", null, a))) : empty("No advice."),
      k.places?.length ? [el("h3", null, "Launched from"), k.places.map(p => el("div", { class: "mono" }, p))] : null));
}

// roofline plots kernels whose operations were counted below the limits of the device.
function roofline(list) {
  const m = data.machine, points = list.filter(k => k.counted && k.operations > 0 && k.bytes > 0 && k.flops > 0);
  if (!m || !m.copyBandwidth || !m.flops32 || !points.length) return null;
  const w = 760, h = 300, left = 96, bottom = 36;
  const log = Math.log10, xs = points.map(k => k.operations / k.bytes);
  const x0 = Math.floor(log(Math.min(.1, ...xs))), x1 = Math.ceil(log(Math.max(100, ...xs)));
  const y1 = Math.ceil(log(m.flops32)), y0 = Math.min(y1 - 3, Math.floor(log(Math.min(...points.map(k => k.flops)))));
  const x = v => left + (log(v) - x0) / (x1 - x0) * (w - left - 10), y = v => 10 + (y1 - log(v)) / (y1 - y0) * (h - bottom - 10);
  const s = svg("svg", { viewBox: `0 0 ${w} ${h}`, width: w, role: "img", "aria-label": "Roofline" });
  for (let i = x0; i <= x1; i++) s.append(svg("line", { x1: x(10 ** i), x2: x(10 ** i), y1: 10, y2: h - bottom, stroke: "var(--line)" }), svg("text", { x: x(10 ** i), y: h - bottom + 16, "text-anchor": "middle" }, String(+(10 ** i).toPrecision(3))));
  for (let i = y0; i <= y1; i++) s.append(svg("line", { x1: left, x2: w - 10, y1: y(10 ** i), y2: y(10 ** i), stroke: "var(--line)" }), svg("text", { x: left - 8, y: y(10 ** i) + 4, "text-anchor": "end" }, flops(10 ** i).replace(".00", "")));
  const knee = m.flops32 / m.copyBandwidth, low = Math.max(10 ** x0, 10 ** y0 / m.copyBandwidth);
  s.append(svg("path", { d: `M${x(low)},${y(low * m.copyBandwidth)} L${x(knee)},${y(m.flops32)} L${x(10 ** x1)},${y(m.flops32)}`, fill: "none", stroke: "var(--accent)", "stroke-width": 2 }),
    svg("text", { x: w / 2, y: h - 4, "text-anchor": "middle" }, "floating-point operations per byte of memory traffic"));
  for (const k of points) {
    const p = svg("circle", { cx: x(k.operations / k.bytes), cy: y(k.flops), r: 5, fill: `hsl(${hueOf(k.name)} 55% 48%)` });
    p.append(svg("title", {}, `${k.name}: ${flops(k.flops)}, ${rate(k.bandwidth)}`));
    s.append(p, svg("text", { x: x(k.operations / k.bytes) + 8, y: y(k.flops) + 4 }, k.name));
  }
  return [el("h3", null, "Roofline"), el("p", { class: "hint" }, "Below the line: the measured limits of the device, copies and float32 multiplications with additions."), s];
}

function linesSection() {
  const list = (data.lines || []).filter(l => l.cpu || l.gpu || l.waiting || l.launches || l.copied);
  const most = Math.max(1, ...list.map(l => Math.max(l.cpu, l.gpu)));
  const columns = [
    ["CPU", l => l.cpu ? bar(l.cpu / most, time(l.cpu), "cpu") : "", l => l.cpu],
    ["GPU", l => l.gpu ? bar(l.gpu / most, time(l.gpu)) : "", l => l.gpu, { style: "text-align:left" }],
    ["Line", l => [l.text ? el("code", null, l.text) : el("b", null, l.function), el("span", { class: "where" }, l.text ? `${l.function} (${l.file}:${l.line})` : `${l.file}:${l.line}`)]],
    ["Waiting", l => l.waiting ? time(l.waiting) : "", l => l.waiting],
    ["Launches", l => l.launches ? number(l.launches) : "", l => l.launches],
    ["Copied", l => l.copied ? bytes(l.copied) : "", l => l.copied],
  ];
  return section("lines", "Hot lines", "Time of the CPU beside time of the device's work that a line asked for.",
    list.length ? table(columns, list) : empty("No line was recorded."));
}

function copiesSection() {
  const trips = data.trips || [], copies = data.copies || [];
  const parts = [];
  if (trips.length) parts.push(el("h3", null, "Needless copies"), el("p", { class: "hint" }, "The host memory and the sampled data were the same as in the copy before."),
    table([
      ["What", t => el("span", { class: "badge warn" }, t.kind)],
      ["First copy", t => el("span", { class: "mono" }, t.from)],
      ["Copied again", t => el("span", { class: "mono" }, t.to)],
      ["Times", t => number(t.count), t => t.count],
      ["Bytes", t => bytes(t.bytes), t => t.bytes],
      ["Device time", t => time(t.time), t => t.time],
    ], trips), el("h3", null, "All copies"));
  parts.push(copies.length ? table([
    ["Copy", c => c.kind],
    ["Line", c => [el("span", { class: "mono" }, c.place), c.advice ? el("span", { class: "where warn-text" }, c.advice) : null]],
    ["Times", c => number(c.count), c => c.count],
    ["Bytes", c => bytes(c.bytes), c => c.bytes],
    ["Device time", c => time(c.device), c => c.device],
    ["Rate", c => c.device ? rate(c.bytes / c.device * 1e9) : "", c => c.device ? c.bytes / c.device : 0],
    ["Host time", c => time(c.host), c => c.host],
  ], copies) : empty("Nothing was copied."));
  return section("copies", "Copies", "", parts);
}

function gapsSection() {
  const gaps = data.gaps || [];
  if (!gaps.length) return section("gaps", "Gaps", "", empty("The device was never idle between its first and its last work."));
  return section("gaps", "Gaps", "When a device had nothing to do. Choose a gap to see it in the timeline.",
    table([
      ["Idle", g => time(g.duration), g => g.duration],
      ["At", g => time(g.start), g => g.start],
      ["Device", g => g.process],
      ["The host was in", g => g.host],
      ["Between", g => `${g.after} and ${g.before}`],
      ["Next asked for by", g => el("span", { class: "mono" }, g.place)],
    ], gaps, g => {
      view?.reveal(g.start, g.duration);
      return el("button", { type: "button", onclick: () => { view?.reveal(g.start, g.duration); byId("timeline").scrollIntoView(); view?.canvas.focus({ preventScroll: true }); } }, "Show in the timeline");
    }, 10));
}

function memorySection() {
  const list = data.memory || [];
  if (!list.length) return section("memory", "Memory", "", empty("No device memory was allocated."));
  return section("memory", "Memory", "", list.map(m => [
    list.length > 1 ? el("h3", null, m.process) : null,
    memoryChart(m),
    table([
      ["Line", a => [el("span", { class: "mono" }, a.place || "unknown"), a.pool ? el("span", { class: "where" }, "kept by a pool") : null]],
      ["At the peak", a => bytes(a.atPeak), a => a.atPeak],
      ["Allocations", a => number(a.count), a => a.count],
      ["Allocated", a => bytes(a.bytes), a => a.bytes],
      ["Not freed", a => a.leaks ? (a.pool ? bytes(a.left) : el("span", { class: "badge warn" }, `${bytes(a.left)} in ${number(a.leaks)}`)) : "", a => a.left],
    ], m.places)]));
}

function memoryChart(m) {
  const w = 1400, h = 150, left = 70, points = m.points.concat([[data.duration, m.points[m.points.length - 1][1]]]);
  const x = t => left + t / Math.max(1, data.duration) * (w - left - 8), y = v => 12 + (1 - v / m.peak) * (h - 34);
  let d = `M${x(points[0][0]).toFixed(1)},${y(0)}`, before = 0;
  for (const [t, v] of points) { d += ` L${x(t).toFixed(1)},${y(before).toFixed(1)} L${x(t).toFixed(1)},${y(v).toFixed(1)}`; before = v; }
  const s = svg("svg", { viewBox: `0 0 ${w} ${h}`, width: "100%", role: "img", "aria-label": `Memory of ${m.process}: at most ${bytes(m.peak)}` });
  for (const v of [0, m.peak / 2, m.peak]) s.append(svg("line", { x1: left, x2: w - 8, y1: y(v), y2: y(v), stroke: "var(--line)" }), svg("text", { x: left - 8, y: y(v) + 4, "text-anchor": "end" }, bytes(v)));
  s.append(svg("path", { d: d + ` L${x(data.duration)},${y(0)} Z`, fill: "var(--accent)", "fill-opacity": .18 }), svg("path", { d, fill: "none", stroke: "var(--accent)", "stroke-width": 1.5 }),
    svg("text", { x: left, y: h - 4 }, "0"), svg("text", { x: w - 8, y: h - 4, "text-anchor": "end" }, time(data.duration)));
  return s;
}

function sourceSection() {
  const list = data.listings || [];
  if (!list.length) return null;
  const place = el("div");
  const choice = el("select", { "aria-label": "Kernel", onchange: () => place.replaceChildren(listing(list[choice.selectedIndex])) },
    list.map(l => el("option", null, l.kernel)));
  place.append(listing(list[0]));
  const s = section("source", "Lines of kernels", "Counted on the simulator: what warps executed, and what their accesses touched.", place);
  s.firstChild.append(el("span", { class: "spacer" }), choice);
  return s;
}

function listing(l) {
  const t = l.total;
  const cell = (text, alert) => el("td", { class: "n" + (alert ? " alert" : "") }, text);
  const rows = l.files.map(f => [
    el("tr", null, el("th", { colspan: 8, scope: "rowgroup", style: "padding-top:10px" }, f.name)),
    f.lines.map((line, i) => {
      const c = line.count, quiet = !c.instructions, share = c.instructions / Math.max(1, t.instructions);
      const gap = i > 0 && line.number > f.lines[i - 1].number + 1 ? el("tr", { class: "quiet" }, el("td", { colspan: 7 }), el("td", { class: "code" }, "…")) : null;
      return [gap, el("tr", { class: quiet ? "quiet" : null },
        el("td", { class: "n heat", style: `--w:${(100 * share).toFixed(1)}%` }, quiet ? "" : percent(share)),
        cell(quiet ? "" : scaled(c.instructions, 1000, ["", "k", "M", "G"]).replace(" ", "")),
        cell(quiet ? "" : (c.lanes / c.instructions).toFixed(1), c.lanes < .7 * 32 * c.instructions),
        cell(c.branches ? percent(c.diverged / c.branches) : "", c.diverged > .3 * c.branches),
        cell(c.loads ? (c.sectors / c.loads).toFixed(1) : "", c.sectors > 1.5 * c.least),
        cell(c.shared ? (c.passes / c.fewest).toFixed(1) : "", c.passes > 1.5 * c.fewest),
        el("td", { class: "no" }, line.number || ""), el("td", { class: "code" }, line.text || ""))];
    })]);
  return el("div", null,
    el("p", { class: "hint" }, `${some(l.launches, "launch")}, ${some(l.threads, "thread")}, ${some(t.instructions, "warp instruction")} with ${(t.lanes / Math.max(1, t.instructions)).toFixed(1)} of 32 lanes active`),
    el("div", { class: "scroll" }, el("table", { class: "listing" },
      el("thead", null, el("tr", null, ["Share", "Warp ops", "Lanes", "Diverged", "Sectors", "Bank passes", "Line", ""].map((h, i) => el("th", { class: i < 7 ? "n" : null, scope: "col" }, h)))),
      el("tbody", null, rows.flat(3)))),
    el("p", { class: "hint" }, "Lanes: active ones of a warp's 32. Diverged: branches at which lanes went different ways. Sectors: 32-byte pieces of global memory per access; 4 are best for 4-byte elements. Bank passes: 1.0 has no conflicts."));
}
