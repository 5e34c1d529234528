// Requests to the server: JSON, binary answers, and the live stream.

const root = new URL('api/v1/', document.baseURI);

// ApiError is an error from the server, or a missing answer. status is the HTTP status, or 0 for an error
// without an HTTP status. position and length locate a mistake in a query, in characters.
export class ApiError extends Error {
  constructor(status, { code = '', message = '', position, length } = {}) {
    super(message || `the server answered with status ${status}`);
    this.name = 'ApiError';
    this.status = status;
    this.code = code;
    this.position = position;
    this.length = length;
  }
}

let token = '';
try {
  token = sessionStorage.getItem('vast-token') ?? '';
} catch {
  // The browser may forbid storage. Without storage, a reload of the page loses the token.
}

// takeToken moves the token from the fragment of the address, #token=…, into this tab's storage. A browser
// sends no fragment to a server. Without the fragment, the address bar does not show the token.
export function takeToken() {
  if (!location.hash.startsWith('#token=')) return;
  let text = location.hash.slice('#token='.length);
  try {
    text = decodeURIComponent(text);
  } catch {
    // The token was not encoded.
  }
  setToken(text);
  history.replaceState(null, '', location.pathname + location.search);
}

// setToken sets the token of all further requests.
export function setToken(text) {
  token = text.trim();
  try {
    sessionStorage.setItem('vast-token', token);
  } catch {
    // Without storage, a reload of the page loses the token.
  }
}

// hasToken reports whether there is a token to send. The server may still refuse the token.
export const hasToken = () => token !== '';

function address(path, params) {
  const url = new URL(path, root);
  for (const [name, value] of Object.entries(params ?? {})) {
    for (const one of Array.isArray(value) ? value : [value]) {
      if (one !== undefined && one !== null && one !== '') url.searchParams.append(name, one);
    }
  }
  return url;
}

async function request(url, { method = 'GET', body, signal, accept = 'application/json' } = {}) {
  const headers = { Accept: accept };
  if (token) headers.Authorization = `Bearer ${token}`;
  if (body !== undefined) headers['Content-Type'] = 'application/json';
  let response;
  try {
    response = await fetch(url, {
      method,
      headers,
      signal,
      body: body === undefined ? undefined : JSON.stringify(body),
      credentials: 'omit',
      cache: 'no-store',
      redirect: 'error',
      referrerPolicy: 'no-referrer',
    });
  } catch (error) {
    if (error.name === 'AbortError') throw error;
    throw new ApiError(0, {
      code: 'unreachable',
      message: 'The program does not answer. It may have exited.',
    });
  }
  if (response.ok) return response;
  let problem = {};
  try {
    problem = (await response.json()).error ?? {};
  } catch {
    // The answer does not come from the inspector, such as an error page of a proxy.
  }
  throw new ApiError(response.status, problem);
}

// get requests JSON. params is an object. get omits empty values, and sends one parameter for each element of
// an array. If signal is aborted, get throws the browser's AbortError: see aborted.
export async function get(path, params, { signal } = {}) {
  return (await request(address(path, params), { signal })).json();
}

// send requests a change: POST, PATCH or DELETE with a JSON body.
export async function send(method, path, body, { signal } = {}) {
  const response = await request(address(path), { method, body: body ?? {}, signal });
  const text = await response.text();
  return text ? JSON.parse(text) : null;
}

// binary requests bytes.
export async function binary(path, params, { signal } = {}) {
  return (await request(address(path, params), { signal, accept: 'application/octet-stream' })).arrayBuffer();
}

// lines requests JSON lines, and calls onLine for each value. A body makes the request a POST.
export async function lines(path, { params, body, signal }, onLine) {
  const method = body === undefined ? 'GET' : 'POST';
  const response = await request(address(path, params), {
    method,
    body,
    signal,
    accept: 'application/x-ndjson',
  });
  let ownError = null; // an error of onLine
  try {
    await eachLine(response.body, (line) => {
      const value = JSON.parse(line);
      try {
        onLine(value);
      } catch (error) {
        ownError = error;
        throw error;
      }
    });
  } catch (error) {
    if (error === ownError || error.name === 'AbortError') throw error;
    throw new ApiError(0, {
      code: 'incomplete',
      message: 'The answer is incomplete. The program may have exited.',
    });
  }
}

// aborted reports whether an error means that the request was cancelled.
export const aborted = (error) => error?.name === 'AbortError';

const busyTime = 15; // longest time in milliseconds before the browser may draw and handle events

async function eachLine(body, onLine) {
  const reader = body.pipeThrough(new TextDecoderStream()).getReader();
  let rest = '';
  let begun = performance.now();
  for (;;) {
    const { value, done } = await reader.read();
    if (done) break;
    rest += value;
    let from = 0;
    for (let at; (at = rest.indexOf('\n', from)) >= 0; from = at + 1) {
      onLine(rest.charCodeAt(at - 1) === 13 && at > from ? rest.slice(from, at - 1) : rest.slice(from, at));
    }
    rest = rest.slice(from);
    if (performance.now() - begun > busyTime) {
      await new Promise((resolve) => {
        setTimeout(resolve);
      });
      begun = performance.now();
    }
  }
  if (rest) onLine(rest);
}

// The live stream. A browser opens few connections to one server. Therefore all subscriptions of a page share
// one connection, and a hidden tab has no connection.

const subscriptions = new Set();
let connection = null; // the current connection; events of older connections are dropped
let retry = 0;
let timer = 0;
let planned = false;

// After maxQuiet milliseconds without an event, the state of the stream is 'waiting'. The module app.js
// subscribes to the topic overview, which sends an event each second, so a working stream is never quiet for
// so long.
const maxQuiet = 3500;

// stream subscribes to topics. It calls onEvent(topic, data) for each event, onState('live' | 'waiting' |
// 'lost') when the state changes, and onError(topic, error) when a topic fails. It returns a function that
// ends the subscription.
export function stream(topics, { onEvent, onState = () => {}, onError = () => {} }) {
  const subscription = {
    topics: [].concat(topics),
    onEvent,
    onState,
    onError,
    state: '',
    failed: false,
    heard: Date.now(),
  };
  subscriptions.add(subscription);
  plan();
  return () => {
    if (subscriptions.delete(subscription)) plan();
  };
}

// plan connects in a microtask, so that a task that ends and begins several subscriptions makes only one
// connection.
function plan() {
  if (planned) return;
  planned = true;
  queueMicrotask(() => {
    planned = false;
    connect();
  });
}

function wanted() {
  const topics = new Set();
  for (const s of subscriptions) for (const t of s.topics) topics.add(t);
  return [...topics].sort();
}

function connect() {
  clearTimeout(timer);
  const topics = document.hidden ? [] : wanted();
  const key = topics.join('\n');
  if (connection?.key === key) return;
  const before = connection;
  if (topics.length === 0) {
    connection = null;
    before?.old?.end.abort();
    before?.end.abort();
    return;
  }
  // Until the new connection answers, the old connection delivers events.
  const next = { key, end: new AbortController(), old: before };
  if (before?.old) {
    next.old = before.old; // before has not answered yet
    before.old = null;
    before.end.abort();
  }
  connection = next;
  const endOld = () => {
    next.old?.end.abort();
    next.old = null;
  };
  listen(next, topics, endOld)
    .then(
      () => new Error('ended'),
      (error) => error,
    )
    .then((error) => {
      endOld();
      if (connection !== next) return;
      connection = null;
      for (const s of subscriptions) setState(s, 'lost');
      const wait =
        error instanceof ApiError && error.status >= 400 && error.status < 500 && error.status !== 429
          ? 10_000
          : Math.min(8000, 500 * 2 ** retry++);
      timer = setTimeout(connect, wait);
    });
}

async function listen(mine, topics, open) {
  const response = await request(address('stream', { topic: topics }), {
    signal: mine.end.signal,
    accept: 'text/event-stream',
  });
  open();
  retry = 0;
  const now = Date.now();
  for (const s of subscriptions) {
    s.heard = now;
    if (s.state === 'lost') setState(s, 'waiting');
  }
  let name = '';
  let data = [];
  await eachLine(response.body, (line) => {
    if (line === '') {
      if (data.length > 0) deliver(mine, name, data.join('\n'));
      name = '';
      data = [];
    } else if (line.startsWith('event:')) {
      name = line.slice(6).trim();
    } else if (line.startsWith('data:')) {
      data.push(line.slice(line.charCodeAt(5) === 32 ? 6 : 5));
    }
  });
}

function deliver(mine, topic, text) {
  if (mine !== connection && mine !== connection?.old) return;
  let data;
  try {
    data = JSON.parse(text);
  } catch {
    return;
  }
  const failed = typeof data?.error?.message === 'string' && new ApiError(0, data.error);
  for (const s of [...subscriptions]) {
    s.heard = Date.now(); // an event of any topic shows that the shared connection works
    if (s.topics.includes(topic)) {
      s.failed = Boolean(failed);
      setState(s, failed ? 'waiting' : 'live');
      try {
        if (failed) s.onError(topic, failed);
        else s.onEvent(topic, data);
      } catch (error) {
        console.error(error); // an error of one subscriber must not end the shared stream
      }
    } else if (s.state !== '' && !s.failed) {
      setState(s, 'live');
    }
  }
}

function setState(subscription, state) {
  if (subscription.state === state) return;
  subscription.state = state;
  subscription.onState(state);
}

setInterval(() => {
  if (!connection) return;
  const now = Date.now();
  for (const s of subscriptions) if (now - s.heard > maxQuiet && s.state !== 'lost') setState(s, 'waiting');
}, 500);

document.addEventListener('visibilitychange', () => {
  const now = Date.now();
  for (const s of subscriptions) s.heard = now;
  connect();
});
