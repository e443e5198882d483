import {
  createFileRegistry,
  type DescMethod,
  type FileRegistry,
  fromBinary,
} from '@bufbuild/protobuf';
import {
  type DescriptorProto,
  type FieldDescriptorProto,
  type FileDescriptorSet,
  FileDescriptorSetSchema,
} from '@bufbuild/protobuf/wkt';

/** More files than any service needs; a registry holds about 20 KiB for each. */
const MAX_FILES = 2_000;

/**
 * Reads a descriptor set.
 * @throws Error for bytes that are not one, and for a set without its imports.
 */
export function readDescriptorSet(bytes: Uint8Array): FileRegistry {
  let set: FileDescriptorSet;
  try {
    set = fromBinary(FileDescriptorSetSchema, bytes);
  } catch (cause) {
    throw new Error('descriptors.file must hold a FileDescriptorSet', { cause });
  }
  if (set.file.length === 0 || set.file.length > MAX_FILES) {
    throw new Error(`descriptors.file must describe 1 to ${MAX_FILES} files`);
  }
  for (const file of set.file) {
    addJsonNames(file.messageType);
    file.extension.forEach(addJsonName);
  }
  try {
    return createFileRegistry(set);
  } catch (cause) {
    // Names of files and types only.
    const reason = cause instanceof Error ? `: ${cause.message}` : '';
    throw new Error(`descriptors.file must describe its imports as well${reason}`, { cause });
  }
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
