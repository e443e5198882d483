import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { headerValue } from '../../core/selftest/raw-http.js';
import {
  type IdentityProvider,
  PROVIDERS,
  READER,
  type Token,
} from '../support/auth/identity-providers.js';
import { type EchoProvider, startEchoProvider } from '../support/echo-provider.js';
import { createSigningKey, type SigningKey, signToken } from '../support/fake-issuer.js';
import { call } from '../support/http/call.js';
import { describeModule } from '../support/http/modules.js';
import { waitUntil } from '../support/http/wait-until.js';
import { startHost } from '../support/start-host.js';
import { createFolder } from '../support/temporary-folder.js';
import { use } from '../support/use.js';

describe('identity providers', () => {
  let provider: EchoProvider;
  const keys: Record<string, SigningKey> = {};
  let number = 0;

  const folder = createFolder();
  const host = use(async () => {
    for (const algorithm of ['RS256', 'ES256'])
      keys[algorithm] = await createSigningKey(algorithm, algorithm);
    const write = (name: string, value: object) => {
      writeFileSync(join(folder, name), JSON.stringify(value));
      return join(folder, name);
    };
    write('keys.json', { keys: Object.values(keys).map(({ jwk }) => jwk) });
    const issuers = Object.values(PROVIDERS).map(({ entry, token, algorithm = 'RS256' }) => ({
      issuer: token.claims['iss'],
      algorithms: [algorithm],
      jwks: { file: 'keys.json' },
      ...entry,
    }));
    provider = await startEchoProvider();
    return startHost({
      dev: false,
      args: [
        ...['--issuers', write('issuers.json', { issuers })],
        ...['--roles', write('roles.json', { roles: { [READER]: { scopes: ['crm.read'] } } })],
      ],
      files: {
        'crm.json': describeModule(
          'crm',
          provider.url,
          [{ method: 'GET', path: '/items', capability: 'crm.read' }],
          { callers: ['service', 'user'] },
        ),
      },
    });
  });

  after(async () => {
    await provider.close();
  });

  const send = async (
    { algorithm = 'RS256', token }: IdentityProvider,
    { header, claims }: Token = { claims: {} },
  ) => {
    number += 1;
    const id = `provider-${number}`;
    provider.reset();
    const as = await signToken(
      keys[algorithm] as SigningKey,
      { ...token.claims, ...claims },
      { ...token.header, ...header },
    );
    const headers: [string, string][] = [['x-request-id', id]];
    const response = await call(host, { target: '/modules/crm/http/items', as, headers });
    const find = () =>
      host.logs().find((line) => line['request_id'] === id && line['msg'] === 'request');
    await waitUntil('the line of the request', () => find() !== undefined);
    return { response, line: find() ?? {} };
  };

  for (const [name, subject] of Object.entries(PROVIDERS)) {
    it(`${name}: accepts an access token`, async () => {
      const { response, line } = await send(subject);
      expect(response.status, JSON.stringify(line)).to.equal(200);
      expect(line).to.include({ actor: subject.actor });
      const header = headerValue(provider.only().headers, 'modgate-actor');
      expect(decodeURIComponent(header ?? '')).to.equal(subject.actor);
    });

    for (const [title, { reason, detail, ...token }] of Object.entries(subject.refused)) {
      it(`${name}: rejects ${title}`, async () => {
        const { line } = await send(subject, token);
        expect(line).to.include({ status: 401, reason });
        if (detail === undefined) expect(line).to.not.have.property('reason_detail');
        else expect(line).to.include({ reason_detail: detail });
      });
    }
  }
});
