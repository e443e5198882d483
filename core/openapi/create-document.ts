import { createHash } from 'node:crypto';
import canonicalize from 'canonicalize';
import { Components } from './component-schemas.js';
import type { DescribedHost, DescribedModule, DescribedRoute } from './described-module.js';
import { compareNames, type OperationNames } from './operation-names.js';
import { createOperation } from './operation-object.js';
import { createPathItems, type HiddenRoute } from './path-items.js';
import { createProblemSchemas, ProblemResponses } from './problem-responses.js';
import { createSecuritySchemes } from './security-schemes.js';

const VERSION = '3.1.0';

interface DocumentInput {
  readonly host: DescribedHost;
  /** Of all routes of the host. */
  readonly names: OperationNames;
}

/** An OpenAPI document as JSON text, made module by module: a large one takes longer than others can wait. */
export class DocumentBuilder {
  readonly #input: DocumentInput;
  readonly #schemes: Readonly<Record<string, unknown>>;
  readonly #components = new Components();
  readonly #schemas: string[] = [JSON.stringify(createProblemSchemas()).slice(1, -1)];
  readonly #responses: ProblemResponses;
  readonly #paths: string[] = [];
  readonly #hidden: HiddenRoute[] = [];
  readonly #tags = new Map<string, string | undefined>();
  readonly #shown: DescribedModule[] = [];

  constructor(input: DocumentInput) {
    this.#input = input;
    this.#schemes = createSecuritySchemes(input.host);
    this.#responses = new ProblemResponses(input.host);
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
      schemes: Object.keys(this.#schemes),
    };
    const tags = new Set<string>();
    const before = this.#paths.length;
    for (const { path, routes } of items) {
      const operations: string[] = [];
      for (const placed of routes) {
        const name = names.get(placed.route);
        if (name === undefined || !shows(placed.route)) continue;
        const { method, value } = placed.route;
        const text = createOperation(module, placed, name, context);
        operations.push(`"${method.toLowerCase()}":${text}`);
        for (const tag of value.declared.tags ?? []) tags.add(tag);
      }
      if (operations.length === 0) continue;
      this.#paths.push(`${JSON.stringify(path)}:{${operations.join(',')}}`);
    }
    this.#schemas.push(...this.#components.takeTexts());
    if (module.routes.entries.length > 0 && this.#paths.length === before) return;
    this.#shown.push(module);
    this.#hidden.push(...hidden);
    this.#tags.set(module.name, module.manifest.summary);
    for (const tag of tags) if (!this.#tags.has(tag)) this.#tags.set(tag, undefined);
  }

  /** The document as UTF-8. */
  build(): Buffer {
    const { host } = this.#input;
    const head = {
      openapi: VERSION,
      info: { title: 'modgate', version: digestModules(this.#shown) },
      servers: [{ url: host.publicUrl ?? '/' }],
      tags: [...this.#tags].map(([name, description]) => ({ name, description })),
      ...(this.#hidden.length > 0 && { 'x-modgate-hidden': this.#hidden }),
    };
    const others = {
      responses: this.#responses.components,
      securitySchemes: this.#schemes,
    };
    const parts = [
      `${JSON.stringify(head).slice(0, -1)},"paths":{`,
      this.#paths.join(','),
      '},"components":{"schemas":{',
      this.#schemas.join(','),
      `},${JSON.stringify(others).slice(1)}}`,
    ];
    return Buffer.from(parts.join(''));
  }
}

/** `sha256:` over the canonical form of the names and configuration digests. */
function digestModules(modules: readonly DescribedModule[]): string {
  const pairs = modules
    .toSorted(compareNames)
    .map(({ name, configDigest }) => [name, configDigest]);
  const text = canonicalize(pairs) ?? '';
  return `sha256:${createHash('sha256').update(text).digest('hex')}`;
}
