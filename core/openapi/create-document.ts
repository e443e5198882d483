import { createHash } from 'node:crypto';
import { Components } from './component-schemas.js';
import type { DescribedHost, DescribedModule, DescribedRoute } from './described-module.js';
import { jsonText } from './json-text.js';
import { compareNames, type OperationNames } from './operation-names.js';
import { writeOperation } from './operation-object.js';
import { createPathItems, type HiddenRoute } from './path-items.js';
import { createProblemSchemas, ProblemResponses } from './problem-responses.js';
import { createSecuritySchemes } from './security-schemes.js';
import { TextBytes } from './text-bytes.js';

const VERSION = '3.1.0';

interface DocumentInput {
  readonly host: DescribedHost;
  /** Of all routes of the host. */
  readonly names: OperationNames;
}

/** A document as it is sent. */
export interface BuiltDocument {
  readonly bytes: Buffer;
  /** Changes exactly when the bytes do. */
  readonly etag: string;
}

/**
 * An OpenAPI document as JSON text, made module by module: a large one takes longer than others can wait. So that
 * its end is quick as well, each module is encoded and hashed when it is added.
 */
export class DocumentBuilder {
  readonly #input: DocumentInput;
  readonly #schemes: Readonly<Record<string, unknown>>;
  readonly #components = new Components();
  readonly #responses: ProblemResponses;
  readonly #securities = new Map<string | null, string>();
  readonly #paths = new TextBytes();
  readonly #schemas = new TextBytes();
  readonly #hidden: HiddenRoute[] = [];
  readonly #tags = new Map<string, string | undefined>();
  readonly #shown: DescribedModule[] = [];
  #hasPaths = false;

  constructor(input: DocumentInput) {
    this.#input = input;
    this.#schemes = createSecuritySchemes(input.host);
    this.#responses = new ProblemResponses(input.host);
    this.#schemas.append(jsonText(createProblemSchemas()).slice(1, -1));
  }

  /**
   * Adds the next module by name.
   * @param shows whether a route is part of the document; a module without such a route is left out
   */
  add(module: DescribedModule, shows: (route: DescribedRoute) => boolean = () => true): void {
    const { names } = this.#input;
    const { items, hidden } = createPathItems(module);
    const context = {
      components: this.#components,
      problems: this.#responses.of(module),
      security: (capability: string | null) => this.#writeSecurity(capability),
    };
    const tags = new Set<string>();
    let paths = '';
    for (const { path, routes } of items) {
      let operations = '';
      for (const placed of routes) {
        const { route } = placed;
        if (!shows(route)) continue;
        const text = writeOperation(module, placed, names.of(route), context);
        operations += `${operations === '' ? '' : ','}"${route.method.toLowerCase()}":${text}`;
        for (const tag of route.value.declared.tags ?? []) tags.add(tag);
      }
      if (operations === '') continue;
      const isFirst = paths === '' && !this.#hasPaths;
      paths += `${isFirst ? '' : ','}${jsonText(path)}:{${operations}}`;
    }
    if (module.routes.entries.length > 0 && paths === '') return;
    this.#hasPaths ||= paths !== '';
    this.#paths.append(paths);
    for (const text of this.#components.takeTexts()) this.#schemas.append(`,${text}`);
    this.#shown.push(module);
    this.#hidden.push(...hidden);
    this.#tags.set(module.name, module.manifest.summary);
    for (const tag of tags) if (!this.#tags.has(tag)) this.#tags.set(tag, undefined);
  }

  build(): BuiltDocument {
    const { host } = this.#input;
    const head = {
      openapi: VERSION,
      info: { title: 'modgate', version: digestModules(this.#shown) },
      servers: [{ url: host.publicUrl ?? '/' }],
      tags: [...this.#tags].map(([name, description]) => ({ name, description })),
      ...(this.#hidden.length > 0 && { 'x-modgate-hidden': this.#hidden }),
    };
    const others = { responses: this.#responses.components, securitySchemes: this.#schemes };
    const start = Buffer.from(`${jsonText(head).slice(0, -1)},"paths":{`);
    const middle = Buffer.from('},"components":{"schemas":{');
    const end = Buffer.from(`},${jsonText(others).slice(1)}}`);
    const paths = this.#paths.end();
    const schemas = this.#schemas.end();
    const hash = createHash('sha256').update(start).update(end);
    const digest = hash.update(paths.digest).update(schemas.digest).digest('base64url');
    const bytes = Buffer.concat([start, ...paths.pieces, middle, ...schemas.pieces, end]);
    return { bytes, etag: `"${digest}"` };
  }

  #writeSecurity(capability: string | null): string {
    const known = this.#securities.get(capability);
    if (known !== undefined) return known;
    const roles = capability === null ? [] : [capability];
    const text = jsonText(Object.keys(this.#schemes).map((scheme) => ({ [scheme]: roles })));
    this.#securities.set(capability, text);
    return text;
  }
}

/** `sha256:` over the canonical form of the names and configuration digests, which JSON has only one form of. */
function digestModules(modules: readonly DescribedModule[]): string {
  const pairs = modules
    .toSorted(compareNames)
    .map(({ name, configDigest }) => [name, configDigest]);
  return `sha256:${createHash('sha256').update(jsonText(pairs)).digest('hex')}`;
}
