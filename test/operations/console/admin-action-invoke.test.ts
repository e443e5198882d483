import { expect } from 'chai';
import { headerValue, headerValues, type RawHeader } from '../../../core/selftest/raw-http.js';
import { askBridge, type BridgeCall, bridgeBody, sendBridge } from '../../support/bridge/bridge.js';
import { crmDescriptor, SYNC } from '../../support/bridge/crm.js';
import type { Answer } from '../../support/echo-provider.js';
import { expectProblem } from '../../support/http/expect-problem.js';
import { useHost } from '../../support/http/use-host.js';

const JSON_TYPE: RawHeader = ['content-type', 'application/json'];

/** The optional fields of `sync`, with valid and invalid inputs. */
const FIELD_VECTORS: Readonly<
  Record<string, { readonly good: unknown[]; readonly bad: unknown[] }>
> = {
  name: { good: ['', 'all', 'ü'], bad: [5, true, null, {}, ['all']] },
  count: { good: [0, -5, 1e9], bad: [1.5, '5', true, null, [], {}] },
  share: { good: [0, 1.5, -2, 1e300], bad: ['1.5', false, null, [1]] },
  dry_run: { good: [true, false], bad: ['true', 1, 0, null, {}] },
  since: {
    good: [
      '2026-01-31T12:00:00Z',
      '2026-01-31T12:00:00.123+02:00',
      '2024-02-29t23:59:59.123456789z',
      '2016-12-31T23:59:60Z',
      '2026-01-31T12:00:00-23:59',
    ],
    bad: [
      'yesterday',
      '',
      1_769_860_800,
      null,
      '2026-01-31',
      '2026-01-31 12:00:00Z',
      '2026-01-31T12:00:00',
      '2026-01-31T12:00Z',
      '2026-01-31T24:00:00Z',
      '2026-01-31T12:60:00Z',
      '2026-01-31T12:00:61Z',
      '2026-01-31T12:00:00+24:00',
      '2026-13-45T12:00:00Z',
      '2026-02-29T12:00:00Z',
      '2026-02-30T12:00:00Z',
    ],
  },
  extra: { good: [1, 'x', [1, { a: null }], {}, false], bad: [] },
  comment: { good: ['x', null], bad: [5, false, []] },
};

describe('console bridge: admin_action_invoke', () => {
  const setup = useHost(({ url }) => ({
    // Failures of one test must not affect the next one.
    'crm.json': crmDescriptor(url, { breaker: { failures: 1_000 } }),
    'quick.json': crmDescriptor(url, { module: 'quick', limits: { timeout_ms: 200 } }),
  }));

  const ask = (action: string, members: object = {}, call: Partial<BridgeCall> = {}) => {
    const payload = { operation: 'admin_action_invoke', action, ...members };
    return askBridge(setup.host, { permission: SYNC, payload, ...call });
  };

  const readInput = () => JSON.parse(setup.provider.only().body.toString()) as unknown;

  /** A body whose payload is this text. */
  const sendPayload = (payload: string) => {
    const body = JSON.stringify(bridgeBody({ permission: SYNC, payload: 'PAYLOAD' }));
    const text = body.replace('"PAYLOAD"', () => payload);
    return sendBridge(setup.host, { permission: SYNC }, text);
  };

  it('posts the input to invoke_path and returns the result', async () => {
    setup.provider.answer({ body: '{"synced":3}' });
    const { status, text } = await ask('sync', { input: { name: 'all', count: 2 } });
    expect(text).to.equal('{"data":{"synced":3}}');
    expect(status).to.equal(200);
    const { method, target, headers } = setup.provider.only();
    expect([method, target]).to.deep.equal(['POST', '/admin/sync']);
    expect(headerValue(headers, 'content-type')).to.equal('application/json');
    expect(readInput()).to.deep.equal({ name: 'all', count: 2 });
  });

  for (const [field, { good, bad }] of Object.entries(FIELD_VECTORS)) {
    for (const value of good) {
      it(`accepts ${JSON.stringify(value)} as ${field}`, async () => {
        const input = { name: 'all', [field]: value };
        const { status, text } = await ask('sync', { input });
        expect(status, text).to.equal(200);
        expect(readInput()).to.deep.equal(input);
      });
    }
    for (const value of bad) {
      it(`rejects ${JSON.stringify(value)} as ${field}, and names it`, async () => {
        const answer = await ask('sync', { input: { name: 'all', [field]: value } });
        const { errors } = expectProblem(answer.response, 400);
        expect(errors.map((error) => error.field).join()).to.include(field);
        expect(setup.provider.requests).to.have.length(0);
      });
    }
  }

  for (const digits of ['12345678901234567890', '1.0', '1e2', '-0']) {
    it(`accepts ${digits} as an integer and forwards its digits`, async () => {
      const payload = { operation: 'admin_action_invoke', action: 'sync', input: 'INPUT' };
      const body = JSON.stringify(bridgeBody({ permission: SYNC, payload }));
      const input = `{"name": "all", "count": ${digits}}`;
      const text = body.replace('"INPUT"', () => input);
      const answer = await sendBridge(setup.host, { permission: SYNC }, text);
      expect(answer.status, answer.text).to.equal(200);
      expect(setup.provider.only().body.toString()).to.equal(input);
    });
  }

  it('names at most a hundred undeclared fields, and no long names', async () => {
    const many = Array.from({ length: 15_000 }, (_, index) => [`m${index}`, 1]);
    const input = { name: 'all', ...Object.fromEntries(many) };
    expect(expectProblem((await ask('sync', { input })).response, 400).errors).to.have.length(100);
    const long = await ask('sync', { input: { name: 'all', ['z'.repeat(100_000)]: 1 } });
    expectProblem(long.response, 400);
    expect(long.text.length).to.be.lessThan(1_000);
  });

  it('rejects an input without its required field', async () => {
    for (const input of [{}, { count: 5 }]) {
      const { errors } = expectProblem((await ask('sync', { input })).response, 400);
      expect(errors.map(({ field }) => field).join()).to.include('name');
    }
  });

  for (const field of ['surplus', 'Name', '__proto__', 'constructor', '']) {
    it(`rejects the undeclared field ${JSON.stringify(field)}`, async () => {
      const body = JSON.stringify(
        bridgeBody({
          permission: SYNC,
          payload: { operation: 'admin_action_invoke', action: 'sync', input: 'INPUT' },
        }),
      );
      const input = `{"name":"all",${JSON.stringify(field)}:1}`;
      const text = body.replace('"INPUT"', () => input);
      expectProblem((await sendBridge(setup.host, { permission: SYNC }, text)).response, 400);
      expect(setup.provider.requests).to.have.length(0);
    });
  }

  for (const second of ['"count"', '"c\\u006funt"']) {
    it(`rejects a repeated field, whichever value is valid (${second})`, async () => {
      const head = '{"operation":"admin_action_invoke","action":"sync"';
      for (const [first, other] of [
        ['1', '2'],
        ['"bad"', '2'],
      ]) {
        const input = `{"name":"all","count":${first},${second}:${other}}`;
        const { response } = await sendPayload(`${head},"input":${input}}`);
        expect(expectProblem(response, 400).errors).to.deep.equal([
          { field: 'payload.input.count', reason: 'repeated' },
        ]);
      }
      expect(setup.provider.requests).to.have.length(0);
    });
  }

  const REPEATED: readonly (readonly [action: string, input: string, field: string])[] = [
    ['sync', '{"name":"all","extra":{"a":1,"a":2}}', 'extra.a'],
    ['sync', '{"name":"all","extra":[{},[1,{"b":{},"c":0,"b":[]}]]}', 'extra.1.1.b'],
    ['ping', '{"a":1,"a":2}', 'a'],
    ['ping', '[{"a":1,"\\u0061":{}}]', '0.a'],
    ['ping', '{"":{"":1,"":2}}', '?.?'],
  ];
  for (const [action, input, field] of REPEATED) {
    it(`rejects the repeated member ${field} of an input`, async () => {
      const head = '{"operation":"admin_action_invoke"';
      const { response } = await sendPayload(`${head},"action":"${action}","input":${input}}`);
      expect(expectProblem(response, 400).errors).to.deep.equal([
        { field: `payload.input.${field}`, reason: 'repeated' },
      ]);
      expect(setup.provider.requests).to.have.length(0);
    });
  }

  it('forwards equal names in different objects, and values that look like names', async () => {
    const input = '{"a":{"a":"a"},"b":[{"a":1},{"a":2},"{\\"a\\":1,\\"a\\":2}"],"c":"a"}';
    const payload = `{"operation":"admin_action_invoke","action":"ping","input":${input}}`;
    expect((await sendPayload(payload)).status).to.equal(200);
    expect(setup.provider.only().body.toString()).to.equal(input);
  });

  for (const input of [null, [], 'all', 5, true]) {
    it(`rejects ${JSON.stringify(input)} as input with a schema`, async () => {
      expectProblem((await ask('tidy', { input })).response, 400);
      expect(setup.provider.requests).to.have.length(0);
    });
  }

  it('treats an absent input as empty with a schema', async () => {
    const { status, text } = await ask('tidy');
    expect(status, text).to.equal(200);
    expect(readInput()).to.deep.equal({});
  });

  it('rejects an absent input if a field is required', async () => {
    expectProblem((await ask('sync')).response, 400);
  });

  for (const input of [null, [], 'all', 5, { any: { thing: [1] } }]) {
    it(`forwards ${JSON.stringify(input)} without a schema`, async () => {
      const { status, text } = await ask('ping', { input });
      expect(status, text).to.equal(200);
      expect(readInput()).to.deep.equal(input);
    });
  }

  it('invokes an action without a schema and without an input', async () => {
    const { status, text } = await ask('ping');
    expect(status, text).to.equal(200);
    expect(setup.provider.only().method).to.equal('POST');
  });

  for (const result of [
    '{"n":12345678901234567890,"price":1.10}',
    '1.10',
    'null',
    '"\\u00e9é"',
    '{"a":1,"a":2}',
    ' [ 1 , 2 ]\n',
    '-0',
    '1e400',
  ]) {
    it(`returns the result ${JSON.stringify(result)} byte for byte`, async () => {
      setup.provider.answer({ body: result });
      const { status, response } = await ask('ping', { input: {} });
      expect(status).to.equal(200);
      expect(response.body.toString()).to.equal(`{"data":${result}}`);
    });
  }

  it('returns null for a result without a body', async () => {
    setup.provider.answer({ status: 204, headers: [], body: null });
    expect((await ask('ping')).text).to.equal('{"data":null}');
  });

  it('does not change the numbers of an input', async () => {
    const numbers = '{"n":12345678901234567890,"price":1.10}';
    const payload = `{"operation":"admin_action_invoke","action":"ping","input":${numbers}}`;
    expect((await sendPayload(payload)).status).to.equal(200);
    expect(setup.provider.only().body.toString()).to.equal(numbers);
  });

  for (const key of ['"input"', '"\\u0069nput"']) {
    it(`sends the input that it validated if there are two (${key})`, async () => {
      const [good, bad] = ['{"name":"good"}', '{"name":5}'];
      const head = '{"operation":"admin_action_invoke","action":"sync"';
      const answer = await sendPayload(`${head},"input":${bad},${key}:${good}}`);
      if (answer.status === 200) expect(readInput()).to.deep.equal({ name: 'good' });
      else expectProblem(answer.response, 400);
      setup.provider.reset();
      expectProblem((await sendPayload(`${head},"input":${good},${key}:${bad}}`)).response, 400);
      expect(setup.provider.requests).to.have.length(0);
    });
  }

  describe('headers at the provider', () => {
    const keyOfOnly = () => headerValues(setup.provider.only().headers, 'idempotency-key');

    it("forwards the client's idempotency-key", async () => {
      const headers: RawHeader[] = [JSON_TYPE, ['idempotency-key', 'only-once']];
      await ask('ping', {}, { headers });
      expect(keyOfOnly()).to.deep.equal(['only-once']);
    });

    for (const [title, headers] of [
      ['is empty', [['idempotency-key', '']]],
      [
        'goes no further than the host',
        [
          ['idempotency-key', 'only-once'],
          ['connection', 'idempotency-key'],
        ],
      ],
    ] as const) {
      it(`creates a key if that of the client ${title}`, async () => {
        await ask('ping', {}, { headers: [JSON_TYPE, ...headers] });
        expect(keyOfOnly().join()).to.match(/^[0-9a-f-]{36}$/);
      });
    }

    it('creates a key for each action if the client sends none', async () => {
      for (let call = 0; call < 20; call += 1) await ask('ping');
      const keys = setup.provider.requests.map(({ headers }) =>
        headerValue(headers, 'idempotency-key'),
      );
      expect(keys.every((key) => key !== undefined && key.length >= 16)).to.equal(true);
      expect(new Set(keys).size).to.equal(keys.length);
    });

    for (const [token, actor] of [
      ['dev-user:ada:console.admin', 'user:ada'],
      [`dev-service:sync-job:${SYNC}`, 'service:sync-job'],
      ['dev-system:root', 'system:root'],
    ] as const) {
      it(`names the operator ${actor}`, async () => {
        const headers: RawHeader[] = [JSON_TYPE, ['modgate-actor', 'system:forged']];
        await ask('ping', {}, { token, headers });
        const sent = setup.provider.only().headers;
        expect(headerValues(sent, 'modgate-actor')).to.deep.equal([actor]);
        expect(headerValue(sent, 'authorization')).to.equal(undefined);
      });
    }
  });

  const failures: Readonly<Record<string, readonly [failure: string, answer: Answer]>> = {
    'a status of 500': ['status', { status: 500 }],
    'a status of 409': ['status', { status: 409 }],
    'a redirect': ['protocol', { status: 307, headers: [['location', '/']], body: null }],
    'no JSON': ['protocol', { body: 'done' }],
    'a content type of HTML': ['protocol', { headers: [['content-type', 'text/html']] }],
    'a content-encoding': [
      'protocol',
      { headers: [JSON_TYPE, ['content-encoding', 'gzip']], body: '{}' },
    ],
  };
  for (const [title, [failure, answer]] of Object.entries(failures)) {
    it(`returns 502 for ${title}, without a retry`, async () => {
      setup.provider.answer(answer);
      const { errors } = expectProblem((await ask('ping')).response, 502);
      expect(errors).to.deep.include({ field: 'failure', reason: failure });
      expect(setup.provider.requests).to.have.length(1);
    });
  }

  it('returns 502 when the provider times out', async () => {
    setup.provider.answer({ delayMs: 2_000 });
    const { errors } = expectProblem((await ask('ping', {}, { module: 'quick' })).response, 502);
    expect(errors).to.deep.include({ field: 'failure', reason: 'timeout' });
  });
});
