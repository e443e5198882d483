import type { BodyRule, ManifestRoute } from '../contract/index.js';

/** Whether the calls of a route have a body, as declared or by default. */
export function bodyRuleOf(route: ManifestRoute): BodyRule {
  return route.operation?.body ?? defaultBodyRule(route);
}

/** The default for a method: `none` for GET, whose body is then ignored. */
export function defaultBodyRule({ method }: { readonly method: string }): BodyRule {
  return method === 'GET' || method === 'DELETE' ? 'none' : 'required';
}
