import { parsePointer } from '../import/openapi-document.js';
import { type ClientModel, type ClientModule, TYPE_SUFFIXES } from './client-model.js';
import { formatComment } from './comment.js';
import { UniqueIdentifiers } from './names.js';
import { RUNTIME_TYPES } from './runtime.js';
import { describeSchema, type TypeNames, typeOfSchema } from './schema-type.js';
import { findModule, groupComponents, nameComponent, nameRepeated } from './shared-schemas.js';

const PREFIX = '#/components/schemas/';

interface NamedSchema {
  readonly name: string;
  readonly schema: unknown;
  readonly names: TypeNames;
}

/**
 * The types of schemas that routes refer to, directly or indirectly, and of schemas that a module
 * repeats. Each structure has one type.
 */
export class SchemaTypes {
  readonly #model: ClientModel;
  readonly #unique: UniqueIdentifiers;
  readonly #groups: ReadonlyMap<string, string>;
  /** The schemas by the key in `components.schemas`, or by module and text. */
  readonly #named = new Map<string, NamedSchema>();
  readonly #ofModules = new Map<ClientModule | undefined, TypeNames>();

  constructor(model: ClientModel) {
    this.#model = model;
    this.#unique = new UniqueIdentifiers([...listRuntimeTypes(), ...listModuleTypes(model)]);
    this.#groups = groupComponents(model);
  }

  of(module: ClientModule | undefined): TypeNames {
    const cached = this.#ofModules.get(module);
    if (cached !== undefined) return cached;
    const repeated = module === undefined ? new Map<string, string>() : nameRepeated(module);
    const names: TypeNames = {
      ofReference: (reference) => this.#nameReference(reference),
      ofRepeated: (schema) => {
        const text = JSON.stringify(schema);
        const preferred = repeated.get(text);
        if (preferred === undefined) return null;
        return this.#name(`${module?.name} ${text}`, preferred, schema, names);
      },
    };
    this.#ofModules.set(module, names);
    return names;
  }

  /** Types add further ones to the map during the loop. */
  write(): string {
    const types: string[] = [];
    for (const { name, schema, names } of this.#named.values()) {
      const type = typeOfSchema(schema, names, { isNamed: true });
      const comment = formatComment(describeSchema(schema), '');
      const isInterface = type.startsWith('{\n') && type.indexOf('\n}') === type.length - 2;
      const head = isInterface ? `interface ${name} ` : `type ${name} = `;
      types.push(`${comment}export ${head}${type}${isInterface ? '' : ';'}\n`);
    }
    return types.join('\n');
  }

  #nameReference(reference: string): string {
    if (!reference.startsWith(PREFIX)) return 'unknown';
    const [key = ''] = parsePointer(`#/${reference.slice(PREFIX.length)}`) ?? [];
    const { schemas, modules } = this.#model;
    if (!Object.hasOwn(schemas, key)) return 'unknown';
    const first = this.#groups.get(key) ?? key;
    const module = findModule(first, modules);
    const schema = schemas[first];
    return this.#name(first, nameComponent(first, schema, module), schema, this.of(module));
  }

  #name(key: string, preferred: string, schema: unknown, names: TypeNames): string {
    const cached = this.#named.get(key);
    if (cached !== undefined) return cached.name;
    const name = this.#unique.add(preferred);
    this.#named.set(key, { name, schema, names });
    return name;
  }
}

function listRuntimeTypes(): string[] {
  const declared = RUNTIME_TYPES.matchAll(/(?:interface|type) (\w+)/g);
  const names = [...declared].map(([, name = '']) => name);
  // Names of the runtime that are not exported, and names of the platform.
  return [...names, 'Client', 'Route', 'Input', 'Send', 'Array', 'Promise', 'Record', 'Parameters'];
}

function listModuleTypes({ modules }: ClientModel): string[] {
  return modules.flatMap(({ typeName, errorName, functions }) => [
    typeName,
    errorName,
    ...functions.flatMap((route) => {
      return TYPE_SUFFIXES.map((suffix) => `${route.typeName}${suffix}`);
    }),
  ]);
}
