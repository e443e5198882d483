import http from 'node:http';
import { call, parseJson } from '../../support/http/call.js';
import { waitUntil } from '../../support/http/wait-until.js';
import { DESK_ENTRY } from '../../support/surfaces/desk-surface.js';
import { useSurfaceHost } from '../../support/surfaces/use-surface-host.js';

describe('a client that leaves before a surface answers', () => {
  const setup = useSurfaceHost({
    entry: DESK_ENTRY,
    surfaces: ['desk', 'till'],
    served: ['desk'],
  });

  it('leaves no body open', async () => {
    const readCounts = async () => parseJson(await call(setup.host, { target: '/desk/counts' }));
    const request = http.get(`${setup.host.url}/desk/late`, { agent: false });
    request.on('error', () => {});
    await waitUntil('the surface waits', async () => Boolean((await readCounts())['isWaiting']));
    request.destroy();
    await waitUntil('the body is canceled', async () => {
      return Number((await readCounts())['canceled']) === 1;
    });
  });
});
