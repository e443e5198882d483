import { expect } from 'chai';
import { createClient, isProblem } from '../../core/client/index.js';

interface Init {
  readonly params?: object;
  readonly headers?: object;
  readonly body?: unknown;
  readonly parseAs?: string;
}

interface Answer {
  // biome-ignore lint/suspicious/noExplicitAny: data of any route
  readonly data?: any;
  // biome-ignore lint/suspicious/noExplicitAny: an error of any route
  readonly error?: any;
  readonly response: Response;
}

type Call = (path: string, init?: Init) => Promise<Answer>;

interface Untyped {
  readonly GET: Call;
  readonly POST: Call;
  readonly DELETE: Call;
  pages(path: string, init?: Init): AsyncGenerator<Answer>;
}

const ITEM = '/modules/shop/http/items/{id}';
const FILE = '/modules/acme%2Fcrm/http/files/{path...}';
const PROBLEM = {
  type: '/problems/not_found',
  title: 'Not found',
  status: 404,
  code: 'not_found',
  detail: 'nothing',
  request_id: 'a',
  correlation_id: 'a',
  errors: [],
};
const ANY = { params: { path: { id: '1' } } };
const RAW = { 'modgate-origin': 'provider' };

function answer(body: unknown, status = 200, headers: Record<string, string> = {}): Response {
  const text = typeof body === 'string' ? body : JSON.stringify(body);
  return new Response(text === '' ? null : text, { status, headers });
}

const wrap = (data: unknown) => answer({ status: 'forwarded', data });

/** Runs calls of a client whose requests get these answers in turn, the last one again and again. */
async function record<T>(
  work: (client: Untyped) => T,
  answers: readonly Response[] = [wrap(null)],
  options: object = {},
): Promise<{ sent: Request[]; result: Awaited<T> }> {
  const sent: Request[] = [];
  const fetch = async (request: Request) => {
    sent.push(request);
    return (answers[sent.length - 1] ?? (answers.at(-1) as Response)).clone();
  };
  const client = createClient({ url: 'http://host/', token: 'secret', fetch, ...options });
  return { result: await work(client as unknown as Untyped), sent };
}

describe('requests of a typed client', () => {
  it('have each segment of a rest parameter encoded, and other parameters as one segment', async () => {
    const { sent } = await record(async ({ DELETE, GET }) => {
      await DELETE(FILE, { params: { path: { path: 'a b/c%/ü' } } });
      await GET('/modules/shop/http/{group}/{id}.json', {
        params: { path: { group: 'a/b#', id: 7 } },
      });
    });
    expect(sent.map(({ method, url }) => [method, url])).to.deep.equal([
      ['DELETE', 'http://host/modules/acme%2Fcrm/http/files/a%20b/c%25/%C3%BC'],
      ['GET', 'http://host/modules/shop/http/a%2Fb%23/7.json'],
    ]);
  });

  it('repeat the parameter of an array, encode names, and leave out what is absent', async () => {
    const query = { tag: ['a&b', 'c'], 'filter[a]': true, limit: undefined, none: null };
    const { sent } = await record(({ GET }) =>
      GET('/modules/shop/http/items', { params: { query } }),
    );
    expect(sent[0]?.url).to.equal(
      'http://host/modules/shop/http/items?tag=a%26b&tag=c&filter%5Ba%5D=true',
    );
  });

  it('have the token, unless the call has credentials of its own', async () => {
    let count = 0;
    const token = async () => (count++ === 1 ? undefined : 'a');
    const { sent } = await record(
      async ({ GET }) => {
        await GET(ITEM, ANY);
        await GET(ITEM, ANY);
        await GET(ITEM, { ...ANY, headers: { Authorization: 'Basic x' } });
      },
      undefined,
      { token },
    );
    const credentials = sent.map(({ headers }) => headers.get('authorization'));
    expect(credentials).to.deep.equal(['Bearer a', null, 'Basic x']);
  });

  it('have the members of objects in the query by their names in brackets', async () => {
    const query = { f: { a: 'x y', b: [1, undefined, 2], c: { d: true } }, g: new Date(0) };
    const { sent } = await record(({ GET }) => GET(ITEM, { params: { path: { id: '1' }, query } }));
    const names = [...new URL(sent[0]?.url ?? '').searchParams].slice(0, 4);
    expect(names).to.deep.equal([
      ...[
        ['f[a]', 'x y'],
        ['f[b]', '1'],
        ['f[b]', '2'],
        ['f[c][d]', 'true'],
      ],
    ]);
    expect(sent[0]?.url).to.include('&g=Thu');
  });

  it('have the media type of their body', async () => {
    const path = '/modules/shop/http/items';
    const csv = { 'Content-Type': 'text/csv' };
    const bodies: [body: unknown, headers?: object][] = [
      [{ a: 1 }],
      ['text'],
      ['a;b', csv],
      ['a;b', new Headers(csv)],
      [new Blob(['x'], { type: 'image/png' })],
      [new Blob(['x'], { type: 'image/png' }), csv],
      [new URLSearchParams({ a: '1' })],
      [new Uint8Array([65])],
      [new Blob(['x']).stream(), csv],
    ];
    const { sent } = await record(async ({ POST }) => {
      for (const [body, headers = {}] of bodies) {
        await POST(path, { body, headers, params: { header: { 'idempotency-key': 'k' } } });
      }
    });
    const seen = await Promise.all(
      sent.map(async (request) => [request.headers.get('content-type'), await request.text()]),
    );
    expect(seen).to.deep.equal([
      ['application/json', '{"a":1}'],
      ['application/json', '"text"'],
      ['text/csv', 'a;b'],
      ['text/csv', 'a;b'],
      ['image/png', 'x'],
      ['text/csv', 'x'],
      ['application/x-www-form-urlencoded;charset=UTF-8', 'a=1'],
      [null, 'A'],
      ['text/csv', 'x'],
    ]);
    expect(sent.every(({ headers }) => headers.get('idempotency-key') === 'k')).to.equal(true);
  });

  it('lead to a mount', async () => {
    const call = async ({ GET }: Untyped) => {
      await GET(ITEM, ANY);
      await GET(FILE, { params: { path: { path: 'a' } } });
    };
    const urlsOf = async (basePath: unknown) =>
      (await record(call, undefined, { basePath })).sent.map(({ url }) => new URL(url).pathname);
    expect(await urlsOf('/api/')).to.deep.equal(['/api/items/1', '/api/files/a']);
    expect(await urlsOf({ 'acme/crm': '/crm' })).to.deep.equal([
      '/modules/shop/http/items/1',
      '/crm/files/a',
    ]);
  });

  it('are not sent for a segment that would lead to another route', async () => {
    const { sent, result } = await record(({ GET }) =>
      Promise.all([
        ...['', '.', '..'].map((id) => GET(ITEM, { params: { path: { id } } })),
        GET(FILE, { params: { path: { path: 'a/../b' } } }),
        GET(ITEM),
      ]),
    );
    expect(sent).to.deep.equal([]);
    for (const { error, response } of result) {
      expect(isProblem(error) && [error.code, response.status]).to.deep.equal(['not_found', 404]);
    }
  });

  it('are not sent for a lone surrogate', async () => {
    const { sent, result } = await record(({ GET }) =>
      Promise.allSettled([
        GET(ITEM, { params: { path: { id: '\ud800' } } }),
        GET(ITEM, { params: { path: { id: '1' }, query: { tag: ['a', '\udfff'] } } }),
      ]),
    );
    expect(sent).to.deep.equal([]);
    for (const outcome of result) {
      expect(outcome).to.have.property('reason').that.is.instanceOf(URIError);
    }
  });
});

describe('answers of a typed client', () => {
  const get = (response: Response, options?: object) =>
    record(({ GET }) => GET(ITEM, ANY), [response], options).then(({ result }) => result);

  it('are the data without the envelope', async () => {
    for (const data of [{ name: 'tea' }, [1], null, '']) {
      const { error, ...result } = await get(wrap(data));
      expect([result.data, error, result.response.status]).to.deep.equal([data, undefined, 200]);
    }
  });

  it('are Problems, with the headers of the response', async () => {
    const headers = { 'retry-after': '3', 'modgate-origin': 'host' };
    const { data, error, response } = await get(answer(PROBLEM, 404, headers));
    expect([data, error]).to.deep.equal([undefined, PROBLEM]);
    expect([isProblem(error), response.headers.get('retry-after')]).to.deep.equal([true, '3']);
  });

  it('are unexpected where the body is neither the envelope nor a Problem', async () => {
    const bodies: [text: string, body: unknown][] = [
      ['{}', {}],
      ['<html>', '<html>'],
      ['{"status":"forwarded"}', { status: 'forwarded' }],
      ['', null],
      [JSON.stringify({ ...PROBLEM, status: 403 }), { ...PROBLEM, status: 403 }],
    ];
    for (const [text, body] of bodies) {
      for (const status of [200, 404, 502]) {
        const { data, error, response } = await get(answer(text, status));
        expect(data).to.equal(undefined);
        expect(error).to.include({ code: 'unexpected_answer', status });
        expect([error.body, response.status, isProblem(error)]).to.deep.equal([
          body,
          status,
          false,
        ]);
      }
    }
  });

  it('are those of the provider in raw mode', async () => {
    const raw = (body: unknown, status: number) => get(answer(body, status, RAW));
    const like = { status: 'forwarded', data: 1 };
    expect(await raw(like, 201)).to.deep.include({ data: like });
    expect((await raw('', 204)).data).to.equal(undefined);
    expect((await raw({ gone: true }, 410)).error).to.deep.equal({ gone: true });
    expect((await raw('', 404)).error).to.equal(null);
    const unchanged = await raw('', 304);
    expect(unchanged).to.have.all.keys('response');
    expect(unchanged.response.status).to.equal(304);
    expect((await get(answer(PROBLEM, 404, { 'modgate-origin': 'host' }))).error).to.deep.equal(
      PROBLEM,
    );
  });

  it('are parsed by the given function', async () => {
    const parse = (text: string) =>
      JSON.parse(text.replace(/\b\d{17,}\b/g, (digits) => `"${digits}"`));
    const text = '{"status":"forwarded","data":{"id":12345678901234567890}}';
    expect((await get(answer(text), { parse })).data).to.deep.equal({ id: '12345678901234567890' });
    const failed = await get(answer('{"id":12345678901234567890}', 409, RAW), { parse });
    expect(failed.error).to.deep.equal({ id: '12345678901234567890' });
  });

  it('are read in another form where the call asks for it', async () => {
    const read = (parseAs: string) =>
      record(({ GET }) => GET(ITEM, { ...ANY, parseAs }), [answer('{"a":1}')]);
    expect((await read('text')).result.data).to.equal('{"a":1}');
    expect(await (await read('blob')).result.data.text()).to.equal('{"a":1}');
  });
});

describe('pages of a typed client', () => {
  const collect = async (answers: Response[], query: object) => {
    const { sent, result } = await record(async (client) => {
      const pages: Answer[] = [];
      for await (const page of client.pages('/modules/shop/http/items', { params: { query } })) {
        pages.push(page);
      }
      return pages;
    }, answers);
    return { targets: sent.map(({ url }) => new URL(url).search), pages: result };
  };

  it('end after the last one', async () => {
    const { targets, pages } = await collect(
      [wrap({ next_cursor: 'b' }), wrap({ nextCursor: 'c' }), wrap({ next_cursor: null })],
      { limit: 2 },
    );
    expect(targets).to.deep.equal(['?limit=2', '?limit=2&cursor=b', '?limit=2&cursor=c']);
    expect(pages).to.have.length(3);
  });

  it('start at a cursor, and end after a failure', async () => {
    const { targets, pages } = await collect([wrap({ next_cursor: 'b' }), answer(PROBLEM, 404)], {
      cursor: 'a',
    });
    expect(targets).to.deep.equal(['?cursor=a', '?cursor=b']);
    expect(pages.map(({ error }) => error?.code)).to.deep.equal([undefined, 'not_found']);
  });
});
