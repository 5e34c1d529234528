// The last queries, the newest first, in the browser's local storage.

const key = 'vast-queries';
const most = 20;

export function recent() {
  try {
    const list = JSON.parse(localStorage.getItem(key) ?? '[]');
    return Array.isArray(list) ? list.filter((text) => typeof text === 'string').slice(0, most) : [];
  } catch {
    return []; // the browser forbids storage, or the storage holds other data
  }
}

export function remember(text) {
  if (!text.trim()) return;
  keep([text, ...recent().filter((other) => other !== text)].slice(0, most));
}

export function forget() {
  keep([]);
}

function keep(list) {
  try {
    localStorage.setItem(key, JSON.stringify(list));
  } catch {
    // Storage is forbidden or full: the history is not kept.
  }
}
