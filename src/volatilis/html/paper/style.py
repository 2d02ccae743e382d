"""How the report looks beyond what all pages share (STYLE), and what it does on a click (SCRIPT)."""

STYLE = """
.page { max-width: 84rem; margin: 0 auto; padding: 0 2.5rem 4rem; }
.page > nav { min-width: 0; }
main { min-width: 0; }
header { padding: 3.5rem 0 1.8rem; border-bottom: 1px solid var(--line); margin-bottom: 1rem; }
.subtitle { font: 1.2rem/1.5 var(--serif); color: var(--soft); margin: 0.8rem 0 0; max-width: 60ch; }
section { padding: 2.2rem 0 1rem; }
section > h2 { margin-bottom: 1rem; }

nav { font-size: 0.875rem; line-height: 1.35; }
nav ul { list-style: none; margin: 0; padding: 0; }
nav a { display: block; padding: 0.32rem 0.8rem; color: var(--soft); text-decoration: none; border-left: 2px solid var(--line); }
nav a:hover { color: var(--accent); }
nav a[aria-current] { color: var(--accent); border-left-color: var(--accent); font-weight: 600; }
nav ul ul a { padding-left: 1.6rem; font-size: 0.8rem; }
.contents { margin: 0 0 0.6rem; padding-left: 0.9rem; font-weight: 700; color: var(--ink); }
@media screen and (min-width: 68rem) {
  .page { display: grid; grid-template-columns: 15rem minmax(0, 1fr); column-gap: 3.5rem; }
  .page > nav { position: sticky; top: 0; align-self: start; max-height: 100vh; overflow-y: auto; padding: 3.5rem 0 2rem; }
  .jump { display: none; }
}
@media screen and (max-width: 67.99rem) {
  html { scroll-padding-top: 4rem; }
  .page { padding: 0 1.5rem 3rem; }
  header { padding-top: 2rem; }
  .page > nav { position: sticky; top: 0; z-index: 5; margin: 0 -1.5rem; padding: 0 0.9rem;
    background: var(--paper); border-bottom: 1px solid var(--line); overflow-x: auto; scrollbar-width: none; }
  .page > nav::-webkit-scrollbar { display: none; }
  .contents, nav ul ul { display: none; }
  nav > ul { display: flex; width: max-content; }
  nav > ul > li > a { border-left: 0; border-bottom: 3px solid transparent; padding: 0.85rem 0.7rem 0.7rem; white-space: nowrap; }
  nav a[aria-current] { border-bottom-color: var(--accent); }
}

.lead { list-style: none; margin: 1.6rem 0 0; padding: 0; max-width: 74ch; font-size: 1.06rem; }
.lead li { padding: 0.55rem 0 0.55rem 1.5rem; position: relative; }
.lead li::before { content: ""; position: absolute; left: 0.1rem; top: 1.15rem; width: 0.75rem; height: 2px;
  background: var(--accent); }
.tally { list-style: none; margin: 0; padding: 0; display: grid; gap: 0.8rem; grid-template-columns: repeat(4, minmax(0, 1fr)); }
.tally a { display: grid; grid-template-columns: auto 1fr; gap: 0 0.7rem; align-items: center; align-content: start;
  height: 100%; padding: 0.9rem 1rem; border-radius: 0.7rem; text-decoration: none; border: 1px solid transparent; }
.tally a:hover { border-color: currentColor; }
.tally b { font: 700 2.1rem/1 var(--serif); font-variant-numeric: lining-nums; }
.tally svg { width: 1.3rem; height: 1.3rem; justify-self: end; }
.tally span { grid-column: 1 / -1; font-size: 0.87rem; line-height: 1.35; margin-top: 0.45rem; }
.share { display: block; width: 100%; height: 0.6rem; border-radius: 0.3rem; margin-top: 0.8rem; background: var(--sunken); }
.holds { color: var(--good); background: var(--good-back); }
.partly { color: var(--partly); background: var(--partly-back); }
.fails { color: var(--bad); background: var(--bad-back); }
.open { color: var(--open); background: var(--open-back); }
svg .holds, svg .partly, svg .fails, svg .open { fill: currentColor; }
.badge { display: inline-flex; align-items: flex-start; gap: 0.4rem; padding: 0.28rem 0.65rem 0.28rem 0.5rem;
  border-radius: 0.6rem; font-size: 0.83rem; font-weight: 650; line-height: 1.3; }
.badge svg { width: 1rem; height: 1rem; flex: none; margin-top: 0.04rem; }

.filter { display: flex; flex-wrap: wrap; gap: 0.5rem; align-items: center; margin: 0 0 1rem; }
.filter button, .filter input { font: inherit; font-size: 0.87rem; color: var(--ink); background: var(--raised);
  border: 1px solid var(--line); border-radius: 2rem; padding: 0.4rem 0.85rem; min-height: 2.4rem; }
.filter button { cursor: pointer; display: inline-flex; align-items: center; gap: 0.4rem; }
.filter svg { width: 0.95rem; height: 0.95rem; flex: none; }
.filter button:hover { border-color: var(--accent); }
.filter button[aria-pressed="true"] {
  background: var(--accent); border-color: var(--accent); color: var(--paper); font-weight: 600;
}
.filter button span { opacity: 0.75; font-variant-numeric: tabular-nums; }
.filter label { flex: 0 1 22rem; }
.filter input { width: 100%; }
.filter output { flex: 1 1 12rem; color: var(--soft); font-size: 0.87rem; }

.claims { table-layout: fixed; }
.claims thead th { position: sticky; top: 0; background: var(--paper); z-index: 1; border: 0;
  box-shadow: inset 0 -2px var(--line); }
.claims tbody tr { scroll-margin-top: 3rem; }
@media screen and (max-width: 67.99rem) { .claims thead th { top: 2.9rem; } }
.claims th:first-child { width: 26%; padding-left: 0; }
.claims thead th:nth-child(2) { width: 14.5%; }
.claims th:last-child { width: 21%; }
.claims tbody th { font-weight: 400; }
.claims td, .claims th { padding-top: 0.9rem; padding-bottom: 0.9rem; }
.claims td { overflow-wrap: anywhere; }
.claims tbody tr:target { background: var(--sunken); }
.statement { display: block; }
.where { display: block; color: var(--soft); font-size: 0.82rem; margin-top: 0.3rem; }
.where a { color: inherit; text-decoration: none; }
.where a:hover { text-decoration: underline; }
.uncertainty { display: block; color: var(--soft); font-size: 0.82rem; margin-top: 0.45rem; }
.nothing { color: var(--soft); font-style: italic; }

.jump { margin: 0 0 1rem; }
article { padding: 1.6rem 0; }
article + article { border-top: 1px solid var(--line); }
figure { margin: 1rem 0 0.6rem; }
.canvas { background: #ffffff; border: 1px solid var(--line); border-radius: 0.7rem; padding: 0.8rem; text-align: center; }
.canvas img { display: inline-block; vertical-align: top; max-width: 100%; height: auto; }
@media (max-width: 40rem) { /* on a phone a figure keeps a size that can be read, and scrolls in its frame */
  .canvas { overflow-x: auto; text-align: left; }
  .canvas img { max-width: none; width: 46rem; }
}
figcaption { margin: 0.8rem 0 0; max-width: 74ch; color: var(--ink); font-size: 0.97rem; }
.notes { margin: 0.7rem 0; padding: 0.6rem 1rem 0.6rem 2rem; max-width: 74ch; background: var(--sunken); border-radius: 0.6rem;
  font-size: 0.92rem; }
.origin { color: var(--soft); font-size: 0.85rem; margin: 0.6rem 0 0; }
summary { cursor: pointer; color: var(--accent); font-size: 0.93rem; padding: 0.35rem 0; }
.jump ul { margin: 0.3rem 0; padding-left: 1.2rem; }
.jump li { padding: 0.25rem 0; }

.errata { list-style: none; margin: 0; padding: 0; }
.errata li { display: grid; grid-template-columns: 3rem minmax(0, 1fr); padding: 1.3rem 0; border-top: 1px solid var(--line); }
.errata li:first-child { border-top: 0; padding-top: 0.3rem; }
.errata .ordinal { font: 700 1.5rem/1.1 var(--serif); color: var(--accent); font-variant-numeric: lining-nums; }
.effect { border-left: 3px solid var(--accent); padding: 0.1rem 0 0.1rem 0.9rem; font-size: 0.95rem; }
.effect b { color: var(--soft); font-weight: 650; margin-right: 0.3rem; }
.facts { margin: 0; font-size: 0.95rem; }
.facts div { display: grid; grid-template-columns: 10rem minmax(0, 1fr); gap: 0 1.5rem; padding: 0.5rem 0;
  border-bottom: 1px solid var(--line); }
.facts dt { color: var(--soft); }
.facts dd { margin: 0; }

@media screen and (max-width: 47.99rem) {
  .page { padding: 0 1rem 3rem; }
  .page > nav { margin: 0 -1rem; padding: 0 0.4rem; }
  .tally { grid-template-columns: repeat(2, minmax(0, 1fr)); }
  .subtitle { font-size: 1.08rem; }
  .claims, .claims tbody, .claims tr, .claims th, .claims td, .claims caption { display: block; width: auto; }
  .claims thead { display: none; }
  .claims tbody tr { background: var(--raised); border: 1px solid var(--line); border-radius: 0.7rem;
    padding: 0.9rem 1rem; margin: 0 0 0.9rem; }
  .claims tbody th, .claims tbody th:first-child, .claims td { width: auto; border: 0; padding: 0.3rem 0; }
  .claims tbody th { padding-bottom: 0.5rem; }
  .claims td[data-label] { display: grid; grid-template-columns: 6.4rem minmax(0, 1fr); gap: 0.6rem; }
  .claims td[data-label]::before { content: attr(data-label); color: var(--soft); font-size: 0.83rem; padding-top: 0.1rem; }
  .claims td.verdict { padding-top: 0.6rem; display: block; }
  .claims td.verdict::before { content: none; }
  .canvas { padding: 0.35rem; margin: 0 -0.4rem; }
  .errata li { grid-template-columns: 2.2rem minmax(0, 1fr); }
  .facts div { grid-template-columns: 6rem minmax(0, 1fr); gap: 0 1rem; }
}
@media (prefers-reduced-motion: reduce) { html { scroll-behavior: auto; } }
@media print {
  @page { margin: 1.6cm; }
  :root { color-scheme: light; --paper: #ffffff; }
  html { font-size: 10pt; }
  body { print-color-adjust: exact; -webkit-print-color-adjust: exact; }
  .page { display: block; max-width: none; padding: 0; }
  nav, .filter, .skip, .jump, summary { display: none !important; }
  header { padding-top: 0; }
  .claims tbody tr[hidden] { display: table-row !important; }
  .nothing { display: none; }
  .claims thead th { position: static; }
  .scroll { overflow: visible; border: 0; }
  .scroll table { min-width: 0; font-size: 0.8rem; }
  .scroll th[scope="row"], .scroll caption { position: static; }
  #claims, #figures { break-before: page; }
  h2, h3 { break-after: avoid; }
  figure, tr, .errata li, .tally { break-inside: avoid; }
  .canvas { border: 0; padding: 0; }
  .canvas img { max-height: 20cm; width: auto; }
  a { color: inherit; text-decoration: none; }
}
"""

SCRIPT = """
(function () {
  "use strict";
  var filter = document.querySelector(".filter");
  if (filter) {
    var rows = Array.from(document.querySelectorAll(".claims tbody tr"));
    var buttons = Array.from(filter.querySelectorAll("button"));
    var words = filter.querySelector("input");
    var said = filter.querySelector("output");
    var nothing = document.querySelector(".nothing");
    var chosen = "";
    var show = function () {
      var wanted = words.value.toLowerCase().split(/\\s+/).filter(Boolean);
      var shown = 0;
      rows.forEach(function (row) {
        var text = row.textContent.toLowerCase();
        var fits = (!chosen || row.dataset.verdict === chosen) && wanted.every(function (word) { return text.includes(word); });
        row.hidden = !fits;
        if (fits) { shown += 1; }
      });
      buttons.forEach(function (button) { button.setAttribute("aria-pressed", String(button.dataset.verdict === chosen)); });
      said.textContent = (shown === rows.length ? "All " : shown + " of ") + rows.length + " claims are shown.";
      nothing.hidden = shown > 0;
    };
    var choose = function (verdict) { chosen = verdict; show(); };
    buttons.forEach(function (button) { button.addEventListener("click", function () { choose(button.dataset.verdict); }); });
    words.addEventListener("input", show);
    document.querySelectorAll(".tally a").forEach(function (tile) {
      tile.addEventListener("click", function () { words.value = ""; choose(tile.dataset.verdict); });
    });
    filter.hidden = false;
    show();
  }

  window.addEventListener("beforeprint", function () {
    document.querySelectorAll("details").forEach(function (details) { details.open = true; });
  });

  var links = Array.from(document.querySelectorAll("nav a"));
  var here = function () {
    var passed = links.filter(function (link) {
      return document.getElementById(link.hash.slice(1)).getBoundingClientRect().top < Math.min(0.3 * window.innerHeight, 240);
    });
    var atEnd = window.innerHeight + window.scrollY >= document.documentElement.scrollHeight - 4;
    var current = window.scrollY > 0 && atEnd ? links[links.length - 1] : passed[passed.length - 1];
    links.forEach(function (link) {
      var parent = current && link.nextElementSibling && link.nextElementSibling.contains(current);
      if (link === current || parent) { link.setAttribute("aria-current", "true"); }
      else { link.removeAttribute("aria-current"); }
    });
    var shown = links.filter(function (link) { return link.hasAttribute("aria-current") && link.offsetParent; }).pop();
    var bar = document.querySelector(".page > nav");
    if (shown && bar.scrollWidth > bar.clientWidth) { bar.scrollLeft = shown.offsetLeft - bar.clientWidth / 3; }
    if (shown && bar.scrollHeight > bar.clientHeight) { bar.scrollTop = shown.offsetTop - bar.clientHeight / 2; }
  };
  var waiting = false;
  window.addEventListener("scroll", function () {
    if (!waiting) { waiting = true; requestAnimationFrame(function () { waiting = false; here(); }); }
  }, { passive: true });
  here();
})();
"""
