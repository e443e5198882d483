import { existsSync } from 'node:fs';
import { delimiter } from 'node:path';
import { create, type DescMethod, type DescService, toBinary } from '@bufbuild/protobuf';
import { FileDescriptorSetSchema } from '@bufbuild/protobuf/wkt';
import type { ImportContext, ImportedModule, LeftOut } from '../../../core/contract/index.js';
import { type GrpcConfig, grpcTransport } from '../config.js';
import { connectGrpc } from '../provider.js';
import { type Reflected, Reflection } from '../reflection.js';
import { readDescriptorSet, type Schema } from '../schema.js';
import { MessageSchemas } from './message-schemas.js';
import { createRoutes } from './method-routes.js';

/** Services of gRPC itself. */
const OWN_SERVICE = /^grpc\./;
const ENDPOINT = /^(?:grpcs?:\/\/)?(?:\[[0-9A-Fa-f:.]+\]|[A-Za-z0-9_.-]+):[0-9]{1,5}$/;
/** The set that is made of `.proto` files, beside the manifest. */
const SET_FILE = 'descriptors.binpb';

/** What was read, and the provider that the descriptor names. */
interface Source {
  readonly schema: Schema & Partial<Pick<Reflected, 'missing'>>;
  /** The services to import; `null` for all. */
  readonly services: readonly string[] | null;
  readonly config: GrpcConfig;
  /** Files beside the manifest. */
  readonly files?: Readonly<Record<string, Uint8Array>>;
}

/** Reads the source, and makes a route of each method that can be carried. */
export async function importServices(
  sources: readonly string[],
  options: ImportOptions,
  context: ImportContext,
): Promise<ImportedModule> {
  const { schema, services, config, files = {} } = await readSource(sources, options, context);
  const leftOut: LeftOut[] = [...(schema.missing ?? new Map<string, string>())].map(
    ([place, reason]) => ({ place, reason }),
  );
  const schemas = new MessageSchemas();
  const found = [...schema.registry]
    .filter((each): each is DescService => each.kind === 'service')
    .filter(({ typeName }) => services?.includes(typeName) ?? !OWN_SERVICE.test(typeName));
  const routes = createRoutes(found, { schemas, leftOut, ...nameCapabilities(options, context) });
  if (routes.length === 0 && leftOut.length === 0) throw new Error('the source has no services');
  return {
    provider: { kind: 'grpc', config },
    replaces: ['endpoints', 'descriptors'],
    routes,
    schemas: schemas.all,
    files,
    leftOut,
  };
}

async function readSource(
  sources: readonly string[],
  options: ImportOptions,
  context: ImportContext,
): Promise<Source> {
  const [source = '', ...more] = sources;
  const isProto = sources.length > 0 && sources.every((each) => each.endsWith('.proto'));
  if (isProto) return readProtoSource(sources, options, context);
  if (source === '' || more.length > 0) {
    context.reject('the source must be one address, one descriptor set, or .proto files');
  }
  return existsSync(source)
    ? readFileSource(source, options, context)
    : readServer(source, options, context);
}

function createFileConfig(file: string, options: ImportOptions, context: ImportContext) {
  if (context.endpoint === null) context.reject('a file needs --endpoint grpc://host:port');
  return {
    endpoints: [toUrl(context.endpoint, context)],
    descriptors: { file },
    ...readSecurity(options, context),
  };
}

/** The set of the files is written beside the manifest. */
async function readProtoSource(
  sources: readonly string[],
  options: ImportOptions,
  context: ImportContext,
): Promise<Source> {
  const config = createFileConfig(`${context.folder}/${SET_FILE}`, options, context);
  const unknown = sources.find((path) => !existsSync(path));
  if (unknown !== undefined) context.reject(`file '${unknown}' does not exist`);
  // The parser is needed for this alone.
  const { readProtoFiles } = await import('./proto-files.js');
  const folders = options['proto-path']?.split(delimiter) ?? [];
  const file = readProtoFiles(sources, folders);
  const bytes = toBinary(FileDescriptorSetSchema, create(FileDescriptorSetSchema, { file }));
  const schema = readDescriptorSet(bytes);
  const own = file.slice(0, sources.length);
  const services = own.flatMap(({ package: scope, service }) =>
    service.map(({ name }) => (scope === '' ? name : `${scope}.${name}`)),
  );
  return { schema, services, config, files: { [SET_FILE]: bytes } };
}

async function readFileSource(
  file: string,
  options: ImportOptions,
  context: ImportContext,
): Promise<Source> {
  const config = createFileConfig(context.pathInDescriptor(file), options, context);
  const resolved = await context.resolve<GrpcConfig>('grpc', config);
  const bytes = resolved.file(config.descriptors.file);
  return { schema: readDescriptorSet(bytes), services: null, config };
}

async function readServer(
  address: string,
  options: ImportOptions,
  context: ImportContext,
): Promise<Source> {
  const url = toUrl(address, context);
  const endpoint = context.endpoint === null ? url : toUrl(context.endpoint, context);
  const config: GrpcConfig = {
    endpoints: [endpoint],
    descriptors: { reflection: true },
    ...readSecurity(options, context),
  };
  const resolved = await context.resolve<GrpcConfig>('grpc', { ...config, endpoints: [url] });
  const { module, scope, log } = context;
  const opening = { ...resolved, module, scope, log };
  const { find } = await grpcTransport.open(resolved.config, opening, connectGrpc);
  const reflection = new Reflection(find(), context.signal);
  const all = await reflection.listServices();
  const services = all.filter((name) => !OWN_SERVICE.test(name));
  return { schema: await reflection.read(services), services, config };
}

export interface ImportOptions {
  /** A file of certificate authorities, PEM. */
  readonly ca?: string | undefined;
  /** `bearer=env:NAME`. */
  readonly auth?: string | undefined;
  /** Folders of imports, as in `PATH`. */
  readonly 'proto-path'?: string | undefined;
  readonly capabilities?: 'each' | 'readwrite' | undefined;
}

/** With `each`, a capability is named after its method: `library.library.get-book`. */
function nameCapabilities({ capabilities }: ImportOptions, { module }: ImportContext) {
  if (capabilities !== 'each') return {};
  const toWord = (name: string) => name.replaceAll(/(?<=[a-z0-9])(?=[A-Z])/g, '-').toLowerCase();
  return {
    nameCapability: ({ name, parent }: DescMethod) =>
      `${module}.${toWord(parent.name)}.${toWord(name)}`,
  };
}

const BEARER = /^bearer=((?:env|file):.+)$/;

function readSecurity(
  { ca, auth }: ImportOptions,
  context: ImportContext,
): Pick<GrpcConfig, 'tls' | 'auth'> {
  const [, bearer] = BEARER.exec(auth ?? '') ?? [];
  if (auth !== undefined && bearer === undefined) {
    context.reject("'--auth' must be bearer=env:NAME or bearer=file:PATH");
  }
  return {
    ...(ca !== undefined && { tls: { ca: context.pathInDescriptor(ca) } }),
    ...(bearer !== undefined && { auth: { bearer: context.referenceInDescriptor(bearer) } }),
  };
}

function toUrl(text: string, context: ImportContext): string {
  if (!ENDPOINT.test(text))
    context.reject(`'${text}' must be a file, host:port or grpcs://host:port`);
  return text.includes('://') ? text : `grpc://${text}`;
}
