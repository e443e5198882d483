import { writeFileSync } from 'node:fs';
import http, { type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { expect } from 'chai';
import { waitUntil } from '../../support/http/wait-until.js';
import { type RunningHost, startHost } from '../../support/start-host.js';
import { createFolder } from '../../support/temporary-folder.js';

const GOOD = 'good-token';
/** Those that an issuer is asked at a time, and those that wait. */
const [RUNNING, WAITING] = [16, 256];
const TOO_MANY = 20;

describe('sign-ins with random tokens from one address', () => {
  let folder: string;
  let issuer: Server;
  let host: RunningHost;
  let held: (() => void)[] | null = [];

  before(async () => {
    issuer = http.createServer((request, response) => {
      let body = '';
      request.on('data', (chunk: Buffer) => {
        body += chunk;
      });
      request.on('end', () => {
        const isGood = new URLSearchParams(body).get('token') === GOOD;
        const claims = { active: true, sub: 'ann' };
        const answer = () => {
          response.setHeader('content-type', 'application/json');
          response.end(JSON.stringify(isGood ? claims : { active: false }));
        };
        if (isGood || held === null) answer();
        else held.push(answer);
      });
    });
    await new Promise<void>((resolve) => issuer.listen(0, '127.0.0.1', resolve));
    folder = createFolder();
    const issuers = join(folder, 'issuers.json');
    const { port } = issuer.address() as AddressInfo;
    const entry = {
      name: 'login',
      url: `http://127.0.0.1:${port}/`,
      client_id: 'host',
      client_secret: 'env:SECRET',
      actor: { kind: 'user', id: 'sub' },
    };
    writeFileSync(issuers, JSON.stringify({ introspection: [entry] }));
    host = await startHost({ dev: false, args: ['--issuers', issuers], env: { SECRET: 'x' } });
  });

  after(async () => {
    await host?.stop();
    issuer.close();
    issuer.closeAllConnections();
  });

  const signIn = (token: string, localAddress: string) =>
    new Promise<number>((resolve, reject) => {
      const headers = { 'content-type': 'application/json', 'sec-fetch-site': 'same-origin' };
      const options = { method: 'POST', headers, localAddress, agent: false };
      const request = http.request(`${host.url}/console/api/session`, options, (response) => {
        response.resume().on('end', () => resolve(response.statusCode ?? 0));
      });
      request.on('error', reject).end(JSON.stringify({ token }));
    });

  it('do not keep out the sign-in of another', async () => {
    let rejected = 0;
    const attack = Array.from({ length: RUNNING + WAITING + TOO_MANY }, (_, index) =>
      signIn(`random-${index}`, '127.0.0.2').then((status) => {
        if (status === 503) rejected += 1;
        return status;
      }),
    );
    await waitUntil('the queue is full', () => rejected >= TOO_MANY);
    const good = signIn(GOOD, '127.0.0.1');
    await waitUntil('a place is taken from them', () => rejected > TOO_MANY);
    for (const answer of held ?? []) answer();
    held = null;
    expect(await good).to.equal(204);
    expect(new Set(await Promise.all(attack))).to.deep.equal(new Set([401, 503]));
  });
});
