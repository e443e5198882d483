import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** The origin whose pages may call the host. */
export const ALLOWED_ORIGIN = 'https://app.selftest.test';
export const PUBLIC_URL = 'https://gateway.selftest.test';
/** A cookie that the host accepts as a credential. */
export const SESSION_COOKIE = 'selftest-session=of-a-signed-in-user';
/** The header of API keys. It is unusual, because other attacks send the usual ones. */
export const KEY_HEADER = 'x-selftest-key';
/** A module that only users may call. */
export const USERS_MODULE = 'users';

/** A surface that responds with the headers that it receives. */
export const ECHO_SURFACE = 'echo';

export const WEB_CONFIG_FILE = 'modgate.yaml';

const AUTHENTICATOR = 'selftest-cookie';

/** Uses absolute imports, because the folder has no packages. */
const ENTRY = `import { defineAuthenticator, defineSurface } from ${JSON.stringify(import.meta.resolve('../contract/index.js'))};
import { object } from ${JSON.stringify(import.meta.resolve('superstruct'))};
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

/**
 * Lets pages, people and API keys call the host: a plugin that reads a cookie and has a surface, a
 * module for users, and the settings.
 * @param oidc the issuers of the console
 */
export function writeWebAccess(
  directory: string,
  manifest: object,
  endpoint: string,
  oidc: readonly object[],
): void {
  const plugin = join(directory, 'plugins', AUTHENTICATOR);
  mkdirSync(plugin, { recursive: true });
  writeFileSync(join(plugin, 'index.mjs'), ENTRY);
  writeFileSync(
    join(plugin, 'plugin.json'),
    JSON.stringify({
      ...{ name: AUTHENTICATOR, version: '1.0.0', contract: 1, entry: './index.mjs' },
      authenticators: [AUTHENTICATOR],
      surfaces: [ECHO_SURFACE],
    }),
  );
  writeFileSync(
    join(directory, 'modules.d', `${USERS_MODULE}.json`),
    JSON.stringify({
      module: USERS_MODULE,
      provider: { kind: 'http', config: { endpoints: [endpoint] } },
      manifest: { inline: manifest },
      callers: ['user'],
    }),
  );
  const settings = {
    authenticators: ['tokens', 'issuers', AUTHENTICATOR],
    'token-header': KEY_HEADER,
    'public-url': PUBLIC_URL,
    cors: { origins: [ALLOWED_ORIGIN], credentials: true },
    surfaces: { [ECHO_SURFACE]: { enabled: true }, mcp: { enabled: true }, console: { oidc } },
  };
  // JSON is YAML.
  writeFileSync(join(directory, WEB_CONFIG_FILE), JSON.stringify(settings));
}
