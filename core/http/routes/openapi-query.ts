import { MODULE_NAME } from '../../descriptor/identifiers.js';
import type { OpenApiQuery } from '../../operations/status/read-openapi.js';
import type { HostContext } from '../request-context.js';
import { createQueryError } from './query.js';

const MAX_NAME_LENGTH = 64;
const NAMES = ['module', 'callable'];
const USAGE = `use ${NAMES.join(', ')}`;

/** `GET /openapi.json?module=&callable=`; `module` may be repeated. @throws HostError 400. */
export function readOpenApiQuery(ctx: HostContext): OpenApiQuery {
  const query = new URLSearchParams(ctx.querystring);
  for (const name of query.keys()) {
    if (NAMES.includes(name)) continue;
    throw createQueryError(name.slice(0, MAX_NAME_LENGTH), 'unknown', USAGE);
  }
  const modules = query.getAll('module');
  if (!modules.every((name) => MODULE_NAME.test(name))) {
    throw createQueryError('module', 'not the name of a module', USAGE);
  }
  const [callable = 'false', ...others] = query.getAll('callable');
  if (others.length > 0) throw createQueryError('callable', 'repeated', USAGE);
  if (callable !== 'true' && callable !== 'false') {
    throw createQueryError('callable', 'not true or false', USAGE);
  }
  return { modules: modules.length === 0 ? null : new Set(modules), callable: callable === 'true' };
}
