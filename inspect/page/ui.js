// Building blocks of the pages: elements, formats, small parts. Text always becomes text nodes, so that text
// from a world is never taken for HTML.

const svgNamespace = 'http://www.w3.org/2000/svg';

// h makes an element: h('button', { class: 'quiet', onclick: f, aria: { label: 'Stop' }, data: { id: 3 } },
// 'Stop'). Properties that begin with "on" are listeners. style is an object of CSS properties, including
// custom properties. The value true sets an empty attribute; false, null and undefined set no attribute. In
// aria and data, true and false become the texts "true" and "false". A link that would run a script is left out. Children are nodes, texts,
// and arrays of nodes and texts; null, undefined, true and false are skipped.
export function h(tag, props, ...children) {
  return build(document.createElement(tag), props, children);
}

// svg makes an SVG element, with the same parameters as h.
export function svg(tag, props, ...children) {
  return build(document.createElementNS(svgNamespace, tag), props, children);
}

function build(element, props, children) {
  for (const [name, value] of Object.entries(props ?? {})) {
    if (value === null || value === undefined || value === false) continue;
    if (name.startsWith('on')) {
      if (typeof value !== 'function') throw new TypeError(`${name} must be a function`);
      element.addEventListener(name.slice(2).toLowerCase(), value);
    } else if (name === 'class') {
      element.setAttribute('class', Array.isArray(value) ? value.filter(Boolean).join(' ') : value);
    } else if (name === 'aria') {
      for (const [key, of] of Object.entries(value)) if (of !== null && of !== undefined) element.setAttribute(`aria-${key}`, of);
    } else if (name === 'data') {
      for (const [key, of] of Object.entries(value)) if (of !== null && of !== undefined) element.dataset[key] = of;
    } else if (name === 'style') {
      setStyle(element, value);
    } else if (name === 'value' || name === 'checked' || name === 'indeterminate') {
      element[name] = value;
    } else if (name === 'href' || name === 'src') {
      if (leadsToWeb(String(value))) element.setAttribute(name, value);
    } else {
      element.setAttribute(name, value === true ? '' : value);
    }
  }
  append(element, children);
  return element;
}

// setStyle sets properties of an element's style, including those that begin with "--".
export function setStyle(element, properties) {
  for (const [name, value] of Object.entries(properties)) {
    if (name.startsWith('--')) element.style.setProperty(name, value);
    else element.style[name] = value;
  }
}

// leadsToWeb reports whether a link has a safe protocol. A link that comes from a world could have a
// protocol that runs a script.
function leadsToWeb(link) {
  try {
    return ['http:', 'https:', 'blob:', 'data:'].includes(new URL(link, document.baseURI).protocol);
  } catch {
    return false;
  }
}

function append(element, children) {
  for (const child of children.flat(Infinity)) {
    if (child === null || child === undefined || child === false || child === true) continue;
    element.append(child instanceof Node ? child : document.createTextNode(String(child)));
  }
}

// replace replaces the children of an element.
export function replace(element, ...children) {
  element.textContent = '';
  append(element, children);
  return element;
}

// setText changes an element's text only if the new text differs, because each change costs the browser work.
export function setText(element, text) {
  text = String(text);
  if (element.textContent !== text) element.textContent = text;
}

const grouped = new Intl.NumberFormat('en-US', { maximumFractionDigits: 0 });
const binary = ['B', 'KiB', 'MiB', 'GiB', 'TiB', 'PiB', 'EiB'];
const thousands = ['', 'k', 'M', 'G', 'T'];

// digits formats a number with about three significant digits and no exponent.
function digits(n) {
  const size = Math.abs(n);
  return n.toFixed(size >= 99.95 || size === 0 ? 0 : size >= 9.995 ? 1 : 2);
}

// scaled returns a number in its unit, the unit, and the unit's index. It chooses the largest unit in which
// the number, rounded to three digits, is at least 1: 999.6 k becomes 1.00 M. Without such a unit, it chooses
// the first.
function scaled(n, factor, units) {
  let i = 0;
  while (i < units.length - 1 && Math.abs(n) >= factor * 0.9995) {
    n /= factor;
    i++;
  }
  return [n, units[i], i];
}

// format formats numbers for people. Strings such as "NaN", for floats that JSON cannot hold, stay as they
// are; null and undefined become a dash. A no-break space comes before the unit.
export const format = {
  // number groups the digits of integers, as in 1,234,567. It rounds a number with decimals to an integer if
  // the number is at least 1000, and otherwise to three significant digits, as in 0.125.
  number(n) {
    if (typeof n !== 'number') return missing(n);
    if (!Number.isFinite(n)) return String(n);
    if (Number.isInteger(n) || Math.abs(n) >= 1000) return grouped.format(n);
    return String(Number(n.toPrecision(3)));
  },
  // short formats a number for places with little room: 1.23 M.
  short(n) {
    if (typeof n !== 'number' || !Number.isFinite(n)) return missing(n);
    if (Math.abs(n) < 1000) return Number.isInteger(n) ? String(n) : digits(n);
    const [value, unit] = scaled(n, 1000, thousands);
    return `${digits(value)}\u00a0${unit}`;
  },
  bytes(n) {
    if (typeof n !== 'number' || !Number.isFinite(n)) return missing(n);
    const [value, unit, power] = scaled(n, 1024, binary);
    return `${power === 0 ? Math.round(value) : digits(value)}\u00a0${unit}`;
  },
  seconds(s) {
    if (typeof s !== 'number' || !Number.isFinite(s)) return missing(s);
    const size = Math.abs(s);
    if (size === 0) return '0\u00a0s';
    if (size < 0.9995e-6) return `${digits(s * 1e9)}\u00a0ns`;
    if (size < 0.9995e-3) return `${digits(s * 1e6)}\u00a0µs`;
    if (size < 0.9995) return `${digits(s * 1e3)}\u00a0ms`;
    if (size < 120) return `${digits(s)}\u00a0s`;
    if (size < 7200) return `${Math.floor(s / 60)}\u00a0min ${Math.floor(s % 60)}\u00a0s`;
    return `${Math.floor(s / 3600)}\u00a0h ${Math.floor(s / 60) % 60}\u00a0min`;
  },
  // percent formats a share, where 1 is 100 %.
  percent(x) {
    if (typeof x !== 'number' || !Number.isFinite(x)) return missing(x);
    const of = x * 100;
    return `${of !== 0 && Math.abs(of) < 9.95 ? of.toFixed(1) : of.toFixed(0)}\u00a0%`;
  },
  rate(n) {
    return typeof n === 'number' ? `${format.short(n)}/s` : missing(n);
  },
  // clock returns the time of day of a moment in seconds since 1970.
  clock(seconds) {
    return new Date(seconds * 1000).toLocaleTimeString('en-GB');
  },
};

function missing(n) {
  return n === null || n === undefined ? '–' : String(n);
}

// setQuantity shows a formatted number in an element if the number has changed. The unit has a
// smaller font than the digits.
export function setQuantity(element, text) {
  if (element.dataset.shown === text) return;
  element.dataset.shown = text;
  const at = text.search(/[\u00a0/]/);
  if (at < 0) replace(element, text);
  else replace(element, text.slice(0, at), h('span', { class: 'unit' }, text.slice(at)));
}

// color returns the value of a CSS variable, such as "--c1", in the current theme.
export function color(variable) {
  return getComputedStyle(document.documentElement).getPropertyValue(variable).trim();
}

// palette returns the variable of the n-th categorical colour. The colours repeat after eight.
export function palette(n) {
  return `--c${(((n % 8) + 8) % 8) + 1}`;
}

// onTheme calls f whenever the theme changes, to redraw canvases. It returns a function that ends the calls.
export function onTheme(f) {
  const system = matchMedia('(prefers-color-scheme: dark)');
  system.addEventListener('change', f);
  document.addEventListener('vast-theme', f);
  return () => {
    system.removeEventListener('change', f);
    document.removeEventListener('vast-theme', f);
  };
}

// isDark reports whether the dark theme is shown.
export function isDark() {
  const chosen = document.documentElement.dataset.theme;
  return chosen ? chosen === 'dark' : matchMedia('(prefers-color-scheme: dark)').matches;
}

// switchTheme switches between the light and the dark theme, and stores the choice in the browser.
export function switchTheme() {
  const theme = isDark() ? 'light' : 'dark';
  document.documentElement.dataset.theme = theme;
  try {
    localStorage.setItem('vast-theme', theme);
  } catch {
    // Storage is forbidden or full: the choice is not kept.
  }
  document.dispatchEvent(new CustomEvent('vast-theme'));
}

// panel returns a framed part of a page with a heading. tools are to the right of the heading.
export function panel(title, { tools, class: extra, label } = {}, ...children) {
  return h('section', { class: ['panel', extra], aria: { label: label ?? title } },
    (title || tools) && h('header', { class: 'panel-head' }, title && h('h2', null, title), tools && h('div', { class: 'panel-tools' }, tools)),
    h('div', { class: 'panel-body' }, children));
}

// errorBox returns a box that shows an error. If retry is given, the box has a button that calls retry.
export function errorBox(error, retry) {
  return h('div', { class: 'box bad', role: 'alert' },
    h('p', { class: 'box-title' }, error?.title ?? 'Error'),
    h('p', null, error?.message ?? String(error)),
    retry && h('p', null, h('button', { type: 'button', onclick: retry }, 'Try again')));
}

// emptyBox returns a box to show in place of missing data. The children are texts or nodes, such as
// h('code', …), and say what the user can do.
export function emptyBox(title, ...children) {
  return h('div', { class: 'box' }, h('p', { class: 'box-title' }, title), children.map((c) => (c instanceof Node ? c : h('p', null, c))));
}

// bar returns a horizontal bar. share is the filled part, from 0 to 1. colour is a CSS variable.
export function bar(share, colour = '--accent') {
  return h('span', { class: 'bar', aria: { hidden: 'true' } },
    h('span', { class: 'bar-fill', style: { width: `${Math.max(0, Math.min(1, share || 0)) * 100}%`, background: `var(${colour})` } }));
}

// tabs returns a row of tabs. items are { id, title }. tabs calls choose(id) when a tab is selected. The
// tab whose ID is initial is selected at the start; the default is the first tab. The arrow keys
// select the neighbours of a tab.
export function tabs(label, items, choose, initial = items[0]?.id) {
  const buttons = items.map((item) => h('button', {
    type: 'button', role: 'tab', class: 'tab', data: { id: item.id },
    onclick: () => select(item.id),
    onkeydown(event) {
      const at = items.indexOf(item);
      const to = { ArrowRight: at + 1, ArrowLeft: at - 1, Home: 0, End: items.length - 1 }[event.key];
      if (to === undefined) return;
      event.preventDefault();
      const next = (to + items.length) % items.length;
      select(items[next].id);
      buttons[next].focus();
    },
  }, item.title));
  function select(id) {
    for (const b of buttons) {
      const on = b.dataset.id === String(id);
      b.setAttribute('aria-selected', on);
      b.tabIndex = on ? 0 : -1;
    }
    choose(id);
  }
  select(initial);
  return h('div', { class: 'tabs', role: 'tablist', aria: { label } }, buttons);
}

// dialog opens a modal dialog and returns its element. Esc, the Close button and a click outside close the
// dialog.
export function dialog(title, ...children) {
  const before = document.activeElement;
  const element = h('dialog', { class: 'dialog', aria: { label: title } },
    h('header', { class: 'panel-head' }, h('h2', null, title),
      h('button', { type: 'button', class: 'quiet', onclick: () => element.close() }, 'Close')),
    h('div', { class: 'panel-body' }, children));
  element.addEventListener('close', () => {
    element.remove();
    before?.focus?.();
  });
  element.addEventListener('click', (event) => { // a click outside of the dialog
    if (event.target === element) element.close();
  });
  document.body.append(element);
  element.showModal();
  return element;
}

// tip is a tooltip near the pointer. Canvases use tip, because the parts of a canvas have no tooltips.
export const tip = {
  element: null,
  // show puts nodes or text near a point, inside the window.
  show(x, y, ...children) {
    tip.element ??= document.body.appendChild(h('div', { class: 'tip', role: 'tooltip' }));
    replace(tip.element, ...children);
    tip.element.hidden = false;
    const { width, height } = tip.element.getBoundingClientRect();
    const left = x + 14 + width > innerWidth ? x - 14 - width : x + 14;
    const top = y + 14 + height > innerHeight ? y - 14 - height : y + 14;
    setStyle(tip.element, { left: `${Math.max(4, left)}px`, top: `${Math.max(4, top)}px` });
  },
  hide() {
    if (tip.element) tip.element.hidden = true;
  },
};

// later returns a function that delays calls of f. When the function has not been called for the given
// milliseconds, f is called once, with the arguments of the last call. The function's method cancel drops a
// pending call.
export function later(milliseconds, f) {
  let timer = 0;
  const call = (...args) => {
    clearTimeout(timer);
    timer = setTimeout(() => f(...args), milliseconds);
  };
  call.cancel = () => clearTimeout(timer);
  return call;
}
