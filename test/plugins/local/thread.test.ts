import { readdirSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { joinBody } from '../../../core/contract/index.js';
import { textOf } from '../../../core/testkit/adapter-harness.js';
import { localAdapter } from '../../../plugins/local/local-adapter.js';
import { failureOf } from '../../support/failure-of.js';
import { DEADLINE_MS } from '../../support/http/wait-until.js';
import { withoutThreads } from '../../support/without-threads.js';
import { createInvocation, eventually, type OpenedProvider, openAdapter } from '../open-adapter.js';

const FILE = './crm.mjs';
const NEVER = new AbortController().signal;
/** Blocks the event loop of the thread like a loop, without CPU time. Milliseconds; default without end. */
const block = (ms = Number.POSITIVE_INFINITY) =>
  `Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ${ms});`;
/**
 * The number of restarts after which leaks are visible; test/load/measured/lifetimes.test.ts measures
 * memory over many.
 */
const LIVES = 12;
const WARM_UP_LIVES = 5;

describe('thread of a local module', () => {
  let folder: string;
  const opened: OpenedProvider[] = [];

  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'modgate-thread-'));
  });

  after(() => rm(folder, { recursive: true }));

  afterEach(async () => {
    for (const openedProvider of opened.splice(0)) await openedProvider.close();
  });

  const open = async (source: string, config: object = {}, secrets = {}) => {
    const path = join(folder, 'crm.mjs');
    await writeFile(path, source);
    const options = { files: { [FILE]: source }, paths: { [FILE]: path }, secrets };
    const running = await openAdapter(localAdapter, { file: FILE, ...config }, options);
    opened.push(running);
    return running;
  };

  const ask = ({ provider }: OpenedProvider, path: string, signal = NEVER) =>
    provider.invoke(createInvocation({ declaredPath: path }, { signal }));

  /** The answer of the next thread, once it is there. */
  const askUntilAnswered = async (running: OpenedProvider, path: string): Promise<string> => {
    let text: string | null = null;
    const end = performance.now() + DEADLINE_MS;
    while (text === null) {
      text = await ask(running, path, AbortSignal.timeout(DEADLINE_MS)).then(textOf, () => null);
      if (text === null && performance.now() > end)
        expect.fail('no thread came after the dead one');
      if (text === null) await new Promise((resolve) => setTimeout(resolve, 20));
    }
    return text;
  };

  const endOf = ({ entries }: OpenedProvider) =>
    entries.filter(({ message }) => message === 'thread exited');

  const ENDS: Readonly<Record<string, [code: string, reason: RegExp]>> = {
    'process.exit': ['process.exit(7)', /process\.exit\(7\)/],
    'an uncaught error': [
      'setImmediate(() => { throw new Error("mine") })',
      /uncaught error: mine/,
    ],
    'an unhandled rejection': ['void Promise.reject(new Error("mine"))', /uncaught error: mine/],
    'the memory that it may have': [
      'setImmediate(() => { const all = []; for (;;) all.push({ a: [all.length] }) })',
      /more memory than memory_mb allows \(32 MiB\)/,
    ],
  };
  it('is tried again while the system has no thread for it', async () => {
    const source = `export default ({ declaredPath }) => {
      if (declaredPath === '/end') process.exit(7);
      return { status: 200, body: 'alive' }; };`;
    const running = await open(source);
    await withoutThreads(async () => {
      await failureOf(ask(running, '/end'));
      await eventually(() => endOf(running).length >= 5);
    });
    expect(await askUntilAnswered(running, '/alive')).to.equal('"alive"');
    const [first, second] = endOf(running).map(({ fields }) => fields['reason']);
    expect(first).to.match(/process\.exit\(7\)/);
    expect(second).to.match(/^no thread can be created: .*EAGAIN/);
  });

  for (const [title, [code, reason]] of Object.entries(ENDS)) {
    it(`restarts after ${title}, and its calls in flight are unavailable`, async () => {
      const source = `let calls = 0; export default ({ declaredPath }) => {
        if (declaredPath === '/end') { ${code}; return new Promise(() => {}); }
        if (declaredPath === '/wait') return new Promise(() => {});
        return { status: 200, body: calls += 1 }; };`;
      const running = await open(source, { memory_mb: 32 });
      expect(textOf(await ask(running, '/count'))).to.equal('1');
      const waiting = failureOf(ask(running, '/wait'));
      const ending = failureOf(ask(running, '/end'));
      for (const failure of await Promise.all([waiting, ending])) {
        expect(failure.failure).to.equal('unavailable');
        expect(failure.message).to.match(reason);
      }
      expect(await askUntilAnswered(running, '/count')).to.equal('1');
      expect(endOf(running)).to.have.length(1);
      expect(endOf(running)[0]?.fields).to.include({ failed_calls: 2, restart_in_ms: 0 });
      const { stack } = Object(endOf(running)[0]?.fields['err']) as Error;
      if (code.includes('mine')) expect(stack).to.match(/crm\.mjs:2:\d/);
    });
  }

  for (const [title, loop] of [
    ['an endless loop', 'for (;;);'],
    ['an endless chain of microtasks', 'for (;;) await null;'],
    ['an endless loop that logs', 'for (;;) log.info({}, "again");'],
  ] as const) {
    it(`restarts after the deadline of a call in ${title}`, async () => {
      const source = `export default async ({ declaredPath }, { log }) => {
        if (declaredPath === '/loop') { ${loop} } return { status: 200, body: 'fine' }; };`;
      const running = await open(source);
      const beside = failureOf(ask(running, '/loop', AbortSignal.timeout(100)).finally(() => {}));
      const queued = failureOf(ask(running, '/fine'));
      expect((await beside).failure).to.equal('timeout');
      // It waits for a thread that will never come to it, and has a deadline of its own that is later.
      expect((await queued).failure).to.equal('unavailable');
      expect(await askUntilAnswered(running, '/fine')).to.equal('"fine"');
      expect(endOf(running)[0]?.fields['reason']).to.match(/unresponsive for/);
    });
  }

  it('keeps running when the client disconnects, or when it is responsive', async () => {
    const running = await open(`let aborted = 0; export default ({ declaredPath }, { signal }) => {
      signal.addEventListener('abort', () => { aborted += 1; });
      return declaredPath === '/wait' ? new Promise(() => {}) : { status: 200, body: aborted }; };`);
    const controller = new AbortController();
    const gone = failureOf(ask(running, '/wait', controller.signal));
    controller.abort();
    expect((await gone).failure).to.equal('cancelled');
    expect((await failureOf(ask(running, '/wait', AbortSignal.timeout(20)))).failure).to.equal(
      'timeout',
    );
    // Longer than a thread has time to show that it lives.
    await new Promise((resolve) => setTimeout(resolve, 2_500));
    expect(textOf(await ask(running, '/count'))).to.equal('2');
    expect(endOf(running)).to.deep.equal([]);
  });

  it('restarts a module that always exits with backoff, and reports the reason', async () => {
    const source = `import { existsSync } from 'node:fs';
      if (existsSync(${JSON.stringify('MARK')})) throw new Error('no database');
      export default () => process.exit(1);`;
    const mark = join(folder, 'mark');
    const running = await open(source.replace('MARK', mark));
    await running.provider.check(NEVER);
    await writeFile(mark, '');
    await failureOf(ask(running, '/'));
    await eventually(() => endOf(running).length >= 6);
    const pauses = endOf(running).map(({ fields }) => fields['restart_in_ms']);
    expect(pauses.slice(0, 6)).to.deep.equal([0, 0, 0, 100, 200, 400]);
    let down = await failureOf(running.provider.check(NEVER));
    expect(down.failure).to.equal('unavailable');
    expect(down.message).to.match(/down for up to \d+ ms: .*cannot be imported: no database/);
    down = await failureOf(ask(running, '/'));
    expect(down.message).to.match(/no database/);
    await rm(mark);
  });

  it('gives the configuration of the old thread to the new one', async () => {
    const running = await open(`let seen = null;
      export default ({ declaredPath }) => declaredPath === '/end' ? process.exit() : { status: 200, body: seen };
      export const configure = (given) => { seen = given; };`);
    const values = { 'crm/page_size': 50 };
    const operation = { kind: 'configure', path: null, revision: 3, values } as const;
    await running.provider.invoke(createInvocation(operation));
    await failureOf(ask(running, '/end'));
    expect(JSON.parse(await askUntilAnswered(running, '/'))).to.deep.equal({ revision: 3, values });
  });

  it('has only the variables of the descriptor, and no flag or argument', async () => {
    process.env['MODGATE_TEST_SECRET'] = 'of the host';
    const running = await open(
      `export default () => ({ status: 200, body: { env: process.env, execArgv: process.execArgv, more: process.argv.slice(2) } });`,
      { env: { TOKEN: 'env:CRM_TOKEN', MODE: 'fast' } },
      { 'env:CRM_TOKEN': 's3cret' },
    );
    delete process.env['MODGATE_TEST_SECRET'];
    const received = JSON.parse(textOf(await ask(running, '/')));
    expect(received).to.deep.equal({
      env: { TOKEN: 's3cret', MODE: 'fast' },
      execArgv: [],
      more: [],
    });
  });

  it('logs its output by line, bounded in length and number', async () => {
    const running = await open(`export default ({ declaredPath }) => {
      if (declaredPath === '/few') { console.log('one\\u001b[31m'); console.error('two'); process.stdout.write('x'.repeat(10000) + '\\nrest'); }
      else for (let n = 0; n < 2000; n += 1) console.log(n);
      return { status: 204 }; };`);
    await ask(running, '/few');
    await eventually(() => running.entries.length >= 3);
    const lineOf = (level: string, index: number) =>
      running.entries.filter((entry) => entry.level === level)[index]?.fields;
    expect(lineOf('info', 0)).to.deep.equal({ stream: 'stdout', line: 'one\ufffd[31m' });
    expect(lineOf('warn', 0)).to.deep.equal({ stream: 'stderr', line: 'two' });
    expect(lineOf('info', 1)).to.deep.equal({
      stream: 'stdout',
      line: 'x'.repeat(8_192),
      cut: true,
    });
    await ask(running, '/many');
    await running.close();
    const written = () => running.entries.filter(({ message }) => message === 'printed').length - 3;
    const dropped = () =>
      running.entries.reduce((sum, { fields }) => sum + Number(fields['dropped'] ?? 0), 0);
    // The first of them is the line that `/few` did not end.
    await eventually(() => written() + dropped() === 2_000);
    expect(dropped()).to.be.greaterThan(0);
  });

  it('drops and counts lines of context.log when it logs faster than the host writes', async () => {
    const running = await open(`export default ({}, { log }) => {
      for (let n = 0; n < 5000; n += 1) log.info({ n, f: n === 0 ? () => {} : 0 }, 'line');
      return { status: 204 }; };`);
    await ask(running, '/');
    await ask(running, '/');
    const lines = running.entries.filter(({ message }) => message === 'line');
    expect(lines).to.have.length.within(1_000, 5_000);
    expect(
      running.log.some(({ message }) => message === 'logged too much: lines dropped'),
    ).to.equal(true);
    // What cannot be sent is described.
    expect(String(lines[0]?.fields['fields'])).to.include('n: 0');
  });

  it('writes a text alone, and fields alone, to the log', async () => {
    const running = await open(`export default ({}, { log }) => {
      log.info('only text'); log.warn({ n: 1 }); log.error(); return { status: 204 }; };`);
    await ask(running, '/');
    expect(running.entries).to.deep.include.members([
      { level: 'info', fields: {}, message: 'only text' },
      { level: 'warn', fields: { n: 1 }, message: '' },
      { level: 'error', fields: {}, message: '' },
    ]);
  });

  for (const size of [10, 70_000, 1_048_576]) {
    it(`copies ${size} bytes in both directions`, async () => {
      const running = await open(`const kept = new Uint8Array(${size}).fill(7);
        export default ({ rawBody }) => ({ status: 200, headers: { n: String(rawBody.length), last: String(rawBody.at(-1)) }, body: kept });`);
      // A view of a larger buffer, as Node's own bodies are.
      const body = Buffer.concat([
        Buffer.from('xx"'),
        Buffer.alloc(size - 2, 97),
        Buffer.from('"'),
      ]).subarray(2);
      for (let time = 0; time < 3; time += 1) {
        const outcome = await running.provider.invoke(createInvocation({ method: 'POST', body }));
        expect(outcome.headers).to.deep.equal({ n: String(size), last: '34' });
        expect(Buffer.from(joinBody(outcome.body)).equals(Buffer.alloc(size, 7))).to.equal(true);
        expect(body.length).to.equal(size);
      }
    });
  }

  it('keeps a hundred concurrent calls apart', async () => {
    const running = await open(`export default async ({ query }) => {
      await new Promise((resolve) => setTimeout(resolve, Math.random() * 20));
      return { status: 200, body: query.get('n') }; };`);
    const calls = Array.from({ length: 100 }, async (_, n) =>
      textOf(await running.provider.invoke(createInvocation({ target: `/?n=${n}` }))),
    );
    expect(await Promise.all(calls)).to.deep.equal(calls.map((_, n) => `"${n}"`));
  });

  it('imports all of its code again for each open', async () => {
    const source = `import { word } from './word.mjs'; export default () => ({ status: 200, body: word });`;
    for (const word of ['one', 'two']) {
      await writeFile(join(folder, 'word.mjs'), `export const word = '${word}';`);
      expect(textOf(await ask(await open(source), '/'))).to.equal(`"${word}"`);
    }
  });

  it('opens a module whose top level computes for longer than it may wait', async () => {
    const source = `${block(6_000)} export default () => ({ status: 200, body: 1 });`;
    expect(textOf(await ask(await open(source), '/'))).to.equal('1');
  });

  it('rejects a module that exits during its import, and leaves no thread', async () => {
    const before = countThreads();
    for (const [code, reason] of [
      ['process.exit(3);', /cannot be imported: it called process\.exit\(3\)/],
      [block(), /cannot be imported: its top level did not end within 25000 ms/],
    ] as const) {
      const error = await open(`${code} export default () => {};`).then(
        () => expect.fail('expected the file to be refused'),
        (reason: Error) => reason,
      );
      expect(error.message).to.match(reason);
    }
    await eventually(() => countThreads() <= before);
  });

  it('reports the error of close, and ends a close that hangs', async () => {
    const throwing = await open(
      `export default () => {}; export const close = () => { throw new Error('mine'); };`,
    );
    const messageOf = (closing: Promise<void>) =>
      closing.then(
        () => expect.fail('expected the close to fail'),
        (error: Error) => error.message,
      );
    expect(await messageOf(opened.pop()?.close() ?? throwing.close())).to.match(
      /close failed: mine/,
    );
    for (const code of ['new Promise(() => {})', `{ ${block()} }`]) {
      await open(`export default () => {}; export const close = async () => ${code};`);
      const closing = opened.pop()?.close() ?? expect.fail('nothing was opened');
      expect(await messageOf(closing)).to.match(/did not finish within 1500 ms/);
    }
  });

  it('leaves no thread and no handle after several opens', async () => {
    const source = 'export default () => ({ status: 200, body: 1 });';
    const live = async () => {
      const running = await open(source);
      opened.pop();
      await ask(running, '/');
      await running.close();
    };
    for (let life = 0; life < WARM_UP_LIVES; life += 1) await live();
    const threads = countThreads();
    const handles = process.getActiveResourcesInfo().length;
    for (let life = 0; life < LIVES; life += 1) await live();
    await eventually(() => countThreads() <= threads);
    await eventually(() => process.getActiveResourcesInfo().length <= handles);
  });
});

/** The threads of this process; available on Linux only. */
function countThreads(): number {
  try {
    return readdirSync('/proc/self/task').length;
  } catch {
    return 0;
  }
}
