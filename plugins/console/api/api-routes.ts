import type { Actor, HostApi, HostResource } from '../../../core/contract/index.js';
import { createMethodError, createNotFound } from '../../shared/surface-errors.js';
import { CONSOLE } from '../paths.js';
import { assertScope, assertUser, MODULES_SCOPE, SESSIONS_SCOPE } from './scopes.js';

/** Asserts the right of a caller. @throws SurfaceError 403. */
type Right = (actor: Actor) => void;

const session: Right = () => {};
const scope =
  (name: string): Right =>
  (actor) =>
    assertScope(actor, name);
/** The right that each method of a path requires. */
export type Methods = Readonly<Record<string, Right>>;

/** What the head of a request below /console/api decides. */
interface ApiRoute {
  /** `null` for a path of a module, whose methods the host decides. */
  readonly methods: Methods | null;
  readonly isOfHost: boolean;
}

/** The host decides the right to a route that reads no body. */
const READ: Methods = { GET: session, HEAD: session };

/** The paths of the console itself. */
const OWN: Readonly<Record<string, Methods>> = {
  '/events': { GET: session },
  '/host': { GET: session },
  '/oidc/start': { GET: session },
  '/samples': { GET: scope(MODULES_SCOPE) },
  '/session': { GET: session, POST: session, DELETE: session },
  '/session/developer': { POST: session },
  '/sessions': { GET: scope(SESSIONS_SCOPE), HEAD: scope(SESSIONS_SCOPE) },
  '/sessions/:id': { DELETE: scope(SESSIONS_SCOPE) },
  '/sign-in': { GET: session },
};

/** The routes of the host besides those of modules, by path. */
export function groupByPath(resources: HostApi['resources']): ReadonlyMap<string, Methods> {
  const routes = new Map<string, Methods>();
  for (const resource of resources) {
    const { method, path } = resource;
    const added = method === 'GET' ? READ : { [method]: requireRight(resource) };
    routes.set(path, { ...routes.get(path), ...added });
  }
  return routes;
}

function requireRight({ scope: name, isForUsers }: HostResource): Right {
  return (actor) => {
    if (name !== null) assertScope(actor, name);
    if (isForUsers) assertUser(actor);
  };
}

/** @throws SurfaceError 404. */
export function findApiRoute(path: string, ofHost: ReadonlyMap<string, Methods>): ApiRoute {
  const [, first = '', second = '', third] = path.split('/');
  if (first === 'modules' && third === 'http') return { methods: null, isOfHost: true };
  const names = second === '' || third !== undefined ? [path] : [path, `/${first}/:id`];
  for (const name of names) {
    const methods = OWN[name] ?? ofHost.get(name);
    if (methods !== undefined) return { methods, isOfHost: ofHost.has(name) };
  }
  throw createNotFound(CONSOLE);
}

/** @throws SurfaceError 405, and 403 without the right of the route. */
export function assertApiRight({ methods }: ApiRoute, method: string, actor: Actor): void {
  if (methods === null) return;
  const assertRight = methods[method];
  if (assertRight === undefined) throw createMethodError(...Object.keys(methods));
  assertRight(actor);
}
