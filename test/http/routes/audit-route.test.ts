import { expect } from 'chai';
import type { AuditRow } from '../../../core/contract/audit-row.js';
import type { ConfigField } from '../../../core/contract/index.js';
import { FIRST_PREV, hashAuditRow } from '../../../core/store/audit-row.js';
import { configDescriptor, writeValue } from '../../support/bridge/config.js';
import { call, parseJson } from '../../support/http/call.js';
import { expectProblem, reasonOf } from '../../support/http/expect-problem.js';
import { useHost } from '../../support/http/use-host.js';

const ROWS = 7;
const FIELD: ConfigField = {
  service: 'conf',
  key: 'count',
  type: { kind: 'int', min: 1, max: 100 },
  editable: true,
};
const READER = 'dev-service:ops:modgate.audit.read';

interface Page {
  readonly rows: readonly AuditRow[];
  readonly next_after: number | null;
}

describe('GET /audit', () => {
  const setup = useHost(() => ({
    'conf.json': configDescriptor('http://127.0.0.1:1', [FIELD]),
  }));
  const read = async (query = '') => {
    const response = await call(setup.host, { target: `/audit${query}`, as: READER });
    expect(response.status, response.body.toString()).to.equal(200);
    return parseJson(response) as unknown as Page;
  };

  before(async () => {
    for (let value = 1; value <= ROWS; value += 1) await writeValue(setup.host, 'count', value);
  });

  it('returns pages, oldest first, that make one chain', async () => {
    const rows: AuditRow[] = [];
    let after: number | null = 0;
    let pages = 0;
    while (after !== null) {
      const page: Page = await read(`?limit=3&after=${after}`);
      rows.push(...page.rows);
      after = page.next_after;
      pages += 1;
    }
    expect(pages).to.equal(3);
    expect(rows.map(({ id }) => id)).to.deep.equal([1, 2, 3, 4, 5, 6, 7]);
    let prev = FIRST_PREV;
    for (const { hash, ...row } of rows) {
      expect(row.prev).to.equal(prev);
      expect(hashAuditRow(row)).to.equal(hash);
      prev = hash;
    }
  });

  it('filters by module and time, inclusively', async () => {
    const { rows } = await read();
    const since = rows[3]?.at ?? '';
    const expected = rows.filter(({ at }) => at >= since).map(({ id }) => id);
    const response = await read(`?since=${encodeURIComponent(since)}`);
    expect(response.rows.map(({ id }) => id)).to.deep.equal(expected);
    expect(await read('?module=conf&limit=7')).to.deep.equal({ rows, next_after: null });
    expect(await read('?module=other')).to.deep.equal({ rows: [], next_after: null });
  });

  it('rejects parameters that are unknown, repeated or not valid', async () => {
    const bad = [
      ['limit=0', 'limit'],
      ['limit=1001', 'limit'],
      ['after=-1', 'after'],
      ['after=1&after=2', 'after'],
      ['since=yesterday', 'since'],
      ['since=2026-02-30T00:00:00Z', 'since'],
      ['module=%00', 'module'],
      ['cursor=1', 'cursor'],
    ] as const;
    for (const [query, field] of bad) {
      const response = await call(setup.host, { target: `/audit?${query}`, as: READER });
      expect(reasonOf(expectProblem(response, 400), field), query).to.be.a('string');
    }
  });

  it('requires the scope modgate.audit.read', async () => {
    const target = '/audit';
    expectProblem(await call(setup.host, { target, as: 'dev-service:ops' }), 403);
    expectProblem(await call(setup.host, { target, as: null }), 401);
  });
});

describe('GET /descriptors', () => {
  const text = JSON.stringify(configDescriptor('http://127.0.0.1:1', [FIELD]));
  const setup = useHost(() => ({ 'conf.json': text }));
  const read = (query: string, as = 'dev-service:ops:modgate.modules.read') =>
    call(setup.host, { target: `/descriptors${query}`, as });

  it('returns the file of a module as it is', async () => {
    const response = await read('?module=conf');
    expect(parseJson(response)).to.deep.equal({ name: 'conf', file: 'conf.json', text });
  });

  it('leaves out the default of a sensitive field, also in a broken file', async () => {
    const secret = { ...FIELD, key: 'secret', default: 'sekrit', sensitive: true };
    const hidden = JSON.stringify(configDescriptor('http://127.0.0.1:1', [secret]));
    for (const changed of [hidden, `${hidden.slice(0, -1)},`]) {
      setup.host.drop('conf.json', changed);
      const response = parseJson(await read('?module=conf')) as { text: string };
      expect(response.text).to.not.contain('sekrit');
    }
    setup.host.drop('conf.json', hidden);
    const { text: redacted } = parseJson(await read('?module=conf')) as { text: string };
    const { default: _secret, ...rest } = secret;
    const expected = configDescriptor('http://127.0.0.1:1', [rest]);
    expect(JSON.parse(redacted)).to.deep.equal(expected);
  });

  it('leaves out a password in a URL of a rejected file', async () => {
    const descriptor = JSON.stringify({
      ...configDescriptor('http://127.0.0.1:1', [FIELD]),
      summary: 1,
    });
    const password = 'pa/s@sekrit';
    for (const url of [`http://ann:${password}@127.0.0.1:1`, 'http://sekrit@127.0.0.1:1/a@b']) {
      const plain = descriptor.replaceAll('http://127.0.0.1:1', url);
      const escaped = plain.replaceAll('/', '\\/').replaceAll('@', '\\u0040');
      for (const changed of [plain, `${plain.slice(0, -1)},`, escaped]) {
        setup.host.drop('conf.json', changed);
        const { text: redacted } = parseJson(await read('?module=conf')) as { text: string };
        expect(redacted).to.include('[redacted]@').and.not.include('sekrit');
      }
    }
    setup.host.drop('conf.json', text);
  });

  it('rejects other names, and requires a scope', async () => {
    expectProblem(await read('?module=other'), 404);
    expectProblem(await read(''), 400);
    expectProblem(await read('?file=conf.json'), 400);
    expectProblem(await read('?module=conf', 'dev-service:ops'), 403);
  });
});
