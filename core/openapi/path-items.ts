import {
  listParameters,
  type RouteTemplate,
  writeTemplate,
} from '../lib/routing/route-template.js';
import type { DescribedModule, DescribedRoute } from './described-module.js';

export interface PlacedRoute {
  readonly route: DescribedRoute;
  readonly parameters: readonly PathParameter[];
}

export interface PathParameter {
  /** The name of the parameter in the path of the item. */
  readonly name: string;
  readonly declaredName: string;
  readonly isRest: boolean;
}

interface PathItem {
  /** `/modules/acme%2Fcrm/http/contacts/{id}` */
  readonly path: string;
  readonly routes: readonly PlacedRoute[];
}

/** A route that the document cannot contain besides another one. */
export interface HiddenRoute {
  readonly method: string;
  readonly path: string;
}

/** Characters that must be encoded in the path of a URL. */
const ENCODED = /[^A-Za-z0-9\-._~!$&'()*+,;=:@]+/g;

/**
 * Creates the path items of a module. Routes of one shape share an item with the parameter names of
 * the first route: OpenAPI has no rest parameters, so `{rest...}` has the shape of `{id}`. Of two
 * routes with one method and shape, the one with the rest parameter is hidden, and a WebSocket is
 * hidden beside another route.
 * @param prefix the prefix of each template: the path of the module, or empty below a mount
 * @param shows whether a route is part of the document; other routes affect neither names nor what
 * is hidden
 */
export function createPathItems(
  { routes }: Pick<DescribedModule, 'routes'>,
  prefix: string,
  shows: (route: DescribedRoute) => boolean,
) {
  const byShape = new Map<string, DescribedRoute[]>();
  for (const route of routes.entries) {
    const shape = describeShape(route.template);
    const group = byShape.get(shape);
    if (group === undefined) byShape.set(shape, [route]);
    else group.push(route);
  }
  const items: PathItem[] = [];
  const hidden: HiddenRoute[] = [];
  for (const [shape, group] of byShape) {
    const names = nameItem(group);
    const visible = group.filter(shows);
    const shownRoutes = visible.filter((route) => !isHidden(route, visible));
    if (shownRoutes.length < visible.length) {
      const others = visible.filter((route) => !shownRoutes.includes(route));
      hidden.push(...others.map((route) => describeHidden(route, prefix)));
    }
    if (shownRoutes.length === 0) continue;
    items.push({
      path: prefix + nameShape(shape, names) || ROOT,
      routes: shownRoutes.map((route) => ({ route, parameters: nameParameters(route, names) })),
    });
  }
  return { items, hidden };
}

/** The parameter names of the first route of a shape in the document of all routes. */
function nameItem(group: readonly DescribedRoute[]): string[] {
  const first = group.find((route) => !isHidden(route, group));
  return first === undefined ? [] : listParameters(first.template).map(({ name }) => name);
}

function isHidden(route: DescribedRoute, group: readonly DescribedRoute[]): boolean {
  if (group.length === 1) return false;
  const others = group.filter((other) => other !== route && other.method === route.method);
  const hasRest = hasRestParameter(route);
  if (others.some((other) => hasRestParameter(other) === hasRest)) return route.value.isWebSocket;
  return hasRest && others.length > 0;
}

function hasRestParameter({ template }: DescribedRoute): boolean {
  return listParameters(template).some(({ kind }) => kind === 'rest');
}

function describeHidden({ method, template }: DescribedRoute, prefix: string): HiddenRoute {
  return { method, path: prefix + (template.text === ROOT ? '' : template.text) || ROOT };
}

function nameParameters(route: DescribedRoute, names: readonly string[]): PathParameter[] {
  return listParameters(route.template).map(({ kind, name }, index) => {
    return { name: names[index] ?? name, declaredName: name, isRest: kind === 'rest' };
  });
}

const ROOT = '/';
const PARAMETER = '{}';

/** The shape of the root of a module is empty. */
function describeShape(template: RouteTemplate): string {
  return writeTemplate(
    template,
    (text) => text.replace(ENCODED, encodeURIComponent),
    () => PARAMETER,
  );
}

/** Adds the names of parameters to a shape: no other part of it has a brace. */
function nameShape(shape: string, names: readonly string[]): string {
  return names.reduce((path, name) => path.replace(PARAMETER, () => `{${name}}`), shape);
}
