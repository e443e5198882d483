import { expect } from 'chai';
import { headerValue, type ReceivedResponse } from '../../../core/selftest/raw-http.js';
import { parseJson } from '../../support/http/call.js';
import { KeptConnection } from '../../support/http/kept-connection.js';
import { describeModule } from '../../support/http/modules.js';
import { useHost } from '../../support/http/use-host.js';
import { readOutside } from '../../support/outside.js';

const STRINGS = readOutside<readonly string[]>('naughty-strings.json.gz');

/** Path segments that no route can match, since a provider could read them as another path. */
const AMBIGUOUS_SEGMENTS: readonly (readonly [reason: string, pattern: RegExp])[] = [
  ['is empty', /^$/],
  ['is or starts like a dot segment', /^\.{1,2}(?:;|$)/],
  ['contains a separator of paths, queries or fragments', /[/\\?#]/],
  ['is encoded twice', /%[0-9A-Fa-f]{2}/],
  // biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are the subject
  ['contains a control character', /[\u0000-\u001f\u007f-\u009f]/],
];
/** Characters that a header must not contain (RFC 9110, section 5.5). */
// biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are the subject
const FORBIDDEN_IN_HEADER = /[\u0000-\u0008\u000a-\u001f\u007f]/;
const HEADER = 'x-naughty';
const ID = /^[A-Za-z0-9._:-]{1,128}$/;

const ROUTES = [
  { method: 'GET', path: '/items/{id}', capability: 'shop.use' },
  { method: 'PUT', path: '/items', capability: 'shop.use' },
];

/** The difference from the expectation; `null` for none. */
type Difference = string | null;

describe('the big list of naughty strings', () => {
  if (STRINGS === null) {
    it('is not run: its data was not found');
    return;
  }

  const setup = useHost(
    ({ url }) => ({
      'shop.json': describeModule('shop', url, ROUTES, { forward_headers: [HEADER] }),
    }),
    { args: ['--log-success-sample', '0'] },
  );
  const client = new KeptConnection(() => setup.host.port);
  after(() => client.close());

  const checkEach = async (check: (text: string) => Promise<Difference>) => {
    const differences: (readonly [string, string])[] = [];
    for (const text of STRINGS) {
      setup.provider.reset();
      const difference = await check(text);
      if (difference !== null) differences.push([text, difference]);
    }
    expect(differences).to.deep.equal([]);
  };

  const expectRejected = (response: ReceivedResponse, status: number): Difference => {
    if (response.status !== status) return `responded with ${response.status}`;
    if (setup.provider.requests.length > 0) return 'the provider was called';
    return parseJson(response)['status'] === status ? null : 'the response is not a Problem';
  };

  const expectForwarded = (response: ReceivedResponse, isSame: () => boolean): Difference => {
    if (response.status !== 200) return `responded with ${response.status}`;
    return isSame() ? null : 'the provider received something else';
  };

  it('reaches the provider as a path segment, unless it is ambiguous', () =>
    checkEach(async (text) => {
      const path = `/items/${encodeURIComponent(text)}`;
      const response = await client.send({ target: `/modules/shop/http${path}` });
      const isAmbiguous = AMBIGUOUS_SEGMENTS.some(([, pattern]) => pattern.test(text));
      if (isAmbiguous) return expectRejected(response, 404);
      return expectForwarded(response, () => setup.provider.only().target === path);
    }));

  it('reaches the provider as a query value', () =>
    checkEach(async (text) => {
      const path = `/items/1?q=${encodeURIComponent(text)}&${encodeURIComponent(text)}=1`;
      const response = await client.send({ target: `/modules/shop/http${path}` });
      return expectForwarded(response, () => setup.provider.only().target === path);
    }));

  it('reaches the provider as the value of a header, unless it has control characters', () =>
    checkEach(async (text) => {
      const value = Buffer.from(text).toString('latin1');
      const target = '/modules/shop/http/items/1';
      const response = await client.send({ target, headers: [[HEADER, value]] });
      if (FORBIDDEN_IN_HEADER.test(value)) return expectRejected(response, 400);
      // White space around a value does not belong to it.
      const expected = value.replace(/^[\t ]+|[\t ]+$/g, '');
      const received = () => headerValue(setup.provider.only().headers, HEADER);
      return expectForwarded(response, () => received() === expected);
    }));

  it('reaches the provider in a body, and the client in a response', () =>
    checkEach(async (text) => {
      const body = Buffer.from(JSON.stringify({ value: text, [text]: [text] }));
      setup.provider.answer({ body });
      const headers = [['content-type', 'application/json']] as const;
      const target = '/modules/shop/http/items';
      const response = await client.send({ method: 'PUT', target, headers, body });
      const isReturned = response.body.includes(Buffer.concat([Buffer.from('"data":'), body]));
      return expectForwarded(response, () => setup.provider.only().body.equals(body) && isReturned);
    }));

  it('becomes a request id only if it is one', () =>
    checkEach(async (text) => {
      const value = Buffer.from(text).toString('latin1');
      if (FORBIDDEN_IN_HEADER.test(value)) return null;
      const target = '/modules/shop/http/items/1';
      const response = await client.send({ target, headers: [['x-request-id', value]] });
      const id = headerValue(response.headers, 'x-request-id') ?? '';
      if (ID.test(text)) return id === text ? null : `became ${id}`;
      return ID.test(id) ? null : `became ${id}`;
    }));
});
