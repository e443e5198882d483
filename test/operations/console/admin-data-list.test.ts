import { expect } from 'chai';
import { headerValue } from '../../../core/selftest/raw-http.js';
import {
  askBridge,
  bridgeBody,
  createDescriptor,
  createManifest,
  sendBridge,
} from '../../support/bridge/bridge.js';
import { readBridgeCorpus } from '../../support/bridge/corpus.js';
import { crmDescriptor, READ } from '../../support/bridge/crm.js';
import { answerPages, localPages } from '../../support/bridge/pages.js';
import { useKinds } from '../../support/bridge/use-kinds.js';
import type { Answer, ProviderRequest } from '../../support/echo-provider.js';
import { expectProblem } from '../../support/http/expect-problem.js';
import { useHost } from '../../support/http/use-host.js';

interface LimitVectors {
  readonly passed: readonly {
    readonly title: string;
    readonly given: string;
    readonly sent: number;
  }[];
  readonly refused: readonly string[];
}

interface Page {
  readonly data: readonly { readonly id: number }[];
  readonly nextCursor: string | null;
}

const LIST = { operation: 'admin_data_list', entity: 'contacts' };
const EMPTY_PAGE = '{"records":[],"next_cursor":null}';

const DOWN = {
  capabilities: [READ],
  admin: { entities: [{ name: 'contacts', read_capability: READ, list_path: '/contacts' }] },
};

// Failures of one test must not affect the next one.
const PATIENT = { breaker: { failures: 1_000 } };

function readQuery({ target }: ProviderRequest): URLSearchParams {
  return new URL(target, 'http://provider').searchParams;
}

describe('console bridge: admin_data_list', () => {
  const setup = useHost(({ url }) => ({
    'crm.json': crmDescriptor(url, PATIENT),
    'down.json': createDescriptor('down', createManifest('down', DOWN), [READ]),
    'quick.json': crmDescriptor(url, { module: 'quick', limits: { timeout_ms: 200 } }),
    'large.json': crmDescriptor(url, { module: 'large', limits: { response_bytes: 8_388_608 } }),
    'small.json': crmDescriptor(url, { module: 'small', limits: { response_bytes: 100 } }),
  }));

  beforeEach(() => setup.provider.answer({ body: EMPTY_PAGE }));

  const ask = (members: object = {}, module = 'crm') =>
    askBridge(setup.host, { module, permission: READ, payload: { ...LIST, ...members } });

  /** A payload as text, which JSON.stringify would change. */
  const askText = (payload: string) => {
    const body = JSON.stringify(bridgeBody({ permission: READ, payload: 'PAYLOAD' }));
    return sendBridge(
      setup.host,
      { permission: READ },
      body.replace('"PAYLOAD"', () => payload),
    );
  };

  const { passed, refused } = readBridgeCorpus<LimitVectors>('limits');

  for (const { title, given: input, sent } of passed) {
    it(`requests ${sent} for ${title}`, async () => {
      const limit = input === '' ? '' : `,"limit":${input}`;
      const answer = await askText(`{"operation":"admin_data_list","entity":"contacts"${limit}}`);
      expect(answer.status, answer.text).to.equal(200);
      expect(readQuery(setup.provider.only()).getAll('limit')).to.deep.equal([`${sent}`]);
    });
  }

  for (const limit of refused) {
    it(`rejects the limit ${limit}`, async () => {
      const payload = `{"operation":"admin_data_list","entity":"contacts","limit":${limit}}`;
      const { errors } = expectProblem((await askText(payload)).response, 400);
      expect(errors.map(({ field }) => field).join()).to.include('limit');
      expect(setup.provider.requests).to.have.length(0);
    });
  }

  it('sends no cursor when it is absent or null', async () => {
    for (const members of [{}, { cursor: null }]) {
      setup.provider.reset();
      setup.provider.answer({ body: EMPTY_PAGE });
      expect((await ask(members)).status).to.equal(200);
      expect(readQuery(setup.provider.only()).get('cursor') ?? '').to.equal('');
    }
  });

  for (const cursor of [
    '2',
    'a b',
    'a+b',
    '%2F',
    'ü😀',
    '"\\',
    '&limit=1',
    '#',
    'x'.repeat(2_000),
  ]) {
    it(`forwards the cursor ${JSON.stringify(cursor.slice(0, 12))} both ways`, async () => {
      setup.provider.answer({ body: JSON.stringify({ records: [], next_cursor: cursor }) });
      const answer = await ask({ cursor });
      expect(answer.data).to.deep.equal({ data: [], nextCursor: cursor });
      const query = readQuery(setup.provider.only());
      expect(query.getAll('cursor')).to.deep.equal([cursor]);
      expect(query.getAll('limit')).to.deep.equal(['100']);
    });
  }

  it('calls list_path with GET and names the actor', async () => {
    await ask();
    const { method, target, headers, body } = setup.provider.only();
    expect(method).to.equal('GET');
    expect(target.split('?')[0]).to.equal('/admin/contacts');
    expect(body.length).to.equal(0);
    expect(headerValue(headers, 'modgate-actor')).to.equal('service:tester');
    expect(headerValue(headers, 'modgate-call-id')).to.be.a('string').and.not.equal('');
    expect(headerValue(headers, 'modgate-deadline-ms')).to.match(/^[1-9]\d*$/);
    expect(headerValue(headers, 'accept')).to.equal('application/json');
    expect(headerValue(headers, 'x-request-id')).to.match(/^req_/);
    expect(headerValue(headers, 'authorization')).to.equal(undefined);
  });

  it('ends the list with an empty cursor, as many providers do', async () => {
    setup.provider.answer({ body: '{"records":[{"id":1}],"next_cursor":""}' });
    expect((await ask()).data).to.deep.equal({ data: [{ id: 1 }], nextCursor: null });
  });

  it('returns only the records and the cursor', async () => {
    setup.provider.answer({ body: '{"records":[{"id":1},null,"x"],"next_cursor":"2"}' });
    const { text } = await ask();
    expect(text).to.equal('{"data":{"data":[{"id":1},null,"x"],"nextCursor":"2"}}');
  });

  it('does not change the bytes of records', async () => {
    const record = '{"n":12345678901234567890,"price":1.10,"x":1e400,"s":"\\u00e9é","a":1,"a":2}';
    setup.provider.answer({ body: `{ "next_cursor" : null, "records" : [${record}, 1.0] }` });
    const { text } = await ask();
    expect(text)
      .to.include(record)
      .and.to.match(/,\s*1\.0\s*\]/);
    expect(text).to.match(/"nextCursor":null/);
  });

  it('finds the records among many other members, under an escaped name too', async () => {
    const others = Array.from({ length: 100_000 }, (_, index) => `"a${index}":1,`).join('');
    setup.provider.answer({ body: `{${others}"\\u0072ecords":[{"id":1}]}` });
    const { text } = await ask();
    expect(text).to.equal('{"data":{"data":[{"id":1}],"nextCursor":null}}');
  });

  it('returns 502 for a page of more than 4 MiB, whatever response_bytes is', async () => {
    const answerWith = (bytes: number) => {
      const page = '{"records":[],"next_cursor":null}';
      setup.provider.answer({ body: page.padEnd(bytes) });
      return ask({}, 'large');
    };
    expect((await answerWith(4_194_304)).status).to.equal(200);
    const { errors } = expectProblem((await answerWith(4_194_305)).response, 502);
    expect(errors).to.deep.include({ field: 'failure', reason: 'protocol' });
  });

  const failures: Readonly<Record<string, readonly [failure: string, answer: Answer]>> = {
    'a status of 500': ['status', { status: 500, body: EMPTY_PAGE }],
    'a status of 404': ['status', { status: 404, body: EMPTY_PAGE }],
    'a redirect': ['protocol', { status: 302, headers: [['location', '/']], body: null }],
    'no JSON': ['protocol', { body: 'records' }],
    'another content type': [
      'protocol',
      { headers: [['content-type', 'text/html']], body: EMPTY_PAGE },
    ],
    'no body': ['protocol', { status: 204, body: null }],
    'an array': ['protocol', { body: '[]' }],
    'no records': ['protocol', { body: '{"next_cursor":null}' }],
    'records that are no array': ['protocol', { body: '{"records":{},"next_cursor":null}' }],
    'a cursor that is a number': ['protocol', { body: '{"records":[],"next_cursor":5}' }],
    'a body that is cut short': [
      'protocol',
      {
        raw: [
          'HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: 99\r\n\r\n{"re',
        ],
      },
    ],
    'a closed connection': ['unavailable', { raw: [], finally: 'end' }],
  };
  for (const [title, [failure, answer]] of Object.entries(failures)) {
    it(`returns 502 for ${title}`, async () => {
      setup.provider.answer(answer);
      const { errors } = expectProblem((await ask()).response, 502);
      expect(errors).to.deep.include({ field: 'failure', reason: failure });
    });
  }

  it('names the status of the provider in a 502', async () => {
    setup.provider.answer({ status: 503, body: '{"detail":"of the inside"}' });
    const answer = await ask();
    const { errors } = expectProblem(answer.response, 502);
    expect(errors).to.deep.include({ field: 'provider_status', reason: '503' });
    expect(errors).to.deep.include({ field: 'module', reason: 'crm' });
    expect(answer.text).to.not.include('of the inside');
  });

  it('returns 502 when nothing listens', async () => {
    const { errors } = expectProblem((await ask({}, 'down')).response, 502);
    expect(errors).to.deep.include({ field: 'failure', reason: 'unavailable' });
  });

  it('returns 502 when the provider times out', async () => {
    setup.provider.answer({ delayMs: 2_000, body: EMPTY_PAGE });
    const { errors } = expectProblem((await ask({}, 'quick')).response, 502);
    expect(errors).to.deep.include({ field: 'failure', reason: 'timeout' });
  });

  it('returns 502 for a response that exceeds response_bytes', async () => {
    const records = JSON.stringify(Array.from({ length: 50 }, (_, id) => ({ id })));
    setup.provider.answer({ body: `{"records":${records},"next_cursor":null}` });
    const { errors } = expectProblem((await ask({}, 'small')).response, 502);
    expect(errors).to.deep.include({ field: 'failure', reason: 'protocol' });
  });
});

describe('console bridge: paging on each kind', () => {
  const COUNT = 450;
  const ROWS = createManifest('rows', {
    capabilities: [READ],
    admin: { entities: [{ name: 'rows', read_capability: READ, list_path: '/rows' }] },
  });
  const setup = useKinds({
    manifest: ROWS,
    permission: READ,
    answer: answerPages(COUNT),
    local: localPages(COUNT),
  });

  async function readAll(module: string, limit: number): Promise<number[]> {
    const ids: number[] = [];
    let cursor: string | null = null;
    do {
      const payload = { operation: 'admin_data_list', entity: 'rows', limit, cursor };
      const { status, text, data } = await askBridge(setup.host, {
        module,
        permission: READ,
        payload,
      });
      expect(status, text).to.equal(200);
      const page = data as Page;
      ids.push(...page.data.map(({ id }) => id));
      cursor = page.nextCursor;
    } while (cursor !== null);
    return ids;
  }

  for (const kind of ['http', 'unix', 'local']) {
    for (const limit of [7, 100, 150, 10_000]) {
      it(`reads ${COUNT} rows of kind ${kind} by ${limit} without loss or duplicate`, async () => {
        const expected = Array.from({ length: COUNT }, (_, id) => id);
        expect(await readAll(kind, limit)).to.deep.equal(expected);
      });
    }
  }
});
