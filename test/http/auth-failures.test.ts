import { createHash } from 'node:crypto';
import http from 'node:http';
import { expect } from 'chai';
import { AttemptCounts } from '../../core/auth/attempt-counts.js';
import { useWorkers } from '../support/cluster/use-workers.js';
import { describeModule } from '../support/http/modules.js';
import { useHost } from '../support/http/use-host.js';

const LIMIT = 5;
const TOKENS = ['good-1', 'good-2', 'good-3'];
const tokens = {
  tokens: TOKENS.map((token, index) => ({
    id: `token-${index}`,
    kind: 'system',
    scopes: [],
    sha256: createHash('sha256').update(token).digest('hex'),
  })),
};
const args = ['--auth-failures', String(LIMIT)];
const ROUTES = [{ method: 'GET', path: '/items/{id}', capability: 'shop.read' }];
const ITEM = '/modules/shop/http/items/1';

interface Sent {
  readonly method?: string;
  readonly target?: string;
  readonly token?: string | null;
  readonly body?: object;
  /** The address of the client. */
  readonly from: string;
}

interface Answered {
  readonly status: number;
  readonly retryAfter: string | undefined;
  readonly code: string | undefined;
}

function send(host: { readonly url: string }, sent: Sent): Promise<Answered> {
  const { method = 'GET', target = ITEM, token = null, body, from } = sent;
  const headers = {
    ...(token !== null && { authorization: `Bearer ${token}` }),
    ...(body && { 'content-type': 'application/json', 'sec-fetch-site': 'same-origin' }),
  };
  return new Promise((resolve, reject) => {
    const options = { method, headers, localAddress: from, agent: false };
    const request = http.request(host.url + target, options, (response) => {
      let text = '';
      response.on('data', (chunk: Buffer) => {
        text += chunk;
      });
      response.on('end', () => {
        const { statusCode: status = 0, headers: received } = response;
        const code = status < 400 ? undefined : JSON.parse(text).code;
        resolve({ status, retryAfter: received['retry-after'], code });
      });
    });
    request.on('error', reject).end(body && JSON.stringify(body));
  });
}

/** Each test has a client of its own. */
let lastAddress = 1;
function createAddress(): string {
  lastAddress += 1;
  return `127.0.1.${lastAddress}`;
}

describe('--auth-failures', () => {
  const setup = useHost(({ url }) => ({ 'shop.json': describeModule('shop', url, ROUTES) }), {
    dev: false,
    tokens,
    args,
    isDescribed: false,
  });
  const guess = async (from: string, count: number) => {
    const statuses = [];
    for (let at = 0; at < count; at += 1) {
      statuses.push((await send(setup.host, { from, token: `wrong-${at}` })).status);
    }
    return statuses;
  };

  it('rejects credentials beyond the limit without asking an authenticator', async () => {
    const from = createAddress();
    expect(await guess(from, LIMIT + 1)).to.deep.equal([...Array(LIMIT).fill(401), 429]);
    const rejected = await send(setup.host, { from, token: 'good-1' });
    expect(rejected).to.include({ status: 429, code: 'rate_limited' });
    expect(Number(rejected.retryAfter)).to.be.within(1, 60);
  });

  it('lets a credential pass that was accepted from the address before', async () => {
    const from = createAddress();
    expect((await send(setup.host, { from, token: 'good-1' })).status).to.equal(200);
    await guess(from, LIMIT + 1);
    expect((await send(setup.host, { from, token: 'good-1' })).status).to.equal(200);
    expect((await send(setup.host, { from, token: 'good-2' })).status).to.equal(429);
  });

  it('counts each address alone', async () => {
    await guess(createAddress(), LIMIT + 1);
    expect((await send(setup.host, { from: createAddress(), token: 'good-1' })).status).to.equal(
      200,
    );
  });

  it('does not count requests without a credential', async () => {
    const from = createAddress();
    for (let at = 0; at <= LIMIT; at += 1) {
      expect((await send(setup.host, { from })).status).to.equal(401);
    }
    expect((await send(setup.host, { from, token: 'good-1' })).status).to.equal(200);
    await guess(from, LIMIT + 1);
    expect((await send(setup.host, { from })).status).to.equal(401);
  });

  it('counts the sign-ins of the console', async () => {
    const from = createAddress();
    const signIn = (token: string) =>
      send(setup.host, { from, method: 'POST', target: '/console/api/session', body: { token } });
    for (let at = 0; at < LIMIT; at += 1) expect((await signIn(`no-${at}`)).status).to.equal(401);
    const rejected = await signIn('good-1');
    expect(rejected).to.include({ status: 429, code: 'rate_limited' });
    expect(Number(rejected.retryAfter)).to.be.within(1, 60);
    expect((await send(setup.host, { from, token: 'good-1' })).status).to.equal(429);
    expect((await send(setup.host, { from, target: '/console/api/sign-in' })).status).to.equal(200);
  });

  it('names the address to operators', async () => {
    const from = createAddress();
    await guess(from, LIMIT + 1);
    const lines = setup.host.logs().filter(({ client }) => client === from);
    expect(lines.at(-1)).to.include({ status: 429, step: 'client', reason: 'auth_failures' });
    expect(JSON.stringify(lines)).to.not.include('wrong-');
  });
});

describe('--auth-failures with workers', () => {
  const workers = useWorkers();

  it('is one limit for all of them, and remembers what any of them has accepted', async () => {
    const host = await workers.start({ dev: false, tokens, args });
    const [attacker, office] = [createAddress(), createAddress()];
    const statuses = await Promise.all(
      Array.from({ length: 40 }, (_, index) =>
        send(host, { from: attacker, token: `wrong-${index}` }).then(({ status }) => status),
      ),
    );
    expect(statuses.filter((status) => status === 401)).to.have.length(LIMIT);
    expect(statuses.filter((status) => status === 429)).to.have.length(40 - LIMIT);
    for (const token of TOKENS) {
      expect((await send(host, { from: office, token })).status).to.equal(200);
    }
    for (let at = 0; at <= LIMIT; at += 1) await send(host, { from: office, token: `no-${at}` });
    // Each connection may be another worker's.
    for (let at = 0; at < 20; at += 1) {
      const token = TOKENS[at % TOKENS.length] ?? '';
      expect((await send(host, { from: office, token })).status, token).to.equal(200);
    }
  });
});

describe('the count of attempts', () => {
  let now = 0;
  const admit = async (counts: AttemptCounts, credential: string) => {
    const { attempt } = await counts.begin('192.0.2.1', credential);
    return attempt;
  };

  it('ends after a minute', async () => {
    now = 0;
    const counts = new AttemptCounts(1, () => now);
    (await admit(counts, 'a'))?.settle('rejected');
    expect(await counts.begin('192.0.2.1', 'b')).to.deep.equal({ attempt: null, waitMs: 60_000 });
    now = 60_000;
    expect(await admit(counts, 'b')).to.not.equal(null);
  });

  it('forgets an accepted credential after ten minutes', async () => {
    now = 0;
    const counts = new AttemptCounts(1, () => now);
    (await admit(counts, 'good'))?.settle('accepted');
    now = 599_000;
    (await admit(counts, 'a'))?.settle('rejected');
    expect(await admit(counts, 'good')).to.not.equal(null);
    now = 600_000;
    expect(await admit(counts, 'good')).to.equal(null);
  });

  it('lets others wait while as many are verified as may be rejected', async () => {
    const counts = new AttemptCounts(2, () => 0);
    const running = [await admit(counts, 'a'), await admit(counts, 'b')];
    const waiting = [admit(counts, 'c'), admit(counts, 'd')];
    running[0]?.settle('undecided');
    running[1]?.settle('rejected');
    const first = await Promise.race(waiting);
    expect(first).to.not.equal(null);
    first?.settle('rejected');
    expect((await Promise.all(waiting)).filter((attempt) => attempt === null)).to.have.length(1);
  });
});
