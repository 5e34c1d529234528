// A layer of the map: the entities of an SQL statement, as dots. The statement runs again every few seconds.

import { aborted, binary, get } from './api.js';
import { ground, ramp } from './map-paint.js';
import { queryBox } from './query-box.js';
import { complete } from './sql-complete.js';
import { explain } from './sql-help.js';
import { titleOf } from './sql-pins.js';
import { dialog, format, h, isDark, setText } from './ui.js';

const leastPause = 2000; // shortest time from an answer to the next request, in milliseconds
const colour = () => ramp('amber', isDark() ? 0.75 : 0.45);
const reach = 8; // greatest distance of a click from a dot, in pixels

// pointLayer makes the layer. path is the view's path in the API. The layer calls the function changed when
// the map must draw the layer again, or when the layer has another statement. The members of the layer:
//   element                       the row of the legend
//   statement                     the statement; '' for none
//   ask(statement)                sets the statement
//   draw(context, camera, width, height)
//   nearest(camera, px, py)       the ID of the entity near a pixel, or ''
//   recolour()                    adapts the legend to the theme
//   destroy()
export function pointLayer(path, statement, changed) {
  let points = null; // the last answer: { n, more, places, ids }
  let asking = null;
  let timer = 0;
  let schema = { tables: [], functions: [] };
  const dots = new Dots();

  const swatch = h('span', { class: 'map-dot', aria: { hidden: 'true' } });
  const name = h('span', { class: 'clip' });
  const count = h('span', { class: 'num' });
  const button = h('button', { type: 'button', class: 'map-layer', onclick: edit }, swatch, name, count);
  const failure = h('p', { class: 'bad map-failure', role: 'status' });
  const element = h('div', null, button, failure);

  function tell() {
    setText(name, layer.statement ? titleOf(layer.statement) : 'Entities from SQL…');
    button.title = layer.statement || 'Show the entities of an SQL statement on the map';
    setText(count, points ? `${format.number(points.n)}${points.more ? ' or more' : ''}` : '');
    swatch.hidden = !layer.statement;
  }

  function ask(text) {
    clearTimeout(timer);
    asking?.abort();
    layer.statement = text;
    points = null;
    setText(failure, '');
    tell();
    changed();
    if (text) look();
  }

  async function look() {
    const mine = new AbortController();
    asking = mine;
    let pause = leastPause;
    if (!document.hidden) {
      const begun = performance.now();
      try {
        points = decoded(await binary(`${path}/points`, { q: layer.statement }, { signal: mine.signal }));
        setText(failure, '');
      } catch (error) {
        if (aborted(error) || mine.signal.aborted) return;
        setText(failure, explain(error, schema));
        if (error.status >= 400 && error.status < 500) points = null;
      }
      pause = Math.max(pause, 5 * (performance.now() - begun));
      tell();
      changed();
    }
    timer = setTimeout(look, pause);
  }

  // edit opens a dialog with the statement.
  async function edit() {
    const box = queryBox({
      label: 'SQL statement with a column entity',
      text: layer.statement,
      placeholder: 'SELECT entity FROM …',
      lines: 3,
      suggest: async (text, caret) => complete(text, caret, schema),
      onSubmit: show,
      editor: { most: 4000, onEdge: () => false },
    });
    const opened = dialog(
      'Entities from SQL',
      h(
        'div',
        { class: 'stack' },
        h(
          'p',
          { class: 'dim' },
          'The map marks the entities in the column entity of the result, at most 100,000.',
        ),
        box.element,
        h(
          'div',
          { class: 'row' },
          h('button', { type: 'button', class: 'primary', onclick: show }, 'Show'),
          layer.statement &&
            h(
              'button',
              {
                type: 'button',
                onclick: () => {
                  opened.close();
                  ask('');
                },
              },
              'Remove',
            ),
          layer.statement &&
            h(
              'a',
              {
                class: 'button',
                href: `#/sql?${new URLSearchParams({ q: layer.statement })}`,
                onclick: () => opened.close(),
              },
              'Show the rows',
            ),
        ),
      ),
    );
    opened.addEventListener('close', () => box.destroy());
    box.input.focus();
    function show() {
      opened.close();
      ask(box.text.trim());
    }
    try {
      schema = await get('sql/tables');
    } catch {
      // The dialog works without completion.
    }
  }

  const layer = {
    element,
    statement,
    ask,
    draw(context, camera, width, height) {
      if (!points?.n) return;
      context.drawImage(
        dots.paint(points, camera, Math.max(1, Math.round(width)), Math.max(1, Math.round(height))),
        0,
        0,
        width,
        height,
      );
    },
    nearest: (camera, px, py) => (points ? near(points, camera, px, py) : ''),
    recolour() {
      swatch.style.background = `rgb(${colour().join(' ')})`;
    },
    destroy() {
      clearTimeout(timer);
      asking?.abort();
    },
  };
  layer.recolour();
  tell();
  if (statement) look();
  return layer;
}

// decoded reads an answer of the server. ids has slot and generation of each entity.
function decoded(buffer) {
  const head = new DataView(buffer);
  const n = head.getUint32(4, true);
  return {
    n,
    more: head.getUint32(8, true) === 1,
    places: new Float32Array(buffer, 16, 2 * n),
    ids: new Uint32Array(buffer, 16 + 8 * n, 2 * n),
  };
}

// eachPixel calls f(px, py, index) for each place of each point, except for points on the hidden side of the
// globe. The place may lie outside of the view. A flat map that is wider than the world shows a point several
// times.
function eachPixel({ n, places }, camera, width, margin, f) {
  const out = [0, 0];
  const period = camera.globe ? 0 : camera.period * camera.unitX();
  for (let i = 0; i < n; i++) {
    if (!camera.project(places[2 * i], places[2 * i + 1], out)) continue;
    let [x, y] = out;
    if (period > 0) x -= period * Math.floor((x + margin) / period);
    do f(x, y, i);
    while (period > 0 && (x += period) < width + margin);
  }
}

// Dots paints points into a canvas: a disc for each point, with a rim that separates the disc from the map
// below.
class Dots {
  constructor() {
    this.canvas = document.createElement('canvas');
    this.context = this.canvas.getContext('2d');
  }

  paint(points, camera, width, height) {
    if (this.canvas.width !== width || this.canvas.height !== height || !this.image) {
      [this.canvas.width, this.canvas.height] = [width, height];
      this.image = this.context.createImageData(width, height);
      this.pixels = new Uint32Array(this.image.data.buffer);
    }
    const { pixels } = this;
    pixels.fill(0);
    const radius = points.n <= 200 ? 4 : points.n <= 5000 ? 3 : points.n <= 30_000 ? 2 : 1.2;
    const margin = Math.ceil(radius) + 1;
    const seen = []; // index of the middle pixel of each dot that lies wholly in the canvas
    eachPixel(points, camera, width, 0, (x, y) => {
      const [cx, cy] = [Math.floor(x), Math.floor(y)];
      if (cx >= margin && cy >= margin && cx < width - margin && cy < height - margin)
        seen.push(cy * width + cx);
    });
    for (const [r, ink] of [
      [radius + 1, pixel(ground().sea)],
      [radius, pixel(colour())],
    ]) {
      const disc = discOf(r, width);
      for (const middle of seen) for (const offset of disc) pixels[middle + offset] = ink;
    }
    this.context.putImageData(this.image, 0, 0);
    return this.canvas;
  }
}

// discOf returns the pixels of a disc, as offsets from the index of the middle pixel.
function discOf(r, width) {
  const list = [];
  for (let y = -Math.ceil(r); y <= r; y++)
    for (let x = -Math.ceil(r); x <= r; x++) if (x * x + y * y <= r * r + 0.5) list.push(y * width + x);
  return Int32Array.from(list);
}

// pixel returns a colour, #rrggbb or [r, g, b], as a pixel of an ImageData.
function pixel(ink) {
  const [r, g, b] = Array.isArray(ink) ? ink : [1, 3, 5].map((i) => parseInt(ink.slice(i, i + 2), 16));
  return ((255 << 24) | (b << 16) | (g << 8) | r) >>> 0;
}

function near(points, camera, px, py) {
  let [best, distance] = [-1, reach];
  eachPixel(points, camera, px + reach, reach, (x, y, i) => {
    const d = Math.hypot(x - px, y - py);
    if (d < distance) [best, distance] = [i, d];
  });
  return best < 0 ? '' : `${points.ids[2 * best]}.${points.ids[2 * best + 1]}`;
}
