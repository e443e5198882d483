import { expect } from 'chai';
import { call, parseJson } from '../support/http/call.js';
import { waitUntil } from '../support/http/wait-until.js';
import { adapterSource, describeKind, writePlugin } from '../support/isolation/write-plugin.js';
import { startHostProcess } from '../support/start-host.js';
import { createFolder } from '../support/temporary-folder.js';
import { use } from '../support/use.js';

const DEADLINE_MS = 30_000;
const PLACES = 3;
/** Long enough to see the calls in flight on a busy machine. */
const TIMEOUT_MS = 3000;

interface ModuleEntry {
  readonly name: string;
  readonly counts: { readonly in_flight: number };
}

describe('an adapter that ignores its signal and never settles', () => {
  const plugins = createFolder();
  const host = use(async () => {
    const invoke = 'await new Promise(() => {});';
    writePlugin(plugins, { name: 'hanging', entry: adapterSource('hanging', { invoke }) });
    writePlugin(plugins, { name: 'good', entry: adapterSource('good') });
    const limits = { timeout_ms: TIMEOUT_MS, concurrency: PLACES, queue: 0 };
    const breaker = { failures: 1000 };
    return startHostProcess({
      files: {
        'hanging.json': describeKind('hanging', 'hanging', { limits, breaker }),
        'good.json': describeKind('good', 'good', { limits }),
      },
      args: ['--plugins', plugins, '--shed-delay-ms', '60000'],
    });
  });

  const send = async (module: string) => {
    const answer = await call(host, {
      target: `/modules/${module}/http/x`,
      deadlineMs: DEADLINE_MS,
    });
    const { errors = [] } = parseJson(answer) as {
      readonly errors?: readonly { readonly field: string; readonly reason: string }[];
    };
    const failure = errors.find(({ field }) => field === 'failure')?.reason;
    return `${answer.status} ${failure ?? ''}`.trim();
  };
  const inFlight = async () => {
    const list = parseJson(await call(host, { target: '/modules' }));
    const modules = list['modules'] as readonly ModuleEntry[];
    return modules.find(({ name }) => name === 'hanging')?.counts.in_flight;
  };

  it('fails each call at its timeout, and occupies only its own concurrency', async () => {
    const held = Array.from({ length: PLACES }, () => send('hanging'));
    await waitUntil('all places are taken', async () => (await inFlight()) === PLACES);
    expect(await send('hanging')).to.equal('502 overloaded');
    expect(await send('good')).to.equal('200');
    expect(await Promise.all(held)).to.deep.equal(Array(PLACES).fill('502 timeout'));
  });

  it('frees its concurrency although the adapter still holds the calls', async () => {
    await waitUntil('no place is taken', async () => (await inFlight()) === 0);
    expect(await send('hanging')).to.equal('502 timeout');
  });
});
