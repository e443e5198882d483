import type { Socket } from 'node:net';
import { join } from 'node:path';
import { expect } from 'chai';
import { ROOT } from '../../support/http/call.js';
import { describeModule } from '../../support/http/modules.js';
import { waitUntil } from '../../support/http/wait-until.js';
import { type RunningProvider, startRawProvider } from '../../support/provider.js';
import { startHost } from '../../support/start-host.js';
import { createFolder } from '../../support/temporary-folder.js';
import { use } from '../../support/use.js';

/** More than the buffers of two sockets hold. */
const LENGTH = 8_000_000;
const JSON_BYTES = Buffer.from(JSON.stringify('x'.repeat(LENGTH)));
const ROUTES = ['POST', 'PUT'].flatMap((method) => [
  {
    ...{ method, path: '/json', capability: 'm.use' },
    operation: { idempotency: method === 'PUT' ? 'idempotent' : 'none' },
  },
  { method, path: '/bytes', capability: 'm.use', operation: { body: 'bytes' } },
]);
const MODES = {
  held: { request_bytes: 16_777_216 },
  streamed: { request_bytes: 16_777_216, hold_request_bytes: 65_536 },
};

/** A provider that reads the head of a request alone. */
type Reaction = (socket: Socket) => void;

const close: Reaction = (socket) => socket.destroy();
const answerWith =
  (status: string, more = ''): Reaction =>
  (socket) => {
    const body = `{"answer":"${'y'.repeat(20_000)}"}`;
    const length = `content-length: ${body.length}\r\n`;
    const head = `HTTP/1.1 ${status}\r\ncontent-type: application/json\r\n${length}${more}\r\n`;
    socket.write(`${head}${body}`, () => socket.destroy());
  };

describe('providers that answer before they have read a request', () => {
  const folder = createFolder();
  const socketPath = join(folder, 's');
  const providers: RunningProvider[] = [];
  let react: Reaction = close;

  const host = use(async () => {
    const onSocket = (socket: Socket) => {
      socket.once('data', () => {
        socket.pause();
        react(socket);
      });
    };
    providers.push(await startRawProvider(onSocket));
    providers.push(await startRawProvider(onSocket, { socketPath }));
    const files: Record<string, object> = {};
    for (const [mode, limits] of Object.entries(MODES)) {
      for (const kind of ['http', 'unix']) {
        const config =
          kind === 'unix' ? { socket: socketPath } : { endpoints: [providers[0]?.url ?? ''] };
        const describe = (name: string, overrides: object) => {
          files[`${name}.json`] = describeModule(name, '', ROUTES, {
            ...{ provider: { kind, config }, limits, retry: { attempts: 0 } },
            ...overrides,
          });
        };
        describe(`raw-${kind}-${mode}`, { responses: { mode: 'raw' } });
        describe(`pass-${kind}-${mode}`, { provider_errors: 'passthrough' });
      }
    }
    return startHost({ files });
  });

  after(async () => {
    for (const provider of providers) await provider.stop();
  });

  const authorization = `Bearer ${ROOT}`;
  const get = async (path: string) =>
    (await fetch(`${host.url}${path}`, { headers: { authorization } })).json();
  const send = async (module: string, method: string, path: string) => {
    const response = await fetch(`${host.url}/modules/${module}/http${path}`, {
      method,
      headers: { authorization, 'content-type': 'application/json' },
      body: JSON_BYTES,
    });
    return { status: response.status, text: await response.text() };
  };
  const endpointOf = async (name: string) => {
    const { modules } = (await get('/modules')) as {
      modules: { name: string; endpoints: Record<string, unknown>[] }[];
    };
    return modules.find((module) => module.name === name)?.endpoints[0];
  };

  for (const kind of ['http', 'unix'])
    for (const mode of ['held', 'streamed'])
      for (const path of ['/json', '/bytes']) {
        if (mode === 'held' && path === '/bytes') continue;
        const title = `${kind} with ${path} ${mode}`;

        it(`are heard in raw mode: ${title}`, async () => {
          const name = `raw-${kind}-${mode}`;
          for (const status of ['413 Too Large', '401 No', '202 Accepted', '503 Later'])
            for (const [method, more] of [
              ['POST', 'connection: close\r\n'],
              ['PUT', ''],
            ] as const) {
              react = answerWith(status, more);
              const answer = await send(name, method, path);
              expect(answer.status, status).to.equal(Number(status.slice(0, 3)));
              expect(answer.text).to.match(/^\{"answer":"y{20000}"\}$/);
            }
          expect(await endpointOf(name)).to.include({ state: 'up' });
        });

        it(`are heard by the caller of a Problem: ${title}`, async () => {
          const name = `pass-${kind}-${mode}`;
          react = answerWith('422 Bad', 'connection: close\r\n');
          for (let index = 0; index < 3; index += 1) {
            const { status, text } = await send(name, 'POST', path);
            expect([status, (JSON.parse(text) as { code: string }).code]).to.deep.equal([
              422,
              'provider_error',
            ]);
          }
        });

        it(`fail the route and not the endpoint where they say nothing: ${title}`, async () => {
          const name = `raw-${kind}-${mode}`;
          react = close;
          for (let index = 0; index < 5; index += 1) {
            expect((await send(name, 'POST', path)).status).to.equal(502);
          }
          expect(await endpointOf(name)).to.deep.include({ state: 'up' });
          const failed = `/calls?limit=5&status=502&module=${name}`;
          await waitUntil('the calls are recorded', async () => {
            const { calls } = (await get(failed)) as { calls: { failure: string }[] };
            return calls.filter(({ failure }) => failure === 'unavailable').length === 5;
          });
        });
      }
});
