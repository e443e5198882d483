import { expect } from 'chai';
import { convert, convertOne, jsonBody } from '../../support/cli/convert-operation.js';

describe('bodies of an imported OpenAPI document', () => {
  it('says what kind of body a route has', () => {
    const rules = [
      convertOne(jsonBody({}, { required: true }), 'post'),
      convertOne(jsonBody({}), 'post'),
      convertOne({}, 'post'),
      convertOne(jsonBody({}, { required: true }), 'delete'),
      convertOne(jsonBody({}, { required: true }), 'get'),
      convertOne(jsonBody({}), 'get'),
      convertOne({}, 'get'),
    ].map(({ route }) => route?.operation?.body);
    expect(rules).to.deep.equal([
      ...[undefined, 'optional', 'none', 'required'],
      ...['optional', 'optional', undefined],
    ]);
  });

  it('carries other media types as bytes', () => {
    const upload = convertOne(
      {
        requestBody: { content: { 'multipart/form-data': {}, 'image/png; a=b': {} } },
        responses: { 200: { content: { 'image/*': {} } } },
      },
      'post',
    );
    expect(upload.route?.operation).to.deep.equal({
      body: 'bytes',
      body_types: ['multipart/form-data', 'image/png'],
      response: 'bytes',
      response_types: ['image/*'],
    });
    expect(upload.listed).to.deep.equal([]);
    for (const type of ['*/*', 'x']) {
      const schema = { type: 'string', format: 'binary' };
      const { route } = convertOne({ responses: { 200: { content: { [type]: { schema } } } } });
      expect(route?.operation, type).to.deep.equal({ response: 'bytes' });
    }
  });

  it('carries a file of any media type where its document names that of JSON', () => {
    const types = ['text/plain', 'application/json', 'text/json'];
    const schema = { $ref: '#/components/schemas/File' };
    const content = Object.fromEntries(types.map((type) => [type, { schema }]));
    const operation = { requestBody: { content }, responses: { 200: { content } } };
    const { manifest, unmapped } = convert({
      paths: { '/items': { post: operation } },
      components: { schemas: { File: { type: 'string', format: 'binary' } } },
    });
    expect(manifest.http_routes[0]?.operation).to.deep.equal({ body: 'bytes', response: 'bytes' });
    expect(unmapped).to.deep.equal([]);
  });

  it('carries a text of any media type beside JSON', () => {
    const content = { '*/*': { schema: { type: 'string', maxLength: 3 } } };
    const { route, listed } = convertOne(
      { requestBody: { content, required: true }, responses: { 200: { content } } },
      'post',
    );
    expect(route?.operation).to.deep.equal({
      body_types: ['text/*'],
      response_types: ['text/*'],
      input_schema: { type: 'string', maxLength: 3 },
      output_schema: { type: 'string', maxLength: 3 },
    });
    expect(listed).to.deep.equal([]);
    const json = { '*/*': { schema: { type: 'object' } } };
    expect(convertOne({ responses: { 200: { content: json } } }).route?.operation).to.deep.equal({
      output_schema: { type: 'object' },
    });
    const any = convertOne({ responses: { 200: { content: { '*/*': {} } } } });
    expect(any.route?.operation).to.deep.equal({ response_types: ['text/*'] });
  });

  it('carries other media types of a request beside JSON', () => {
    const send = (types: readonly string[], method: string) => {
      const content = Object.fromEntries(types.map((type) => [type, {}]));
      const { route, listed } = convertOne({ requestBody: { content } }, method);
      return { types: route?.operation?.body_types, listed };
    };
    const forms = ['application/json', 'multipart/form-data; a=b', 'Image/*', 'x'];
    expect(send(forms, 'post')).to.deep.equal({
      types: ['multipart/form-data', 'image/*'],
      listed: ['POST /items: request as x: it cannot stand beside JSON'],
    });
    expect(send(['application/json', 'text/csv'], 'get')).to.deep.equal({
      types: undefined,
      listed: ['GET /items: request as text/csv: that of a GET can only be JSON'],
    });
  });

  it('carries other media types of a response beside JSON', () => {
    const types = ['application/json', 'text/csv; charset=utf-8', 'x'];
    const content = Object.fromEntries(types.map((type) => [type, {}]));
    const { route, listed } = convertOne({ responses: { 200: { content } } });
    expect(route?.operation).to.deep.equal({ response_types: ['text/csv'] });
    expect(listed).to.deep.equal(['GET /items: response as x: it cannot stand beside JSON']);
  });

  it('streams events where a response has no JSON', () => {
    const answer = (...types: string[]) =>
      convertOne({
        responses: { 200: { content: Object.fromEntries(types.map((type) => [type, {}])) } },
      });
    for (const [types, operation] of [
      [['text/event-stream; charset=utf-8'], { stream: 'sse' }],
      [['application/x-ndjson', 'application/jsonl'], { stream: 'ndjson' }],
      [
        ['application/x-jsonlines', 'application/x-ndjson'],
        { stream: 'ndjson', stream_types: ['application/x-jsonlines', 'application/x-ndjson'] },
      ],
    ] as const) {
      expect(answer(...types).route?.operation).to.deep.equal(operation);
      expect(answer(...types).listed).to.deep.equal([]);
    }
    const mixed = answer('text/event-stream', 'text/plain');
    expect(mixed.route?.operation).to.deep.equal({
      ...{ response: 'bytes', response_types: ['text/event-stream', 'text/plain'] },
    });
    expect(mixed.listed).to.have.length(1);
    expect(mixed.listed[0]).to.include('response as text/event-stream: it is carried as bytes');
    const sequence = answer('application/x-ndjson', 'application/json-seq');
    expect(sequence.route?.operation).to.deep.equal({ stream: 'ndjson' });
    expect(sequence.listed.join()).to.include('response as application/json-seq: a route carries');
    const chat = answer('application/json', 'text/event-stream', 'text/plain');
    expect(chat.route?.operation).to.deep.equal({ stream: 'sse', stream_optional: true });
    expect(chat.listed).to.have.length(1);
    expect(chat.listed.join()).to.include('response as text/plain');
  });
});
