import type { Supports } from '../contract/index.js';
import type { Fault } from '../document/diagnostic.js';
import type { AnyStruct } from '../document/struct-walk.js';
import { findNearestName } from '../document/suggest.js';
import type { Judged } from '../document/validate.js';
import { judgeByStruct } from '../document/validate.js';
import type { Finding, Locate } from '../host/finding.js';
import { createFinding, createInvalidFile } from '../host/finding.js';
import { readStructuredText } from '../host/structured-file.js';
import { readMember } from '../lib/read-member.js';
import { findDoubts, judgeDescriptor } from './descriptor-rules.js';
import type { WireDescriptor } from './descriptor-struct.js';
import { descriptorStruct } from './descriptor-struct.js';
import { createDescriptor } from './from-wire.js';

export interface Limits {
  readonly timeoutMs: number;
  readonly requestBytes: number;
  readonly responseBytes: number;
  /** Calls at a time. */
  readonly concurrency: number;
  /** Calls that may wait for their turn. */
  readonly queue: number;
  readonly queueMs: number;
}

/** Calls a second, and how many at once; 0 a second is no limit, a burst of 0 what comes in a second. */
export interface RateLimit {
  readonly perSecond: number;
  readonly burst: number;
  readonly actorPerSecond: number;
  readonly actorBurst: number;
}

export interface Retry {
  /** Retries at most, beside the first attempt. */
  readonly attempts: number;
  /** What each call adds to the token bucket of which a retry takes 1. */
  readonly budget: number;
}

export interface Breaker {
  readonly failures: number;
  readonly openMs: number;
  readonly maxOpenMs: number;
}

export interface Probation {
  readonly seconds: number;
  /** Share of 502s, 0 to 1. */
  readonly maxErrorRate: number;
  readonly minCalls: number;
}

/** Where the manifest comes from; `path` and `url` as written. */
export type ManifestSource =
  | { readonly kind: 'file'; readonly path: string }
  | { readonly kind: 'inline'; readonly value: unknown }
  | { readonly kind: 'url'; readonly url: string }
  | { readonly kind: 'provider' };

/** What ops ask for, defaults included (contract 6). */
export interface Descriptor {
  readonly module: string;
  readonly enabled: boolean;
  readonly provider: {
    readonly kind: string;
    /** As the adapter's struct accepted it; secrets are still references. */
    readonly config: unknown;
  };
  readonly manifest: ManifestSource;
  /** The digest that the manifest must have. */
  readonly manifestDigest: string | null;
  readonly limits: Limits;
  readonly rate: RateLimit;
  /** Whether the provider is told who calls in a signed token. */
  readonly identity: boolean;
  /** Lower-case names. */
  readonly forwardHeaders: readonly string[];
  readonly providerErrors: 'problem' | 'passthrough';
  readonly retry: Retry;
  readonly breaker: Breaker;
  readonly records: { readonly captureBytes: number };
  readonly probation: Probation | null;
  readonly console: {
    /** `null`: the manifest's digest. */
    readonly release: string | null;
    readonly ui: readonly string[];
    readonly grants: readonly string[];
  };
}

/** What of a ProviderAdapter is needed to judge a descriptor. */
export interface DescriptorAdapter {
  readonly kind: string;
  readonly config: AnyStruct;
  readonly supports: Supports;
}

/** Adapters by kind, imported when a descriptor first asks for one. */
export interface DescriptorAdapters {
  kinds(): readonly string[];
  /** @throws an Error whose message may be shown when the adapter cannot be loaded. */
  adapter(kind: string): Promise<DescriptorAdapter>;
}

export interface DescriptorInput {
  /** The name of the file; its ending tells JSON from YAML. */
  readonly file: string;
  readonly text: string;
  readonly adapters: DescriptorAdapters;
}

export interface ParsedDescriptor {
  readonly descriptor: Descriptor;
  readonly warnings: readonly Finding[];
  readonly locate: Locate;
}

/** @throws InvalidFile with all that is wrong with it. */
export async function parseDescriptor(input: DescriptorInput): Promise<ParsedDescriptor> {
  const { value, locate } = readStructuredText(input.file, input.text);
  const source = { file: input.file, locate };
  const judged = judgeByStruct(value, descriptorStruct);
  const found = await findAdapter(value, input.adapters);
  const config = judgeConfig(value, found.adapter);
  const wire = judged.faults.length === 0 ? (judged.value as WireDescriptor) : null;
  const rules = wire === null ? [] : judgeDescriptor(wire, found.adapter);
  const faults = [...judged.faults, ...found.faults, ...config.faults, ...rules];
  if (wire === null || faults.length > 0) throw createInvalidFile(faults, source);
  const warnings = findDoubts(wire).map((fault) => createFinding(fault, source, 'warning'));
  return { descriptor: createDescriptor(wire, config.value), warnings, locate };
}

async function findAdapter(
  value: unknown,
  adapters: DescriptorAdapters,
): Promise<{ adapter: DescriptorAdapter | null; faults: Fault[] }> {
  const kind = readMember(readMember(value, 'provider'), 'kind');
  if (typeof kind !== 'string' || kind === '') return { adapter: null, faults: [] };
  const kinds = adapters.kinds().toSorted();
  if (!kinds.includes(kind)) return { adapter: null, faults: [explainUnknownKind(kind, kinds)] };
  try {
    return { adapter: await adapters.adapter(kind), faults: [] };
  } catch (error) {
    const message = error instanceof Error ? error.message : 'the adapter cannot be loaded';
    return { adapter: null, faults: [createKindFault('plugin-failed', message, null)] };
  }
}

function explainUnknownKind(kind: string, kinds: readonly string[]): Fault {
  const expected = kinds.length === 0 ? 'a kind of a plugin' : `one of ${kinds.join(', ')}`;
  const nearest = findNearestName(kind, kinds);
  const hint = nearest === null ? null : `did you mean '${nearest}'?`;
  return createKindFault('unknown-kind', `'provider.kind' must be ${expected}`, hint);
}

function createKindFault(rule: string, message: string, hint: string | null): Fault {
  return { rule, message, hint, path: ['provider', 'kind'], at: 'value' };
}

/** Judged whatever else is wrong, so that one look at the findings is enough. */
function judgeConfig(value: unknown, adapter: DescriptorAdapter | null): Judged {
  if (adapter === null) return { value: null, faults: [] };
  const config = readMember(readMember(value, 'provider'), 'config') ?? {};
  return judgeByStruct(config, adapter.config, ['provider', 'config']);
}
