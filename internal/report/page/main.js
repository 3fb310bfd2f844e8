"use strict";
// Puts the sections on the page, and handles what belongs to the whole page.
const sections = [["overview", "Overview", overview], ["timeline", "Timeline", timelineSection], ["kernels", "Kernels", kernelsSection],
  ["lines", "Lines", linesSection], ["copies", "Copies", copiesSection], ["gaps", "Gaps", gapsSection], ["memory", "Memory", memorySection], ["source", "Source", sourceSection]];
const shown = [];

byId("title").textContent = data.title;
byId("subtitle").textContent = [data.devices?.map(d => d.name).join(", "), data.created, data.go].filter(Boolean).join(" · ");
byId("subtitle").title = data.command;
for (const [id, title, make] of sections) {
  const e = make();
  if (!e) continue;
  byId("content").append(e);
  const link = el("a", { href: "#" + id }, title);
  byId("nav").append(link);
  shown.push({ id, e, link });
}

// The theme is that of the system until the reader chooses another.
const dark = matchMedia("(prefers-color-scheme: dark)");
let chosen = null;
try { chosen = localStorage.getItem("quern-theme"); } catch { /* files may have no storage */ }
function applyTheme() {
  const theme = chosen || (dark.matches ? "dark" : "light");
  document.documentElement.dataset.theme = theme;
  byId("theme").textContent = theme === "dark" ? "Light" : "Dark";
  view?.draw();
}
function switchTheme() {
  chosen = document.documentElement.dataset.theme === "dark" ? "light" : "dark";
  try { localStorage.setItem("quern-theme", chosen); } catch { /* it lasts until the page is closed */ }
  applyTheme();
}
dark.addEventListener("change", applyTheme);
byId("theme").addEventListener("click", switchTheme);
applyTheme();

const keys = [["1 … " + shown.length, "go to a section"], ["t", "light or dark"], ["/", "find an event of the timeline"], ["?", "this list"],
  ["← →", "timeline: move"], ["+ −", "timeline: zoom"], ["0", "timeline: show all"], ["n p", "timeline: next, previous event"], ["Enter", "timeline: zoom to the chosen event; tables: open a row"]];
const dialog = byId("keys");
dialog.append(el("h2", { id: "keys-title" }, "Keyboard"), el("dl", { class: "facts", style: "margin:14px 0" }, keys.map(([k, what]) => [el("dt", null, k.split(" ").map(x => x === "…" ? " … " : [el("kbd", null, x), " "]).flat()), el("dd", null, what)])),
  el("form", { method: "dialog" }, el("button", null, "Close")));
byId("help").addEventListener("click", () => dialog.showModal());

document.addEventListener("keydown", e => {
  if (e.ctrlKey || e.metaKey || e.altKey || e.target.matches("input, select, textarea") || dialog.open) return;
  if (e.target === view?.canvas && "0+-=".includes(e.key)) return;
  const at = Number(e.key);
  if (at >= 1 && at <= shown.length) {
    shown[at - 1].e.scrollIntoView();
    if (shown[at - 1].id === "timeline") view?.canvas.focus({ preventScroll: true });
  } else if (e.key === "t") switchTheme();
  else if (e.key === "?") dialog.showModal();
  else if (e.key === "/") { e.preventDefault(); byId("timeline").scrollIntoView(); document.querySelector("#timeline input")?.focus(); }
});

function mark() {
  let current = shown[0];
  for (const s of shown) if (s.e.getBoundingClientRect().top < innerHeight * .35) current = s;
  for (const s of shown) s.link.classList.toggle("on", s === current);
}
addEventListener("scroll", mark, { passive: true });
mark();
