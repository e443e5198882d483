import { type Attack, reject } from '../attack.js';

type Row = readonly [name: string, title: string, path: string];

/** Paths that must be forwarded unchanged. */
const FORWARDED: readonly Row[] = [
  ['bytes-space', 'an encoded space stays encoded', '/items/a%20b'],
  ['bytes-case', 'the case of an encoding stays', '/items/%c3%A9'],
  ['bytes-needless', 'a needless encoding stays', '/items/%61'],
  ['bytes-matrix', 'a semicolon is an ordinary character', '/items/a;b=c'],
  ['bytes-query', 'dots in a query are ignored', '/items/1?next=/../../locked&x=%2e%2e'],
  ['bytes-two-queries', 'a second question mark stays', '/items/1?a?b'],
];

/** Paths of all forms below the module that lead to a route that the caller may not call. */
const FORMS: readonly (readonly [name: string, title: string, path: string, status: number])[] = [
  ['final-slash', 'a final slash of a locked route', '/reports/', 403],
  ['mixed-neighbor', 'a locked literal beside a mixed segment', '/docs/secret.json', 403],
  ['mixed-slash', 'an encoded slash in a mixed segment', '/docs/a%2fsecret.json', 404],
  ['encoded-dots', 'dots behind an encoded slash', '/queues/%2f..%2flocked', 404],
  ['encoded-matrix', 'dots and a semicolon behind an encoded slash', '/queues/%2f..%3b', 404],
  ['encoded-twice', 'dots and slashes encoded twice', '/queues/a%252f%252e%252e', 404],
  ['encoded-reverse', 'a backslash encoded twice', '/queues/..%255clocked', 404],
];

export const PATH_CASES: readonly Attack[] = [
  ...FORWARDED.map(
    ([name, title, path]): Attack => ({
      id: `path-${name}`,
      title,
      send: { path },
      forwarded: ({ target }) => (target === path ? null : `the provider received ${target}`),
    }),
  ),
  ...FORMS.map(([name, title, path, status]) =>
    reject(`path-${name}`, title, { target: `/modules/paths/http${path}` }, status),
  ),
];
