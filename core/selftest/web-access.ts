import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** The origin whose pages may call the host. */
export const ALLOWED_ORIGIN = 'https://app.selftest.test';
/** The origin under which the host says that it is reached. */
export const PUBLIC_URL = 'https://gateway.selftest.test';
/** A cookie that the host accepts as a credential. */
export const SESSION_COOKIE = 'selftest-session=of-a-signed-in-user';
/** The header of API keys; not a usual one, which other attacks send. */
export const KEY_HEADER = 'x-selftest-key';
/** A module that only users may call. */
export const USERS_MODULE = 'users';

export const WEB_CONFIG_FILE = 'modgate.yaml';

const AUTHENTICATOR = 'selftest-cookie';

/** Written with absolute imports: the folder has no packages. */
const ENTRY = `import { defineAuthenticator } from ${JSON.stringify(import.meta.resolve('../contract/index.js'))};
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
};
`;

/** Lets pages and API keys call the host: a plugin that reads a cookie, a module for users, and the settings. */
export function writeWebAccess(directory: string, manifest: object, endpoint: string): void {
  const plugin = join(directory, 'plugins', AUTHENTICATOR);
  mkdirSync(plugin, { recursive: true });
  writeFileSync(join(plugin, 'index.mjs'), ENTRY);
  writeFileSync(
    join(plugin, 'plugin.json'),
    JSON.stringify({
      ...{ name: AUTHENTICATOR, version: '1.0.0', contract: 1, entry: './index.mjs' },
      authenticators: [AUTHENTICATOR],
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
  };
  // JSON is YAML.
  writeFileSync(join(directory, WEB_CONFIG_FILE), JSON.stringify(settings));
}
