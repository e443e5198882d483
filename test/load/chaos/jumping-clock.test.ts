import { createHash } from 'node:crypto';
import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { expectRecovery } from '../../support/chaos/at-rest.js';
import { type EchoProvider, startEchoProvider } from '../../support/echo-provider.js';
import { call } from '../../support/http/call.js';
import { expectProblem, reasonOf } from '../../support/http/expect-problem.js';
import { waitUntil } from '../../support/http/wait-until.js';
import { callItems, describeItems } from '../../support/provider/routes.js';
import { type HostProcess, startHostProcess } from '../../support/start-host.js';
import { createFolder } from '../../support/temporary-folder.js';

const DAY_MS = 86_400_000;
const HOUR_MS = 3_600_000;
const TIMEOUT_MS = 2_000;
/** Long enough for a call on a busy machine to arrive while the breaker is open. */
const OPEN_MS = 4_000;
const TOKEN = 'ends-in-an-hour';

describe('jump of the wall clock', () => {
  let folder: string;
  let provider: EchoProvider;
  let host: HostProcess;

  before(async () => {
    folder = createFolder();
    provider = await startEchoProvider();
    const breaker = { failures: 3, open_ms: OPEN_MS, max_open_ms: OPEN_MS };
    const more = { limits: { timeout_ms: TIMEOUT_MS }, breaker };
    const sha256 = createHash('sha256').update(TOKEN).digest('hex');
    const expires_at = new Date(Date.now() + HOUR_MS).toISOString();
    const scopes = ['items.use'];
    host = await startHostProcess({
      files: { 'm.json': describeItems('m', { endpoints: [provider.url] }, more) },
      tokens: { tokens: [{ id: 'one', kind: 'service', scopes, sha256, expires_at }] },
      env: {
        NODE_OPTIONS: `--import=${new URL('./shifted-clock.js', import.meta.url).href}`,
        CLOCK_SHIFT_FILE: join(folder, 'shift'),
      },
    });
  });

  after(async () => {
    const exit = await host?.stop();
    await provider?.close();
    if (exit !== undefined) expect(exit).to.deep.equal({ code: 0, signal: null });
  });

  beforeEach(() => provider.reset());
  afterEach(() => jump(0));

  /** Sets the clock of the host to the real time plus `ms`. */
  const jump = async (ms: number) => {
    const file = join(folder, 'shift');
    rmSync(`${file}.done`, { force: true });
    writeFileSync(file, String(ms));
    process.kill(host.pid, 'SIGUSR2');
    const isDone = () =>
      existsSync(`${file}.done`) && readFileSync(`${file}.done`, 'utf8') === String(ms);
    await waitUntil('the clock has jumped', isDone);
  };
  const hasArrived = () =>
    waitUntil('the call at the provider', () => provider.requests.length > 0);

  for (const [direction, ms] of [
    ['ahead', DAY_MS],
    ['back', -DAY_MS],
  ] as const) {
    it(`${direction} does not end a call in flight`, async () => {
      provider.answer({ delayMs: 500 });
      const response = callItems(host, 'm', { deadlineMs: 20_000 });
      await hasArrived();
      await jump(ms);
      expect((await response).status).to.equal(200);
    });

    it(`${direction} does not extend the deadline of a call`, async () => {
      provider.answer({ raw: [], finally: 'hang' });
      const from = performance.now();
      const response = callItems(host, 'm', { deadlineMs: 30_000 });
      await hasArrived();
      await jump(ms);
      const problem = expectProblem(await response, 502);
      expect(reasonOf(problem, 'failure')).to.equal('timeout');
      expect(performance.now() - from).to.be.greaterThan(TIMEOUT_MS - 50);
      provider.reset();
      await expectRecovery(host, 'm');
    });

    it(`${direction} does not close an open breaker`, async () => {
      provider.answer({ status: 500 });
      for (let count = 0; count < 3; count += 1) await callItems(host, 'm');
      await jump(ms);
      const problem = expectProblem(await callItems(host, 'm'), 502);
      expect(reasonOf(problem, 'breaker')).to.equal('open');
      provider.reset();
      await expectRecovery(host, 'm');
    });
  }

  it('expires a token exactly at its `expires_at`', async () => {
    const send = async () =>
      (await call(host, { as: TOKEN, target: '/modules/m/http/items' })).status;
    expect(await send()).to.equal(200);
    await jump(2 * HOUR_MS);
    expect(await send()).to.equal(401);
    await jump(0);
    expect(await send()).to.equal(200);
  });

  it('changes the time of log lines', async () => {
    await jump(DAY_MS);
    await callItems(host, 'm');
    const isOfTomorrow = () =>
      host.logs().some(({ time }) => Date.parse(String(time)) > Date.now() + DAY_MS / 2);
    await waitUntil('a line with the time of tomorrow', isOfTomorrow);
  });
});
