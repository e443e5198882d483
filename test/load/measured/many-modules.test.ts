import { setTimeout as pause } from 'node:timers/promises';
import { expect } from 'chai';
import { signIn } from '../../support/console/console-client.js';
import { expectHeldBelow, measureHeldMs } from '../../support/held-ms.js';
import { call } from '../../support/http/call.js';
import { ClientThread } from '../../support/http/client-thread.js';
import { buildManifest, toRoutes } from '../../support/http/modules.js';
import { waitUntil } from '../../support/http/wait-until.js';
import { type RunningHost, startHost } from '../../support/start-host.js';

const MODULES = 10_000;
const MAX_HELD_MS = 50;
/** The feed is read every 2 s, a sample is taken every 10 s. */
const FOLLOWED_MS = 12_000;

const describeModule = (name: string) => ({
  module: name,
  provider: { kind: 'http', config: { endpoints: ['http://127.0.0.1:9', 'http://127.0.0.1:8'] } },
  manifest: { inline: buildManifest(name, toRoutes(['GET /items'], 'use')) },
});

describe(`${MODULES} modules`, () => {
  let host: RunningHost;
  const client = new ClientThread();
  let changed = 0;

  before(async () => {
    const names = Array.from({ length: MODULES }, (_, index) => `m${index}`);
    host = await startHost({
      files: Object.fromEntries(names.map((name) => [`${name}.json`, describeModule(name)])),
      args: ['--surfaces', 'console'],
    });
    // Loads the library that calls providers.
    expect(await isServed('m0')).to.equal(true);
  });

  after(() => Promise.all([host?.stop(), client.close()]));

  const expectShort = (heldMs: number) => {
    console.log(`      ${heldMs.toFixed(0)} ms`);
    expectHeldBelow(MAX_HELD_MS, heldMs);
  };
  const isServed = async (module: string) => {
    const { status } = await call(host, { target: `/modules/${module}/http/items` });
    // Nothing listens at the endpoint.
    return status === 502;
  };

  it(`hold the event loop for less than ${MAX_HELD_MS} ms while a console follows them`, async () => {
    const cookie = await signIn(host, 'dev-user:ann:modgate.modules.read');
    const abort = new AbortController();
    const response = await fetch(`${host.url}/console/api/events`, {
      headers: { cookie, 'sec-fetch-site': 'same-origin' },
      signal: abort.signal,
    });
    expect(response.status).to.equal(200);
    let events = '';
    const reading = readEvents(response, (text) => {
      events += text;
    });
    await pause(3000);
    const heldMs = await measureHeldMs(() => pause(FOLLOWED_MS));
    abort.abort();
    await reading;
    expect(events).to.include('event: sample').and.include('event: alive');
    expectShort(heldMs);
  });

  for (const target of ['/modules', '/manifests', '/openapi.json']) {
    it(`hold the event loop for less than ${MAX_HELD_MS} ms at GET ${target}`, async () => {
      let answer = '';
      const heldMs = await measureHeldMs(async () => {
        answer = await client.get(host.port, target);
      });
      expect(answer.slice(0, 13)).to.equal('HTTP/1.1 200 ');
      expect(answer).to.include('m9999');
      expectShort(heldMs);
    });
  }

  for (const [title, change] of Object.entries({
    'one is added': () => host.drop('added.json', describeModule('changed1')),
    'one gets another name': () => host.drop('added.json', describeModule('changed2')),
    'a name moves to another file': () => {
      host.remove('added.json');
      host.drop('other.json', describeModule('changed2'));
      host.drop('another.json', describeModule('changed3'));
    },
  })) {
    it(`hold the event loop for less than ${MAX_HELD_MS} ms while ${title}`, async () => {
      changed += 1;
      const heldMs = await measureHeldMs(async () => {
        change();
        await waitUntil('the change', () => isServed(`changed${changed}`));
        // What follows is part of the change too.
        await pause(500);
      });
      expectShort(heldMs);
    });
  }
});

/** Resolves when the stream is aborted. */
async function readEvents(response: Response, onText: (text: string) => void): Promise<void> {
  try {
    for await (const part of response.body ?? []) onText(Buffer.from(part).toString());
  } catch {
    // It was aborted.
  }
}
