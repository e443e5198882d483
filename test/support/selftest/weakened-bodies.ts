import { exchange, formatOk, readdress, type Surroundings, type Weakness } from './weakness.js';

const NEVER = new Promise<null>(() => {});

/** Hosts that handle long bodies badly. */
export const BODY_WEAKNESSES: Readonly<Record<string, (ports: Surroundings) => Weakness>> = {
  'ends each response that breaks off': () => ({ onClose: endChunks }),
  'forwards bodies before they have proved good': ({ provider }) => ({
    respond: async (text) => {
      if (!text.startsWith('POST /modules/long/http/long/items ')) return null;
      await exchange(provider, `${createWhole(text)}\r\n{}`);
      return null;
    },
  }),
  'reads the rest of a body as a request': () => ({
    respond: async (text) =>
      text.startsWith('POST /modules/long/http/long/early ')
        ? formatOk('').replace('200 OK', '502 No') + formatOk('{}')
        : null,
  }),
  'forwards trailers as headers': ({ provider }) => ({
    respond: async (text) =>
      text.startsWith('POST /modules/long/http/long/named ')
        ? exchange(provider, `${createWhole(text)}modgate-actor: system:root\r\n\r\n{}`)
        : null,
  }),
  'answers before the head of the provider ends': () => ({
    respond: async (text) =>
      text.startsWith('GET /modules/long/http/long/head ') ? formatOk('{}') : null,
  }),
  'reads heads and trailers without an end': () => ({
    respond: async (text) => (text.includes('x-endless: a') ? NEVER : null),
  }),
  'waits for slow bodies': () => ({
    // The host closes a connection without a request.
    onClose: (last) => (last === '' || last.startsWith('HTTP/1.1 408 ') ? null : ''),
    respond: async (text) =>
      /^\S+ \/modules\/long\/http\/(?:flood|long\/slow|long\/trickle)/.test(text) ? NEVER : null,
  }),
};

/** The head of the request, without its end, for a body of two bytes. */
function createWhole(text: string): string {
  const [head = ''] = text.split('\r\n\r\n');
  const chunked = /^transfer-encoding: chunked$/im;
  return `${readdress(head, '/items', 'a').replace(chunked, 'connection: close\r\ncontent-length: 2')}\r\n`;
}

/** The last chunk, for a response in chunks that has none. */
function endChunks(last: string): string {
  const isHead = last.startsWith('HTTP/1.1 ');
  const isChunked = isHead ? /^transfer-encoding: chunked\r$/im.test(last) : last !== '';
  return isChunked && !last.endsWith('0\r\n\r\n') ? '0\r\n\r\n' : '';
}
