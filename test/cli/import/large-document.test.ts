import { expect } from 'chai';
import { convertDocument } from '../../../core/cli/import/convert-document.js';
import { parseOpenApi } from '../../../core/cli/import/parse-openapi.js';
import { isOperation } from '../../../core/cli/import/unmapped.js';
import { parseText } from '../../../core/manifest/parse-text.js';

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

  const SEGMENT = 'a'.repeat(930);
  const describeLong = (count: number) => {
    const refer = (index: number) => ({ $ref: `#/components/schemas/S${index % 100}` });
    const schemas = Array.from({ length: 100 }, (_, index): [string, object] => [
      `S${index}`,
      { type: 'object', properties: { [`p${index}`]: { type: 'integer' } } },
    ]);
    const paths = Array.from({ length: count }, (_, index): [string, object] => {
      const content = { 'application/json': { schema: refer(index) } };
      return [`/things/${SEGMENT}/${index}`, { get: { responses: { 200: { content } } } }];
    });
    return parseOpenApi({
      openapi: '3.1.0',
      paths: Object.fromEntries(paths),
      components: { schemas: Object.fromEntries(schemas) },
    });
  };
  const check = (manifest: object) => {
    const text = JSON.stringify(manifest);
    const options = { format: 'json', hasPlaces: false, checksExamples: true, kinds: [] } as const;
    return () => parseText({ file: 'manifest.json', text, adapterLimits: null, ...options });
  };

  it('loses the schemas of its operations before it loses an operation', () => {
    const count = 4000;
    const { manifest, unmapped } = convertDocument(describeLong(count), 'shop');
    expect(manifest.http_routes).to.have.length(count);
    expect(manifest).not.to.have.property('schemas');
    expect(unmapped.map(({ part }) => part)).to.include('schemas of operations');
    expect(check(manifest)).not.to.throw();
  });

  it('loses operations where their paths alone are too long, and names each', () => {
    const count = 4500;
    const { manifest, unmapped } = convertDocument(describeLong(count), 'shop');
    const lost = unmapped.filter(isOperation);
    expect(lost).not.to.have.length(0);
    expect(lost[0]?.reason).to.equal('the manifest would be longer than 4 MiB');
    expect(manifest.http_routes.length + lost.length).to.equal(count);
    expect(check(manifest)).not.to.throw();
  });
});
