// The canvas of the memory picture. The user points, moves and zooms with the mouse or the keys.

import {
  areaName,
  cellAt,
  category,
  css,
  decode,
  describeCell,
  layoutArea,
  layoutWorld,
  levels,
  note,
  nothing,
  numberOf,
  paint,
  rangesOf,
} from './memory-picture.js';
import { format, h, replace, setStyle, tip } from './ui.js';

// cellSize returns the width in pixels of a cell that stands for a number of bytes.
const cellSize = (bytes, page) => (bytes >= page ? 6 : bytes >= 64 ? 8 : bytes >= 8 ? 11 : 14);
const tallest = 0.62; // greatest height of the picture, as a fraction of the window's height

// pictureView makes the canvas. Its callbacks:
//   onZoom(view)          the user zooms or scrolls; view is { area, from, bytes }, or null for all areas;
//                         bytes is the number of bytes of a cell
//   onHere(cell)          the pointer has moved to another cell; null for none
//   onOpen(slot, column)  the user opens the word (64 slots) of a slot
//   onAnnounce(text)      a text for screen readers
//   onResize()            the width of the canvas has changed
export function pictureView({ onZoom, onHere, onOpen, onAnnounce, onResize }) {
  const canvas = h('canvas', {
    tabindex: 0,
    role: 'application',
    aria: {
      label: 'Memory picture: arrow keys move, plus and minus zoom, Enter opens a word, Escape goes back',
    },
  });
  const place = h('div', { class: 'memory-place' }, canvas);
  const bands = h('div', { class: 'memory-bands' });
  const element = h('div', { class: 'memory-frame' }, bands, place);
  const pen = canvas.getContext('2d');
  const small = document.createElement('canvas'); // one pixel for each cell
  const smallPen = small.getContext('2d');
  const whole = h('canvas', { aria: { hidden: 'true' } });
  const used = h('canvas', { aria: { hidden: 'true' } });
  const stripNames = [h('span'), h('span')];
  const strips = h('div', { class: 'memory-strips' }, whole, used, h('div', { class: 'names' }, stripNames));

  let memory = null;
  let state = null;
  let ink = null;
  let layout = { ranges: [], bands: [], cells: 0, rows: 1, columns: 1, bytes: 1 };
  let data = null;
  let size = 6; // pixels of a cell
  let pointed = -1; // index of the cell under the pointer
  let byKeys = false;
  let frame = 0;
  let shown = { width: 0 };
  let extra = '';

  const self = {
    element,
    strips,
    get layout() {
      return layout;
    },
    get data() {
      return data;
    },
    get here() {
      return cellHere();
    },
    ranges: () => rangesOf(layout),
    start,
    stop,
    layOut,
    take,
    zoom,
    slotsOf,
    outdated,
    remember,
    wholeArea,
    partial,
    addTip,
  };

  function room() {
    const width = Math.max(80, place.clientWidth);
    return { width, height: Math.max(220, Math.round(innerHeight * tallest) - 40) };
  }

  function layOut(newMemory, newState, newInk) {
    [memory, state, ink] = [newMemory, newState, newInk];
    const { width, height } = room();
    const before = pointed >= 0 ? cellAt(layout, pointed)?.from : undefined;
    if (state.view) {
      size = cellSize(state.view.bytes, memory.pageSize);
      layout = layoutArea(memory, state.view, {
        columns: Math.max(8, Math.floor(width / size)),
        rows: Math.max(4, Math.floor(height / size)),
      });
      state.view.from = layout.ranges[0].from;
    } else {
      // Choose the finest scale that fits, and for this scale the largest size of cells.
      layout = null;
      for (const pixels of width < 420 ? [4] : [8, 7, 6, 5]) {
        const next = layoutWorld(memory, {
          columns: Math.floor(width / pixels),
          rows: Math.floor(height / pixels),
          whole: state.whole,
        });
        if (layout && next.bytes >= layout.bytes) continue;
        layout = next;
        size = pixels;
      }
    }
    shown.width = width;
    pointed = before === undefined ? -1 : numberOf(layout, before);
    nameBands();
    draw();
  }

  // outdated reports whether the layout must be rebuilt, because the used part of an area has changed.
  function outdated(next) {
    const key = (m) => m.areas.map((a) => `${a.usedFrom}+${a.committed}`).join();
    return key(next) !== key(memory);
  }
  function remember(next) {
    memory = next;
  }

  function take(buffer, by) {
    data = decode(buffer, layout, by);
    draw();
    if (pointed >= 0) showTip(false);
  }

  function nameBands() {
    element.style.setProperty('--gutter', state.view ? '0px' : '');
    replace(
      bands,
      layout.bands.map((b) =>
        h(
          'button',
          {
            type: 'button',
            title: `Zoom to ${b.title}`,
            style: { top: `${b.row * size}px` },
            onclick: () => enter(b.areas[0], undefined),
          },
          b.title,
        ),
      ),
    );
    bands.hidden = Boolean(state.view);
  }

  function draw() {
    if (frame) return;
    frame = requestAnimationFrame(() => {
      frame = 0;
      drawNow();
    });
  }

  function drawNow() {
    const scale = devicePixelRatio || 1;
    const [width, height] = [layout.columns * size, layout.rows * size];
    canvas.width = Math.round(width * scale);
    canvas.height = Math.round(height * scale);
    setStyle(canvas, { width: `${width}px`, height: `${height}px` });
    if (!data || layout.cells === 0) return;
    small.width = layout.columns;
    small.height = layout.rows;
    const image = smallPen.createImageData(layout.columns, layout.rows);
    paint(image, layout, data, memory, ink);
    smallPen.putImageData(image, 0, 0);
    pen.setTransform(scale, 0, 0, scale, 0, 0);
    pen.imageSmoothingEnabled = false;
    pen.drawImage(small, 0, 0, width, height);
    const gap = size >= 5 ? 1 : 0;
    if (gap) {
      pen.fillStyle = css(ink.panel);
      for (let x = size; x <= width; x += size) pen.fillRect(x - gap, 0, gap, height);
      for (let y = size; y <= height; y += size) pen.fillRect(0, y - gap, width, gap);
    }
    drawBorders();
    drawElements(height);
    if (pointed >= 0) drawPointed();
    drawStrips();
  }

  // drawBorders marks the beginnings of areas.
  function drawBorders() {
    pen.fillStyle = getComputedStyle(canvas).color;
    for (const r of layout.ranges)
      pen.fillRect((r.at % layout.columns) * size, Math.floor(r.at / layout.columns) * size, 1, size - 1);
  }

  // drawElements marks the beginnings of elements if an element covers a whole number of cells, at least two.
  function drawElements(height) {
    const area = state.view && memory.areas[state.view.area];
    const cells = area ? Math.abs(area.stride) / layout.bytes : 0;
    if (!Number.isInteger(cells) || cells < 2) return;
    pen.fillStyle = css(ink.dim);
    for (let x = 0; x < layout.columns; x += cells) pen.fillRect(x * size - 1, 0, 1, height);
  }

  function drawPointed() {
    const [x, y] = [(pointed % layout.columns) * size, Math.floor(pointed / layout.columns) * size];
    pen.lineWidth = 2;
    pen.strokeStyle = css(ink.panel);
    pen.strokeRect(x - 2, y - 2, size + 3, size + 3);
    pen.strokeStyle = getComputedStyle(canvas).color;
    pen.strokeRect(x - 1, y - 1, size + 1, size + 1);
  }

  // drawStrips draws two strips: one of all reservations, and one of all areas. If the picture shows only
  // one area, each strip marks the part of the area in the picture.
  function drawStrips() {
    const end = memory.areas.reduce((n, a) => Math.max(n, a.from + a.bytes), 1);
    const from = layout.ranges[0]?.from ?? 0;
    const to = layout.ranges.reduce((n, r) => Math.max(n, r.to), 0);
    for (const [strip, most] of [
      [whole, memory.bytes || 1],
      [used, end],
    ]) {
      strip.width = Math.round(Math.max(60, strip.clientWidth) * (devicePixelRatio || 1));
      strip.height = Math.round(9 * (devicePixelRatio || 1));
      const ctx = strip.getContext('2d');
      ctx.fillStyle = css(ink.reserved);
      ctx.fillRect(0, 0, strip.width, strip.height);
      const x = (n) => (n / most) * strip.width;
      for (const a of memory.areas) {
        if (strip === used) {
          ctx.fillStyle = css(ink.committed);
          ctx.fillRect(x(a.from), 0, Math.max(0, x(a.bytes) - 1), strip.height);
        }
        ctx.fillStyle = css(a.column < 0 ? ink.dim : category(ink, a.column));
        ctx.fillRect(x(a.usedFrom), 2, Math.max(0.5, x(a.committed)), strip.height - 4);
      }
      if (state.view) {
        ctx.strokeStyle = getComputedStyle(canvas).color;
        ctx.lineWidth = 2;
        ctx.strokeRect(Math.max(1, x(from) - 1), 1, Math.max(3, x(to - from) + 2), strip.height - 2);
      }
    }
    replace(stripNames[0], `${format.bytes(memory.bytes)} reserved`);
    replace(stripNames[1], `${format.bytes(end)} in ${memory.areas.length} areas`);
  }

  // cellHere returns the cell under the pointer with its area and its state, or null.
  function cellHere() {
    const cell = pointed >= 0 ? cellAt(layout, pointed) : null;
    if (!cell) return null;
    const i = data?.layout === layout ? data.first[cell.order] + cell.index : -1;
    const area = i >= 0 && data.area[i] !== nothing ? data.area[i] : cell.range.area;
    const share = i >= 0 && data.notes[i] & note.value ? data.value[i] / 255 : null;
    return { from: cell.from, to: cell.to, area, words: i >= 0 ? describeCell(data, i) : '', share };
  }

  // slotsOf returns the slots [lo, hi) whose data lies in a cell, or null.
  function slotsOf(cell) {
    const a = memory.areas[cell.area];
    if (!a || a.stride === 0) return null;
    const unit = Math.abs(a.stride);
    let [lo, hi] = [Math.max(cell.from, a.from) - a.first, Math.min(cell.to, a.from + a.bytes) - a.first];
    if (a.stride < 0) [lo, hi] = [unit - hi, unit - lo];
    lo = Math.floor(Math.max(0, lo) / unit) * a.share;
    hi = Math.min(Math.ceil(Math.max(0, hi) / unit) * a.share, memory.slots);
    return lo < hi ? [lo, hi] : null;
  }

  // showTip shows a tooltip for the cell under the pointer. If moved is true, the pointer has moved to
  // another cell, and showTip also calls onHere.
  function showTip(moved = true) {
    if (moved) extra = '';
    const cell = cellHere();
    if (!cell) {
      tip.hide();
      if (moved) onHere(null);
      return;
    }
    const area = memory.areas[cell.area];
    const slots = slotsOf(cell);
    const lines = [area ? areaName(area) : 'between areas'];
    if (slots)
      lines.push(
        slots[1] - slots[0] === 1
          ? `slot ${format.number(slots[0])}`
          : `slots ${format.number(slots[0])} – ${format.number(slots[1] - 1)}`,
      );
    if (cell.words) lines.push(cell.words);
    if (cell.share !== null)
      lines.push(`${format.percent(cell.share)} ${state.by === 'change' ? 'changed' : 'in use'}`);
    if (extra) lines.push(extra);
    const box = canvas.getBoundingClientRect();
    const [x, y] = [
      box.left + (pointed % layout.columns) * size,
      box.top + Math.floor(pointed / layout.columns) * size,
    ];
    tip.show(
      x + size / 2,
      y + size / 2,
      lines.map((line, i) => h(i === 0 ? 'strong' : 'div', null, line)),
    );
    if (!moved) return;
    onHere(cell);
    if (byKeys) say(lines.join('. '));
  }
  function addTip(text) {
    extra = text;
    if (pointed < 0) return;
    showTip(false);
    if (byKeys) say(text);
  }
  let saying = 0;
  const say = (text) => {
    clearTimeout(saying);
    saying = setTimeout(() => onAnnounce(text), 350);
  };

  function point(number, keys = false) {
    if (number === pointed) return;
    byKeys = keys;
    pointed = number;
    showTip();
    draw();
  }

  function numberUnder(event) {
    const box = canvas.getBoundingClientRect();
    const [column, row] = [
      Math.floor((event.clientX - box.left) / size),
      Math.floor((event.clientY - box.top) / size),
    ];
    if (column < 0 || column >= layout.columns || row < 0 || row >= layout.rows) return -1;
    const number = row * layout.columns + column;
    return cellAt(layout, number) ? number : -1;
  }

  // wholeArea returns the finest scale, in bytes per cell, at which the used part of an area fits into the
  // picture.
  function wholeArea(index) {
    const a = memory.areas[index];
    const { width, height } = room();
    const all = levels(a, memory.pageSize);
    return (
      all.find((bytes) => {
        const s = cellSize(bytes, memory.pageSize);
        const n = Math.floor(width / s) * Math.floor(height / s);
        return Math.min(n, 60000) * bytes >= Math.max(a.committed, 1);
      }) ?? all.at(-1)
    );
  }
  function partial() {
    const area = state.view && memory.areas[state.view.area];
    const r = layout.ranges[0];
    return Boolean(area && r && (r.from > area.usedFrom || r.to < area.usedFrom + area.committed));
  }

  function enter(index, at) {
    if (index === undefined || !memory.areas[index]) return;
    const bytes = wholeArea(index);
    onZoom({ area: index, from: at === undefined ? memory.areas[index].usedFrom : at, bytes });
  }

  // zoom zooms out by a number of scales, around the pointer. A negative number zooms in.
  function zoom(scales, cell = cellHere()) {
    if (!state.view) {
      if (scales < 0) {
        const index =
          cell?.area >= 0
            ? cell.area
            : memory.areas.reduce(
                (best, a, i) => (a.resident > (memory.areas[best]?.resident ?? -1) ? i : best),
                -1,
              );
        enter(index);
      }
      return;
    }
    const area = memory.areas[state.view.area];
    const all = levels(area, memory.pageSize);
    const at = all.indexOf(state.view.bytes);
    const next = at + scales;
    if (next >= all.length || (scales > 0 && !partial())) {
      onZoom(null);
      return;
    }
    if (next < 0) return;
    // The cell under the pointer keeps its position in the picture, except for rounding to whole rows.
    const r = layout.ranges[0];
    const middle = cell ? cell.from : r.from + (r.to - r.from) / 2;
    const share = pointed >= 0 && cell ? pointed / layout.cells : 0.5;
    const { width, height } = room();
    const s = cellSize(all[next], memory.pageSize);
    const span = Math.floor(width / s) * Math.floor(height / s) * all[next];
    onZoom({ area: state.view.area, from: middle - share * span, bytes: all[next] });
  }

  function move(bytes) {
    if (state.view) onZoom({ ...state.view, from: state.view.from + bytes });
  }

  function open(cell = cellHere()) {
    if (!cell) return;
    const slots = slotsOf(cell);
    if (slots) onOpen(slots[0], memory.areas[cell.area].column);
    else if (!state.view) enter(cell.area);
  }

  let grabbed = null;
  canvas.addEventListener('pointermove', (event) => {
    if (grabbed) {
      const moved =
        Math.round((event.clientY - grabbed.y) / size) * layout.columns +
        Math.round((event.clientX - grabbed.x) / size);
      if (moved !== 0) grabbed.moved = true;
      if (state.view && moved !== 0) {
        tip.hide();
        onZoom({ ...state.view, from: grabbed.from - moved * layout.bytes });
        [grabbed.x, grabbed.y, grabbed.from] = [event.clientX, event.clientY, state.view.from];
      }
      return;
    }
    point(numberUnder(event));
  });
  canvas.addEventListener('pointerdown', (event) => {
    if (event.button !== 0) return;
    point(numberUnder(event));
    grabbed = { x: event.clientX, y: event.clientY, from: state.view?.from ?? 0, moved: false };
    if (state.view) {
      canvas.setPointerCapture(event.pointerId);
      canvas.classList.add('grabbed');
    }
  });
  canvas.addEventListener('pointerup', () => {
    canvas.classList.remove('grabbed');
    const was = grabbed;
    grabbed = null;
    if (was && !was.moved) open();
  });
  canvas.addEventListener('pointercancel', () => {
    grabbed = null;
    canvas.classList.remove('grabbed');
  });
  canvas.addEventListener('pointerleave', () => {
    if (!grabbed && !byKeys) point(-1);
  });
  canvas.addEventListener('blur', () => point(-1));
  canvas.addEventListener('focus', () => {
    if (pointed < 0 && layout.ranges[0] && canvas.matches(':focus-visible')) point(layout.ranges[0].at, true);
  });
  let turned = 0;
  canvas.addEventListener(
    'wheel',
    (event) => {
      if (event.ctrlKey || event.metaKey) return;
      if (!state.view && event.deltaY > 0) return; // the page scrolls
      event.preventDefault();
      turned += event.deltaY;
      if (Math.abs(turned) < 60) return;
      point(numberUnder(event));
      zoom(Math.sign(turned));
      turned = 0;
    },
    { passive: false },
  );
  canvas.addEventListener('keydown', (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const rowBytes = layout.columns * layout.bytes;
    const step = { ArrowLeft: -1, ArrowRight: 1, ArrowUp: -layout.columns, ArrowDown: layout.columns }[
      event.key
    ];
    if (step !== undefined) go(step);
    else if (event.key === '+' || event.key === '=') zoom(-1);
    else if (event.key === '-') zoom(1);
    else if (event.key === 'PageDown' && state.view) move(rowBytes * Math.floor(layout.rows * 0.8));
    else if (event.key === 'PageUp' && state.view) move(-rowBytes * Math.floor(layout.rows * 0.8));
    else if (event.key === 'Enter' || event.key === ' ') open();
    else if ((event.key === 'Escape' || event.key === 'Backspace') && state.view) onZoom(null);
    else return;
    event.preventDefault();
  });

  // go moves the pointer by a number of cells, and skips gaps between bands. At the edge of the picture of
  // one area, go scrolls the picture.
  function go(step) {
    if (pointed < 0) {
      if (layout.ranges[0]) point(layout.ranges[0].at, true);
      return;
    }
    const most = layout.rows * layout.columns;
    for (let n = pointed + step; n >= 0 && n < most; n += step) {
      if (cellAt(layout, n)) {
        point(n, true);
        return;
      }
    }
    if (state.view) move(Math.sign(step) * layout.columns * layout.bytes);
  }

  for (const [strip, most] of [
    [whole, () => memory.bytes],
    [used, () => memory.areas.reduce((n, a) => Math.max(n, a.from + a.bytes), 1)],
  ]) {
    strip.addEventListener('click', (event) => {
      const box = strip.getBoundingClientRect();
      const at = ((event.clientX - box.left) / box.width) * most();
      const index = memory.areas.findIndex((a) => at < a.from + a.bytes);
      if (index >= 0) enter(index);
    });
  }

  const watcher = new ResizeObserver(() => {
    if (memory && Math.abs(place.clientWidth - shown.width) > 4) onResize();
  });
  function start() {
    watcher.observe(place);
  }
  function stop() {
    watcher.disconnect();
    cancelAnimationFrame(frame);
    clearTimeout(saying);
    tip.hide();
  }
  return self;
}
