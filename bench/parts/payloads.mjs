/**
 * Requests and responses. Every body is valid JSON of an exact number of bytes.
 * @typedef {object} Payload
 * @property {string} name as the tables show it
 * @property {string} path at the upstream, and within a module
 * @property {'GET' | 'POST'} method
 * @property {string | null} request the body of the request
 * @property {string} answer the body of the upstream's answer
 * @property {string} [type] the media type of an answer that is passed on as bytes; default: it is JSON
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
  const row = (id) => ({
    id,
    name: `contact ${id}`,
    email: `c${id}@example.org`,
    score: id * 1.5,
    active: id % 2 === 0,
  });
  let length = '{"rows":[],"pad":""}'.length;
  for (let id = 1; ; id += 1) {
    const next = JSON.stringify(row(id)).length + (rows.length === 0 ? 0 : 1);
    if (length + next > bytes) break;
    rows.push(row(id));
    length += next;
  }
  return JSON.stringify({ rows, pad: 'x'.repeat(bytes - length) });
}
