import { writeFileSync } from 'node:fs';
import http from 'node:http';
import { join } from 'node:path';
import { expect } from 'chai';
import { waitUntil } from '../../support/http/wait-until.js';
import {
  CONTRACT_URL,
  SUPERSTRUCT_URL,
  writePlugin,
} from '../../support/isolation/write-plugin.js';
import { startHostProcess } from '../../support/start-host.js';
import { createFolder } from '../../support/temporary-folder.js';
import { use } from '../../support/use.js';

/** The authenticator waits for the token `slow` until `/desk/release`. */
const ENTRY = `import { defineAuthenticator, defineSurface } from ${JSON.stringify(CONTRACT_URL)};
import { object } from ${JSON.stringify(SUPERSTRUCT_URL)};
const counts = { waiting: 0, paths: [] };
let release;
const released = new Promise((resolve) => { release = resolve; });
export default {
  authenticators: [defineAuthenticator({ name: 'acme-slow', config: object({}), open: () => ({
    name: 'acme-slow',
    authenticate: async ({ token }) => {
      if (token === 'slow') {
        counts.waiting += 1;
        await released;
      }
      return { kind: 'service', id: token, scopes: new Set() };
    },
  }) })],
  surfaces: [defineSurface({ name: 'desk', prefix: '/desk', config: object({}), open: () => ({
    fetch: async (request) => {
      const { pathname } = new URL(request.url);
      counts.paths.push(pathname);
      if (pathname === '/desk/release') release();
      return Response.json(counts);
    },
  }) })],
};`;

describe('a client that leaves while it is authenticated', () => {
  const host = use(() => {
    const folder = createFolder();
    const manifest = { kinds: undefined, surfaces: ['desk'], authenticators: ['acme-slow'] };
    writePlugin(join(folder, 'plugins'), { name: 'acme', manifest, entry: ENTRY });
    const config = join(folder, 'modgate.yaml');
    writeFileSync(config, 'plugins: ./plugins\nauthenticators: [acme-slow]\n');
    return startHostProcess({ dev: false, args: ['--config', config, '--surfaces', 'desk'] });
  });
  const ask = async (path: string) => {
    const headers = { authorization: 'Bearer fast' };
    const response = await fetch(`${host.url}/desk/${path}`, { headers });
    return (await response.json()) as { waiting: number; paths: string[] };
  };

  it('causes no call of the surface', async () => {
    const headers = { authorization: 'Bearer slow' };
    const request = http.get(`${host.url}/desk/work`, { agent: false, headers });
    request.on('error', () => {});
    await waitUntil('the authenticator waits', async () => (await ask('counts')).waiting === 1);
    request.destroy();
    await new Promise((resolve) => {
      request.once('close', resolve);
    });
    // The host has noticed the close before it answers the second of them.
    for (let count = 0; count < 2; count += 1) await ask('counts');
    await ask('release');
    await waitUntil('the request is over', () => host.logs().some(({ status }) => status === 499));
    expect((await ask('counts')).paths).to.not.include('/desk/work');
  });
});
