import { create, fromBinary, type Message, toBinary } from '@bufbuild/protobuf';
import { type FileDescriptorProto, FileDescriptorProtoSchema } from '@bufbuild/protobuf/wkt';
import { ProviderFailure } from '../../core/contract/index.js';
import type { EndpointClient } from './endpoint-client.js';
import { knownMessage } from './known-types.js';
import { createSchema, findOwnFile, MAX_FILES, type Schema } from './schema.js';
import { toFailure } from './statuses.js';

/** The newest first; both have the same messages. */
const VERSIONS = ['v1', 'v1alpha'] as const;
/** The longest response of a server about its files, and all of them. Bytes. */
const MAX_RESPONSE_BYTES = 4 * 1_048_576;
const MAX_BYTES = 4 * 1_048_576;
const MAX_SERVICES = 1_000;
const UNIMPLEMENTED = 12;

/** Requests of reflection, whose other members are empty. */
type Question =
  | { readonly listServices: string }
  | { readonly fileContainingSymbol: string }
  | { readonly fileByFilename: string };

/** What a server describes of itself. */
export interface Reflected extends Schema {
  /** The services that could not be read, with the reason. */
  readonly missing: ReadonlyMap<string, string>;
}

/** Asks one server about itself. */
export class Reflection {
  readonly #client: EndpointClient;
  readonly #signal: AbortSignal;
  readonly #files = new Map<string, FileDescriptorProto>();
  #version: (typeof VERSIONS)[number] | null = null;
  #bytes = 0;

  constructor(client: EndpointClient, signal: AbortSignal) {
    this.#client = client;
    this.#signal = signal;
  }

  /**
   * The names of the services.
   * @throws ProviderFailure
   */
  async listServices(): Promise<string[]> {
    const response = await this.#ask({ listServices: '*' });
    const list: unknown = Reflect.get(response, 'listServicesResponse');
    const services: unknown = typeof list === 'object' && list ? Reflect.get(list, 'service') : [];
    if (!Array.isArray(services)) throw createMalformed('has no list of services');
    if (services.length > MAX_SERVICES) throw createMalformed(`has over ${MAX_SERVICES} services`);
    return services.map((service: object) => String(Reflect.get(service, 'name')));
  }

  /**
   * Reads the files of services. A file that the server cannot deliver costs only the services that need it.
   * @throws ProviderFailure without a connection, and for a server without reflection.
   */
  async read(services: readonly string[]): Promise<Reflected> {
    const missing = new Map<string, string>();
    for (const service of services) {
      const reason = await this.#request({ fileContainingSymbol: service });
      if (reason !== null) missing.set(service, reason);
    }
    const asked = new Set<string>();
    let names = this.#listMissingImports(asked);
    while (names.length > 0) {
      for (const name of names) {
        asked.add(name);
        await this.#request({ fileByFilename: name });
      }
      names = this.#listMissingImports(asked);
    }
    const schema = createSchema([...this.#files.values()]);
    for (const service of services) {
      if (missing.has(service) || schema.registry.getService(service) !== undefined) continue;
      const reasons = [...schema.unusable].map(([name, reason]) => `'${name}' ${reason}`);
      missing.set(service, reasons[0] ?? 'is not in the file that the server delivered for it');
    }
    return { ...schema, missing };
  }

  #listMissingImports(asked: ReadonlySet<string>): string[] {
    const imports = new Set([...this.#files.values()].flatMap(({ dependency }) => dependency));
    return [...imports].filter(
      (name) => !this.#files.has(name) && !asked.has(name) && findOwnFile(name) === undefined,
    );
  }

  /** Keeps the files of the response; the first one of a name counts. @returns why there are none */
  async #request(question: Question): Promise<string | null> {
    const response = await this.#ask(question);
    const found: unknown = Reflect.get(response, 'fileDescriptorResponse');
    const protos: unknown =
      typeof found === 'object' && found ? Reflect.get(found, 'fileDescriptorProto') : [];
    if (!Array.isArray(protos) || protos.length === 0) return 'is not delivered by the server';
    for (const bytes of protos as Uint8Array[]) {
      this.#bytes += bytes.length;
      if (this.#bytes > MAX_BYTES || this.#files.size >= MAX_FILES) {
        throw createMalformed(`has over ${MAX_FILES} files or ${MAX_BYTES} bytes`);
      }
      try {
        const file = fromBinary(FileDescriptorProtoSchema, bytes);
        if (!this.#files.has(file.name)) this.#files.set(file.name, file);
      } catch {
        return 'has a file that is not a descriptor';
      }
    }
    return null;
  }

  async #ask(question: Question): Promise<Message> {
    let last: ProviderFailure | null = null;
    for (const version of this.#version === null ? VERSIONS : [this.#version]) {
      const response = await this.#askVersion(version, question);
      if (!(response instanceof ProviderFailure)) {
        this.#version = version;
        return response;
      }
      last = response;
    }
    throw last ?? createMalformed('has no version');
  }

  /** Returns the failure of a server without this version. */
  async #askVersion(version: string, question: Question): Promise<Message | ProviderFailure> {
    const request = knownMessage('grpc.reflection.v1.ServerReflectionRequest');
    const message = toBinary(request, Object.assign(create(request), question));
    const path = `/grpc.reflection.${version}.ServerReflection/ServerReflectionInfo`;
    let isMissing = false;
    const limits = { signal: this.#signal, maxBytes: MAX_RESPONSE_BYTES };
    try {
      const bytes = await this.#client.ask(path, message, limits, (status) => {
        isMissing = status.code === UNIMPLEMENTED;
        return isMissing
          ? new ProviderFailure('unavailable', 'the server has no reflection', { status: 501 })
          : toFailure(status);
      });
      if (bytes === null) throw createMalformed('has no message');
      return fromBinary(knownMessage('grpc.reflection.v1.ServerReflectionResponse'), bytes);
    } catch (error) {
      if (isMissing) return error as ProviderFailure;
      throw error;
    }
  }
}

function createMalformed(problem: string): ProviderFailure {
  return new ProviderFailure('protocol', `reflection ${problem}`, { phase: 'answered' });
}
