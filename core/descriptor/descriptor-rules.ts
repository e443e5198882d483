import type { Violation } from '../document/diagnostic.js';
import { canBeSegment } from '../lib/path-segment.js';
import { DESCRIPTOR_DEFAULTS, withDefaults } from './defaults.js';
import type { DescriptorAdapter } from './descriptor.js';
import type { WireDescriptor } from './descriptor-struct.js';
import { explainDeniedHeader, isAlwaysForwarded } from './forward-headers.js';
import { createManifestSource } from './from-wire.js';

/** What no struct can say: rules that look at two places, and those with a text of their own. */
export function validateDescriptor(
  wire: WireDescriptor,
  adapter: DescriptorAdapter | null,
): Violation[] {
  return [
    ...validateManifestSource(wire, adapter),
    ...validateForwardHeaders(wire.forward_headers ?? []),
    ...validateBreaker(wire.breaker ?? {}),
  ];
}

function validateManifestSource(
  wire: WireDescriptor,
  adapter: DescriptorAdapter | null,
): Violation[] {
  if (createManifestSource(wire.manifest).kind !== 'provider') return [];
  if (adapter === null || adapter.supports.manifest === true) return [];
  const why = `a provider of kind ${adapter.kind} has none to give`;
  const message =
    wire.manifest === undefined
      ? `missing key 'manifest': ${why}`
      : `'manifest' must not be { from: provider }: ${why}`;
  const hint = 'name a file, a URL or an inline manifest';
  return [{ rule: 'manifest-unsupported', message, hint, path: ['manifest'], at: 'key' }];
}

function validateForwardHeaders(names: readonly string[]): Violation[] {
  const seen = new Set<string>();
  return names.flatMap((name, index): Violation[] => {
    const path = ['forward_headers', index];
    const reason = explainDeniedHeader(name);
    const isDouble = seen.has(name.toLowerCase());
    seen.add(name.toLowerCase());
    if (reason !== null) {
      const message = `'forward_headers[${index}]': ${reason}`;
      return [{ rule: 'refused-header', message, hint: 'remove it', path, at: 'value' }];
    }
    if (!isDouble) return [];
    const message = `'forward_headers[${index}]' is listed twice`;
    return [{ rule: 'duplicate-header', message, hint: 'remove it', path, at: 'value' }];
  });
}

function validateBreaker(wire: NonNullable<WireDescriptor['breaker']>): Violation[] {
  const { open_ms, max_open_ms } = withDefaults(DESCRIPTOR_DEFAULTS.breaker, wire);
  if (open_ms <= max_open_ms) return [];
  const path = ['breaker', wire.max_open_ms === undefined ? 'open_ms' : 'max_open_ms'];
  const message = "'breaker.max_open_ms' must not be less than 'breaker.open_ms'";
  const hint = wire.max_open_ms === undefined ? `it is ${max_open_ms} by default` : null;
  return [{ rule: 'min-above-max', message, hint, path, at: 'value' }];
}

/** What is no error, but hardly meant. */
export function findWarnings(wire: WireDescriptor): Violation[] {
  return [
    ...findNeedlessHeaders(wire.forward_headers ?? []),
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

/** The permission is a segment of the bridge's path (contract 4), which cannot hold every capability. */
function findUncallableGrants(grants: readonly string[]): Violation[] {
  return grants.flatMap((permission, index): Violation[] => {
    if (canBeSegment(permission)) return [];
    const message = `'console.grants[${index}]' can be granted but never called: no request can have it as a segment of its path`;
    const hint = 'name the capability without / \\ ? # and percent-encoding';
    const path = ['console', 'grants', index];
    return [{ rule: 'uncallable-permission', message, hint, path, at: 'value' }];
  });
}
