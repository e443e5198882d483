import { expect } from 'chai';
import type { RawHeader } from '../../core/selftest/raw-http.js';
import { startFaultProxy } from '../support/fault-proxy.js';
import { expectProblem, reasonOf } from '../support/http/expect-problem.js';
import { waitUntil } from '../support/http/wait-until.js';
import { callItems, describeItems, findLine } from '../support/provider/routes.js';
import { startProvider } from '../support/provider.js';
import { startHost } from '../support/start-host.js';
import { use } from '../support/use.js';

const ROUNDS = 8;
const KEY: RawHeader = ['idempotency-key', 'k-1'];

interface Case {
  readonly title: string;
  readonly method: string;
  readonly headers?: readonly RawHeader[];
  readonly isRepeated: boolean;
  /** The status of a failing call; default 502. */
  readonly status?: number;
}

const CASES: readonly Case[] = [
  { title: 'a GET', method: 'GET', isRepeated: true },
  { title: 'a HEAD', method: 'HEAD', isRepeated: true },
  { title: 'a route that is declared idempotent', method: 'PUT', isRepeated: true },
  { title: 'one that requires a key, with it', method: 'PATCH', headers: [KEY], isRepeated: true },
  { title: 'one that requires a key, without it', method: 'PATCH', isRepeated: false, status: 400 },
  {
    title: 'one that requires a key, with an empty one',
    method: 'PATCH',
    headers: [['idempotency-key', '']],
    isRepeated: false,
    status: 400,
  },
  {
    title: 'one that requires a key, with one that does not reach the provider',
    method: 'PATCH',
    headers: [KEY, ['connection', 'close, idempotency-key']],
    isRepeated: false,
    status: 400,
  },
  { title: 'a POST that is not declared', method: 'POST', isRepeated: false },
  {
    title: 'a POST that is not declared, with a key',
    method: 'POST',
    headers: [KEY],
    isRepeated: false,
  },
  { title: 'a DELETE that is declared none', method: 'DELETE', isRepeated: false },
];

describe('retries', () => {
  const good = use(startProvider);
  const bad = use(() => startFaultProxy(good.port));
  const host = use(async () => {
    await bad.set({ kind: 'reset' });
    const endpoints = [bad.url, good.url];
    const more = { breaker: { failures: 1000 }, retry: { budget: 1 } };
    return startHost({
      files: {
        'm.json': describeItems('m', { endpoints }, more),
        'never.json': describeItems('never', { endpoints }, { ...more, retry: { attempts: 0 } }),
        'poor.json': describeItems(
          'poor',
          { endpoints: [bad.url] },
          {
            ...more,
            retry: { budget: 0.2 },
          },
        ),
      },
    });
  });

  for (const { title, method, headers = [], isRepeated, status = 502 } of CASES) {
    it(`${isRepeated ? 'repeat' : 'do not repeat'} ${title}`, async () => {
      const statuses: number[] = [];
      for (let round = 0; round < ROUNDS; round += 1) {
        statuses.push((await callItems(host, 'm', { method, headers })).status);
      }
      const failed = statuses.filter((candidate) => candidate === status).length;
      // Every second call goes to the bad endpoint first; a rejected one goes to none.
      const expected = status === 400 ? ROUNDS : ROUNDS / 2;
      expect(failed).to.equal(isRepeated ? 0 : expected);
    });
  }

  it('do not happen with retry.attempts 0', async () => {
    const answers = [await callItems(host, 'never'), await callItems(host, 'never')];
    expect(answers.map(({ status }) => status)).to.have.members([200, 502]);
  });

  it('send the same call again, with less time left and a new span', async () => {
    await callItems(host, 'm', { method: 'PUT' });
    const before = good.requests.length;
    const calls = [await callItems(host, 'm', { method: 'PUT' })];
    calls.push(await callItems(host, 'm', { method: 'PUT' }));
    // The bad way resets the answer: the provider has seen every attempt.
    const seen = good.requests.slice(before);
    expect(seen).to.have.length(3);
    const repeated = seen.filter(
      ({ headers }) =>
        seen.filter((other) => other.headers['modgate-call-id'] === headers['modgate-call-id'])
          .length === 2,
    );
    expect(repeated).to.have.length(2);
    const [first, second] = repeated;
    expect(first?.body).to.deep.equal(second?.body);
    expect(first?.headers['traceparent']).not.to.equal(second?.headers['traceparent']);
    expect(first?.headers['traceparent']?.slice(0, 36)).to.equal(
      second?.headers['traceparent']?.slice(0, 36),
    );
    const left = repeated.map(({ headers }) => Number(headers['modgate-deadline-ms']));
    expect(left[1]).to.be.below(left[0] ?? 0);
  });

  it('are counted in the log', async () => {
    const ids: string[] = [];
    for (let round = 0; round < 2; round += 1) {
      const requestId = `retry-${round}`;
      ids.push(requestId);
      await callItems(host, 'm', { headers: [['x-request-id', requestId]] });
    }
    await waitUntil('the log lines', () => ids.every((id) => findLine(host, id) !== undefined));
    const attempts = ids.map((id) => findLine(host, id)?.['attempts']);
    expect(attempts).to.have.members([1, 2]);
  });

  it('stay within a fifth of the calls when a provider is down', async () => {
    const calls = 40;
    const before = good.requests.length;
    for (let round = 0; round < calls; round += 1) {
      const problem = expectProblem(await callItems(host, 'poor'), 502);
      expect(reasonOf(problem, 'failure')).to.equal('unavailable');
    }
    // 10 at the start, and a fifth of the calls but the first, which finds the bucket full.
    expect(good.requests.length - before).to.equal(calls + 10 + Math.floor((calls - 1) * 0.2));
  });
});
