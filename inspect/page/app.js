// The frame around the pages: the navigation, the state of the program, and the keys. The fragment of the
// address names the shown page.
//
// A page is a module that exports page = { id, title, mount(root, app) }. mount fills root. mount may be
// async, and may return a function that unmounts the page. app has
//   world    the answer of GET world
//   path     the parts of the fragment after the page's name: ['17.3'] for #/entity/17.3
//   params   URLSearchParams: the part of the fragment after the ?
//   api      the module api.js
//   live     { sample, on(f) }: sample is the newest sample of the topic overview; on(f) calls f with this
//            sample and with each new sample, and returns a function that stops the calls
//   go(hash)           shows another page, such as go('#/entities?query=Dead')
//   replace(params)    replaces the parameters in the address, and does not mount the page again
//   announce(text)     makes a screen reader say the text
// If a page fails, the frame shows the error in place of the page.

import * as api from './api.js';
import {
  dialog,
  emptyBox,
  errorBox,
  format,
  h,
  isDark,
  onTheme,
  replace,
  setText,
  switchTheme,
  tip,
} from './ui.js';

const pages = [
  { id: 'overview', title: 'Overview' },
  { id: 'entities', title: 'Entities' },
  { id: 'queries', title: 'Queries' },
  { id: 'memory', title: 'Memory' },
  { id: 'systems', title: 'Systems' },
];
const sqlPage = { id: 'sql', title: 'SQL' }; // after the queries, if the server answers SQL statements
const mapPage = { id: 'map', title: 'Map' }; // the first page if the world has views
// hidden has the pages that the navigation does not list.
const hidden = [{ id: 'entity', title: 'Entity', under: 'entities' }];

const at = (id) => document.getElementById(id);
const main = at('main');
let world = null;
let mounted = null; // the page that is shown: { id, stop }
let shown = ''; // the fragment of the address that belongs to the shown page
// turn is the number of page changes. A change of turn during an await means that the user has left the page.
let turn = 0;

const live = {
  sample: null,
  listeners: new Set(),
  on(f) {
    live.listeners.add(f);
    if (live.sample) f(live.sample);
    return () => live.listeners.delete(f);
  },
};

function parse(hash) {
  const [, path, , query] = /^#?\/?([^?]*)(\?(.*))?$/.exec(hash) ?? ['', '', '', ''];
  const parts = path
    .split('/')
    .filter(Boolean)
    .map((part) => {
      try {
        return decodeURIComponent(part);
      } catch {
        return part;
      }
    });
  return { id: parts[0] ?? '', path: parts.slice(1), params: new URLSearchParams(query ?? '') };
}

function go(hash) {
  if (location.hash === hash) show();
  else location.hash = hash;
}

async function show() {
  const my = ++turn;
  shown = location.hash;
  const asked = parse(shown);
  const known = [...pages, ...hidden].find((p) => p.id === asked.id) ?? (asked.id === '' ? pages[0] : null);
  leave();
  const tabOf = known?.under ?? known?.id;
  for (const a of at('nav').children) {
    if (a.dataset.page === tabOf) {
      a.setAttribute('aria-current', 'page');
      // scrollIntoView would also change the place from which the next Tab key moves the focus
      at('nav').scrollLeft = a.offsetLeft - (at('nav').clientWidth - a.offsetWidth) / 2;
    } else {
      a.removeAttribute('aria-current');
    }
  }
  document.title = `${known?.title ?? 'Unknown page'} · ${world.name || 'Vast'}`;
  main.dataset.page = known?.id ?? '';
  if (!known) {
    replace(
      main,
      emptyBox('Unknown page', h('p', null, 'Go to the ', h('a', { href: '#/' }, 'first page'), '.')),
    );
    return;
  }
  const root = h('div', { class: ['page', `page-${known.id}`], data: { loading: 'true' } });
  replace(main, root);
  announce(known.title);
  const app = {
    world,
    api,
    live,
    go,
    path: asked.path,
    params: asked.params,
    replace(params) {
      if (my !== turn || location.hash !== shown) return; // the address already names the next page
      const text = new URLSearchParams(params).toString();
      const path = [known.id, ...asked.path].map(encodeURIComponent).join('/');
      history.replaceState(null, '', `#/${path}${text ? `?${text}` : ''}`);
      shown = location.hash;
    },
    announce,
  };
  try {
    const { page } = await import(`./${known.id}.js`);
    if (my !== turn) return;
    const stop = await page.mount(root, app);
    if (my !== turn) {
      stop?.();
      return;
    }
    mounted = { id: known.id, stop };
    if (!root.querySelector('h1')) root.prepend(h('h1', { class: 'unseen' }, known.title));
    delete root.dataset.loading;
  } catch (error) {
    if (my !== turn) return;
    console.warn(`page ${known.id}:`, error);
    replace(
      root,
      errorBox({ title: `The page “${known.title}” cannot be shown`, message: error.message }, show),
    );
    root.dataset.loading = 'failed';
  }
}

function leave() {
  const { stop } = mounted ?? {};
  mounted = null;
  tip.hide();
  try {
    stop?.();
  } catch (error) {
    console.warn('a page failed while it was unmounted:', error);
  }
}

function announce(text) {
  setText(at('announcer'), text);
}

// The header.

function navigation() {
  replace(
    at('nav'),
    pages.map((p, i) =>
      h(
        'a',
        { href: `#/${p.id}`, data: { page: p.id }, title: `${p.title} (${i + 1})` },
        h('span', { class: 'key', aria: { hidden: 'true' } }, i + 1),
        p.title,
      ),
    ),
  );
}

let heard = 0; // time of arrival of the last sample, in milliseconds since 1970
let streamState = 'waiting';

function state() {
  const s = live.sample;
  const now = {
    name: 'waiting',
    rate: heard ? format.seconds(Math.round((Date.now() - heard) / 1000)) : '',
    why: 'No data from the program for a while.',
  };
  if (streamState === 'lost') {
    Object.assign(now, {
      name: 'lost',
      rate: 'trying again',
      why: 'The program does not answer. It may have exited.',
    });
  } else if (streamState === 'live' && s && !s.admitting) {
    Object.assign(now, {
      rate: format.seconds(Math.round(s.age)),
      why: 'The program has not admitted the inspector for the time shown.',
    });
  } else if (streamState === 'live' && s?.paused) {
    Object.assign(now, {
      name: 'paused',
      rate: s.tick === undefined ? '' : `tick ${format.number(s.tick)}`,
      why: 'The program is paused. Resume it on the page Systems.',
    });
  } else if (streamState === 'live' && s) {
    Object.assign(now, {
      name: 'live',
      rate: s.tick === undefined ? '' : `${s.ticksPerSecond.toFixed(1)} ticks/s`,
      why: 'The program is running.',
    });
  }
  const element = at('state');
  element.dataset.state = now.name;
  element.title = now.why;
  setText(at('state-word'), heard || now.name === 'lost' ? now.name : 'connecting');
  setText(at('state-rate'), now.rate);
}

function follow() {
  api.stream('overview', {
    onEvent(_, sample) {
      live.sample = sample;
      heard = Date.now();
      state();
      for (const f of [...live.listeners]) {
        try {
          f(sample);
        } catch (error) {
          console.error(error);
        }
      }
    },
    onState(to) {
      streamState = to;
      state();
    },
  });
  setInterval(() => {
    if (streamState === 'waiting') state();
  }, 1000);
}

function themeButton() {
  at('theme').setAttribute('aria-label', isDark() ? 'Switch to the light theme' : 'Switch to the dark theme');
}

function footer() {
  const credits = (world.attribution ?? []).map((a) =>
    typeof a === 'string'
      ? a
      : a.url
        ? h('a', { href: a.url, rel: 'noreferrer' }, a.text ?? a.name ?? a.url)
        : a.text,
  );
  replace(
    at('foot'),
    h('span', null, `Vast ${world.version ?? ''}`.trim()),
    h('a', { href: 'api/v1/openapi.json' }, 'API'),
    h('a', { href: 'metrics' }, 'Metrics'),
    h('span', null, world.readOnly ? 'read-only' : 'read-write'),
    credits.length > 0 &&
      h(
        'span',
        { class: 'credits' },
        credits.flatMap((c, i) => (i ? [' · ', c] : [c])),
      ),
  );
}

// Keys.

const keys = () => [
  [`1 – ${pages.length}`, 'switch pages'],
  ['/', 'focus the search box'],
  ['t', 'switch between light and dark'],
  ['?', 'show this help'],
  ['Esc', 'close or cancel'],
  ['↑ ↓ Page Home End', 'move in lists'],
  ['Enter', 'open the selected row'],
  ...(world?.sql ? [['Ctrl Enter', 'run the SQL statement']] : []),
];

function help() {
  if (document.querySelector('dialog[open]')) return;
  dialog(
    'Keys',
    h(
      'dl',
      { class: 'facts' },
      keys().map(([key, text]) => [h('dt', null, h('kbd', null, key)), h('dd', null, text)]),
    ),
    h(
      'p',
      { class: 'dim' },
      'All data comes from ',
      h('a', { href: 'api/v1/openapi.json' }, 'the JSON interface'),
      '. In a terminal, use ',
      h('code', null, 'vast top'),
      ' and ',
      h('code', null, 'vast query'),
      '.',
    ),
  );
}

function onKey(event) {
  if (event.ctrlKey || event.metaKey || event.altKey || event.defaultPrevented) return;
  const field = event.target.closest?.('input, textarea, select, [contenteditable]');
  if (event.key === 'Escape') {
    tip.hide();
    if (field) field.blur();
    return;
  }
  if (field || document.querySelector('dialog[open]')) return;
  const number = Number(event.key);
  if (number >= 1 && number <= pages.length) go(`#/${pages[number - 1].id}`);
  else if (event.key === '?') help();
  else if (event.key === 't') at('theme').click();
  else if (event.key === '/') search();
  else return;
  event.preventDefault();
}

// search focuses the search box of the shown page. If this page has no search box, search first shows the
// entities page.
function search() {
  const box = main.querySelector('[data-search], input[type=search]');
  if (box) {
    box.focus();
    box.select?.();
  } else {
    wantSearch = true;
    go('#/entities');
  }
}

let wantSearch = false;
new MutationObserver(() => {
  if (!wantSearch) return;
  const box = main.querySelector('[data-search], input[type=search]');
  if (!box) return;
  wantSearch = false;
  box.focus();
}).observe(main, { childList: true, subtree: true });

// Start.

function askToken(error) {
  const input = h('input', { type: 'password', id: 'token', autocomplete: 'off', required: true });
  const box = h(
    'form',
    {
      class: 'box',
      onsubmit(event) {
        event.preventDefault();
        api.setToken(input.value);
        begin();
      },
    },
    h('p', { class: 'box-title' }, 'Token required'),
    h(
      'p',
      null,
      'Open the address that the program printed, which ends in ',
      h('code', null, '#token=…'),
      ', or enter the token here.',
    ),
    api.hasToken() && h('p', { class: 'bad' }, error.message),
    h(
      'div',
      { class: 'row' },
      h('label', { for: 'token' }, 'Token'),
      input,
      h('button', { type: 'submit', class: 'primary' }, 'Continue'),
    ),
  );
  replace(main, box);
  input.focus();
}

async function begin() {
  try {
    const answer = await api.get('world');
    if (world) return; // another attempt was faster
    world = answer;
  } catch (error) {
    if (error.status === 401) {
      askToken(error);
      return;
    }
    const title =
      error.status === 0 ? 'The program does not answer' : 'The inspector cannot describe the world';
    replace(main, errorBox({ title, message: error.message }, begin));
    setTimeout(() => {
      if (!world) begin();
    }, 3000);
    return;
  }
  if (world.sql && !pages.includes(sqlPage))
    pages.splice(pages.findIndex((p) => p.id === 'queries') + 1, 0, sqlPage);
  if (world.views?.length > 0 && pages[0] !== mapPage) pages.unshift(mapPage);
  setText(at('world-name'), world.name || 'Vast');
  navigation();
  footer();
  follow();
  addEventListener('hashchange', () => {
    if (location.hash.startsWith('#token=')) api.takeToken();
    show();
  });
  await show();
}

at('theme').addEventListener('click', switchTheme);
at('help').addEventListener('click', help);
at('skip').addEventListener('click', (event) => {
  // the frame would take the link's fragment for the name of a page
  event.preventDefault();
  main.focus();
});
document.addEventListener('keydown', onKey);
onTheme(themeButton);
themeButton();
api.takeToken();
begin();
