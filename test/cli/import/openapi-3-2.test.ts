import { expect } from 'chai';
import { convert, OK } from '../../support/cli/convert-operation.js';

const NAME = { type: 'string' };

function convertAll(parts: Parameters<typeof convert>[0]) {
  const { manifest, unmapped } = convert(parts, '3.2.0');
  return {
    manifest,
    operations: manifest.http_routes.map(({ operation }) => operation),
    lines: unmapped.map(({ place, part, reason }) => `${place}: ${part}: ${reason}`),
  };
}

describe('an imported document of OpenAPI 3.2', () => {
  it('lists the methods that the host does not have', () => {
    const { manifest, lines } = convertAll({
      paths: {
        '/a': {
          get: { responses: OK },
          query: { responses: OK },
          additionalOperations: { COPY: {} },
        },
      },
    });
    expect(manifest.http_routes.map(({ method }) => method)).to.deep.equal(['GET']);
    expect(lines).to.deep.equal([
      'QUERY /a: the operation: the host has no such routes',
      'COPY /a: the operation: the host has no such routes',
    ]);
  });

  it('has a stream for a response with itemSchema', () => {
    const streamOf = (...types: string[]) => {
      const content = Object.fromEntries(types.map((type) => [type, { itemSchema: NAME }]));
      const item = { get: { responses: { 200: { description: 'ok', content } } } };
      const { operations, lines } = convertAll({ paths: { '/a': item } });
      expect(lines).to.deep.equal([
        'GET /a: schema of items: the host does not check the items of a stream',
      ]);
      return operations[0];
    };
    expect(streamOf('text/event-stream')).to.deep.equal({ stream: 'sse' });
    expect(streamOf('application/jsonl')).to.deep.equal({ stream: 'ndjson' });
    expect(streamOf('application/events+json')).to.deep.equal({
      stream: 'ndjson',
      stream_types: ['application/events+json'],
    });
    expect(streamOf('multipart/mixed')).to.deep.equal({
      response: 'bytes',
      response_types: ['multipart/mixed'],
    });
  });

  it('has shared media types and examples with dataValue', () => {
    const { operations, lines } = convertAll({
      paths: {
        '/a': {
          post: {
            requestBody: {
              required: true,
              content: { 'application/json': { $ref: '#/components/mediaTypes/Name' } },
            },
            responses: OK,
          },
        },
      },
      components: {
        mediaTypes: { Name: { schema: NAME, examples: { ann: { dataValue: 'Ann' } } } },
      },
    });
    expect(lines).to.deep.equal([]);
    expect(operations).to.deep.equal([
      {
        input_schema: NAME,
        response_types: ['text/*'],
        examples: [{ name: 'ann', input: 'Ann' }],
      },
    ]);
  });
});
