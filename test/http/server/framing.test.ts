import { expect } from 'chai';
import { headerValue, RawConnection } from '../../../core/selftest/raw-http.js';
import { ROOT } from '../../support/http/call.js';
import { expectProblem } from '../../support/http/expect-problem.js';
import { describeModule } from '../../support/http/modules.js';
import { useHost } from '../../support/http/use-host.js';

const TARGET = '/modules/shop/http/items';
const HOST = 'host: 127.0.0.1';
const AUTH = `authorization: Bearer ${ROOT}`;
const JSON_TYPE = 'content-type: application/json';
const CHUNKED = 'transfer-encoding: chunked';

interface Framing {
  readonly title: string;
  /** A section of RFC 9112, unless another one is named. */
  readonly section: string;
  readonly bytes: string;
  /** The status that the RFC asks for; a range of them where it leaves a choice. */
  readonly expected: readonly [from: number, to: number];
  /** The body that the provider receives. */
  readonly body?: string;
}

const SERVED = [200, 299] as const;
const REJECTED = [400, 499] as const;
const REJECTED_OR_UNKNOWN = [400, 599] as const;

const lines = (...all: readonly string[]) => `${all.join('\r\n')}\r\n\r\n`;
const get = (...headers: readonly string[]) =>
  lines(`GET ${TARGET} HTTP/1.1`, HOST, AUTH, ...headers);
const post = (headers: readonly string[], body: string) =>
  lines(`POST ${TARGET} HTTP/1.1`, HOST, AUTH, JSON_TYPE, ...headers) + body;
const chunks = (text: string) => post([CHUNKED], text);

const FRAMINGS: readonly Framing[] = [
  { title: 'a valid GET', section: '3', bytes: get(), expected: SERVED },
  {
    title: 'an empty line before a request',
    section: '2.2',
    bytes: `\r\n${get()}`,
    expected: SERVED,
  },
  {
    title: 'names in any case, a tab, an empty value',
    section: '5',
    bytes: get('X-a:\tb \t', 'x-B:'),
    expected: SERVED,
  },
  { title: 'an empty value with a space', section: '5', bytes: get('x-a: '), expected: SERVED },
  {
    title: 'a length of zero on a GET',
    section: '6.2',
    bytes: get('content-length: 0'),
    expected: SERVED,
  },
  {
    title: 'an absolute-form target',
    section: '3.2.2',
    bytes: lines(`GET http://127.0.0.1${TARGET} HTTP/1.1`, HOST, AUTH),
    expected: SERVED,
  },
  {
    title: 'a body with a length',
    section: '6.2',
    bytes: post(['content-length: 7'], '"hello"'),
    expected: SERVED,
    body: '"hello"',
  },
  {
    title: 'a body in chunks',
    section: '7.1',
    bytes: chunks('3\r\n"he\r\n4\r\nllo"\r\n0\r\n\r\n'),
    expected: SERVED,
    body: '"hello"',
  },
  {
    title: 'chunk sizes in any case, with zeros',
    section: '7.1',
    bytes: chunks('00A\r\n"hellohe"\n\r\n0\r\n\r\n'),
    expected: SERVED,
    body: '"hellohe"\n',
  },
  {
    title: 'a chunk extension',
    section: '7.1.1',
    bytes: chunks('2;a=b;c="d"\r\n{}\r\n0\r\n\r\n'),
    expected: SERVED,
    body: '{}',
  },
  {
    title: 'a trailer',
    section: '7.1.2',
    bytes: chunks('2\r\n{}\r\n0\r\nx-a: b\r\n\r\n'),
    expected: SERVED,
    body: '{}',
  },
  {
    title: 'a coding in upper case',
    section: '7',
    bytes: post(['Transfer-Encoding: CHUNKED'], '2\r\n{}\r\n0\r\n\r\n'),
    expected: SERVED,
    body: '{}',
  },
  {
    title: 'expect: 100-continue',
    section: 'RFC 9110, 10.1.1',
    bytes: post(['expect: 100-continue', 'content-length: 2'], '{}'),
    expected: SERVED,
    body: '{}',
  },
  {
    title: 'another expectation',
    section: 'RFC 9110, 10.1.1',
    bytes: get('expect: x'),
    expected: [417, 417],
  },
  {
    title: 'HTTP/1.0',
    section: '2.3',
    bytes: lines(`GET ${TARGET} HTTP/1.0`, HOST, AUTH),
    expected: SERVED,
  },
  {
    title: 'HTTP/1.0 without a host',
    section: '3.2',
    bytes: lines(`GET ${TARGET} HTTP/1.0`, AUTH),
    expected: SERVED,
  },
  {
    title: 'no version',
    section: '3',
    bytes: lines(`GET ${TARGET} `, HOST, AUTH),
    expected: REJECTED_OR_UNKNOWN,
  },
  {
    title: 'an unknown version',
    section: '2.3',
    bytes: lines(`GET ${TARGET} HTTP/9.9`, HOST, AUTH),
    expected: REJECTED_OR_UNKNOWN,
  },
  {
    title: 'text before the method',
    section: '3',
    bytes: `more ${get()}`,
    expected: REJECTED_OR_UNKNOWN,
  },
  { title: 'a name with brackets', section: '5.1', bytes: get('x-a[]: b'), expected: REJECTED },
  { title: 'a space before the colon', section: '5.1', bytes: get('x-a : b'), expected: REJECTED },
  {
    title: 'a line that starts with a space',
    section: '5.2',
    bytes: get('x-a: b', ' c'),
    expected: REJECTED,
  },
  {
    title: 'a space before the first header',
    section: '2.2',
    bytes: lines(`GET ${TARGET} HTTP/1.1`, ' x-a: b', HOST, AUTH),
    expected: REJECTED,
  },
  {
    title: 'a control character in a value',
    section: 'RFC 9110, 5.5',
    bytes: get('x-a: b\x07'),
    expected: REJECTED,
  },
  {
    title: 'a NUL in a value',
    section: 'RFC 9110, 5.5',
    bytes: get('x-a: b\0c'),
    expected: REJECTED,
  },
  {
    title: 'a bare CR behind a header',
    section: '2.2',
    bytes: `${get().slice(0, -2)}\rx-a: b\r\n\r\n`,
    expected: REJECTED,
  },
  {
    title: 'no host',
    section: '3.2',
    bytes: lines(`GET ${TARGET} HTTP/1.1`, AUTH),
    expected: REJECTED,
  },
  { title: 'two hosts', section: '3.2', bytes: get('host: b'), expected: REJECTED },
  {
    title: 'a negative length',
    section: '6.3',
    bytes: post(['content-length: -1234'], ''),
    expected: REJECTED,
  },
  {
    title: 'a negative length beyond 64 bits',
    section: '6.3',
    bytes: post([`content-length: -${'123456789'.repeat(3)}`], ''),
    expected: REJECTED,
  },
  {
    title: 'a length that is a word',
    section: '6.3',
    bytes: post(['content-length: abc'], ''),
    expected: REJECTED,
  },
  {
    title: 'two different lengths',
    section: '6.3',
    bytes: post(['content-length: 2', 'content-length: 3'], '{} '),
    expected: REJECTED,
  },
  {
    title: 'a coding and a length',
    section: '6.1',
    bytes: post([CHUNKED, 'content-length: 5'], '0\r\n\r\n'),
    expected: REJECTED,
  },
  {
    title: 'chunks within another coding',
    section: '6.3',
    bytes: post(['transfer-encoding: chunked, gzip'], '0\r\n\r\n'),
    expected: REJECTED,
  },
  {
    title: 'an unknown coding',
    section: '6.1',
    bytes: post(['transfer-encoding: x, chunked'], '0\r\n\r\n'),
    expected: [501, 501],
  },
  {
    title: 'a coding in HTTP/1.0',
    section: '6.1',
    bytes: `${lines(`POST ${TARGET} HTTP/1.0`, HOST, AUTH, JSON_TYPE, CHUNKED)}2\r\n{}\r\n0\r\n\r\n`,
    expected: REJECTED,
  },
  {
    title: 'a chunk size beyond 64 bits',
    section: '7.1',
    bytes: chunks('10000000000000002\r\n{}\r\n0\r\n\r\n'),
    expected: REJECTED,
  },
  {
    title: 'a chunk that is longer than its size',
    section: '7.1',
    bytes: chunks('1\r\n{}\r\n0\r\n\r\n'),
    expected: REJECTED,
  },
];

/** Cases in which the host behaves differently, with the reason. */
const DIFFERENCES: Readonly<Record<string, { readonly status: number; readonly why: string }>> = {
  'an absolute-form target': {
    status: 404,
    why: 'it is for proxies; its authority could contradict the host header',
  },
  'HTTP/1.0 without a host': {
    status: 403,
    why: 'with development tokens, only requests that name a loopback host are served',
  },
};

describe('framing of requests after RFC 9112', () => {
  const setup = useHost(({ url }) => ({
    'shop.json': describeModule('shop', url, [
      { method: 'GET', path: '/items', capability: 'shop.use' },
      { method: 'POST', path: '/items', capability: 'shop.use' },
    ]),
  }));

  for (const { title, section, bytes, expected, body } of FRAMINGS) {
    const difference = DIFFERENCES[title];
    const [from, to] = difference === undefined ? expected : [difference.status, difference.status];
    const isServed = to < 300;

    it(`${isServed ? 'serves' : 'rejects'} ${title} (${section})`, async () => {
      const connection = await RawConnection.open(setup.host.port);
      try {
        connection.write(bytes);
        const response = await connection.readFinal();
        expect(response.status, response.body.toString()).to.be.within(from, to);
        if (!isServed) {
          expectProblem(response, response.status);
          expect(setup.provider.requests).to.have.length(0);
          return;
        }
        expect(setup.provider.only().body.toString()).to.equal(body ?? '');
        expect(headerValue(response.headers, 'content-length')).not.to.equal(undefined);
      } finally {
        connection.destroy();
      }
    });
  }

  it('waits for the rest of a request, wherever it is cut, and for nothing more', async () => {
    const request = chunks('3;a=b\r\n"he\r\n4\r\nllo"\r\n0\r\nx-b: c\r\n\r\n');
    const other = await RawConnection.open(setup.host.port);
    const connection = await RawConnection.open(setup.host.port);
    try {
      for (let at = 1; at < request.length; at += 1) {
        setup.provider.reset();
        connection.write(request.slice(0, at));
        // By the end of a later request the host has received the first part.
        other.write(lines('GET /livez HTTP/1.1', HOST));
        expect((await other.readFinal()).status).to.equal(200);
        expect(connection.unread, request.slice(0, at)).to.equal('');
        expect(setup.provider.requests).to.have.length(0);
        connection.write(request.slice(at));
        expect((await connection.readFinal()).status, request.slice(0, at)).to.equal(200);
        expect(setup.provider.only().body.toString()).to.equal('"hello"');
      }
    } finally {
      connection.destroy();
      other.destroy();
    }
  });
});
