import { readFileSync } from 'node:fs';
import { create, fromBinary, toBinary } from '@bufbuild/protobuf';
import {
  type DescriptorProto,
  DescriptorProtoSchema,
  FieldDescriptorProtoSchema,
  FileDescriptorProtoSchema,
  FileDescriptorSetSchema,
} from '@bufbuild/protobuf/wkt';
import { expect } from 'chai';
import { waitUntil } from '../../support/http/wait-until.js';
import { type RunningHost, startHost } from '../../support/start-host.js';
import { useKept } from '../../support/use.js';
import { createCaller, describeLibrary } from './library-module.js';
import {
  LIBRARY_SET,
  type LibraryServer,
  type ReflectionOptions,
  startLibrary,
} from './library-server.js';

const ROUTES = [
  { method: 'POST', path: '/echo', operation: { grpc: 'library.v1.Echo/Echo' } },
  { method: 'POST', path: '/nothing', operation: { grpc: 'library.v1.Nothing/Call' } },
];

describe('reflection of gRPC', () => {
  const keep = useKept();

  const serve = async (reflection: ReflectionOptions, port = 0): Promise<LibraryServer> => {
    return keep(
      await startLibrary({ Echo: async ({ request }) => [request] }, { port, reflection }),
    );
  };

  const start = async (url: string): Promise<RunningHost> => {
    return keep(
      await startHost({
        files: describeLibrary(ROUTES, url, {}, { descriptors: { reflection: true } }),
      }),
    );
  };

  const echo = ({ url }: RunningHost, path = '/echo') =>
    createCaller(url)(path, { method: 'POST', body: '{"an_int64": 9007199254740993}' });

  const readFacts = async ({ url }: RunningHost) => {
    const response = await fetch(`${url}/modules`, {
      headers: { authorization: 'Bearer dev-service:ops:modgate.modules.read' },
    });
    const { modules } = (await response.json()) as { modules: { facts: object[] }[] };
    return modules[0]?.facts ?? [];
  };

  for (const version of ['v1', 'v1alpha'] as const) {
    it(`describes the methods, version ${version}`, async () => {
      const host = await start((await serve({ version })).url);
      const { status, text } = await echo(host);
      expect(status, text).to.equal(200);
      expect(JSON.parse(text).data).to.deep.equal({ anInt64: '9007199254740993' });
    });
  }

  it('serves once the server has come up', async () => {
    const { port, url, stop } = await serve({ version: 'v1' });
    await stop();
    const host = await start(url);
    const { status, headers, text } = await echo(host);
    expect([status, headers.get('retry-after')], text).to.deep.equal([503, '1']);
    await serve({ version: 'v1' }, port);
    await waitUntil('the call passes', async () => (await echo(host)).status === 200);
  });

  it('costs the routes of a service that is not described, and no others', async () => {
    const host = await start((await serve({ version: 'v1' })).url);
    const { status, text } = await echo(host, '/nothing');
    expect(status).to.equal(502);
    expect(text).to.include('"protocol"');
    expect((await echo(host)).status).to.equal(200);
    const facts = await readFacts(host);
    expect(facts).to.deep.include({ name: 'methods', value: '1' });
    expect(JSON.stringify(facts)).to.include('POST /nothing');
  });

  it('does without a file that the server cannot deliver', async () => {
    const { url } = await serve({ version: 'v1', without: ['google/api/http.proto'] });
    const { status, text } = await echo(await start(url));
    expect(status).to.equal(502);
    expect(text).to.include('"protocol"');
  });

  it('reads relative names without imports, as servers of grpc-js describe themselves', async () => {
    const { file: files } = fromBinary(FileDescriptorSetSchema, readFileSync(LIBRARY_SET));
    const relate = (messages: readonly DescriptorProto[]): void => {
      for (const { field, nestedType } of messages) {
        for (const each of field)
          each.typeName = each.typeName.replace(/^\.(?:library\.v1\.)?/, '');
        relate(nestedType);
      }
    };
    for (const file of files) {
      file.dependency = [];
      relate(file.messageType);
    }
    const bytes = files.map((file) => toBinary(FileDescriptorProtoSchema, file));
    const host = await start((await serve({ version: 'v1', files: bytes })).url);
    const { status, text } = await echo(host);
    expect(status, text).to.equal(200);
    expect(JSON.parse(text).data).to.deep.equal({ anInt64: '9007199254740993' });
  });

  it('ends with files that import each other, or are none', async () => {
    const loop = (name: string, other: string) =>
      toBinary(
        FileDescriptorProtoSchema,
        create(FileDescriptorProtoSchema, { name, package: 'loop', dependency: [other] }),
      );
    const fields = Array.from({ length: 60_000 }, (_, n) =>
      create(FieldDescriptorProtoSchema, { name: `f${n}`, number: n + 1, type: 5, label: 1 }),
    );
    const wide = toBinary(
      FileDescriptorProtoSchema,
      create(FileDescriptorProtoSchema, {
        name: 'wide.proto',
        messageType: [create(DescriptorProtoSchema, { name: 'Wide', field: fields })],
      }),
    );
    const loops = [loop('a.proto', 'b.proto'), loop('b.proto', 'a.proto')];
    for (const [files, reason] of [
      [loops, 'which is missing or cannot be used'],
      [[Buffer.from('not a descriptor')], 'is not a descriptor'],
      [[wide], 'more than 50000 fields'],
    ] as const) {
      const host = await start((await serve({ version: 'v1', files })).url);
      expect((await echo(host)).status).to.equal(502);
      expect(JSON.stringify(await readFacts(host))).to.include(reason);
    }
  });
});
