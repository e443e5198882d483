import { expect } from 'chai';
import { startHost } from '../../support/start-host.js';
import { use } from '../../support/use.js';
import { createCaller, describeLibrary } from './library-module.js';
import { startLibrary } from './library-server.js';

const ROUTES = ['GET', 'POST'].map((method) => ({
  method,
  path: '/echo',
  operation: { grpc: 'library.v1.Echo/Echo' },
}));
const SAME = null;
const ANY = 'type.googleapis.com';

/** Bodies and what comes back, from the conformance suite of protobuf; `SAME` for the body itself. */
const ACCEPTED: Readonly<Record<string, readonly [body: string, data: string | null]>> = {
  'a body behind a byte-order mark': ['\ufeff{"anInt32":1}', '{"anInt32":1}'],
  'the bounds of integers of 32 bits': ['{"anInt32":-2147483648,"aUint32":4294967295}', SAME],
  'integers as texts': ['{"anInt32":"-12","aUint32":"12"}', '{"anInt32":-12,"aUint32":12}'],
  'integers with an exponent or a zero fraction': [
    '{"anInt32":1e5,"aUint32":4.294967295e9,"longs":[1.0,1e3]}',
    '{"anInt32":100000,"aUint32":4294967295,"longs":["1","1000"]}',
  ],
  'the bounds of integers of 64 bits': [
    '{"anInt64":"-9223372036854775808","aUint64":"18446744073709551615"}',
    SAME,
  ],
  'integers of 64 bits as numbers': [
    '{"anInt64":9223372036854775807,"aUint64":18446744073709551615,"aFixed64":1}',
    '{"anInt64":"9223372036854775807","aUint64":"18446744073709551615","aFixed64":"1"}',
  ],
  'numbers that are not finite': ['{"aDouble":"NaN","aFloat":"-Infinity"}', SAME],
  'the largest numbers': [
    '{"aDouble":1.7976931348623157e+308,"aFloat":3.4028234663852886e+38}',
    SAME,
  ],
  'the smallest number': ['{"aDouble":2.2250738585072014e-308}', SAME],
  'numbers as texts': ['{"aDouble":"1.5e2","aFloat":"-0.5"}', '{"aDouble":150,"aFloat":-0.5}'],
  'defaults, which are left out': [
    '{"anInt32":0,"aDouble":0,"aBool":false,"aString":"","someBytes":"","genre":0,"longs":[],"byName":{}}',
    '{}',
  ],
  'defaults of fields with presence': ['{"maybe":0,"text":"","child":{}}', SAME],
  'enums by number': ['{"genre":2}', '{"genre":"POETRY"}'],
  'unknown numbers of enums': ['{"genre":-9}', SAME],
  'names of the .proto file': [
    '{"an_int32":1,"by_name":{"a":1}}',
    '{"anInt32":1,"byName":{"a":"1"}}',
  ],
  'a name that the file gives': ['{"otherName":"x"}', SAME],
  'base64 for URLs, and without padding': ['{"someBytes":"-_8"}', '{"someBytes":"+/8="}'],
  'escapes of surrogate pairs': ['{"aString":"\\ud83d\\ude00\\u0000"}', '{"aString":"😀\\u0000"}'],
  'null as a value that is not given': [
    '{"anInt32":null,"child":null,"longs":null,"byName":null,"genre":null,"at":null,"wrappedLong":null,"any":null}',
    '{}',
  ],
  'null beside another member of a oneof': ['{"text":null,"number":"7"}', '{"number":"7"}'],
  'null as a Value': ['{"value":null}', SAME],
  'each kind of Value': ['{"object":{"a":[1.5,"x",true,null,{},[]]},"value":[{"b":false}]}', SAME],
  'keys of maps': ['{"byNumber":{"-7":{"aBool":true},"0":{}},"byName":{"":"1"}}', SAME],
  'the bounds of durations': [
    '{"children":[{"lasting":"315576000000.999999999s"},{"lasting":"-315576000000.999999999s"}]}',
    SAME,
  ],
  'durations with three, six and nine digits': [
    '{"children":[{"lasting":"1.5s"},{"lasting":"-0.00001s"},{"lasting":"0.000000001s"},{"lasting":"3s"}]}',
    '{"children":[{"lasting":"1.500s"},{"lasting":"-0.000010s"},{"lasting":"0.000000001s"},{"lasting":"3s"}]}',
  ],
  'the bounds of timestamps': [
    '{"children":[{"at":"0001-01-01T00:00:00Z"},{"at":"9999-12-31T23:59:59.999999999Z"}]}',
    SAME,
  ],
  'a leap day': ['{"at":"2028-02-29T23:59:59Z"}', SAME],
  'timestamps with an offset': [
    '{"at":"1969-12-31T16:00:00.5-08:00"}',
    '{"at":"1970-01-01T00:00:00.500Z"}',
  ],
  'field masks': ['{"mask":"aDouble,child.anInt32"}', SAME],
  'an empty field mask': ['{"mask":""}', SAME],
  'wrappers of defaults': ['{"wrappedLong":"0","wrappedBool":false,"wrappedText":""}', SAME],
  'an Any of a message': [
    `{"any":{"title":"x","@type":"${ANY}/library.v1.Book"}}`,
    `{"any":{"@type":"${ANY}/library.v1.Book","title":"x"}}`,
  ],
  'an Any of a message with JSON of its own': [
    `{"any":{"@type":"${ANY}/google.protobuf.Duration","value":"1.500s"}}`,
    SAME,
  ],
  'an Any of an Any': [
    `{"any":{"@type":"${ANY}/google.protobuf.Any","value":{"@type":"${ANY}/library.v1.Book","isbn":"1"}}}`,
    SAME,
  ],
  'an Any of a Value': [`{"any":{"@type":"${ANY}/google.protobuf.Value","value":{"a":1}}}`, SAME],
  'an empty Any': ['{"any":{}}', SAME],
};

/** Bodies that are rejected, and the place that the response names. */
const REJECTED: Readonly<Record<string, readonly [body: string, field: string]>> = {
  'an integer of 32 bits that is too large': ['{"aUint32":4294967296}', '/aUint32'],
  'a negative unsigned integer': ['{"aUint64":"-1"}', '/aUint64'],
  'an integer of 64 bits that is too large': ['{"anInt64":9223372036854775808}', '/anInt64'],
  'a fraction as an integer': ['{"anInt64":"1.5"}', '/anInt64'],
  'blanks around digits': ['{"anInt32":" 1"}', '/anInt32'],
  'an empty text as a number': ['{"aDouble":""}', '/aDouble'],
  'a number beyond a float': ['{"aFloat":3.502823e+38}', '/aFloat'],
  'a number beyond a double': ['{"aDouble":"1e400"}', '/aDouble'],
  'the name of a value that is not finite, in other letters': ['{"aDouble":"nan"}', '/aDouble'],
  'a boolean as text': ['{"aBool":"true"}', '/aBool'],
  'a number as a boolean': ['{"aBool":1}', '/aBool'],
  'a name of an enum in other letters': ['{"genre":"novel"}', '/genre'],
  'half of a surrogate pair': ['{"aString":"\\ud800"}', '/aString'],
  'null within a list': ['{"longs":["1",null]}', '/longs/1'],
  'null within a map': ['{"byName":{"a":null}}', '/byName/a'],
  'a key that is no number': ['{"byNumber":{"x":{}}}', '/byNumber'],
  'a duration beyond its bounds': ['{"lasting":"315576000001s"}', '/lasting'],
  'a duration without its unit': ['{"lasting":"1"}', '/lasting'],
  'a timestamp before its bounds': ['{"at":"0000-01-01T00:00:00Z"}', '/at'],
  'a timestamp without a time zone': ['{"at":"2026-01-31T12:00:00"}', '/at'],
  'a timestamp in small letters': ['{"at":"2026-01-31t12:00:00z"}', '/at'],
  'a path of a field mask that does not come back': ['{"mask":"a_double"}', '/mask'],
  'an Any without a type': ['{"any":{"title":"x"}}', '/any'],
  'an Any with a member that is none': [`{"any":{"@type":"${ANY}/library.v1.Book","x":1}}`, '/any'],
  'a number in hexadecimal': ['{"longs":["1","0x10"]}', '/longs/1'],
  'a number with a plus': ['{"aDouble":"+1"}', '/aDouble'],
  'a number with a leading zero': ['{"anInt32":"010"}', '/anInt32'],
  'blanks around digits of 64 bits': ['{"anInt64":" 1"}', '/anInt64'],
  'a wrapped number in hexadecimal': ['{"child":{"wrappedLong":"0x10"}}', '/child/wrappedLong'],
  'a key in hexadecimal': ['{"byNumber":{"0x1":{}}}', '/byNumber'],
  'base64 with a blank': ['{"someBytes":" /8="}', '/someBytes'],
  'base64 with padding within': ['{"someBytes":"AA=AA"}', '/someBytes'],
  'base64 with too little padding': ['{"someBytes":"AA="}', '/someBytes'],
  'a day that does not exist': ['{"children":[{"at":"2026-02-29T12:00:00Z"}]}', '/children/0/at'],
  'the hour 24': ['{"at":"2026-01-31T24:00:00Z"}', '/at'],
  'such a day in an Any': [
    `{"any":{"@type":"${ANY}/google.protobuf.Timestamp","value":"2026-02-29T12:00:00Z"}}`,
    '/any',
  ],
  'a number beyond a double in an object': ['{"object":{"a":[{"b":-1e400}]}}', '/object'],
  'a number beyond a double in a Value': ['{"value":1e400}', '/value'],
  'two members of a oneof': ['{"number":"1","book":{}}', '/book'],
};

describe('the JSON mapping of protobuf', () => {
  const server = use(() => startLibrary({ Echo: async ({ request }) => [request] }));
  const host = use(() => {
    const passthrough = { provider_errors: 'passthrough' };
    return startHost({ files: describeLibrary(ROUTES, server.url, passthrough) });
  });

  const send = (body: string) => createCaller(host.url)('/echo', { method: 'POST', body });

  for (const [title, [body, data]] of Object.entries(ACCEPTED)) {
    it(`carries ${title}`, async () => {
      const { status, text } = await send(body);
      expect(status, text).to.equal(200);
      expect(JSON.parse(text).data).to.deep.equal(JSON.parse(data ?? body));
    });
  }

  it('reads base64 in a query', async () => {
    const { text } = await createCaller(host.url)('/echo?someBytes=%2B/8=');
    expect(JSON.parse(text).data).to.deep.equal({ someBytes: '+/8=' });
  });

  it('rejects base64 in a query whose plus is a blank there', async () => {
    const { status, text } = await createCaller(host.url)('/echo?someBytes=+/8=');
    expect([status, JSON.parse(text).errors[0].field]).to.deep.equal([400, 'query.someBytes']);
  });

  for (const [title, [body, field]] of Object.entries(REJECTED)) {
    it(`rejects ${title}`, async () => {
      const before = server.calls.length;
      const { status, text } = await send(body);
      expect(status, text).to.equal(400);
      expect(JSON.parse(text).errors[0].field).to.equal(field);
      expect(server.calls).to.have.length(before);
    });
  }
});
