import { expect } from 'chai';
import { InvalidFile } from '../../core/document/diagnostic.js';
import { namesMediaType } from '../../core/lib/media-type.js';
import { parseManifest } from '../../core/manifest/parse-manifest.js';

function diagnose(operation: object, kind: string | null = null) {
  const route = { method: 'POST', path: '/chat', capability: 'chat.use', operation };
  const manifest = {
    protocol: 'modgate.manifest.v1',
    module_id: 'chat',
    capabilities: ['chat.use'],
    http_routes: [route],
  };
  try {
    parseManifest(
      manifest,
      { file: 'manifest.yaml', locate: () => null },
      {
        adapterLimits:
          kind === null ? null : { kind, streams: false, upgrades: false, tools: false },
      },
    );
    return [];
  } catch (error) {
    if (!(error instanceof InvalidFile)) throw error;
    return error.diagnostics;
  }
}

const rulesOf = (...args: Parameters<typeof diagnose>) => diagnose(...args).map(({ rule }) => rule);

describe('routes of events', () => {
  it('may list media types, and take bytes or JSON with a schema', () => {
    for (const stream of ['sse', 'ndjson']) {
      expect(rulesOf({ stream, stream_types: ['application/json'] })).to.deep.equal([]);
      expect(rulesOf({ stream, body: 'bytes' })).to.deep.equal([]);
      expect(rulesOf({ stream, input_schema: {} })).to.deep.equal([]);
    }
  });

  it('have no response schema, and are not bytes', () => {
    expect(rulesOf({ stream: 'sse', output_schema: {} })).to.deep.equal(['stream-and-body']);
    expect(rulesOf({ stream: 'sse', response: 'bytes' })).to.deep.equal(['stream-and-body']);
    expect(rulesOf({ stream_types: ['text/plain'] })).to.deep.equal(['stream-and-body']);
    const [diagnostic] = diagnose({ stream: 'sse', output_schema: {} });
    expect(diagnostic?.message).to.include("route 'POST /chat' must not have output_schema");
    expect(diagnostic?.hint).to.equal('remove it, or stream: sse');
  });

  it('may be optional, beside JSON with a schema that is not kept', () => {
    const optional = { stream: 'sse', stream_optional: true };
    expect(rulesOf({ ...optional, output_schema: {} })).to.deep.equal([]);
    expect(rulesOf({ ...optional, response: 'bytes' })).to.deep.equal(['stream-and-body']);
    expect(rulesOf({ ...optional, cache: { ttl_ms: 1000 } })).to.include('stream-and-body');
    expect(rulesOf({ stream_optional: true })).to.deep.equal(['stream-and-body']);
    expect(rulesOf({ ...optional, stream: 'websocket' })).to.include('websocket');
  });

  it('list no range, and no type that browsers show as a page', () => {
    for (const type of ['*/*', 'text/*', 'Text/HTML', 'image/svg+xml', 'multipart/mixed']) {
      const operation = { stream: 'sse', stream_types: ['text/event-stream', type] };
      expect(rulesOf(operation), type).to.deep.equal(['stream-type']);
    }
    const operation = { stream: 'sse', stream_types: ['text/plain', 'application/stream+json'] };
    expect(rulesOf(operation)).to.deep.equal([]);
  });

  it('are WebSockets for a GET alone, and have no other form', () => {
    const [diagnostic] = diagnose({ stream: 'websocket' });
    expect(diagnostic?.message).to.include("route 'POST /chat' must be a GET: it is a WebSocket");
    expect(diagnose({ stream: 'xml' })).to.have.length(1);
  });

  it('have no members of bodies where they are WebSockets, also without a body', () => {
    const members = { input_schema: {}, output_schema: {}, cache: { ttl_ms: 1000 } };
    for (const body of [undefined, 'none']) {
      const found = diagnose({ stream: 'websocket', ...members, ...(body && { body }) });
      const messages = found.flatMap(({ rule, message }) => (rule === 'websocket' ? message : []));
      for (const member of Object.keys(members)) {
        const expected = `must not have ${member}: it is a WebSocket`;
        expect(messages.join('\n'), body).to.include(expected);
      }
      expect(messages.join('\n')).to.not.include('must not have body');
    }
  });

  it('are rejected for a kind that cannot stream', () => {
    expect(rulesOf({ stream: 'sse' }, 'nats')).to.deep.equal(['stream-unsupported']);
  });
});

describe('namesMediaType', () => {
  for (const [accept, isNamed] of [
    ['text/event-stream', true],
    ['application/json, TEXT/event-stream;q=0.1', true],
    ['text/event-stream;q=0', false],
    ['text/event-stream; q=0.000', false],
    ['text/event-streams', false],
    ['text/*', false],
    ['*/*', false],
    [undefined, false],
  ] as const) {
    it(`${isNamed ? 'finds' : 'does not find'} it in ${accept}`, () => {
      expect(namesMediaType(accept, 'text/event-stream')).to.equal(isNamed);
    });
  }
});
