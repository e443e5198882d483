import type { Violation } from '../document/diagnostic.js';
import { canBeSegment } from '../lib/path-segment.js';
import { readMember } from '../lib/read-member.js';
import { DESCRIPTOR_DEFAULTS, withDefaults } from './defaults.js';
import type { DescriptorAdapter } from './descriptor.js';
import type { WireDescriptor } from './descriptor-struct.js';
import { explainUnexposable } from './expose-headers.js';
import { explainDeniedHeader, isAlwaysForwarded } from './forward-headers.js';
import { createManifestSource } from './from-wire.js';

/**
 * The rules that a struct cannot express. `accepted` is what the struct accepts of the `written`
 * descriptor: a rule is skipped where the struct has rejected what it needs.
 * @param credentialHeaders the headers that hold credentials of callers, in lower case
 */
export function validateDescriptor(
  accepted: Partial<WireDescriptor> | null,
  written: unknown,
  adapter: DescriptorAdapter | null,
  credentialHeaders: readonly string[] = [],
): Violation[] {
  if (accepted === null) return [];
  const isWhole = (key: keyof WireDescriptor) =>
    readMember(written, key) === undefined || accepted[key] !== undefined;
  return [
    ...(isWhole('manifest') ? validateManifestSource(accepted, adapter) : []),
    ...validateHeaderNames(
      accepted.forward_headers ?? [],
      ['forward_headers'],
      'refused-header',
      (name) => explainDeniedHeader(name, credentialHeaders),
    ),
    ...validateHeaderNames(
      accepted.responses?.expose_headers ?? [],
      ['responses', 'expose_headers'],
      'unexposable-header',
      explainUnexposable,
    ),
    ...validateBreaker(accepted.breaker ?? {}, readMember(written, 'breaker')),
  ];
}

function validateManifestSource(
  wire: Partial<WireDescriptor>,
  adapter: DescriptorAdapter | null,
): Violation[] {
  if (createManifestSource(wire.manifest).kind !== 'provider') return [];
  if (adapter === null || adapter.supports.manifest === true) return [];
  const why = `a provider of kind ${adapter.kind} has no manifest`;
  const message =
    wire.manifest === undefined
      ? `missing key 'manifest': ${why}`
      : `'manifest' must not be { from: provider }: ${why}`;
  const hint = 'name a file, a URL or an inline manifest';
  return [{ rule: 'manifest-unsupported', message, hint, path: ['manifest'], at: 'key' }];
}

/** Skips holes, which replace names that the struct has rejected. */
function validateHeaderNames(
  names: readonly string[],
  parent: readonly string[],
  deniedRule: string,
  explainDenied: (name: string) => string | null,
): Violation[] {
  const seen = new Set<string>();
  return names.flatMap((name, index): Violation[] => {
    const path = [...parent, index];
    const subject = `'${parent.join('.')}[${index}]'`;
    const reason = explainDenied(name);
    const isRepeated = seen.has(name.toLowerCase());
    seen.add(name.toLowerCase());
    if (reason !== null) {
      const message = `${subject}: ${reason}`;
      return [{ rule: deniedRule, message, hint: 'remove it', path, at: 'value' }];
    }
    if (!isRepeated) return [];
    const message = `${subject} is listed twice`;
    return [{ rule: 'duplicate-header', message, hint: 'remove it', path, at: 'value' }];
  });
}

function validateBreaker(
  accepted: NonNullable<WireDescriptor['breaker']>,
  written: unknown,
): Violation[] {
  const isWhole = (['open_ms', 'max_open_ms'] as const).every(
    (key) => readMember(written, key) === undefined || accepted[key] !== undefined,
  );
  const { open_ms, max_open_ms } = withDefaults(DESCRIPTOR_DEFAULTS.breaker, accepted);
  if (!isWhole || open_ms <= max_open_ms) return [];
  const path = ['breaker', accepted.max_open_ms === undefined ? 'open_ms' : 'max_open_ms'];
  const message = "'breaker.max_open_ms' must not be less than 'breaker.open_ms'";
  const hint = accepted.max_open_ms === undefined ? `it is ${max_open_ms} by default` : null;
  return [{ rule: 'min-above-max', message, hint, path, at: 'value' }];
}

/** Valid, but probably not intended. */
export function findWarnings(wire: WireDescriptor): Violation[] {
  return [
    ...findNeedlessHeaders(wire.forward_headers ?? []),
    ...findNeedlessProviderErrors(wire),
    ...findUncallableGrants(wire.console?.grants ?? []),
  ];
}

function findNeedlessHeaders(names: readonly string[]): Violation[] {
  return names.flatMap((name, index): Violation[] => {
    if (!isAlwaysForwarded(name)) return [];
    const message = `'forward_headers[${index}]': the host forwards this header already`;
    const path = ['forward_headers', index];
    return [{ rule: 'needless-header', message, hint: 'remove it', path, at: 'value' }];
  });
}

function findNeedlessProviderErrors({ responses, provider_errors }: WireDescriptor): Violation[] {
  if (responses?.mode !== 'raw' || provider_errors === undefined) return [];
  const message =
    "'provider_errors' has no effect in raw mode, where callers get every error of the provider";
  const path = ['provider_errors'];
  return [{ rule: 'needless-option', message, hint: 'remove it', path, at: 'key' }];
}

/** The permission is a segment of the bridge's path, which cannot hold every capability. */
function findUncallableGrants(grants: readonly string[]): Violation[] {
  return grants.flatMap((permission, index): Violation[] => {
    if (canBeSegment(permission)) return [];
    const message = `'console.grants[${index}]' can be granted but never called: it cannot be a segment of a request path`;
    const hint = 'name the capability without / \\ ? # and percent-encoding';
    const path = ['console', 'grants', index];
    return [{ rule: 'uncallable-permission', message, hint, path, at: 'value' }];
  });
}
