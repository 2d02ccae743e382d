// The filter over the claims, what opens before printing, and the mark in the menu that follows the reader.

var filter = document.querySelector(".filter");
if (filter) {
  var rows = Array.from(document.querySelectorAll(".claims tbody tr"));
  var buttons = Array.from(filter.querySelectorAll("button"));
  var words = filter.querySelector("input");
  var status = filter.querySelector("output");
  var nothing = document.querySelector(".nothing");
  var chosen = "";
  var show = function () {
    var wanted = words.value.toLowerCase().split(/\s+/).filter(Boolean);
    var shown = 0;
    rows.forEach(function (row) {
      var text = row.textContent.toLowerCase();
      var fits = (!chosen || row.dataset.verdict === chosen) && wanted.every(function (word) { return text.includes(word); });
      row.hidden = !fits;
      if (fits) { shown += 1; }
    });
    buttons.forEach(function (button) { button.setAttribute("aria-pressed", String(button.dataset.verdict === chosen)); });
    status.textContent = (shown === rows.length ? "All " : shown + " of ") + rows.length + " claims are shown.";
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
