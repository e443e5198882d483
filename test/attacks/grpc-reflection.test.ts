import { existsSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { create, fromBinary, fromJson, type JsonValue, toBinary } from '@bufbuild/protobuf';
import {
  type DescriptorProto,
  DescriptorProtoSchema,
  FieldDescriptorProtoSchema,
  type FileDescriptorProto,
  FileDescriptorProtoSchema,
} from '@bufbuild/protobuf/wkt';
import { Client, credentials } from '@grpc/grpc-js';
import { expect } from 'chai';
import { knownMessage } from '../../plugins/grpc/known-types.js';
import { startLibrary } from '../plugins/grpc/library-server.js';
import { createWorkplace } from '../support/cli/run-in.js';

const PATH = '/grpc.reflection.v1.ServerReflection/ServerReflectionInfo';
/** The most files that the host reads, and the requests for the services. */
const MAX_ASKED = 2_010;
/** Where a weakened host gives up too, so that the test ends. */
const ASKED_FOREVER = MAX_ASKED + 10;
const DEPTH = 20_000;
const STEPS = 40;
const WRITTEN_FOREVER = 1_000_000;
/** The library has a limit of its own. */
const UNBOUNDED = { recursionLimit: Number.MAX_SAFE_INTEGER };
/** Less than the timeout of a test. */
const PATIENCE_MS = 50_000;

/** What a reader made of what a server says of itself. */
interface Outcome {
  readonly hasRoutes: boolean;
  readonly written: number;
  readonly error: string;
}

type Reader = (port: number) => Promise<Outcome>;

interface Attack {
  /** A file, by the name that was asked for; without one for a service. */
  readonly deliver: (name: string) => Uint8Array;
  /** What the server reached; `null` for nothing. */
  readonly harm: (outcome: Outcome, asked: number) => string | null;
  /** What the host says of it; `null` if it can use the file. */
  readonly reason: RegExp | null;
}

const describeFile = (file: Partial<FileDescriptorProto>) =>
  toBinary(
    FileDescriptorProtoSchema,
    create(FileDescriptorProtoSchema, { name: 'first.proto', syntax: 'proto3', ...file } as never),
  );

const field = (name: string, number: number, typeName: string) =>
  create(FieldDescriptorProtoSchema, { name, number, type: 11, label: 1, typeName });

/** Each message has two of the next one. */
const STEPPED = Array.from({ length: STEPS }, (_, index) => {
  const next = `.library.v1.Step${index + 1}`;
  const isLast = index === STEPS - 1;
  return create(DescriptorProtoSchema, {
    name: `Step${index}`,
    field: isLast ? [] : [field('a', 1, next), field('b', 2, next)],
  });
});

const SERVICE = ['Echo', 'Library'].map((name) => ({
  name,
  method: [{ name: 'Echo', inputType: '.library.v1.Step0', outputType: '.library.v1.Step0' }],
}));

/** A message in a message, and so on, as bytes: the library cannot write so many. */
function describeDeep(): Uint8Array {
  const size = (value: number): number[] =>
    value < 128 ? [value] : [(value & 127) | 128, ...size(Math.floor(value / 128))];
  const heads: Buffer[] = [];
  let length = 0;
  for (let level = 0; level < DEPTH; level += 1) {
    // The field `nested_type` of a message; that of a file is `message_type`.
    const tag = level === DEPTH - 1 ? 0x22 : 0x1a;
    const head = Buffer.from([tag, ...size(length)]);
    heads.push(head);
    length += head.length;
  }
  return Buffer.concat([describeFile({}), ...heads.reverse()]);
}

let unnamed = 0;

const ATTACKS: Readonly<Record<string, Attack>> = {
  'files that import others without end': {
    deliver: (name) => {
      unnamed += 1;
      return describeFile({ name: name || 'first.proto', dependency: [`${unnamed}.proto`] });
    },
    harm: (_outcome, asked) => (asked > MAX_ASKED ? `was asked for ${asked} files` : null),
    reason: /reflection has over 2000 files/,
  },
  'a file that imports itself': {
    deliver: () => describeFile({ dependency: ['first.proto'] }),
    harm: (_outcome, asked) => (asked > MAX_ASKED ? `was asked for ${asked} files` : null),
    reason: /which is missing or cannot be used/,
  },
  'a file without the service that was asked for': {
    deliver: () => describeFile({ service: [{ name: 'Other' }] as never }),
    harm: ({ hasRoutes }) => (hasRoutes ? 'has a route of a service without methods' : null),
    reason: /is not in the file that the server delivered for it/,
  },
  'messages in messages': {
    deliver: describeDeep,
    harm: ({ error }) => (/call stack|RangeError/.test(error) ? error : null),
    reason: /is not in the file|has a file that is not a descriptor/,
  },
  'messages that multiply': {
    deliver: () =>
      describeFile({ package: 'library.v1', messageType: STEPPED, service: SERVICE as never }),
    harm: ({ written }) => (written >= WRITTEN_FOREVER ? `wrote ${written} characters` : null),
    reason: null,
  },
};

describe('attack: a gRPC server that lies about itself', () => {
  /** `modgate import grpc` */
  const readByHost: Reader = async (port) => {
    const place = createWorkplace();
    const words = ['import', 'grpc', `127.0.0.1:${port}`, '--module', 'library', '--json'];
    const { stdout, stderr } = await place.run(words);
    const manifest = join(place.folder, 'modules.d/library/manifest.json');
    const written = existsSync(manifest) ? statSync(manifest).size : 0;
    return { hasRoutes: /"routes": [1-9]/.test(stdout), written, error: stdout + stderr };
  };

  /** The weakened host: it follows imports, and writes each message where it is used. */
  const readNaively: Reader = async (port) => {
    const client = new Client(`127.0.0.1:${port}`, credentials.createInsecure());
    const deadline = performance.now() + PATIENCE_MS;
    let asked = 0;
    const messages = new Map<string, DescriptorProto>();
    const collect = (prefix: string, list: readonly DescriptorProto[]): void => {
      for (const each of list) {
        messages.set(`${prefix}.${each.name}`, each);
        collect(`${prefix}.${each.name}`, each.nestedType);
      }
    };
    const read = async (question: JsonValue): Promise<void> => {
      asked += 1;
      if (asked > ASKED_FOREVER || performance.now() > deadline) return;
      const { fileDescriptorResponse: found } = (await ask(client, question)) as {
        fileDescriptorResponse?: { fileDescriptorProto: Uint8Array[] };
      };
      for (const bytes of found?.fileDescriptorProto ?? []) {
        const file = fromBinary(FileDescriptorProtoSchema, bytes, UNBOUNDED);
        collect(`.${file.package}`, file.messageType);
        for (const name of file.dependency) await read({ fileByFilename: name });
      }
    };
    try {
      await read({ fileContainingSymbol: 'library.v1.Echo' });
      return { hasRoutes: true, written: writeNaively(messages, '.library.v1.Step0'), error: '' };
    } catch (error) {
      return { hasRoutes: false, written: 0, error: String(error) };
    } finally {
      client.close();
    }
  };

  const attack = async ({ deliver, harm }: Attack, reader: Reader) => {
    unnamed = 0;
    let asked = 0;
    const server = await startLibrary(
      {},
      {
        reflection: {
          version: 'v1',
          deliver: (name) => {
            asked += 1;
            return deliver(name);
          },
        },
      },
    );
    const outcome = await reader(server.port);
    await server.stop();
    return { outcome, harm: harm(outcome, asked) };
  };

  for (const [title, each] of Object.entries(ATTACKS)) {
    it(`does nothing by ${title}`, async () => {
      const { outcome, harm } = await attack(each, readByHost);
      expect(harm).to.equal(null);
      if (each.reason === null) expect(outcome.hasRoutes, outcome.error).to.equal(true);
      else expect(outcome.error).to.match(each.reason);
    });

    it(`succeeds at a weakened host by ${title}`, async () => {
      expect((await attack(each, readNaively)).harm).to.be.a('string');
    });
  }
});

/** The schema of a message with those of its fields, as far as the test waits for it. */
function writeNaively(messages: ReadonlyMap<string, DescriptorProto>, name: string): number {
  let written = 0;
  const write = (each: string): void => {
    written += each.length;
    if (written >= WRITTEN_FOREVER) return;
    for (const { typeName } of messages.get(each)?.field ?? []) write(typeName);
  };
  write(name);
  return written;
}

function ask(client: Client, question: JsonValue): Promise<object> {
  const request = knownMessage('grpc.reflection.v1.ServerReflectionRequest');
  const response = knownMessage('grpc.reflection.v1.ServerReflectionResponse');
  return new Promise((resolve, reject) => {
    const call = client.makeBidiStreamRequest(
      PATH,
      () => Buffer.from(toBinary(request, fromJson(request, question))),
      (bytes: Buffer) => fromBinary(response, bytes),
    );
    call.on('data', resolve).on('error', reject);
    call.end({});
  });
}
