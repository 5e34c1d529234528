// Draws the map: the ground with outlines, the counts as dots, names, and a mark at the selected thing.

import { color, isDark } from './ui.js';

const radian = Math.PI / 180;
const shades = 16; // number of colours of a layer

// Colours of the ground in both themes.
const grounds = {
  dark: {
    sea: '#070c14',
    land: '#141d2a',
    coast: '#5d7188',
    grid: 'rgb(120 150 180 / 9%)',
    beyond: '#090d0f',
    halo: 'rgb(7 12 20 / 85%)',
  },
  light: {
    sea: '#e3eaed',
    land: '#f8f7f2',
    coast: '#8fa0a6',
    grid: 'rgb(30 60 80 / 9%)',
    beyond: '#e8ebe7',
    halo: 'rgb(248 247 242 / 90%)',
  },
};
export const ground = () => grounds[isDark() ? 'dark' : 'light'];

// Colours of layers, from low to high counts. Blue and red also differ in brightness, for colour-blind users.
const ramps = {
  dark: {
    blue: ['#18346a', '#185496', '#1c82be', '#46bedc', '#a0e8ec', '#fafffa'],
    red: ['#78143c', '#c81946', '#ff2d3c', '#ff552d', '#ff8c32', '#ffc878'],
    green: ['#123c24', '#1a6a3a', '#2a9a50', '#5cc878', '#a8eab0', '#f6fff4'],
    amber: ['#4a3408', '#80580a', '#b8841a', '#e0b040', '#f4d88a', '#fffbe8'],
    violet: ['#34205c', '#563692', '#8458c4', '#ae8ae4', '#d6c0f6', '#fcf8ff'],
  },
  light: {
    blue: ['#9cc4de', '#64a0cc', '#327cb6', '#1a5a96', '#113c70', '#0a2046'],
    red: ['#f0a8a0', '#ec7a70', '#e04848', '#c42434', '#98142e', '#660a24'],
    green: ['#a8d2b0', '#70b484', '#42945c', '#267440', '#15522a', '#0a3018'],
    amber: ['#e8cc94', '#d6ac58', '#b8882a', '#906612', '#68480a', '#402c04'],
    violet: ['#ccb6e6', '#ac8ad4', '#8860bc', '#683e9c', '#482674', '#2c144a'],
  },
};

function rgb(hex) {
  const n = parseInt(hex.slice(1), 16);
  return [n >> 16, (n >> 8) & 255, n & 255];
}

// ramp returns a layer's colour at a fraction from 0 to 1, as [r, g, b].
export function ramp(name, at) {
  const colours = ramps[isDark() ? 'dark' : 'light'][name] ?? ramps.dark.blue;
  const place = Math.min(1, Math.max(0, at)) * (colours.length - 1);
  const i = Math.min(colours.length - 2, Math.floor(place));
  const [a, b] = [rgb(colours[i]), rgb(colours[i + 1])];
  return a.map((v, c) => Math.round(v + (b[c] - v) * (place - i)));
}

const octaves = 10; // doublings of the count from the faintest to the brightest dot

// A layer that is shown as a share of another layer has its full colour at shares of at least fullShare.
// Below fullShare, the strength of the colour grows with the square root of the share.
export const fullShare = 0.25;

// Picture is a decoded picture from the server. counts has the counts of all cells, one layer after another.
export class Picture {
  constructor(buffer, view) {
    const head = new DataView(buffer);
    [this.columns, this.rows, this.layers] = [4, 8, 12].map((at) => head.getUint32(at, true));
    [this.x0, this.y0, this.x1, this.y1] = [16, 24, 32, 40].map((at) => head.getFloat64(at, true));
    this.counts = new Uint32Array(buffer, 48);
    this.view = view;
    this.sums = [];
    const cells = this.columns * this.rows;
    for (let layer = 0; layer < this.layers; layer++) {
      let sum = 0;
      for (let i = layer * cells, end = i + cells; i < end; i++) sum += this.counts[i];
      this.sums.push(sum);
    }
  }

  // dots returns the cells that are not empty in the shown layers:
  //   indexes   indexes of the cells
  //   levels    brightness of each cell, from 1 to 255
  //   colours   colour of each cell: layer × shades + shade
  //   full      lowest count with full brightness
  //   base      index of the base layer, or 0 without one; other layers are shown as shares of this layer
  dots(shown) {
    const cells = this.columns * this.rows;
    const base = shown.findIndex((on, i) => on && !this.view.layers[i].part);
    const parts = shown.map((on, i) => (on && i !== base ? i : -1)).filter((i) => i >= 0);
    const indexes = [];
    const counts = [];
    const colours = [];
    for (let cell = 0; cell < cells; cell++) {
      let count = base < 0 ? 0 : this.counts[base * cells + cell];
      let colour = Math.max(base, 0) * shades;
      let most = 0;
      for (const part of parts) {
        const n = this.counts[part * cells + cell];
        if (n <= most) continue;
        most = n;
        if (base < 0 || count === 0) {
          colour = part * shades + shades - 1;
        } else {
          const share = Math.min(1, Math.sqrt(n / count / fullShare));
          colour = part * shades + Math.round(share * (shades - 1));
        }
      }
      if (base < 0 || count === 0) count = most;
      if (count === 0) continue;
      indexes.push(cell);
      counts.push(count);
      colours.push(colour);
    }
    const sorted = Uint32Array.from(counts).sort();
    const full = Math.max(2, sorted[Math.floor(sorted.length * 0.995)] ?? 2);
    const levels = counts.map((n) =>
      Math.max(1, Math.min(255, Math.round(255 * (1 + Math.log2(n / full) / octaves)))),
    );
    return { indexes, levels, colours, full, base: Math.max(base, 0) };
  }
}

// Heat draws the dots of a picture through a camera.
export class Heat {
  constructor() {
    this.canvas = document.createElement('canvas');
    this.context = this.canvas.getContext('2d');
    this.palette = null;
  }

  // colour builds the table that maps a colour and a brightness to a pixel. Call colour again after a change
  // of the theme or of the base.
  colour(view, base) {
    const table = new Uint32Array(view.layers.length * shades * 256);
    const bytes = new Uint8ClampedArray(table.buffer);
    view.layers.forEach((layer, part) => {
      for (let shade = 0; shade < shades; shade++) {
        for (let level = 1; level < 256; level++) {
          const own = ramp(layer.colour, level / 255);
          const below = ramp(view.layers[base].colour, level / 255);
          const strength = part === base ? 1 : shade / (shades - 1);
          // Small shares must be visible even where counts are low.
          const lifted = part === base ? own : ramp(layer.colour, 0.25 + 0.75 * (level / 255));
          const at = 4 * ((part * shades + shade) * 256 + level);
          for (let c = 0; c < 3; c++) bytes[at + c] = below[c] + (lifted[c] - below[c]) * strength;
          bytes[at + 3] = Math.min(255, 12 + 1.25 * 255 * (level / 255) ** 0.8);
        }
      }
    });
    this.palette = table;
  }

  draw(camera, picture, dots, width, height) {
    width = Math.max(1, Math.round(width));
    height = Math.max(1, Math.round(height));
    if (this.canvas.width !== width || this.canvas.height !== height) {
      [this.canvas.width, this.canvas.height] = [width, height];
      this.image = this.context.createImageData(width, height);
      this.pixels = new Uint32Array(this.image.data.buffer);
      this.level = new Uint8Array(width * height);
      this.kind = new Uint8Array(width * height);
    }
    this.level.fill(0);
    const [cellX, cellY] = [
      (picture.x1 - picture.x0) / picture.columns,
      (picture.y1 - picture.y0) / picture.rows,
    ];
    const pixelsOfCell = Math.max(cellX * camera.unitX(), cellY * camera.unit());
    const kernels = this.kernels(Math.min(14, pixelsOfCell * 0.7), dots.indexes.length);
    const place = camera.globe
      ? this.onGlobe(camera, picture, cellX, cellY)
      : this.onPlane(camera, picture, cellX, cellY);
    const out = [0, 0];
    for (let i = 0; i < dots.indexes.length; i++) {
      const cell = dots.indexes[i];
      const column = cell % picture.columns;
      if (!place(column, (cell - column) / picture.columns, out)) continue;
      this.splat(
        out[0],
        out[1],
        kernels[dots.levels[i] >> 4],
        dots.levels[i],
        dots.colours[i],
        width,
        height,
      );
      // A window wider than the period of the view shows points several times.
      for (let x = out[0] + out[2]; out[2] > 0 && x < width + 16; x += out[2])
        this.splat(x, out[1], kernels[dots.levels[i] >> 4], dots.levels[i], dots.colours[i], width, height);
    }
    const { level, kind, pixels, palette } = this;
    for (let i = 0; i < pixels.length; i++)
      pixels[i] = level[i] === 0 ? 0 : palette[(kind[i] << 8) | level[i]];
    this.context.putImageData(this.image, 0, 0);
    return this.canvas;
  }

  // kernels returns the shapes of dots, indexed by the upper four bits of a dot's level. A shape is a list of
  // dx, dy, weight, dx, dy, weight …; weights are from 0 to 256. A dot is about as large as a cell. If there
  // are few dots, dots of high levels are larger.
  kernels(cell, count) {
    const extra = Math.max(0, 7 * (1 - Math.log10(Math.max(10, count)) / 4.3));
    return Array.from({ length: 16 }, (_, step) => {
      const part = (step + 1) / 16;
      const r = Math.max(0.9, part > 0.2 ? cell : cell * 0.75) + extra * part * part;
      const glow = part > 0.55 ? r * 2.6 : 0;
      const reach = Math.ceil(Math.max(r, glow));
      const list = [];
      for (let dy = -reach; dy <= reach; dy++) {
        for (let dx = -reach; dx <= reach; dx++) {
          // A rounded square leaves no gaps between neighbouring dots.
          let weight = Math.min(1, Math.max(0, r + 0.5 - (dx ** 4 + dy ** 4) ** 0.25));
          const d = Math.hypot(dx, dy);
          if (d < glow) weight = Math.max(weight, 0.42 * part * (1 - d / glow));
          if (weight > 0.02) list.push(dx, dy, Math.round(256 * weight));
        }
      }
      return Int16Array.from(list);
    });
  }

  splat(x, y, kernel, level, kind, width, height) {
    const [cx, cy] = [Math.round(x - 0.5), Math.round(y - 0.5)];
    if (cx < -20 || cy < -20 || cx > width + 20 || cy > height + 20) return;
    for (let i = 0; i < kernel.length; i += 3) {
      const [px, py] = [cx + kernel[i], cy + kernel[i + 1]];
      if (px < 0 || py < 0 || px >= width || py >= height) continue;
      const value = (level * kernel[i + 2]) >> 8;
      const at = py * width + px;
      if (value > this.level[at]) {
        this.level[at] = value;
        this.kind[at] = kind;
      }
    }
  }

  onPlane(camera, picture, cellX, cellY) {
    const { cx, cy, kx, ky, width, height } = camera.scale();
    const top = picture.view.down ? picture.y0 + cellY / 2 : picture.y1 - cellY / 2;
    const stepY = picture.view.down ? cellY : -cellY;
    const period = camera.period * kx;
    const x0 = (picture.x0 + cellX / 2 - cx) * kx + width / 2;
    const y0 = (top - cy) * ky + height / 2;
    return (column, row, out) => {
      let x = x0 + column * cellX * kx;
      if (period > 0) x -= period * Math.floor((x + 16) / period);
      out[0] = x;
      out[1] = y0 + row * stepY * ky;
      out[2] = period;
      return true;
    };
  }

  onGlobe(camera, picture, cellX, cellY) {
    const { lon, lat, r, width, height } = camera.sphere();
    const columns = new Float64Array(2 * picture.columns);
    const rows = new Float64Array(2 * picture.rows);
    for (let i = 0; i < picture.columns; i++) {
      const x = (picture.x0 + (i + 0.5) * cellX - lon) * radian;
      columns[2 * i] = Math.sin(x);
      columns[2 * i + 1] = Math.cos(x);
    }
    for (let i = 0; i < picture.rows; i++) {
      const y = (picture.y1 - (i + 0.5) * cellY) * radian;
      rows[2 * i] = Math.sin(y);
      rows[2 * i + 1] = Math.cos(y);
    }
    const [sinC, cosC] = [Math.sin(lat * radian), Math.cos(lat * radian)];
    return (column, row, out) => {
      const [sinY, cosY, sinX, cosX] = [
        rows[2 * row],
        rows[2 * row + 1],
        columns[2 * column],
        columns[2 * column + 1],
      ];
      if (sinC * sinY + cosC * cosY * cosX < 0.02) return false;
      out[0] = width / 2 + r * cosY * sinX;
      out[1] = height / 2 - r * (cosC * sinY - sinC * cosY * cosX);
      out[2] = 0;
      return true;
    };
  }
}

// drawGround draws sea, land, and a grid of round numbers. It returns the path of the coasts, for drawCoast.
export function drawGround(context, camera, view, width, height) {
  const g = ground();
  context.fillStyle = g.beyond;
  context.fillRect(0, 0, width, height);
  return camera.globe
    ? globeGround(context, camera, view, g)
    : planeGround(context, camera, view, g, width, height);
}

// drawCoast draws the coasts. Call it after the counts are drawn.
export function drawCoast(context, coast) {
  context.strokeStyle = ground().coast;
  context.lineWidth = 0.8;
  context.globalAlpha = 0.8;
  context.stroke(coast);
  context.globalAlpha = 1;
}

function planeGround(context, camera, view, g, width, height) {
  const { cx, cy, kx, ky } = camera.scale();
  const { bounds } = view;
  const px = (x) => (x - cx) * kx + width / 2;
  const py = (y) => (y - cy) * ky + height / 2;
  const [top, bottom] = [py(bounds.y0), py(bounds.y1)].sort((a, b) => a - b);
  const first = view.wraps ? Math.floor((cx - width / 2 / kx - bounds.x0) / camera.period) : 0;
  const last = view.wraps ? Math.floor((cx + width / 2 / kx - bounds.x0) / camera.period) : 0;
  context.fillStyle = g.sea;
  context.fillRect(
    view.wraps ? 0 : px(bounds.x0),
    top,
    view.wraps ? width : px(bounds.x1) - px(bounds.x0),
    bottom - top,
  );
  const land = new Path2D();
  const coast = new Path2D();
  for (let copy = first; copy <= last; copy++) {
    const shift = copy * (camera.period || 0);
    for (const line of view.outlines) {
      let [bx, by] = [line[line.length - 2], line[line.length - 1]];
      let pen = false;
      for (let i = 0; i < line.length; i += 2) {
        const [x, y] = [line[i], line[i + 1]];
        if (i === 0) land.moveTo(px(x + shift), py(y));
        else land.lineTo(px(x + shift), py(y));
        // An edge along the border of the view is a cut through the land, not a coast.
        if (
          (x === bx && (x === bounds.x0 || x === bounds.x1)) ||
          (y === by && (y === bounds.y0 || y === bounds.y1))
        ) {
          pen = false;
        } else {
          if (!pen) coast.moveTo(px(bx + shift), py(by));
          coast.lineTo(px(x + shift), py(y));
          pen = true;
        }
        [bx, by] = [x, y];
      }
      land.closePath();
    }
  }
  context.fillStyle = g.land;
  context.fill(land, 'evenodd');
  const step = gridStep(kx);
  context.strokeStyle = g.grid;
  context.lineWidth = 1;
  context.beginPath();
  for (let x = Math.ceil((cx - width / 2 / kx) / step) * step; px(x) < width; x += step) {
    if (!view.wraps && (x < bounds.x0 || x > bounds.x1)) continue;
    context.moveTo(px(x), top);
    context.lineTo(px(x), bottom);
  }
  const [low, high] = [cy - height / 2 / Math.abs(ky), cy + height / 2 / Math.abs(ky)];
  for (let y = Math.ceil(Math.max(low, bounds.y0) / step) * step; y <= Math.min(high, bounds.y1); y += step) {
    context.moveTo(view.wraps ? 0 : px(bounds.x0), py(y));
    context.lineTo(view.wraps ? width : px(bounds.x1), py(y));
  }
  context.stroke();
  return coast;
}

// gridStep returns the distance between two lines of the grid: a round number of units, 60 to 280 pixels.
function gridStep(pixelsPerUnit) {
  const wanted = 110 / pixelsPerUnit;
  for (const step of [30, 15, 10, 5, 2, 1]) if (wanted <= 30 && wanted > step * 0.7) return step;
  const power = 10 ** Math.floor(Math.log10(wanted));
  return power * (wanted / power > 5 ? 10 : wanted / power > 2 ? 5 : 2);
}

function globeGround(context, camera, view, g) {
  const { lon, lat, r, width, height } = camera.sphere();
  const [mx, my] = [width / 2, height / 2];
  const [sinC, cosC] = [Math.sin(lat * radian), Math.cos(lat * radian)];
  const disc = new Path2D();
  disc.arc(mx, my, r, 0, 2 * Math.PI);
  const glow = context.createRadialGradient(mx, my, r, mx, my, r * 1.06);
  glow.addColorStop(0, g.coast);
  glow.addColorStop(1, 'rgb(0 0 0 / 0%)');
  context.globalAlpha = 0.35;
  context.fillStyle = glow;
  context.beginPath();
  context.arc(mx, my, r * 1.06, 0, 2 * Math.PI);
  context.fill();
  context.globalAlpha = 1;
  context.fillStyle = g.sea;
  context.fill(disc);
  context.save();
  context.clip(disc);
  const land = new Path2D();
  const coast = new Path2D();
  // place projects a position. It moves a point behind the horizon to the horizon.
  const place = (x, y) => {
    const [sinY, cosY, dx] = [Math.sin(y * radian), Math.cos(y * radian), (x - lon) * radian];
    const [u, v, w] = [
      cosY * Math.sin(dx),
      cosC * sinY - sinC * cosY * Math.cos(dx),
      sinC * sinY + cosC * cosY * Math.cos(dx),
    ];
    const beyond = w < 0 ? 1 / Math.max(1e-9, Math.hypot(u, v)) : 1;
    return [mx + r * u * beyond, my - r * v * beyond, w >= 0];
  };
  for (const line of view.outlines) {
    let [bx, by] = [line[line.length - 2], line[line.length - 1]];
    let before = place(bx, by);
    let pen = false;
    let seen = false;
    const shape = new Path2D();
    for (let i = 0; i < line.length; i += 2) {
      const [x, y] = [line[i], line[i + 1]];
      const now = place(x, y);
      seen ||= now[2];
      if (i === 0) shape.moveTo(now[0], now[1]);
      else shape.lineTo(now[0], now[1]);
      if (!now[2] || !before[2] || (x === bx && Math.abs(x) === 180) || (y === by && Math.abs(y) === 90)) {
        pen = false;
      } else {
        if (!pen) coast.moveTo(before[0], before[1]);
        coast.lineTo(now[0], now[1]);
        pen = true;
      }
      [bx, by, before] = [x, y, now];
    }
    shape.closePath();
    if (seen) land.addPath(shape);
  }
  context.fillStyle = g.land;
  context.fill(land, 'evenodd');
  context.strokeStyle = g.grid;
  context.lineWidth = 1;
  context.beginPath();
  const step = Math.max(1, gridStep(r * radian));
  const curve = (from, to, by, at) => {
    let pen = false;
    for (let v = from; v <= to; v += by) {
      const [x, y, seen] = at(v);
      if (seen && pen) context.lineTo(x, y);
      else if (seen) context.moveTo(x, y);
      pen = seen;
    }
  };
  for (let x = -180; x < 180; x += step) curve(-90, 90, 3, (y) => place(x, y));
  for (let y = -90 + step; y < 90; y += step) curve(-180, 180, 3, (x) => place(x, y));
  context.stroke();
  context.restore();
  return coast;
}

// drawNames writes the names of landmarks. It omits a name that would overlap the name of an earlier
// landmark.
export function drawNames(context, camera, landmarks, width, height) {
  const g = ground();
  const taken = [];
  const out = [0, 0];
  const size = 11.5;
  context.font = `500 ${size}px ${color('--font')}`;
  context.textBaseline = 'middle';
  context.lineJoin = 'round';
  for (const mark of landmarks) {
    if (!camera.project(mark.x, mark.y, out)) continue;
    const [x, y] = out;
    if (x < 4 || y < 8 || x > width - 4 || y > height - 8) continue;
    const wide = context.measureText(mark.name).width;
    const left = x + 7 + wide > width - 4 ? x - 7 - wide : x + 7;
    const box = [left - 4, y - size, left + wide + 4, y + size];
    if (taken.some((t) => box[0] < t[2] && box[2] > t[0] && box[1] < t[3] && box[3] > t[1])) continue;
    taken.push(box);
    context.lineWidth = 3;
    context.strokeStyle = g.halo;
    context.strokeText(mark.name, left, y);
    context.fillStyle = color('--text');
    context.fillText(mark.name, left, y);
    context.beginPath();
    context.arc(x, y, 1.8, 0, 2 * Math.PI);
    context.fill();
  }
}

export function drawMark(context, camera, at) {
  const out = [0, 0];
  if (!camera.project(at.x, at.y, out)) return;
  const accent = color('--accent');
  for (const [width, style] of [
    [4, ground().halo],
    [2, accent],
  ]) {
    context.lineWidth = width;
    context.strokeStyle = style;
    context.beginPath();
    context.arc(out[0], out[1], 9, 0, 2 * Math.PI);
    for (const [dx, dy] of [
      [1, 0],
      [-1, 0],
      [0, 1],
      [0, -1],
    ]) {
      context.moveTo(out[0] + dx * 9, out[1] + dy * 9);
      context.lineTo(out[0] + dx * 14, out[1] + dy * 14);
    }
    context.stroke();
  }
}
