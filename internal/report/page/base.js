"use strict";
// Small functions that the rest uses.
const data = JSON.parse(document.getElementById("data").textContent);
const byId = id => document.getElementById(id);

// el makes an element. Attributes whose names begin with "on" are listeners.
function el(tag, attributes, ...children) {
  const e = document.createElement(tag);
  for (const [k, v] of Object.entries(attributes || {})) {
    if (v === null || v === undefined || v === false) continue;
    if (k.startsWith("on")) e.addEventListener(k.slice(2), v);
    else e.setAttribute(k, v === true ? "" : v);
  }
  e.append(...children.flat(Infinity).filter(c => c !== null && c !== undefined && c !== ""));
  return e;
}
function svg(tag, attributes, ...children) {
  const e = document.createElementNS("http://www.w3.org/2000/svg", tag);
  for (const [k, v] of Object.entries(attributes || {})) e.setAttribute(k, v);
  e.append(...children);
  return e;
}
const css = name => getComputedStyle(document.documentElement).getPropertyValue(name).trim();

function digits(v) { return v >= 100 ? v.toFixed(0) : v >= 10 ? v.toFixed(1) : v.toFixed(2); }
function time(ns) {
  const a = Math.abs(ns);
  if (a < 1000) return Math.round(ns) + " ns";
  if (a < 1e6) return digits(ns / 1e3) + " µs";
  if (a < 1e9) return digits(ns / 1e6) + " ms";
  return digits(ns / 1e9) + " s";
}
function scaled(v, step, units) {
  let i = 0;
  while (v >= step && i < units.length - 1) { v /= step; i++; }
  return (i === 0 ? Math.round(v) : digits(v)) + " " + units[i];
}
const bytes = n => scaled(n, 1024, ["B", "KiB", "MiB", "GiB", "TiB"]);
const rate = n => scaled(n, 1000, ["B/s", "kB/s", "MB/s", "GB/s", "TB/s"]);
const flops = n => scaled(n, 1000, ["FLOP/s", "kFLOP/s", "MFLOP/s", "GFLOP/s", "TFLOP/s"]);
const number = n => n.toLocaleString("en-US");
const percent = v => (100 * v).toFixed(v < 0.0995 ? 1 : 0) + " %";
const some = (n, noun) => number(n) + " " + noun + (n === 1 ? "" : noun.endsWith("ch") ? "es" : "s");
const dims = d => d.filter((v, i) => i === 0 || v > 1 || d.slice(i).some(w => w > 1)).join(" × ");

// Kinds of events; see trace.Kind.
const KERNEL = 0, GRAPH = 1, COPY_IN = 2, FILL = 6, WAIT = 7, CALL = 8, SECTION = 9, SPAN = 10, MARK = 11;
const kinds = ["kernel", "graph", "copy in", "copy out", "copy", "peer copy", "fill", "wait", "driver call", "section", "actor", "mark"];
const hues = [172, 214, 262, 330, 12, 84, 140, 192, 236, 296, 350, 48];
function hueOf(name) {
  let h = 0;
  for (const c of name) h = (h * 31 + c.codePointAt(0)) >>> 0;
  return hues[h % hues.length];
}

// table makes a table whose columns sort. A column is [title, cell(row), key(row) or null for
// text, attributes]. detail(row), if given, makes what is shown below a row when it is chosen.
function table(columns, rows, detail, limit = 25) {
  let order = null, down = true, all = false;
  const body = el("tbody");
  const heads = columns.map(([title, , key, more], i) => {
    const th = el("th", { class: key ? "n" : null, scope: "col", ...more });
    th.append(key ? el("button", { type: "button", onclick: () => { down = order === i ? !down : true; order = i; fill(); } }, title) : title);
    return th;
  });
  function fill() {
    const list = [...rows];
    if (order !== null) {
      const key = columns[order][2];
      list.sort((a, b) => (down ? 1 : -1) * (key(b) - key(a)));
    }
    heads.forEach((th, i) => i === order ? th.setAttribute("aria-sort", down ? "descending" : "ascending") : th.removeAttribute("aria-sort"));
    body.replaceChildren();
    for (const row of all ? list : list.slice(0, limit)) {
      const tr = el("tr", detail ? { tabindex: 0, "aria-expanded": "false" } : null,
        columns.map(([, cell, key, more]) => el("td", { class: key ? "n" : null, ...more }, cell(row))));
      if (detail) {
        const toggle = () => {
          if (tr.nextSibling?.classList.contains("detail")) { tr.nextSibling.remove(); tr.classList.remove("open"); tr.setAttribute("aria-expanded", "false"); return; }
          tr.classList.add("open");
          tr.setAttribute("aria-expanded", "true");
          tr.after(el("tr", { class: "detail" }, el("td", { colspan: columns.length }, detail(row))));
        };
        tr.addEventListener("click", toggle);
        tr.addEventListener("keydown", e => { if (e.key === "Enter" || e.key === " ") { e.preventDefault(); toggle(); } });
        tr.toggle = toggle;
      }
      body.append(tr);
    }
    if (list.length > limit)
      body.append(el("tr", null, el("td", { colspan: columns.length },
        el("button", { type: "button", onclick: () => { all = !all; fill(); } }, all ? "Show fewer" : `Show all ${number(list.length)}`))));
  }
  fill();
  return el("div", { class: "scroll" }, el("table", null, el("thead", null, el("tr", null, heads)), body));
}

function section(id, title, hint, ...content) {
  return el("section", { class: "card", id, "aria-labelledby": id + "-title" },
    el("header", null, el("h2", { id: id + "-title" }, title), hint ? el("p", { class: "hint" }, hint) : null), content);
}
const empty = text => el("p", { class: "empty" }, text);
function bar(share, text, kind) {
  return el("div", { class: "bar " + (kind || "") }, el("i", { style: `width:${(90 * Math.min(1, share)).toFixed(1)}px` }), el("span", null, text));
}
