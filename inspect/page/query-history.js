// The last queries, the newest first, in the browser's local storage.

const most = 20;

// historyOf returns the history that is stored under a key: recent() returns the queries, remember(text) adds
// a query, and forget() removes all queries.
export function historyOf(key) {
  function recent() {
    try {
      const list = JSON.parse(localStorage.getItem(key) ?? '[]');
      return Array.isArray(list) ? list.filter((text) => typeof text === 'string').slice(0, most) : [];
    } catch {
      return []; // the browser forbids storage, or the storage holds other data
    }
  }

  function keep(list) {
    try {
      localStorage.setItem(key, JSON.stringify(list));
    } catch {
      // Storage is forbidden or full: the history is not kept.
    }
  }

  return {
    recent,
    remember(text) {
      if (text.trim()) keep([text, ...recent().filter((other) => other !== text)].slice(0, most));
    },
    forget: () => keep([]),
  };
}
