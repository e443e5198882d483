import { expect } from 'chai';
import { convertDocument } from '../../../core/cli/import/convert-document.js';
import { parseOpenApi } from '../../../core/cli/import/parse-openapi.js';

const BASE = {
  type: 'object',
  properties: {
    id: { type: 'integer', readOnly: true },
    password: { type: 'string', writeOnly: true },
  },
};

/** The input and output schema of an operation whose bodies are of the schema `Item`. */
function convertItem(item: object) {
  const content = { 'application/json': { schema: { $ref: '#/components/schemas/Item' } } };
  const document = {
    openapi: '3.1.0',
    info: { title: 'Shop', version: '1' },
    components: { schemas: { Base: BASE, Item: item } },
    paths: {
      '/items': { post: { requestBody: { content }, responses: { 201: { content } } } },
    },
  };
  const { manifest } = convertDocument(parseOpenApi(document), 'shop');
  const { input_schema: input, output_schema: output } = manifest.http_routes[0]?.operation ?? {};
  const find = (schema: { $ref?: unknown } | undefined) =>
    manifest.schemas?.[String(schema?.$ref).replace('manifest:schemas/', '')];
  return { input: find(input), output: find(output) };
}

const NAMES = ['id', 'password', 'name'];
const REFERENCE = { $ref: '#/components/schemas/Base' };
const CONVERTED = { $ref: 'manifest:schemas/Base' };

describe('an imported schema of several parts', () => {
  it('does not require read-only members of another part of requests', () => {
    const { input, output } = convertItem({ allOf: [REFERENCE, { required: NAMES }] });
    expect(input).to.deep.equal({ allOf: [CONVERTED, { required: ['password', 'name'] }] });
    expect(output).to.deep.equal({ allOf: [CONVERTED, { required: ['id', 'name'] }] });
  });

  it('does not require read-only members of its parts of requests', () => {
    for (const parts of [{ allOf: [{ allOf: [REFERENCE] }] }, REFERENCE]) {
      const { input, output } = convertItem({ ...parts, required: NAMES });
      expect(input).to.have.deep.property('required', ['password', 'name']);
      expect(output).to.have.deep.property('required', ['id', 'name']);
    }
  });

  it('requires members of the same name of another object', () => {
    const of = { type: 'object', required: NAMES };
    const { input } = convertItem({ allOf: [REFERENCE, { properties: { of } }] });
    expect(input).to.deep.equal({ allOf: [CONVERTED, { properties: { of } }] });
  });

  it('keeps alternatives apart that differ in what they require', () => {
    const oneOf = [{ required: ['id'] }, { required: ['name'] }];
    expect(convertItem({ allOf: [REFERENCE], oneOf }).input).to.deep.equal({
      allOf: [CONVERTED],
      oneOf,
    });
  });

  it('has one shared schema for both directions where they are the same', () => {
    const { input, output } = convertItem({ properties: { base: REFERENCE } });
    expect(input).to.equal(output);
  });

  it('accepts any value where it refers to itself alone', () => {
    const { input } = convertItem({
      allOf: [REFERENCE, { $ref: '#/components/schemas/Item' }],
      required: NAMES,
    });
    expect(input).to.deep.equal({ allOf: [CONVERTED, {}], required: ['password', 'name'] });
  });
});
