import { expect } from 'chai';
import { convertOne } from '../../support/cli/convert-operation.js';

describe('an imported path parameter', () => {
  it('has its type and its text, by its name in the route', () => {
    const parameters = [
      {
        in: 'path',
        name: 'item.id',
        description: 'Its id',
        schema: { type: 'integer', minimum: 1 },
      },
      { in: 'path', name: 'plain', schema: { type: 'string' } },
      { in: 'path', name: 'kind', schema: { type: 'string', enum: ['a', 'b'] } },
      { in: 'path', name: 'other', schema: { type: 'integer' } },
    ];
    const { route, listed } = convertOne({ parameters }, 'get', '/{item.id}/{plain}/{kind}');
    expect(route?.operation?.path_params_schema).to.deep.equal({
      type: 'object',
      properties: {
        item_id: { type: 'integer', minimum: 1, description: 'Its id' },
        kind: { type: 'string', enum: ['a', 'b'] },
      },
    });
    expect(listed).to.have.length(1);
  });

  it('is not checked where its value is another text, with a line', () => {
    const cases: readonly object[] = [
      { schema: { type: 'array', items: { type: 'integer' } } },
      { schema: { type: 'integer' }, style: 'matrix' },
      { schema: { type: 'string', enum: ['a/b'] } },
      { schema: { anyOf: [{ type: 'integer' }, { type: 'string' }] } },
    ];
    for (const parameter of cases) {
      const { route, listed } = convertOne(
        { parameters: [{ in: 'path', name: 'id', ...parameter }] },
        'get',
        '/{id}',
      );
      expect(route?.operation?.path_params_schema).to.equal(undefined);
      expect(listed.at(-1)).to.include(
        'schema of the path parameter id: the host does not check it',
      );
    }
  });
});
