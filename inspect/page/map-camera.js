// The cameras of the map, flat and globe. A camera converts positions of a view to pixels and back. Both
// cameras have these methods:
//   resize(width, height)    sets the size of the canvas, in CSS pixels
//   home()                   shows the home rectangle of the view, or the whole globe
//   project(x, y, out)       writes pixels to out[0] and out[1]; returns false if the position is hidden
//   unproject(px, py)        returns { x, y }, or null outside of the view
//   window()                 returns the visible part of the view: { x0, y0, x1, y1 }
//   pan(dx, dy)              moves the view by pixels
//   zoom(factor, px, py)     scales the view around a pixel
//   go(x, y, closer)         moves the centre to a position, and zooms in if closer is true
//   unit()                   returns the pixels per unit of y, at the centre
//   unitX()                  returns the pixels per unit of x, at the centre; for the globe, at the equator
//   state()                  returns the camera's three numbers, for the page's address
//   restore(state)           sets the camera's three numbers

const radian = Math.PI / 180;
const clamp = (v, least, most) => Math.min(most, Math.max(least, v));

const around = (v, from, period) => v - period * Math.floor((v - from) / period);

// flat shows a plane, or a sphere in the equirectangular projection. The standard parallel of the projection
// is 36° if the whole sphere is visible, and approaches the latitude of the centre as the user zooms in.
export function flat(view) {
  const { bounds, home, wraps } = view;
  const period = wraps ? bounds.x1 - bounds.x0 : 0;
  const sign = view.down ? 1 : -1;
  let [width, height] = [1, 1];
  let [cx, cy, k] = [0, 0, 1]; // the centre, and pixels per unit of x

  const fit = (b, tall) => Math.min(width / (b.x1 - b.x0), height / ((b.y1 - b.y0) * tall));
  const worldTall = view.sphere ? 1 / Math.cos(36 * radian) : 1;
  const least = () => Math.min(fit(home, worldTall), fit(bounds, worldTall)) * 0.9;
  const most = () => fit(bounds, worldTall) * (view.sphere ? 4000 : 20000);
  // tall returns the length of a unit of y on the screen, divided by the length of a unit of x.
  function tall() {
    if (!view.sphere) return 1;
    const near = clamp(Math.log2(k / fit(bounds, worldTall)) / 4, 0, 1);
    return worldTall + near * (1 / Math.cos(clamp(Math.abs(cy), 0, 78) * radian) - worldTall);
  }
  function settle() {
    k = clamp(k, least(), most());
    const [halfX, halfY] = [width / 2 / k, height / 2 / (k * tall())];
    // The further the user zooms in, the closer the centre may be to a border of the view.
    const inside = (c, half, a, b) => {
      const edge = half * clamp((2 * half) / (b - a), 0, 1);
      return 2 * half >= b - a ? (a + b) / 2 : clamp(c, a + edge, b - edge);
    };
    cy = inside(cy, halfY, bounds.y0, bounds.y1);
    cx = wraps ? around(cx, bounds.x0, period) : inside(cx, halfX, bounds.x0, bounds.x1);
  }
  const camera = {
    globe: false,
    period,
    resize(w, h) {
      [width, height] = [w, h];
      settle();
    },
    home() {
      [cx, cy, k] = [(home.x0 + home.x1) / 2, (home.y0 + home.y1) / 2, fit(home, worldTall)];
      settle();
    },
    // scale returns the centre, the pixels per unit and the size of the canvas, for a caller that projects
    // many points.
    scale() {
      return { cx, cy, kx: k, ky: sign * k * tall(), width, height };
    },
    project(x, y, out) {
      if (period > 0) x = around(x, cx - period / 2, period);
      out[0] = (x - cx) * k + width / 2;
      out[1] = (y - cy) * sign * k * tall() + height / 2;
      return true;
    },
    unproject(px, py) {
      const x = cx + (px - width / 2) / k;
      const y = cy + (py - height / 2) / (sign * k * tall());
      if (y < bounds.y0 || y > bounds.y1 || (!wraps && (x < bounds.x0 || x > bounds.x1))) return null;
      return { x: wraps ? around(x, bounds.x0, period) : x, y };
    },
    window() {
      const [halfX, halfY] = [width / 2 / k, height / 2 / (k * tall())];
      let [x0, x1] = [cx - halfX, cx + halfX];
      if (!wraps) [x0, x1] = [Math.max(x0, bounds.x0), Math.min(x1, bounds.x1)];
      else if (x1 - x0 >= period) [x0, x1] = [bounds.x0, bounds.x1];
      return { x0, x1, y0: Math.max(cy - halfY, bounds.y0), y1: Math.min(cy + halfY, bounds.y1) };
    },
    pan(dx, dy) {
      cx -= dx / k;
      cy -= dy / (sign * k * tall());
      settle();
    },
    zoom(factor, px = width / 2, py = height / 2) {
      const at = { x: cx + (px - width / 2) / k, y: cy + (py - height / 2) / (sign * k * tall()) };
      k = clamp(k * factor, least(), most());
      cx = at.x - (px - width / 2) / k;
      cy = at.y - (py - height / 2) / (sign * k * tall());
      settle();
    },
    go(x, y, closer) {
      [cx, cy] = [x, y];
      if (closer) k = Math.max(k, fit(bounds, worldTall) * 40);
      settle();
    },
    unit: () => k * tall(),
    unitX: () => k,
    state: () => [cx, cy, k / fit(bounds, worldTall)],
    restore([x, y, zoom]) {
      [cx, cy, k] = [x, y, zoom * fit(bounds, worldTall)];
      settle();
    },
  };
  return camera;
}

// globe shows a sphere in the orthographic projection, as if from far away.
export function globe() {
  let [width, height] = [1, 1];
  let [lon, lat, r] = [10, 25, 1];
  const fit = () => Math.min(width, height) / 2 - 8;
  const settle = () => {
    r = clamp(r, fit() * 0.6, fit() * 400);
    lat = clamp(lat, -89, 89);
    lon = around(lon, -180, 360);
  };
  return {
    globe: true,
    period: 360,
    resize(w, h) {
      const before = fit();
      [width, height] = [w, h];
      if (before > 1) r *= Math.max(1, fit()) / before;
      settle();
    },
    home() {
      [lon, lat, r] = [10, 25, fit()];
      settle();
    },
    sphere() {
      return { lon, lat, r, width, height };
    },
    project(x, y, out) {
      const [sinY, cosY, dx] = [Math.sin(y * radian), Math.cos(y * radian), (x - lon) * radian];
      const [sinC, cosC] = [Math.sin(lat * radian), Math.cos(lat * radian)];
      out[0] = width / 2 + r * cosY * Math.sin(dx);
      out[1] = height / 2 - r * (cosC * sinY - sinC * cosY * Math.cos(dx));
      return sinC * sinY + cosC * cosY * Math.cos(dx) > 0;
    },
    unproject(px, py) {
      const [x, y] = [(px - width / 2) / r, (height / 2 - py) / r];
      const flatness = x * x + y * y;
      if (flatness > 1) return null;
      const z = Math.sqrt(1 - flatness);
      const [sinC, cosC] = [Math.sin(lat * radian), Math.cos(lat * radian)];
      return {
        x: around(lon + Math.atan2(x, z * cosC - y * sinC) / radian, -180, 360),
        y: Math.asin(clamp(y * cosC + z * sinC, -1, 1)) / radian,
      };
    },
    window() {
      const reach = Math.asin(Math.min(1, Math.hypot(width, height) / 2 / r)) / radian;
      const [y0, y1] = [Math.max(-90, lat - reach), Math.min(90, lat + reach)];
      if (reach > 85 || y0 <= -89 || y1 >= 89)
        return { x0: -180, x1: 180, y0: reach > 85 ? -90 : y0, y1: reach > 85 ? 90 : y1 };
      const half = Math.asin(Math.min(1, Math.sin(reach * radian) / Math.cos(lat * radian))) / radian;
      return { x0: lon - half, x1: lon + half, y0, y1 };
    },
    pan(dx, dy) {
      lon -= dx / r / radian / Math.max(0.2, Math.cos(lat * radian));
      lat += dy / r / radian;
      settle();
    },
    zoom(factor, px = width / 2, py = height / 2) {
      const before = this.unproject(px, py);
      r *= factor;
      settle();
      const after = this.unproject(px, py);
      if (before && after && r > fit()) {
        lon += around(before.x - after.x, -180, 360);
        lat += before.y - after.y;
        settle();
      }
    },
    go(x, y, closer) {
      [lon, lat] = [x, y];
      if (closer) r = Math.max(r, fit() * 12);
      settle();
    },
    unit: () => r * radian,
    unitX: () => r * radian,
    state: () => [lon, lat, r / Math.max(1, fit())],
    restore([x, y, zoom]) {
      [lon, lat, r] = [x, y, zoom * fit()];
      settle();
    },
  };
}
