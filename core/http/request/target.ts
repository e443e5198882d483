import { MODULE_NAME } from '../../descriptor/identifiers.js';
import { type Mount, mountBase } from '../../descriptor/sections/mount.js';
import {
  type DecodedPath,
  decodePath,
  decodeSegment,
  findPathProblem,
  findSpecialForm,
  type PathProblem,
} from '../../lib/routing/request-path.js';
import type { MountSource } from '../../modules/mount-table.js';
import type { ParsedTarget } from '../../operations/request.js';

const PREFIX = '/modules/';
const MARK = '/http';
const ROOT = '/';
const HOST: ParsedTarget = { kind: 'host' };

// Characters that a request line cannot contain: the client library throws for them.
const UNSENDABLE = /[^!"$-\u00ff]/;
const ORIGIN = /^https?:\/\/([^/?#]*)/i;
const ABSOLUTE_FORM = /^[a-z][a-z0-9+.-]*:\/\/[^/?#]*/i;

/** @param target exactly as on the request line */
export function parseTarget(target: string): ParsedTarget {
  if (!target.startsWith(PREFIX)) return parseForeignForm(target);
  const queryStart = target.indexOf('?');
  const path = queryStart === -1 ? target : target.slice(0, queryStart);
  const moduleEnd = path.indexOf('/', PREFIX.length);
  if (moduleEnd === -1 || !path.startsWith(MARK, moduleEnd)) return HOST;
  // `/modules/{module}/http` is the root, with or without a final slash.
  const localPath = path.slice(moduleEnd + MARK.length) || ROOT;
  if (!localPath.startsWith('/')) return HOST;

  const query = queryStart === -1 ? '' : target.slice(queryStart);
  const rawModule = path.slice(PREFIX.length, moduleEnd);
  const module = decodeSegment(rawModule);
  if (module === null || !MODULE_NAME.test(module)) {
    const problem = explainModule(rawModule, module);
    return { kind: 'unmatched', module: null, invalidModule: module ?? rawModule, problem };
  }
  return parseLocal(module, null, localPath, query);
}

/**
 * Parses a target that may be below a mount.
 * @param host the `host` header
 */
export function parseCalledTarget(
  target: string,
  host: string | undefined,
  { mounts }: MountSource,
): ParsedTarget {
  const mountMatch = mounts.isEmpty ? null : mounts.find(host, target);
  if (mountMatch === null) return parseTarget(target);
  if (mountMatch === 'host') return HOST;
  const { module, mount } = mountMatch;
  const queryStart = target.indexOf('?');
  const pathEnd = queryStart === -1 ? target.length : queryStart;
  const localPath = target.slice(mountBase(mount).length, pathEnd) || ROOT;
  return parseLocal(module, mount, localPath, target.slice(pathEnd));
}

/** Parses a path, or a whole URL, whose host replaces the `host` header. */
export function parseAddress(address: string, mounts: MountSource): ParsedTarget {
  const [origin, host] = ORIGIN.exec(address) ?? [];
  if (origin === undefined) return parseCalledTarget(address, undefined, mounts);
  const target = address.slice(origin.length).replace(/#.*$/, '');
  return parseCalledTarget(target.startsWith('/') ? target : `/${target}`, host, mounts);
}

/**
 * Parses the part after the base of a module. @param mount the mount of the request; `null` for its
 * own path
 */
function parseLocal(
  module: string,
  mount: Mount | null,
  localPath: string,
  query: string,
): ParsedTarget {
  if (UNSENDABLE.test(query)) return { kind: 'unmatched', module, problem: UNSENDABLE_QUERY };
  const decoded = decodePath(localPath);
  if (decoded === null || (mount === null && isMalformedBridgePath(decoded))) {
    const problem = findPathProblem(localPath) ?? findSpecialForm(localPath);
    if (problem === null) throw new Error('an unmatched path breaks a rule');
    return { kind: 'unmatched', module, problem };
  }
  return {
    kind: 'module',
    module,
    forwardTarget: localPath + query,
    ...decoded,
    providerPath: localPath.includes('%') ? `/${decoded.segments.join('/')}` : localPath,
    mount,
  };
}

/**
 * Detects paths with an encoded permission: a permission is a plain segment, and modules have no
 * routes there.
 */
function isMalformedBridgePath({ segments, encoded }: DecodedPath): boolean {
  if (segments.length !== 2 || segments[0] !== 'console-bridge') return false;
  return segments[1] === '' || encoded.length > 0;
}

/** Whether the path is below `/modules/`, of any shape. */
export function isUnderModules(target: string): boolean {
  return target.startsWith(PREFIX) || target.replace(ABSOLUTE_FORM, '').startsWith(PREFIX);
}

/** Returns a target that matches no route but requires authentication, like others of its shape. */
function parseForeignForm(target: string): ParsedTarget {
  const authority = ABSOLUTE_FORM.exec(target);
  if (authority === null) return HOST;
  const { kind } = parseTarget(target.slice(authority[0].length));
  return kind === 'host' ? HOST : { kind: 'unmatched', module: null, problem: ABSOLUTE };
}

const ABSOLUTE: PathProblem = {
  rule: 'absolute-form',
  segment: null,
  reason: 'the target starts with a scheme and a host',
};

const UNSENDABLE_QUERY: PathProblem = {
  rule: 'query-characters',
  segment: null,
  reason: 'the query contains a character that must be encoded',
};

function explainModule(raw: string, decoded: string | null): PathProblem {
  if (decoded === null) {
    const reason = 'the module is not percent-encoded UTF-8';
    return { rule: 'bad-encoding', segment: null, reason };
  }
  const hint = /%2f/i.test(raw) ? '' : "; a slash in it is written '%2F'";
  return {
    rule: 'module-name',
    segment: null,
    reason: `the module is not a valid name${hint}`,
  };
}
