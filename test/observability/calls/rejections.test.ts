import { expect } from 'chai';
import { createPage } from '../../../core/observability/calls/call-page.js';
import { RecentCalls } from '../../../core/observability/calls/recent-calls.js';
import { ANY_CALL } from '../../../core/operations/status/call-record.js';
import { RawConnection, type RawHeader } from '../../../core/selftest/raw-http.js';
import { call, JSON_TYPE, parseJson } from '../../support/http/call.js';
import { describeModule } from '../../support/http/modules.js';
import { useHost } from '../../support/http/use-host.js';
import { waitUntil } from '../../support/http/wait-until.js';
import { createKept } from '../../support/observability/completed.js';

const ROUTES = [
  { method: 'GET', path: '/items/{id}', capability: 'shop.read' },
  { method: 'POST', path: '/items', capability: 'shop.write' },
];

interface Rejected {
  /** The members besides the request id. */
  readonly sent: object;
  readonly record: Readonly<Record<string, unknown>>;
}

const NAMED = {
  reason_detail: null,
  module_named: null,
  path_named: null,
  token: null,
  origin: null,
};
const REJECTIONS: Readonly<Record<string, Rejected>> = {
  'a module that does not exist': {
    sent: { target: '/modules/nope/http/items?q=secret' },
    record: {
      ...NAMED,
      ...{ status: 404, code: 'not_found', step: 'module', actor: 'system:root', module: null },
      ...{ module_named: 'nope', path_named: '/modules/nope/http/items' },
    },
  },
  'an invalid name of a module': {
    sent: { target: '/modules/Bad%20Name/http/items?q=secret' },
    record: {
      ...NAMED,
      ...{ status: 404, code: 'not_found', module: null, module_named: 'Bad Name' },
      path_named: '/modules/Bad%20Name/http/items',
    },
  },
  'an invalid name of a module that is not UTF-8': {
    sent: { target: '/modules/%ff/http/items' },
    record: { ...NAMED, module_named: '%ff', path_named: '/modules/%ff/http/items' },
  },
  'a path that no route matches': {
    sent: { target: '/modules/shop/http/none%0a' },
    record: {
      ...NAMED,
      ...{ status: 404, step: 'path', module: null, module_named: 'shop' },
      path_named: '/modules/shop/http/none%0a',
    },
  },
  'a missing scope': {
    sent: { target: '/modules/shop/http/items/1', as: 'dev-service:crm' },
    record: {
      ...NAMED,
      ...{ status: 403, code: 'forbidden', step: 'capability', module: 'shop' },
      ...{ route: '/items/{id}', actor: 'service:crm' },
      errors: [{ field: 'scope', reason: 'shop.read' }],
    },
  },
  'a request without credentials': {
    sent: { target: '/modules/shop/http/items/1', as: null },
    record: {
      ...NAMED,
      ...{ status: 401, code: 'unauthorized', step: 'actor', actor: null, module: null },
      ...{ module_named: 'shop', path_named: '/modules/shop/http/items/1' },
    },
  },
  'a body that is not JSON': {
    sent: {
      ...{ method: 'POST', target: '/modules/shop/http/items', headers: [JSON_TYPE] },
      body: Buffer.from('{'),
    },
    record: { ...NAMED, status: 400, code: 'validation_failed', step: 'body', module: 'shop' },
  },
  'an unknown path of the host': {
    sent: { target: '/nothing?x=1' },
    record: { ...NAMED, status: 404, step: 'host', module: null, path_named: '/nothing' },
  },
  'a path that a surface does not have': {
    sent: { target: '/docs/nothing' },
    record: { ...NAMED, status: 404, route: '/docs', path_named: '/docs/nothing' },
  },
  'a wrong query of the host': {
    sent: { target: '/calls?limit=0' },
    record: { ...NAMED, status: 400, step: 'query', actor: 'system:root', path_named: '/calls' },
  },
  'the console bridge': {
    sent: { method: 'POST', target: '/modules/shop/http/console-bridge/shop.read' },
    record: {
      ...NAMED,
      ...{ status: 400, step: 'body', module_named: 'shop' },
      path_named: '/modules/shop/http/console-bridge/shop.read',
    },
  },
};

describe('the record of a rejected request', () => {
  const setup = useHost((provider) => ({
    'shop.json': describeModule('shop', provider.url, ROUTES),
  }));
  const list = async (query: string) => {
    const page = parseJson(await call(setup.host, { target: `/calls?${query}` }));
    return page['calls'] as unknown as Readonly<Record<string, unknown>>[];
  };
  let number = 0;
  const send = async ({ headers = [], ...sent }: { headers?: readonly RawHeader[] }) => {
    number += 1;
    const id = `rejected-${number}`;
    const response = await call(setup.host, {
      target: '/',
      ...sent,
      headers: [...headers, ['x-request-id', id]],
    });
    return { id, problem: parseJson(response) };
  };

  for (const [title, { sent, record }] of Object.entries(REJECTIONS)) {
    it(`keeps the reason of ${title}, in the log line too`, async () => {
      const { id, problem } = await send(sent);
      const [newest = {}, ...others] = await list(`request_id=${id}`);
      expect(others).to.deep.equal([]);
      const { detail, errors, code } = problem;
      expect(newest).to.deep.include({ detail, errors, code, ...record });
      const find = () => setup.host.logs().find(({ request_id }) => request_id === id);
      await waitUntil('the line', () => find() !== undefined);
      const members = Object.entries(record).filter(([, value]) => value !== null);
      expect(find()).to.deep.include({ detail, errors, ...Object.fromEntries(members) });
      expect(JSON.stringify([newest, find()])).to.not.include('secret');
    });
  }

  it('is found by the id of its Problem where the parser rejected it', async () => {
    const connection = await RawConnection.open(setup.host.port);
    connection.write('GARBAGE\r\n\r\n');
    const { request_id } = parseJson(await connection.readFinal());
    const [record] = await list(`request_id=${request_id}`);
    expect(record).to.include({ status: 400, step: 'parser', method: '', path_named: null });
  });

  it('is selected by actor, code and step', async () => {
    const since = encodeURIComponent(new Date().toISOString());
    await send({ ...REJECTIONS['a missing scope']?.sent });
    await send({ ...REJECTIONS['an unknown path of the host']?.sent });
    const stepsOf = async (query: string) =>
      (await list(`since=${since}&${query}`)).map(({ step }) => step);
    expect(await stepsOf('actor=service%3Acrm')).to.deep.equal(['capability']);
    expect(await stepsOf('code=not_found')).to.deep.equal(['host']);
    expect(await stepsOf('step=capability&status=403')).to.deep.equal(['capability']);
    for (const query of ['code=nope', 'step=nope', 'actor=nope', 'request_id=%20']) {
      const { status } = await call(setup.host, { target: `/calls?${query}` });
      expect(status, query).to.equal(400);
    }
  });

  it('never holds the credential of the caller, however the path encodes it', async () => {
    const token = 'dev-service:canary-caller:canary.scope';
    const encoded = [...token].map((character) => `%${character.charCodeAt(0).toString(16)}`);
    for (const path of [token, encoded.join(''), `x-${token}-y`]) {
      const { id } = await send({ target: `/modules/shop/http/${path}`, as: token } as object);
      const [record] = await list(`request_id=${id}`);
      expect(record).to.include({ status: 404, path_named: null });
      expect(JSON.stringify(record)).to.not.include('canary.scope');
    }
    expect(setup.host.output()).to.not.include('canary.scope');
  });

  it('never holds a part of a credential at the end of a long path', async () => {
    const secret = `canary-${'0123456789'.repeat(30)}`;
    const encode = (text: string) =>
      text.replaceAll(/./g, (c) => `%${c.charCodeAt(0).toString(16)}`);
    for (const form of [secret, encode(secret), encode(encode(secret))]) {
      for (const length of [200, 240, 250]) {
        const target = `/modules/shop/http/${'a'.repeat(length - 19)}${form}`;
        const { id } = await send({ target, headers: [['cookie', `sid=${secret}`]] } as object);
        const [record] = await list(`request_id=${id}`);
        expect(record, target).to.include({ path_named: null });
      }
    }
    // Far behind the recorded part it hides nothing.
    const target = `/modules/shop/http/${'a'.repeat(1_000)}${secret}`;
    const { id } = await send({ target, headers: [['cookie', `sid=${secret}`]] } as object);
    expect((await list(`request_id=${id}`))[0]).to.include({ path_named: target.slice(0, 256) });
  });

  it('names nothing beside more credentials than are searched', async () => {
    const cookies = (count: number) =>
      Array.from({ length: count }, (_, index) => `c${index}=${10_000_000 + index}`);
    const record = async (target: string, values: readonly string[]) => {
      const headers = [['cookie', values.join('; ')]] as const;
      const { id } = await send({ target, headers } as object);
      return (await list(`request_id=${id}`))[0] ?? {};
    };
    const target = '/modules/nope/http/none';
    // The token is one more, with its scheme and without.
    const shown = await record(target, cookies(62));
    expect(shown).to.include({ path_named: target, module_named: 'nope' });
    expect(shown['detail']).to.not.equal('[redacted]');
    const hidden = { path_named: null, module_named: null, detail: '[redacted]' };
    expect(await record(target, cookies(63))).to.include(hidden);
    const last = [...cookies(500), 'c=canary-cookie'];
    expect(await record(`${target}/canary-cookie`, last)).to.include(hidden);
  });

  it('does not displace the calls of actors', () => {
    const calls = new RecentCalls(10, 1000, 5);
    for (let id = 0; id < 8; id += 1) calls.add(createKept(id), null);
    for (let id = 0; id < 100; id += 1) {
      calls.add({ ...createKept(id), status: 401, actor: null }, null);
    }
    const all = createPage(calls.read({ ...ANY_CALL, limit: 1000 }), 1000)?.calls ?? [];
    expect(all.filter(({ actor }) => actor !== null)).to.have.length(8);
    expect(all.filter(({ actor }) => actor === null)).to.have.length(5);
  });
});
