import { expect } from 'chai';
import { convertDocument } from '../../../core/cli/import/convert-document.js';
import { parseOpenApi } from '../../../core/cli/import/openapi-document.js';

describe('a large OpenAPI document', () => {
  it('shares its definitions, and opens those that exceed the bounds together', () => {
    const refer = (index: number) => ({ $ref: `#/components/schemas/S${(index + 500) % 500}` });
    const description = 'x'.repeat(200);
    const schemas = Array.from({ length: 500 }, (_, index): [string, object] => [
      `S${index}`,
      {
        type: 'object',
        description,
        properties: { id: { type: 'integer' }, next: refer(index + 1), prev: refer(index - 1) },
      },
    ]);
    const paths = Array.from({ length: 400 }, (_, index): [string, object] => [
      `/r${index}`,
      {
        get: { responses: { 200: { content: { 'application/json': { schema: refer(index) } } } } },
      },
    ]);
    const { manifest, unmapped } = convertDocument(
      parseOpenApi({
        openapi: '3.0.3',
        paths: Object.fromEntries(paths),
        components: { schemas: Object.fromEntries(schemas) },
      }),
      'shop',
    );
    const [route] = manifest.http_routes;
    expect(route?.operation?.output_schema).to.deep.equal({ $ref: 'manifest:schemas/S0' });
    expect(manifest.schemas?.['S0']).to.deep.equal({
      type: 'object',
      description,
      properties: { id: { type: 'integer' }, next: {}, prev: {} },
    });
    expect(unmapped.map(({ part }) => part)).to.include('references');
  });

  it('keeps alternatives valid for what they accepted before', () => {
    const refer = (name: string) => ({ $ref: `#/components/schemas/${name}` });
    const large = (name: string, other: string) => ({
      description: 'x'.repeat(30_000),
      properties: { kind: { const: name }, other: refer(other) },
    });
    const schema = { oneOf: [refer('A'), refer('B')], not: refer('A') };
    const { manifest } = convertDocument(
      parseOpenApi({
        openapi: '3.1.0',
        paths: { '/a': { post: { requestBody: { content: { 'application/json': { schema } } } } } },
        components: { schemas: { A: large('A', 'B'), B: large('B', 'C'), C: large('C', 'A') } },
      }),
      'shop',
    );
    const input = manifest.http_routes[0]?.operation?.input_schema;
    expect(input).to.have.all.keys('anyOf');
    expect(manifest.schemas?.['A']).to.have.nested.property('properties.kind.const', 'A');
  });
});
