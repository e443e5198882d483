import { expect } from 'chai';
import { convertDocument } from '../../../core/cli/import/convert-document.js';
import { parseOpenApi } from '../../../core/cli/import/openapi-document.js';

describe('a large OpenAPI document', () => {
  it('is rejected before its definitions, repeated for each route, fill the memory', () => {
    const refer = (index: number) => ({ $ref: `#/components/schemas/S${(index + 500) % 500}` });
    const schemas = Array.from({ length: 500 }, (_, index): [string, object] => [
      `S${index}`,
      { type: 'object', properties: { next: refer(index + 1), prev: refer(index - 1) } },
    ]);
    const paths = Array.from({ length: 400 }, (_, index): [string, object] => [
      `/r${index}`,
      {
        get: { responses: { 200: { content: { 'application/json': { schema: refer(index) } } } } },
      },
    ]);
    expect(() =>
      convertDocument(
        parseOpenApi({
          openapi: '3.0.3',
          paths: Object.fromEntries(paths),
          components: { schemas: Object.fromEntries(schemas) },
        }),
        'shop',
      ),
    ).to.throw(
      'the manifest would hold more than 1000000 values, because each route has its own copy of the schemas it uses: remove operations from the document, or import it in parts, as several modules',
    );
  });
});
