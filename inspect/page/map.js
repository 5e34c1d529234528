// The map page: a view of the world, drawn from the server's counts of entities in the visible window.

import { aborted } from './api.js';
import { errorBox, format, h, later, onTheme, replace, setText } from './ui.js';
import { flat, globe } from './map-camera.js';
import { Heat, Picture, drawCoast, drawGround, drawMark, drawNames, fullShare, ramp } from './map-paint.js';
import { pointLayer } from './map-points.js';
import { searchBox } from './map-search.js';

const maxCells = 1_000_000; // largest number of cells of a picture, summed over the layers
const pollTime = 1000; // milliseconds from the end of a regular request for a picture to the next request

export const page = {
  id: 'map',
  title: 'Map',
  async mount(root, app) {
    const views = app.world.views ?? [];
    const id = views.some((v) => v.id === app.params.get('view')) ? app.params.get('view') : views[0]?.id;
    const view = await app.api.get(`views/${encodeURIComponent(id)}`);
    return new MapPage(root, app, view, views).start();
  },
};

class MapPage {
  constructor(root, app, view, views) {
    Object.assign(this, { root, app, view, views });
    this.shown = view.layers.map(() => true);
    // reach is the greatest radius for a click.
    this.reach = Math.min(view.bounds.x1 - view.bounds.x0, view.bounds.y1 - view.bounds.y0) / 9;
    this.heat = new Heat();
    this.picture = null;
    this.dots = null;
    this.landmarks = [];
    this.selected = null; // { x, y, entity, … }
    this.ends = []; // functions to call when the page is unmounted
    this.pointers = new Map();
    this.askLater = later(120, () => this.ask());
    this.askLandmarksLater = later(250, () => this.askLandmarks());
    this.keepPlaceLater = later(400, () => this.keepPlace());
    this.points =
      app.world.sql && view.finds
        ? pointLayer(this.path, app.params.get('sql') ?? '', () => this.pointsChanged())
        : null;
    this.cameras = { flat: flat(view), globe: view.sphere ? globe() : null };
    this.camera = this.cameras.flat;
  }

  start() {
    this.build();
    const observer = new ResizeObserver(() => this.resized());
    observer.observe(this.place);
    this.ends.push(
      () => observer.disconnect(),
      onTheme(() => this.recolour()),
    );
    const visible = () => this.poll();
    document.addEventListener('visibilitychange', visible);
    this.ends.push(() => document.removeEventListener('visibilitychange', visible));
    this.firstCamera();
    this.poll();
    return () => this.stop();
  }

  stop() {
    this.ended = true;
    clearTimeout(this.timer);
    cancelAnimationFrame(this.frame);
    this.asking?.abort();
    this.picking?.abort();
    this.askLater.cancel();
    this.askLandmarksLater.cancel();
    this.keepPlaceLater.cancel();
    this.points?.destroy();
    for (const end of this.ends) end();
  }

  get path() {
    return `views/${encodeURIComponent(this.view.id)}`;
  }

  // The parts of the page.

  build() {
    const { view } = this;
    const globe = view.sphere ? ', g switches between globe and map' : '';
    this.canvas = h('canvas', {
      class: 'map-canvas',
      tabindex: 0,
      role: 'img',
      aria: {
        label:
          `${view.title}. Arrow keys move, plus and minus zoom, 0 shows all, ` +
          `Enter selects the thing in the middle${globe}.`,
      },
      onkeydown: (e) => this.pressed(e),
      onwheel: (e) => this.wheeled(e),
      ondblclick: (e) => this.zoomTo(2, e),
      onpointerdown: (e) => this.down(e),
      onpointermove: (e) => this.moved(e),
      onpointerup: (e) => this.up(e),
      onpointercancel: (e) => this.up(e),
    });
    const button = (text, label, onclick) =>
      h('button', { type: 'button', class: 'map-button', title: label, aria: { label }, onclick }, text);
    this.forms =
      view.sphere &&
      [
        ['flat', 'Map'],
        ['globe', 'Globe'],
      ].map(([form, title]) =>
        h('button', { type: 'button', data: { form }, onclick: () => this.turn(form) }, title),
      );
    this.readings = view.layers.map(() => h('span', { class: 'num' }));
    this.toggles = view.layers.map((layer, i) =>
      h(
        'button',
        {
          type: 'button',
          class: 'map-layer',
          aria: { pressed: true },
          onclick: () => this.toggle(i),
          title: `Show or hide: ${layer.name}`,
        },
        h('canvas', { class: 'map-ramp', width: 60, height: 8 }),
        h('span', { class: 'clip' }, layer.name),
        this.readings[i],
      ),
    );
    this.scaleText = h('p', { class: 'map-scale dim' });
    this.coordinates = h('span', { class: 'num' });
    this.notice = h('div', { class: 'map-notice', role: 'status' });
    this.side = h('aside', { class: 'map-side', hidden: true, aria: { label: 'Selection' } });
    this.place = h(
      'div',
      { class: 'map-place' },
      this.canvas,
      h('div', { class: 'map-legend' }, this.toggles, this.points?.element, this.scaleText),
      h(
        'div',
        { class: 'map-zoom' },
        button('+', 'Closer (+)', () => this.zoomTo(2)),
        button('−', 'Farther (−)', () => this.zoomTo(0.5)),
        button('⌂', 'Show all (0)', () => this.home()),
      ),
      h('div', { class: 'map-foot dim' }, this.coordinates, h('span', null, view.attribution.join(' · '))),
      this.notice,
      this.side,
    );
    this.root.classList.add('fill');
    replace(
      this.root,
      h(
        'section',
        { class: ['panel', 'flush', 'map-panel'], aria: { label: view.title } },
        h(
          'header',
          { class: 'panel-head' },
          this.views.length > 1
            ? h(
                'select',
                {
                  aria: { label: 'View' },
                  onchange: (e) => this.app.go(`#/map?view=${encodeURIComponent(e.target.value)}`),
                },
                this.views.map((v) => h('option', { value: v.id, selected: v.id === view.id }, v.title)),
              )
            : h('h2', null, view.title),
          this.forms && h('div', { class: 'group', role: 'group', aria: { label: 'Form' } }, this.forms),
          h(
            'div',
            { class: 'panel-tools' },
            view.finds && searchBox(this.app, (found) => this.showEntity(found.id, found)),
          ),
        ),
        h('div', { class: 'panel-body map-body' }, this.place),
      ),
    );
    this.context = this.canvas.getContext('2d');
    this.paintRamps();
  }

  paintRamps() {
    this.view.layers.forEach((layer, i) => {
      const canvas = this.toggles[i].querySelector('canvas');
      const context = canvas.getContext('2d');
      for (let x = 0; x < canvas.width; x++) {
        context.fillStyle = `rgb(${ramp(layer.colour, x / (canvas.width - 1)).join(' ')})`;
        context.fillRect(x, 0, 1, canvas.height);
      }
    });
  }

  recolour() {
    this.paintRamps();
    this.points?.recolour();
    this.heat.palette = null;
    this.redraw();
  }

  pointsChanged() {
    this.redraw();
    this.keepPlaceLater();
  }

  // firstCamera moves the camera to the position in the page's address. If the address has no position,
  // firstCamera moves the camera to the entity in the address, or shows the whole view.
  firstCamera() {
    const { params } = this.app;
    const at = (params.get('at') ?? '').split(',').map(Number);
    const known = at.length === 3 && at.every(Number.isFinite);
    const form =
      params.get('form') ??
      (this.view.sphere && this.place.clientWidth < this.place.clientHeight ? 'globe' : 'flat');
    this.resized();
    this.turn(this.cameras[form] ? form : 'flat', true);
    this.camera.home();
    if (known) this.camera.restore(at);
    const entity = params.get('entity');
    if (entity) this.showEntity(entity, {}, !known);
    this.changed();
  }

  keepPlace() {
    const digits = (v) => Number(v.toPrecision(7));
    this.app.replace({
      ...(this.views.length > 1 && { view: this.view.id }),
      ...(this.view.sphere && { form: this.camera.globe ? 'globe' : 'flat' }),
      at: this.camera.state().map(digits).join(','),
      ...(this.selected?.entity && { entity: this.selected.entity }),
      ...(this.points?.statement && { sql: this.points.statement }),
    });
  }

  // The camera.

  resized() {
    const { clientWidth: width, clientHeight: height } = this.place;
    if (width === 0 || height === 0) return;
    const first = !this.width;
    [this.width, this.height] = [width, height];
    const ratio = Math.min(2, devicePixelRatio || 1);
    [this.canvas.width, this.canvas.height] = [Math.round(width * ratio), Math.round(height * ratio)];
    this.context.setTransform(ratio, 0, 0, ratio, 0, 0);
    for (const camera of [this.cameras.flat, this.cameras.globe]) camera?.resize(width, height);
    if (first) this.camera.home();
    this.changed();
  }

  // changed updates the picture, the landmarks and the page's address after the camera has moved.
  changed() {
    this.redraw();
    this.askLater();
    this.askLandmarksLater();
    this.keepPlaceLater();
  }

  turn(form, quiet) {
    const before = this.camera;
    this.camera = this.cameras[form];
    for (const b of this.forms || []) b.setAttribute('aria-pressed', b.dataset.form === form);
    if (quiet || before === this.camera) return;
    const [x, y] = before.state();
    const unit = before.unit();
    this.camera.home();
    if (before.state()[2] > 1.3) {
      this.camera.go(x, y);
      this.camera.zoom(unit / this.camera.unit());
    }
    this.changed();
  }

  home() {
    this.camera.home();
    this.changed();
  }

  zoomTo(factor, event) {
    const at = event ? [event.offsetX, event.offsetY] : [];
    this.camera.zoom(factor, ...at);
    this.changed();
  }

  wheeled(event) {
    event.preventDefault();
    const by = event.deltaY * (event.deltaMode === 1 ? 16 : event.deltaMode === 2 ? 200 : 1);
    this.zoomTo(2 ** (-Math.max(-300, Math.min(300, by)) / (event.ctrlKey ? 100 : 300)), event);
  }

  pressed(event) {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const step = event.shiftKey ? 200 : 60;
    const moves = { ArrowLeft: [step, 0], ArrowRight: [-step, 0], ArrowUp: [0, step], ArrowDown: [0, -step] };
    if (moves[event.key]) {
      this.camera.pan(...moves[event.key]);
      this.changed();
    } else if (event.key === '+' || event.key === '=') this.zoomTo(1.6);
    else if (event.key === '-' || event.key === '_') this.zoomTo(1 / 1.6);
    else if (event.key === '0' || event.key === 'Home') this.home();
    else if (event.key === 'g' && this.cameras.globe) this.turn(this.camera.globe ? 'flat' : 'globe');
    else if (event.key === 'Enter') this.pick(this.width / 2, this.height / 2);
    else if (event.key === 'Escape') this.select(null);
    else return;
    event.preventDefault();
  }

  down(event) {
    if (event.button > 0) return;
    this.canvas.setPointerCapture(event.pointerId);
    this.pointers.set(event.pointerId, { x: event.offsetX, y: event.offsetY });
    if (this.pointers.size === 1) this.press = { x: event.offsetX, y: event.offsetY, still: true };
    else if (this.press) this.press.still = false;
  }

  moved(event) {
    const held = this.pointers.get(event.pointerId);
    const [x, y] = [event.offsetX, event.offsetY];
    this.tellPosition(x, y);
    if (!held) return;
    const before = [...this.pointers.values()].map((p) => ({ ...p }));
    if (this.press?.still && Math.hypot(x - this.press.x, y - this.press.y) < 5) return;
    if (this.press) this.press.still = false;
    this.canvas.classList.add('moving');
    [held.x, held.y] = [x, y];
    const after = [...this.pointers.values()];
    const middle = (points) => [
      points.reduce((s, p) => s + p.x, 0) / points.length,
      points.reduce((s, p) => s + p.y, 0) / points.length,
    ];
    const [[bx, by], [ax, ay]] = [middle(before), middle(after)];
    this.camera.pan(ax - bx, ay - by);
    if (after.length === 2) {
      const apart = ([p, q]) => Math.max(10, Math.hypot(p.x - q.x, p.y - q.y));
      this.camera.zoom(apart(after) / apart(before), ax, ay);
    }
    this.changed();
  }

  up(event) {
    if (!this.pointers.delete(event.pointerId)) return;
    if (this.pointers.size > 0) return;
    this.canvas.classList.remove('moving');
    if (this.press?.still && event.type === 'pointerup') this.pick(event.offsetX, event.offsetY);
    this.press = null;
  }

  tellPosition(px, py) {
    const at = this.camera.unproject(px, py);
    if (!at) setText(this.coordinates, '');
    else if (this.view.sphere)
      setText(
        this.coordinates,
        `${Math.abs(at.y).toFixed(2)}° ${at.y < 0 ? 'S' : 'N'}  ` +
          `${Math.abs(at.x).toFixed(2)}° ${at.x < 0 ? 'W' : 'E'}`,
      );
    else setText(this.coordinates, `${format.number(at.x)}, ${format.number(at.y)} ${this.view.unit}`.trim());
  }

  // Requests.

  poll() {
    clearTimeout(this.timer);
    if (this.ended || document.hidden) return;
    this.ask().finally(() => {
      clearTimeout(this.timer);
      if (!this.ended) this.timer = setTimeout(() => this.poll(), pollTime);
    });
  }

  pictureParams() {
    const window = this.camera.window();
    if (!(window.x1 > window.x0) || !(window.y1 > window.y0)) return null;
    const [across, up] = [
      (window.x1 - window.x0) * this.camera.unitX(),
      (window.y1 - window.y0) * this.camera.unit(),
    ];
    const cell = Math.max(2, Math.sqrt((across * up * this.view.layers.length) / maxCells));
    const count = (pixels) => Math.max(1, Math.floor(pixels / cell));
    return { ...window, columns: count(across), rows: count(up) };
  }

  async ask() {
    const params = this.width && this.pictureParams();
    if (!params || this.ended || document.hidden) return;
    const key = JSON.stringify(params);
    if (this.asking && this.askedKey === key) return;
    this.asking?.abort();
    const mine = new AbortController();
    [this.asking, this.askedKey] = [mine, key];
    try {
      const picture = new Picture(
        await this.app.api.binary(`${this.path}/picture`, params, { signal: mine.signal }),
        this.view,
      );
      this.tell(null);
      this.show(picture);
      this.refreshSelected();
    } catch (error) {
      if (!aborted(error)) this.tell(error);
    } finally {
      if (this.asking === mine) this.asking = null;
    }
  }

  async askLandmarks() {
    if (!this.view.landmarks || !this.width || this.ended) return;
    const most = Math.round(Math.min(120, Math.max(8, (this.width * this.height) / 14_000)));
    try {
      const { landmarks } = await this.app.api.get(`${this.path}/landmarks`, {
        ...this.camera.window(),
        most,
      });
      this.landmarks = landmarks;
      this.redraw();
    } catch (error) {
      if (!aborted(error)) this.landmarks = [];
    }
  }

  tell(error) {
    if (error) replace(this.notice, errorBox({ title: 'The map is not updated', message: error.message }));
    else if (this.notice.firstChild) replace(this.notice);
  }

  show(picture) {
    const { view } = this;
    this.picture = picture;
    this.dots = picture.dots(this.shown);
    this.heat.palette = null;
    picture.sums.forEach((n, i) => setText(this.readings[i], format.number(n)));
    const shares =
      this.shown[this.dots.base] &&
      !view.layers[this.dots.base].part &&
      view.layers.some((l, i) => l.part && this.shown[i]);
    const share = shares ? `, share ${format.percent(fullShare)}` : '';
    setText(
      this.scaleText,
      this.dots.indexes.length > 0
        ? `in view · full colour: ${format.short(this.dots.full)} per dot${share}`
        : 'nothing in view',
    );
    this.redraw();
  }

  toggle(i) {
    this.shown[i] = !this.shown[i];
    this.toggles[i].setAttribute('aria-pressed', this.shown[i]);
    if (this.picture) this.show(this.picture);
  }

  // Drawing.

  redraw() {
    if (this.frame || this.ended) return;
    this.frame = requestAnimationFrame(() => {
      this.frame = 0;
      this.draw();
    });
  }

  draw() {
    const { context, camera, view, width, height } = this;
    if (!width) return;
    const coast = drawGround(context, camera, view, width, height);
    if (this.picture) {
      if (!this.heat.palette) this.heat.colour(view, this.dots.base);
      context.drawImage(this.heat.draw(camera, this.picture, this.dots, width, height), 0, 0, width, height);
    }
    drawCoast(context, coast);
    this.points?.draw(context, camera, width, height);
    drawNames(context, camera, this.landmarks, width, height);
    if (this.selected) drawMark(context, camera, this.selected);
  }

  // Selection.

  async pick(px, py) {
    const at = this.camera.unproject(px, py);
    this.canvas.focus({ preventScroll: true });
    const point = at && this.points?.nearest(this.camera, px, py);
    if (point) await this.showEntity(point, {}, false);
    if (!at || point || !this.view.picks) return;
    const picked = await this.askPicked(at, 10 / this.camera.unit());
    if (!picked) return;
    if (picked.length === 0) this.select(null);
    else this.select(picked[0], picked.slice(1));
  }

  // askPicked requests the things near a position. It returns null if the request fails, or if a later
  // request cancels it.
  async askPicked(at, radius) {
    this.picking?.abort();
    const mine = new AbortController();
    this.picking = mine;
    try {
      return (
        await this.app.api.get(
          `${this.path}/pick`,
          { x: at.x, y: at.y, radius: Math.min(radius, this.reach) },
          { signal: mine.signal },
        )
      ).picked;
    } catch (error) {
      if (!aborted(error)) this.tell(error);
      return null;
    }
  }

  // showEntity selects an entity. If move is true, showEntity moves the camera to the entity.
  async showEntity(id, { name, detail } = {}, move = true) {
    try {
      const at = await this.app.api.get(`${this.path}/where`, { entity: id });
      if (this.ended) return;
      if (move) this.camera.go(at.x, at.y, true);
      this.select({ ...at, entity: id, name: name ?? id, detail: detail ?? '', facts: [], links: [] });
      this.changed();
      await this.refreshSelected();
    } catch (error) {
      if (!aborted(error)) this.tell(error);
    }
  }

  select(picked, others = []) {
    this.selected = picked;
    this.others = others;
    this.side.hidden = !picked;
    this.refreshed = Date.now();
    if (picked) this.fillSide();
    this.keepPlaceLater();
    this.redraw();
  }

  // refreshSelected updates the position and the figures of the selection.
  async refreshSelected() {
    const before = this.selected;
    if (
      !before ||
      this.refreshing ||
      (this.refreshed && Date.now() - this.refreshed < 900 && before.facts.length > 0)
    )
      return;
    this.refreshing = true;
    try {
      const at =
        before.entity && this.view.finds
          ? await this.app.api.get(`${this.path}/where`, { entity: before.entity })
          : before;
      const near = this.view.picks
        ? (
            await this.app.api.get(`${this.path}/pick`, {
              x: at.x,
              y: at.y,
              radius: this.view.sphere ? 0.02 : 0,
            })
          ).picked
        : [];
      if (this.selected !== before || this.ended) return;
      const same = near.find((k) => k.entity === before.entity);
      this.selected = { ...before, ...at, ...(same ?? {}) };
      this.refreshed = Date.now();
      this.fillSide();
      this.redraw();
    } catch (error) {
      if (!aborted(error) && error.status === 404 && this.selected === before) {
        this.selected = { ...before, gone: true };
        this.fillSide();
      }
    } finally {
      this.refreshing = false;
    }
  }

  fillSide() {
    const s = this.selected;
    const key = JSON.stringify([s, this.others]);
    if (key === this.sideKey) return;
    this.sideKey = key;
    const focused = this.side.contains(document.activeElement)
      ? [...this.side.querySelectorAll('a, button')].indexOf(document.activeElement)
      : -1;
    replace(
      this.side,
      h(
        'header',
        { class: 'row push' },
        h('h2', { class: 'wrap' }, s.name, s.detail && h('span', { class: 'dim' }, `  ${s.detail}`)),
        h(
          'button',
          {
            type: 'button',
            class: 'icon',
            aria: { label: 'Close' },
            onclick: () => {
              this.select(null);
              this.canvas.focus();
            },
          },
          '×',
        ),
      ),
      s.gone && h('p', { class: 'warn' }, 'No longer alive.'),
      s.facts.length > 0 &&
        h(
          'dl',
          { class: 'facts' },
          s.facts.map((f) => [h('dt', null, f.name), h('dd', { class: 'num' }, format.number(f.value))]),
        ),
      h(
        'ul',
        { class: 'map-links' },
        s.entity &&
          h('li', null, h('a', { href: `#/entity/${encodeURIComponent(s.entity)}` }, `Entity ${s.entity}`)),
        s.links.map((l) =>
          h(
            'li',
            null,
            h('a', { href: `#/entities?query=${encodeURIComponent(l.query)}`, title: l.query }, l.text),
          ),
        ),
      ),
      this.others?.length > 0 && [
        h('h3', { class: 'dim' }, 'Nearby'),
        h(
          'ul',
          { class: 'map-links' },
          this.others.map((k) =>
            h(
              'li',
              null,
              h(
                'button',
                {
                  type: 'button',
                  class: 'quiet',
                  onclick: () => this.select(k, [s, ...this.others.filter((o) => o !== k)]),
                },
                k.name,
                k.detail && h('span', { class: 'dim' }, k.detail),
              ),
            ),
          ),
        ),
      ],
    );
    if (focused >= 0) this.side.querySelectorAll('a, button')[focused]?.focus();
  }
}
