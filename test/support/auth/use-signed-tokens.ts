import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { headerValue } from '../../../core/selftest/raw-http.js';
import { startEchoProvider } from '../echo-provider.js';
import { createSigningKey, ISSUER, startFakeIssuer } from '../fake-issuer.js';
import { call } from '../http/call.js';
import { describeModule } from '../http/modules.js';
import { startHost } from '../start-host.js';
import { createFolder } from '../temporary-folder.js';
import { use } from '../use.js';

export const TARGET = '/modules/crm/http/items';
export const OTHER_ISSUER = 'https://other.example';
/** Its keys are never available. */
export const SILENT_ISSUER = 'https://silent.example';
export const HOUR = 3600;

/** A host that trusts three issuers. All tests of a `describe` share it. */
export function useSignedTokens() {
  const folder = createFolder();
  const issuersFile = join(folder, 'issuers.yaml');
  const key = use(() => createSigningKey('first'));
  const curve = use(() => createSigningKey('curve', 'ES256'));
  const stranger = use(() => createSigningKey('first'));
  const issuer = use(() => startFakeIssuer([key]));
  const provider = use(startEchoProvider);

  const get = (as: string) => call(host, { target: TARGET, as });
  const actorOf = async (token: string) => {
    provider.reset();
    const response = await get(token);
    expect(response.status, response.body.toString()).to.equal(200);
    return headerValue(provider.only().headers, 'modgate-actor');
  };
  const describeIssuers = (jwks: object = { url: issuer.url, cooldown_seconds: 1 }) => ({
    issuers: [
      {
        issuer: ISSUER,
        audience: ['modgate', 'gateway'],
        algorithms: ['RS256'],
        jwks,
        clock_skew_seconds: 5,
        max_age_seconds: HOUR,
        actor: {
          kind: {
            claim: 'client.type',
            values: { machine: 'service', root: 'system', human: 'user' },
            default: 'service',
          },
          scopes: ['scope', 'permissions', 'realm_access.roles', 'https://issuer.example/roles'],
        },
      },
      {
        issuer: SILENT_ISSUER,
        audience: 'modgate',
        algorithms: ['RS256'],
        jwks: { url: 'http://127.0.0.1:9/jwks' },
        actor: { kind: 'service' },
      },
      {
        issuer: OTHER_ISSUER,
        audience: 'modgate',
        algorithms: ['ES256'],
        jwks: { file: 'keys.json' },
        actor: {
          kind: 'service',
          id: 'client_id',
          id_prefix: 'other.',
          allowed_scopes: ['crm.read'],
        },
      },
    ],
  });

  const host = use(() => {
    writeFileSync(join(folder, 'keys.json'), JSON.stringify({ keys: [curve.jwk] }));
    writeFileSync(issuersFile, JSON.stringify(describeIssuers()));
    return startHost({
      dev: false,
      args: ['--issuers', issuersFile],
      files: {
        'crm.json': describeModule('crm', provider.url, [
          { method: 'GET', path: '/items', capability: 'crm.read' },
        ]),
      },
    });
  });

  beforeEach(() => provider.reset());

  return {
    ...{ get, actorOf, describeIssuers, folder, issuersFile, issuer },
    ...{ key, curve, stranger, provider, host },
  };
}
