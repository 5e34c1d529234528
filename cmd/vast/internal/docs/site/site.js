// This script searches at each key press, switches the theme, copies code, and marks the visible section in
// the outline. In a browser without scripts, the server answers searches.

'use strict';

const at = (id) => document.getElementById(id);
const up = document.documentElement.dataset.root; // path from this page to the root of the site

function h(tag, attributes, ...children) {
  const e = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes ?? {})) e.setAttribute(name, value);
  e.append(...children);
  return e;
}

// Search. search.go has the same stop words and the same weights.

const stopWords = new Set(
  (
    'a an and are as at be by can do does for from has have how i if in into is it its my of on or s that ' +
    'the this to what when where which who why will with you your'
  ).split(' '),
);

function wordsOf(text) {
  const words = [];
  for (const word of text.match(/[\p{L}\p{N}]+/gu) ?? []) {
    words.push(word);
    const parts = word.match(/[A-Z]+[a-z0-9]*|[a-z0-9]+/g) ?? [];
    if (parts.length > 1) words.push(...parts);
  }
  return words;
}

function stem(word) {
  const small = word.toLowerCase();
  if (stopWords.has(small)) return null;
  return small.replace(/^(.{4,}?)(?:ies|ing|ed|es|e|y)$|^(.{3,})s$/u, '$1$2');
}

const load = (file) =>
  new Promise((done, failed) => {
    const script = h('script', { src: up + file });
    script.addEventListener('load', done);
    script.addEventListener('error', () => failed(new Error(`${file} cannot be loaded`)));
    document.head.append(script);
  });

let engine = null;

// ready returns the search engine with the index. The first call loads them. The index is a script, because a
// page without a server can load scripts but no data.
function ready() {
  engine ??= (async () => {
    await Promise.all([load('minisearch/minisearch.js'), load('index.js')]);
    const made = new MiniSearch({
      fields: ['title', 'page', 'text', 'code'],
      tokenize: wordsOf,
      processTerm: stem,
    });
    made.addAll(globalThis.vastSections);
    return made;
  })();
  return engine;
}

const maxResults = 12;

function search(made, query) {
  const options = {
    boost: { title: 6, page: 1.5, text: 1, code: 0.4 },
    prefix: (term) => term.length > 2,
    fuzzy: (term) => (term.length > 4 ? 0.2 : 0),
    boostDocument: (id) => globalThis.vastSections[id].weight,
  };
  const all = made.search(query, { ...options, combineWith: 'AND' });
  const some = all.length < maxResults ? made.search(query, options) : [];
  const seen = new Set(all.map((r) => r.id));
  return [...all, ...some.filter((r) => !seen.has(r.id))].slice(0, maxResults);
}

// excerpt appends a part of a text to an element: the part around the first word that begins with one of the
// stems in words. It marks all such words in the part.
function excerpt(into, text, words) {
  const wanted = (word) =>
    wordsOf(word)
      .map(stem)
      .some((w) => w && words.some((a) => w.startsWith(a)));
  const places = [...text.matchAll(/[\p{L}\p{N}]+/gu)];
  const first = places.find((m) => wanted(m[0]))?.index ?? 0;
  let begin = Math.max(0, first - 50);
  while (begin > 0 && text[begin - 1] !== ' ') begin--;
  const end = Math.min(text.length, begin + 200);
  if (begin > 0) into.append('… ');
  let written = begin;
  for (const m of places) {
    if (m.index < begin || m.index + m[0].length > end || !wanted(m[0])) continue;
    into.append(text.slice(written, m.index), h('mark', null, m[0]));
    written = m.index + m[0].length;
  }
  into.append(text.slice(written, end), end < text.length ? ' …' : '');
}

const box = at('query');
const list = at('found');
let chosen = -1;
let version = 0; // changes with each query and each close; show() drops outdated results

function close() {
  version++;
  list.hidden = true;
  chosen = -1;
  box.setAttribute('aria-expanded', 'false');
  box.removeAttribute('aria-activedescendant');
}

function choose(i) {
  const options = [...list.querySelectorAll('[role=option]')];
  if (!options.length) return;
  chosen = (i + options.length) % options.length;
  options.forEach((o, j) => o.setAttribute('aria-selected', String(j === chosen)));
  options[chosen].scrollIntoView({ block: 'nearest' });
  box.setAttribute('aria-activedescendant', options[chosen].id);
}

async function show() {
  const query = box.value.trim();
  if (!query) {
    close();
    return;
  }
  const mine = ++version;
  let results;
  try {
    results = search(await ready(), query);
  } catch (error) {
    results = null;
    list.replaceChildren(h('p', { class: 'none' }, `Search does not work: ${error.message}.`));
  }
  if (mine !== version) return;
  const words = wordsOf(query).map(stem).filter(Boolean);
  if (results) {
    list.replaceChildren(
      ...results.map((r, i) => {
        const section = globalThis.vastSections[r.id];
        const text = h('span', { class: 'found-text' });
        excerpt(text, section.text || section.code, words);
        return h(
          'a',
          {
            role: 'option',
            id: `found-${i}`,
            href: up + section.url,
            tabindex: '-1',
            'aria-selected': 'false',
          },
          h('span', { class: 'found-title' }, section.title),
          ' ',
          h('span', { class: 'found-page' }, section.page === section.title ? '' : section.page),
          ' ',
          text,
        );
      }),
    );
    if (!results.length)
      list.append(h('p', { class: 'none' }, 'No section has any of these words. Try other words.'));
  }
  chosen = -1;
  list.hidden = false;
  list.scrollTop = 0;
  box.setAttribute('aria-expanded', 'true');
  box.removeAttribute('aria-activedescendant');
  at('told').textContent = results ? `${results.length} found` : '';
  list.dataset.query = query;
}

for (const [name, value] of Object.entries({
  role: 'combobox',
  'aria-autocomplete': 'list',
  'aria-controls': 'found',
  'aria-expanded': 'false',
})) {
  box.setAttribute(name, value);
}
box.addEventListener('focus', () => {
  ready().catch(() => {}); // show() will report the error
  if (box.value) show();
});
box.addEventListener('input', show);
box.addEventListener('keydown', (event) => {
  if (event.key === 'ArrowDown' || event.key === 'ArrowUp') {
    choose(chosen + (event.key === 'ArrowDown' ? 1 : chosen < 0 ? 0 : -1));
  } else if (event.key === 'Escape' && !list.hidden) {
    close();
  } else if (event.key === 'Escape') {
    box.value = '';
    box.blur();
  } else {
    return;
  }
  event.preventDefault();
});
box.form.addEventListener('submit', async (event) => {
  event.preventDefault();
  if (list.hidden || list.dataset.query !== box.value.trim()) await show();
  const options = list.querySelectorAll('[role=option]');
  options[Math.max(chosen, 0)]?.click();
});
list.addEventListener('click', close); // a result on this page loads no page, and would leave the list open
document.addEventListener('pointerdown', (event) => {
  if (!box.form.contains(event.target)) close();
});
document.addEventListener('keydown', (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey || event.target.closest('input, textarea, select'))
    return;
  if (event.key === '/') {
    event.preventDefault();
    box.focus();
    box.select();
  } else if (event.key === 'n' || event.key === 'p') {
    document.querySelector(event.key === 'n' ? '.turn .next' : '.turn .prev')?.click();
  }
});

const asked = new URLSearchParams(location.search).get('q');
if (asked && location.pathname.endsWith('/search.html')) {
  box.value = asked;
  box.focus();
}

// The theme.

const dark = () =>
  (document.documentElement.dataset.theme ??
    (matchMedia('(prefers-color-scheme: dark)').matches ? 'dark' : 'light')) === 'dark';
const theme = at('theme');
const nameTheme = () => theme.setAttribute('aria-label', `Switch to the ${dark() ? 'light' : 'dark'} theme`);
theme.hidden = false;
nameTheme();
theme.addEventListener('click', () => {
  document.documentElement.dataset.theme = dark() ? 'light' : 'dark';
  try {
    localStorage.setItem('vast-theme', document.documentElement.dataset.theme);
  } catch {
    // Without storage, the choice holds for this page only.
  }
  nameTheme();
});

// Copying.

if (navigator.clipboard) {
  for (const pre of document.querySelectorAll('pre.code')) {
    const button = h('button', { class: 'copy', type: 'button', 'aria-label': 'Copy the code' }, 'Copy');
    button.addEventListener('click', async () => {
      try {
        await navigator.clipboard.writeText(pre.querySelector('code').textContent);
        button.textContent = 'Copied';
      } catch {
        button.textContent = 'Not allowed';
      }
      setTimeout(() => {
        button.textContent = 'Copy';
      }, 1500);
    });
    const frame = h('div', { class: 'frame' });
    pre.replaceWith(frame);
    frame.append(pre, button);
  }
}

// The visible section.

const links = new Map(
  [...document.querySelectorAll('.outline a')].map((a) => [decodeURIComponent(a.hash.slice(1)), a]),
);
const headings = [...links.keys()].map(at).filter(Boolean);
function mark() {
  const above = headings.filter((e) => e.getBoundingClientRect().top < innerHeight / 4);
  const here = above.at(-1);
  for (const [id, a] of links) {
    if (here && id === here.id) a.setAttribute('aria-current', 'true');
    else a.removeAttribute('aria-current');
  }
}
if (headings.length) {
  addEventListener('scroll', () => requestAnimationFrame(mark), { passive: true });
  mark();
}
