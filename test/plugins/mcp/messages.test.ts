import { expect } from 'chai';
import fc from 'fast-check';
import {
  assertExactNumbers,
  countValues,
  InexactJson,
  parseExact,
  toPlain,
} from '../../../plugins/mcp/exact-json.js';
import { call, JSON_TYPE } from '../../support/http/call.js';
import { describeModule } from '../../support/http/modules.js';
import { useHost } from '../../support/http/use-host.js';
import { callTool, parseRpc, problemOf } from '../../support/mcp/mcp-call.js';

const AGENT = 'dev-service:agent:shop.use';
const NOBODY = 'dev-service:nobody';

/** Whether JSON.parse reads the text, and so that of the same value. */
function parseUsual(text: string): { readonly value: unknown } | null {
  try {
    return { value: JSON.parse(text) };
  } catch {
    return null;
  }
}

function parseOurs(text: string) {
  try {
    return { value: toPlain(parseExact(text)) };
  } catch (error) {
    if (error instanceof InexactJson) return error.problem;
    throw error;
  }
}

function isExact(text: string): boolean {
  try {
    assertExactNumbers(parseExact(text));
    return true;
  } catch {
    return false;
  }
}

describe('the parser of messages', () => {
  const pieces = fc.constantFrom(
    ...['{', '}', '[', ']', ',', ':', '"', '"a"', '"b"', '"\\u0061"', '"\\', '"\\x"', '"\n"', ' '],
    ...['0', '-', '-0', '01', '1.', '.5', '1e', '1E+2', 'true', 'nul', 'null', '\u00a0', '\ufeff'],
  );

  it('reads what JSON.parse reads, and nothing else', () => {
    const texts = fc.oneof(
      fc.json(),
      fc.array(pieces, { maxLength: 8 }).map((all) => all.join('')),
    );
    fc.assert(
      fc.property(texts, (text) => {
        const ours = parseOurs(text);
        if (ours === 'ambiguous') return;
        expect(ours).to.deep.equal(parseUsual(text) ?? 'malformed');
      }),
      { numRuns: 2000 },
    );
  });

  it('rejects repeated names, deep nesting and too many values', () => {
    expect(parseOurs('{"a":1,"\\u0061":2}')).to.equal('ambiguous');
    expect(parseOurs(`${'['.repeat(102)}${']'.repeat(102)}`)).to.equal('ambiguous');
    expect(parseOurs(`${'['.repeat(101)}${']'.repeat(101)}`)).to.have.property('value');
    expect(() => parseExact('[1,{"a":2}]', 3)).to.throw(InexactJson, 'more than 3 values');
    expect(countValues(parseExact('[1,{"a":2}]', 4))).to.equal(4);
    expect(parseOurs('{"__proto__":1}')).to.deep.equal(parseUsual('{"__proto__":1}'));
  });

  it('finds numbers that a parser would change', () => {
    const zeros = '0'.repeat(5000);
    const exact = [
      '0',
      '-0',
      '1.0',
      '1e2',
      '0.1',
      '5e-324',
      '1e00002',
      `1.${zeros}`,
      `0e9${zeros}`,
    ];
    for (const text of [...exact, `1${zeros}e-5000`, `0.${zeros}1e5001`]) {
      expect(isExact(text), text.slice(0, 20)).to.equal(true);
    }
    const changed = [
      '12345678901234567890',
      '0.1234567890123456789',
      '1e400',
      '1e-400',
      '1e999999',
    ];
    for (const text of [...changed, `1.${zeros}1`, `1${zeros}`]) {
      expect(isExact(text), text.slice(0, 20)).to.equal(false);
    }
  });
});

describe('a message of an agent', () => {
  const routes = [
    { method: 'POST', path: '/items', capability: 'shop.use', operation: { danger_level: 'low' } },
    { method: 'GET', path: '/items/{id}', capability: 'shop.use' },
  ];
  const setup = useHost(
    ({ url }) => ({ 'shop.json': describeModule('shop', url, routes, { mcp: { expose: 'all' } }) }),
    { args: ['--surfaces', 'mcp'], isDescribed: false },
  );

  const send = async (body: string) => {
    const response = await call(setup.host, {
      ...{ method: 'POST', target: '/mcp', as: AGENT, body: Buffer.from(body) },
      headers: [
        JSON_TYPE,
        ['accept', 'application/json, text/event-stream'],
        ['mcp-protocol-version', '2025-11-25'],
      ],
    });
    return parseRpc(response.body);
  };
  const list = (count: number) => `[${'0,'.repeat(count - 1)}0]`;
  const create = (params: string, method = 'tools/call') =>
    `{"jsonrpc":"2.0","id":1,"method":"${method}","params":${params}}`;

  it('has at most 20,000 values, which the error says', async () => {
    // Beside the list: the message and its four members, name, arguments and body.
    const most = 19_992;
    const fits = await send(
      create(`{"name":"shop_post_items","arguments":{"body":${list(most)}}}`),
    );
    expect(fits.result).not.to.have.property('isError');
    expect(setup.provider.only().body.toString()).to.equal(list(most));
    for (const name of ['shop_post_items', 'unknown', 'call_tool']) {
      const { error } = await send(
        create(`{"name":"${name}","arguments":{"body":${list(most + 1)}}}`),
      );
      expect(error).to.include({
        code: -32_602,
        message: 'the message has more than 20000 values',
      });
    }
  });

  it('has at most 1,000 values beside the arguments of a tool', async () => {
    const messages = [
      create(`{"name":"shop_post_items","arguments":{},"_meta":{"a":${list(1000)}}}`),
      create(list(1000), 'unknown'),
      create(`{"name":${list(1000)}}`),
      `{"jsonrpc":"2.0","id":${list(1000)},"method":"tools/list"}`,
    ];
    for (const message of messages) {
      const { error } = await send(message);
      expect(error).to.include({ code: -32_602 });
      expect(error?.message).to.include('1000 values');
    }
    const { error } = await send(create(`{"_meta":{"a":${list(900)}}}`, 'unknown'));
    expect(error).to.include({ code: -32_601 });
  });

  it('is no JSON, a batch or ambiguous, as before', async () => {
    const codes = [
      ['{', -32_700],
      ['', -32_700],
      ['{"a":1}}', -32_700],
      ['[]', -32_600],
      [create('{"name":"a","name":"b"}'), -32_600],
      [create('['.repeat(200) + ']'.repeat(200)), -32_600],
    ] as const;
    for (const [text, code] of codes) {
      expect((await send(text)).error, text).to.include({ code });
    }
  });

  it('learns nothing about the arguments of a tool that its caller may not call', async () => {
    const texts = ['{}', '{"other":1}', '{"body":12345678901234567890}'];
    for (const text of texts) {
      const denied = await callTool(setup.host, 'shop_post_items', text, { as: NOBODY });
      expect(problemOf(denied), text).to.include({ code: 'forbidden' });
      const named = await callTool(setup.host, 'shop_post_items', text, { as: AGENT });
      expect(problemOf(named), text).to.include({ code: 'validation_failed' });
    }
  });

  it('has arguments of path and query that fit into a head', async () => {
    const text = `{"id":"${'a'.repeat(16_400)}"}`;
    const result = await callTool(setup.host, 'shop_get_items_by_id', text, { as: AGENT });
    expect(problemOf(result)).to.include({ code: 'validation_failed' });
    expect(setup.provider.requests).to.deep.equal([]);
  });
});
