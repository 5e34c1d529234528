// A histogram drawn as SVG: bars over a number line. The scale of the counts is linear or logarithmic. A line
// of text describes the bar under the pointer, or the bar that the arrow keys have selected.
//
//   const chart = histogram();
//   root.append(chart.element);
//   chart.show(answer); // the answer of GET histogram

import { format, h, replace, setText, svg } from './ui.js';

const margin = { left: 56, right: 12, top: 8, bottom: 22 };
const height = 220;

export function histogram() {
  let data = null;
  let logarithmic = false;
  let marked = -1;

  const drawing = svg('svg', { class: 'histogram-drawing', role: 'img', tabindex: '0', height: height });
  const told = h('div', { class: 'histogram-told', role: 'status' });
  const facts = h('dl', { class: 'histogram-facts' });
  const scale = h(
    'button',
    { class: 'button', type: 'button', aria: { pressed: 'false' }, onclick: toggle },
    'log scale',
  );
  const element = h(
    'div',
    { class: 'histogram' },
    h('div', { class: 'histogram-head' }, facts, scale),
    drawing,
    told,
  );
  element.hidden = true;

  function toggle() {
    logarithmic = !logarithmic;
    scale.setAttribute('aria-pressed', String(logarithmic));
    draw();
  }

  function draw() {
    replace(drawing);
    const width = drawing.clientWidth;
    if (!data || !data.bins.length || width < margin.left + margin.right + 20) return;
    const bins = data.bins;
    const inner = { width: width - margin.left - margin.right, height: height - margin.top - margin.bottom };
    const most = Math.max(1, ...bins.map((bin) => bin.count));
    // the logarithmic scale starts below 1, so that a count of 1 is visible
    const part = logarithmic
      ? (n) => (n > 0 ? (Math.log10(n) + 0.3) / (Math.log10(most) + 0.3) : 0)
      : (n) => n / most;
    const y = (n) => margin.top + inner.height * (1 - part(n));
    const floor = margin.top + inner.height;

    for (const n of logarithmic ? powers(most) : steps(0, most, 4).filter(Number.isInteger)) {
      drawing.append(
        svg('line', {
          class: 'histogram-grid',
          x1: margin.left,
          x2: width - margin.right,
          y1: y(n),
          y2: y(n),
        }),
        svg(
          'text',
          { class: 'histogram-label', x: margin.left - 6, y: y(n) + 4, 'text-anchor': 'end' },
          short(n),
        ),
      );
    }
    const first = bins[0].from;
    const last = bins[bins.length - 1].to;
    const span = last - first || 1;
    const x = (value) => margin.left + inner.width * (last === first ? 0.5 : (value - first) / span);
    const labelled = bins.every((bin) => bin.label);
    const labelCount = Math.max(2, Math.floor(inner.width / 90));
    for (const value of labelled ? [] : steps(first, last, labelCount)) {
      drawing.append(
        svg('line', { class: 'histogram-tick', x1: x(value), x2: x(value), y1: floor, y2: floor + 4 }),
        svg(
          'text',
          { class: 'histogram-label', x: x(value), y: floor + 16, 'text-anchor': 'middle' },
          short(value),
        ),
      );
    }
    const pitch = inner.width / bins.length;
    bins.forEach((bin, i) => {
      const left = margin.left + i * pitch;
      if (labelled && i % Math.ceil(bins.length / labelCount) === 0) {
        drawing.append(
          svg(
            'text',
            { class: 'histogram-label', x: left + pitch / 2, y: floor + 16, 'text-anchor': 'middle' },
            cut(bin.label),
          ),
        );
      }
      const top = bin.count > 0 ? Math.min(y(bin.count), floor - 1) : floor;
      drawing.append(
        svg('rect', {
          class: `histogram-bar${i === marked ? ' is-marked' : ''}`,
          x: left + Math.min(0.5, pitch / 8),
          width: Math.max(0.5, pitch - Math.min(1, pitch / 4)),
          y: top,
          height: floor - top,
        }),
      );
    });
    if (!labelled && Number.isFinite(data.mean) && data.mean >= first && data.mean <= last) {
      drawing.append(
        svg('line', {
          class: 'histogram-mean',
          x1: x(data.mean),
          x2: x(data.mean),
          y1: margin.top,
          y2: floor,
        }),
      );
    }
    drawing.append(
      svg('line', {
        class: 'histogram-axis',
        x1: margin.left,
        x2: width - margin.right,
        y1: floor,
        y2: floor,
      }),
    );
  }

  function mark(i) {
    if (!data || !data.bins.length) return;
    marked = i;
    drawing
      .querySelectorAll('.histogram-bar')
      .forEach((bar, at) => bar.classList.toggle('is-marked', at === marked));
    if (marked < 0) {
      setText(told, '\u00a0');
      return;
    }
    const bin = data.bins[marked];
    const ends = marked === data.bins.length - 1 ? 'to' : 'to below';
    const what =
      bin.label || (bin.from === bin.to ? exact(bin.from) : `${exact(bin.from)} ${ends} ${exact(bin.to)}`);
    const share = data.count ? bin.count / data.count : 0;
    setText(
      told,
      `${what}: ${data.sampled ? 'about ' : ''}${format.number(bin.count)}, ${format.percent(share)}`,
    );
  }

  drawing.addEventListener('pointermove', (event) => {
    if (!data) return;
    const box = drawing.getBoundingClientRect();
    const pitch = (box.width - margin.left - margin.right) / data.bins.length;
    const i = Math.floor((event.clientX - box.left - margin.left) / pitch);
    mark(i >= 0 && i < data.bins.length ? i : -1);
  });
  drawing.addEventListener('pointerleave', () => mark(-1));
  drawing.addEventListener('blur', () => mark(-1));
  drawing.addEventListener('keydown', (event) => {
    if (!data || !data.bins.length) return;
    const last = data.bins.length - 1;
    const to = {
      ArrowLeft: Math.max(0, marked - 1),
      ArrowRight: Math.min(last, marked + 1),
      Home: 0,
      End: last,
      Escape: -1,
    }[event.key];
    if (to === undefined || (event.key === 'Escape' && marked < 0)) return;
    mark(to);
    event.preventDefault();
    event.stopPropagation();
  });
  const sizes = new ResizeObserver(draw);
  sizes.observe(drawing);

  return {
    element,
    show(answer) {
      data = answer;
      element.hidden = !answer;
      if (!answer) return;
      marked = -1;
      setText(told, answer.bins.length ? '\u00a0' : 'No numbers.');
      drawing.setAttribute(
        'aria-label',
        `Histogram of ${answer.field}: ${format.number(answer.count)} values from ` +
          `${exact(answer.min)} to ${exact(answer.max)}. The left and right arrow keys select a bar.`,
      );
      const readings = [
        ['values', format.number(answer.count)],
        ['min', exact(answer.min)],
        ['median', exact(answer.quantiles?.p50)],
        ['mean', exact(answer.mean)],
        ['max', exact(answer.max)],
        ['NaN', format.number(answer.nan)],
        answer.infinite > 0 && ['infinite', format.number(answer.infinite)],
        answer.sampled && ['sample of', format.number(answer.sample)],
      ];
      replace(
        facts,
        readings
          .filter(Boolean)
          .map(([name, value]) => h('div', null, h('dt', null, name), h('dd', { class: 'num' }, value))),
      );
      draw();
    },
    destroy() {
      sizes.disconnect();
    },
  };
}

// steps returns about count round numbers from low to high.
function steps(low, high, count) {
  const span = high - low;
  if (!(span > 0) || !Number.isFinite(span)) return [low];
  const raw = span / count;
  const power = 10 ** Math.floor(Math.log10(raw));
  const step = [1, 2, 5, 10].map((n) => n * power).find((n) => n >= raw);
  const found = [];
  for (let i = Math.ceil(low / step); i * step <= high && found.length < 50; i++) found.push(i * step);
  return found;
}

function powers(most) {
  const found = [];
  for (let n = 1; n <= most; n *= 10) found.push(n);
  return found;
}

function short(n) {
  const size = Math.abs(n);
  if (size !== 0 && (size < 1e-3 || size >= 1e15)) return n.toExponential(1);
  return size < 1000 ? String(Number(n.toPrecision(4))) : format.short(n);
}

function exact(n) {
  return typeof n === 'number' ? String(Number(n.toPrecision(7))) : String(n ?? '–');
}

const cut = (label) => (label.length > 12 ? `${label.slice(0, 11)}…` : label);
