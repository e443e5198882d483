import { expect } from 'chai';
import { InvalidFile } from '../../core/document/diagnostic.js';
import { isListedType } from '../../core/lib/media-type.js';
import { parseManifest } from '../../core/manifest/parse-manifest.js';

function parse(operation: object, method = 'POST', kind: string | null = null) {
  const route = { method, path: '/files', capability: 'files.use', operation };
  const manifest = {
    protocol: 'modgate.manifest.v1',
    module_id: 'files',
    capabilities: ['files.use'],
    http_routes: [route],
  };
  const source = { file: 'manifest.yaml', locate: () => null };
  return parseManifest(manifest, source, {
    adapterLimits: kind === null ? null : { kind, streams: false, upgrades: false, tools: false },
  });
}

function rulesOf(...args: Parameters<typeof parse>): string[] {
  try {
    parse(...args);
    return [];
  } catch (error) {
    if (!(error instanceof InvalidFile)) throw error;
    return error.diagnostics.map(({ rule }) => rule);
  }
}

describe('routes of bytes', () => {
  it('may list media types and bounds', () => {
    const operation = {
      body: 'bytes',
      body_types: ['image/png', 'image/*', '*/*'],
      body_max_bytes: 1,
      response: 'bytes',
      response_types: ['application/vnd.x+json'],
      response_max_bytes: 1,
    };
    expect(rulesOf(operation)).to.deep.equal([]);
  });

  it('have no schema in their direction, and the other options only there', () => {
    expect(rulesOf({ body: 'bytes', input_schema: {} })).to.deep.equal(['bytes-and-json']);
    expect(rulesOf({ response: 'bytes', output_schema: {} })).to.deep.equal(['bytes-and-json']);
    expect(rulesOf({ body: 'bytes', output_schema: {} })).to.deep.equal([]);
    expect(rulesOf({ body: 'bytes', response_max_bytes: 1 })).to.deep.equal(['bytes-and-json']);
  });

  it('may list media types beside a body of JSON, none of which is JSON', () => {
    const types = ['image/*', 'text/json', 'application/x-ndjson'];
    const operation = { body_types: types, body_max_bytes: 1, input_schema: {} };
    expect(rulesOf(operation)).to.deep.equal([]);
    expect(rulesOf({ ...operation, body: 'optional' }, 'DELETE')).to.deep.equal([]);
    expect(rulesOf(operation, 'POST', 'nats')).to.deep.equal(['bytes-unsupported']);
    for (const type of ['*/*', 'application/*', 'Application/JSON', 'application/vnd.x+json']) {
      expect(rulesOf({ body_types: ['image/png', type] })).to.deep.equal(['bytes-and-json']);
    }
  });

  it('may list media types beside a response of JSON, none of which is JSON', () => {
    const types = ['text/csv', 'image/*'];
    const operation = { response_types: types, response_max_bytes: 1, output_schema: {} };
    for (const method of ['GET', 'POST']) {
      expect(rulesOf(operation, method)).to.deep.equal([]);
      expect(rulesOf(operation, method, 'nats')).to.deep.equal(['bytes-unsupported']);
    }
    for (const type of ['*/*', 'application/*', 'application/vnd.x+json']) {
      expect(rulesOf({ response_types: [type] })).to.deep.equal(['bytes-and-json']);
    }
    for (const stream of ['sse', 'websocket']) {
      const rules = rulesOf({ stream, response_types: types }, 'GET');
      expect(rules).to.deep.equal(['bytes-and-json']);
    }
    expect(rulesOf({ response_max_bytes: 1 })).to.deep.equal(['bytes-and-json']);
  });

  it('list no media types without a body, or beside that of a GET', () => {
    const body_types = ['image/png'];
    for (const [operation, method] of [
      [{ body: 'none' }, 'POST'],
      [{}, 'DELETE'],
      [{ body: 'optional' }, 'GET'],
      [{ stream: 'websocket' }, 'GET'],
    ] as const) {
      expect(rulesOf({ ...operation, body_types }, method)).to.deep.equal(['bytes-and-json']);
    }
    expect(rulesOf({ body_max_bytes: 1 })).to.deep.equal(['bytes-and-json']);
  });

  it('cannot be a GET with a body', () => {
    expect(rulesOf({ body: 'bytes' }, 'GET')).to.deep.equal(['body-of-get']);
    expect(rulesOf({ response: 'bytes' }, 'GET')).to.deep.equal([]);
  });

  it('are rejected for a kind that cannot stream', () => {
    expect(rulesOf({ body: 'bytes' }, 'POST', 'nats')).to.deep.equal(['bytes-unsupported']);
    expect(rulesOf({ response: 'bytes' }, 'GET', 'nats')).to.deep.equal(['bytes-unsupported']);
    expect(rulesOf({ body: 'optional' }, 'POST', 'nats')).to.deep.equal([]);
  });

  for (const type of ['image', 'image/', '*/png', 'image/png; q=1', 'image/png,text/html', '']) {
    it(`cannot list ${JSON.stringify(type)}`, () => {
      expect(rulesOf({ body: 'bytes', body_types: [type] })).to.have.length(1);
    });
  }
});

describe('isListedType', () => {
  for (const [type, ranges, isListed] of [
    ['image/png', null, true],
    [undefined, null, true],
    [undefined, ['image/*', '*/*'], true],
    [undefined, ['image/*'], false],
    ['IMAGE/PNG; charset=x', ['image/png'], true],
    ['image/png', ['Image/*'], true],
    ['image/png', ['image/pn'], false],
    ['imagex/png', ['image/*'], false],
    ['image/*', ['image/*'], true],
    ['image/png, text/html', ['image/*'], false],
    ['multipart/form-data; boundary=x', ['multipart/form-data'], true],
  ] as const) {
    it(`${isListed ? 'finds' : 'does not find'} ${type} in ${ranges}`, () => {
      expect(isListedType(type, ranges)).to.equal(isListed);
    });
  }
});
