// What pages are made of: elements, formats, small parts. Text always becomes text nodes, so that nothing that comes
// from a world can be taken for HTML.

const svgNamespace = 'http://www.w3.org/2000/svg';

// h makes an element: h('button', { class: 'quiet', onclick: f, aria: { label: 'Stop' }, data: { id: 3 } }, 'Stop').
// Properties that begin with "on" are listeners; style is an object of properties (custom ones too); true sets an empty
// attribute, false, null and undefined set none; a link that runs a script is left out. Children are nodes, arrays of them, or text; null and false are skipped.
export function h(tag, props, ...children) {
  return build(document.createElement(tag), props, children);
}

// svg makes an SVG element in the same way.
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

// setStyle sets properties of an element's style; those that begin with "--" too.
export function setStyle(element, properties) {
  for (const [name, value] of Object.entries(properties)) {
    if (name.startsWith('--')) element.style.setProperty(name, value);
    else element.style[name] = value;
  }
}

// leadsToWeb tells whether a link may be followed: a world's text may be meant as a trap.
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

// replace puts children in place of what an element contains.
export function replace(element, ...children) {
  element.textContent = '';
  append(element, children);
  return element;
}

// setText sets an element's text if it is another: a page of many numbers then costs little when few change.
export function setText(element, text) {
  text = String(text);
  if (element.textContent !== text) element.textContent = text;
}

const grouped = new Intl.NumberFormat('en-US', { maximumFractionDigits: 0 });
const binary = ['B', 'KiB', 'MiB', 'GiB', 'TiB', 'PiB', 'EiB'];
const thousands = ['', 'k', 'M', 'G', 'T'];

// digits writes a number with about three significant digits and no exponent.
function digits(n) {
  const size = Math.abs(n);
  return n.toFixed(size >= 99.95 || size === 0 ? 0 : size >= 9.995 ? 1 : 2);
}

// scaled finds the unit for a number: of those a factor apart, the largest that leaves at least 1.
function scaled(n, factor, units) {
  let i = 0;
  // What rounds to the next unit belongs there: 999.6 k is 1.00 M.
  while (i < units.length - 1 && Math.abs(n) >= factor * 0.9995) {
    n /= factor;
    i++;
  }
  return [n, units[i], i];
}

// format writes numbers for people. What is no number, such as "NaN" for a float that JSON has no form for, stays as it
// is; null and undefined are a dash. Units follow a no-break space.
export const format = {
  // number groups an integer's digits, and gives others three significant ones: 1,234,567 and 0.125.
  number(n) {
    if (typeof n !== 'number') return missing(n);
    if (!Number.isFinite(n)) return String(n);
    if (Number.isInteger(n) || Math.abs(n) >= 1000) return grouped.format(n);
    return String(Number(n.toPrecision(3)));
  },
  // short is for places with little room: 1.23 M.
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
  // percent takes a fraction of one.
  percent(x) {
    if (typeof x !== 'number' || !Number.isFinite(x)) return missing(x);
    const of = x * 100;
    return `${of !== 0 && Math.abs(of) < 9.95 ? of.toFixed(1) : of.toFixed(0)}\u00a0%`;
  },
  rate(n) {
    return typeof n === 'number' ? `${format.short(n)}/s` : missing(n);
  },
  // clock is the time of the day of a moment in seconds since 1970.
  clock(seconds) {
    return new Date(seconds * 1000).toLocaleTimeString('en-GB');
  },
};

function missing(n) {
  return n === null || n === undefined ? '–' : String(n);
}

// setQuantity shows a formatted number in an element, its unit smaller than its digits, if it is another than before.
export function setQuantity(element, text) {
  if (element.dataset.shown === text) return;
  element.dataset.shown = text;
  const at = text.search(/[\u00a0/]/);
  if (at < 0) replace(element, text);
  else replace(element, text.slice(0, at), h('span', { class: 'unit' }, text.slice(at)));
}

// color is what a CSS variable, such as "--c1", stands for in the theme of now.
export function color(variable) {
  return getComputedStyle(document.documentElement).getPropertyValue(variable).trim();
}

// palette is the name of the n-th categorical colour, which repeat after eight.
export function palette(n) {
  return `--c${(((n % 8) + 8) % 8) + 1}`;
}

// onTheme has f called whenever the theme changes, for what is drawn in canvases. It returns how to stop that.
export function onTheme(f) {
  const system = matchMedia('(prefers-color-scheme: dark)');
  system.addEventListener('change', f);
  document.addEventListener('vast-theme', f);
  return () => {
    system.removeEventListener('change', f);
    document.removeEventListener('vast-theme', f);
  };
}

// isDark tells which theme is shown.
export function isDark() {
  const chosen = document.documentElement.dataset.theme;
  return chosen ? chosen === 'dark' : matchMedia('(prefers-color-scheme: dark)').matches;
}

// switchTheme shows the other theme, and keeps the choice.
export function switchTheme() {
  const theme = isDark() ? 'light' : 'dark';
  document.documentElement.dataset.theme = theme;
  try {
    localStorage.setItem('vast-theme', theme);
  } catch {
    // Not kept, then.
  }
  document.dispatchEvent(new CustomEvent('vast-theme'));
}

// panel is a framed part of a page with a heading; tools stand at the right of the heading.
export function panel(title, { tools, class: extra, label } = {}, ...children) {
  return h('section', { class: ['panel', extra], aria: { label: label ?? title } },
    (title || tools) && h('header', { class: 'panel-head' }, title && h('h2', null, title), tools && h('div', { class: 'panel-tools' }, tools)),
    h('div', { class: 'panel-body' }, children));
}

// errorBox says what went wrong, and how to try again where that makes sense.
export function errorBox(error, retry) {
  return h('div', { class: 'box bad', role: 'alert' },
    h('p', { class: 'box-title' }, error?.title ?? 'This did not work'),
    h('p', null, error?.message ?? String(error)),
    retry && h('p', null, h('button', { type: 'button', onclick: retry }, 'Try again')));
}

// emptyBox stands where nothing is to be shown yet, and says what to do about it. Children may hold h('code', …).
export function emptyBox(title, ...children) {
  return h('div', { class: 'box' }, h('p', { class: 'box-title' }, title), children.map((c) => (c instanceof Node ? c : h('p', null, c))));
}

// bar is a horizontal share of one, with a colour's variable.
export function bar(share, colour = '--accent') {
  return h('span', { class: 'bar', aria: { hidden: 'true' } },
    h('span', { class: 'bar-fill', style: { width: `${Math.max(0, Math.min(1, share || 0)) * 100}%`, background: `var(${colour})` } }));
}

// tabs is a row of tabs for views of the same thing: items are { id, title }. It calls choose(id), also for the first one
// or the one that is given. Arrow keys move.
export function tabs(label, items, choose, first = items[0]?.id) {
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
  select(first);
  return h('div', { class: 'tabs', role: 'tablist', aria: { label } }, buttons);
}

// dialog opens a modal dialog, which Esc and its button close. It returns the element.
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
  element.addEventListener('click', (event) => { // beside it
    if (event.target === element) element.close();
  });
  document.body.append(element);
  element.showModal();
  return element;
}

// tip is the one tooltip beside the pointer: for canvases, where elements have none of their own.
export const tip = {
  element: null,
  // show puts nodes or text beside a point of the window, inside of it.
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

// later returns a function that calls f with its last arguments when it was not called again for so many milliseconds;
// its cancel forgets a call that is due.
export function later(milliseconds, f) {
  let timer = 0;
  const call = (...args) => {
    clearTimeout(timer);
    timer = setTimeout(() => f(...args), milliseconds);
  };
  call.cancel = () => clearTimeout(timer);
  return call;
}
