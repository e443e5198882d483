import { mkdtempSync, rmSync } from 'node:fs';
import http from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { call, parseJson } from '../../support/http/call.js';
import { waitUntil } from '../../support/http/wait-until.js';
import { writePlugin } from '../../support/isolation/write-plugin.js';
import { type HostProcess, startHostProcess } from '../../support/start-host.js';
import { DESK_ENTRY } from '../../support/surfaces/desk-surface.js';

describe('a client that leaves before a surface answers', () => {
  let plugins: string;
  let host: HostProcess;

  before(async () => {
    plugins = mkdtempSync(join(tmpdir(), 'modgate-gone-'));
    const manifest = { kinds: undefined, surfaces: ['desk', 'till'] };
    writePlugin(plugins, { name: 'acme-desk', manifest, entry: DESK_ENTRY });
    host = await startHostProcess({
      files: {},
      args: ['--plugins', plugins, '--surfaces', 'desk'],
    });
  });

  after(async () => {
    await host?.stop();
    rmSync(plugins, { recursive: true });
  });

  it('leaves no body open', async () => {
    const readCounts = async () => parseJson(await call(host, { target: '/desk/counts' }));
    const request = http.get(`${host.url}/desk/late`, { agent: false });
    request.on('error', () => {});
    await waitUntil('the surface waits', async () => Boolean((await readCounts())['isWaiting']));
    request.destroy();
    await waitUntil('the body is canceled', async () => {
      return Number((await readCounts())['canceled']) === 1;
    });
  });
});
