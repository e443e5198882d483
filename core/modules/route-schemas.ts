import type { JsonSchema, RouteOperation } from '../contract/index.js';
import type { Descriptor, SchemaMode } from '../descriptor/descriptor.js';
import { checkBody } from '../schema/check-body.js';
import { type CompiledSchema, compileSchema } from '../schema/compile-schema.js';
import { QuerySchema, type QueryViolation } from '../schema/query-schema.js';
import type { SchemaViolation } from '../schema/run.js';

/** `off` is the same as no schema. */
export type CheckedMode = Exclude<SchemaMode, 'off'>;

/** The schemas of a route that are checked. */
export interface RouteSchemas {
  readonly input: BodySchema | null;
  readonly query: CheckedQuery | null;
  readonly output: BodySchema | null;
}

/** `null` for a route without schemas, or whose descriptor switches them off: it costs nothing then. */
export function createRouteSchemas(
  { schemas }: Pick<Descriptor, 'schemas'>,
  operation: RouteOperation | undefined,
): RouteSchemas | null {
  const { input_schema: input, output_schema: output, query_schema: query } = operation ?? {};
  const created = {
    input: createBodySchema(schemas.input, input),
    query: schemas.input === 'off' || !query ? null : new CheckedQuery(schemas.input, query),
    output: createBodySchema(schemas.output, output),
  };
  return created.input || created.query || created.output ? created : null;
}

function createBodySchema(mode: SchemaMode, schema: JsonSchema | null | undefined) {
  if (mode === 'off' || schema === undefined || schema === null) return null;
  return new BodySchema(mode, schema);
}

/** The schema of a body, compiled at the first one: most routes of a large host are rarely called. */
class BodySchema {
  readonly mode: CheckedMode;
  readonly #schema: JsonSchema;
  #compiled: CompiledSchema | null = null;

  constructor(mode: CheckedMode, schema: JsonSchema) {
    this.mode = mode;
    this.#schema = schema;
  }

  /** @param body known to be JSON in UTF-8 */
  findViolations(body: Buffer): readonly SchemaViolation[] {
    this.#compiled ??= compileSchema(this.#schema);
    return checkBody(this.#compiled, body);
  }
}

/** The schema of a query, compiled at the first one. */
class CheckedQuery {
  readonly mode: CheckedMode;
  readonly #schema: Exclude<JsonSchema, boolean>;
  #compiled: QuerySchema | null = null;

  constructor(mode: CheckedMode, schema: Exclude<JsonSchema, boolean>) {
    this.mode = mode;
    this.#schema = schema;
  }

  /** @param target the path and query of a request */
  findViolations(target: string): readonly QueryViolation[] {
    this.#compiled ??= new QuerySchema(this.#schema);
    const start = target.indexOf('?');
    return this.#compiled.findViolations(start === -1 ? '' : target.slice(start + 1));
  }
}
