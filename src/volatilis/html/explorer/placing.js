// Putting observations where one wants them, with the pointer or the keyboard; and playing a sequence.
function acceptedValue(x) {
  const record = PAGE.families[view.family], most = view.family === "categorical" ? view.familyValues.k - 1 : record.most ?? Infinity;
  if (view.family === "vonmises") return Number(around(x, view.familyValues.period).toPrecision(6));
  if (record.whole) return Math.min(most, Math.max(0, Math.round(x)));
  return Math.max(record.least ?? -Infinity, Number(x.toPrecision(6)));
}

function place(t, x) {
  if (state.table || (view.family === "gaussian-unknown-variance" && view.element > 0)) return;
  update((s) => { s.placed[t] = acceptedValue(x); s.cursor = t; });
}

function listenToPanels() {
  const canvas = $("panel-observations");
  let dragged = null;
  const where = (event) => {
    const box = canvas.getBoundingClientRect(), t = places.across.back(event.clientX - box.left);
    return { t, y: places.dots.back(event.clientY - box.top), inside: t >= view.first && t < view.last };
  };
  canvas.addEventListener("pointerdown", (event) => { const at = where(event); if (at.inside) { dragged = at.t; canvas.setPointerCapture(event.pointerId); place(at.t, at.y); } });
  canvas.addEventListener("pointerup", () => { dragged = null; });
  canvas.addEventListener("pointermove", (event) => { if (dragged !== null) place(dragged, where(event).y); });
  canvas.addEventListener("keydown", (event) => {
    const t = view.cursor ?? view.last - 1, step = event.shiftKey ? 10 : 1, [low, high] = [places.dots.low, places.dots.high];
    const much = PAGE.families[view.family].whole ? 1 : (high - low) / 40;
    const moves = { ArrowLeft: -step, ArrowRight: step };
    if (event.key in moves) state.cursor = Math.min(view.last - 1, Math.max(view.first, t + moves[event.key]));
    else if (event.key === "ArrowUp" || event.key === "ArrowDown") place(t, view.ys[t] + (event.key === "ArrowUp" ? much : -much));
    else if (event.key === "Delete" || event.key === "Backspace") update((s) => { delete s.placed[t]; });
    else return;
    event.preventDefault();
    draw();
    $("spoken").textContent = $("readout-title").textContent;
  });
  for (const one of document.querySelectorAll("canvas.panel")) one.addEventListener("pointermove", (event) => {
    if (!view || playing !== null) return;
    const t = places.across.back(event.clientX - one.getBoundingClientRect().left);
    if (t >= view.first && t < view.last && t !== state.cursor) { state.cursor = t; draw(); }
  });
}

function play() {
  if (playing !== null) { playing = null; $("play").textContent = "Play"; return draw(); }
  let shown = 1, before = performance.now();
  const each = Math.max(8, 6000 / (view.last - view.first));
  $("play").textContent = "Stop";
  playing = view.first + 1;
  state.cursor = null;
  const next = (now) => {
    if (playing === null) return;
    shown += (now - before) / each;
    before = now;
    playing = view.first + Math.floor(shown);
    if (playing >= view.last) { playing = null; $("play").textContent = "Play"; } else requestAnimationFrame(next);
    draw();
  };
  requestAnimationFrame(next);
}
