// The layout and the colours of the cells of the memory picture. A place is the offset of a byte in the
// sequence of the world's reservations.
//
// A layout is a grid of cells: { columns, rows, bytes, ranges, bands, cells }. bytes is the number of bytes
// of a cell. A range { from, to, n, at, area } divides the places [from, to) into n cells; at is the index
// of the first of these cells in the grid, row by row. Ranges are in the order of their cells. A band
// { title, key, row, rows, areas } is a named part of the grid. An area is the memory of one array of the
// world; area and areas are indexes in memory.areas, and area is -1 for memory that belongs to no area.

import { color, format, palette } from './ui.js';

export const maxCells = 1 << 16;
const maxRanges = 240; // more ranges might not fit into a URL

// Bits of a cell's notes.
export const note = { decommitted: 1, swapped: 2, zero: 4, value: 8, archetypes: 16, areas: 32 };
export const nothing = 65535; // stands for no area or no archetype

export const modes = [
  { id: 'state', title: 'State', about: 'State of each page: reserved, committed, resident' },
  { id: 'column', title: 'Column', about: 'Column of each cell; pale if not resident' },
  { id: 'archetype', title: 'Archetype', about: 'Archetype that owns the slots' },
  { id: 'density', title: 'Density', about: 'Share of the slots in use' },
  { id: 'change', title: 'Change', about: 'Share of the memory that has changed since the last comparison' },
];

// border returns the place where cell i of a range begins.
export const border = (range, i) =>
  i >= range.n ? range.to : range.from + Math.floor((i / range.n) * (range.to - range.from));

// groups returns one group of areas for each column, and one group for the areas of the world itself.
function groups(memory) {
  const all = new Map();
  memory.areas.forEach((a, index) => {
    if (!all.has(a.column))
      all.set(a.column, { column: a.column, title: a.column < 0 ? 'world' : a.name, areas: [], bytes: 0 });
    const group = all.get(a.column);
    group.areas.push(index);
    group.bytes += a.committed;
  });
  return [...all.values()];
}

// unassigned returns the widest part of a reservation that belongs to no area. Areas are assigned from both
// ends of the reservation, so this part usually lies in the middle.
function unassigned(r, areas) {
  const end = r.from + r.bytes;
  let free = { from: end, to: end };
  let from = r.from;
  const within = areas.filter((a) => a.from >= r.from && a.from < end).sort((a, b) => a.from - b.from);
  for (const a of [...within, { from: end, bytes: 0 }]) {
    if (a.from - from > free.to - free.from) free = { from, to: a.from };
    from = Math.max(from, a.from + a.bytes);
  }
  return free;
}

// layoutWorld lays out the areas, at most maxRanges of them. Each column and the world itself get a band, but
// successive small columns share a band. If whole is true, the layout also contains memory that is reserved
// but not committed.
export function layoutWorld(memory, { columns, rows, whole }) {
  const all = groups(memory).filter((g) => whole || g.bytes > 0);
  if (whole) {
    for (const r of memory.reservations) {
      const free = unassigned(r, memory.areas);
      if (free.from < free.to) all.push({ column: -2, title: 'unassigned', areas: [], free, bytes: 0 });
    }
  }
  const spans = (g) =>
    g.free
      ? [{ ...g.free, area: -1 }]
      : g.areas
          .map((index) => {
            const a = memory.areas[index];
            return whole
              ? { from: a.from, to: a.from + a.bytes, area: index }
              : { from: a.usedFrom, to: a.usedFrom + a.committed, area: index };
          })
          .filter((s) => s.to > s.from);
  const parts = all.map((g) => ({ ...g, spans: spans(g) }));
  let total = 0;
  for (const g of parts) for (const s of g.spans) total += s.to - s.from;
  for (let bytes = 64; ; bytes = coarser(bytes, memory.pageSize)) {
    if (total / bytes > maxCells) continue;
    const layout = bandsOf(parts, columns, bytes);
    if ((layout.rows <= rows && layout.cells <= maxCells) || bytes > 2 ** 50) return layout;
  }
}

function coarser(bytes, page) {
  if (bytes < page) return bytes * 2;
  const pages = bytes / page; // 1, 2, 3, 4, 6, 8, 12 …
  return (
    page * (Number.isInteger(Math.log2(pages)) && pages > 1 ? pages * 1.5 : pages === 1 ? 2 : (pages * 4) / 3)
  );
}

const bandLeast = 3; // smallest number of rows of a band; the name of the band needs them

function bandsOf(parts, columns, bytes) {
  const layout = { columns, rows: 0, bytes, ranges: [], bands: [], cells: 0 };
  let small = null;
  const close = () => {
    if (!small) return;
    small.rows = Math.max(bandLeast, Math.ceil(small.cells / columns));
    if (small.count > 1) small.title = `${small.count} small columns`;
    layout.rows = small.row + small.rows + 1;
    small = null;
  };
  for (const g of parts) {
    const cells = g.spans.reduce((n, s) => n + Math.max(1, Math.ceil((s.to - s.from) / bytes)), 0);
    if (cells === 0) continue;
    const tiny = cells < columns && !g.free;
    if (!tiny || !small) close();
    const band =
      tiny && small
        ? small
        : { title: g.title, key: g.column, row: layout.rows, rows: 0, cells: 0, count: 0, areas: [] };
    if (band !== small) layout.bands.push(band);
    if (tiny) small = band;
    for (const s of g.spans) {
      const n = Math.max(1, Math.ceil((s.to - s.from) / bytes));
      if (layout.ranges.length < maxRanges) {
        layout.ranges.push({ ...s, n: Math.min(n, s.to - s.from), at: band.row * columns + band.cells });
        layout.cells += n;
      }
      band.cells += n;
    }
    band.count++;
    band.areas.push(...g.areas);
    if (!tiny) {
      band.rows = Math.max(bandLeast, Math.ceil(band.cells / columns));
      layout.rows = band.row + band.rows + 1;
    }
  }
  close();
  layout.rows = Math.max(1, layout.rows - 1);
  return layout;
}

// levels returns the scales for an area, in bytes per cell, the finest scale first.
export function levels(area, page) {
  const unit = Math.abs(area.stride) || 8;
  const all = new Set([1]);
  for (const b of [2, 4, 8, 16]) if (unit % b === 0 && b < unit) all.add(b);
  for (let b = unit; b < page / 2; b *= 4) all.add(b);
  for (let b = page; b <= Math.max(page, area.bytes / 16); b *= 2) all.add(b);
  return [...all].sort((a, b) => a - b);
}

// layoutArea lays out the part of one area that begins near view.from.
export function layoutArea(memory, view, { columns, rows }) {
  const area = memory.areas[view.area];
  const unit = Math.abs(area.stride) || 8;
  // A row holds whole elements, so that a field has the same column in all rows.
  const elements = unit / view.bytes;
  if (Number.isInteger(elements) && elements > 1 && columns >= elements) columns -= columns % elements;
  else if (columns > 64) columns -= columns % 64;
  const step = Math.max(view.bytes, view.bytes < unit ? unit : 1);
  const span = columns * rows * view.bytes;
  const end = area.from + area.bytes;
  const least = area.stride < 0 ? area.usedFrom : area.from;
  const most = Math.max(least, Math.min(end, Math.max(area.usedFrom + area.committed, least + 1)) - span);
  let from = Math.max(least, Math.min(view.from, most));
  const origin = area.stride === 0 ? area.from : area.first;
  from = Math.max(area.from, origin + Math.floor((from - origin) / step) * step);
  const to = Math.min(end, from + span);
  const n = Math.min(maxCells, Math.ceil((to - from) / view.bytes));
  return {
    columns,
    rows: Math.ceil(n / columns),
    bytes: view.bytes,
    cells: n,
    bands: [],
    ranges: [{ from, to: Math.min(end, from + n * view.bytes), n, at: 0, area: view.area }],
  };
}

// rangesOf returns a layout's ranges as a query parameter for the server.
export const rangesOf = (layout) => layout.ranges.map((r) => `${r.from}-${r.to}-${r.n}`).join(',');

export function decode(buffer, layout, by) {
  const head = new DataView(buffer);
  const n = head.getUint32(8, true);
  const padded = (n + 3) & ~3;
  const data = {
    layout,
    by,
    n,
    sampled: (head.getUint32(12, true) & 1) !== 0,
    seconds: head.getFloat64(16, true),
  };
  let at = 24;
  for (const plane of ['committed', 'resident', 'huge', 'notes', 'value']) {
    data[plane] = new Uint8Array(buffer, at, n);
    at += padded;
  }
  data.area = new Uint16Array(buffer, at, n);
  at += (2 * n + 3) & ~3;
  data.archetype = new Uint16Array(buffer, at, n);
  let first = 0;
  data.first = layout.ranges.map((r) => {
    first += r.n;
    return first - r.n;
  });
  return data;
}

// cellAt returns the cell at an index of the grid: { range, order, index, from, to }. order is the index of
// the range, and index is the cell's index in the range. The cell stands for the places [from, to). For a
// part of the grid without a range, cellAt returns null.
export function cellAt(layout, number) {
  let lo = 0;
  let hi = layout.ranges.length;
  while (lo < hi) {
    const middle = (lo + hi) >> 1;
    if (layout.ranges[middle].at <= number) lo = middle + 1;
    else hi = middle;
  }
  const range = layout.ranges[lo - 1];
  if (!range || number >= range.at + range.n) return null;
  return {
    range,
    order: lo - 1,
    index: number - range.at,
    from: border(range, number - range.at),
    to: border(range, number - range.at + 1),
  };
}

// numberOf returns the grid index of the cell that contains a place, or -1.
export function numberOf(layout, place) {
  for (const r of layout.ranges) {
    if (place < r.from || place >= r.to) continue;
    let i = Math.min(r.n - 1, Math.floor(((place - r.from) / (r.to - r.from)) * r.n));
    while (i + 1 < r.n && border(r, i + 1) <= place) i++;
    return r.at + i;
  }
  return -1;
}

// dataAt returns the index in the data of the cell that contains a place, or -1.
export function dataAt(data, place) {
  for (let k = 0; k < data.layout.ranges.length; k++) {
    const r = data.layout.ranges[k];
    if (place >= r.from && place < r.to)
      return data.first[k] + Math.min(r.n - 1, Math.floor(((place - r.from) / (r.to - r.from)) * r.n));
  }
  return -1;
}

// Colours are [red, green, blue].
function rgb(variable) {
  const text = color(variable);
  const n = Number.parseInt(text.slice(1), 16);
  return text.length === 4
    ? [(n >> 8) * 17, ((n >> 4) & 15) * 17, (n & 15) * 17]
    : [n >> 16, (n >> 8) & 255, n & 255];
}

const mix = (a, b, share) => [
  a[0] + (b[0] - a[0]) * share,
  a[1] + (b[1] - a[1]) * share,
  a[2] + (b[2] - a[2]) * share,
];
const packed = ([r, g, b]) =>
  ((255 << 24) | (Math.round(b) << 16) | (Math.round(g) << 8) | Math.round(r)) >>> 0;
export const css = ([r, g, b]) => `rgb(${Math.round(r)} ${Math.round(g)} ${Math.round(b)})`;

// inks returns the colours of the current theme.
export function inks() {
  const names = ['reserved', 'decommitted', 'committed', 'resident', 'huge', 'zero', 'swapped'];
  const ink = Object.fromEntries(names.map((name) => [name, rgb(`--page-${name}`)]));
  ink.panel = rgb('--panel');
  ink.dim = rgb('--edge');
  ink.of = Array.from({ length: 8 }, (_, i) => rgb(palette(i)));
  ink.density = Array.from({ length: 6 }, (_, i) => rgb(`--dense-${i}`));
  ink.change = Array.from({ length: 4 }, (_, i) => rgb(`--change-${i}`));
  return ink;
}

export function ramp(stops, share) {
  const at = Math.min(0.9999, Math.max(0, share)) * (stops.length - 1);
  return mix(stops[Math.floor(at)], stops[Math.floor(at) + 1], at % 1);
}

// category returns the colour of column or archetype n. Eight colours repeat in three shades, from full to
// pale.
export function category(ink, n) {
  const tone = Math.floor(n / 8) % 3;
  return tone === 0 ? ink.of[n % 8] : mix(ink.of[n % 8], ink.panel, tone * 0.27);
}

// tones are the paleness of areas by kind: 0 is the colour of the column, 1 is the colour of the panel.
const tones = {
  elements: 0,
  links: 0.15,
  generations: 0,
  presence: 0.4,
  live: 0.4,
  owners: 0.2,
  levels: 0.5,
  summaries: 0.6,
};

// painter returns the function that maps i to the colour of cell i of the data.
export function painter(data, memory, ink) {
  const state = (i) => {
    if (data.committed[i] === 0) return data.notes[i] & note.decommitted ? ink.decommitted : ink.reserved;
    const full = data.committed[i];
    let c = mix(
      ink.committed,
      data.notes[i] & note.zero ? ink.zero : ink.resident,
      Math.min(1, data.resident[i] / full),
    );
    c = mix(c, ink.huge, Math.min(1, data.huge[i] / full));
    return data.notes[i] & note.swapped ? ink.swapped : c;
  };
  const known = (i) => data.notes[i] & note.value;
  const faint = (i) => mix(ink.reserved, ink.committed, data.committed[i] > 0 ? 0.6 : 0);
  switch (data.by) {
    case 'column':
      return (i) => {
        const a = memory.areas[data.area[i]];
        if (!a || data.committed[i] === 0) return ink.reserved;
        const c = mix(a.column < 0 ? ink.dim : category(ink, a.column), ink.panel, tones[a.kind] ?? 0.5);
        return mix(mix(c, ink.reserved, 0.72), c, Math.min(1, data.resident[i] / data.committed[i]));
      };
    case 'archetype':
      return (i) => {
        if (data.archetype[i] === nothing) return faint(i);
        const c = category(ink, data.archetype[i]);
        return data.notes[i] & note.archetypes ? mix(c, ink.panel, 0.3) : c;
      };
    case 'density':
      return (i) => (known(i) ? ramp(ink.density, data.value[i] / 255) : faint(i));
    case 'change':
      return (i) =>
        known(i) ? ramp(ink.change, data.value[i] === 0 ? 0 : 0.35 + (0.65 * data.value[i]) / 255) : faint(i);
    default:
      return state;
  }
}

// paint fills an image, one pixel for each cell. If the data belong to an earlier layout, paint looks up the
// place of each cell in that layout.
export function paint(image, layout, data, memory, ink) {
  const pixels = new Uint32Array(image.data.buffer);
  pixels.fill(0);
  const colourOf = painter(data, memory, ink);
  layout.ranges.forEach((range, k) => {
    if (data.layout === layout) {
      for (let i = 0; i < range.n; i++) pixels[range.at + i] = packed(colourOf(data.first[k] + i));
      return;
    }
    for (let i = 0; i < range.n; i++) {
      const cell = dataAt(data, border(range, i));
      pixels[range.at + i] = packed(cell < 0 ? ink.reserved : colourOf(cell));
    }
  });
}

// describeCell returns the state of a cell's memory in words.
export function describeCell(data, i) {
  if (data.committed[i] === 0)
    return data.notes[i] & note.decommitted ? 'decommitted: given back to the system' : 'reserved only';
  const share = (n) => (n === 0 ? 'none' : n >= data.committed[i] ? 'all' : format.percent(n / 255));
  const words = [
    data.committed[i] < 255 ? `${format.percent(data.committed[i] / 255)} committed` : 'committed',
    `resident: ${share(data.resident[i])}`,
  ];
  if (data.huge[i] > 0) words.push(`huge pages: ${share(data.huge[i])}`);
  if (data.notes[i] & note.zero) words.push('the system’s page of zeros');
  if (data.notes[i] & note.swapped) words.push('swapped');
  return words.join(', ');
}

export function areaName(area) {
  const kind = area.kind === 'levels' || area.kind === 'marks' ? `${area.kind} ${area.number}` : area.kind;
  return area.column < 0 ? kind : `${area.name}: ${kind}`;
}
