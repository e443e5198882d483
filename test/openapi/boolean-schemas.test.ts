import { expect } from 'chai';
import { call } from '../support/http/call.js';
import { describeModule } from '../support/http/modules.js';
import { useHost } from '../support/http/use-host.js';
import {
  byReadme,
  byRedocly,
  bySeriousme,
  expectValidDocument,
} from '../support/openapi/validate-document.js';

// biome-ignore lint/suspicious/noExplicitAny: a document of unknown shape
type Document = any;

const NEVER = { not: {} };

describe('GET /openapi.json with schemas that are true or false', () => {
  const setup = useHost(({ url }) => ({
    'open.json': describeModule('open', url, [
      {
        method: 'POST',
        path: '/any',
        operation: {
          input_schema: true,
          output_schema: false,
          query_schema: {
            type: 'object',
            properties: { any: true, none: false, other: { $ref: '#/$defs/other' } },
            $defs: { other: true },
          },
        },
      },
    ]),
  }));

  it('has schemas that public validators accept', async () => {
    const response = await call(setup.host, { target: '/openapi.json' });
    const text = response.body.toString();
    await expectValidDocument(text, [bySeriousme, byReadme, byRedocly]);
    const { paths, components }: Document = JSON.parse(text);
    const { parameters, requestBody, responses } = paths['/modules/open/http/any'].post;
    const schemaOf = ({ content }: Document) => content['application/json'].schema;
    expect(schemaOf(requestBody)).to.deep.equal({});
    expect(schemaOf(responses[200]).properties.data).to.deep.equal(NEVER);
    expect(parameters).to.deep.equal([
      { name: 'any', in: 'query', schema: {} },
      { name: 'none', in: 'query', schema: NEVER },
      {
        name: 'other',
        in: 'query',
        schema: { $ref: '#/components/schemas/open.post_any.query.other' },
      },
    ]);
    expect(components.schemas['open.post_any.query.other']).to.deep.equal({});
  });
});
