import type { JsonSchema, RouteOperation, SchemaObject } from '../contract/index.js';
import type { Descriptor, SchemaMode } from '../descriptor/descriptor.js';
import { checkBody } from '../schema/check-body.js';
import type { CompiledSchema, SchemaRegistry } from '../schema/compile-schema.js';
import { QuerySchema, type QueryViolation } from '../schema/query-schema.js';
import type { CheckLimits, SchemaViolation } from '../schema/run.js';
import { type CheckCaller, schemaChecks } from '../schema/schema-checks.js';

/** `off` is equivalent to no schema. */
export type CheckedMode = Exclude<SchemaMode, 'off'>;

export interface RouteSchemas {
  readonly input: BodySchema | null;
  readonly query: CheckedTexts | null;
  readonly path: CheckedTexts | null;
  readonly output: BodySchema | null;
}

/**
 * Returns `null` for a route without schemas, or with schemas that the descriptor disables: it then
 * costs nothing.
 */
export function createRouteSchemas(
  { schemas }: Pick<Descriptor, 'schemas'>,
  operation: RouteOperation | undefined,
  registry: SchemaRegistry,
): RouteSchemas | null {
  const { input_schema: input, output_schema: output } = operation ?? {};
  const createTexts = (schema: SchemaObject | null | undefined) =>
    schemas.input === 'off' || !schema ? null : new CheckedTexts(schemas.input, schema, registry);
  const created = {
    input: createBodySchema(schemas.input, input, registry),
    query: createTexts(operation?.query_schema),
    path: createTexts(operation?.path_params_schema),
    output: createBodySchema(schemas.output, output, registry),
  };
  return Object.values(created).some((one) => one !== null) ? created : null;
}

function createBodySchema(
  mode: SchemaMode,
  schema: JsonSchema | null | undefined,
  registry: SchemaRegistry,
) {
  if (mode === 'off' || schema === undefined || schema === null) return null;
  return new BodySchema(mode, schema, registry);
}

/** The schema of a body, compiled at first use: most routes of a large host are rarely called. */
class BodySchema {
  readonly mode: CheckedMode;
  readonly #checked: {
    readonly of: 'body';
    readonly schema: JsonSchema;
    readonly registry: SchemaRegistry;
  };
  #compiled: CompiledSchema | null = null;

  constructor(mode: CheckedMode, schema: JsonSchema, registry: SchemaRegistry) {
    this.mode = mode;
    this.#checked = { of: 'body', schema, registry };
  }

  /**
   * Returns a promise only if the check takes long.
   * @param body JSON in UTF-8
   * @throws QueueFull, also as a rejection.
   */
  findViolations(
    body: Buffer,
    caller: CheckCaller,
  ): readonly SchemaViolation[] | Promise<readonly SchemaViolation[]> {
    return schemaChecks.find(this.#checked, body, (limits) => this.#check(body, limits), caller);
  }

  #check(body: Buffer, limits: CheckLimits): readonly SchemaViolation[] {
    this.#compiled ??= this.#checked.registry.compile(this.#checked.schema);
    return checkBody(this.#compiled, body, limits);
  }
}

/** The schema of a query, or of the parameters of a path, compiled at first use. */
class CheckedTexts {
  readonly mode: CheckedMode;
  readonly #checked: {
    readonly of: 'query';
    readonly schema: SchemaObject;
    readonly registry: SchemaRegistry;
  };
  #compiled: QuerySchema | null = null;

  constructor(mode: CheckedMode, schema: SchemaObject, registry: SchemaRegistry) {
    this.mode = mode;
    this.#checked = { of: 'query', schema, registry };
  }

  /**
   * Returns a promise only if the check takes long.
   * @param form names and values, encoded as in a query
   * @throws QueueFull, also as a rejection.
   */
  findViolations(
    form: string,
    caller: CheckCaller,
  ): readonly QueryViolation[] | Promise<readonly QueryViolation[]> {
    const check = (limits: CheckLimits) => this.#check(form, limits);
    return schemaChecks.find(this.#checked, Buffer.from(form), check, caller);
  }

  #check(query: string, limits: CheckLimits): readonly QueryViolation[] {
    this.#compiled ??= new QuerySchema(this.#checked.schema, this.#checked.registry);
    return this.#compiled.findViolations(query, limits);
  }
}
