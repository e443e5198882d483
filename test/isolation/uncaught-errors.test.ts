import { expect } from 'chai';
import { call, parseJson } from '../support/http/call.js';
import { waitUntil } from '../support/http/wait-until.js';
import { adapterSource, describeKind, writePlugin } from '../support/isolation/write-plugin.js';
import { startHostProcess } from '../support/start-host.js';
import { createFolder } from '../support/temporary-folder.js';
import { use } from '../support/use.js';

/** Statements of `invoke` that cause uncaught errors. */
const UNCAUGHT: Readonly<Record<string, string>> = {
  'a timer that throws': `later(() => { throw new Error('canary'); });`,
  'an interval that throws forever': `setInterval(() => { throw new Error('canary'); }, 5);`,
  'an immediate that throws': `setImmediate(() => { throw new Error('canary'); });`,
  'a tick that throws': `process.nextTick(() => { throw new Error('canary'); });`,
  'a microtask that throws': `queueMicrotask(() => { throw new Error('canary'); });`,
  'an unhandled rejection': `void Promise.reject(new Error('canary'));`,
  'a rejection long after the response': `void pause(50).then(() => { throw new Error('canary'); });`,
  'an emitter without an error listener': `later(() => new EventEmitter().emit('error', new Error('canary')));`,
  'a socket without an error listener': `net.connect(1, '127.0.0.1');`,
  'a listener of the signal that throws': `invocation.signal.addEventListener('abort', () => {
    throw new Error('canary');
  });
  await new Promise(() => {});`,
  'a thrown value that is not an error': `later(() => { throw null; });`,
  'process.exit': `process.exit(0);`,
};
const NAMES = Object.keys(UNCAUGHT);

interface ModuleEntry {
  readonly name: string;
  readonly state: string;
  readonly reason: string | null;
  readonly hint: string | null;
}

describe('uncaught errors in module code', () => {
  const moduleOf = (index: number) => `canary-${index}`;

  const plugins = createFolder();
  const host = use(() => {
    const files: Record<string, object> = { 'good.json': describeKind('good', 'good') };
    writePlugin(plugins, { name: 'good', entry: adapterSource('good') });
    for (const [index, name] of NAMES.entries()) {
      const kind = moduleOf(index);
      // Only the first version fails, so that the test sees the second one recover.
      const before = 'let opened = 0;';
      const open = 'opened += 1; const isFirst = opened === 1;';
      const invoke = `if (isFirst) { ${UNCAUGHT[name]} }`;
      writePlugin(plugins, { name: kind, entry: adapterSource(kind, { before, open, invoke }) });
      files[`${kind}.json`] = describeKind(kind, kind, { limits: { timeout_ms: 2000 } });
    }
    writePlugin(plugins, {
      name: 'once',
      entry: adapterSource('once', {
        before: 'let opened = 0;',
        open: `opened += 1; if (opened > 1) throw new Error('only once');`,
        invoke: `later(() => { throw new Error('canary'); });`,
      }),
    });
    files['once.json'] = describeKind('once', 'once');
    return startHostProcess({ files, args: ['--plugins', plugins] });
  });

  const send = (module: string) => call(host, { target: `/modules/${module}/http/x` });
  const entryOf = async (module: string): Promise<ModuleEntry> => {
    const { modules } = parseJson(await call(host, { target: '/modules' })) as unknown as {
      readonly modules: readonly ModuleEntry[];
    };
    const entry = modules.find(({ name }) => name === module);
    return entry ?? expect.fail(`no module ${module}`);
  };
  const uncaughtErrorsOf = async (module: string): Promise<number> => {
    const { body } = await call(host, { target: '/metrics' });
    const line = new RegExp(`^modgate_uncaught_errors_total\\{module="${module}"\\} (\\d+)$`, 'm');
    return Number(line.exec(body.toString())?.[1] ?? Number.NaN);
  };

  /** Read from the log, because the state may have changed before it is read. */
  const loggedState = async (module: string, state: string): Promise<Record<string, unknown>> => {
    let line: Record<string, unknown> | undefined;
    const look = () => {
      line = host
        .logs()
        .findLast((record) => record['module'] === module && record['state'] === state);
      return line !== undefined;
    };
    await waitUntil(`${module} is ${state}`, look);
    return line ?? expect.fail('no such line');
  };

  for (const [index, name] of NAMES.entries()) {
    it(`faults only the module for ${name}, and reopens it`, async () => {
      const module = moduleOf(index);
      expect((await entryOf(module)).state).to.equal('live');
      await send(module);
      const faulted = await loggedState(module, 'faulted');
      expect(faulted['reason']).to.match(/^uncaught error in module code: /);
      expect(faulted['reason']).to.not.include('canary');
      expect(faulted['hint']).to.include('the host will reopen the module with backoff');
      expect((await send('good')).status).to.equal(200);
      expect((await entryOf('good')).state).to.equal('live');
      await waitUntil(
        'the module is live again',
        async () => (await entryOf(module)).state === 'live',
      );
      expect((await send(module)).status).to.equal(200);
      expect(await uncaughtErrorsOf(module)).to.be.at.least(1);
      expect(await uncaughtErrorsOf('good')).to.equal(0);
      const line = host
        .logs()
        .find((entry) => entry['module'] === module && entry['level'] === 'error');
      expect(line?.['msg']).to.equal('uncaught error in module code');
      expect(line).to.have.property('err');
    });
  }

  it('keeps serving a faulted version that cannot be reopened', async () => {
    expect((await send('once')).status).to.equal(200);
    await waitUntil(
      'the second version is rejected',
      async () => (await entryOf('once')).reason === 'cannot be reopened: only once',
    );
    expect((await entryOf('once')).state).to.equal('faulted');
    expect((await send('once')).status).to.equal(200);
  });

  it('reopens a faulted module at once when its file changes', async () => {
    host.drop('once.json', describeKind('once', 'good'));
    await waitUntil('the module is live', async () => (await entryOf('once')).state === 'live');
    expect((await entryOf('once')).reason).to.equal(null);
    expect((await send('once')).status).to.equal(200);
  });

  it('logs endless errors once a second', async () => {
    const module = moduleOf(NAMES.indexOf('an interval that throws forever'));
    await waitUntil('many errors', async () => (await uncaughtErrorsOf(module)) > 50);
    const lines = host
      .logs()
      .filter((entry) => entry['module'] === module && entry['level'] === 'error');
    expect(lines.length).to.be.within(1, (await uncaughtErrorsOf(module)) / 5);
  });
});
