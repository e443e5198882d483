import { parentPort } from 'node:worker_threads';
import { LRUCache } from 'lru-cache';
import { checkBody } from './check-body.js';
import type { CheckRequest, CheckResult, SentSchema } from './check-thread.js';
import { SchemaRegistry } from './compile-schema.js';
import { QuerySchema } from './query-schema.js';
import { type CheckLimits, CheckTooCostly, FULL_CHECK, SHORT_CHECK } from './run.js';

/** Checks one value by a schema. @param bytes a body, or a query */
type Check = (bytes: Buffer, limits: CheckLimits) => CheckResult['violations'];

/** The main thread sends a schema again if it was evicted here. */
const MAX_SCHEMAS = 256;

const checks = new LRUCache<number, Check>({ max: MAX_SCHEMAS });

parentPort?.on('message', (request: CheckRequest) => parentPort?.postMessage(answer(request)));

function answer({ schemaId, schema, pieces, isFull }: CheckRequest): CheckResult {
  const startedAt = performance.now();
  const violations = check(
    schemaId,
    schema,
    Buffer.concat(pieces),
    isFull ? FULL_CHECK : SHORT_CHECK,
  );
  return { violations, cpuMs: performance.now() - startedAt };
}

function check(
  schemaId: number,
  schema: SentSchema | null,
  bytes: Buffer,
  limits: CheckLimits,
): CheckResult['violations'] {
  const run = checks.get(schemaId) ?? (schema && createCheck(schema));
  if (run === null) return 'unknown schema';
  checks.set(schemaId, run);
  try {
    return run(bytes, limits);
  } catch (error) {
    if (error instanceof CheckTooCostly) return 'too costly';
    throw error;
  }
}

function createCheck(sent: SentSchema): Check {
  const registry = new SchemaRegistry(sent.shared);
  if (sent.of === 'query') {
    const query = new QuerySchema(sent.schema, registry);
    return (bytes, limits) => query.findViolations(bytes.toString('utf8'), limits);
  }
  const compiled = registry.compile(sent.schema);
  return (bytes, limits) => checkBody(compiled, bytes, limits);
}
