import { asObject } from '../json-value.js';
import { type ClientModel, unescapeKey } from './client-model.js';
import { formatComment } from './comment.js';
import { toTypeName, UniqueNames } from './names.js';
import { RUNTIME_TYPES } from './runtime.js';
import { describeSchema, typeOfSchema } from './schema-type.js';

const PREFIX = '#/components/schemas/';

/** The types of the schemas that routes refer to, directly or through another schema. */
export class SchemaTypes {
  readonly #model: ClientModel;
  readonly #unique: UniqueNames;
  /** Type names by the key in `components.schemas`. */
  readonly #names = new Map<string, string>();

  constructor(model: ClientModel) {
    this.#model = model;
    this.#unique = new UniqueNames([...listRuntimeTypes(), ...listModuleTypes(model)]);
  }

  readonly nameOf = (reference: string): string => {
    if (!reference.startsWith(PREFIX)) return 'unknown';
    const key = unescapeKey(reference.slice(PREFIX.length));
    const known = this.#names.get(key);
    if (known !== undefined) return known;
    if (!Object.hasOwn(this.#model.schemas, key)) return 'unknown';
    const name = this.#unique.add(toTypeName(key));
    this.#names.set(key, name);
    return name;
  };

  /** Types may refer to further ones, which are added while the map is read. */
  write(): string {
    const types: string[] = [];
    for (const [key, name] of this.#names) {
      const schema = asObject(this.#model.schemas)[key];
      const type = typeOfSchema(schema, this.nameOf);
      const comment = formatComment(describeSchema(schema), '');
      const isInterface = type.startsWith('{\n') && type.indexOf('\n}') === type.length - 2;
      const head = isInterface ? `interface ${name} ` : `type ${name} = `;
      types.push(`${comment}export ${head}${type}${isInterface ? '' : ';'}\n`);
    }
    return types.join('\n');
  }
}

function listRuntimeTypes(): string[] {
  const declared = RUNTIME_TYPES.matchAll(/(?:interface|type) (\w+)/g);
  const names = [...declared].map(([, name = '']) => name);
  // Names of the runtime that are not exported, and of the platform.
  return [...names, 'Client', 'Route', 'Input', 'Send', 'Array', 'Promise', 'Record', 'Parameters'];
}

function listModuleTypes({ modules }: ClientModel): string[] {
  return modules.flatMap(({ typeName, functions }) => [
    typeName,
    ...functions.flatMap((route) => {
      return ['Input', 'Data', 'Error'].map((suffix) => `${route.typeName}${suffix}`);
    }),
  ]);
}
