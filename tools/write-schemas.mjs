// Writes the JSON Schemas of descriptors and manifests into dist/core/schemas. They follow from the
// structs that validate the files, so build first: node tools/write-schemas.mjs [dist]
import { existsSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { Struct } from 'superstruct';

const outDir = resolve(process.argv[2] ?? 'dist');
const BASE = 'https://modgate.example/schemas/v1';

const load = (path) => import(pathToFileURL(join(outDir, path)).href);
const { mayBeAbsent, readDescription } = await load('core/contract/described.js');
const { SECRET_REFERENCE, SECRET_REFERENCE_TYPE, FILE_REFERENCE_TYPE } =
  await load('core/contract/index.js');
const { descriptorStruct } = await load('core/descriptor/sections.js');
const { manifestStruct } = await load('core/manifest/manifest-struct.js');

const REFERENCES = {
  [SECRET_REFERENCE_TYPE]: {
    name: 'secretReference',
    schema: {
      type: 'string',
      pattern: SECRET_REFERENCE.source,
      description: 'env:NAME or file:PATH, never the secret itself.',
    },
  },
  [FILE_REFERENCE_TYPE]: {
    name: 'fileReference',
    schema: {
      type: 'string',
      minLength: 1,
      pattern: '^[^\\n\\u0000]*$',
      description:
        'A path relative to the descriptor, file:PATH, or env:NAME for the content of a variable.',
    },
  },
};

/** superstruct's own types that are types of JSON Schema too. */
const PLAIN_TYPES = ['boolean', 'integer', 'number', 'string'];

class SchemaWriter {
  definitions = {};

  write(struct) {
    const { keywords, definition } = readDescription(struct);
    const converted = this.convert(keywords);
    if (definition !== null)
      return { ...this.define(definition.name, definition.struct), ...converted };
    return { ...this.writeType(struct), ...converted };
  }

  define(name, struct) {
    this.definitions[name] ??= this.write(struct);
    return { $ref: `#/$defs/${name}` };
  }

  writeType(struct) {
    const { type, schema } = struct;
    if (type in REFERENCES) {
      this.definitions[REFERENCES[type].name] = REFERENCES[type].schema;
      return { $ref: `#/$defs/${REFERENCES[type].name}` };
    }
    if (PLAIN_TYPES.includes(type)) return { type };
    if (type === 'enums') return { enum: Object.values(schema) };
    if (type === 'literal') return { const: schema };
    if (type === 'array') return { type: 'array', items: this.write(schema) };
    return type === 'object' ? this.writeObject(schema) : {};
  }

  writeObject(members) {
    const entries = Object.entries(members);
    const required = entries.filter(([, member]) => !mayBeAbsent(member)).map(([key]) => key);
    return {
      type: 'object',
      ...(required.length > 0 && { required }),
      additionalProperties: false,
      properties: Object.fromEntries(entries.map(([key, member]) => [key, this.write(member)])),
    };
  }

  /** Structs may stand anywhere among the keywords. */
  convert(value) {
    if (value instanceof Struct) return this.write(value);
    if (Array.isArray(value)) return value.map((item) => this.convert(item));
    if (typeof value !== 'object' || value === null) return value;
    return Object.fromEntries(Object.entries(value).map(([key, one]) => [key, this.convert(one)]));
  }
}

/** The kinds of the plugins that modgate ships, with the structs of their configs. */
async function loadKinds() {
  const folders = readdirSync(join(outDir, 'plugins')).filter((name) =>
    existsSync(join(outDir, 'plugins', name, 'plugin.json')),
  );
  const plugins = await Promise.all(folders.map((name) => load(`plugins/${name}/index.js`)));
  return plugins.flatMap(({ default: { adapters = [] } }) => adapters).toSorted(byKind);
}

const byKind = (one, other) => (one.kind < other.kind ? -1 : 1);

/** The config of a provider depends on its kind. */
function addConfigs(writer, adapters) {
  const { provider } = writer.definitions;
  provider.allOf = adapters.map(({ kind, config }) => {
    const description = `Configuration of the kind ${kind}.`;
    const reference = { ...writer.define(`${kind}Config`, config), description };
    const { required } = writer.definitions[`${kind}Config`];
    return {
      if: { required: ['kind'], properties: { kind: { const: kind } } },
      // biome-ignore lint/suspicious/noThenProperty: a keyword of JSON Schema
      then: { ...(required && { required: ['config'] }), properties: { config: reference } },
    };
  });
}

/** Adapters define a part of each route. */
function addOperations(writer, adapters) {
  const { properties } = writer.definitions.route.properties.operation;
  for (const { kind, operation } of adapters) {
    if (operation === undefined) continue;
    const description = `What providers of the kind ${kind} read of the route.`;
    properties[kind] = { ...writer.write(operation), description };
  }
}

function save(name, root, writer) {
  const schema = {
    $schema: 'https://json-schema.org/draft/2020-12/schema',
    $id: `${BASE}/${name}.schema.json`,
    ...root,
    $defs: writer.definitions,
  };
  const folder = join(outDir, 'core/schemas');
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, `${name}.schema.json`), `${JSON.stringify(schema, null, 2)}\n`);
}

const adapters = await loadKinds();

const manifest = new SchemaWriter();
const manifestRoot = manifest.write(manifestStruct);
addOperations(manifest, adapters);
save('manifest', manifestRoot, manifest);

const descriptor = new SchemaWriter();
const root = descriptor.write(descriptorStruct);
addConfigs(descriptor, adapters);
save('descriptor', root, descriptor);
