import { parsePointer } from '../import/openapi-document.js';
import { type ClientModel, type ClientModule, TYPE_SUFFIXES } from './client-model.js';
import { formatComment } from './comment.js';
import { UniqueNames } from './names.js';
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
 * The types of the schemas that routes refer to, directly or through another schema, and of those that a module
 * repeats: one for each structure.
 */
export class SchemaTypes {
  readonly #model: ClientModel;
  readonly #unique: UniqueNames;
  readonly #groups: ReadonlyMap<string, string>;
  /** The schemas by the key in `components.schemas`, or by module and text. */
  readonly #named = new Map<string, NamedSchema>();
  readonly #ofModules = new Map<ClientModule | undefined, TypeNames>();

  constructor(model: ClientModel) {
    this.#model = model;
    this.#unique = new UniqueNames([...listRuntimeTypes(), ...listModuleTypes(model)]);
    this.#groups = groupComponents(model);
  }

  of(module: ClientModule | undefined): TypeNames {
    const known = this.#ofModules.get(module);
    if (known !== undefined) return known;
    const repeated = module === undefined ? new Map<string, string>() : nameRepeated(module);
    const names: TypeNames = {
      ofReference: (reference) => this.#nameReference(reference),
      ofRepeated: (schema) => {
        const text = JSON.stringify(schema);
        const wanted = repeated.get(text);
        if (wanted === undefined) return null;
        return this.#name(`${module?.name} ${text}`, wanted, schema, names);
      },
    };
    this.#ofModules.set(module, names);
    return names;
  }

  /** Types may refer to further ones, which are added while the map is read. */
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

  #name(key: string, wanted: string, schema: unknown, names: TypeNames): string {
    const known = this.#named.get(key);
    if (known !== undefined) return known.name;
    const name = this.#unique.add(wanted);
    this.#named.set(key, { name, schema, names });
    return name;
  }
}

function listRuntimeTypes(): string[] {
  const declared = RUNTIME_TYPES.matchAll(/(?:interface|type) (\w+)/g);
  const names = [...declared].map(([, name = '']) => name);
  // Names of the runtime that are not exported, and of the platform.
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
