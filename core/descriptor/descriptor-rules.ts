import type { Violation } from '../document/diagnostic.js';
import { parseRange } from '../lib/address-list.js';
import { readMember } from '../lib/read-member.js';
import { canBeSegment } from '../lib/routing/path-segment.js';
import { findMethodWarnings } from './candidate.js';
import { createManifestSource, type DescriptorAdapter } from './descriptor.js';
import type { WireDescriptor } from './descriptor-struct.js';
import { explainUnexposable, MODULE_REDIRECTS } from './expose-headers.js';
import { explainDeniedHeader, isAlwaysForwarded } from './forward-headers.js';

/**
 * Applies the rules that a struct cannot express. `accepted` is the part of the `written`
 * descriptor that the struct accepts; rules about rejected parts are skipped.
 * @param credentialHeaders the headers that hold credentials of callers, in lower case
 */
export function validateDescriptor(
  accepted: Partial<WireDescriptor> | null,
  written: unknown,
  adapter: DescriptorAdapter | null,
  credentialHeaders: readonly string[] = [],
): Violation[] {
  if (accepted === null) return [];
  const { manifest, breaker } = accepted;
  return [
    ...(manifest === undefined ? [] : validateManifestSource(manifest, written, adapter)),
    ...validateAddresses(accepted.allow?.addresses ?? []),
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
    ...(breaker === undefined ? [] : validateBreaker(breaker, readMember(written, 'breaker'))),
  ];
}

function validateManifestSource(
  manifest: WireDescriptor['manifest'],
  written: unknown,
  adapter: DescriptorAdapter | null,
): Violation[] {
  if (createManifestSource(manifest).kind !== 'provider') return [];
  if (adapter === null || adapter.supports.manifest === true) return [];
  const why = `a provider of kind ${adapter.kind} has no manifest`;
  const message =
    readMember(written, 'manifest') === undefined
      ? `missing key 'manifest': ${why}`
      : `'manifest' must not be { from: provider }: ${why}`;
  const hint = 'name a file, a URL or an inline manifest';
  return [{ rule: 'manifest-unsupported', message, hint, path: ['manifest'], at: 'key' }];
}

/** Skips holes, which replace ranges that the struct has rejected. */
function validateAddresses(ranges: readonly string[]): Violation[] {
  return ranges.flatMap((text, index): Violation[] => {
    const range = parseRange(text);
    if (!('reason' in range)) return [];
    const path = ['allow', 'addresses', index];
    const message = `'allow.addresses[${index}]' ${range.reason}`;
    return [{ rule: 'address-range', message, hint: `write ${range.meant}`, path, at: 'value' }];
  });
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

/** Either time is missing if the struct has rejected it. */
function validateBreaker(
  { open_ms, max_open_ms }: Partial<WireDescriptor['breaker']>,
  written: unknown,
): Violation[] {
  if (open_ms === undefined || max_open_ms === undefined || open_ms <= max_open_ms) return [];
  const isDefault = readMember(written, 'max_open_ms') === undefined;
  const path = ['breaker', isDefault ? 'open_ms' : 'max_open_ms'];
  const message = "'breaker.max_open_ms' must not be less than 'breaker.open_ms'";
  const hint = isDefault ? `it is ${max_open_ms} by default` : null;
  return [{ rule: 'min-above-max', message, hint, path, at: 'value' }];
}

/** Finds settings that are valid, but probably not intended. */
export function findWarnings(wire: WireDescriptor, written: unknown): Violation[] {
  return [
    ...findNeedlessHeaders(wire.forward_headers),
    ...findNeedlessProviderErrors(wire, written),
    ...findRedirects(wire),
    ...findUncallableGrants(wire.console.grants),
    ...findMethodWarnings(wire),
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

function findNeedlessProviderErrors({ responses }: WireDescriptor, written: unknown): Violation[] {
  if (responses.mode !== 'raw' || readMember(written, 'provider_errors') === undefined) return [];
  const message =
    "'provider_errors' has no effect in raw mode, where callers get every error of the provider";
  const path = ['provider_errors'];
  return [{ rule: 'needless-option', message, hint: 'remove it', path, at: 'key' }];
}

/** Warns of redirects, because clients may send their credentials to the target. */
function findRedirects({ responses: { mode, redirects } }: WireDescriptor): Violation[] {
  return redirects.flatMap((target, index): Violation[] => {
    const path = ['responses', 'redirects', index];
    const subject = `'responses.redirects[${index}]'`;
    if (mode !== 'raw') {
      const message = `${subject} has no effect in the envelope, which carries no redirects`;
      return [{ rule: 'needless-option', message, hint: 'remove it', path, at: 'value' }];
    }
    if (target === MODULE_REDIRECTS) return [];
    const message = `${subject}: callers are sent to ${target}`;
    const hint = 'make sure that it belongs to the provider';
    return [{ rule: 'redirect-origin', message, hint, path, at: 'value' }];
  });
}

/** A permission is a segment of the bridge's path, which cannot contain every capability. */
function findUncallableGrants(grants: readonly string[]): Violation[] {
  return grants.flatMap((permission, index): Violation[] => {
    if (canBeSegment(permission)) return [];
    const message = `'console.grants[${index}]' can be granted but never called: it cannot be a segment of a request path`;
    const hint = 'name the capability without / \\ ? # and percent-encoding';
    const path = ['console', 'grants', index];
    return [{ rule: 'uncallable-permission', message, hint, path, at: 'value' }];
  });
}
