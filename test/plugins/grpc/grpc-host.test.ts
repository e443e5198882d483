import { expect } from 'chai';
import { cpuMsSince } from '../../support/cpu-time.js';
import { slowness } from '../../support/slowness.js';
import { startHost } from '../../support/start-host.js';
import { use } from '../../support/use.js';
import { type Caller, createCaller, describeLibrary } from './library-module.js';
import { startLibrary } from './library-server.js';

const ROUTES = [
  { method: 'POST', path: '/echo', operation: { grpc: 'library.v1.Echo/Echo' } },
  { method: 'GET', path: '/echo', operation: { grpc: 'library.v1.Echo/Echo' } },
  {
    method: 'GET',
    path: '/shelves/{shelf}/books/{book}',
    operation: {
      grpc: {
        method: 'library.v1.Library/GetBook',
        bind: { name: 'shelves/{shelf}/books/{book}' },
      },
    },
  },
  {
    method: 'PUT',
    path: '/books/{id...}',
    operation: {
      grpc: { method: 'library.v1.Library/UpdateBook', body: 'book', bind: { id: 'book.name' } },
    },
  },
  {
    method: 'GET',
    path: '/{parent}/books',
    operation: { grpc: { method: 'library.v1.Library/ListBooks', response_body: 'books' } },
  },
];

describe('grpc module of a running host', () => {
  const server = use(() =>
    startLibrary({
      Echo: async ({ request }) => [request],
      GetBook: async ({ request }) => [
        { ...(request as object), title: 'Emma', isbn: '9780141439587' },
      ],
      UpdateBook: async ({ request }) => [(request as { book: object }).book as never],
      ListBooks: async () => [{ books: [{ name: 'a', isbn: '9007199254740993' }, {}] }],
    }),
  );
  const host = use(() => startHost({ files: describeLibrary(ROUTES, server.url) }));

  beforeEach(() => {
    server.calls.length = 0;
  });

  const call: Caller = (path, init) => createCaller(host.url)(path, init);

  const send = (body: unknown, path = '/echo', method = 'POST') =>
    call(path, { method, body: typeof body === 'string' ? body : JSON.stringify(body) });

  const dataOf = ({ status, text }: { status: number; text: string }) => {
    expect(status, text).to.equal(200);
    return JSON.parse(text).data;
  };

  it('composes a field of several path parameters', async () => {
    const data = dataOf(await call('/shelves/a%20b/books/%C3%A4'));
    expect(data).to.deep.equal({
      name: 'shelves/a b/books/ä',
      title: 'Emma',
      isbn: '9780141439587',
    });
  });

  it('sends and returns every type by the JSON mapping of protobuf', async () => {
    const message = {
      aDouble: 1.5,
      aFloat: -0.25,
      anInt32: -2147483648,
      anInt64: '-9223372036854775808',
      aUint32: 4294967295,
      aUint64: '18446744073709551615',
      aBool: true,
      aString: 'ä€😀',
      someBytes: 'AAECAw==',
      genre: 'POETRY',
      child: { anInt32: 1 },
      longs: ['1', '9007199254740993'],
      byName: { __proto__x: '1', 'a/b': '2' },
      byNumber: { '7': { aBool: true } },
      number: '5',
      maybe: 0,
      at: '2026-01-31T12:00:00.500Z',
      lasting: '1.500s',
      mask: 'aDouble,child.anInt32',
      object: { a: [1, null, 'x', { b: true }] },
      value: null,
      any: { '@type': 'type.googleapis.com/library.v1.Book', title: 'Emma' },
      wrappedLong: '7',
      wrappedBool: false,
      wrappedText: '',
      otherName: 'x',
    };
    expect(dataOf(await send(message))).to.deep.equal(message);
  });

  it('keeps the digits of long numbers', async () => {
    const sent = `{"an_int64": 9007199254740993, "a_uint64": 18446744073709551615,
      "longs": [9223372036854775807], "by_name": {"a": 9007199254740993},
      "child": {"an_int64": -9007199254740993}, "wrapped_long": 9007199254740993,
      "object": {"n": 12345678901234567890}, "a_double": 0.1234567890123456}`;
    expect(dataOf(await send(sent))).to.deep.equal({
      anInt64: '9007199254740993',
      aUint64: '18446744073709551615',
      longs: ['9223372036854775807'],
      byName: { a: '9007199254740993' },
      child: { anInt64: '-9007199254740993' },
      wrappedLong: '9007199254740993',
      object: { n: 12345678901234567000 },
      aDouble: 0.1234567890123456,
    });
  });

  it('sets fields by query parameters', async () => {
    const query =
      'a_bool=true&anInt64=9007199254740993&genre=NOVEL&longs=1&longs=2&child.a_string=x%20y&at=2026-01-31T12:00:00Z&wrapped_bool=false&unknown=1';
    expect(dataOf(await call(`/echo?${query}`))).to.deep.equal({
      aBool: true,
      anInt64: '9007199254740993',
      genre: 'NOVEL',
      longs: ['1', '2'],
      child: { aString: 'x y' },
      at: '2026-01-31T12:00:00Z',
      wrappedBool: false,
    });
  });

  it('makes the body one field, and returns one field', async () => {
    const data = dataOf(await send({ title: 'Emma' }, '/books/shelves/1/books/2', 'PUT'));
    expect(data).to.deep.equal({ name: 'shelves/1/books/2', title: 'Emma' });
    const books = dataOf(await call('/shelf/books?pageSize=2&filter.genres=NOVEL&filter.genres=2'));
    expect(books).to.deep.equal([{ name: 'a', isbn: '9007199254740993' }, {}]);
    expect(server.calls.at(-1)?.request).to.deep.equal({
      parent: 'shelf',
      pageSize: 2,
      filter: { genres: ['NOVEL', 'POETRY'] },
    });
  });

  it('accepts a bound field again with the same value only', async () => {
    const path = '/books/a';
    expect(dataOf(await send({ name: 'a' }, path, 'PUT'))).to.deep.equal({ name: 'a' });
    expect(dataOf(await send({}, `${path}?book.name=a`, 'PUT'))).to.deep.equal({ name: 'a' });
    for (const response of [
      await send({ name: 'b' }, path, 'PUT'),
      await send({}, `${path}?book.name=b`, 'PUT'),
    ]) {
      expect(response.status).to.equal(400);
    }
  });

  it('rejects a parameter of the query in both spellings', async () => {
    const response = await call('/shelf/books?page_size=1&pageSize=1');
    expect(response.status, response.text).to.equal(400);
    expect(JSON.parse(response.text).errors[0].field).to.equal('query.pageSize');
  });

  const INVALID: Readonly<Record<string, readonly [body: unknown, field: string]>> = {
    'an unknown member': [{ child: { nope: 1 } }, '/child/nope'],
    'a number as text': [{ children: [{}, { a_string: 5 }] }, '/children/1/a_string'],
    'an integer beyond its type': [{ anInt32: 2147483648 }, '/anInt32'],
    'a fraction as an integer': [{ byName: { 'a/b': 1.5 } }, '/byName/a~1b'],
    'a key of a map that is none of its type': [{ byNumber: { x: {} } }, '/byNumber'],
    'an unknown name of an enum': [{ genre: 'OTHER' }, '/genre'],
    'both spellings': [{ a_bool: true, aBool: true }, '/aBool'],
    'two members of a oneof': [{ text: 'a', number: 1 }, '/number'],
    'bytes that are not base64': [{ someBytes: '!' }, '/someBytes'],
    'a time that is none': [{ at: 'yesterday' }, '/at'],
    'an array as an object': [{ child: [] }, '/child'],
    'an object as an array': [{ longs: {} }, '/longs'],
    'an Any of an unknown type': [{ any: { '@type': 'type.googleapis.com/a.B' } }, '/any'],
    'a text instead of an object': ['"text"', ''],
  };
  for (const [title, [body, field]] of Object.entries(INVALID)) {
    it(`rejects ${title} with its place`, async () => {
      const { status, text } = await send(body);
      expect(status, text).to.equal(400);
      const { code, errors } = JSON.parse(text);
      expect(code).to.equal('validation_failed');
      expect(errors.map((error: { field: string }) => error.field)).to.deep.equal([field]);
      expect(server.calls).to.have.length(0);
    });
  }

  it('rejects a body that is too costly at once', async () => {
    const nested = (text: string) => `{"value":${'['.repeat(4_000)}${text}${']'.repeat(4_000)}}`;
    for (const body of [
      `{"longs":[${'0,'.repeat(400_000)}0]}`,
      `{"by_name":{"x":"y"},"longs":[${'0,'.repeat(15_000)}"x"]}`,
      nested('12345678901234567890'),
      nested('1'),
    ]) {
      const startedAt = process.cpuUsage();
      expect((await send(body)).status).to.equal(400);
      expect(cpuMsSince(startedAt)).to.be.lessThan(3_000 * slowness());
    }
  });

  it('reads exponents of many digits', async () => {
    const data = dataOf(await send('{"a_double": 1E00000000000000001}'));
    expect(data).to.deep.equal({ aDouble: 10 });
  });

  it('sends deadline, actor and ids as metadata', async () => {
    await send({ aBool: true });
    const [received] = server.calls;
    expect(received?.deadlineMs).to.be.within(1, 5_100);
    const metadata = received?.metadata.getMap() ?? {};
    expect(metadata['modgate-actor']).to.equal('service:reader');
    expect(metadata['traceparent']).to.match(/^00-/);
    expect(metadata).to.not.have.any.keys('accept', 'content-length', 'modgate-deadline-ms');
  });
});
