import { createServer, type Server } from 'node:http';
import { join } from 'node:path';
import { expect } from 'chai';
import { ROOT } from '../../../support/http/call.js';
import { describeModule } from '../../../support/http/modules.js';
import { afterOpen, SSE } from '../../../support/http/use-streams.js';
import { type RunningHost, startHost } from '../../../support/start-host.js';
import { createFolder } from '../../../support/temporary-folder.js';

/** Serves one stream on the socket that the host names. */
const CHILD = `
require('node:http').createServer((request, response) => {
  response.writeHead(200, { 'content-type': 'text/event-stream' });
  response.end('data: 1\\n\\n');
}).listen(process.env.MODGATE_SOCKET);
`;
const ROUTES = [
  { method: 'GET', path: '/events', capability: 'chat.use', operation: { stream: 'sse' } },
];

describe('streams of events of other kinds', () => {
  let host: RunningHost | undefined;
  let server: Server | undefined;

  afterEach(async () => {
    await host?.stop();
    server?.close();
  });

  async function read(provider: object): Promise<string> {
    host = await startHost({ files: { 'm.json': describeModule('m', '', ROUTES, { provider }) } });
    const headers = { ...SSE, authorization: `Bearer ${ROOT}` };
    const response = await fetch(`${host.url}/modules/m/http/events`, { headers });
    return afterOpen(await response.text());
  }

  const EVENTS = 'data: 1\n\nevent: modgate.end\ndata: {"reason":"complete"}\n\n';

  it('come through a Unix socket', async () => {
    const socket = join(createFolder(), 'events.sock');
    server = createServer((_request, response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' }).end('data: 1\n\n');
    });
    await new Promise<void>((resolve) => server?.listen(socket, resolve));
    expect(await read({ kind: 'unix', config: { socket } })).to.equal(EVENTS);
  });

  it('come from a process', async () => {
    const command = [process.execPath, '-e', CHILD];
    expect(await read({ kind: 'process', config: { command } })).to.equal(EVENTS);
  });
});
