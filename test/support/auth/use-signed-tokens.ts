import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { headerValue } from '../../../core/selftest/raw-http.js';
import { type EchoProvider, startEchoProvider } from '../echo-provider.js';
import {
  createSigningKey,
  type FakeIssuer,
  ISSUER,
  type SigningKey,
  startFakeIssuer,
} from '../fake-issuer.js';
import { call } from '../http/call.js';
import { describeModule } from '../http/modules.js';
import { type RunningHost, startHost } from '../start-host.js';
import { createFolder } from '../temporary-folder.js';

export const TARGET = '/modules/crm/http/items';
export const OTHER_ISSUER = 'https://other.example';
/** Its keys are never available. */
export const SILENT_ISSUER = 'https://silent.example';
export const HOUR = 3600;

/** A host that trusts three issuers. All tests of a `describe` share it. */
export function useSignedTokens() {
  let folder: string;
  let issuersFile: string;
  let issuer: FakeIssuer;
  let key: SigningKey;
  let curve: SigningKey;
  let stranger: SigningKey;
  let provider: EchoProvider;
  let host: RunningHost;

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

  before(async () => {
    folder = createFolder();
    issuersFile = join(folder, 'issuers.yaml');
    key = await createSigningKey('first');
    curve = await createSigningKey('curve', 'ES256');
    stranger = await createSigningKey('first');
    issuer = await startFakeIssuer([key]);
    writeFileSync(join(folder, 'keys.json'), JSON.stringify({ keys: [curve.jwk] }));
    writeFileSync(issuersFile, JSON.stringify(describeIssuers()));
    provider = await startEchoProvider();
    host = await startHost({
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

  after(async () => {
    expect(await host.stop()).to.deep.equal({ code: 0, signal: null });
    await provider.close();
    await issuer.close();
  });

  return {
    get,
    actorOf,
    describeIssuers,
    get folder() {
      return folder;
    },
    get issuersFile() {
      return issuersFile;
    },
    get issuer() {
      return issuer;
    },
    get key() {
      return key;
    },
    get curve() {
      return curve;
    },
    get stranger() {
      return stranger;
    },
    get provider() {
      return provider;
    },
    get host() {
      return host;
    },
  };
}
