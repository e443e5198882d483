import { readFileSync, statSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, isAbsolute, join, relative, resolve } from 'node:path';
import { create, fromJson, type MessageInitShape, toBinary } from '@bufbuild/protobuf';
import { BinaryWriter, WireType } from '@bufbuild/protobuf/wire';
import {
  type DescriptorProtoSchema,
  Edition,
  FeatureSet_MessageEncoding as Encoding,
  type EnumDescriptorProtoSchema,
  FeatureSet_EnumType as EnumType,
  type FieldDescriptorProtoSchema,
  type FileDescriptorProto,
  FileDescriptorProtoSchema,
  FieldDescriptorProto_Label as Label,
  MethodOptions_IdempotencyLevel as Level,
  type MethodDescriptorProtoSchema,
  type MethodOptions,
  MethodOptionsSchema,
  FeatureSet_FieldPresence as Presence,
  FeatureSet_RepeatedFieldEncoding as Repeated,
  type ServiceDescriptorProtoSchema,
  FieldDescriptorProto_Type as Type,
} from '@bufbuild/protobuf/wkt';
import protobuf from 'protobufjs';
import { knownMessage } from '../known-types.js';
import { findFileOfOwnType } from '../schema.js';
import { METHODS, SERVICES } from './comments.js';
import { HTTP_EXTENSION } from './http-bindings.js';

/** Features are written for each field, so that all syntaxes have one form. */
const EDITION = { syntax: 'editions', edition: Edition.EDITION_2023 } as const;
const HTTP_OPTION = '(google.api.http)';
const SYNTAX = /^[ \t]*(?:syntax|edition)\s*=\s*["']([^"']*)["']/m;
/** A longer file is no source. Bytes. */
const MAX_BYTES = 4_194_304;
/** The folder of the parser's package, which has `google/api/http.proto` and other imports of many. */
const PARSER = dirname(createRequire(import.meta.url).resolve('protobufjs/package.json'));

/** As libraries of Node.js read it, from the file that imports; `protoc` does not know this form. */
const RELATIVE = /^\.\.?\//;

/**
 * Reads `.proto` files and their imports. Imports are searched in the folders, in that of each source, in the parser's
 * own, and in those above each source, but never outside of these. One that begins with `./` or `../` is first searched
 * from the file that imports it. Extensions and reserved names are left out, since JSON does not need them.
 * @throws Error with the place of what is wrong.
 */
export function readProtoFiles(
  sources: readonly string[],
  folders: readonly string[],
): FileDescriptorProto[] {
  const all = [
    ...[...folders, ...sources.map((path) => dirname(path))].map((folder) => resolve(folder)),
    ...[PARSER, ...sources.flatMap(listAbove)],
  ];
  const names = new Map<string, string>();
  const addName = (path: string, preferred: readonly string[] = []) => {
    const used = new Set(names.values());
    const possible = [...preferred, ...listNames(path, all)];
    if (!names.has(path)) names.set(path, possible.find((name) => !used.has(name)) ?? path);
  };
  for (const source of sources) addName(resolve(source));
  const missing: string[] = [];
  const root = new protobuf.Root();
  root.resolvePath = (origin, target) => {
    // A source.
    if (origin === '') return target;
    const isRelative = RELATIVE.test(target);
    const tried = isAbsolute(target) ? [] : isRelative ? [dirname(origin), ...all] : all;
    const found = tried
      .map((folder) => join(folder, target))
      .find((path) => all.some((folder) => isIn(folder, path)) && isSource(path));
    if (found === undefined) missing.push(target);
    else addName(found, isRelative ? [] : [target]);
    return found ?? null;
  };
  try {
    const paths = sources.map((path) => resolve(path));
    root.loadSync(paths, { keepCase: true, alternateCommentMode: true }).resolveAll();
  } catch (cause) {
    const message = cause instanceof Error ? cause.message : 'the file cannot be read';
    const hint =
      missing.length === 0 ? '' : ` (not found: ${missing.join(', ')}; use --proto-path)`;
    throw new Error(`${message}${hint}`, { cause });
  }
  return [...names].map(([path, name]) => new ProtoFile(name, path, names).convert(root));
}

/** The folders above that of a file, without the root, below which are devices. */
function listAbove(path: string): string[] {
  const folders: string[] = [];
  let at = dirname(dirname(resolve(path)));
  for (; dirname(at) !== at; at = dirname(at)) folders.push(at);
  return folders;
}

function isSource(path: string): boolean {
  try {
    const status = statSync(path);
    return status.isFile() && status.size <= MAX_BYTES;
  } catch {
    // Also for a path below a file, such as in a folder above that has nothing to do with the source.
    return false;
  }
}

function isIn(folder: string, path: string): boolean {
  return path.startsWith(join(folder, '/'));
}

/** The names that a file may have, each from one of the folders that contain it. */
function listNames(path: string, folders: readonly string[]): string[] {
  return folders.filter((each) => isIn(each, path)).map((each) => relative(each, path));
}

type Parsed = protobuf.ReflectionObject;

/** Converts what one file declares. */
class ProtoFile {
  readonly #name: string;
  readonly #path: string;
  readonly #names: ReadonlyMap<string, string>;
  readonly #isProto2: boolean;
  readonly #dependencies = new Set<string>();

  constructor(name: string, path: string, names: ReadonlyMap<string, string>) {
    this.#name = name;
    this.#path = path;
    this.#names = names;
    this.#isProto2 = (SYNTAX.exec(readFileSync(path, 'utf8'))?.[1] ?? 'proto2') === 'proto2';
  }

  convert(root: protobuf.Root): FileDescriptorProto {
    const declared = listDeclared(root, this.#path);
    const services = declared.filter((each) => each instanceof protobuf.Service);
    const parts = {
      messageType: declared.filter(isType).map((type) => this.#convertType(type)),
      enumType: declared.filter(isEnum).map((each) => this.#convertEnum(each)),
      service: services.map((service) => this.#convertService(service)),
    };
    return create(FileDescriptorProtoSchema, {
      ...EDITION,
      ...parts,
      name: this.#name,
      package: declared[0]?.parent?.fullName.slice(1) ?? '',
      dependency: [...this.#dependencies],
      sourceCodeInfo: { location: services.flatMap(listComments) },
    });
  }

  #convertType(type: protobuf.Type): MessageInitShape<typeof DescriptorProtoSchema> {
    // The others stand for `optional`.
    const oneofs = type.oneofsArray.filter(({ fieldsArray }) => !fieldsArray.some(isOptional));
    const maps = type.fieldsArray.filter((field) => field instanceof protobuf.MapField);
    return {
      name: type.name,
      field: type.fieldsArray
        .filter(({ declaringField }) => !declaringField)
        .map((field) => this.#convertField(field, oneofs)),
      oneofDecl: oneofs.map(({ name }) => ({ name })),
      nestedType: [
        ...type.nestedArray.filter(isType).map((nested) => this.#convertType(nested)),
        ...maps.map((map) => this.#convertEntry(map)),
      ],
      enumType: type.nestedArray.filter(isEnum).map((nested) => this.#convertEnum(nested)),
    };
  }

  #convertEntry(map: protobuf.MapField): MessageInitShape<typeof DescriptorProtoSchema> {
    const field = { label: Label.OPTIONAL };
    return {
      name: nameEntry(map),
      field: [
        { ...field, name: 'key', number: 1, type: SCALARS[map.keyType] ?? Type.STRING },
        { ...field, name: 'value', number: 2, ...this.#typeOf(map) },
      ],
      options: { mapEntry: true },
    };
  }

  #convertField(
    field: protobuf.Field,
    oneofs: readonly protobuf.OneOf[],
  ): MessageInitShape<typeof FieldDescriptorProtoSchema> {
    const isMap = field instanceof protobuf.MapField;
    const entry = { type: Type.MESSAGE, typeName: `${field.parent?.fullName}.${nameEntry(field)}` };
    const oneofIndex = field.partOf === null ? -1 : oneofs.indexOf(field.partOf);
    return {
      name: field.name,
      number: field.id,
      jsonName: field.options?.['json_name'] ?? '',
      label: field.repeated || isMap ? Label.REPEATED : Label.OPTIONAL,
      ...(isMap ? entry : this.#typeOf(field)),
      ...(oneofIndex !== -1 && { oneofIndex }),
      options: {
        deprecated: field.options?.['deprecated'] === true,
        features: describeFeatures(field, isMap || oneofIndex !== -1),
      },
    };
  }

  #typeOf({ type, resolvedType }: protobuf.FieldBase) {
    if (resolvedType === null) return { type: SCALARS[type] ?? Type.STRING };
    const kind = resolvedType instanceof protobuf.Enum ? Type.ENUM : Type.MESSAGE;
    return { type: kind, typeName: this.#refer(resolvedType) };
  }

  /** The full name of a type, whose file becomes a dependency. */
  #refer(type: Parsed | null): string {
    const name = type?.fullName ?? '';
    const own = findFileOfOwnType(name.slice(1));
    const file = own?.name ?? this.#names.get(type?.filename ?? '');
    if (file !== undefined && file !== this.#name) this.#dependencies.add(file);
    return name;
  }

  #convertEnum(each: protobuf.Enum): MessageInitShape<typeof EnumDescriptorProtoSchema> {
    const { enum_type = this.#isProto2 ? 'CLOSED' : 'OPEN' } = each.options?.['features'] ?? {};
    return {
      name: each.name,
      value: Object.entries(each.values).map(([name, number]) => ({ name, number })),
      options: {
        allowAlias: each.options?.['allow_alias'] === true,
        features: { enumType: enum_type === 'CLOSED' ? EnumType.CLOSED : EnumType.OPEN },
      },
    };
  }

  #convertService(
    service: protobuf.Service,
  ): MessageInitShape<typeof ServiceDescriptorProtoSchema> {
    return {
      name: service.name,
      method: service.methodsArray.map(
        (method): MessageInitShape<typeof MethodDescriptorProtoSchema> => ({
          name: method.name,
          inputType: this.#refer(method.resolvedRequestType),
          outputType: this.#refer(method.resolvedResponseType),
          clientStreaming: method.requestStream === true,
          serverStreaming: method.responseStream === true,
          options: convertOptions(method),
        }),
      ),
    };
  }
}

const isType = (each: Parsed): each is protobuf.Type => each instanceof protobuf.Type;
const isEnum = (each: Parsed): each is protobuf.Enum => each instanceof protobuf.Enum;

/** The types and services of a file that are not within others. */
function listDeclared(namespace: protobuf.NamespaceBase, path: string): Parsed[] {
  return namespace.nestedArray.flatMap((each) => {
    if (each.constructor === protobuf.Namespace) return listDeclared(each as never, path);
    return each.filename === path ? [each] : [];
  });
}

const SCALARS: Readonly<Record<string, Type>> = Object.fromEntries(
  Object.entries(Type)
    .filter((entry): entry is [string, Type] => typeof entry[1] === 'number')
    .map(([name, type]) => [name.toLowerCase(), type]),
);

function isOptional({ options }: protobuf.Field): boolean {
  return options?.['proto3_optional'] === true;
}

/** `by_name` has entries of type `ByNameEntry`. */
function nameEntry({ name }: protobuf.FieldBase): string {
  return `${name.replaceAll(/(?:^|_+)([^_])/g, (_, first: string) => first.toUpperCase())}Entry`;
}

function describeFeatures(field: protobuf.Field, hasOwnPresence: boolean) {
  const explicit = field.hasPresence ? Presence.EXPLICIT : Presence.IMPLICIT;
  return {
    ...(field.delimited && { messageEncoding: Encoding.DELIMITED }),
    ...(field.repeated && {
      repeatedFieldEncoding: field.packed ? Repeated.PACKED : Repeated.EXPANDED,
    }),
    ...(!field.repeated &&
      !hasOwnPresence && { fieldPresence: field.required ? Presence.LEGACY_REQUIRED : explicit }),
  };
}

function convertOptions({ options, parsedOptions }: protobuf.Method): MethodOptions {
  const rules = [parsedOptions ?? []].flat().flatMap((each) => each[HTTP_OPTION] ?? []);
  const level = Level[options?.['idempotency_level'] as keyof typeof Level];
  const converted = create(MethodOptionsSchema, {
    deprecated: options?.['deprecated'] === true,
    ...(level !== undefined && { idempotencyLevel: level }),
  });
  converted.$unknown = rules.map((rule) => {
    const http = knownMessage('google.api.HttpRule');
    const message = fromJson(http, toRule(rule) as never, { ignoreUnknownFields: true });
    const data = new BinaryWriter().bytes(toBinary(http, message)).finish();
    return { no: HTTP_EXTENSION, wireType: WireType.LengthDelimited, data };
  });
  return converted;
}

/** A repeated member that is given once is no list. */
function toRule({ additional_bindings: more, ...rule }: Readonly<Record<string, unknown>>): object {
  if (more === undefined) return rule;
  return { ...rule, additional_bindings: [more].flat().map((each) => toRule(each as never)) };
}

function listComments({ methodsArray }: protobuf.Service, service: number) {
  return methodsArray.flatMap(({ comment }, method) => {
    const path = [SERVICES, service, METHODS, method];
    return comment ? [{ path, leadingComments: comment }] : [];
  });
}
