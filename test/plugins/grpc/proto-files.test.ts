import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { create, fromJson, toBinary } from '@bufbuild/protobuf';
import { FeatureSet_FieldPresence as Presence } from '@bufbuild/protobuf/wkt';
import { expect } from 'chai';
import { readDescriptorSet } from '../../../plugins/grpc/schema.js';
import { createWorkplace, type Workplace } from '../../support/cli/run-in.js';
import { LIBRARY_SET } from './library-server.js';

const SET = fileURLToPath(LIBRARY_SET);
const LIBRARY = readFileSync(SET.replace('.binpb', '.proto'), 'utf8');
const HTTP_BODY = `syntax = "proto3";
package google.api;
import "google/protobuf/any.proto";
message HttpBody {
  string content_type = 1;
  bytes data = 2;
  repeated google.protobuf.Any extensions = 3;
}`;
/** Each form of presence, packing and enum. */
const OLD = `syntax = "proto2";
package old;
import public "shared/kind.proto";
message Request {
  required int32 a = 1;
  optional string b = 2 [default = "x"];
  repeated int32 expanded = 3;
  repeated int32 packed = 4 [packed = true];
  optional group Inner = 5 { optional int32 c = 1; }
  map<int32, shared.Kind> by_kind = 6;
  enum Own { FIRST = 1; }
  optional Own own = 7;
  extensions 100 to 200;
}
extend Request { optional int32 extra = 100; }
service Old { rpc Call(Request) returns (.old.Request); }`;
const KIND = `edition = "2023";
package shared;
enum Kind { NONE = 0; SOME = 1; }
message Value {
  int32 implicit = 1 [features.field_presence = IMPLICIT];
  int32 explicit = 2;
}`;

/** Messages in messages, whose names together are longer than that of a shared schema may be. */
const DEEP = `syntax = "proto3";
package deep;
import "google/api/annotations.proto";
message ${'Outer'.repeat(12)} {
  message ${'Inner'.repeat(14)} { Level level = 1; }
  ${'Inner'.repeat(14)} inner = 1;
}
message Remove { string name = 1; ${'Outer'.repeat(12)} outer = 2; }
enum Level { LOW = 0; HIGH = 1; }
service Deep {
  rpc Call(${'Outer'.repeat(12)}) returns (${'Outer'.repeat(12)});
  rpc Delete(Remove) returns (Remove) {
    option (google.api.http) = {
      delete: "/v1/{name}"
      body: "outer"
      additional_bindings { get: "/v1/all" body: "*" }
    };
  }
}`;

/** Paths that no route can have, and one that two methods have. */
const PATHS = `syntax = "proto3";
package paths;
import "google/api/annotations.proto";
message Named { string name = 1; repeated string tags = 2; }
service Paths {
  rpc Verb(Named) returns (Named) { option (google.api.http) = { post: "/v1/{name=**}:do" }; }
  rpc Fixed(Named) returns (Named) { option (google.api.http) = { get: "/v1/{name=b}" }; }
  rpc Get(Named) returns (Named) { option (google.api.http) = { get: "/v1/{name=a/*}" }; }
  rpc Again(Named) returns (Named) { option (google.api.http) = { get: "/v1/{name=a/*}" }; }
  rpc Several(Named) returns (Named) { option (google.api.http) = { get: "/v1/tags/{tags}" }; }
  rpc Unknown(Named) returns (Named) { option (google.api.http) = { get: "/v1/ids/{id}" }; }
}`;

describe('modgate import grpc of .proto files', () => {
  let place: Workplace;

  beforeEach(() => {
    place = createWorkplace();
    place.write('protos/library.proto', LIBRARY);
    place.write('protos/google/api/httpbody.proto', HTTP_BODY);
  });

  const read = (name: string) => readFileSync(join(place.folder, 'modules.d', name));

  const importFiles = (sources: readonly string[], ...others: string[]) =>
    place.run([
      ...['import', 'grpc', ...sources, '--module', 'library'],
      ...['--endpoint', 'grpc://127.0.0.1:50051', ...others],
    ]);

  const importLibrary = (...others: string[]) => importFiles(['protos/library.proto'], ...others);

  it('makes the manifest that protoc and its set make', async () => {
    const { code, stderr } = await importLibrary();
    expect({ code, stderr }).to.deep.equal({ code: 0, stderr: '' });
    await importFiles([SET], '--out', 'other');
    const other = readFileSync(join(place.folder, 'other/library/manifest.json'), 'utf8');
    expect(read('library/manifest.json').toString()).to.equal(other);
    expect(read('library.yaml').toString()).to.include('./library/descriptors.binpb');
    const checked = await place.run(['check', '--json']);
    expect(JSON.parse(checked.stdout).findings).to.deep.equal([]);
  });

  it('writes a set whose messages have the bytes of that of protoc', async () => {
    await importLibrary();
    const json = {
      aSint64: '-1',
      someBytes: 'AAEC',
      genre: 'POETRY',
      longs: ['1', '2'],
      children: [{ aBool: true }],
      byName: { a: '1' },
      byNumber: { '7': { aFixed64: '5' } },
      number: '5',
      maybe: 0,
      at: '2026-01-31T12:00:00.500Z',
      wrappedLong: '7',
      otherName: 'x',
    };
    const [own, theirs] = [read('library/descriptors.binpb'), readFileSync(SET)].map((bytes) => {
      const message = readDescriptorSet(bytes).registry.getMessage('library.v1.Everything');
      if (message === undefined) throw new Error('the message is not described');
      return toBinary(message, fromJson(message, json));
    });
    expect(own).to.deep.equal(theirs);
  });

  it('reports what changed, and writes it only with --write', async () => {
    await importLibrary();
    expect((await importLibrary('--check')).code).to.equal(0);
    const before = read('library/descriptors.binpb');
    const less = LIBRARY.replace(
      '  rpc Pages(GetBookRequest) returns (stream google.api.HttpBody);',
      '',
    );
    place.write('protos/library.proto', less.replace('page_token = 3', 'page_token = 33'));
    const { code, stdout } = await importLibrary('--check');
    expect(code, stdout).to.equal(1);
    expect(stdout).to.include('/library.v1.Library/Pages').and.include('descriptors.binpb');
    expect(read('library/descriptors.binpb').equals(before)).to.equal(true);
    await importLibrary('--write');
    expect(read('library/descriptors.binpb').equals(before)).to.equal(false);
    expect((await importLibrary('--check')).code).to.equal(0);
  });

  it('reads proto2 and editions, with imports in other folders', async () => {
    place.write('old/old.proto', OLD);
    place.write('vendor/shared/kind.proto', KIND);
    place.write(
      'old/more.proto',
      'syntax = "proto3"; import "old/old.proto";\nmessage M { old.Request r = 1; }',
    );
    const sources = ['old/old.proto', 'old/more.proto'];
    const { code, stderr } = await importFiles(sources, '--proto-path', 'vendor:.');
    expect({ code, stderr }).to.deep.equal({ code: 0, stderr: '' });
    const { registry } = readDescriptorSet(read('library/descriptors.binpb'));
    const request = registry.getMessage('old.Request');
    const value = registry.getMessage('shared.Value');
    if (request === undefined || value === undefined) throw new Error('a message is missing');
    const json = { a: 0, expanded: [1, 2], packed: [1, 2], inner: { c: 1 }, byKind: { 1: 'SOME' } };
    expect(Buffer.from(toBinary(request, fromJson(request, json))).toString('hex')).to.equal(
      '080018011802220201022b08012c320408011001',
    );
    const presences = [...request.fields.slice(0, 2), ...value.fields].map(
      (field) => field.presence,
    );
    expect(presences).to.deep.equal([
      Presence.LEGACY_REQUIRED,
      Presence.EXPLICIT,
      Presence.IMPLICIT,
      Presence.EXPLICIT,
    ]);
    expect(registry.getEnum('old.Request.Own')?.open).to.equal(false);
    expect(registry.getEnum('shared.Kind')?.open).to.equal(true);
    expect(toBinary(value, create(value))).to.have.length(0);
  });

  it('reads imports that are relative to their file, as libraries of Node.js do', async () => {
    const header = 'syntax = "proto3";\npackage relative;\n';
    const service = 'service Calls { rpc Call(Request) returns (Request); }';
    const request = 'message Request { Value value = 1; }';
    place.write(
      'protos/calls/calls.proto',
      `${header}import "../types/request.proto";\n${service}`,
    );
    place.write('protos/types/request.proto', `${header}import "./value.proto";\n${request}`);
    place.write('protos/types/value.proto', `${header}message Value { string text = 1; }`);
    const { code, stderr } = await importFiles(['protos/calls/calls.proto']);
    expect({ code, stderr }).to.deep.equal({ code: 0, stderr: '' });
    const { registry } = readDescriptorSet(read('library/descriptors.binpb'));
    expect(registry.getMessage('relative.Value')?.file.name).to.equal('types/value');
    expect(registry.getMessage('relative.Request')?.file.name).to.equal('types/request');
  });

  it('keeps files of one name in different folders apart', async () => {
    const write = (name: string) => {
      const header = `syntax = "proto3";\npackage ${name};\n`;
      place.write(`same/${name}/types.proto`, `${header}message Request { int32 n = 1; }`);
      const service = 'service Calls { rpc Call(Request) returns (Request); }';
      place.write(`same/${name}/calls.proto`, `${header}import "./types.proto";\n${service}`);
    };
    write('one');
    write('two');
    const sources = ['same/one/calls.proto', 'same/two/calls.proto'];
    const { code, stderr } = await importFiles(sources);
    expect({ code, stderr }).to.deep.equal({ code: 0, stderr: '' });
    const { registry } = readDescriptorSet(read('library/descriptors.binpb'));
    for (const name of ['one', 'two']) {
      expect(registry.getService(`${name}.Calls`)?.methods[0]?.input.typeName).to.equal(
        `${name}.Request`,
      );
    }
  });

  it('shortens long names of messages, and carries bodies of DELETE and GET', async () => {
    place.write('protos/deep.proto', DEEP);
    const { code, stderr, stdout } = await importFiles(['protos/deep.proto']);
    expect({ code, stderr }).to.deep.equal({ code: 0, stderr: '' });
    expect(stdout).to.not.include('not mapped');
    const { http_routes: routes, schemas } = JSON.parse(read('library/manifest.json').toString());
    const names = Object.keys(schemas).filter((name) => name.includes('InnerInner'));
    expect(names).to.have.length(2);
    expect(names.every((name) => name.length <= 128)).to.equal(true);
    const input = schemas[names.find((name) => name.endsWith('.input')) ?? ''];
    expect(input.properties.level.anyOf).to.deep.include({ type: 'null' });
    const [, remove, get] = routes as { method: string; operation: object }[];
    expect(remove?.method).to.equal('DELETE');
    expect(remove?.operation).to.deep.include({
      body: 'optional',
      grpc: { method: 'deep.Deep/Delete', body: 'outer' },
    });
    expect(get?.operation).to.deep.include({
      body: 'optional',
      grpc: { method: 'deep.Deep/Delete', body: '*' },
    });
    const checked = await place.run(['check']);
    expect(checked.code, checked.stdout).to.equal(0);
  });

  it('keeps a method without a path that a route can have', async () => {
    place.write('protos/paths.proto', PATHS);
    const { code, stdout } = await importFiles(['protos/paths.proto']);
    expect(code, stdout).to.equal(0);
    const { http_routes: routes } = JSON.parse(read('library/manifest.json').toString());
    const paths = (routes as Record<string, string>[]).map(
      (each) => `${each['method']} ${each['path']}`,
    );
    expect(paths).to.deep.equal([
      'POST /paths.Paths/Verb',
      'POST /paths.Paths/Fixed',
      'GET /v1/a/{a}',
      'POST /paths.Paths/Again',
      'POST /paths.Paths/Several',
      'POST /paths.Paths/Unknown',
    ]);
    expect(stdout).to.include('a verb after');
    expect(stdout).to.include('another method has the same path');
    expect(stdout).to.include('tags is not a field with a single value');
    expect((await place.run(['check'])).stdout).to.include('0 errors, 0 warnings');
  });

  it('names a capability after each method with --capabilities each', async () => {
    await importLibrary('--capabilities', 'each');
    const { http_routes } = JSON.parse(read('library/manifest.json').toString());
    const names = (http_routes as { capability: string }[]).map(({ capability }) => capability);
    expect(names.slice(0, 3)).to.deep.equal([
      'library.library.get-book',
      'library.library.create-book',
      'library.library.update-book',
    ]);
  });

  const BROKEN: Readonly<Record<string, readonly [text: string, message: string]>> = {
    'an import that is not found': [
      'syntax = "proto3"; import "a/b.proto";\nmessage M { a.B b = 1; }',
      '(not found: a/b.proto; use --proto-path)',
    ],
    'an import below a file': [
      'syntax = "proto3"; import "library.proto/b.proto";\nmessage M { a.B b = 1; }',
      '(not found: library.proto/b.proto; use --proto-path)',
    ],
    'an import above all folders': [
      'syntax = "proto3"; import "../library.proto";\nmessage M { a.B b = 1; }',
      '(not found: ../library.proto; use --proto-path)',
    ],
    'an import that is no file': [
      'syntax = "proto3"; import "google/api";\nmessage M { a.B b = 1; }',
      '(not found: google/api; use --proto-path)',
    ],
    'an import of a device': [
      'syntax = "proto3"; import "dev/zero";\nmessage M { a.B b = 1; }',
      '(not found: dev/zero; use --proto-path)',
    ],
    'a line that is not one of the language': [
      'syntax = "proto3";\nmessage M {\n  string = 1;\n}',
      'protos/broken.proto, line 3',
    ],
  };
  for (const [title, [text, message]] of Object.entries(BROKEN)) {
    it(`rejects ${title}`, async () => {
      place.write('protos/broken.proto', text);
      const { code, stderr } = await importFiles(['protos/broken.proto']);
      expect(code).to.equal(1);
      expect(stderr).to.include(message);
    });
  }
});
