// Building blocks of the pages: elements, number formats, panels, tooltips. Each text becomes a text node.
// Therefore the browser never parses a text from a world as HTML.

const svgNamespace = 'http://www.w3.org/2000/svg';

// h makes an element, for example h('a', { class: 'quiet', href: '#/', aria: { label: 'Start' } }, 'Start').
// Properties:
//   onclick, …   a listener
//   class        a string or an array of strings
//   style        an object of CSS properties, including custom properties
//   aria, data   an object of attributes; true and false become the texts "true" and "false"
//   href, src    a link; h omits a link that can run a script
//   value, checked, indeterminate   a property of the element
//   others       an attribute; true sets an empty attribute; false, null and undefined set no attribute
// Children are nodes, texts, and arrays of nodes and texts. h skips null, undefined, true and false.
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
      for (const [key, text] of Object.entries(value))
        if (text !== null && text !== undefined) element.setAttribute(`aria-${key}`, text);
    } else if (name === 'data') {
      for (const [key, text] of Object.entries(value))
        if (text !== null && text !== undefined) element.dataset[key] = text;
    } else if (name === 'style') {
      setStyle(element, value);
    } else if (name === 'value' || name === 'checked' || name === 'indeterminate') {
      element[name] = value;
    } else if (name === 'href' || name === 'src') {
      if (isSafeLink(String(value))) element.setAttribute(name, value);
    } else {
      element.setAttribute(name, value === true ? '' : value);
    }
  }
  append(element, children);
  return element;
}

// setStyle sets CSS properties of an element, including custom properties such as "--size".
export function setStyle(element, properties) {
  for (const [name, value] of Object.entries(properties)) {
    if (name.startsWith('--')) element.style.setProperty(name, value);
    else element.style[name] = value;
  }
}

// isSafeLink rejects links that run a script, because a world can hold any link.
function isSafeLink(link) {
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

// digits formats a number with at most two decimals: 1.23, 12.3, 123.
function digits(n) {
  const size = Math.abs(n);
  return n.toFixed(size >= 99.95 || size === 0 ? 0 : size >= 9.995 ? 1 : 2);
}

// scaled converts n to a larger unit, and returns the converted number, the unit and the unit's index. It
// chooses the largest unit in which the number, rounded to three digits, is at least 1: 999.6 k becomes
// 1.00 M. A number below 1 keeps the first unit.
function scaled(n, factor, units) {
  let i = 0;
  while (i < units.length - 1 && Math.abs(n) >= factor * 0.9995) {
    n /= factor;
    i++;
  }
  return [n, units[i], i];
}

// format formats numbers for people, with a no-break space before the unit. null and undefined become a dash,
// except in clock, which needs a number. Strings stay as they are. The server sends strings such as "NaN" for
// floats that JSON cannot hold.
export const format = {
  // number formats integers as 1,234,567. It rounds other numbers: from 1000 on to an integer, below 1000 to
  // three significant digits.
  number(n) {
    if (typeof n !== 'number') return missing(n);
    if (!Number.isFinite(n)) return String(n);
    if (Number.isInteger(n) || Math.abs(n) >= 1000) return grouped.format(n);
    return String(Number(n.toPrecision(3)));
  },
  // short formats a number for a narrow place: 1.23 M.
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
    const value = x * 100;
    return `${value !== 0 && Math.abs(value) < 9.95 ? value.toFixed(1) : value.toFixed(0)}\u00a0%`;
  },
  rate(n) {
    return typeof n === 'number' ? `${format.short(n)}/s` : missing(n);
  },
  // clock returns the local time of day. seconds is the number of seconds since 1970.
  clock(seconds) {
    return new Date(seconds * 1000).toLocaleTimeString('en-GB');
  },
};

function missing(n) {
  return n === null || n === undefined ? '–' : String(n);
}

// setQuantity shows a formatted number in an element, with the unit in a smaller font.
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

// palette returns the CSS variable of colour n of a chart, from 0. The colours repeat after eight.
export function palette(n) {
  return `--c${(((n % 8) + 8) % 8) + 1}`;
}

// onTheme calls f after each change of the page's theme or the system's theme, because the page must draw its
// canvases again. onTheme returns a function that ends the calls.
export function onTheme(f) {
  const system = matchMedia('(prefers-color-scheme: dark)');
  system.addEventListener('change', f);
  document.addEventListener('vast-theme', f);
  return () => {
    system.removeEventListener('change', f);
    document.removeEventListener('vast-theme', f);
  };
}

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
    // The browser forbids storage, or the storage is full. The choice ends with the page.
  }
  document.dispatchEvent(new CustomEvent('vast-theme'));
}

// panel returns a framed part of a page. title is its heading. tools are nodes to the right of the heading.
// label is the panel's name for screen readers; the default is title.
export function panel(title, { tools, class: extra, label } = {}, ...children) {
  return h(
    'section',
    { class: ['panel', extra], aria: { label: label ?? title } },
    (title || tools) &&
      h(
        'header',
        { class: 'panel-head' },
        title && h('h2', null, title),
        tools && h('div', { class: 'panel-tools' }, tools),
      ),
    h('div', { class: 'panel-body' }, children),
  );
}

// errorBox returns a box that shows an error, with a button that calls retry. retry is optional.
export function errorBox(error, retry) {
  return h(
    'div',
    { class: 'box bad', role: 'alert' },
    h('p', { class: 'box-title' }, error?.title ?? 'Error'),
    h('p', null, error?.message ?? String(error)),
    retry && h('p', null, h('button', { type: 'button', onclick: retry }, 'Try again')),
  );
}

// emptyBox returns a box to show in place of missing data. Its children explain why the data is missing, or
// tell the user what to do.
export function emptyBox(title, ...children) {
  return h(
    'div',
    { class: 'box' },
    h('p', { class: 'box-title' }, title),
    children.map((c) => (c instanceof Node ? c : h('p', null, c))),
  );
}

// bar returns a horizontal bar. share is the filled part, from 0 to 1. colour is a CSS variable.
export function bar(share, colour = '--accent') {
  return h(
    'span',
    { class: 'bar', aria: { hidden: 'true' } },
    h('span', {
      class: 'bar-fill',
      style: { width: `${Math.max(0, Math.min(1, share || 0)) * 100}%`, background: `var(${colour})` },
    }),
  );
}

// tabs returns a row of tabs. items is an array of { id, title }. tabs calls choose(id) for the initial tab
// and for each tab that the user selects. initial is a tab's ID; the default is the first tab.
export function tabs(label, items, choose, initial = items[0]?.id) {
  const buttons = items.map((item) =>
    h(
      'button',
      {
        type: 'button',
        role: 'tab',
        class: 'tab',
        data: { id: item.id },
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
      },
      item.title,
    ),
  );
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

// dialog opens a modal dialog and returns its element. Esc, the Close button and a click outside the dialog
// close it.
export function dialog(title, ...children) {
  const before = document.activeElement;
  const element = h(
    'dialog',
    { class: 'dialog', aria: { label: title } },
    h(
      'header',
      { class: 'panel-head' },
      h('h2', null, title),
      h('button', { type: 'button', class: 'quiet', onclick: () => element.close() }, 'Close'),
    ),
    h('div', { class: 'panel-body' }, children),
  );
  element.addEventListener('close', () => {
    element.remove();
    before?.focus?.();
  });
  element.addEventListener('click', (event) => {
    // the target of a click outside is the dialog itself
    if (event.target === element) element.close();
  });
  document.body.append(element);
  element.showModal();
  return element;
}

// tip is the tooltip for parts of drawings.
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

// download saves a blob as a file.
export function download(blob, name) {
  const link = h('a', { href: URL.createObjectURL(blob), download: name });
  document.body.append(link);
  link.click();
  link.remove();
  setTimeout(() => URL.revokeObjectURL(link.href), 60_000); // the browser may need a while to read the file
}

// later debounces f. It returns a function that waits the given milliseconds and then calls f. A further call
// starts the wait again, with the new arguments. The function's method cancel ends the wait.
export function later(milliseconds, f) {
  let timer = 0;
  const call = (...args) => {
    clearTimeout(timer);
    timer = setTimeout(() => f(...args), milliseconds);
  };
  call.cancel = () => clearTimeout(timer);
  return call;
}
