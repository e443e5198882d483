import { MODULE_NAME } from '../../descriptor/identifiers.js';
import { isDotSegment, UNREACHABLE } from '../../lib/path-segment.js';
import type { ModuleTarget } from '../../operations/request.js';

/**
 * A parsed request target. Parsing works on the raw target and rejects instead of repairing, so that the bytes
 * that are matched, authorized and forwarded are the same.
 */
export type ParsedTarget =
  /** Not of the shape `/modules/{module}/http` or `/modules/{module}/http/{*path}`: a route of the host, or unknown. */
  | { readonly kind: 'host' }
  /** Of the shape, but no route can match it: 404 after authentication. `module` is `null` if it has no valid name. */
  | { readonly kind: 'unmatched'; readonly module: string | null }
  | ({ readonly kind: 'module' } & ModuleTarget);

export const PREFIX = '/modules/';
export const MARK = '/http';
const ROOT = '/';
const HOST: ParsedTarget = { kind: 'host' };
const UNMATCHED: ParsedTarget = { kind: 'unmatched', module: null };

// Visible ASCII except for what a URL parser rewrites or splits on: " # < > ? \ ^ ` { | }
const UNREWRITTEN_PATH = /^[!$-;=@-[\]_a-z~]*$/;
// What can be sent on a request line. The client library throws for anything else.
const SENDABLE_QUERY = /^[!"$-\u00ff]*$/;
const ABSOLUTE_FORM = /^[a-z][a-z0-9+.-]*:\/\/[^/?#]*/i;

/** @param target exactly as on the request line */
export function parseTarget(target: string): ParsedTarget {
  if (!target.startsWith(PREFIX)) return parseForeignForm(target);
  const queryStart = target.indexOf('?');
  const path = queryStart === -1 ? target : target.slice(0, queryStart);
  const moduleEnd = path.indexOf('/', PREFIX.length);
  if (moduleEnd === -1 || !path.startsWith(MARK, moduleEnd)) return HOST;
  // `/modules/{module}/http` is the root, as with a slash behind it.
  const localPath = path.slice(moduleEnd + MARK.length) || ROOT;
  if (!localPath.startsWith('/')) return HOST;

  const query = queryStart === -1 ? '' : target.slice(queryStart);
  const module = decodeSegment(path.slice(PREFIX.length, moduleEnd));
  if (module === null || !MODULE_NAME.test(module)) return UNMATCHED;
  if (!SENDABLE_QUERY.test(query)) return { kind: 'unmatched', module };

  const segments = decodeSegments(localPath);
  if (segments === null) return { kind: 'unmatched', module };
  return {
    kind: 'module',
    module,
    forwardTarget: localPath + query,
    segments,
    providerPath: localPath.includes('%') ? `/${segments.join('/')}` : localPath,
  };
}

/** Whether the path is below `/modules/`, of any shape. */
export function isUnderModules(target: string): boolean {
  return target.startsWith(PREFIX) || target.replace(ABSOLUTE_FORM, '').startsWith(PREFIX);
}

/** An absolute-form target never matches, but is authenticated first, as any other of the shape. */
function parseForeignForm(target: string): ParsedTarget {
  const authority = ABSOLUTE_FORM.exec(target);
  if (authority === null) return HOST;
  return parseTarget(target.slice(authority[0].length)).kind === 'host' ? HOST : UNMATCHED;
}

function decodeSegments(localPath: string): string[] | null {
  if (localPath === ROOT) return [];
  if (!UNREWRITTEN_PATH.test(localPath)) return null;
  const segments = localPath.slice(1).split('/');
  for (let index = 0; index < segments.length; index += 1) {
    const raw = segments[index] ?? '';
    const decoded = decodeSegment(raw);
    if (decoded === null || decoded === '' || isDotSegment(decoded)) return null;
    if (decoded === raw) continue;
    if (UNREACHABLE.test(decoded)) return null;
    segments[index] = decoded;
  }
  return segments;
}

/** Percent-decodes once, strictly; `null` where that is not valid UTF-8. */
export function decodeSegment(raw: string): string | null {
  if (!raw.includes('%')) return raw;
  try {
    return decodeURIComponent(raw);
  } catch {
    return null;
  }
}
