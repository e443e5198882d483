import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type ExchangeServer, startExchangeServer } from '../exchange-server.js';
import { createSigningKey, ISSUER, signToken } from '../fake-issuer.js';
import { buildManifest, describeModule } from '../http/modules.js';
import { answerJson, type ScriptedProvider, startProvider } from '../provider.js';
import { type RunningHost, startHost } from '../start-host.js';
import { createFolder } from '../temporary-folder.js';
import { use } from '../use.js';

export const SECRET = 'secret-that-nobody-may-read';
export const ROUTES = [
  { method: 'GET', path: '/items', capability: 'crm.read' },
  { method: 'DELETE', path: '/items', capability: 'crm.read' },
];
const MANIFEST_PATH = '/.well-known/modgate/manifest.json';
const OPS_SCOPES = 'modgate.calls.read,modgate.modules.read,modgate.explain';

export interface ExchangeHost {
  readonly server: ExchangeServer;
  readonly provider: ScriptedProvider;
  readonly host: RunningHost;
  readonly folder: string;
  /** A token of the issuer whose tokens are exchanged. */
  tokenOf(subject: string, claims?: object): Promise<string>;
  /** A token of the other issuer of the file. */
  foreignTokenOf(subject: string): Promise<string>;
  /** A module with `auth.exchange`; `more` replaces members of it. */
  describeOn(module: string, overrides?: object, others?: object): object;
}

/** Development tokens of operators. */
export const OPERATOR = `dev-service:me:crm.read,${OPS_SCOPES}`;

/**
 * A host with an issuers file, a server that exchanges tokens, and a provider that repeats its `authorization`.
 * All tests of a `describe` share them.
 */
export function useExchangeHost(
  modules: (
    describe: ExchangeHost['describeOn'],
    server: ExchangeServer,
  ) => Readonly<Record<string, object>>,
  args: readonly string[] = [],
): ExchangeHost {
  const folder = createFolder();
  const key = use(() => createSigningKey('first'));
  const server = use(startExchangeServer);
  const provider = use(() =>
    startProvider((request, response) => {
      if (request.url === MANIFEST_PATH) {
        answerJson(buildManifest('own', ROUTES))(request, response);
        return;
      }
      const { authorization = '' } = request.headers;
      const isStale = authorization.includes('stale');
      const status = isStale ? 401 : request.method === 'DELETE' ? 409 : 200;
      response.writeHead(status, { 'content-type': 'application/json' });
      response.end(JSON.stringify({ detail: `you sent ${authorization}`, value: authorization }));
    }),
  );

  const describeOn = (module: string, overrides: object = {}, others: object = {}) => {
    const exchange = {
      issuer: server.url,
      token_url: server.tokenUrl,
      client_id: 'gateway',
      client_secret: 'env:CRM_SECRET',
      ...overrides,
    };
    return describeModule(module, provider.url, ROUTES, {
      provider: { kind: 'http', config: { endpoints: [provider.url], auth: { exchange } } },
      provider_errors: 'passthrough',
      records: { capture_bytes: 4096 },
      ...others,
    });
  };

  const host = use(() => {
    writeFileSync(join(folder, 'keys.json'), JSON.stringify({ keys: [key.jwk] }));
    const entry = {
      audience: 'modgate',
      algorithms: ['RS256'],
      jwks: { file: 'keys.json' },
      actor: { kind: 'user' },
    };
    const issuers = [
      { issuer: server.url, ...entry, token_endpoints: [server.tokenUrl] },
      { issuer: ISSUER, ...entry },
    ];
    writeFileSync(join(folder, 'issuers.json'), JSON.stringify({ issuers }));
    return startHost({
      env: { CRM_SECRET: SECRET },
      args: ['--issuers', join(folder, 'issuers.json'), ...args],
      files: modules(describeOn, server),
    });
  });

  beforeEach(() => server.reset());

  const sign = (subject: string, claims: object) =>
    signToken(key, { sub: subject, jti: `${subject}-${Math.random()}`, ...claims });
  return {
    ...{ describeOn, server, provider, host, folder },
    tokenOf: (subject, claims = {}) => sign(subject, { iss: server.url, ...claims }),
    foreignTokenOf: (subject) => sign(subject, {}),
  };
}
