// Live line charts, drawn by uPlot, and sparklines. Their colours are CSS variables of the theme.

import uPlot from './uplot/uPlot.esm.js';
import { color, format, h, onTheme, setText } from './ui.js';

// history is the time that a chart shows, in seconds.
export const history = 600;

// gap is the longest time between two points that a line joins, in seconds.
const gap = 4;

// Formats by unit. write formats a single value. steps are pairs of a scale and its unit, for the marks of an
// axis. The largest mark decides the unit of all marks.
const units = {
  number: {
    write: format.number,
    steps: [
      [1, ''],
      [1e3, 'k'],
      [1e6, 'M'],
      [1e9, 'G'],
      [1e12, 'T'],
    ],
  },
  bytes: {
    write: format.bytes,
    steps: ['B', 'KiB', 'MiB', 'GiB', 'TiB', 'PiB'].map((unit, i) => [1024 ** i, unit]),
    binary: true,
  },
  seconds: {
    write: format.seconds,
    steps: [
      [1e-9, 'ns'],
      [1e-6, 'µs'],
      [1e-3, 'ms'],
      [1, 's'],
    ],
  },
  rate: {
    write: format.rate,
    steps: [
      [1, ''],
      [1e3, 'k'],
      [1e6, 'M'],
      [1e9, 'G'],
    ],
  },
};

// marks formats the numbers along an axis, with as many decimal places as the step needs, but at most six.
function marks(steps, splits, step) {
  const largest = Math.max(...splits.map(Math.abs));
  const [scale, unit] = steps.findLast(([from]) => largest >= from) ?? steps[0];
  let places = 0;
  while (
    places < 6 &&
    Math.abs((step / scale) * 10 ** places - Math.round((step / scale) * 10 ** places)) > 1e-6
  )
    places++;
  return splits.map((v) => (v === 0 ? '0' : `${(v / scale).toFixed(places)}${unit && '\u00a0'}${unit}`));
}

const powersOfTwo = Array.from({ length: 61 }, (_, i) => 2 ** i);

// ago formats a mark of the time axis, the given number of seconds before now.
function ago(seconds) {
  if (seconds === 0) return 'now';
  if (seconds % 60 === 0 || seconds > 120) return `−${seconds / 60} min`;
  return `−${seconds} s`;
}

// lineChart draws series over time into a new element:
//   title    heading of the chart
//   unit     'number', 'bytes', 'seconds' or 'rate'
//   series   [{ label, color: '--c1', fill: true, dash: [4, 3] }]
//   span     longest shown time in seconds, default history; a chart with little data shows a shorter time
//   sync     name of a group of charts that move their cursors together
//   height   in CSS pixels; default: the height in the style sheet
//   zero     whether the axis of values includes zero, default true
// The result has element, set(times, columns) for past data, push(time, values) for a new point (null for a
// missing value), and destroy(). Times are seconds since 1970. push drops data older than the span.
export function lineChart({
  title,
  unit = 'number',
  series,
  span = history,
  sync = 'live',
  height,
  zero = true,
}) {
  const { write, steps, binary } = units[unit];
  let times = [];
  let columns = series.map(() => []);
  let plot = null;
  let frame = 0;

  const values = series.map(() => h('span', { class: 'num legend-value' }, '–'));
  const legend = h(
    'div',
    { class: 'legend' },
    series.map((s, i) =>
      h(
        'span',
        { class: 'legend-item' },
        h('span', {
          class: ['legend-mark', s.dash && 'dashed'],
          style: { '--mark': `var(${s.color})` },
          aria: { hidden: 'true' },
        }),
        s.label,
        values[i],
      ),
    ),
  );
  const when = h('span', { class: 'num dim chart-when' });
  const place = h('div', { class: 'chart-place', style: height ? { height: `${height}px` } : {} });
  const element = h(
    'figure',
    { class: 'chart', aria: { label: title } },
    h('figcaption', { class: 'chart-head' }, h('h3', null, title), when, legend),
    place,
  );

  function showLegend(at) {
    const last = times.length - 1;
    const i = at ?? last;
    columns.forEach((c, k) => setText(values[k], i < 0 ? '–' : write(c[i])));
    setText(
      when,
      at === null || at === undefined || last < 0
        ? ''
        : `${format.seconds(Math.round(times[last] - times[at]))} ago`,
    );
  }

  // shown returns the length of the time axis in seconds: the shortest of one, two and five minutes that
  // holds all data, or else the span.
  const shown = () =>
    [60, 120, 300].find((s) => s < span && (times.at(-1) ?? 0) - (times[0] ?? 0) <= s) ?? span;

  // add adds a point. If there is a gap before the point, add breaks the line with a point without values.
  function add(t, vs) {
    const last = times.at(-1);
    if (last !== undefined && t <= last) return false;
    if (t - last > gap) {
      times.push(last + 0.001);
      for (const c of columns) c.push(null);
    }
    times.push(t);
    vs.forEach((v, i) => columns[i].push(v));
    return true;
  }

  const hair = () => color('--line');
  const options = {
    padding: [6, 14, 0, 0],
    legend: { show: false },
    cursor: {
      y: false,
      sync: { key: sync, setSeries: false },
      points: { size: 6 },
      drag: { x: false, y: false },
    },
    scales: {
      x: {
        time: false,
        range: () => {
          const to = times.at(-1) ?? 0;
          return [to - shown(), to];
        },
      },
      y: { range: (_, low, high) => bounds(zero ? Math.min(0, low ?? 0) : (low ?? 0), high ?? 1, unit) },
    },
    axes: [
      {
        stroke: () => color('--dim'),
        grid: { stroke: hair, width: 1 },
        ticks: { show: false },
        size: 22,
        font: chartFont(),
        gap: 4,
        splits(u) {
          const { min, max } = u.scales.x;
          const parts = u.width < 420 ? 2 : Math.round(max - min) % 300 === 0 ? 5 : 4;
          return Array.from({ length: parts + 1 }, (_, i) => min + ((max - min) * i) / parts);
        },
        values: (u, splits) => splits.map((v) => ago(Math.round(u.scales.x.max - v))),
      },
      {
        stroke: () => color('--dim'),
        grid: { stroke: hair, width: 1 },
        ticks: { show: false },
        font: chartFont(),
        gap: 4,
        size: (u, texts) => 14 + Math.max(26, ...(texts ?? []).map((t) => (t ?? '').length * 6.4)),
        space: 28,
        incrs: binary ? powersOfTwo : undefined,
        values: (_, splits, __, ___, step) => marks(steps, splits, step),
      },
    ],
    series: [
      {},
      ...series.map((s) => ({
        label: s.label,
        stroke: () => color(s.color),
        width: 1.5,
        dash: s.dash,
        points: { show: false },
        fill: s.fill ? () => fade(color(s.color)) : undefined,
      })),
    ],
    hooks: { setCursor: [(u) => showLegend(u.cursor.left >= 0 ? u.cursor.idx : null)] },
  };

  function draw() {
    frame = 0;
    const [width, tall] = [Math.floor(place.clientWidth), Math.floor(place.clientHeight)];
    if (width < 40 || tall < 40) return;
    const data = [times, ...columns];
    if (!plot) {
      plot = new uPlot({ ...options, width, height: tall }, data, place);
      plot.root.setAttribute('aria-hidden', 'true'); // the legend shows the values as text
    } else {
      if (plot.width !== width || plot.height !== tall) plot.setSize({ width, height: tall });
      plot.setData(data);
    }
    if (!(plot.cursor.left >= 0)) showLegend(null);
  }
  const soon = () => {
    frame ||= requestAnimationFrame(draw);
  };

  const size = new ResizeObserver(soon);
  size.observe(place);
  const endTheme = onTheme(() => plot?.redraw(false));

  return {
    element,
    set(ts, cs) {
      times = [];
      columns = series.map(() => []);
      ts.forEach((t, i) =>
        add(
          t,
          cs.map((c) => c[i]),
        ),
      );
      soon();
    },
    push(t, vs) {
      if (!add(t, vs)) return;
      let gone = 0;
      while (times[gone] < t - span - 2) gone++;
      if (gone > 0) {
        times.splice(0, gone);
        for (const c of columns) c.splice(0, gone);
      }
      soon();
    },
    destroy() {
      cancelAnimationFrame(frame);
      size.disconnect();
      endTheme();
      plot?.destroy();
    },
  };
}

// bounds returns the range of the axis of values. It widens a narrow range, so that the noise of an almost
// constant value does not fill the chart.
function bounds(low, high, unit) {
  const least = Math.abs(high) * 0.004;
  if (high > low && high - low >= least) return [low, high + (high - low) * 0.08];
  if (high !== 0) return [(low + high - least) / 2, (low + high + least) / 2];
  return [0, unit === 'bytes' ? 1024 : unit === 'seconds' ? 0.001 : 1];
}

export function chartFont() {
  return `11px ${color('--mono') || 'monospace'}`;
}

// fade returns the colour of the area under a line. Colours of the style sheet are #rrggbb.
function fade(hex) {
  return /^#[0-9a-f]{6}$/i.test(hex) ? `${hex}22` : 'transparent';
}

// sparkline makes a small line without axes: { element, set(times, values), push(time, value), destroy() }.
// Times and span are in seconds.
export function sparkline({ color: variable = '--accent', span = 120, zero = true } = {}) {
  const canvas = h('canvas', { class: 'spark', aria: { hidden: 'true' } });
  let times = [];
  let values = [];
  let frame = 0;

  function draw() {
    frame = 0;
    const { clientWidth: width, clientHeight: height } = canvas;
    if (width === 0) return;
    const scale = devicePixelRatio || 1;
    if (canvas.width !== Math.round(width * scale)) canvas.width = Math.round(width * scale);
    if (canvas.height !== Math.round(height * scale)) canvas.height = Math.round(height * scale);
    const g = canvas.getContext('2d');
    g.setTransform(scale, 0, 0, scale, 0, 0);
    g.clearRect(0, 0, width, height);
    const shown = values.filter((v) => typeof v === 'number');
    if (shown.length < 2) return;
    let high = Math.max(...shown);
    let low = zero ? 0 : Math.min(...shown);
    if (!(high > low)) [low, high] = [low - 1, high + 1];
    const end = times.at(-1);
    const across = Math.min(span, Math.max(20, end - times[0]));
    const x = (t) => width - 2 - ((end - t) / across) * (width - 2);
    const y = (v) => height - 1.5 - ((v - low) / (high - low)) * (height - 4);
    const ink = color(variable);
    g.beginPath();
    let open = false;
    let first = 0;
    times.forEach((t, i) => {
      const v = values[i];
      if (typeof v !== 'number') return;
      if (!open) {
        g.moveTo(x(t), y(v));
        first = x(t);
        open = true;
      } else {
        g.lineTo(x(t), y(v));
      }
    });
    g.strokeStyle = ink;
    g.lineWidth = 1.25;
    g.lineJoin = 'round';
    g.stroke();
    g.lineTo(x(end), height);
    g.lineTo(first, height);
    g.closePath();
    g.fillStyle = fade(ink);
    g.fill();
    const lastValue = values.at(-1);
    if (typeof lastValue === 'number') {
      g.beginPath();
      g.arc(x(end), y(lastValue), 1.75, 0, 7);
      g.fillStyle = ink;
      g.fill();
    }
  }
  const soon = () => {
    frame ||= requestAnimationFrame(draw);
  };
  const size = new ResizeObserver(soon);
  size.observe(canvas);
  const endTheme = onTheme(soon);

  return {
    element: canvas,
    set(ts, vs) {
      times = [...ts];
      values = [...vs];
      trim();
      soon();
    },
    push(t, v) {
      if (times.length > 0 && t <= times.at(-1)) return;
      times.push(t);
      values.push(v);
      trim();
      soon();
    },
    destroy() {
      cancelAnimationFrame(frame);
      size.disconnect();
      endTheme();
    },
  };

  function trim() {
    const end = times.at(-1);
    let gone = 0;
    while (times[gone] < end - span) gone++;
    times.splice(0, gone);
    values.splice(0, gone);
  }
}
