"use strict";
// The timeline: a canvas with a row of time, an overview, and a lane per track.
const ROW = 18, GAP = 6, HEAD = 26, OVERVIEW = 40, GUTTER = 190;

class TimelineView {
  constructor(timeline, duration) {
    this.t = timeline;
    this.full = Math.max(1, duration);
    this.from = 0;
    this.to = this.full;
    this.query = "";
    this.picked = null;
    this.canvas = el("canvas", { tabindex: 0, role: "application", "aria-label": "Timeline. Arrow keys move, plus and minus zoom, 0 shows all, n and p choose the next and the previous event." });
    this.info = el("div", { id: "picked", "aria-live": "polite" });
    this.layout();
    this.listen();
    new ResizeObserver(() => this.draw()).observe(this.canvas);
  }

  layout() {
    let y = OVERVIEW + HEAD;
    this.lanes = this.t.tracks.map(track => {
      const lane = { track, y, height: track.depth * ROW };
      y += lane.height + GAP;
      return lane;
    });
    this.height = y + 2;
    this.canvas.style.height = this.height + "px";
  }

  listen() {
    const c = this.canvas;
    let drag = null;
    const at = e => this.from + (e.offsetX - GUTTER) / this.width * (this.to - this.from);
    c.addEventListener("wheel", e => {
      if (!(e.ctrlKey || e.metaKey || e.shiftKey || document.activeElement === c)) return;
      e.preventDefault();
      if (e.shiftKey) this.pan((e.deltaY || e.deltaX) / 600);
      else this.zoom(Math.exp(Math.max(-200, Math.min(200, e.deltaY)) / 300), at(e));
    }, { passive: false });
    c.addEventListener("pointerdown", e => {
      c.setPointerCapture(e.pointerId);
      c.focus({ preventScroll: true });
      drag = { x: e.offsetX, y: e.offsetY, from: this.from, to: this.to, moved: false, overview: e.offsetY < OVERVIEW };
      if (drag.overview) this.center((e.offsetX - GUTTER) / this.width * this.full);
    });
    c.addEventListener("pointermove", e => {
      if (drag) {
        const dx = e.offsetX - drag.x;
        drag.moved ||= Math.abs(dx) > 3;
        if (drag.overview) this.center((e.offsetX - GUTTER) / this.width * this.full);
        else if (drag.moved) this.show(drag.from - dx / this.width * (drag.to - drag.from), drag.to - dx / this.width * (drag.to - drag.from));
        return;
      }
      this.tip(e);
    });
    c.addEventListener("pointerup", e => {
      if (drag && !drag.moved && !drag.overview) this.pick(this.hit(e.offsetX, e.offsetY));
      drag = null;
    });
    c.addEventListener("pointerleave", () => { byId("tip").hidden = true; });
    c.addEventListener("dblclick", e => { const hit = this.hit(e.offsetX, e.offsetY); if (hit) this.reveal(hit.row[0], hit.row[1]); });
    c.addEventListener("keydown", e => {
      if (e.ctrlKey || e.metaKey || e.altKey) return;
      const middle = (this.from + this.to) / 2;
      const keys = {
        ArrowLeft: () => this.pan(-.2), a: () => this.pan(-.2), ArrowRight: () => this.pan(.2), d: () => this.pan(.2),
        "+": () => this.zoom(.6, middle), "=": () => this.zoom(.6, middle), w: () => this.zoom(.6, middle),
        "-": () => this.zoom(1 / .6, middle), s: () => this.zoom(1 / .6, middle),
        0: () => this.show(0, this.full), Home: () => this.show(0, this.to - this.from), End: () => this.show(this.full - (this.to - this.from), this.full),
        n: () => this.step(1), p: () => this.step(-1), Enter: () => this.picked && this.reveal(this.picked.row[0], this.picked.row[1]),
        Escape: () => this.pick(null),
      };
      if (!keys[e.key]) return;
      e.preventDefault();
      keys[e.key]();
    });
  }

  get width() { return Math.max(50, this.canvas.clientWidth - GUTTER - 8); }
  x(t) { return GUTTER + (t - this.from) / (this.to - this.from) * this.width; }

  show(from, to) {
    const span = Math.max(200, Math.min(this.full, to - from));
    this.from = Math.max(0, Math.min(this.full - span, from));
    this.to = this.from + span;
    this.draw();
  }
  zoom(factor, at) { this.show(at - (at - this.from) * factor, at + (this.to - at) * factor); }
  pan(share) { const d = share * (this.to - this.from); this.show(this.from + d, this.to + d); }
  center(t) { const half = (this.to - this.from) / 2; this.show(t - half, t + half); }
  reveal(start, duration) { this.show(start - duration * .6, start + duration * 1.6); }

  // step chooses the next event of the chosen one's lane and level, or the first that is visible.
  step(by) {
    const lane = this.picked?.lane ?? this.lanes[0];
    if (!lane) return;
    const rows = lane.track.rows;
    let i = this.picked ? rows.indexOf(this.picked.row) + by : this.first(rows);
    if (i < 0 || i >= rows.length) return;
    this.pick({ lane, row: rows[i] });
    const [start, duration] = rows[i];
    if (start < this.from || start + duration > this.to) this.center(start + duration / 2);
  }

  // first returns the index of the first row that does not begin before the visible time.
  first(rows) {
    let lo = 0, hi = rows.length;
    while (lo < hi) { const m = (lo + hi) >> 1; if (rows[m][0] < this.from) lo = m + 1; else hi = m; }
    return Math.min(lo, rows.length - 1);
  }

  hit(x, y) {
    for (const lane of this.lanes) {
      if (y < lane.y || y >= lane.y + lane.height || x < GUTTER) continue;
      const level = Math.floor((y - lane.y) / ROW);
      let best = null;
      for (const row of lane.track.rows) {
        if (row[4] !== level) continue;
        const left = this.x(row[0]), right = Math.max(left + 2, this.x(row[0] + row[1]));
        if (x >= left - 1 && x <= right + 1) best = row;
        if (left > x + 1) break;
      }
      return best && { lane, row: best };
    }
    return null;
  }

  describe({ lane, row }) {
    const [, duration, name, kind, , place, size, , n, busy] = row;
    const title = n > 1 ? `${number(n)} events, mostly ${this.t.names[name]}` : this.t.names[name];
    const lines = [n > 1 ? `${time(busy)} busy within ${time(duration)}` : kind === MARK ? "" : time(duration), kinds[kind] + " on " + lane.track.process + ", " + lane.track.thread];
    lines.push("at " + time(row[0]));
    if (size > 0) lines.push(bytes(size) + (kind !== KERNEL && duration > 0 && lane.track.device ? ", " + rate(size / duration * 1e9) : ""));
    if (place) lines.push(this.t.places[place]);
    return [title, ...lines.filter(Boolean)];
  }

  tip(e) {
    const hit = this.hit(e.offsetX, e.offsetY), tip = byId("tip");
    tip.hidden = !hit;
    if (!hit) return;
    const [title, ...lines] = this.describe(hit);
    tip.replaceChildren(el("b", null, title), ...lines.map(l => el("div", { class: "soft" }, l)));
    tip.style.left = Math.min(e.clientX + 14, innerWidth - tip.offsetWidth - 8) + "px";
    tip.style.top = Math.min(e.clientY + 14, innerHeight - tip.offsetHeight - 8) + "px";
  }

  pick(hit) {
    this.picked = hit;
    this.info.replaceChildren();
    if (hit) {
      const [title, ...lines] = this.describe(hit);
      this.info.append(el("b", null, title), ...lines.map(l => el("span", { class: "soft" }, l)));
    }
    this.draw();
  }

  search(text) { this.query = text.toLowerCase(); this.draw(); }

  color(row) {
    const kind = row[3];
    if (kind <= GRAPH) {
      const dark = document.documentElement.dataset.theme === "dark";
      return `hsl(${hueOf(this.t.names[row[2]].replace(/^launch /, ""))} ${dark ? "48% 44%" : "58% 46%"})`;
    }
    return kind <= FILL ? this.colors.copy : kind === WAIT ? this.colors.wait : kind === SECTION ? this.colors.section : kind === SPAN ? this.colors.cpu : this.colors.call;
  }

  draw() {
    cancelAnimationFrame(this.frame);
    this.frame = requestAnimationFrame(() => this.paint());
  }

  paint() {
    const c = this.canvas, scale = devicePixelRatio || 1, w = c.clientWidth;
    if (w === 0) return;
    c.width = w * scale;
    c.height = this.height * scale;
    const g = c.getContext("2d");
    g.scale(scale, scale);
    this.colors = { copy: css("--copy"), wait: css("--wait"), cpu: css("--cpu"), call: css("--faint"), section: css("--accent"), text: css("--text"), soft: css("--soft"), line: css("--line"), card: css("--card"), hover: css("--hover"), gpu: css("--gpu") };
    g.fillStyle = this.colors.card;
    g.fillRect(0, 0, w, this.height);
    g.font = "11px system-ui, -apple-system, 'Segoe UI', Roboto, sans-serif";
    g.textBaseline = "middle";
    this.overview(g);
    this.axis(g, w);
    for (const lane of this.lanes) this.lane(g, lane, w);
  }

  overview(g) {
    const n = Math.max(1, Math.floor(this.width / 2)), bins = new Float64Array(n);
    for (const { track } of this.lanes) {
      if (!track.device) continue;
      for (const row of track.rows) {
        if (row[3] > FILL) continue;
        const density = Math.min(1, row[9] / Math.max(1, row[1]));
        const a = row[0] / this.full * n, b = Math.max(a, (row[0] + row[1]) / this.full * n);
        for (let i = Math.floor(a); i <= b && i < n; i++) bins[i] += density * Math.max(0, Math.min(i + 1, b) - Math.max(i, a));
      }
    }
    g.fillStyle = this.colors.gpu;
    for (let i = 0; i < n; i++) {
      const h = Math.min(1, bins[i]) * (OVERVIEW - 12);
      if (bins[i] > 0) g.fillRect(GUTTER + i * 2, OVERVIEW - 4 - Math.max(1, h), 2, Math.max(1, h));
    }
    const left = GUTTER + this.from / this.full * this.width, right = GUTTER + this.to / this.full * this.width;
    g.fillStyle = this.colors.section;
    g.globalAlpha = .14;
    g.fillRect(left, 2, Math.max(2, right - left), OVERVIEW - 4);
    g.globalAlpha = 1;
    g.fillRect(left, 2, 1.5, OVERVIEW - 4);
    g.fillRect(Math.max(left + 2, right) - 1.5, 2, 1.5, OVERVIEW - 4);
    g.fillStyle = this.colors.soft;
    g.fillText("device busy", 12, OVERVIEW / 2);
  }

  axis(g, w) {
    const span = this.to - this.from;
    let step = Math.pow(10, Math.floor(Math.log10(span / (this.width / 90))));
    for (const m of [1, 2, 5, 10]) if (span / (step * m) <= this.width / 90) { step *= m; break; }
    g.fillStyle = this.colors.soft;
    g.strokeStyle = this.colors.line;
    g.beginPath();
    g.moveTo(0, OVERVIEW + .5); g.lineTo(w, OVERVIEW + .5);
    for (let t = Math.ceil(this.from / step) * step; t <= this.to; t += step) {
      const x = Math.round(this.x(t)) + .5;
      g.moveTo(x, OVERVIEW + HEAD - 6); g.lineTo(x, this.height);
      g.fillText(t === 0 ? "0" : axisTime(t, step), x + 3, OVERVIEW + HEAD / 2 - 1);
    }
    g.stroke();
  }

  lane(g, lane, w) {
    const { track, y, height } = lane, c = this.colors;
    g.strokeStyle = c.line;
    g.beginPath(); g.moveTo(0, y - GAP / 2 + .5); g.lineTo(w, y - GAP / 2 + .5); g.stroke();
    g.save();
    g.beginPath(); g.rect(0, y, GUTTER - 8, height); g.clip();
    g.fillStyle = c.text;
    g.fillText(track.device ? track.process : track.thread, 12, y + ROW / 2);
    const first = g.measureText(track.device ? track.process : track.thread).width;
    g.fillStyle = c.soft;
    if (track.device) g.fillText(track.thread, 12 + first + 8, y + ROW / 2);
    g.restore();
    g.save();
    g.beginPath(); g.rect(GUTTER, y, w - GUTTER, height); g.clip();
    const last = new Float64Array(8).fill(-1); // right edge of what is drawn, by level
    for (const row of track.rows) {
      if (row[0] > this.to) break;
      if (row[0] + row[1] < this.from) continue;
      const left = this.x(row[0]), right = this.x(row[0] + row[1]), level = row[4], top = y + level * ROW;
      if (right < last[level] + .3 && row !== this.picked?.row) continue; // nothing to be seen
      const width = Math.max(1, right - left);
      last[level] = left + width;
      const dim = this.query && !this.t.names[row[2]].toLowerCase().includes(this.query);
      g.globalAlpha = dim ? .15 : row[8] > 1 ? .35 + .65 * Math.min(1, row[9] / Math.max(1, row[1])) : row[3] === SECTION ? .55 : 1;
      g.fillStyle = this.color(row);
      if (row[3] === MARK) { g.fillRect(left - 1, top + 1, 2, ROW - 3); continue; }
      g.fillRect(left, top + 1, Math.max(1, width - (width > 4 ? .7 : 0)), ROW - 3);
      g.globalAlpha = dim ? .3 : 1;
      if (width > 34) {
        g.save();
        g.beginPath(); g.rect(Math.max(left, GUTTER), top, width - 4, ROW); g.clip();
        g.fillStyle = row[3] === WAIT || row[3] === SECTION ? c.text : "#fff";
        g.fillText((row[8] > 1 ? number(row[8]) + " × " : "") + this.t.names[row[2]], Math.max(left, GUTTER) + 5, top + ROW / 2);
        g.restore();
      }
      if (row === this.picked?.row) { g.strokeStyle = c.text; g.lineWidth = 2; g.strokeRect(left, top + 1, width, ROW - 3); g.lineWidth = 1; }
    }
    g.restore();
    g.globalAlpha = 1;
  }
}

// axisTime writes a time with as many digits as the step needs.
function axisTime(t, step) {
  const [unit, name] = t >= 1e9 ? [1e9, " s"] : t >= 1e6 ? [1e6, " ms"] : t >= 1e3 ? [1e3, " µs"] : [1, " ns"];
  return (t / unit).toFixed(Math.max(0, Math.min(6, Math.ceil(-Math.log10(step / unit) - 1e-9)))) + name;
}
