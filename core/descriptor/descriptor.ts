import type { AnyStruct } from '../contract/described.js';
import type { Supports } from '../contract/index.js';
import type { WireDescriptor } from './descriptor-struct.js';
import { DEFAULT_EXPOSED, type Responses } from './expose-headers.js';

type ReadonlyDeep<T> = unknown extends T ? T : { readonly [Key in keyof T]: ReadonlyDeep<T[Key]> };

/** The source of the manifest; `path` and `url` as written. */
type ManifestSource =
  | { readonly kind: 'file'; readonly path: string }
  | { readonly kind: 'inline'; readonly value: unknown }
  | { readonly kind: 'url'; readonly url: string }
  | { readonly kind: 'provider' };

/** A validated descriptor with its defaults. */
export interface Descriptor
  extends ReadonlyDeep<
    Omit<WireDescriptor, 'apiVersion' | 'provider' | 'manifest' | 'responses' | 'limits'>
  > {
  readonly provider: {
    readonly kind: string;
    /** The config with the defaults of the adapter's struct; secrets are still references. */
    readonly config: unknown;
  };
  readonly manifest: ManifestSource;
  readonly responses: Responses;
  readonly limits: Limits;
}

type WireLimits = ReadonlyDeep<WireDescriptor['limits']>;

interface Limits extends Omit<WireLimits, 'hold_bytes' | 'hold_request_bytes'> {
  readonly hold_bytes: number;
  readonly hold_request_bytes: number;
}

export type RateLimit = Descriptor['rate'];
export type Breaker = Descriptor['breaker'];
export type Probation = NonNullable<Descriptor['probation']>;
export type SchemaMode = Descriptor['schemas']['input'];

/** The part of a ProviderAdapter that the validation of a descriptor needs. */
export interface DescriptorAdapter {
  readonly kind: string;
  readonly config: AnyStruct;
  readonly supports: Supports;
}

/** @param config the config of the provider, with the defaults of its adapter */
export function createDescriptor(wire: WireDescriptor, config: unknown): Descriptor {
  const { apiVersion: _, ...members } = wire;
  const { mode, expose_headers = DEFAULT_EXPOSED[mode] } = wire.responses;
  return {
    ...members,
    provider: { kind: wire.provider.kind, config },
    manifest: createManifestSource(wire.manifest),
    responses: { ...wire.responses, expose_headers },
    limits: createLimits(wire.limits),
    // In raw mode every error of the provider reaches the caller.
    provider_errors: mode === 'raw' ? 'problem' : wire.provider_errors,
  };
}

/** Longer responses are streamed by default. Bytes. */
const HELD_RESPONSE_BYTES = 4_194_304;
const DEFAULT_HOLD_BYTES = 262_144;

function createLimits(wire: WireDescriptor['limits']): Limits {
  const { response_bytes, request_bytes } = wire;
  const isLong = response_bytes > HELD_RESPONSE_BYTES;
  return {
    ...wire,
    hold_bytes: wire.hold_bytes ?? (isLong ? DEFAULT_HOLD_BYTES : response_bytes),
    hold_request_bytes: wire.hold_request_bytes ?? request_bytes,
  };
}

export function createManifestSource(wire: WireDescriptor['manifest']): ManifestSource {
  if (typeof wire === 'string') return { kind: 'file', path: wire };
  if (wire.url !== undefined) return { kind: 'url', url: wire.url };
  if (wire.from !== undefined) return { kind: 'provider' };
  return { kind: 'inline', value: wire.inline };
}
