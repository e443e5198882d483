import type {
  DescriptorProto,
  FieldDescriptorProto,
  FileDescriptorProto,
} from '@bufbuild/protobuf/wkt';

/** Each scope of a relative name is tried, and real names are a fifth as long and as deep. */
const MAX_NAME = 512;
const MAX_SCOPES = 32;

/**
 * Makes the names of types absolute, and imports the files that have them: servers of grpc-js describe themselves with
 * relative names and without imports, which descriptors may have and the library does not read.
 * @param known all files to which a name may refer; only `files` are changed
 * @throws Error for a scope that is too long or too deep.
 */
export function qualifyNames(
  files: readonly FileDescriptorProto[],
  known: readonly FileDescriptorProto[],
): void {
  const owners = new Map<string, string>();
  for (const file of known) {
    const scope = file.package === '' ? '' : `.${file.package}`;
    for (const name of listTypes(scope, file)) if (!owners.has(name)) owners.set(name, file.name);
  }
  for (const file of files) new FileNames(file, owners).qualify();
}

type Declaring = Pick<DescriptorProto, 'enumType'> &
  (Pick<DescriptorProto, 'nestedType'> | Pick<FileDescriptorProto, 'messageType'>);

function messagesOf(declaring: Declaring): readonly DescriptorProto[] {
  return 'nestedType' in declaring ? declaring.nestedType : declaring.messageType;
}

/** @throws Error as `qualifyNames`. */
function listTypes(scope: string, declaring: Declaring): string[] {
  if (scope.length > MAX_NAME) throw new Error(`a name of over ${MAX_NAME} characters`);
  if (scope.split('.').length > MAX_SCOPES) throw new Error(`a name of over ${MAX_SCOPES} parts`);
  const messages = messagesOf(declaring).flatMap((message) => {
    const name = `${scope}.${message.name}`;
    return [name, ...listTypes(name, message)];
  });
  return [...messages, ...declaring.enumType.map(({ name }) => `${scope}.${name}`)];
}

class FileNames {
  readonly #file: FileDescriptorProto;
  /** The names of files, by absolute names of types. */
  readonly #owners: ReadonlyMap<string, string>;
  readonly #imports: Set<string>;

  constructor(file: FileDescriptorProto, owners: ReadonlyMap<string, string>) {
    this.#file = file;
    this.#owners = owners;
    this.#imports = new Set([file.name, ...file.dependency]);
  }

  qualify(): void {
    const { extension, messageType, package: name, service } = this.#file;
    const scope = name === '' ? '' : `.${name}`;
    for (const message of messageType) this.#qualifyMessage(message, `${scope}.${message.name}`);
    for (const field of extension) this.#qualifyField(field, scope);
    for (const method of service.flatMap((each) => each.method)) {
      method.inputType = this.#find(method.inputType, scope);
      method.outputType = this.#find(method.outputType, scope);
    }
  }

  #qualifyMessage({ extension, field, nestedType }: DescriptorProto, scope: string): void {
    for (const each of [...field, ...extension]) this.#qualifyField(each, scope);
    for (const nested of nestedType) this.#qualifyMessage(nested, `${scope}.${nested.name}`);
  }

  #qualifyField(field: FieldDescriptorProto, scope: string): void {
    if (field.typeName !== '') field.typeName = this.#find(field.typeName, scope);
    if (field.extendee !== '') field.extendee = this.#find(field.extendee, scope);
  }

  /** The innermost scope that has the name counts. */
  #find(name: string, scope: string): string {
    let found = name;
    if (!name.startsWith('.')) {
      let outer = scope;
      while (outer !== '' && !this.#owners.has(`${outer}.${name}`)) {
        outer = outer.slice(0, outer.lastIndexOf('.'));
      }
      found = `${outer}.${name}`;
    }
    const owner = this.#owners.get(found);
    if (owner !== undefined && !this.#imports.has(owner)) {
      this.#imports.add(owner);
      this.#file.dependency.push(owner);
    }
    return found;
  }
}
