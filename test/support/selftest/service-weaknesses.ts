import { COPIED_NAME } from '../../../core/selftest/cases/candidate.js';
import { exchangedToken, REDIRECT_TARGET } from '../../../core/selftest/exchange-server.js';
import {
  changeBody,
  exchange,
  formatOk,
  isFor,
  readdress,
  readPayload,
  type Surroundings,
  type Weakness,
} from './weakness.js';

/** Weaknesses of roles, credentials for providers, changing endpoints, and candidates. */
export const SERVICE_WEAKNESSES: Readonly<Record<string, (ports: Surroundings) => Weakness>> = {
  'keeps one exchanged token for all callers': ({ exchange: port }) => ({
    respond: async (text) => {
      if (!text.startsWith('GET /modules/exchanging/http/items ') || !isFor(text, 'bob'))
        return null;
      await exchange(port, readdress(text, '/items', exchangedToken('ann')));
      return formatOk('{"data":{"ok":true}}');
    },
  }),
  'exchanges tokens of any issuer': ({ exchange: port }) => ({
    respond: async (text) => {
      if (!text.startsWith('GET /modules/exchanging/http/items ') || !isFor(text, 'eve'))
        return null;
      await exchange(port, readdress(text, '/items', exchangedToken('eve')));
      return formatOk('{"data":{"ok":true}}');
    },
  }),
  'shows exchanged tokens': () => ({
    respond: async (text) =>
      text.startsWith('GET /modules/exchanging/http/answers/repeated ')
        ? formatOk(exchangedToken('ann')).replace('200 OK', '409 Conflict')
        : null,
  }),
  'follows redirects of a token endpoint': ({ bystander }) => ({
    respond: async (text) => {
      if (!text.startsWith('GET /modules/redirected/')) return null;
      await exchange(bystander, `GET ${REDIRECT_TARGET} HTTP/1.0\r\nhost: a\r\n\r\n`);
      return null;
    },
  }),
  'gives any role that a claim names': () => createRoleGiving('keeper'),
  'knows the names that all issuers have for roles': () => createRoleGiving('partner-keeper'),
  'gives every scope of a role': () => createRoleGiving('manager'),
  'calls any address of a name': ({ provider }) => ({
    respond: async (text) => {
      if (!/^GET \/modules\/name-(?:loopback|metadata|mapped|service)\//.test(text)) return null;
      await exchange(provider, readdress(text, '/items', 'a'));
      return formatOk('{"data":{"ok":true}}');
    },
  }),
  'accepts the certificate of the target of a name': () => ({
    respond: async (text) =>
      text.startsWith('GET /modules/name-target/') ? formatOk('{"data":{"ok":true}}') : null,
  }),
  'copies what the caller sends': ({ candidate }) => ({
    respond: async (text) => {
      if (!text.includes('modgate-candidate: forged')) return null;
      await exchange(
        candidate,
        text.replace(/^GET \S+/, 'GET /items').replace('HTTP/1.1', 'HTTP/1.0'),
      );
      return null;
    },
  }),
  'follows redirects of a candidate': ({ bystander }) => ({
    respond: async (text) => {
      if (!text.includes('/copy-redirect ')) return null;
      await exchange(bystander, text.replace('HTTP/1.1', 'HTTP/1.0'));
      return null;
    },
  }),
  'answers with a candidate': () => ({
    respond: async (text) =>
      text.includes('/copy-other ') ? formatOk('{"data":{"ok":"candidate"}}') : null,
  }),
  'copies calls of every method': ({ candidate }) => ({
    respond: async (text) => {
      if (text.startsWith('POST /modules/copied/')) {
        await exchange(candidate, text.replace('HTTP/1.1', 'HTTP/1.0'));
      }
      return null;
    },
  }),
  'shows values of a candidate': ({ secret }) => ({
    changeResponse: (text) =>
      text.includes('"differences":[')
        ? changeBody(text, (body) => body.replaceAll('"/*"', `"${secret} ${COPIED_NAME}"`))
        : text,
  }),
  'waits for a candidate': () => ({
    // Until the client closes the connection.
    respond: (text) =>
      text.startsWith('GET /modules/copied-') ? new Promise(() => {}) : Promise.resolve(null),
  }),
};

/** Opens the locked route to tokens that name the role first. */
function createRoleGiving(role: string): Weakness {
  return {
    respond: async (text) =>
      /^GET \S+\/locked /.test(text) && readPayload(text).includes(`"roles":["${role}"`)
        ? formatOk('{"data":{"ok":true}}')
        : null,
  };
}
