import { symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { CONTRACT_URL, SUPERSTRUCT_URL, writePlugin } from '../support/isolation/write-plugin.js';

/** The origin whose pages may call the host. */
export const ALLOWED_ORIGIN = 'https://app.selftest.test';
export const PUBLIC_URL = 'https://gateway.selftest.test';
/** A cookie that the host accepts as a credential. */
export const SESSION_COOKIE = 'selftest-session=of-a-signed-in-user';
/** The header of API keys. It is unusual, because other attacks send the usual ones. */
export const KEY_HEADER = 'x-selftest-key';
/** A surface that responds with the headers that it receives. */
export const ECHO_SURFACE = 'echo';

const AUTHENTICATOR = 'selftest-cookie';

const ENTRY = `import { defineAuthenticator, defineSurface } from ${JSON.stringify(CONTRACT_URL)};
import { object } from ${JSON.stringify(SUPERSTRUCT_URL)};
const actor = { kind: 'service', id: 'page', scopes: new Set(['shop.use']) };
const authenticate = ({ headers }) =>
  headers.get('cookie')?.includes('${SESSION_COOKIE}') ? actor : null;
export default {
  authenticators: [
    defineAuthenticator({
      name: '${AUTHENTICATOR}',
      config: object({}),
      open: () => ({ name: '${AUTHENTICATOR}', reads: ['cookie'], challenges: ['Session'], authenticate }),
    }),
  ],
  surfaces: [
    defineSurface({
      name: '${ECHO_SURFACE}',
      prefix: '/${ECHO_SURFACE}',
      config: object({}),
      open: () => ({ fetch: async ({ headers }) => Response.json(Object.fromEntries(headers)) }),
    }),
  ],
};
`;

/** Lets pages, people and API keys call the host. */
export const WEB_SETTINGS = {
  authenticators: ['tokens', 'issuers', AUTHENTICATOR],
  'token-header': KEY_HEADER,
  'public-url': PUBLIC_URL,
  cors: { origins: [ALLOWED_ORIGIN], credentials: true },
  surfaces: { [ECHO_SURFACE]: { enabled: true }, mcp: { enabled: true } },
};

/**
 * Writes a plugin that reads a cookie and has a surface, and two with code outside their folders, of the kinds
 * `linked` and `dotted`. That code calls the bystander.
 */
export function writePlugins(directory: string, bystander: string): void {
  const folder = join(directory, 'plugins');
  const manifest = { kinds: undefined, authenticators: [AUTHENTICATOR], surfaces: [ECHO_SURFACE] };
  writePlugin(folder, { name: AUTHENTICATOR, manifest, entry: ENTRY });
  writeFileSync(join(directory, 'outside.mjs'), `await fetch('${bystander}/outside');\n`);
  writePlugin(folder, { name: 'dotted', manifest: { entry: './../../outside.mjs' }, entry: null });
  writePlugin(folder, { name: 'linked', entry: null });
  symlinkSync(join(directory, 'outside.mjs'), join(folder, 'linked', 'index.mjs'));
}
