export type JsonObject = Readonly<Record<string, unknown>>;

/** One operation of the OpenAPI document of a host. */
export interface ApiOperation {
  readonly module: string;
  readonly method: string;
  /** The path with `{name}` for parameters. */
  readonly path: string;
  readonly parameters: readonly JsonObject[];
  readonly operation: JsonObject;
}

const METHODS = ['get', 'post', 'put', 'patch', 'delete'] as const;

export class ApiDocument {
  readonly root: JsonObject;

  constructor(root: unknown) {
    this.root = asObject(root);
  }

  /** Lists operations by module, in the order of the document. */
  listModules(): Map<string, ApiOperation[]> {
    const modules = new Map<string, ApiOperation[]>();
    for (const [path, item] of Object.entries(asObject(this.root['paths']))) {
      for (const method of METHODS) {
        const operation = asObject(item)[method];
        if (typeof operation !== 'object' || operation === null) continue;
        const entry = this.#readOperation(path, method, asObject(item), asObject(operation));
        const operations = modules.get(entry.module);
        if (operations === undefined) modules.set(entry.module, [entry]);
        else operations.push(entry);
      }
    }
    return modules;
  }

  /** Follows references within the document; returns an empty object for a broken reference. */
  follow(value: unknown): JsonObject {
    let current = asObject(value);
    for (let count = 0; count < 20; count += 1) {
      const { $ref: reference } = current;
      if (typeof reference !== 'string') return current;
      current = asObject(this.#find(reference));
    }
    return {};
  }

  #readOperation(path: string, method: string, item: JsonObject, operation: JsonObject) {
    const parameters = [...asList(item['parameters']), ...asList(operation['parameters'])];
    return {
      module: asText(asList(operation['tags'])[0]) || 'modules',
      method: method.toUpperCase(),
      path,
      parameters: parameters.map((parameter) => this.follow(parameter)),
      operation,
    };
  }

  #find(reference: string): unknown {
    const keys = reference.replace(/^#\//, '').split('/');
    return keys.reduce((part: unknown, key) => {
      const name = decodeURIComponent(key).replaceAll('~1', '/').replaceAll('~0', '~');
      return Object.hasOwn(asObject(part), name) ? asObject(part)[name] : undefined;
    }, this.root);
  }
}

export function asObject(value: unknown): JsonObject {
  const isObject = typeof value === 'object' && value !== null && !Array.isArray(value);
  return isObject ? (value as JsonObject) : {};
}

export function asList(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

/** Returns an empty text for any other value. */
export function asText(value: unknown): string {
  return typeof value === 'string' ? value : '';
}

export function readMedia(body: JsonObject): JsonObject {
  const content = Object.entries(asObject(body['content']));
  return asObject(content.find(([type]) => /json/i.test(type))?.[1]);
}

/** The examples of a media type by name. */
export function readExamples(
  api: ApiDocument,
  media: JsonObject,
): [name: string, value: unknown][] {
  const { example, examples } = media;
  const single: [string, unknown][] = example === undefined ? [] : [['example', example]];
  const namedExamples = Object.entries(asObject(examples)).map(
    ([name, entry]): [string, unknown] => {
      return [name, api.follow(entry)['value']];
    },
  );
  return [...single, ...namedExamples];
}
