import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import http from 'node:http';
import { join } from 'node:path';
import { expect } from 'chai';
import { signIn } from '../support/console/console-client.js';
import { startEchoProvider } from '../support/echo-provider.js';
import { call } from '../support/http/call.js';
import { describeModule, toRoutes } from '../support/http/modules.js';
import { waitUntil } from '../support/http/wait-until.js';
import { CONTRACT_URL, SUPERSTRUCT_URL, writePlugin } from '../support/isolation/write-plugin.js';
import { startHostProcess } from '../support/start-host.js';
import { createFolder } from '../support/temporary-folder.js';
import { use } from '../support/use.js';

const PRELOAD = new URL('../support/isolation/injected-faults.js', import.meta.url).href;

/** Responses of a surface whose code fails while the body is sent, or after it. */
const ANSWERS: Readonly<Record<string, string>> = {
  'a timer that throws': 'later(); return new Response("ok");',
  'a stream whose pull leaves an error uncaught':
    'return body({ pull: (it) => { later(); it.enqueue(BYTES); } });',
  'a stream that fails after its first part':
    'return body({ pull: (it) => { if (count++ === 0) it.enqueue(BYTES); else it.error(FAILED); } });',
  'a listener of the signal that throws':
    'call.signal.addEventListener("abort", () => { throw FAILED; }); return body({});',
  'a stream whose cancel leaves an error uncaught': 'return body({ cancel: later });',
  'a stream whose cancel throws': 'return body({ cancel: () => { throw FAILED; } });',
};
const NAMES = Object.keys(ANSWERS);
const LOGGED = ['uncaught error in surface code', 'surface response cut short'];

const ENTRY = `import { defineSurface } from ${JSON.stringify(CONTRACT_URL)};
import { object } from ${JSON.stringify(SUPERSTRUCT_URL)};
const FAILED = new Error('canary');
const BYTES = new TextEncoder().encode(': part\\n\\n');
const later = () => { setTimeout(() => { throw FAILED; }, 1); };
const body = (source) => new Response(
  new ReadableStream({ start: (it) => it.enqueue(BYTES), ...source }, { highWaterMark: 0 }),
  { headers: { 'content-type': 'text/event-stream' } },
);
const sized = () => new Response(
  new ReadableStream({ start: (it) => it.enqueue(BYTES) }),
  { headers: { 'content-type': 'text/event-stream', 'content-length': '1000' } },
);
const answers = [${Object.values(ANSWERS).map((code) => `(call, count = 0) => { ${code} }`)}];
const open = () => ({
  fetch: async (request, call) => {
    const name = new URL(request.url).pathname.split('/')[2];
    return name === 'sized' ? sized() : answers[Number(name)](call);
  },
});
export default { surfaces: [defineSurface({ name: 'bad', prefix: '/bad', config: object({}), open })] };
`;

describe('surfaces whose code fails', () => {
  const folder = createFolder();
  const control = join(folder, 'fault');
  const provider = use(() => {
    const manifest = { kinds: undefined, surfaces: ['bad'] };
    writePlugin(join(folder, 'plugins'), { name: 'bad', manifest, entry: ENTRY });
    return startEchoProvider();
  });
  const host = use(() =>
    startHostProcess({
      files: { 'good.json': describeModule('good', provider.url, toRoutes(['GET /items'], 'use')) },
      args: ['--plugins', join(folder, 'plugins'), '--surfaces', 'bad,console'],
      env: { INJECTED_FAULT: control, NODE_OPTIONS: `--import ${PRELOAD}` },
    }),
  );

  const expectServing = async () => {
    expect((await call(host, { target: '/modules/good/http/items' })).status).to.equal(200);
    expect((await call(host, { target: '/livez' })).status).to.equal(200);
  };
  /** Opens a response, and resolves when its first part has arrived, or its end. */
  const open = (path: string, headers: http.OutgoingHttpHeaders = {}) =>
    new Promise<http.IncomingMessage>((resolve, reject) => {
      const request = http.get(`${host.url}${path}`, { headers, agent: false }, (response) => {
        response.on('error', () => {});
        response.once('data', () => resolve(response)).once('close', () => resolve(response));
      });
      request.on('error', reject);
    });
  const countLines = (msg: string, fields: object = {}) =>
    host.logs().filter((line) => {
      const expected = { msg, ...fields };
      return Object.entries(expected).every(([name, value]) => line[name] === value);
    }).length;

  for (const [index, name] of NAMES.entries()) {
    it(`do not end the host with ${name}`, async () => {
      const count = () => LOGGED.reduce((sum, msg) => sum + countLines(msg), 0);
      const before = count();
      // Uncaught errors are logged once a second.
      await waitUntil('the error', async () => {
        const response = await open(`/bad/${index}`);
        response.destroy();
        // What a stream throws when it is canceled is ignored.
        return name.includes('cancel throws') || count() > before;
      });
      await expectServing();
    });
  }

  for (const fault of ['a stream of the console throws', 'a timer of the console rejects']) {
    it(`do not end the host when ${fault}`, async () => {
      const cookie = await signIn(host);
      const events = await open('/console/api/events', { cookie, 'sec-fetch-site': 'same-origin' });
      const before = countLines('uncaught error in plugin code', { plugin: 'console' });
      writeFileSync(control, fault);
      await waitUntil('the error', () => {
        return countLines('uncaught error in plugin code', { plugin: 'console' }) > before;
      });
      await expectServing();
      writeFileSync(control, '');
      events.destroy();
      expect(readFileSync(`${control}.fired`, 'utf8')).to.include(fault);
      const { status } = await call(host, { target: '/console' });
      expect(status).to.be.oneOf([200, 404]);
    });
  }

  it('do not end the host when an event of the adapter http throws', async () => {
    writeFileSync(control, 'an event of the adapter http throws');
    const { status } = await call(host, { target: '/modules/good/http/items' });
    expect(status).to.be.at.least(500);
    writeFileSync(control, '');
    expect(existsSync(`${control}.fired`)).to.equal(true);
    await expectServing();
  });

  it('do not keep the host from stopping with a stream that is shorter than announced', async () => {
    // The exit is expected after all tests.
    const response = await open('/bad/sized');
    expect(response.statusCode).to.equal(200);
  });
});
