import type { OpenApiQuery } from '../../operations/status/read-openapi.js';
import type { HostContext } from '../request-context.js';
import { moduleParameter, readQuery } from './query.js';

const CALLABLE = new Map([
  ['true', true],
  ['false', false],
]);

const PARAMETERS = {
  module: { ...moduleParameter, isList: true },
  callable: { expected: 'true or false', parse: (text: string) => CALLABLE.get(text) ?? null },
} as const;

/** `GET /openapi.json?module=&callable=`; `module` may be repeated. @throws HostError 400. */
export function readOpenApiQuery(ctx: HostContext): OpenApiQuery {
  const { module: modules, callable } = readQuery(ctx, PARAMETERS);
  return { modules: modules && new Set(modules), callable: callable ?? false };
}
