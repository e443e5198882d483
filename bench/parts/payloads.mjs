/**
 * Requests and responses. Every body is valid JSON of an exact number of bytes.
 * @typedef {object} Payload
 * @property {string} name as the tables show it
 * @property {string} path at the upstream, and within a module
 * @property {'GET' | 'POST'} method
 * @property {string | null} request the body of the request
 * @property {string} answer the body of the upstream's answer
 * @property {string} [type] the media type of an answer that is not JSON, and is passed on as bytes or as a stream
 * @property {'sse' | 'ndjson'} [stream] the form of an answer that is a stream of events
 */

const KIB = 1024;
const MIB = 1024 * KIB;
const SMALL_BYTES = 100;

/** @type {readonly Payload[]} */
export const PAYLOADS = [
  {
    name: 'GET 100 B',
    path: '/get-100b',
    method: 'GET',
    request: null,
    answer: createJson(SMALL_BYTES),
  },
  {
    name: 'GET 64 KiB',
    path: '/get-64k',
    method: 'GET',
    request: null,
    answer: createJson(64 * KIB),
  },
  { name: 'GET 1 MiB', path: '/get-1m', method: 'GET', request: null, answer: createJson(MIB) },
  {
    name: 'GET 16 MiB',
    path: '/get-16m',
    method: 'GET',
    request: null,
    answer: createJson(16 * MIB),
  },
  ...[1, 16].map((mebibytes) => ({
    name: `GET ${mebibytes} MiB of bytes`,
    path: `/get-${mebibytes}m-bytes`,
    method: 'GET',
    request: null,
    answer: 'bytes '.repeat(mebibytes * MIB).slice(0, mebibytes * MIB),
    type: 'application/octet-stream',
  })),
  {
    name: 'GET 1 MiB of events',
    path: '/get-1m-events',
    method: 'GET',
    request: null,
    answer: repeat((id) => `id: ${id}\nevent: changed\ndata: ${createRow(id)}\n\n`, MIB),
    type: 'text/event-stream',
    stream: 'sse',
  },
  {
    name: 'GET 1 MiB of lines',
    path: '/get-1m-lines',
    method: 'GET',
    request: null,
    answer: repeat((id) => `${createRow(id)}\n`, MIB),
    type: 'application/x-ndjson',
    stream: 'ndjson',
  },
  {
    name: 'POST 1 KiB',
    path: '/post-1k',
    method: 'POST',
    request: createJson(KIB),
    answer: createJson(SMALL_BYTES),
  },
  {
    name: 'POST 1 MiB',
    path: '/post-1m',
    method: 'POST',
    request: createJson(MIB),
    answer: createJson(SMALL_BYTES),
  },
];

/**
 * Rows of a table, as a module would answer them: strings, numbers and booleans.
 * @param {number} bytes
 */
function createJson(bytes) {
  const rows = [];
  let length = '{"rows":[],"pad":""}'.length;
  for (let id = 1; ; id += 1) {
    const row = createRow(id);
    const next = row.length + (rows.length === 0 ? 0 : 1);
    if (length + next > bytes) break;
    rows.push(row);
    length += next;
  }
  return `{"rows":[${rows.join()}],"pad":"${'x'.repeat(bytes - length)}"}`;
}

/**
 * What a client sends besides its credentials: a stream has to be asked for.
 * @param {Payload} payload
 * @returns {Record<string, string>}
 */
export function headersOf({ stream, type }) {
  return stream === undefined ? {} : { accept: type };
}

/**
 * As many whole units as fit.
 * @param {(id: number) => string} createUnit
 * @param {number} bytes
 */
function repeat(createUnit, bytes) {
  let text = '';
  for (let id = 1; ; id += 1) {
    const unit = createUnit(id);
    if (text.length + unit.length > bytes) return text;
    text += unit;
  }
}

/** @param {number} id */
function createRow(id) {
  return JSON.stringify({
    id,
    name: `contact ${id}`,
    email: `c${id}@example.org`,
    score: id * 1.5,
    active: id % 2 === 0,
  });
}
