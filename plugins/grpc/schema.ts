import {
  create,
  createFileRegistry,
  type DescMethod,
  type FileRegistry,
  fromBinary,
} from '@bufbuild/protobuf';
import {
  type DescriptorProto,
  type EnumDescriptorProto,
  type FieldDescriptorProto,
  type FileDescriptorProto,
  FileDescriptorSetSchema,
  file_google_protobuf_any,
  file_google_protobuf_api,
  file_google_protobuf_descriptor,
  file_google_protobuf_duration,
  file_google_protobuf_empty,
  file_google_protobuf_field_mask,
  file_google_protobuf_source_context,
  file_google_protobuf_struct,
  file_google_protobuf_timestamp,
  file_google_protobuf_type,
  file_google_protobuf_wrappers,
} from '@bufbuild/protobuf/wkt';
import { qualifyNames } from './qualified-names.js';

/** Fields, imports and messages of all files; a registry takes about 10 us for each. */
const MAX_PARTS = 50_000;
/** More files than any service needs; a registry holds about 20 KiB for each. */
export const MAX_FILES = 2_000;

/** Files that are tried one by one where one of them is invalid. */
const MAX_TRIED = 200;

/** The files of protobuf itself, which servers and sets may leave out. */
const OWN_FILES: readonly FileDescriptorProto[] = [
  file_google_protobuf_any,
  file_google_protobuf_api,
  file_google_protobuf_descriptor,
  file_google_protobuf_duration,
  file_google_protobuf_empty,
  file_google_protobuf_field_mask,
  file_google_protobuf_source_context,
  file_google_protobuf_struct,
  file_google_protobuf_timestamp,
  file_google_protobuf_type,
  file_google_protobuf_wrappers,
].map(({ proto }) => proto);

/** Finds a file of protobuf itself. */
export function findOwnFile(name: string): FileDescriptorProto | undefined {
  return OWN_FILES.find((file) => file.name === name);
}

/** Finds the file of protobuf itself that has a type, by its full name. */
export function findFileOfOwnType(name: string): FileDescriptorProto | undefined {
  return OWN_FILES.find((file) =>
    [...file.messageType, ...file.enumType].some((type) => name === `${file.package}.${type.name}`),
  );
}

/** What is described, and what cannot be used of it. */
export interface Schema {
  readonly registry: FileRegistry;
  /** Files that were left out, because an import is missing or invalid, with the reason. */
  readonly unusable: ReadonlyMap<string, string>;
}

/**
 * Reads a descriptor set, whose files may have any order.
 * @throws Error for bytes that are not one, and for a set with a file that cannot be used.
 */
export function readDescriptorSet(bytes: Uint8Array): Schema {
  const { file: files } = parseSet(bytes);
  if (files.length === 0 || files.length > MAX_FILES) {
    throw new Error(`descriptors.file must describe 1 to ${MAX_FILES} files`);
  }
  const schema = createSchema(files);
  for (const [name, reason] of schema.unusable) {
    throw new Error(`descriptors.file must describe all imports: '${name}' ${reason}`);
  }
  return schema;
}

function parseSet(bytes: Uint8Array) {
  try {
    return fromBinary(FileDescriptorSetSchema, bytes);
  } catch (cause) {
    throw new Error('descriptors.file must hold a FileDescriptorSet', { cause });
  }
}

/**
 * Leaves out the files that cannot be used, and those that need them.
 * @throws Error for more than a service needs.
 */
export function createSchema(files: readonly FileDescriptorProto[]): Schema {
  if (countParts(files) > MAX_PARTS) throw new Error(`more than ${MAX_PARTS} fields and imports`);
  qualifyNames(files, [...OWN_FILES, ...files]);
  const byName = new Map([...OWN_FILES, ...files].map((file) => [file.name, file]));
  const usable = new Set<FileDescriptorProto>();
  const unusable = new Map<string, string>();
  const visited = new Set<string>();
  const visit = (file: FileDescriptorProto): boolean => {
    // A loop of imports finds its own start, which is not usable yet.
    if (visited.has(file.name)) return usable.has(file);
    visited.add(file.name);
    const missing = file.dependency.find((name) => {
      const imported = byName.get(name);
      return imported === undefined || !visit(imported);
    });
    if (missing === undefined) usable.add(file);
    else unusable.set(file.name, `needs '${missing}', which is missing or cannot be used`);
    return missing === undefined;
  };
  for (const file of files) visit(file);
  for (const file of usable) {
    addJsonNames(file.messageType);
    file.extension.forEach(addJsonName);
  }
  return { registry: registerEach([...usable], unusable), unusable };
}

/** The library rejects all files for the fault of one: then each is tried. */
function registerEach(sorted: FileDescriptorProto[], unusable: Map<string, string>): FileRegistry {
  try {
    return register(sorted);
  } catch {
    let good: FileRegistry = register([]);
    // Each attempt copies the files before it.
    for (const file of sorted.splice(MAX_TRIED))
      unusable.set(file.name, 'is behind an invalid one');
    for (const file of sorted) {
      try {
        good = createFileRegistry(good, registerBehind(good, file));
      } catch {
        unusable.set(file.name, 'is invalid');
      }
    }
    return good;
  }
}

function register(file: readonly FileDescriptorProto[]): FileRegistry {
  return createFileRegistry(create(FileDescriptorSetSchema, { file: [...file] }));
}

function registerBehind(good: FileRegistry, file: FileDescriptorProto): FileRegistry {
  return createFileRegistry(file, (name) => good.getFile(name));
}

/** Finds `package.Service/Method`; `null` without it. */
export function findMethod(registry: FileRegistry, name: string): DescMethod | null {
  const [service = '', method = ''] = name.split('/');
  const methods = registry.getService(service)?.methods ?? [];
  return methods.find((each) => each.name === method) ?? null;
}

/** Adds the names in JSON, which only `protoc` writes. */
function addJsonNames(messages: readonly DescriptorProto[]): void {
  for (const { field, extension, nestedType } of messages) {
    field.forEach(addJsonName);
    extension.forEach(addJsonName);
    addJsonNames(nestedType);
  }
}

function addJsonName(field: FieldDescriptorProto): void {
  if (field.jsonName === '') field.jsonName = toJsonName(field.name);
}

/** `page_size` becomes `pageSize`, as in `protoc`. */
export function toJsonName(name: string): string {
  return name.replaceAll(/_+(.?)/g, (_, next: string) => next.toUpperCase());
}

function countParts(files: readonly FileDescriptorProto[]): number {
  let count = 0;
  const add = (messages: readonly DescriptorProto[]) => {
    for (const { field, enumType, nestedType, extension } of messages) {
      count += 1 + field.length + extension.length + countValues(enumType);
      add(nestedType);
    }
  };
  for (const { dependency, messageType, service, enumType, extension } of files) {
    count += 1 + dependency.length + extension.length + countValues(enumType);
    for (const { method } of service) count += 1 + method.length;
    add(messageType);
  }
  return count;
}

function countValues(enums: readonly EnumDescriptorProto[]): number {
  return enums.reduce((sum, { value }) => sum + 1 + value.length, 0);
}
