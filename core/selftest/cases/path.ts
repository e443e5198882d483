import type { AttackCase } from '../attack-case.js';
import { expectForwarded, expectRejected } from '../expectations.js';
import { craftRequest } from '../request-bytes.js';

type Row = readonly [name: string, title: string, path: string, evidence?: string];

/** Relative to the module's base. Each is rejected and reaches no provider. */
const REJECTED: readonly Row[] = [
  ['dot-dot', 'two dots in a path', '/items/../locked', 'fastify CVE-2021-21321'],
  ['dot-dot-out', 'two dots that leave the module', '/../../livez'],
  ['dot', 'a dot in a path', '/items/./1'],
  ['encoded-dot-dot', 'two encoded dots', '/items/%2e%2e/locked'],
  ['half-encoded-dots', 'a dot and an encoded one', '/items/.%2e/locked'],
  ['upper-encoded-dots', 'encoded dots in upper case', '/items/%2E%2E/locked'],
  ['encoded-dot', 'an encoded dot', '/items/%2e'],
  ['encoded-slash', 'an encoded slash', '/items/..%2flocked', 'fastify CVE-2026-120213'],
  ['encoded-slash-literal', 'a literal joined by an encoded slash', '/items%2f1'],
  ['backslash', 'a backslash', '/items\\1'],
  ['backslash-dots', 'dots and a backslash', '/items/..\\locked'],
  ['encoded-backslash', 'an encoded backslash', '/items/..%5clocked', 'Traefik CVE-2025-66490'],
  ['double-encoded', 'dots encoded twice', '/items/%252e%252e/locked', 'fastify CVE-2021-21321'],
  ['double-encoded-slash', 'a slash encoded twice', '/items/a%252fb'],
  ['double-encoded-percent', 'a percent encoded twice', '/items/%25%32%66'],
  ['matrix', 'dots with a matrix parameter', '/items/..;/locked', 'Envoy CVE-2026-73551'],
  ['matrix-named', 'dots with a named matrix parameter', '/items/..;x', 'Envoy CVE-2026-73551'],
  ['matrix-dot', 'a dot with a matrix parameter', '/items/.;'],
  ['matrix-encoded', 'encoded dots with a matrix parameter', '/items/%2e%2e%3b/locked'],
  ['empty-segment', 'an empty segment', '/items//1'],
  ['leading-empty', 'an empty first segment', '//items'],
  ['trailing-slash', 'a trailing slash', '/items/'],
  ['encoded-nul', 'an encoded NUL', '/items/a%00'],
  ['encoded-nul-suffix', 'an encoded NUL before a suffix', '/items/1%00.json'],
  ['encoded-crlf', 'an encoded line break', '/items/a%0d%0ax-injected:%201'],
  ['encoded-delete', 'an encoded DEL', '/items/a%7f'],
  ['encoded-c1', 'an encoded C1 control', '/items/a%c2%80'],
  ['overlong-dot', 'an overlong encoding of a dot', '/items/%c0%ae%c0%ae'],
  ['overlong-slash', 'an overlong encoding of a slash', '/items/%c0%af'],
  ['overlong-slash-3', 'an overlong encoding of a slash in three bytes', '/items/%e0%80%af'],
  ['bad-utf8', 'invalid UTF-8', '/items/%ff'],
  ['surrogate', 'a surrogate in UTF-8', '/items/%ed%a0%80'],
  ['cut-utf8', 'a truncated character', '/items/%e2%82'],
  ['percent-alone', 'a percent sign alone', '/items/%'],
  ['percent-one-digit', 'a percent sign and one digit', '/items/%2'],
  ['percent-letters', 'a percent sign and letters', '/items/%zz'],
  ['percent-u', 'the encoding %uXXXX', '/items/%u002e%u002e'],
  ['encoded-question', 'an encoded question mark', '/items/a%3fadmin=1'],
  ['encoded-hash', 'an encoded hash', '/items/a%23b'],
  ['raw-hash', 'a raw hash', '/items#/locked'],
  ['case', 'a literal in another case', '/Items'],
  ['case-locked', 'a locked literal in another case', '/LOCKED'],
  ['space', 'a literal with an encoded space', '/items%20'],
  ['quote', 'a raw quote that a URL parser rewrites', '/items/"a"'],
  ['angle', 'raw angle brackets', '/items/<a>'],
  ['brace', 'a raw brace', '/items/{id}'],
  ['pipe', 'a raw pipe', '/items/a|b'],
  ['backquote', 'a raw backquote', '/items/`a`'],
  ['caret', 'a raw caret', '/items/a^b'],
  ['rest-dot-dot', 'two dots within a rest parameter', '/files/a/../../locked'],
  ['rest-encoded', 'encoded dots within a rest parameter', '/files/%2e%2e/%2e%2e/etc/passwd'],
  ['rest-slash', 'an encoded slash within a rest parameter', '/files/a%2f..%2f..%2fetc'],
  ['rest-absolute', 'an absolute path within a rest parameter', '/files//etc/passwd'],
  ['dots-space', 'dots around an encoded space', '/items/.%20./locked'],
  ['dots-before-space', 'dots before an encoded space', '/items/..%20/locked'],
  ['dots-nul', 'dots before an encoded NUL', '/items/..%00/locked'],
  ['dots-joiner', 'dots around a zero-width space', '/items/.%e2%80%8b./locked'],
  ['dots-wide', 'full-width dots, which Unicode folds', '/items/%ef%bc%8e%ef%bc%8e/locked'],
  ['dots-leaders', 'dot leaders, which Unicode folds', '/items/%e2%80%a4%e2%80%a4/locked'],
  ['dots-utf7', 'dots in UTF-7', '/items/+AC4-+AC4-/locked'],
  ['dots-four', 'four dots', '/items/..../locked'],
  ['session', 'a session parameter and dots', '/items;jsessionid=1/..;/locked'],
  ['encoded-tab', 'an encoded tab', '/items/%09'],
  ['rest-drive', 'a drive and a backslash', '/files/c:%5cwindows'],
  ['rest-url', 'a URL within a rest parameter', '/files/http://169.254.169.254/'],
  ['rest-empty', 'an empty rest parameter', '/files/'],
  ['extension', 'a route with an extension', '/items.json'],
  ['bridge-dot-dot', 'two dots after the bridge', '/console-bridge/../items'],
];

/** The complete target. */
const REJECTED_TARGETS: readonly Row[] = [
  ['module-dot-dot', 'two dots as the module', '/modules/%2e%2e/http/items'],
  [
    'module-slash',
    'a path as the module',
    '/modules/shop%2f..%2fother/http/items',
    'CVE-2026-120213',
  ],
  ['module-two-slashes', 'a module of three parts', '/modules/a%2fb%2fc/http/items'],
  [
    'module-proto',
    'the module __proto__',
    '/modules/__proto__/http/items',
    'Backstage CVE-2026-106491',
  ],
  ['module-constructor', 'the module constructor', '/modules/constructor/http/items'],
  ['module-own-property', 'the module hasOwnProperty', '/modules/hasownproperty/http/items'],
  ['module-case', 'the module in another case', '/modules/SHOP/http/items'],
  ['module-nul', 'a module with a NUL', '/modules/shop%00/http/items'],
  ['module-double', 'a module encoded twice', '/modules/%2573hop/http/items'],
  ['module-empty', 'an empty module', '/modules//http/items'],
  ['module-matrix', 'a module with a matrix parameter', '/modules/shop;x/http/items'],
  ['prefix-case', 'the modules segment in another case', '/MODULES/shop/http/items'],
  ['http-case', 'the http segment in another case', '/modules/shop/HTTP/items'],
  ['prefix-dot-dot', 'a module route reached by two dots', '/livez/../modules/shop/http/items'],
  ['prefix-empty', 'an empty first segment', '//modules/shop/http/items'],
  ['prefix-encoded', 'the modules segment with an encoded letter', '/%6dodules/shop/http/items'],
  ['absolute', 'an absolute form', 'http://127.0.0.1/modules/shop/http/items'],
  [
    'absolute-other',
    'an absolute form of another authority',
    'http://169.254.169.254/latest/meta-data',
  ],
  ['absolute-tls', 'an absolute form with https', 'https://127.0.0.1/modules/shop/http/items'],
  ['absolute-user', 'an absolute form with a user', 'http://a:b@127.0.0.1/modules/shop/http/items'],
  ['absolute-upper', 'an absolute form in upper case', 'HTTP://127.0.0.1/modules/shop/http/items'],
  ['absolute-empty', 'an absolute form without a host', 'http:///modules/shop/http/items'],
  ['absolute-file', 'a file URL', 'file:///etc/passwd'],
  ['network-path', 'a target that starts with a host', '//127.0.0.1/modules/shop/http/items'],
  ['asterisk', 'an asterisk', '*'],
  ['no-slash', 'a target without a slash', 'modules/shop/http/items'],
];

/** Forwarded with exactly the matched bytes. */
const FORWARDED: readonly Row[] = [
  ['bytes-space', 'an encoded space stays encoded', '/items/a%20b'],
  ['bytes-case', 'the case of an encoding stays', '/items/%c3%A9'],
  ['bytes-needless', 'a needless encoding stays', '/items/%61'],
  ['bytes-matrix', 'a semicolon is an ordinary character', '/items/a;b=c'],
  ['bytes-query', 'dots in a query are ignored', '/items/1?next=/../../locked&x=%2e%2e'],
  ['bytes-two-queries', 'a second question mark stays', '/items/1?a?b'],
];

export const PATH_CASES: readonly AttackCase[] = [
  ...REJECTED.map((row) => reject(row, (base) => base + row[2])),
  ...REJECTED_TARGETS.map((row) => reject(row, () => row[2])),
  ...FORWARDED.map(forward),
];

function reject([name, title, , evidence]: Row, target: (base: string) => string): AttackCase {
  return {
    ...describe(name, title, evidence),
    needs: 'token',
    attack: (scene) =>
      expectRejected(scene, craftRequest(scene, { target: target(scene.base) }), {
        statuses: [404, 400],
      }),
  };
}

function forward([name, title, path, evidence]: Row): AttackCase {
  return {
    ...describe(name, title, evidence),
    needs: 'own',
    attack: (scene) =>
      expectForwarded(scene, craftRequest(scene, { target: scene.base + path }), (recorded) =>
        recorded.target === path ? null : `the provider received ${recorded.target}`,
      ),
  };
}

function describe(name: string, title: string, evidence: string | undefined) {
  return {
    id: `path-${name}`,
    class: 'path' as const,
    title,
    ...(evidence !== undefined && { evidence }),
  };
}
