// The work of each worker in one tick. Each worker has a lane of two rows. The upper row has systems and the
// application of commands; the lower row has parts of systems, and waits for parts. The drawing is a canvas,
// because a tick may have thousands of parts.

import { color, errorBox, format, h, onTheme, replace, setText, tip } from './ui.js';

const top = { phases: 20, axis: 18 };
const lane = { system: 20, part: 15, gap: 9 };
const laneHeight = lane.system + lane.part + lane.gap;
const repeatPause = 2000; // milliseconds between two recordings while the user keeps recording
const minSpan = 1e-6; // shortest shown time, in seconds

const isInner = (span) => span.kind === 'part' || span.kind === 'wait';

function words(span) {
  if (span.kind === 'commands') return 'applying commands';
  if (span.kind === 'part') return `${span.system}, part ${span.part}`;
  if (span.kind === 'wait') return `${span.system} waits for its parts on other workers`;
  return span.system;
}

// timeline returns { element, tools, show(colors), again(), clear(), mark(name), destroy() }. The method
// again records a tick. The method mark dims the spans of all other systems. record(ticks) must return the
// answer of GET systems/timeline. timeline calls onSystem(name) when the user clicks a span of a system. A
// touch shows the details of the span instead.
export function timeline({ record, onSystem }) {
  let colors = new Map();
  let ticks = []; // the recorded ticks
  let shown = null; // the drawn tick, and its spans by lane
  let view = { from: 0, to: 1 };
  let markedName = null;
  let cursor = null; // the span selected by keys
  let timer = 0;
  let frame = 0;
  let busy = false;
  let era = 0; // number of changes of the schedule; an answer for an earlier schedule is ignored
  let alive = true;

  const button = h('button', { type: 'button', onclick: () => take(1) }, 'Record a tick');
  const five = h('button', { type: 'button', class: 'hide-narrow', onclick: () => take(5) }, 'Record five');
  const repeat = h('input', { type: 'checkbox', onchange: () => repeatSoon() });
  const zoom = [
    ['+', 'Closer (+)', () => scale(0.5)],
    ['−', 'Farther (−)', () => scale(2)],
    ['All', 'The whole tick (0)', () => fit()],
  ].map(([text, title, f]) =>
    h('button', { type: 'button', title, aria: { label: title }, onclick: f }, text),
  );
  const tools = [
    h('label', { class: 'row' }, repeat, 'keep recording'),
    h('div', { class: 'group' }, zoom),
    five,
    button,
  ];

  const notice = h('div', { class: 'notice' });
  const summary = h('div', { class: 'row timeline-summary' });
  const which = h('div', { class: 'row timeline-which' });
  const canvas = h('canvas', {
    class: 'timeline-canvas',
    tabindex: 0,
    role: 'application',
    onpointermove: moved,
    onpointerdown: pressed,
    onpointerup: released,
    onpointercancel: released,
    onpointerleave: () => tip.hide(),
    onwheel: wheeled,
    ondblclick: () => fit(),
    onkeydown: keyed,
    onblur: () => {
      cursor = null;
      tip.hide();
      draw();
    },
  });
  const said = h('div', { class: 'timeline-said dim', aria: { live: 'polite' } });
  const scroller = h('div', { class: 'timeline-scroll' }, canvas);
  const element = h('div', { class: 'timeline' }, notice, summary, which, scroller, said);

  async function take(n, quietly) {
    if (busy) return;
    const mine = era;
    busy = true;
    button.disabled = five.disabled = true;
    try {
      const answer = await record(n);
      if (!alive || mine !== era) return;
      notice.textContent = '';
      ticks = answer.ticks;
      choose(ticks.reduce((worst, t) => (t.took > worst.took ? t : worst)));
    } catch (error) {
      if (!alive || error?.name === 'AbortError') return;
      if (error.code === 'paused')
        replace(
          notice,
          h(
            'p',
            { class: 'dim' },
            'The program is paused, and there is no recording. Step once to record a tick.',
          ),
        );
      else if (!quietly) replace(notice, errorBox(error));
    } finally {
      busy = false;
      button.disabled = five.disabled = false;
      if (alive && mine !== era) take(1);
      else repeatSoon();
    }
  }

  function repeatSoon() {
    clearTimeout(timer);
    if (alive && repeat.checked)
      timer = setTimeout(() => (document.hidden ? repeatSoon() : take(1, true)), repeatPause);
  }

  function choose(tick) {
    const lanes = Array.from({ length: tick.workers }, () => ({ outer: [], inner: [], busy: 0 }));
    for (const s of tick.spans) {
      const l = lanes[s.worker];
      (isInner(s) ? l.inner : l.outer).push(s);
    }
    // A worker is busy while it runs a system, applies commands, or runs a part of another worker's system.
    // While its system waits for parts on other workers, the worker is not busy.
    for (const l of lanes) {
      const covered = (s) => l.outer.some((o) => o.start <= s.start && o.end >= s.end);
      l.busy = l.outer.reduce((sum, s) => sum + s.end - s.start, 0);
      for (const s of l.inner) {
        if (s.kind === 'wait') l.busy -= s.end - s.start;
        else if (!covered(s)) l.busy += s.end - s.start;
      }
    }
    const zoomed = shown && shown.tick.took > 0 && view.to - view.from < shown.tick.took * 0.999;
    shown = { tick, lanes };
    cursor = null;
    // A zoomed view keeps its range of time, so that the user can compare ticks.
    if (!zoomed || view.from >= tick.took) view = { from: 0, to: Math.max(tick.took, minSpan) };
    say();
    replace(
      which,
      ticks.length > 1 &&
        ticks.map((t) =>
          h(
            'button',
            { type: 'button', class: 'chip', aria: { pressed: t === tick }, onclick: () => choose(t) },
            `tick ${format.number(t.tick)}: ${format.seconds(t.took)}`,
          ),
        ),
    );
    which.hidden = ticks.length < 2;
    draw();
  }

  function say() {
    const { tick, lanes } = shown;
    const used = tick.took > 0 ? lanes.reduce((sum, l) => sum + l.busy, 0) / (tick.took * lanes.length) : 0;
    const longest = tick.spans
      .filter((s) => !isInner(s))
      .reduce((a, s) => (!a || s.end - s.start > a.end - a.start ? s : a), null);
    replace(
      summary,
      h('span', null, 'Tick ', h('b', { class: 'num' }, format.number(tick.tick))),
      h('span', null, 'took ', h('b', { class: 'num' }, format.seconds(tick.took))),
      h('span', null, 'workers busy ', h('b', { class: 'num' }, format.percent(used))),
      longest &&
        h(
          'span',
          null,
          'longest: ',
          h('b', null, words(longest)),
          ' ',
          h('span', { class: 'num' }, format.seconds(longest.end - longest.start)),
        ),
      tick.lost > 0 && h('span', { class: 'warn' }, `${format.number(tick.lost)} spans are not shown`),
    );
    canvas.setAttribute(
      'aria-label',
      `Tick ${tick.tick}: ${tick.workers} workers, ${tick.spans.length} spans ` +
        `in ${format.seconds(tick.took)}. ` +
        'Arrow keys move from span to span, plus and minus change the scale.',
    );
  }

  // Drawing.

  const gutter = () => (canvas.clientWidth < 560 ? 42 : 86);
  const toX = (t, width) => gutter() + ((t - view.from) / (view.to - view.from)) * (width - gutter());
  const toTime = (x, width) => view.from + ((x - gutter()) / (width - gutter())) * (view.to - view.from);

  function draw() {
    frame ||= requestAnimationFrame(() => {
      frame = 0;
      if (alive && shown) paint();
    });
  }

  function paint() {
    const { tick, lanes } = shown;
    const height = top.phases + top.axis + lanes.length * laneHeight + 4;
    canvas.style.height = `${height}px`;
    const [width, ratio] = [canvas.clientWidth, devicePixelRatio || 1];
    if (width === 0) return;
    if (canvas.width !== Math.round(width * ratio) || canvas.height !== Math.round(height * ratio)) {
      canvas.width = Math.round(width * ratio);
      canvas.height = Math.round(height * ratio);
    }
    const c = canvas.getContext('2d');
    const ink = {
      text: color('--text'),
      dim: color('--dim'),
      line: color('--line'),
      panel: color('--panel'),
      sunk: color('--sunk'),
      edge: color('--edge'),
      accent: color('--accent'),
    };
    const fills = new Map([...colors].map(([name, variable]) => [name, color(variable)]));
    const style = getComputedStyle(document.body);
    const small = `${Math.round(parseFloat(style.fontSize) * 0.8)}px ${style.fontFamily}`;
    c.setTransform(ratio, 0, 0, ratio, 0, 0);
    c.clearRect(0, 0, width, height);
    c.font = small;
    c.textBaseline = 'middle';

    lanes.forEach((l, i) => {
      const y = laneTop(i);
      c.fillStyle = ink.sunk;
      c.fillRect(gutter(), y, width - gutter(), lane.system + lane.part);
      c.fillStyle = ink.text;
      c.textAlign = 'left';
      c.fillText(gutter() < 60 ? `w${i}` : `worker ${i}`, 8, y + lane.system / 2);
      c.fillStyle = ink.dim;
      if (tick.took > 0)
        c.fillText(`${Math.round((l.busy / tick.took) * 100)} %`, 8, y + lane.system + lane.part / 2);
    });

    c.save();
    c.beginPath();
    c.rect(gutter(), 0, width - gutter(), height);
    c.clip();
    for (const p of tick.phases) {
      const [a, b] = [toX(p.start, width), toX(p.end, width)];
      if (b < gutter() || a > width) continue;
      c.fillStyle = ink.line;
      c.fillRect(a, 0, 1, height);
      label(c, p.phase, Math.max(a, gutter()), Math.min(b, width), top.phases / 2, ink.dim);
    }
    axis(c, width, height, ink);
    lanes.forEach((l, i) => {
      paintRow(c, l.outer, laneTop(i), lane.system, width, fills, ink);
      paintRow(c, l.inner, laneTop(i) + lane.system, lane.part, width, fills, ink);
    });
    c.restore();
  }

  const laneTop = (i) => top.phases + top.axis + i * laneHeight;

  function paintRow(c, spans, y, height, width, fills, ink) {
    let painted = -1; // x at which the painted part of the row ends
    for (const s of spans) {
      const [a, b] = [toX(s.start, width), toX(s.end, width)];
      if (b < gutter() || a > width) continue;
      if (b < painted) continue;
      const [left, right] = [Math.max(a, gutter() - 2), Math.max(Math.min(b, width + 2), a + 1)];
      painted = right - 0.5;
      c.globalAlpha =
        (markedName !== null && s.system !== markedName ? 0.2 : 1) * (s.kind === 'part' ? 0.72 : 1);
      if (s.kind === 'wait') {
        c.strokeStyle = ink.edge;
        c.setLineDash([3, 3]);
        c.strokeRect(left + 0.5, y + 1.5, Math.max(1, right - left - 1), height - 3);
        c.setLineDash([]);
        label(c, 'waits', left, right, y + height / 2, ink.dim);
      } else {
        c.fillStyle = s.kind === 'commands' ? ink.edge : (fills.get(s.system) ?? ink.accent);
        c.fillRect(
          left,
          y + (s.kind === 'part' ? 1 : 0),
          Math.max(1, right - left - (right - left > 3 ? 1 : 0)),
          height - 1,
        );
        label(
          c,
          s.kind === 'part' ? String(s.part) : s.kind === 'commands' ? 'commands' : s.system,
          left,
          right,
          y + height / 2,
          ink.panel,
        );
      }
      c.globalAlpha = 1;
      if (s === cursor) {
        c.strokeStyle = ink.text;
        c.lineWidth = 2;
        c.strokeRect(left, y, Math.max(2, right - left), height);
        c.lineWidth = 1;
      }
    }
  }

  // label writes a text, and shortens it if there is too little room. A shortened text keeps at least two
  // characters; if there is no room for them, label writes nothing.
  function label(c, text, left, right, y, ink) {
    const room = right - left - 8;
    if (room < 14) return;
    let part = text;
    if (c.measureText(text).width > room) {
      let n = Math.floor((text.length * room) / c.measureText(text).width);
      while (n > 0 && c.measureText(`${text.slice(0, n)}…`).width > room) n--;
      if (n < 2) return;
      part = `${text.slice(0, n)}…`;
    }
    c.fillStyle = ink;
    c.textAlign = 'left';
    c.fillText(part, left + 4, y + 0.5);
  }

  function axis(c, width, height, ink) {
    const span = view.to - view.from;
    const rough = (span / Math.max(1, width - gutter())) * 110; // seconds between marks
    const power = 10 ** Math.floor(Math.log10(rough));
    const step = [1, 2, 5, 10].map((n) => n * power).find((s) => s >= rough);
    const y = top.phases + top.axis / 2;
    c.textAlign = 'left';
    for (let n = Math.ceil(view.from / step); n * step <= view.to; n++) {
      const x = toX(n * step, width);
      c.fillStyle = ink.line;
      c.fillRect(Math.round(x), top.phases, 1, height - top.phases);
      c.fillStyle = ink.dim;
      c.fillText(n === 0 ? '0' : format.seconds(n * step), x + 4, y);
    }
  }

  // The shown time.

  function fit() {
    if (shown) move(0, Math.max(shown.tick.took, minSpan));
  }

  function move(from, to) {
    const whole = Math.max(shown.tick.took, minSpan);
    const span = Math.min(whole, Math.max(minSpan, to - from));
    const start = Math.max(0, Math.min(whole - span, from));
    view = { from: start, to: start + span };
    draw();
  }

  // scale multiplies the length of the shown time by a factor. The argument centre is the time that keeps its
  // place on the screen.
  function scale(factor, centre = (view.from + view.to) / 2) {
    if (shown) move(centre - (centre - view.from) * factor, centre + (view.to - centre) * factor);
  }

  function wheeled(event) {
    if (!shown) return;
    const width = canvas.clientWidth;
    const span = view.to - view.from;
    if (event.ctrlKey || event.metaKey) {
      event.preventDefault();
      scale(1.0015 ** (event.deltaY * (event.deltaMode === 1 ? 16 : 1)), toTime(event.offsetX, width));
      return;
    }
    const by = event.shiftKey ? event.deltaY : event.deltaX;
    if (by === 0 || span >= shown.tick.took) return; // the page scrolls
    event.preventDefault();
    const time = (by / (width - gutter())) * span;
    move(view.from + time, view.to + time);
  }

  const drags = new Map(); // x of each pointer that is down, by the pointer's ID
  let dragged = false;

  function pressed(event) {
    if (event.button !== 0) return;
    drags.set(event.pointerId, event.offsetX);
    dragged = false;
    canvas.setPointerCapture(event.pointerId);
  }

  function moved(event) {
    if (!shown) return;
    const width = canvas.clientWidth;
    if (!drags.has(event.pointerId)) {
      point(event);
      return;
    }
    const before = [...drags.values()];
    const was = drags.get(event.pointerId);
    if (Math.abs(event.offsetX - was) < 3 && !dragged) return;
    dragged = true;
    tip.hide();
    drags.set(event.pointerId, event.offsetX);
    const now = [...drags.values()];
    const time = (view.to - view.from) / (width - gutter());
    if (now.length >= 2) {
      const apart = (xs) => Math.max(8, Math.abs(xs[0] - xs[1]));
      scale(apart(before) / apart(now), toTime((now[0] + now[1]) / 2, width));
    } else {
      move(view.from - (event.offsetX - was) * time, view.to - (event.offsetX - was) * time);
    }
  }

  function released(event) {
    if (!drags.delete(event.pointerId) || dragged || event.type === 'pointercancel') return;
    const s = spanAt(event.offsetX, event.offsetY);
    if (event.pointerType === 'touch') point(event);
    else if (s?.system) onSystem(s.system);
  }

  function spanAt(x, y) {
    if (!shown || x < gutter()) return null;
    const i = Math.floor((y - top.phases - top.axis) / laneHeight);
    const inLane = y - laneTop(i);
    const l = shown.lanes[i];
    if (!l || inLane > lane.system + lane.part) return null;
    const width = canvas.clientWidth;
    const time = toTime(x, width);
    const slack = (view.to - view.from) / (width - gutter());
    return (inLane < lane.system ? l.outer : l.inner)
      .filter((s) => s.start - slack <= time && s.end + slack >= time)
      .reduce((a, s) => (!a || s.end - s.start > a.end - a.start ? s : a), null);
  }

  function details(s) {
    return [
      h('p', null, h('b', null, words(s))),
      h(
        'p',
        { class: 'num' },
        `${format.seconds(s.end - s.start)}, from ${format.seconds(s.start)} to ${format.seconds(s.end)}`,
      ),
      h('p', { class: 'dim' }, `on worker ${s.worker}`),
    ];
  }

  function point(event) {
    const s = spanAt(event.offsetX, event.offsetY);
    if (s) tip.show(event.clientX, event.clientY, details(s));
    else tip.hide();
  }

  // The left and right arrow keys select the previous and the next span of the lane. The up and down arrow
  // keys go to the next lane with spans, and select the span whose start is nearest in time.
  function keyed(event) {
    if (!shown || event.ctrlKey || event.metaKey || event.altKey) return;
    const orderOf = (l) => [...l.outer, ...l.inner].sort((a, b) => a.start - b.start || b.end - a.end);
    const { lanes } = shown;
    if (event.key === '+' || event.key === '=')
      scale(0.5, cursor ? (cursor.start + cursor.end) / 2 : undefined);
    else if (event.key === '-') scale(2);
    else if (event.key === '0') fit();
    else if (event.key === 'Enter' && cursor) {
      move(cursor.start - (cursor.end - cursor.start) * 0.2, cursor.end + (cursor.end - cursor.start) * 0.2);
    } else if (event.key.startsWith('Arrow')) {
      let list = orderOf(lanes[cursor?.worker ?? 0]);
      if (!cursor) cursor = list[0] ?? shown.tick.spans[0] ?? null;
      else if (event.key === 'ArrowRight' || event.key === 'ArrowLeft') {
        cursor = list[list.indexOf(cursor) + (event.key === 'ArrowRight' ? 1 : -1)] ?? cursor;
      } else {
        const by = event.key === 'ArrowDown' ? 1 : -1;
        for (let i = cursor.worker + by; i >= 0 && i < lanes.length; i += by) {
          list = orderOf(lanes[i]);
          if (list.length === 0) continue;
          const from = cursor.start;
          cursor = list.reduce((a, s) => (Math.abs(s.start - from) < Math.abs(a.start - from) ? s : a));
          break;
        }
      }
      showCursor();
    } else return;
    event.preventDefault();
    event.stopPropagation();
  }

  function showCursor() {
    if (!cursor) return;
    const span = view.to - view.from;
    if (cursor.start < view.from || cursor.start > view.to)
      move(cursor.start - span / 3, cursor.start + (span * 2) / 3);
    setText(
      said,
      `${words(cursor)}: ${format.seconds(cursor.end - cursor.start)} ` +
        `from ${format.seconds(cursor.start)} on worker ${cursor.worker}`,
    );
    draw();
  }

  const size = new ResizeObserver(draw);
  size.observe(scroller);
  const endTheme = onTheme(draw);

  return {
    element,
    tools,
    show(to) {
      colors = to;
      draw();
    },
    clear() {
      shown = cursor = null;
      era++;
      replace(summary);
      replace(said);
      which.hidden = true;
      tip.hide();
      canvas.getContext('2d').clearRect(0, 0, canvas.width, canvas.height);
    },
    again: () => take(1),
    mark(name) {
      markedName = name;
      draw();
    },
    destroy() {
      alive = false;
      clearTimeout(timer);
      cancelAnimationFrame(frame);
      size.disconnect();
      endTheme();
    },
  };
}
