import { setTimeout as pause } from 'node:timers/promises';
import { expect } from 'chai';
import { waitUntil } from '../../support/http/wait-until.js';
import { type RunningHost, startHost } from '../../support/start-host.js';
import { started } from '../../support/started.js';
import { createCaller, describeLibrary } from './library-module.js';
import { type LibraryServer, startLibrary } from './library-server.js';

const FILE = 'library/endpoints.json';
const ROUTES = [{ method: 'POST', path: '/echo', operation: { grpc: 'library.v1.Echo/Echo' } }];
const OPERATOR = { authorization: 'Bearer dev-system:operator' };
const CONNECTIONS = 8;
const PAUSE_MS = 10;
/** Enough that each endpoint gets some. */
const CALLS = 40;
const INVALID = 'followed file is invalid; keeping the last good content';

interface Module {
  readonly state: string;
  readonly reason: string | null;
  readonly endpoints: readonly { readonly endpoint: string }[];
}

describe('a file of endpoints of kind grpc', () => {
  const servers: LibraryServer[] = [];
  let host: RunningHost | undefined;
  let release: () => void = () => {};

  afterEach(async () => {
    release();
    await host?.stop();
    host = undefined;
    for (const server of servers.splice(0)) await server.stop();
  });

  /** The echo of a text with `hold` waits until it is released. */
  const serve = async () => {
    const held = new Promise<void>((resolve) => {
      release = resolve;
    });
    const server = await startLibrary({
      Echo: async ({ request }) => {
        if (JSON.stringify(request).includes('hold')) await held;
        return [{ aBool: true }];
      },
    });
    servers.push(server);
    return server;
  };

  const start = async (endpoints?: readonly (string | object)[]) => {
    // Longer than the test holds a call on a busy machine.
    const limits = { timeout_ms: 60_000 };
    const config = { endpoints: { file: `./${FILE}` } };
    const descriptor = describeLibrary(ROUTES, '', { limits }, config);
    const files = { ...descriptor, ...(endpoints && { [FILE]: endpoints }) };
    host = await startHost({ files });
    const call = createCaller(host.url);
    return async (body: object = {}) =>
      (await call('/echo', { method: 'POST', body: JSON.stringify(body) })).status;
  };

  const readModule = async () => {
    const response = await fetch(`${started(host).url}/modules`, { headers: OPERATOR });
    const { modules } = (await response.json()) as { readonly modules: readonly Module[] };
    return modules[0];
  };

  const waitForEndpoints = (...expected: readonly LibraryServer[]) =>
    waitUntil('the endpoints are those of the file', async () => {
      const { endpoints = [] } = (await readModule()) ?? {};
      return endpoints.map(({ endpoint }) => endpoint).join() === expected.map(toUrl).join();
    });
  const toUrl = ({ url }: LibraryServer) => url;

  it('is followed under load, which loses no call', async () => {
    const first = await serve();
    const releaseFirst = release;
    const [second, third] = [await serve(), await serve()];
    const call = await start([first.url]);
    const inFlight = call({ aString: 'hold' });
    await waitUntil('the call is there', () => first.calls.length === 1);

    const statuses: number[] = [];
    let isStopped = false;
    const repeat = async () => {
      while (!isStopped) {
        statuses.push(await call());
        // Leaves processor time for the host and the servers.
        await pause(PAUSE_MS);
      }
    };
    const load = Promise.all(Array.from({ length: CONNECTIONS }, repeat));
    const waitForCalls = async (count = CALLS) => {
      const before = statuses.length;
      await waitUntil(`${count} more calls`, () => statuses.length >= before + count);
    };
    try {
      const files: readonly (readonly [(string | object)[], LibraryServer[]])[] = [
        [
          [first.url, second.url],
          [first, second],
        ],
        [[second.url], [second]],
        [
          [{ url: third.url, weight: 3 }, second.url],
          [third, second],
        ],
        [[third.url], [third]],
      ];
      for (const [content, expected] of files) {
        started(host).drop(FILE, content);
        await waitForEndpoints(...expected);
        // Those that were chosen before have ended.
        await waitForCalls();
        const counts = servers.map(({ calls }) => calls.length);
        await waitForCalls();
        const called = servers.filter(({ calls }, index) => calls.length !== counts[index]);
        expect(called.map(toUrl).toSorted()).to.deep.equal(expected.map(toUrl).toSorted());
      }
      started(host).drop(FILE, '[');
      await waitUntil('the file is rejected', () =>
        started(host)
          .logs()
          .some(({ msg }) => msg === INVALID),
      );
      await waitForCalls();
    } finally {
      isStopped = true;
      await load;
    }
    expect(statuses.filter((status) => status !== 200)).to.deep.equal([]);
    releaseFirst();
    expect(await inFlight).to.equal(200);
    const reloads = started(host)
      .logs()
      .filter(({ msg }) => msg === 'module changed');
    expect(reloads).to.have.length(1);
  });

  it('rejects the module while it is missing, which serves once it exists', async () => {
    const server = await serve();
    const call = await start();
    const { state, reason } = (await readModule()) ?? {};
    expect([state, reason]).to.satisfy(
      () => state === 'refused' && reason?.includes(FILE) === true,
    );
    started(host).drop(FILE, [server.url]);
    await waitForEndpoints(server);
    expect(await call()).to.equal(200);
  });
});
