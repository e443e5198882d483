import { expect } from 'chai';
import { convert, jsonBody, jsonResponse, OK } from '../../support/cli/convert-operation.js';

const query = (...parameters: object[]) =>
  parameters.map((parameter) => ({ in: 'query', ...parameter }));

/** The routes of a document, and the operations that share one. */
function convertAll(paths: object) {
  const { manifest, unmapped } = convert({ paths });
  const shared = unmapped.filter(({ part }) => part === 'its own route');
  return {
    routes: manifest.http_routes,
    lines: shared.map(({ place, reason }) => `${place}: ${reason}`),
  };
}

describe('imported operations whose paths have the same shape', () => {
  it('become one route that accepts what any of them accepts', () => {
    const { routes, lines } = convertAll({
      '/a/{x}': {
        post: {
          operationId: 'first',
          deprecated: true,
          parameters: query(
            { name: 'both', required: true, schema: { type: 'integer' } },
            { name: 'other', required: true, schema: { type: 'integer' } },
            { name: 'one', required: true, schema: { type: 'integer' } },
          ),
          ...jsonBody({ type: 'string' }, { required: true }),
          ...jsonResponse({ type: 'integer' }),
        },
      },
      '/a/{y}': {
        post: {
          parameters: [
            { in: 'path', name: 'y', example: 'a/b' },
            ...query(
              { name: 'both', required: true, schema: { type: 'integer' } },
              { name: 'other', required: true, schema: { type: 'boolean' } },
            ),
          ],
          ...jsonBody({ type: 'integer' }),
          ...jsonResponse({ type: 'boolean' }),
        },
      },
    });
    expect(lines).to.deep.equal([
      'POST /a/{y}: it shares that of POST /a/{x}, which accepts what any of them accepts',
    ]);
    expect(routes).to.have.length(1);
    expect(routes[0]).to.include({ method: 'POST', path: '/a/{x}' });
    expect(routes[0]).not.to.have.property('deprecated');
    expect(routes[0]?.operation).to.deep.equal({
      operation_id: 'first',
      body: 'optional',
      encoded: ['x'],
      query_schema: {
        type: 'object',
        properties: { both: { type: 'integer' }, other: {}, one: { type: 'integer' } },
        required: ['both', 'other'],
      },
      input_schema: { anyOf: [{ type: 'string' }, { type: 'integer' }] },
      output_schema: { anyOf: [{ type: 'integer' }, { type: 'boolean' }] },
    });
  });

  it('share a route if their paths differ only in a query or a fragment', () => {
    const { routes, lines } = convertAll({
      '/a': { get: { responses: OK } },
      '/a?beta=true': { get: { responses: OK } },
      '/a#add': { get: { responses: OK }, put: { responses: OK } },
      '/a{?page,size}': { get: { responses: OK } },
    });
    expect(routes.map(({ method, path }) => `${method} ${path}`)).to.deep.equal([
      'GET /a',
      'PUT /a',
    ]);
    expect(lines.map((line) => line.split(':')[0])).to.deep.equal([
      'GET /a?beta=true',
      'GET /a#add',
      'GET /a{?page,size}',
    ]);
  });

  it('have one flat list of alternatives, however many there are', () => {
    const all = Array.from({ length: 200 }, (_, n) => {
      return [`/#${n}`, { post: jsonBody({ type: 'object', required: [`m${n}`] }) }] as const;
    });
    const { routes } = convertAll(Object.fromEntries(all));
    const { anyOf } = routes[0]?.operation?.input_schema ?? {};
    expect(anyOf).to.have.length(200);
    expect(routes).to.have.length(1);
  });

  it('carry bytes where one of them does', () => {
    const bytes = { content: { 'image/png': {} } };
    const { routes } = convertAll({
      '/{a}': { put: { requestBody: bytes, responses: { 200: bytes } } },
      '/{b}': { put: { ...jsonBody({ type: 'string' }), ...jsonResponse({ type: 'string' }) } },
      '/x/{a}': { put: { requestBody: bytes, responses: { 200: bytes } } },
      '/x/{b}': {
        put: { requestBody: { content: { 'image/gif': {} } }, responses: { 200: bytes } },
      },
    });
    expect(routes.map(({ operation }) => operation)).to.deep.equal([
      { body: 'bytes', response: 'bytes' },
      {
        body: 'bytes',
        body_types: ['image/png', 'image/gif'],
        response: 'bytes',
        response_types: ['image/png'],
      },
    ]);
  });

  it('carry the other types of each beside JSON', () => {
    const body = (type: string) => {
      const content = { 'application/json': {}, [type]: {} };
      return { requestBody: { required: true, content }, responses: { 200: { content } } };
    };
    const { routes } = convertAll({
      '/{a}': { post: body('text/csv') },
      '/{b}': { post: body('image/png') },
    });
    expect(routes.map(({ operation }) => operation)).to.deep.equal([
      {
        body_types: ['text/csv', 'image/png'],
        response_types: ['text/csv', 'image/png'],
      },
    ]);
  });

  it('stream where one of them does, beside the JSON of another', () => {
    const events = { 200: { content: { 'text/event-stream': {} } } };
    const { routes } = convertAll({
      '/{a}': { get: jsonResponse({ type: 'string' }) },
      '/{b}': { get: { responses: events } },
    });
    expect(routes.map(({ operation }) => operation)).to.deep.equal([
      { stream: 'sse', stream_optional: true, output_schema: { type: 'string' } },
    ]);
  });

  it('accept any value where one of them has no schema', () => {
    const { routes } = convertAll({
      '/{a}': { put: { ...jsonBody({ type: 'string' }), ...jsonResponse({ type: 'string' }) } },
      '/{b}': { put: { ...jsonBody({}), ...jsonResponse({}) } },
      '/{c}': { put: { responses: OK } },
    });
    expect(routes.map(({ operation }) => operation)).to.deep.equal([
      { body: 'optional', response_types: ['text/*'] },
    ]);
  });

  it('have the unchecked parameters of both, without names that one of them checks', () => {
    const deep = (name: string, required = false) => ({ name, style: 'deepObject', required });
    const { routes } = convertAll({
      '/a/{x}': { get: { parameters: query(deep('both', true), deep('one', true), deep('text')) } },
      '/a/{y}': {
        get: {
          parameters: query(deep('both', true), { name: 'text', schema: { type: 'string' } }),
        },
      },
    });
    const { parameters = [] } = routes[0]?.operation ?? {};
    const shown = parameters.map(({ name, required }) => `${name} ${required}`);
    expect(shown.toSorted()).to.deep.equal(['both true', 'one undefined']);
  });
});
