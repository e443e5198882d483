import { ALLOWED_ORIGIN, SESSION_COOKIE } from '../../../core/selftest/web-access.js';
import { FLOOD } from '../../../core/selftest/websocket-scripts.js';
import { exchange, formatOk, type Surroundings, type Weakness } from './weakness.js';

const BASE = '/modules/sockets/http';
const HIDDEN = `GET ${BASE}/items?hidden `;
const PAGE_HEADERS = /^(?:origin|sec-fetch-site): .*\r\n/gm;
const OPENED = 'HTTP/1.1 101 Switching Protocols\r\n\r\n';

/** Errors of a host in the handling of WebSockets. */
export const WEAKENED_WEBSOCKETS: Readonly<Record<string, (ports: Surroundings) => Weakness>> = {
  'serves what follows a handshake': ({ host }) => ({
    respond: async (text) => {
      const start = text.indexOf(HIDDEN);
      if (start < 0 || !/^connection: upgrade/im.test(text)) {
        if (start !== 0) return null;
      }
      await exchange(host, text.slice(start).replace('\r\n', '\r\nconnection: close\r\n'));
      return null;
    },
  }),
  'reads any head of a handshake': ({ bystander }) => ({
    // The limits of that server are longer.
    bypass: (text) => connectTo(bystander, text, /\/endless-client /),
    respond: async (text) => {
      if (text.startsWith(`GET ${BASE}/endless `)) await new Promise(() => {});
      return /^sec-websocket-protocol: a{1000}/m.test(text) ? OPENED : null;
    },
  }),
  'passes any frame': ({ sockets }) => ({
    bypass: (text) => connectTo(sockets, text, /^GET \S+\/http\/(?:frames|reply\/\S+) /),
  }),
  'takes subprotocols as they come': ({ sockets }) => ({
    bypass: (text) => {
      const isRecorded = text.includes('websocket-bearer-recorded');
      return isRecorded ? null : connectTo(sockets, text, /^GET \S+\/http\/offers\S* /);
    },
  }),
  'records subprotocols': () => {
    let protocols = '';
    return {
      respond: async (text) => {
        protocols =
          /^sec-websocket-protocol: (.*modgate\.bearer\..*)\r$/m.exec(text)?.[1] ?? protocols;
        return text.startsWith('GET /calls?') ? formatOk(JSON.stringify({ protocols })) : null;
      },
    };
  },
  'opens WebSockets for any page': () => ({
    changeRequest: (text) =>
      text.startsWith(`GET ${BASE}/open `) && text.includes(SESSION_COOKIE)
        ? text.replace(PAGE_HEADERS, '').replace('\r\n', `\r\norigin: ${ALLOWED_ORIGIN}\r\n`)
        : text,
  }),
  'reads for clients that do not': () => ({
    changeResponse: (text) => (text.includes(FLOOD) ? '' : text),
  }),
};

/** The provider itself, below the path of its module. */
function connectTo(port: number, text: string, target: RegExp) {
  return target.test(text) ? { port, text: text.replace(BASE, '') } : null;
}
